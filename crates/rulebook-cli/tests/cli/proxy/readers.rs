//! JSON that clients and servers read although it is not valid: it is watched like any other.

use super::lab::{Do, Lab, NO_MAP, SSE, post, read_answer};
use super::wires::{ANTHROPIC, CHAT, GEMINI, GO, RESPONSES, WIRES, Wire};
use serde_json::{Value, json};
use std::io::Write as _;

/// Adds a field at the end of an object, if there is one.
fn with_field(json: &str, field: &[u8]) -> Vec<u8> {
    let Some(at) = json.rfind('}') else { return json.as_bytes().to_vec() };
    [&json.as_bytes()[..at], b",\"odd\":", field, &json.as_bytes()[at..]].concat()
}

/// Values that Node or Python read, and the specification of JSON does not allow or bounds.
fn defects() -> Vec<Vec<u8>> {
    let deep = ["[".repeat(500), "]".repeat(500)].concat();
    let values: [&[u8]; 6] =
        [b"\"\\ud83d\"", b"NaN", b"-Infinity", b"1e999", b"\"\xff\xfe\"", deep.as_bytes()];
    values.map(<[u8]>::to_vec).to_vec()
}

fn streams(lab: &Lab, events: Vec<Vec<u8>>) {
    let chunks = events.into_iter().map(Do::Chunk);
    lab.model.answers(
        [Do::Write(SSE.to_vec())].into_iter().chain(chunks).chain([Do::Chunk(Vec::new())]).collect(),
    );
}

#[test]
fn events_that_only_lenient_readers_accept_are_watched() {
    for wire in &WIRES {
        for (number, defect) in defects().into_iter().enumerate() {
            let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
            let bad = (wire.events)("1", &["a new Map"], None);
            streams(&lab, bad.iter().map(|event| with_field(event, &defect)).collect());
            lab.model.streams(&(wire.events)("2", &["clean"], None));
            let answer = lab.ask(wire, GO);
            let (text, _) = (wire.received)(&answer.events());
            assert!(
                text.contains("clean") && !answer.text().contains("Map"),
                "{} {number}: {}",
                wire.name,
                answer.text()
            );
        }
    }
}

#[test]
fn every_answer_that_clients_take_for_a_success_is_watched() {
    let head = |status: &str, kind: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n")
            .into_bytes()
    };
    for (status, kind) in [
        ("201 Created", "text/event-stream"),
        ("203 Transformed", "Text/Event-Stream; charset=utf-8"),
        ("299 Odd", "text/event-stream"),
    ] {
        let lab = Lab::new(&[NO_MAP]);
        for text in ["a new Map", "clean"] {
            let events =
                (CHAT.events)("1", &[text], None).into_iter().map(|event| Do::Chunk(event.into_bytes()));
            lab.model.answers(
                [Do::Write(head(status, kind))]
                    .into_iter()
                    .chain(events)
                    .chain([Do::Chunk(Vec::new())])
                    .collect(),
            );
        }
        let answer = lab.ask(&CHAT, GO);
        let (text, _) = (CHAT.received)(&answer.events());
        assert!(text.contains("clean") && !answer.text().contains("Map"), "{status}: {}", answer.text());
    }
}

#[test]
fn requests_that_only_lenient_readers_accept_get_their_rules() {
    let mark = "\u{feff}".as_bytes();
    for wire in &WIRES {
        let lab = Lab::with(&[("always.md", "Always so.\n")], &["--fail-closed"]);
        let body = (wire.conversation)(GO).to_string();
        let bodies = defects().into_iter().map(|defect| with_field(&body, &defect));
        for body in bodies.chain([[mark, body.as_bytes()].concat()]) {
            let head = String::from_utf8(post(wire.path, &"x".repeat(body.len()))).unwrap();
            let mut stream = lab.connect();
            stream.write_all(&[head.trim_end_matches('x').as_bytes(), &body].concat()).unwrap();
            assert_eq!(read_answer(stream).text(), "plain");
            let sent = lab.model.last().body;
            let shown = String::from_utf8_lossy(&sent).into_owned();
            assert!(shown.contains("Always so."), "{}: {shown}", wire.name);
            // Everything else is as the client wrote it.
            let mut rest = body.iter();
            assert!(rest.next_back() == sent.last() && sent.len() > body.len());
        }
    }
}

#[test]
fn what_cannot_be_read_is_reported_and_passes_only_without_fail_closed() {
    let event =
        |text: &str| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}");
    let events = || vec![(event("new Map") + " x\n\n").into_bytes(), (event("after") + "\n\n").into_bytes()];
    let lab = Lab::new(&[NO_MAP]);
    streams(&lab, events());
    assert!(lab.ask(&CHAT, GO).text().contains("after"));
    lab.until_logged("an event of an answer cannot be read");
    lab.post(CHAT.path, "{} x");
    lab.until_logged("not valid for this API");
    assert_eq!(lab.model.seen().len(), 2);

    // Clients in Python end a line at these characters too, and read what is after them.
    for end in ["\u{2028}", "\u{85}", "\u{b}", "\u{1e}"] {
        let hidden = || vec![format!(": x{end}{}\n\n", event("new Map")).into_bytes()];
        let lab = Lab::new(&[NO_MAP]);
        streams(&lab, hidden());
        lab.ask(&CHAT, GO);
        lab.until_logged("an event of an answer cannot be read");
        let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
        streams(&lab, hidden());
        let answer = lab.ask(&CHAT, GO).text();
        assert!(answer.contains("an event cannot be read") && !answer.contains("Map"), "{answer}");
    }
    let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-16\r\n\r\n";
    lab.model.answers(vec![Do::Write(head.as_bytes().to_vec())]);
    assert!(lab.ask(&CHAT, GO).text().contains("the answer cannot be read"));

    let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
    streams(&lab, events());
    let answer = lab.ask(&CHAT, GO).text();
    assert!(
        answer.contains("an event cannot be read") && !answer.contains("Map") && !answer.contains("after"),
        "{answer}"
    );
    assert_eq!(lab.post(CHAT.path, "{} x").status(), 502);
    assert_eq!(lab.model.seen().len(), 1);
}

