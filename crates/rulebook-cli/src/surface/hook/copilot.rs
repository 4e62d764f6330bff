//! Copilot CLI, and Copilot in VS Code.

use rulebook::evidence::ToolCall;
use rulebook::session::{HostProfile, Moment, Reply, Touch};
use serde_json::{Value, json};

use super::claude;
use super::event::{HookEvent, Host, text};

pub(super) const HOST: Host = Host {
    profile: HostProfile {
        name: "copilot",
        cap: 50_000,
        // Context at the start or before a tool is lost when the session is resumed.
        context_at: &[Moment::Prompt, Moment::After],
        call_context: true,
        stops: false,
        asks: false,
        shows_notices: false,
        misses: &[Touch::Write, Touch::Shell],
        forgets: &[Moment::Before],
    },
    agent: "copilot-cli",
    decode,
    encode,
};

/// Copilot in VS Code, which runs the same hooks with Claude Code's events and answers. It takes no context with a message.
pub(super) const VSCODE: Host = Host {
    profile: HostProfile {
        context_at: &[Moment::Before, Moment::After],
        call_context: false,
        asks: true,
        shows_notices: true,
        misses: &[],
        forgets: &[],
        ..HOST.profile
    },
    agent: "copilot-vscode",
    decode: decode_vscode,
    encode: claude::encode,
};

/// The names that VS Code has for keys, and Claude Code's.
const KEYS: [(&str, &str); 2] = [("hookEventName", "hook_event_name"), ("sessionId", "session_id")];

/// Whether VS Code sent an event: it has a name.
pub(super) fn is_from_vscode(event: &Value) -> bool {
    let (own, other) = KEYS[0];
    event.get(own).or_else(|| event.get(other)).is_some()
}

fn decode_vscode(value: &Value) -> Option<HookEvent> {
    let mut value = value.clone();
    for (own, other) in KEYS {
        if let Some(found) = value.get(own).cloned() {
            value[other] = found;
        }
    }
    claude::decode(&value)
}

/// An event has no name: its keys tell what it is.
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
    // Arguments are an object, or JSON in a string.
    let tool = text(value, "toolName").map(|name| ToolCall {
        name,
        input: value.get("toolArgs").cloned(),
        pending: moment == Moment::Before,
        ..ToolCall::default()
    });
    // A sub-agent's session id is the sub-agent's.
    let agent = text(value, "agentId");
    let whole = agent.as_ref().and_then(|_| text(value, "parentAgentId"));
    Some(HookEvent {
        agent,
        folder: text(value, "cwd"),
        message: text(value, "prompt"),
        tool,
        is_resume: text(value, "source").is_some_and(|source| source == "resume"),
        ..HookEvent::new(moment, "", whole.unwrap_or(session))
    })
}

fn encode(_: &HookEvent, reply: &Reply) -> Value {
    let mut whole = json!({});
    if let Some(context) = &reply.context {
        whole["additionalContext"] = json!(context);
    }
    if let Some(reason) = &reply.refusal {
        whole["permissionDecision"] = json!("deny");
        whole["permissionDecisionReason"] = json!(reason);
    }
    whole
}
