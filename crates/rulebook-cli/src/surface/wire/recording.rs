//! Recorded responses, in events or whole, in any wire.

use super::json::Json;
use super::reader::{Reader, Step};
use super::sse::{BYTE_ORDER_MARK, Event};
use super::table::{WIRES, read};

/// The fields an event may have.
const FIELDS: &[&str] = &["data:", "event:", "id:", "retry:", ":"];

/// Returns the steps of a recording; `None` if the bytes are something else: a text may begin like a recording, but it has
/// no event that can be read.
pub(in crate::surface) fn steps(bytes: &[u8]) -> Option<Vec<Step>> {
    of_events(bytes).or_else(|| of_whole(bytes))
}

fn of_whole(bytes: &[u8]) -> Option<Vec<Step>> {
    let response = Json::read(bytes)?;
    WIRES.iter().map(|wire| wire.steps(&response).0).find(|steps| !steps.is_empty())
}

fn of_events(bytes: &[u8]) -> Option<Vec<Step>> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let is_field = |line: &&[u8]| FIELDS.iter().any(|field| line.starts_with(field.as_bytes()));
    let mut lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.find(|line| !line.trim_ascii().is_empty()).filter(is_field)?;
    let (mut reader, mut steps, mut count) = (Reader::default(), Vec::new(), 0);
    for event in Event::all(bytes) {
        for text in event.data() {
            let Some(value) = Json::read(&text) else { continue };
            count += usize::from(value.is_object());
            read(None, &mut reader, &value, &mut steps);
        }
    }
    reader.end(&mut steps);
    (count > 0).then_some(steps)
}
