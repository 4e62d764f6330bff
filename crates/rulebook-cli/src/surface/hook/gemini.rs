//! Gemini CLI: context before a tool does not reach the model, and markup in it is escaped.

use serde_json::{Value, json};

use super::Host;
use super::event::{HookEvent, HookReply, Moment, text, tool};

pub(super) const HOST: Host = Host {
    name: "gemini",
    agent: "gemini",
    cap: 30_000,
    hears: &[Moment::Start, Moment::Prompt, Moment::After],
    shows_notices: true,
    misses: &[],
    // Resumed, it has the user's words and the tools' answers, without what hooks put around the words.
    forgets: &[Moment::Start, Moment::Prompt],
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

fn decode(value: &Value) -> Option<HookEvent> {
    let name = text(value, "hook_event_name")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    let is = |key: &str, wanted: &str| text(value, key).is_some_and(|found| found == wanted);
    // It announces a compression before every request, and then mostly does none.
    if moment == Moment::Compact && !is("trigger", "manual") {
        return None;
    }
    Some(HookEvent {
        folder: text(value, "cwd"),
        message: text(value, "prompt").map(own_words),
        tool: tool(value, "tool_name", "tool_input", moment),
        is_resume: is("source", "resume"),
        ..HookEvent::new(moment, &name, text(value, "session_id")?)
    })
}

/// A prompt without what hooks said at the start of the session, which comes before it.
fn own_words(prompt: String) -> String {
    let behind = prompt.strip_prefix("<hook_context>").and_then(|rest| rest.split_once("</hook_context>"));
    behind.map(|(_, own)| own.trim_start().to_owned()).unwrap_or(prompt)
}

fn encode(event: &HookEvent, answer: &HookReply) -> Value {
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
