//! Claude Code; Codex and Qwen Code speak its language.

use serde_json::{Value, json};

use super::event::{Answer, Event, Moment, text, tool};
use super::{Host, Touch};

pub(super) const HOST: Host = Host {
    name: "claude",
    agent: "claude",
    cap: 9_500,
    hears: &[Moment::Start, Moment::Prompt, Moment::Before, Moment::After],
    misses: &[Touch::Write, Touch::Shell],
    decode,
    encode,
};

/// Its names for the moments.
const MOMENTS: &[(&str, Moment)] = &[
    ("SessionStart", Moment::Start),
    ("SubagentStart", Moment::Start),
    ("UserPromptSubmit", Moment::Prompt),
    ("PreToolUse", Moment::Before),
    ("PostToolUse", Moment::After),
    ("PreCompact", Moment::Compact),
    ("PostCompact", Moment::Compact),
];

pub(super) fn decode(value: &Value) -> Option<Event> {
    let name = text(value, "hook_event_name")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    Some(Event {
        agent: text(value, "agent_id"),
        folder: text(value, "cwd"),
        message: text(value, "prompt").filter(|prompt| !prompt.is_empty()),
        tool: tool(value, "tool_name", "tool_input", moment),
        mode: text(value, "permission_mode").map(|mode| if mode == "plan" { mode } else { "act".to_owned() }),
        model: text(value, "model"),
        is_compaction: moment == Moment::Compact
            || text(value, "source").is_some_and(|source| source == "compact"),
        ..Event::new(moment, &name, text(value, "session_id")?)
    })
}

pub(super) fn encode(event: &Event, answer: &Answer) -> Value {
    let mut inner = json!({ "hookEventName": event.name });
    if let Some(context) = &answer.context {
        inner["additionalContext"] = json!(context);
    }
    if let Some(reason) = &answer.refusal {
        inner["permissionDecision"] = json!("deny");
        inner["permissionDecisionReason"] = json!(reason);
    }
    let mut whole = json!({});
    // An event that takes no context takes no such part either.
    if answer.context.is_some() || answer.refusal.is_some() {
        whole["hookSpecificOutput"] = inner;
    }
    if let Some(notice) = &answer.notice {
        whole["systemMessage"] = json!(notice);
    }
    whole
}
