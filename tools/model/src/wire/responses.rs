//! OpenAI's Responses.

use serde_json::{Value, json};

use super::{Event, Said, Wire};
use crate::script::Call;

pub(super) const WIRE: Wire = Wire {
    is_for: |path| path.ends_with("/responses"),
    streams: |_, body| body["stream"] == true,
    whole,
    events,
};

fn whole(said: &Said<'_>) -> Value {
    json!({
        "id": format!("resp_{}", said.id), "object": "response", "created_at": said.now, "model": said.model,
        "status": "completed", "output": output(said), "error": null, "incomplete_details": null,
        "usage": {
            "input_tokens": said.tokens(), "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 20,
            "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": said.tokens() + 20,
        },
    })
}

fn output(said: &Said<'_>) -> Vec<Value> {
    let mut output = Vec::new();
    if !said.turn.thinking.is_empty() {
        let summary = json!([{ "type": "summary_text", "text": said.turn.thinking }]);
        output.push(json!({ "type": "reasoning", "id": format!("rs_{}", said.id), "summary": summary }));
    }
    if !said.turn.text.is_empty() {
        let content = json!([{ "type": "output_text", "text": said.turn.text, "annotations": [] }]);
        output.push(json!({ "type": "message", "id": format!("msg_{}", said.id), "status": "completed",
            "role": "assistant", "content": content }));
    }
    output.extend(said.turn.calls.iter().enumerate().map(|(at, call)| item(said, at, call)));
    output
}

/// A call; one whose arguments are a text is of a tool that takes text alone.
fn item(said: &Said<'_>, at: usize, call: &Call) -> Value {
    let (id, call_id) = (format!("fc_{}{at:02}", said.id), format!("call_{}{at:02}", said.id));
    let mut item = match call.arguments.as_str() {
        Some(input) => json!({ "type": "custom_tool_call", "id": id, "call_id": call_id, "name": call.name,
            "input": input, "status": "completed" }),
        None => json!({ "type": "function_call", "id": id, "call_id": call_id, "name": call.name,
            "arguments": call.arguments.to_string(), "status": "completed" }),
    };
    if let Some(namespace) = &call.namespace {
        item["namespace"] = json!(namespace);
    }
    item
}

fn events(said: &Said<'_>) -> Vec<Event> {
    let response = whole(said);
    let mut started = response.clone();
    started["status"] = json!("in_progress");
    started["output"] = json!([]);
    started["usage"] = Value::Null;
    let mut events = vec![json!({ "type": "response.created", "response": started })];
    for (index, item) in output(said).into_iter().enumerate() {
        events.extend(item_events(said, index, &item));
    }
    events.push(json!({ "type": "response.completed", "response": response }));
    for (at, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(at);
    }
    events.iter().map(Event::typed).collect()
}

/// How an item of each kind is told: the name of its events, the key of its text, and where it stands in the item.
fn told(item: &Value) -> (&'static str, &'static str, &'static str) {
    match item["type"].as_str().unwrap_or_default() {
        "reasoning" => ("response.reasoning_summary_text", "text", "/summary/0"),
        "message" => ("response.output_text", "text", "/content/0"),
        "function_call" => ("response.function_call_arguments", "arguments", ""),
        _ => ("response.custom_tool_call_input", "input", ""),
    }
}

fn item_events(said: &Said<'_>, index: usize, item: &Value) -> Vec<Value> {
    let (name, key, place) = told(item);
    let holder = item.pointer(place).unwrap_or(item);
    let text = holder[key].as_str().unwrap_or_default();
    let mut empty = item.clone();
    empty["status"] = json!("in_progress");
    match place {
        "" => empty[key] = json!(""),
        "/summary/0" => empty["summary"] = json!([]),
        _ => empty["content"] = json!([]),
    }
    // Parts are counted where there are any.
    let about = |mut event: Value| {
        event["item_id"] = item["id"].clone();
        event["output_index"] = json!(index);
        match place {
            "" => {}
            "/summary/0" => event["summary_index"] = json!(0),
            _ => event["content_index"] = json!(0),
        }
        event
    };
    let part =
        if place == "/summary/0" { "response.reasoning_summary_part" } else { "response.content_part" };
    let mut blank = holder.clone();
    blank[key] = json!("");
    let mut events =
        vec![json!({ "type": "response.output_item.added", "output_index": index, "item": empty })];
    if !place.is_empty() {
        events.push(about(json!({ "type": format!("{part}.added"), "part": blank })));
    }
    let delta = |piece| about(json!({ "type": format!("{name}.delta"), "delta": piece }));
    events.extend(said.pieces(text).into_iter().map(delta));
    events.push(about(json!({ "type": format!("{name}.done"), key: text })));
    if !place.is_empty() {
        events.push(about(json!({ "type": format!("{part}.done"), "part": holder })));
    }
    events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    events
}
