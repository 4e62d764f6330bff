//! opencode, through the plugin that `rulebook install opencode` writes: what it was called with, as it came.

use rulebook::evidence::ToolCall;
use serde_json::{Value, json};

use super::event::{HookEvent, HookReply, Moment, text};
use super::{Host, Touch};

pub(super) const HOST: Host = Host {
    name: "opencode",
    agent: "opencode",
    cap: 50_000,
    hears: &[Moment::Prompt, Moment::After],
    shows_notices: false,
    misses: &[Touch::Write, Touch::Shell],
    forgets: &[],
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
        // Before a call the arguments may still be changed, so they stand with what comes out.
        input: output.get("args").or_else(|| input.get("args")).cloned(),
        pending: moment == Moment::Before,
        ..ToolCall::default()
    });
    Some(HookEvent {
        folder: text(value, "directory"),
        message: said(output),
        tool,
        mode: text(message, "agent").map(|agent| if agent == "plan" { agent } else { "act".to_owned() }),
        model: message.get("model").and_then(|model| text(model, "modelID")),
        ..HookEvent::new(moment, &name, text(input, "sessionID")?)
    })
}

/// The user's own parts of a message.
fn said(output: &Value) -> Option<String> {
    let parts = output.get("parts")?.as_array()?;
    let is_own = |part: &&Value| part.get("synthetic") != Some(&Value::Bool(true));
    let texts: Vec<String> = parts.iter().filter(is_own).filter_map(|part| text(part, "text")).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn encode(_: &HookEvent, answer: &HookReply) -> Value {
    let mut whole = json!({});
    if let Some(context) = &answer.context {
        whole["context"] = json!(context);
    }
    if let Some(reason) = &answer.refusal {
        whole["deny"] = json!(reason);
    }
    whole
}
