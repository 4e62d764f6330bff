//! Responses in unusual shapes that clients read: each is watched like the usual ones.

use serde_json::{Value, json};

use super::lab::{Do, Lab, NO_MAP, SSE};
use super::wires::{ANTHROPIC, CHAT, GEMINI, GO, RESPONSES, Wire};

/// Checks that a response to a stream is stopped, and that the client gets the next one instead.
#[track_caller]
fn check(wire: &Wire, events: &[Value]) {
    let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
    let written: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    lab.model.streams(&written);
    lab.model.streams(&(wire.events)("2", &["safe"], None));
    let text = lab.ask(wire, GO).text();
    assert!(text.contains("safe") && !text.contains("Map"), "{}: {written:#?}\n{text}", wire.name);
}

const CALL: &str = "{\"path\":\"a.ts\",\"content\":\"new Map()\"}";

/// A response of the Responses API around these events.
fn responses(events: &[Value], output: &[Value]) -> Vec<Value> {
    let response = |output: &[Value]| json!({ "id": "r1", "object": "response", "output": output });
    let mut all = vec![json!({ "type": "response.created", "response": response(&[]) })];
    all.extend(events.iter().cloned());
    all.push(json!({ "type": "response.completed", "response": response(output) }));
    all
}

#[test]
fn what_arrives_only_whole_is_watched() {
    let call = |arguments: &str| json!({ "type": "function_call", "id": "f1", "call_id": "c1", "name": "write", "arguments": arguments });
    let added = json!({ "type": "response.output_item.added", "output_index": 0, "item": call("") });
    let done = |item: &Value| json!({ "type": "response.output_item.done", "output_index": 0, "item": item });
    check(&RESPONSES, &responses(&[added.clone(), done(&call(CALL))], &[call(CALL)]));
    check(&RESPONSES, &responses(&[done(&call(CALL))], &[]));
    check(&RESPONSES, &responses(&[], &[call(CALL)]));
    let arguments = json!({ "type": "response.function_call_arguments.done", "item_id": "f1", "output_index": 0, "arguments": CALL });
    check(&RESPONSES, &responses(&[added.clone(), arguments], &[]));
    // What the deltas said is not what is whole.
    let delta = json!({ "type": "response.function_call_arguments.delta", "item_id": "f1", "output_index": 0, "delta": "{}" });
    check(&RESPONSES, &responses(&[added, delta, done(&call(CALL))], &[]));
    for item in [
        json!({ "type": "custom_tool_call", "id": "f1", "call_id": "c1", "name": "apply_patch", "input": "*** Begin Patch\n*** Add File: a.ts\n+new Map()\n*** End Patch" }),
        json!({ "type": "apply_patch_call", "id": "f1", "call_id": "c1", "operation": { "type": "create_file", "path": "a.ts", "diff": "+new Map()\n" } }),
        json!({ "type": "shell_call", "id": "f1", "call_id": "c1", "action": { "commands": ["echo 'new Map()' > a.ts"] } }),
        json!({ "type": "mcp_call", "id": "f1", "name": "write", "arguments": CALL }),
        json!({ "type": "mcp_approval_request", "id": "f1", "name": "write", "arguments": CALL }),
        json!({ "type": "code_interpreter_call", "id": "f1", "code": "new Map()" }),
        json!({ "type": "message", "id": "f1", "role": "assistant", "content": [{ "type": "output_text", "text": "new Map()" }] }),
    ] {
        check(&RESPONSES, &responses(&[done(&item)], &[]));
        check(&RESPONSES, &responses(&[], &[item]));
    }
    for (kind, key, value) in [
        ("response.output_text.done", "text", json!("new Map()")),
        ("response.refusal.done", "refusal", json!("new Map()")),
        ("response.content_part.added", "part", json!({ "type": "output_text", "text": "new Map()" })),
        ("response.content_part.done", "part", json!({ "type": "output_text", "text": "new Map()" })),
    ] {
        check(
            &RESPONSES,
            &responses(
                &[
                    json!({ "type": kind, "item_id": "m1", "output_index": 0, "content_index": 0, key: value }),
                ],
                &[],
            ),
        );
    }
}

