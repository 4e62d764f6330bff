//! Gemini CLI: context before a tool does not reach the model, and markup in it is escaped.

use serde_json::{Value, json};

use super::Host;
use super::event::{Answer, Event, Moment, text, tool};

pub(super) const HOST: Host = Host {
    name: "gemini",
    agent: "gemini",
    cap: 30_000,
    hears: &[Moment::Start, Moment::Prompt, Moment::After],
    misses: &[],
    decode,
    encode,
};

const MOMENTS: &[(&str, Moment)] = &[
    ("SessionStart", Moment::Start),
    ("BeforeAgent", Moment::Prompt),
    ("BeforeTool", Moment::Before),
    ("AfterTool", Moment::After),
    ("PreCompress", Moment::Compact),
];

fn decode(value: &Value) -> Option<Event> {
    let name = text(value, "hook_event_name")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    Some(Event {
        folder: text(value, "cwd"),
        message: text(value, "prompt"),
        tool: tool(value, "tool_name", "tool_input", moment),
        ..Event::new(moment, &name, text(value, "session_id")?)
    })
}

fn encode(event: &Event, answer: &Answer) -> Value {
    let mut whole = json!({});
    if let Some(context) = &answer.context {
        whole["hookSpecificOutput"] = json!({ "hookEventName": event.name, "additionalContext": context });
    }
    if let Some(reason) = &answer.refusal {
        whole["decision"] = json!("deny");
        whole["reason"] = json!(reason);
    }
    if let Some(notice) = &answer.notice {
        whole["systemMessage"] = json!(notice);
    }
    whole
}
