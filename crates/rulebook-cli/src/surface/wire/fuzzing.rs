//! What the fuzz target runs: a request with texts in all its slots, and a response read, cut and continued.

use bytes::Bytes;
use rulebook::evidence::json;
use serde_json::Value;

use super::edit::apply;
use super::{Event, Events, Json, Reader, WIRES, cut, read, steps};

/// The path of a request in each wire.
const PATHS: &[&str] =
    &["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/m:streamGenerateContent"];

/// Reads bytes as a request, as a response and as events of the wire of this number.
///
/// # Panics
///
/// If a request is not JSON after texts were added, if chunks change events, if the two JSON readers differ, or if the parts
/// of an event that was cut do not make up the whole.
pub fn exchange(number: usize, bytes: &[u8]) {
    let number = number % WIRES.len();
    let wire = &WIRES[number];
    let value = json::read(bytes).ok();
    assert_eq!(Json::read(bytes).as_ref().map(Value::from), value);
    if let Some(request) = wire.request(PATHS[number], bytes) {
        let slots = request.entries.iter().map(|entry| &entry.slot).chain([&request.prefix, &request.end]);
        for slot in slots {
            let edited = apply(bytes, wire.shapes.put(slot, &["<a \"b\">\n", "é"]));
            assert!(json::read(&edited).is_ok(), "{}", String::from_utf8_lossy(&edited));
        }
    }
    if let Some(response) = Json::read(bytes) {
        wire.steps(&response);
    }
    steps(bytes);
    events(number, bytes);
}

fn events(number: usize, bytes: &[u8]) {
    let wire = &WIRES[number];
    let all = Event::all(bytes);
    let mut cut_stream = Events::default();
    let mut parts: Vec<Bytes> = Vec::new();
    for chunk in bytes.chunks(bytes.len() % 7 + 1) {
        cut_stream.push(Bytes::copy_from_slice(chunk));
        parts.extend(cut_stream.by_ref().map(|event| event.raw));
    }
    parts.extend(cut_stream.rest().map(|event| event.raw));
    assert_eq!(all.iter().map(|event| &event.raw).collect::<Vec<_>>(), parts.iter().collect::<Vec<_>>());

    let (mut reader, mut steps, mut splice) = (Reader::default(), Vec::new(), (wire.splice)());
    let half = all.len() / 2;
    for (at, event) in all.iter().enumerate() {
        for text in event.data() {
            let Some(value) = Json::read(&text) else { continue };
            read(Some(wire), &mut reader, &value, &mut steps);
            if at < half {
                splice.sent(&value);
            } else {
                splice.rewrite((&value).into());
                splice.renamed();
            }
        }
        if at + 1 == half {
            splice.close();
        }
        if let Some(parts) = cut(&wire.deltas, event, 3) {
            let text = |raw: &Bytes| {
                let values = Event { raw: raw.clone() }.values();
                let found = values.first().and_then(|value| {
                    wire.deltas
                        .texts
                        .iter()
                        .find_map(|pointer| value.pointer(pointer)?.as_str().map(str::to_owned))
                });
                found.unwrap_or_else(|| panic!("no text in {raw:?}"))
            };
            assert_eq!(text(&parts.first) + &text(&parts.rest), text(&event.raw));
        }
    }
    reader.end(&mut steps);
}