#[test]
fn the_whole_does_not_count_again_after_its_parts() {
    let lab = Lab::new(&[NO_MAP]);
    lab.model.streams(&(RESPONSES.events)("1", &["a", " clean", " text"], Some(&["{\"path\":", "\"a\"}"])));
    let answer = lab.ask(&RESPONSES, GO);
    assert_eq!((RESPONSES.received)(&answer.events()).1, ["{\"path\":\"a\"}"]);
    // After the third interrupt the text is let through, with one reminder.
    for number in ["2", "3", "4", "5"] {
        lab.model.streams(&(RESPONSES.events)(number, &["a new Map ", "here"], None));
    }
    let text = lab.ask(&RESPONSES, &[("user", "go"), ("assistant", "x"), ("user", "on")]).text();
    assert!(text.contains("new Map"), "{text}");
    let remind = lab.log().lines().filter(|line| line.contains("\"remind\"")).count();
    assert!(remind <= 1, "{}", lab.log());
}

#[test]
fn an_index_is_one_however_it_is_written() {
    let zeros = || [json!(0), json!(-0.0), json!(0.0), json!("0"), Value::Null];
    for first in zeros() {
        for second in zeros() {
            if first == second {
                continue;
            }
            let block = |index: &Value, text: &str| json!({ "type": "content_block_delta", "index": index, "delta": { "type": "text_delta", "text": text } });
            check(
                &ANTHROPIC,
                &[
                    json!({ "type": "message_start", "message": { "id": "m", "content": [] } }),
                    json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
                    block(&first, "new "),
                    block(&second, "Map ()"),
                    json!({ "type": "message_stop" }),
                ],
            );
        }
        let chunk = |index: &Value, text: &str| json!({ "id": "c", "choices": [{ "index": index, "delta": { "content": text } }] });
        check(&CHAT, &[chunk(&json!(0), "new "), chunk(&first, "Map ()")]);
        let part = |index: &Value, text: &str| json!({ "type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": index, "delta": text });
        check(&RESPONSES, &responses(&[part(&json!(0), "new "), part(&first, "Map ()")], &[]));
        let candidate = |index: &Value, text: &str| json!({ "candidates": [{ "index": index, "content": { "parts": [{ "text": text }] } }] });
        check(&GEMINI, &[candidate(&json!(0), "new "), candidate(&first, "Map ()")]);
    }
    // Clients read the choice at a position, whatever its index and the id of its event are.
    let chunk = |id: &str, index: u64, text: &str| json!({ "id": id, "choices": [{ "index": index, "delta": { "content": text } }] });
    check(&CHAT, &[chunk("c", 0, "new "), chunk("d", 0, "Map ()")]);
    check(&CHAT, &[chunk("c", 0, "ne"), chunk("c", 1, "w Map ()")]);
    let candidate = |index: u64, text: &str| json!({ "candidates": [{ "index": index, "content": { "parts": [{ "text": text }] } }] });
    check(&GEMINI, &[candidate(0, "new "), candidate(1, "Map ()")]);
    let call = |index: Option<u64>, id: Option<&str>, arguments: &str| json!({ "id": "c", "choices": [{ "index": 0, "delta": { "tool_calls": [{ "index": index, "id": id, "function": { "name": id.map(|_| "write"), "arguments": arguments } }] } }] });
    let (one, two) = CALL.split_at(CALL.find("Map").unwrap());
    for (first, second) in [(None, None), (None, Some(0)), (Some(0), None)] {
        check(&CHAT, &[call(first, Some("call_1"), one), call(second, None, two)]);
        check(&CHAT, &[call(first, Some("call_1"), one), call(second, Some("call_1"), two)]);
    }
}

