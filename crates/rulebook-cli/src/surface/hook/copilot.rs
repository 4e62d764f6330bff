//! Copilot's command line.

use rulebook::evidence::ToolCall;
use serde_json::{Value, json};

use super::event::{HookEvent, HookReply, Moment, text};
use super::{Host, Touch};

pub(super) const HOST: Host = Host {
    name: "copilot",
    agent: "copilot-cli",
    cap: 50_000,
    // What is said at the start or before a tool reaches the model too, but is gone when the session is resumed.
    hears: &[Moment::Prompt, Moment::After],
    shows_notices: false,
    misses: &[Touch::Write, Touch::Shell],
    forgets: &[],
    decode,
    encode,
};

/// An event does not say its name: its parts do.
fn decode(value: &Value) -> Option<HookEvent> {
    let session = text(value, "sessionId")?;
    let has = |key: &str| value.get(key).is_some();
    let moment = match () {
        () if has("error") => return None,
        () if has("toolResult") => Moment::After,
        () if has("toolName") => Moment::Before,
        () if has("prompt") => Moment::Prompt,
        () if has("source") || has("initialPrompt") => Moment::Start,
        () if has("customInstructions") => Moment::Compact,
        () => return None,
    };
    // Arguments come as an object, or as JSON in a text.
    let tool = text(value, "toolName").map(|name| ToolCall {
        name,
        input: value.get("toolArgs").cloned(),
        pending: moment == Moment::Before,
        ..ToolCall::default()
    });
    // A sub-agent's session has the sub-agent's name.
    let agent = text(value, "agentId");
    let whole = agent.as_ref().and_then(|_| text(value, "parentAgentId"));
    Some(HookEvent {
        agent,
        folder: text(value, "cwd"),
        message: text(value, "prompt"),
        tool,
        ..HookEvent::new(moment, "", whole.unwrap_or(session))
    })
}

fn encode(_: &HookEvent, answer: &HookReply) -> Value {
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
