//! Cursor: only context before a tool is known to reach the model. Its documentation names the start of a session and
//! the result of a tool too, but versions differ in whether the model sees that.

use rulebook::session::{HostProfile, Moment, Reply};
use serde_json::{Value, json};

use super::event::{HookEvent, Host, roots, text, tool};

pub(super) const HOST: Host = Host {
    profile: HostProfile {
        name: "cursor",
        cap: 9_500,
        context_at: &[Moment::Before],
        call_context: false,
        stops: false,
        // It takes the answer to ask the user, and then runs the call.
        asks: false,
        // It shows a message only with a refusal.
        shows_notices: false,
        misses: &[],
        forgets: &[],
    },
    agent: "cursor",
    decode,
    encode,
};

const MOMENTS: &[(&str, Moment)] = &[
    ("sessionStart", Moment::Start),
    ("beforeSubmitPrompt", Moment::Prompt),
    ("preToolUse", Moment::Before),
    ("postToolUse", Moment::After),
    ("preCompact", Moment::Compact),
];

fn decode(value: &Value) -> Option<HookEvent> {
    let name = text(value, "hook_event_name")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    Some(HookEvent {
        folder: roots(value).first().map(|root| (*root).to_owned()).or_else(|| text(value, "cwd")),
        message: text(value, "prompt"),
        mentions: attachments(value),
        tool: tool(value, "tool_name", "tool_input", moment),
        mode: text(value, "composer_mode").map(|mode| if mode == "agent" { "act".to_owned() } else { mode }),
        model: text(value, "model"),
        ..HookEvent::new(moment, &name, text(value, "conversation_id").or_else(|| text(value, "session_id"))?)
    })
}

/// The files that the user attached to the message.
fn attachments(value: &Value) -> Vec<String> {
    let listed = value.get("attachments").and_then(Value::as_array).into_iter().flatten();
    let files = listed.filter(|attached| text(attached, "type").as_deref() == Some("file"));
    files.filter_map(|file| text(file, "file_path").or_else(|| text(file, "filePath"))).collect()
}

/// Whether Cursor sent an event: it also runs the hooks of other agents.
pub(super) fn sent(event: &Value) -> bool {
    event.get("cursor_version").is_some()
}

/// The answer that says nothing. Before a tool, an answer without a permission counts as invalid and blocks the call; `allow`
/// leaves the decision to Cursor and its user.
pub(super) fn silence(name: Option<&str>) -> Value {
    let is_before = name.is_none_or(|name| name.eq_ignore_ascii_case("preToolUse"));
    if is_before { json!({ "permission": "allow" }) } else { json!({}) }
}

fn encode(event: &HookEvent, reply: &Reply) -> Value {
    let mut whole = silence(Some(&event.name));
    if let Some(context) = &reply.context {
        whole["additional_context"] = json!(context);
    }
    if let Some(reason) = &reply.refusal {
        whole["permission"] = json!("deny");
        whole["agent_message"] = json!(reason);
        whole["user_message"] = json!("Rulebook refused this call because of a rule");
    }
    whole
}