/// Checks an answer that clients read differently: it is watched and reported, and blocked with `--fail-closed`.
#[track_caller]
fn check_differing(wire: &Wire, events: &[String]) {
    let lab = Lab::new(&[NO_MAP]);
    lab.model.streams(events);
    lab.model.streams(&(wire.events)("2", &["safe"], None));
    let answer = lab.ask(wire, GO).text();
    assert!(answer.contains("safe") && !answer.contains("Map"), "{}: {events:#?}\n{answer}", wire.name);
    lab.until_logged("clients read it differently");

    let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
    lab.model.streams(events);
    let answer = lab.ask(wire, GO).text();
    assert!(
        answer.contains("an event cannot be read") && !answer.contains("Map"),
        "{}: {events:#?}\n{answer}",
        wire.name
    );
    assert_eq!(lab.model.seen().len(), 1);
}

#[test]
fn a_field_after_a_mark_or_white_space_is_watched_and_reported() {
    // Node's SDKs decode each line by itself, which removes the mark; Google's trims the event.
    for blank in ["\u{feff}", " ", "\t", "\u{a0}", "\u{b}"] {
        for wire in &WIRES {
            let events = (wire.events)("1", &["a new Map"], None);
            let data: Vec<String> =
                events.iter().map(|event| event.replace("data: ", &format!("{blank}data: "))).collect();
            check_differing(wire, &data);
        }
    }
}

#[test]
fn an_event_with_the_name_of_another_is_watched_and_reported() {
    // Anthropic's SDKs skip the event by its name, others read it by its type.
    let events = (ANTHROPIC.events)("1", &["a new Map"], None);
    let renamed: Vec<String> =
        events.iter().map(|event| event.replace("event: content_block_delta", "event: ping")).collect();
    check_differing(&ANTHROPIC, &renamed);
}

/// Values in place of a text that clients append as a text, or by their items.
fn odd_texts(text: &str) -> [Value; 4] {
    [json!([text]), json!([[[text]]]), json!({ "0": text }), json!([1, text])]
}

#[test]
fn a_value_where_the_wire_has_a_text_is_watched_and_reported() {
    let data = |event: Value| format!("data: {event}\n\n");
    let call = "{\"path\":\"a.ts\",\"content\":\"new Map()\"}";
    for text in odd_texts("new Map") {
        for key in ["text", "thinking"] {
            let rule = ("no-map.md", "---\ncondition: new Map\nscope: [text, thinking]\n---\nNo.\n");
            let lab = Lab::with(&[rule], &["--fail-closed"]);
            lab.model.streams(&[data(
                json!({ "type": "content_block_delta", "index": 0, "delta": { key: text } }),
            )]);
            let answer = lab.ask(&ANTHROPIC, GO).text();
            assert!(answer.contains("an event cannot be read") && !answer.contains("Map"), "{key}: {answer}");
        }
        let delta = json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } });
        check_differing(&ANTHROPIC, &[data(delta)]);
        let delta = json!({ "type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": text });
        check_differing(&RESPONSES, &[data(delta)]);
        if text != json!(["new Map"]) {
            check_differing(
                &CHAT,
                &[data(json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }))],
            );
        }
        check_differing(
            &GEMINI,
            &[data(json!({ "candidates": [{ "content": { "parts": [{ "text": text }] } }] }))],
        );
    }
    for call in odd_texts(call) {
        let start = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "t", "name": "write", "input": {} } });
        let delta = json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": call } });
        check_differing(&ANTHROPIC, &[data(start), data(delta)]);
        let delta = json!({ "type": "response.function_call_arguments.delta", "item_id": "f", "output_index": 0, "delta": call });
        check_differing(&RESPONSES, &[data(delta)]);
        if !call.is_object() {
            let function = json!({ "name": "write", "arguments": call });
            check_differing(
                &CHAT,
                &[data(
                    json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": 0, "id": "c", "function": function }] } }] }),
                )],
            );
        }
    }
    // Lists that are objects.
    check_differing(
        &CHAT,
        &[data(json!({ "choices": { "0": { "index": 0, "delta": { "content": "new Map" } } } }))],
    );
    check_differing(
        &GEMINI,
        &[data(json!({ "candidates": { "0": { "content": { "parts": { "0": { "text": "new Map" } } } } } }))],
    );
}

#[test]
fn an_answer_as_one_value_with_odd_fields_is_reported_and_blocked() {
    for (wire, pointer) in [
        (&ANTHROPIC, "/content/0/text"),
        (&CHAT, "/choices/0/message/content"),
        (&RESPONSES, "/output/0/content/0/text"),
        (&GEMINI, "/candidates/0/content/parts/0/text"),
    ] {
        let mut answer = (wire.whole)("clean", None);
        *answer.pointer_mut(pointer).unwrap() = json!([["clean"], "x"]);
        for (args, passes) in [(&[][..], true), (&["--fail-closed"], false)] {
            let lab = Lab::with(&[NO_MAP], args);
            lab.model.returns(&answer);
            let text = lab.ask(wire, GO).text();
            assert_eq!(text.contains("clean"), passes, "{}: {text}", wire.name);
            lab.until_logged("an answer cannot be read, or clients read it differently");
        }
    }
}
