//! Claude Code, whose protocol Codex and Qwen Code use too.

use rulebook::evidence::ToolCall;
use rulebook::session::{HostProfile, Moment, Reply, Touch};
use serde_json::{Value, json};

use super::event::{HookEvent, Host, has_failed, text, tool};

pub(super) const HOST: Host = Host {
    profile: HostProfile {
        name: "claude",
        cap: 9_500,
        // Context before a tool is lost when the session is resumed.
        context_at: &[Moment::Start, Moment::Prompt, Moment::After],
        call_context: true,
        stops: true,
        asks: true,
        shows_notices: true,
        misses: &[Touch::Write, Touch::Shell],
        forgets: &[Moment::Before],
    },
    agent: "claude",
    decode,
    encode,
};

/// A tool failed.
const FAILED: &str = "PostToolUseFailure";

/// Its names of the moments.
const MOMENTS: &[(&str, Moment)] = &[
    ("SessionStart", Moment::Start),
    ("SubagentStart", Moment::Start),
    ("UserPromptSubmit", Moment::Prompt),
    ("PreToolUse", Moment::Before),
    ("PostToolUse", Moment::After),
    (FAILED, Moment::After),
    ("PreCompact", Moment::Compact),
    ("Stop", Moment::Stop),
    ("InstructionsLoaded", Moment::Load),
];

pub(super) fn decode(value: &Value) -> Option<HookEvent> {
    let name = text(value, "hook_event_name")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    let message = text(value, "prompt");
    let source = text(value, "source");
    // Qwen Code submits an empty prompt with every tool result, and drops the context of its answer.
    if moment == Moment::Prompt && message.as_ref().is_some_and(String::is_empty) {
        return None;
    }
    let reason = text(value, "load_reason").unwrap_or_default();
    Some(HookEvent {
        loaded: text(value, "file_path").filter(|_| moment == Moment::Load).map(|file| (file, reason)),
        transcript: text(value, "transcript_path"),
        agent: text(value, "agent_id"),
        folder: text(value, "cwd"),
        message,
        tool: tool(value, "tool_name", "tool_input", moment).map(|call| ToolCall {
            failed: name == FAILED || has_failed(value.get("tool_response")),
            ..call
        }),
        mode: text(value, "permission_mode").map(|mode| if mode == "plan" { mode } else { "act".to_owned() }),
        model: text(value, "model"),
        is_compaction: moment == Moment::Compact
            || source.as_ref().is_some_and(|source| matches!(source.as_str(), "compact" | "clear")),
        is_resume: source.as_ref().is_some_and(|source| source == "resume"),
        ..HookEvent::new(moment, &name, text(value, "session_id")?)
    })
}

pub(super) fn encode(event: &HookEvent, reply: &Reply) -> Value {
    let mut inner = json!({ "hookEventName": event.name });
    if let Some(context) = &reply.context {
        inner["additionalContext"] = json!(context);
    }
    if let Some(reason) = reply.refusal.as_ref().filter(|_| event.moment == Moment::Stop) {
        return json!({ "decision": "block", "reason": reason });
    }
    if let Some(reason) = reply.ask.as_ref().filter(|_| reply.refusal.is_none()) {
        inner["permissionDecision"] = json!("ask");
        inner["permissionDecisionReason"] = json!(reason);
    }
    if let Some(reason) = &reply.refusal {
        inner["permissionDecision"] = json!("deny");
        inner["permissionDecisionReason"] = json!(reason);
    }
    let mut whole = json!({});
    // An event without context does not accept this part.
    if reply.context.is_some() || reply.refusal.is_some() || reply.ask.is_some() {
        whole["hookSpecificOutput"] = inner;
    }
    if let Some(notice) = &reply.notice {
        whole["systemMessage"] = json!(notice);
    }
    whole
}
