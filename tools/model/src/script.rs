//! The script: what the model says, turn by turn.

use std::fs;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value;

/// One answer of the model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Turn {
    /// Only for a request whose body holds this text.
    pub(crate) when: Option<String>,
    /// For a request without tools.
    pub(crate) plain: bool,
    /// Thought aloud before anything else.
    pub(crate) thinking: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    /// How many tokens it says it has read, so that a client may find its context full.
    pub(crate) tokens: Option<u64>,
    /// How many bytes of a text go into one event, at least a character.
    pub(crate) delta: Option<usize>,
    /// How many bytes go out at once; whole events if it is not said.
    pub(crate) chunk: Option<usize>,
    /// Milliseconds between what goes out.
    pub(crate) delay: u64,
    /// An error instead of an answer.
    pub(crate) status: Option<u16>,
    /// Silence in the middle of the answer.
    pub(crate) stall: Option<Stall>,
    /// The connection ends after so many events.
    pub(crate) close: Option<usize>,
}

/// Silence behind some events.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stall {
    /// How many events come before it.
    pub(crate) after: usize,
    /// How long it lasts, in milliseconds.
    pub(crate) ms: u64,
}

/// A tool the model wants run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// An object; a text is the input of a tool that takes text alone.
    pub(crate) arguments: Value,
    /// The group the tool is in, where the wire has groups.
    #[serde(default)]
    pub(crate) namespace: Option<String>,
}

/// The turns, each of which is played once.
pub(crate) struct Script {
    turns: Vec<Turn>,
    played: Mutex<Vec<bool>>,
}

impl Script {
    pub(crate) fn read(path: &str) -> Result<Script, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let turns: Vec<Turn> = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
        Ok(Script { played: Mutex::new(vec![false; turns.len()]), turns })
    }

    /// The first turn that is left for a request, with its place. After the last one the model is done.
    pub(crate) fn next(&self, body: &str, has_tools: bool) -> (Option<usize>, Turn) {
        let text = if has_tools { "All done." } else { "A title" };
        let done = || Turn { text: text.to_owned(), ..Turn::default() };
        let Ok(mut played) = self.played.lock() else { return (None, done()) };
        let fits = |turn: &Turn| {
            turn.plain != has_tools && turn.when.as_ref().is_none_or(|text| body.contains(text))
        };
        match (0..self.turns.len()).find(|at| !played[*at] && fits(&self.turns[*at])) {
            Some(at) => {
                played[at] = true;
                (Some(at), self.turns[at].clone())
            }
            None => (None, done()),
        }
    }
}
