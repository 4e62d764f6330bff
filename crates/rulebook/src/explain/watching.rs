//! Stream rules as data.

use serde::Serialize;

use super::{Named, named};
use crate::hidden::visible_line;
use crate::rule::Rule;
use crate::stream::trigger::OTHER_FILES;

/// A rule that watches the model's output.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Watching {
    pub id: String,
    pub key: String,
    pub source: String,
    pub condition: Vec<String>,
    pub scope: Vec<String>,
    pub globs: Vec<String>,
    /// Whether it watches no calls for the files in question.
    #[serde(rename = "otherFiles")]
    pub is_for_other_files: bool,
}

impl Watching {
    /// Describes what it watches, on one line: ``watches text, tool for `\bany\b` (calls for src/**)``.
    pub fn summary(&self) -> String {
        let conditions: Vec<String> = self.condition.iter().map(|written| format!("`{written}`")).collect();
        let files = match (self.globs.join(", "), self.is_for_other_files) {
            (globs, false) if globs.is_empty() => String::new(),
            (globs, true) if globs.is_empty() => format!(" ({OTHER_FILES})"),
            (globs, false) => format!(" (calls for {globs})"),
            (globs, true) => format!(" (calls for {globs}: other files)"),
        };
        format!("watches {} for {}{files}", self.scope.join(", "), conditions.join(", "))
    }
}

/// Converts a stream rule.
pub fn watching(rule: &Rule) -> Watching {
    let Named { id, source } = named(rule);
    let (mut condition, mut scope) = (Vec::new(), Vec::new());
    if let Some(trigger) = rule.stream.as_deref() {
        condition
            .extend(trigger.conditions.iter().map(|pattern| visible_line(&pattern.written).into_owned()));
        condition.extend(trigger.syntax.iter().map(|one| visible_line(&one.written).into_owned()));
        scope.extend(trigger.scopes().iter().map(|scope| scope.to_string()));
    }
    Watching {
        id,
        key: rule.key(),
        source,
        condition,
        scope,
        globs: rule.globs.clone(),
        is_for_other_files: false,
    }
}
