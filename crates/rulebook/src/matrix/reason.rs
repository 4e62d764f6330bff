//! The reasons in cells.

use std::fmt;
use std::mem::discriminant;

use serde::{Serialize, Serializer};

use crate::agent::Nested;
use crate::compare::readable_files;
use crate::evaluate::{Reason, Verdict};
use crate::format::{Format, Place, PlaceKind};
use crate::resolve::{Off, OffBy};
use crate::rule::Rule;
use crate::source::{Origin, Scope};

use super::subject::Subject;

/// Why a rule has its state for an agent. Its text is a short phrase; it is empty if the state says everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct CellReason {
    /// What decided.
    pub cause: Cause,
    /// The version of the agent that was the first to read such files.
    pub since: Option<&'static str>,
    /// What Rulebook does with the rule, if it differs from what the agent does.
    pub despite: Option<Despite>,
}

/// What decides which state a rule has for an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// The state says everything.
    #[default]
    Plain,
    /// It has no conditions.
    Always,
    /// These conditions hold, one phrase for each.
    Holds(Vec<String>),
    /// This file imports it.
    Imported(String),
    /// The agent reads only these files.
    Reads(String),
    /// The agent reads this file instead, which may import the rule's file by this name.
    ReadInstead(String, Option<String>),
    /// The agent has the same text from this file.
    SameText(String),
    /// It is a copy of the rule in this file, which counts for this agent.
    CopyOf(String),
    /// The agent reads the file only if it is started in this folder.
    StartedIn(String),
    /// Another reason.
    Other(String),
}

/// What Rulebook does with a rule that an agent reads by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Despite {
    /// It uses this file instead.
    Used(String),
    /// The rule is disabled; this says where.
    Disabled(String),
    /// It rejects the file.
    Rejected,
    /// It does not follow the link.
    NotFollowed,
}

impl CellReason {
    /// Whether the state says everything.
    pub fn is_empty(&self) -> bool {
        *self == CellReason::default()
    }
}

impl From<Cause> for CellReason {
    fn from(cause: Cause) -> CellReason {
        CellReason { cause, ..CellReason::default() }
    }
}

impl Cause {
    /// A reason in words; none if there are no words.
    pub(super) fn other(words: impl Into<String>) -> Cause {
        let words = words.into();
        if words.is_empty() { Cause::Plain } else { Cause::Other(words) }
    }

    /// Why a verdict's rule applies.
    pub(super) fn applies(verdict: &Verdict<'_>) -> Cause {
        let one = |reason: &Reason| format!("{} {}", reason.condition, reason.matched.join(", "));
        let reasons: Vec<String> = verdict.because.iter().map(one).collect();
        if reasons.is_empty() { Cause::Always } else { Cause::Holds(reasons) }
    }

    /// That the agent has the text of a rule from another file.
    pub(super) fn same_text(own: &Rule) -> Cause {
        Cause::SameText(own.origin.display.clone())
    }
}

impl fmt::Display for CellReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.since.map(|version| format!("since {version}"));
        let despite = self.despite.as_ref().map(ToString::to_string);
        let cause = Some(self.cause.to_string()).filter(|cause| !cause.is_empty());
        let phrases: Vec<String> = [cause, since, despite].into_iter().flatten().collect();
        f.write_str(&phrases.join("; "))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Plain => Ok(()),
            Cause::Always => f.write_str("always"),
            Cause::Holds(reasons) => f.write_str(&reasons.join("; ")),
            Cause::Imported(by) => write!(f, "imported by {by}"),
            Cause::Reads(files) => write!(f, "reads {files}"),
            Cause::ReadInstead(file, None) => write!(f, "`{file}` is read instead"),
            Cause::ReadInstead(file, Some(name)) => {
                write!(f, "`{file}` is read instead; add `@{name}` to it to import this file")
            }
            Cause::SameText(file) => write!(f, "same text as `{file}`"),
            Cause::CopyOf(file) => write!(f, "copy of `{file}`"),
            Cause::StartedIn(folder) => write!(f, "read only if started in `{folder}`"),
            Cause::Other(words) => f.write_str(words),
        }
    }
}

impl fmt::Display for Despite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Despite::Used(file) => write!(f, "Rulebook uses {file} instead"),
            Despite::Disabled(by) => write!(f, "disabled {by}, but the agent reads it"),
            Despite::Rejected => f.write_str("rejected by Rulebook"),
            Despite::NotFollowed => f.write_str("Rulebook does not follow the link"),
        }
    }
}

impl Serialize for CellReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns the pattern that decided, or the folder.
pub(super) fn pattern(verdict: &Verdict<'_>) -> Option<String> {
    let matched = |key: &str| {
        let reason = verdict.because.iter().find(|reason| reason.condition == key);
        reason.and_then(|reason| reason.matched.first().cloned())
    };
    matched("paths").or_else(|| matched("folder").map(|folder| format!("{folder}/")))
}

/// Describes what switched a rule off.
pub(super) fn off_by(off: &Off) -> String {
    match &off.file {
        _ if matches!(off.by, OffBy::Toggle | OffBy::UserToggle) => "by you".to_owned(),
        Some(file) => format!("by `{}` in {file}", off.by),
        None => format!("by `{}`", off.by),
    }
}

/// Returns the file at the root that keeps an agent from reading another one there.
fn used_instead<'r>(subject: &Subject<'_, 'r>, origin: &Origin) -> Option<&'r Rule> {
    // A file and a folder may have the same name.
    let is_same = |place: &Place| {
        place.path == origin.place.path && discriminant(&place.shape) == discriminant(&origin.place.shape)
    };
    let formats = subject.agent.formats.iter().filter(|format| format.workspace.iter().any(is_same));
    let names: Vec<&str> = formats.flat_map(|format| format.unless).copied().collect();
    if names.is_empty() || !origin.folder.is_empty() {
        return None;
    }
    let is_other = |rule: &&Rule| {
        let other = &rule.origin;
        other.root == origin.root && other.folder.is_empty() && names.contains(&other.place.path)
    };
    subject.native.verdicts().iter().map(|verdict| verdict.rule).find(is_other)
}

/// Returns why an agent does not read a file in one of its own places; for a place of another agent, nothing.
pub(super) fn not_read(subject: &Subject<'_, '_>, origin: &Origin, rule: Option<&Rule>) -> Cause {
    let agent = subject.agent;
    if origin.scope != Scope::Workspace {
        return Cause::Plain;
    }
    if let Some(other) = used_instead(subject, origin) {
        // A link to the file, or a copy of it.
        if rule.is_some_and(|rule| rule.body == other.body) {
            return Cause::same_text(other);
        }
        let name = (other.origin.format.imports > 0).then(|| origin.display.clone());
        return Cause::ReadInstead(other.origin.display.clone(), name);
    }
    let is_own = |format: &Format| {
        format.id == origin.format.id && format.workspace.iter().any(|place| place.path == origin.place.path)
    };
    if matches!(origin.place.shape, PlaceKind::Located { .. })
        && !origin.folder.is_empty()
        && agent.nested_at(origin.place) == Nested::Unread
        && agent.formats.iter().any(is_own)
    {
        return Cause::StartedIn(origin.folder.clone());
    }
    let ignored = agent.ignores.as_ref().filter(|ignored| ignored.format == origin.format.id);
    let files = ignored.map(|ignored| ignored.reads.to_owned()).or_else(|| readable_files(agent, origin));
    files.map_or(Cause::Plain, Cause::Reads)
}
