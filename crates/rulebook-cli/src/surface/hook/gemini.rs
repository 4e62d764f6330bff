//! Gemini CLI: context before a tool does not reach the model, and markup in it is escaped.

use rulebook::evidence::ToolCall;
use rulebook::session::{HostProfile, Moment, Reply};
use serde_json::{Value, json};

use super::event::{HookEvent, Host, has_failed, text, tool};

pub(super) const HOST: Host = Host {
    profile: HostProfile {
        name: "gemini",
        cap: 30_000,
        context_at: &[Moment::Start, Moment::Prompt, Moment::After],
        call_context: false,
        stops: true,
        asks: false,
        shows_notices: true,
        misses: &[],
        // A resumed session has the user's messages and the tools' results, without the context that hooks added to messages.
        forgets: &[Moment::Start, Moment::Prompt],
    },
    agent: "gemini",
    decode,
    encode,
};

const MOMENTS: &[(&str, Moment)] = &[
    ("SessionStart", Moment::Start),
    ("BeforeAgent", Moment::Prompt),
    ("BeforeTool", Moment::Before),
    ("AfterTool", Moment::After),
    ("AfterAgent", Moment::Stop),
    ("PreCompress", Moment::Compact),
];

fn decode(value: &Value) -> Option<HookEvent> {
    let name = text(value, "hook_event_name")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    let is = |key: &str, wanted: &str| text(value, key).is_some_and(|found| found == wanted);
    // It announces a compression before every request, and usually does not compress.
    if moment == Moment::Compact && !is("trigger", "manual") {
        return None;
    }
    Some(HookEvent {
        folder: text(value, "cwd"),
        message: text(value, "prompt").map(without_hook_context),
        tool: tool(value, "tool_name", "tool_input", moment)
            .map(|call| ToolCall { failed: has_failed(value.get("tool_response")), ..call }),
        is_resume: is("source", "resume"),
        ..HookEvent::new(moment, &name, text(value, "session_id")?)
    })
}

/// A prompt without the context of the session's start, which Gemini CLI puts before it.
fn without_hook_context(prompt: String) -> String {
    let after = prompt.strip_prefix("<hook_context>").and_then(|rest| rest.split_once("</hook_context>"));
    after.map(|(_, own)| own.trim_start().to_owned()).unwrap_or(prompt)
}

fn encode(event: &HookEvent, reply: &Reply) -> Value {
    let mut whole = json!({});
    if let Some(context) = &reply.context {
        whole["hookSpecificOutput"] = json!({ "hookEventName": event.name, "additionalContext": context });
    }
    if let Some(reason) = &reply.refusal {
        whole["decision"] = json!("deny");
        whole["reason"] = json!(reason);
    }
    if let Some(notice) = &reply.notice {
        whole["systemMessage"] = json!(notice);
    }
    whole
}
