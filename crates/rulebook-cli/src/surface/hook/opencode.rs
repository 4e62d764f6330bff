//! opencode, through the plugin that `rulebook install opencode` writes, which forwards its arguments unchanged.

use rulebook::evidence::ToolCall;
use rulebook::session::{HostProfile, Moment, Reply, Touch};
use serde_json::{Value, json};

use super::event::{HookEvent, Host, has_failed, text};

pub(super) const HOST: Host = Host {
    profile: HostProfile {
        name: "opencode",
        cap: 50_000,
        context_at: &[Moment::Prompt, Moment::After],
        call_context: false,
        stops: false,
        asks: false,
        shows_notices: true,
        misses: &[Touch::Write, Touch::Shell],
        forgets: &[],
    },
    agent: "opencode",
    decode,
    encode,
};

const MOMENTS: &[(&str, Moment)] = &[
    ("chat.message", Moment::Prompt),
    ("tool.execute.before", Moment::Before),
    ("tool.execute.after", Moment::After),
    ("session.compacted", Moment::Compact),
];

fn decode(value: &Value) -> Option<HookEvent> {
    let name = text(value, "event")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    let part = |key: &str| value.get(key).unwrap_or(&Value::Null);
    let (input, output) = (part("input"), part("output"));
    let message = output.get("message").unwrap_or(&Value::Null);
    let tool = text(input, "tool").map(|name| ToolCall {
        name,
        // Before a call a plugin may change the arguments, so they are part of the output.
        input: output.get("args").or_else(|| input.get("args")).cloned(),
        pending: moment == Moment::Before,
        failed: moment == Moment::After && has_failed(Some(output)),
        ..ToolCall::default()
    });
    Some(HookEvent {
        folder: text(value, "directory"),
        message: user_text(output),
        tool,
        mode: text(message, "agent").map(|agent| if agent == "plan" { agent } else { "act".to_owned() }),
        provider: message.get("model").and_then(|model| text(model, "providerID")),
        model: message.get("model").and_then(|model| text(model, "modelID")),
        ..HookEvent::new(moment, &name, text(input, "sessionID")?)
    })
}

/// The parts of a message that the user wrote.
fn user_text(output: &Value) -> Option<String> {
    let parts = output.get("parts")?.as_array()?;
    let is_own = |part: &&Value| part.get("synthetic") != Some(&Value::Bool(true));
    let texts: Vec<String> = parts.iter().filter(is_own).filter_map(|part| text(part, "text")).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn encode(_: &HookEvent, reply: &Reply) -> Value {
    let mut whole = json!({});
    if let Some(context) = &reply.context {
        whole["context"] = json!(context);
    }
    if let Some(notice) = &reply.notice {
        whole["notice"] = json!(notice);
    }
    if let Some(reason) = &reply.refusal {
        whole["deny"] = json!(reason);
    }
    whole
}
