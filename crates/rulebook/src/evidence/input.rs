//! The evidence as hosts send it: JSON, every key optional.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::json;
use crate::diagnostic::{Code, Diagnostic};

/// What a host reports about the request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// Paths named on the command line, absolute.
    pub arguments: Vec<String>,
    /// The user's message.
    pub message: Option<String>,
    /// Files that the user mentioned explicitly.
    pub mentions: Vec<String>,
    /// Tool calls, oldest first.
    pub tools: Vec<ToolCall>,
    /// Open tabs.
    pub open_tabs: Vec<String>,
    /// Visible editors.
    pub visible_editors: Vec<String>,
    /// Files that the agent wrote in this task.
    pub modified: Vec<String>,
    /// The current turn.
    pub turn: Option<u64>,
    /// The host's mode.
    pub mode: Option<String>,
    /// The provider of the model.
    pub provider: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// The agent's name.
    pub agent: Option<String>,
    /// The environment's name.
    pub env: Option<String>,
    /// The tags of the workspace.
    pub tags: Option<Vec<String>>,
    /// The git branch.
    pub branch: Option<String>,
    /// The operating system.
    pub os: Option<String>,
    /// Rules requested by name for this turn.
    pub requested: Vec<String>,
    /// Rules that the user pinned in this session.
    pub pinned: Vec<String>,
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// Its targets, if the host names them.
    pub paths: Vec<String>,
    /// The shell command it runs.
    pub command: Option<String>,
    /// Its raw arguments.
    pub input: Option<Value>,
    /// The turn in which it was made.
    pub turn: Option<u64>,
    /// Whether it is about to run.
    pub pending: bool,
    /// Whether it ran and failed, where the host says so.
    pub failed: bool,
}

#[rustfmt::skip]
const KEYS: &[&str] = &[
    "agent", "branch", "env", "mentions", "message", "mode", "model", "modified", "openTabs", "os", "paths",
    "provider", "requested", "tags", "tools", "turn", "visibleEditors",
];
const TOOL_KEYS: &[&str] = &["command", "input", "name", "path", "paths", "pending", "turn"];

/// Builds an input: `Input::message("fix the tests").tools(calls).mode("act")`.
impl Input {
    /// An input with the user's message.
    pub fn message(text: impl Into<String>) -> Input {
        Input { message: Some(text.into()), ..Input::default() }
    }

