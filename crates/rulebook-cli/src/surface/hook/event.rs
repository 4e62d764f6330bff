//! What hosts have in common: their events, and how each host is read and answered.

use rulebook::evidence::ToolCall;
use rulebook::session::{HostProfile, Moment, Reply};
use serde_json::Value;

/// A host: how its events are read, what it takes, and how it is answered.
pub(crate) struct Host {
    pub(crate) profile: HostProfile<'static>,
    /// The agent whose files it reads by itself; see `rulebook formats`.
    pub(super) agent: &'static str,
    pub(super) decode: fn(&Value) -> Option<HookEvent>,
    pub(super) encode: fn(&HookEvent, &Reply) -> Value,
}

/// An event of any host.
#[derive(Clone, Debug)]
pub(crate) struct HookEvent {
    pub(super) moment: Moment,
    /// The host's own name for the event, which its answer repeats.
    pub(super) name: String,
    pub(super) session: String,
    /// The agent whose files the host reads, if the event shows that it differs from the host's.
    pub(super) surface: Option<&'static str>,
    /// The sub-agent that sent it.
    pub(super) agent: Option<String>,
    pub(super) folder: Option<String>,
    pub(super) message: Option<String>,
    pub(super) tool: Option<ToolCall>,
    pub(super) mode: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    /// The texts that a tool of ours returned.
    pub(super) answers: Vec<String>,
    /// Files that the user attached to the message.
    pub(super) mentions: Vec<String>,
    /// The file that the host loaded by itself, and its reason.
    pub(super) loaded: Option<(String, String)>,
    /// The file in which the host keeps the conversation.
    pub(super) transcript: Option<String>,
    /// Whether earlier context may be gone.
    pub(super) is_compaction: bool,
    /// Whether an earlier session is resumed.
    pub(super) is_resume: bool,
}

impl HookEvent {
    pub(super) fn new(moment: Moment, name: &str, session: String) -> HookEvent {
        HookEvent {
            moment,
            name: name.to_owned(),
            session,
            surface: None,
            agent: None,
            folder: None,
            message: None,
            tool: None,
            mode: None,
            provider: None,
            model: None,
            answers: Vec::new(),
            mentions: Vec::new(),
            loaded: None,
            transcript: None,
            is_compaction: moment == Moment::Compact,
            is_resume: false,
        }
    }
}

/// The roots of the workspace that an event names, in the keys of any host.
pub(super) fn roots(value: &Value) -> Vec<&str> {
    let lists =
        ["workspaceRoots", "workspace_roots"].into_iter().filter_map(|key| value.get(key)?.as_array());
    lists.flatten().filter_map(Value::as_str).collect()
}

/// All texts in an event.
pub(super) fn texts(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(items) => Box::new(items.iter().flat_map(texts)),
        Value::Object(fields) => Box::new(fields.values().flat_map(texts)),
        _ => Box::new(std::iter::empty()),
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

/// Whether the result of a tool, as a model reads it, says that it failed.
pub(crate) fn has_failed_text(text: &str) -> bool {
    let value = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
    has_failed(Some(&value.unwrap_or_else(|| Value::from(text))))
}

/// Whether the result of a tool says that it failed.
pub(super) fn has_failed(result: Option<&Value>) -> bool {
    const CODES: &[&str] = &["exit_code", "exitCode", "exit"];
    const TEXTS: &[&str] = &["llmContent", "output"];
    /// How the texts of results start the exit status of a command.
    const MARKS: &[&str] = &["exit code: ", "exited with code "];
    let Some(result) = result else { return false };
    if let Some(text) = result.as_str() {
        let start = text[..text.floor_char_boundary(2_000)].to_lowercase();
        let code = MARKS.iter().find_map(|mark| start.split_once(mark)).map(|(_, rest)| rest);
        return code.is_some_and(|code| code.starts_with(|c: char| matches!(c, '1'..='9' | '-')));
    }
    let is_nonzero = |value: &Value| value.as_i64().is_some_and(|code| code != 0);
    let is_error = |key: &str| result.get(key) == Some(&Value::Bool(true));
    CODES.iter().filter_map(|key| result.get(key)).any(is_nonzero)
        || is_error("is_error")
        || is_error("isError")
        || result.get("error").is_some_and(|error| !error.is_null())
        || result.get("metadata").is_some_and(|inner| has_failed(Some(inner)))
        || TEXTS
            .iter()
            .filter_map(|key| result.get(key))
            .any(|text| text.is_string() && has_failed(Some(text)))
}
