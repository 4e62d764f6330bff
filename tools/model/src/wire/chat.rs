//! OpenAI's Chat Completions.

use serde_json::{Value, json};

use super::{Event, Said, Wire};

pub(super) const WIRE: Wire = Wire {
    is_for: |path| path.ends_with("/chat/completions"),
    streams: |_, body| body["stream"] == true,
    whole,
    events,
};

fn calls(said: &Said<'_>) -> Vec<Value> {
    let call = |(at, call): (usize, &crate::script::Call)| {
        let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
        json!({ "index": at, "id": format!("call_{}{at:02}", said.id), "type": "function", "function": function })
    };
    said.turn.calls.iter().enumerate().map(call).collect()
}

fn finish(said: &Said<'_>) -> &'static str {
    if said.turn.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(said: &Said<'_>) -> Value {
    json!({ "prompt_tokens": said.tokens(), "completion_tokens": 20, "total_tokens": said.tokens() + 20 })
}

fn envelope(said: &Said<'_>, object: &str, choices: &Value) -> Value {
    let id = format!("chatcmpl-{}", said.id);
    json!({ "id": id, "object": object, "created": said.now, "model": said.model, "choices": choices })
}

fn whole(said: &Said<'_>) -> Value {
    let mut message = json!({ "role": "assistant", "content": said.turn.text });
    if !said.turn.thinking.is_empty() {
        message["reasoning_content"] = json!(said.turn.thinking);
    }
    if !said.turn.calls.is_empty() {
        message["tool_calls"] = json!(calls(said));
    }
    let choices = json!([{ "index": 0, "message": message, "finish_reason": finish(said) }]);
    let mut whole = envelope(said, "chat.completion", &choices);
    whole["usage"] = usage(said);
    whole
}

fn events(said: &Said<'_>) -> Vec<Event> {
    let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
    for (text, key) in [(&said.turn.thinking, "reasoning_content"), (&said.turn.text, "content")] {
        deltas.extend(said.pieces(text).into_iter().map(|piece| json!({ key: piece })));
    }
    for (at, mut call) in calls(said).into_iter().enumerate() {
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default().to_owned();
        call["function"]["arguments"] = json!("");
        deltas.push(json!({ "tool_calls": [call] }));
        let more = |piece| json!({ "tool_calls": [{ "index": at, "function": { "arguments": piece } }] });
        deltas.extend(said.pieces(&arguments).into_iter().map(more));
    }
    let chunk = |choices: Value| envelope(said, "chat.completion.chunk", &choices);
    let part = |delta| chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]));
    let mut chunks: Vec<Value> = deltas.into_iter().map(part).collect();
    chunks.push(chunk(json!([{ "index": 0, "delta": {}, "finish_reason": finish(said) }])));
    let mut last = chunk(json!([]));
    last["usage"] = usage(said);
    chunks.push(last);
    let mut events: Vec<Event> = chunks.iter().map(Event::data).collect();
    events.push(Event { name: None, data: "[DONE]".to_owned() });
    events
}
