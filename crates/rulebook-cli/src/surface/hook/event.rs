//! What hosts have in common: moments of a session, and what is said at them.

use rulebook::evidence::ToolCall;
use serde_json::Value;

/// A moment of a session at which a host asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// A session, or a sub-agent, begins or is resumed.
    Start,
    /// The user spoke.
    Prompt,
    /// A tool is about to run.
    Before,
    /// A tool ran.
    After,
    /// The context is, or was, compacted.
    Compact,
}

/// An event, whatever the host calls its parts.
#[derive(Clone, Debug)]
pub(super) struct HookEvent {
    pub(super) moment: Moment,
    /// The host's own name for the event, for its answer.
    pub(super) name: String,
    pub(super) session: String,
    /// The sub-agent it comes from.
    pub(super) agent: Option<String>,
    pub(super) folder: Option<String>,
    pub(super) message: Option<String>,
    pub(super) tool: Option<ToolCall>,
    pub(super) mode: Option<String>,
    pub(super) model: Option<String>,
    /// Whether what was said before may have left the context.
    pub(super) is_compaction: bool,
    /// Whether an earlier session is taken up again.
    pub(super) is_resume: bool,
}

impl HookEvent {
    pub(super) fn new(moment: Moment, name: &str, session: String) -> HookEvent {
        HookEvent {
            moment,
            name: name.to_owned(),
            session,
            agent: None,
            folder: None,
            message: None,
            tool: None,
            mode: None,
            model: None,
            is_compaction: moment == Moment::Compact,
            is_resume: false,
        }
    }
}

/// What is said to the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HookReply {
    /// For the model.
    pub(super) context: Option<String>,
    /// For the user.
    pub(super) notice: Option<String>,
    /// Why the call must not run.
    pub(super) refusal: Option<String>,
}

impl HookReply {
    pub(super) fn is_empty(&self) -> bool {
        *self == HookReply::default()
    }
}

/// A text of a JSON object.
pub(super) fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// A tool call of a JSON object, by the names of its parts.
pub(super) fn tool(value: &Value, name: &str, input: &str, moment: Moment) -> Option<ToolCall> {
    Some(ToolCall {
        name: text(value, name)?,
        input: value.get(input).cloned(),
        pending: moment == Moment::Before,
        ..ToolCall::default()
    })
}
