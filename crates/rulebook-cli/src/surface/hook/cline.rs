//! Cline: executables that receive the event and may add to the context or cancel.

use rulebook::evidence::ToolCall;
use rulebook::session::{HostProfile, Moment, Reply};
use serde_json::{Value, json};

use super::event::{HookEvent, Host, roots, text};

pub(super) const HOST: Host = Host {
    profile: HostProfile {
        name: "cline",
        cap: 45_000,
        context_at: &[Moment::Prompt, Moment::Before, Moment::After],
        shows_notices: false,
        misses: &[],
        forgets: &[],
    },
    agent: "cline",
    decode,
    encode,
};

const MOMENTS: &[(&str, &str, Moment)] = &[
    ("TaskStart", "taskStart", Moment::Start),
    ("UserPromptSubmit", "userPromptSubmit", Moment::Prompt),
    ("PreToolUse", "preToolUse", Moment::Before),
    ("tool_call", "preToolUse", Moment::Before),
    ("PostToolUse", "postToolUse", Moment::After),
    ("tool_result", "postToolUse", Moment::After),
    ("PreCompact", "preCompact", Moment::Compact),
];

fn decode(value: &Value) -> Option<HookEvent> {
    let name = text(value, "hookName")?;
    let (_, part, moment) = *MOMENTS.iter().find(|(known, ..)| *known == name)?;
    let part = value.get(part).unwrap_or(&Value::Null);
    let call = value.get("tool_call");
    let tool = text(part, "toolName").or_else(|| text(call?, "name")).map(|name| ToolCall {
        name,
        input: call.and_then(|call| call.get("input")).or_else(|| part.get("parameters")).cloned(),
        pending: moment == Moment::Before,
        ..ToolCall::default()
    });
    Some(HookEvent {
        folder: roots(value).first().map(|root| (*root).to_owned()),
        message: text(part, "prompt"),
        tool,
        ..HookEvent::new(moment, &name, text(value, "taskId")?)
    })
}

fn encode(_: &HookEvent, reply: &Reply) -> Value {
    json!({
        "cancel": reply.refusal.is_some(),
        "contextModification": reply.context.as_deref().unwrap_or_default(),
        "errorMessage": reply.refusal.as_deref().unwrap_or_default(),
    })
}
