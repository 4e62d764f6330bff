//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{Event, Said, Wire};

pub(super) const WIRE: Wire = Wire {
    is_for: |path| path.ends_with("/messages"),
    streams: |_, body| body["stream"] == true,
    whole,
    events,
};

fn whole(said: &Said<'_>) -> Value {
    let has_calls = !said.turn.calls.is_empty();
    json!({
        "id": format!("msg_{}", said.id), "type": "message", "role": "assistant", "model": said.model,
        "content": content(said), "stop_reason": if has_calls { "tool_use" } else { "end_turn" },
        "stop_sequence": null,
        "usage": { "input_tokens": said.tokens(), "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0 },
    })
}

fn content(said: &Said<'_>) -> Vec<Value> {
    let mut content = Vec::new();
    if !said.turn.thinking.is_empty() {
        content
            .push(json!({ "type": "thinking", "thinking": said.turn.thinking, "signature": "c2NyaXB0ZWQ=" }));
    }
    if !said.turn.text.is_empty() {
        content.push(json!({ "type": "text", "text": said.turn.text }));
    }
    for (at, call) in said.turn.calls.iter().enumerate() {
        let id = format!("toolu_{}{at:02}", said.id);
        content.push(json!({ "type": "tool_use", "id": id, "name": call.name, "input": call.arguments }));
    }
    content
}

fn events(said: &Said<'_>) -> Vec<Event> {
    let message = whole(said);
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events = vec![json!({ "type": "message_start", "message": start })];
    for (index, block) in content(said).into_iter().enumerate() {
        let (empty, deltas) = parts(said, &block);
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": empty }));
        let delta = |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let delta = json!({ "stop_reason": message["stop_reason"], "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 20 } }));
    events.push(json!({ "type": "message_stop" }));
    events.iter().map(Event::typed).collect()
}

/// A block as it begins, and what is added to it.
fn parts(said: &Said<'_>, block: &Value) -> (Value, Vec<Value>) {
    let split = |text: &str, kind: &str, key: &str| -> Vec<Value> {
        said.pieces(text).into_iter().map(|piece| json!({ "type": kind, key: piece })).collect()
    };
    let text = |key: &str| block[key].as_str().unwrap_or_default();
    match text("type") {
        "thinking" => {
            let mut deltas = split(text("thinking"), "thinking_delta", "thinking");
            deltas.push(json!({ "type": "signature_delta", "signature": block["signature"] }));
            (json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas)
        }
        "text" => (json!({ "type": "text", "text": "" }), split(text("text"), "text_delta", "text")),
        _ => {
            let mut empty = block.clone();
            empty["input"] = json!({});
            (empty, split(&block["input"].to_string(), "input_json_delta", "partial_json"))
        }
    }
}
