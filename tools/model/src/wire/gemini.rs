//! Gemini's `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::{Event, Said, Wire};

pub(super) const WIRE: Wire = Wire {
    is_for: |path| path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent"),
    streams: |path, _| path.ends_with(":streamGenerateContent"),
    whole,
    events,
};

fn calls(said: &Said<'_>) -> Vec<Value> {
    let calls = said.turn.calls.iter();
    calls.map(|call| json!({ "functionCall": { "name": call.name, "args": call.arguments } })).collect()
}

fn answer(said: &Said<'_>, parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    json!({
        "candidates": [candidate], "modelVersion": said.model, "responseId": said.id,
        "usageMetadata": { "promptTokenCount": said.tokens(), "candidatesTokenCount": 20, "totalTokenCount": said.tokens() + 20 },
    })
}

fn whole(said: &Said<'_>) -> Value {
    let mut parts = Vec::new();
    if !said.turn.thinking.is_empty() {
        parts.push(json!({ "text": said.turn.thinking, "thought": true }));
    }
    parts.push(json!({ "text": said.turn.text }));
    parts.extend(calls(said));
    answer(said, &parts, Some("STOP"))
}

fn events(said: &Said<'_>) -> Vec<Event> {
    let thoughts = said.pieces(&said.turn.thinking).into_iter();
    let thoughts = thoughts.map(|piece| json!({ "text": piece, "thought": true }));
    let texts = said.pieces(&said.turn.text).into_iter().map(|piece| json!({ "text": piece }));
    let mut answers: Vec<Value> = thoughts.chain(texts).map(|part| answer(said, &[part], None)).collect();
    let mut last = calls(said);
    if last.is_empty() {
        last.push(json!({ "text": "" }));
    }
    answers.push(answer(said, &last, Some("STOP")));
    answers.iter().map(Event::data).collect()
}
