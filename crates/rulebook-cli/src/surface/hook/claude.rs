//! Claude Code; Codex and Qwen Code speak its language.

use serde_json::{Value, json};

use super::event::{HookEvent, HookReply, Moment, text, tool};
use super::{Host, Touch};

pub(super) const HOST: Host = Host {
    name: "claude",
    agent: "claude",
    cap: 9_500,
    // What is said before a tool reaches the model too, but is gone when the session is resumed.
    hears: &[Moment::Start, Moment::Prompt, Moment::After],
    shows_notices: true,
    misses: &[Touch::Write, Touch::Shell],
    forgets: &[],
    decode,
    encode,
};

/// A tool that was announced and did not do what it should: the host has looked at no file.
const FAILED: &str = "PostToolUseFailure";

/// Its names for the moments.
const MOMENTS: &[(&str, Moment)] = &[
    ("SessionStart", Moment::Start),
    ("SubagentStart", Moment::Start),
    ("UserPromptSubmit", Moment::Prompt),
    ("PreToolUse", Moment::Before),
    ("PostToolUse", Moment::After),
    (FAILED, Moment::After),
    ("PreCompact", Moment::Compact),
];

pub(super) fn decode(value: &Value) -> Option<HookEvent> {
    let name = text(value, "hook_event_name")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    let message = text(value, "prompt");
    // Qwen Code submits an empty one with every answer of a tool, and forgets what is said to it.
    if moment == Moment::Prompt && message.as_ref().is_some_and(String::is_empty) {
        return None;
    }
    Some(HookEvent {
        agent: text(value, "agent_id"),
        folder: text(value, "cwd"),
        message,
        tool: tool(value, "tool_name", "tool_input", moment).filter(|_| name != FAILED),
        mode: text(value, "permission_mode").map(|mode| if mode == "plan" { mode } else { "act".to_owned() }),
        model: text(value, "model"),
        is_compaction: moment == Moment::Compact
            || text(value, "source").is_some_and(|source| matches!(source.as_str(), "compact" | "clear")),
        ..HookEvent::new(moment, &name, text(value, "session_id")?)
    })
}

pub(super) fn encode(event: &HookEvent, answer: &HookReply) -> Value {
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
