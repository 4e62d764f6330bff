//! Copilot's command line.

use rulebook::evidence::ToolCall;
use serde_json::{Value, json};

use super::event::{Answer, Event, Moment, text};
use super::{Host, Touch};

pub(super) const HOST: Host = Host {
    name: "copilot",
    agent: "copilot-cli",
    cap: 50_000,
    hears: &[Moment::Start, Moment::Prompt, Moment::Before, Moment::After],
    misses: &[Touch::Write, Touch::Shell],
    decode,
    encode,
};

/// An event does not say its name: its parts do.
fn decode(value: &Value) -> Option<Event> {
    let session = text(value, "sessionId")?;
    let has = |key: &str| value.get(key).is_some();
    let moment = match () {
        () if has("toolResult") => Moment::After,
        () if has("toolName") => Moment::Before,
        () if has("prompt") => Moment::Prompt,
        () if has("source") || has("initialPrompt") => Moment::Start,
        () => return None,
    };
    // Arguments come as an object, or as JSON in a text.
    let tool = text(value, "toolName").map(|name| ToolCall {
        name,
        input: value.get("toolArgs").cloned(),
        pending: moment == Moment::Before,
        ..ToolCall::default()
    });
    Some(Event {
        folder: text(value, "cwd"),
        message: text(value, "prompt"),
        tool,
        ..Event::new(moment, "", session)
    })
}

fn encode(_: &Event, answer: &Answer) -> Value {
    let mut whole = json!({});
    if let Some(context) = &answer.context {
        whole["additionalContext"] = json!(context);
    }
    if let Some(reason) = &answer.refusal {
        whole["permissionDecision"] = json!("deny");
        whole["permissionDecisionReason"] = json!(reason);
    }
    whole
}
