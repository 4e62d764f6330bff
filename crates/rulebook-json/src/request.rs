//! Requests: JSON objects with known keys. An unknown key is an error, because a program would not notice a diagnostic.

use rulebook::agent::{Agent, NamedAgent, Purpose};
use rulebook::diagnostic::Diagnostic;
use rulebook::evidence::Input;
use rulebook_workspace::Viewpoint;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ErrorCode, JsonError};

/// What to open.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Open {
    /// The folders; none means the repository around the current folder.
    pub(crate) roots: Vec<String>,
    /// Settings as in `rulebook.toml`, which count before those of files.
    pub(crate) settings: toml::Table,
    /// Whether the user's own rules, settings and toggles count.
    pub(crate) home: Option<bool>,
}

/// Texts to use instead of files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OfTexts {
    /// Files with their texts.
    pub(crate) texts: Vec<Text>,
    /// Files whose text does not matter.
    pub(crate) files: Vec<String>,
    /// Settings as in `rulebook.toml`, which count before those of one among the texts.
    pub(crate) settings: toml::Table,
}

/// A file with its text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Text {
    /// Relative to the workspace.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What to evaluate, and for whom.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Question {
    input: Option<Value>,
    #[serde(rename = "for")]
    for_agent: Option<String>,
    #[serde(rename = "as")]
    as_agent: Option<String>,
    /// At most this many tokens; only for prompts.
    pub(crate) budget: Option<usize>,
}

impl Question {
    /// Reads the evidence, with what is wrong in it.
    pub(crate) fn input(&self) -> Result<(Input, Vec<Diagnostic>), JsonError> {
        match &self.input {
            None => Ok((Input::default(), Vec::new())),
            Some(input) => read_input(&input.to_string()),
        }
    }

    /// Whom the answer is for.
    pub(crate) fn view(&self) -> Result<Viewpoint, JsonError> {
        match (&self.for_agent, &self.as_agent) {
            (None, None) => Ok(Viewpoint::Used),
            (Some(name), None) if name == "any" => Ok(Viewpoint::Any),
            (Some(name), None) => agent(name).map(Viewpoint::For),
            (None, Some(name)) => agent(name).map(Viewpoint::As),
            (Some(_), Some(_)) => {
                Err(JsonError::new(ErrorCode::BadRequest, "`for` and `as` exclude each other: omit one"))
            }
        }
    }
}

/// Reads a request; an empty text is an empty object.
pub(crate) fn read<T: DeserializeOwned + Default>(text: &str) -> Result<T, JsonError> {
    if text.trim().is_empty() {
        return Ok(T::default());
    }
    serde_json::from_str(text)
        .map_err(|error| JsonError::new(ErrorCode::BadRequest, format!("cannot read the request: {error}")))
}

/// Reads evidence, with what is wrong in it.
pub(crate) fn read_input(text: &str) -> Result<(Input, Vec<Diagnostic>), JsonError> {
    Input::from_json(text)
        .map_err(|error| JsonError::new(ErrorCode::BadRequest, format!("the evidence {error}")))
}

fn agent(name: &str) -> Result<NamedAgent, JsonError> {
    Agent::find(name, Purpose::View).map_err(|error| JsonError::new(ErrorCode::UnknownAgent, error))
}