#[test]
fn texts_and_calls_in_other_fields_are_watched() {
    let delta = |delta: Value| json!({ "id": "c", "choices": [{ "index": 0, "delta": delta }] });
    for content in [
        json!([{ "type": "text", "text": "new Map()" }]),
        json!([{ "type": "text", "text": "new " }, { "type": "text", "text": "Map ()" }]),
        json!(["new Map()"]),
    ] {
        check(&CHAT, &[delta(json!({ "content": content }))]);
    }
    check(&CHAT, &[json!({ "id": "c", "choices": [{ "index": 0, "message": { "content": "new Map()" } }] })]);
    check(
        &CHAT,
        &[
            delta(
                json!({ "tool_calls": [{ "index": 0, "id": "call_1", "type": "custom", "custom": { "name": "write", "input": "new " } }] }),
            ),
            delta(json!({ "tool_calls": [{ "index": 0, "custom": { "input": "Map()" } }] })),
        ],
    );
    check(
        &ANTHROPIC,
        &[
            json!({ "type": "message_start", "message": { "id": "m", "content": [{ "type": "text", "text": "new " }] } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "Map ()" } }),
        ],
    );
    check(
        &ANTHROPIC,
        &[
            json!({ "type": "message_start", "message": { "id": "m", "content": [{ "type": "tool_use", "id": "t", "name": "write", "input": { "content": "new Map()" } }] } }),
            json!({ "type": "message_stop" }),
        ],
    );
    let part = |part: Value| json!({ "candidates": [{ "index": 0, "content": { "parts": [part] } }] });
    check(
        &GEMINI,
        &[part(json!({ "function_call": { "name": "write", "args": { "content": "new Map()" } } }))],
    );
    check(&GEMINI, &[part(json!({ "executable_code": { "language": "PYTHON", "code": "new Map()" } }))]);
    let argument = |text: &str| json!({ "function_call": { "partial_args": [{ "json_path": "$.content", "string_value": text }], "will_continue": true } });
    let end = json!({ "candidates": [{ "index": 0, "finish_reason": "STOP" }] });
    check(&GEMINI, &[part(argument("new ")), part(argument("Map()")), end]);
    check(&GEMINI, &[part(json!({ "executableCode": { "language": "PYTHON", "code": "new Map()" } }))]);
    let argument = |text: &str| json!({ "functionCall": { "partialArgs": [{ "jsonPath": "$.content", "stringValue": text, "willContinue": true }], "willContinue": true } });
    for end in [
        part(json!({ "functionCall": {} })),
        json!({ "candidates": [{ "index": 0, "finishReason": "STOP" }] }),
        json!({ "usageMetadata": {} }),
    ] {
        check(
            &GEMINI,
            &[
                part(json!({ "functionCall": { "name": "write", "willContinue": true } })),
                part(argument("new ")),
                part(argument("Map()")),
                end,
            ],
        );
    }
}

#[test]
fn details_of_reasoning_are_thoughts() {
    const NO_MAP: (&str, &str) =
        ("no-map.md", "---\ncondition: \"new\\\\s+Map\\\\b\"\nscope: thinking\n---\nNo.\n");
    let delta = |delta: Value| json!({ "id": "c", "choices": [{ "index": 0, "delta": delta }] });
    let detail = |key: &str, text: &str| {
        delta(json!({ "reasoning_details": [{ "type": "reasoning.text", key: text }] }))
    };
    for key in ["text", "summary"] {
        let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
        let events = [detail(key, "new "), detail(key, "Map ()")].map(|event| format!("data: {event}\n\n"));
        lab.model.streams(&events);
        lab.model.streams(&(CHAT.events)("2", &["safe"], None));
        let text = lab.ask(&CHAT, GO).text();
        assert!(text.contains("safe") && !text.contains("Map"), "{key}: {text}");
    }
}

#[test]
fn a_response_called_a_stream_that_is_one_value_is_watched() {
    for wire in [&ANTHROPIC, &CHAT, &RESPONSES, &GEMINI] {
        for (text, passes) in [("a new Map()", false), ("clean", true)] {
            let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
            let body = format!("\n{:#}", (wire.whole)(text, None));
            lab.model.answers(vec![
                Do::Write(SSE.to_vec()),
                Do::Chunk(body.clone().into_bytes()),
                Do::Chunk(Vec::new()),
            ]);
            let answer = lab.ask(wire, GO).text();
            assert_eq!(answer == body, passes, "{}: {answer}", wire.name);
            assert!(!answer.contains("Map"), "{}: {answer}", wire.name);
        }
    }
}

#[test]
fn what_surrounds_a_text_does_not_let_it_through() {
    let lab = Lab::with(&[("no-map.md", "---\ncondition: \"new\\\\s+Map\\\\b\"\n---\nNo.\n")], &[]);
    let padding = "a".repeat(400_000);
    lab.model.streams(&[
        format!("data: {{\"x\":\"{padding}\",\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"new Map\"}}}}\n\n"),
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n".to_owned(),
    ]);
    lab.model.streams(&(ANTHROPIC.events)("2", &["safe"], None));
    let text = lab.ask(&ANTHROPIC, GO).text();
    assert!(text.contains("safe") && !text.contains("Map"), "{}", &text[..text.len().min(500)]);
}

#[test]
fn a_text_after_the_end_of_a_response_is_held_like_any_other() {
    let chunk = |text: &str, finish: Value| json!({ "id": "c", "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": finish }] });
    check(&CHAT, &[chunk("fine", json!("stop")), chunk("new Ma", Value::Null), chunk("p()", Value::Null)]);
    let delta = |text: &str| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } });
    check(&ANTHROPIC, &[delta("fine"), json!({ "type": "message_stop" }), delta("new Ma"), delta("p()")]);
}