    /// Adds paths, absolute or relative to the workspace's root.
    #[must_use]
    pub fn paths(mut self, paths: impl IntoIterator<Item = impl Into<String>>) -> Input {
        self.arguments.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Adds files that the user mentioned.
    #[must_use]
    pub fn mentions(mut self, paths: impl IntoIterator<Item = impl Into<String>>) -> Input {
        self.mentions.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Adds tool calls, oldest first.
    #[must_use]
    pub fn tools(mut self, calls: impl IntoIterator<Item = ToolCall>) -> Input {
        self.tools.extend(calls);
        self
    }

    /// Adds open tabs.
    #[must_use]
    pub fn open_tabs(mut self, paths: impl IntoIterator<Item = impl Into<String>>) -> Input {
        self.open_tabs.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Sets the mode: `act`, `plan`, or a name of the host's own.
    #[must_use]
    pub fn mode(self, mode: impl Into<String>) -> Input {
        Input { mode: Some(mode.into()), ..self }
    }

    /// Sets provider and model.
    #[must_use]
    pub fn model(self, provider: impl Into<String>, model: impl Into<String>) -> Input {
        Input { provider: Some(provider.into()), model: Some(model.into()), ..self }
    }

    /// Sets the agent's name.
    #[must_use]
    pub fn agent(self, name: impl Into<String>) -> Input {
        Input { agent: Some(name.into()), ..self }
    }

    /// Requests a rule by name.
    #[must_use]
    pub fn request(mut self, name: impl Into<String>) -> Input {
        self.requested.push(name.into());
        self
    }
}

/// Why a text is not an input. It continues a sentence that names the text.
#[derive(Debug)]
#[non_exhaustive]
pub enum InputError {
    /// It is not JSON.
    NotJson(serde_json::Error),
    /// It is JSON, but not an object.
    NotAnObject {
        /// What it is instead.
        found: &'static str,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::NotJson(error) => write!(f, "is not JSON: {error}"),
            InputError::NotAnObject { found } => write!(f, "must be a JSON object, found {found}"),
        }
    }
}

impl std::error::Error for InputError {}

impl ToolCall {
    /// A call of a tool with its arguments: an object, or text as it came from the model.
    pub fn new(name: impl Into<String>, arguments: impl Into<Value>) -> ToolCall {
        ToolCall { name: name.into(), input: Some(arguments.into()), ..ToolCall::default() }
    }
}

impl Input {
    /// Reads JSON text.
    ///
    /// # Errors
    /// If it is not a JSON object.
    pub fn from_json(text: &str) -> Result<(Input, Vec<Diagnostic>), InputError> {
        let value = json::read(text.as_bytes()).map_err(InputError::NotJson)?;
        if !value.is_object() {
            return Err(InputError::NotAnObject { found: kind(&value) });
        }
        let mut diagnostics = Vec::new();
        let input = Input::from_value(&value, &mut diagnostics);
        Ok((input, diagnostics))
    }

    /// Reads what can be read and reports the rest.
    pub(super) fn from_value(value: &Value, diagnostics: &mut Vec<Diagnostic>) -> Input {
        let empty = Map::new();
        let mut fields = Object { map: value.as_object().unwrap_or(&empty), diagnostics };
        fields.report_unknown(KEYS);
        let calls = match fields.map.get("tools") {
            None | Some(Value::Null) => &[][..],
            Some(Value::Array(calls)) => calls,
            Some(other) => {
                fields.report_type("tools", "a list", other);
                &[]
            }
        };
        let tags = fields.map.contains_key("tags").then(|| fields.texts("tags"));
        Input {
            arguments: fields.texts("paths"),
            message: fields.text("message"),
            mentions: fields.texts("mentions"),
            tools: calls.iter().filter_map(|call| ToolCall::from_value(call, fields.diagnostics)).collect(),
            open_tabs: fields.texts("openTabs"),
            visible_editors: fields.texts("visibleEditors"),
            modified: fields.texts("modified"),
            turn: fields.number("turn"),
            mode: fields.text("mode"),
            provider: fields.text("provider"),
            model: fields.text("model"),
            agent: fields.text("agent"),
            env: fields.text("env"),
            tags,
            branch: fields.text("branch"),
            os: fields.text("os"),
            requested: fields.texts("requested"),
            pinned: Vec::new(),
        }
    }
}

impl ToolCall {
    fn from_value(value: &Value, diagnostics: &mut Vec<Diagnostic>) -> Option<ToolCall> {
        let Some(map) = value.as_object() else {
            let message = format!("an entry of `tools` must be an object, found {}", kind(value));
            report_wrong_type(diagnostics, message);
            return None;
        };
        let mut fields = Object { map, diagnostics };
        fields.report_unknown(TOOL_KEYS);
        let mut paths: Vec<String> = fields.text("path").into_iter().collect();
        paths.extend(fields.texts("paths"));
        Some(ToolCall {
            name: fields.text("name").unwrap_or_default(),
            paths,
            command: fields.text("command"),
            input: map.get("input").cloned(),
            turn: fields.number("turn"),
            pending: fields.read("pending", "`true` or `false`").unwrap_or_default(),
            failed: false,
        })
    }
}

struct Object<'v, 'd> {
    map: &'v Map<String, Value>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Object<'_, '_> {
    fn report_unknown(&mut self, known: &[&'static str]) {
        for key in self.map.keys().filter(|key| !known.contains(&key.as_str())) {
            let message = format!("unknown key `{key}` in the evidence is ignored");
            let diagnostic = Diagnostic::whole(Code::UnknownEvidence, "evidence", message);
            let diagnostic = diagnostic.help(format!("known keys are {}", known.join(", ")));
            self.diagnostics.push(diagnostic.did_you_mean(key, known.iter().copied()));
        }
    }

    fn report_type(&mut self, key: &str, wanted: &str, found: &Value) {
        let message = format!("`{key}` must be {wanted}, found {}", kind(found));
        report_wrong_type(self.diagnostics, message);
    }

    /// Reads a value that is present and not null; reports one of another type.
    fn read<T: DeserializeOwned>(&mut self, key: &str, wanted: &str) -> Option<T> {
        let value = self.map.get(key).filter(|value| !value.is_null())?;
        T::deserialize(value).inspect_err(|_| self.report_type(key, wanted, value)).ok()
    }

    fn text(&mut self, key: &str) -> Option<String> {
        self.read(key, "text")
    }

    fn number(&mut self, key: &str) -> Option<u64> {
        self.read(key, "a non-negative integer")
    }

    fn texts(&mut self, key: &str) -> Vec<String> {
        match self.map.get(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(items)) => {
                if let Some(wrong) = items.iter().find(|item| !item.is_string()) {
                    self.report_type(key, "a list of text", wrong);
                }
                items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(other) => {
                self.report_type(key, "a list of text", other);
                Vec::new()
            }
        }
    }
}

fn report_wrong_type(diagnostics: &mut Vec<Diagnostic>, message: String) {
    diagnostics.push(Diagnostic::whole(Code::WrongType, "evidence", message));
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
