//! Rules: one instruction each, normalised. Nothing of the format remains but the origin.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

pub use crate::body::Body;
use crate::condition::{Condition, MatchMode};
use crate::format::{Bare, FormatId, PlaceKind};
use crate::id::normalize_id;
use crate::requirement::Requirements;
use crate::source::{Origin, Scope};
use crate::stream::trigger::{StreamRule, Trigger};
use crate::words::words;

/// One instruction, and when it applies.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Names the rule. With its format, it is the [key](Rule::key).
    pub id: String,
    /// The id, or the name of a remote entry as given.
    pub name: String,
    /// What the rule is for, in its author's words.
    pub description: Option<String>,
    /// The instruction: Markdown, trimmed, without the header.
    pub body: Body,
    /// Labels for reports.
    pub tags: Vec<String>,
    /// 0 to 100; higher wins.
    pub priority: u8,
    /// The parts of its rank that depend on its origin.
    pub(crate) position: Position,
    /// When it can apply.
    pub activation: Activation,
    /// Why the activation is what it is.
    pub basis: Basis,
    /// What must hold for it to apply.
    pub conditions: Vec<Condition>,
    /// Whether all conditions must hold, or any of them.
    pub combine: MatchMode,
    /// The patterns of its paths, as written.
    pub globs: Vec<String>,
    /// Whether the agent can request it by its description while it does not apply.
    pub is_offered: bool,
    /// `false` switches off this rule and every rule of the same key and lower rank.
    pub enabled: bool,
    /// Whether `disabled: true` switched it off.
    pub is_disabled: bool,
    /// Whether it is mandatory: it cannot be switched off, overridden or cut.
    pub is_mandatory: bool,
    /// What it watches for in the model's output.
    pub stream: Option<Arc<Trigger>>,
    /// What must be done before something else, and what must never be done.
    pub requirements: Option<Arc<Requirements>>,
    /// After how many turns its text is delivered again.
    pub repeat: Option<u64>,
    /// Examples that `rulebook test` checks.
    pub examples: Option<Box<Examples>>,
    /// Where it comes from.
    pub origin: Origin,
    /// The line of the file where the body starts, counted from 1.
    pub body_line: usize,
    /// The rules that its file imports. They apply whenever it does.
    pub imports: Vec<ImportedRule>,
    /// The absolute paths of the files that its file is recorded to be a copy of, or has copies of.
    pub copy_of: Vec<String>,
    /// The name that reads this rule, if its own name reads another.
    pub(crate) alias: Option<Box<str>>,
}

/// A rule that the file of another one imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedRule {
    /// The absolute path of its file.
    pub path: String,
    /// Its file, as displayed.
    pub display: String,
}

/// The parts of a rule's rank that its origin gives. They are computed once: sorting needs them often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) depth: usize,
    pub(crate) place: Option<usize>,
}

/// A rule's place in the order. The derived order is the precedence: what sorts first wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Rank<'r> {
    /// 0 to 100, higher first.
    pub priority: Reverse<u8>,
    /// Where it comes from.
    pub scope: Scope,
    /// The position of its format in the table.
    pub format: usize,
    /// The depth of the folder that holds the rule folder; deeper first.
    pub depth: Reverse<usize>,
    /// The rule's id.
    pub id: &'r str,
    /// The position of its place among those of its format.
    pub place: Option<usize>,
    /// The file, as shown.
    pub path: &'r str,
}

words! {
    /// The step of the order that decided between two rules.
    Step {
        /// The higher priority.
        Priority = "priority",
        /// The stronger scope.
        Scope = "scope",
        /// The earlier format.
        Format = "format",
        /// The nearer folder.
        Folder = "folder",
        /// The earlier path.
        Path = "path",
        /// Not the order: the other rule is mandatory.
        Enabled = "alwaysEnabled",
        /// Not the order: the other rule is a copy of it in another format.
        Copy = "copy",
        /// Not the order: the same text is already delivered.
        Duplicate = "duplicate",
    }
}

impl Rank<'_> {
    /// Returns the step that decides between two rules of one id.
    pub fn decided_by(&self, other: &Rank<'_>) -> Step {
        [
            (Step::Priority, self.priority.cmp(&other.priority)),
            (Step::Scope, self.scope.cmp(&other.scope)),
            (Step::Format, self.format.cmp(&other.format)),
            (Step::Folder, self.depth.cmp(&other.depth)),
        ]
        .into_iter()
        .find(|(_, order)| order.is_ne())
        .map_or(Step::Path, |(step, _)| step)
    }
}

words! {
    /// When a rule can apply.
    Activation {
        /// To every request.
        Always = "always",
        /// When its conditions hold.
        When = "when",
        /// When the agent requests it.
        OnRequest = "on-request",
        /// When the user mentions it by name.
        Manual = "manual",
        /// When the model's output matches its trigger.
        Stream = "stream",
        /// Never.
        Never = "never",
    }
}

words! {
    /// Why a rule's activation is what it is.
    Basis {
        /// The header states it.
        Explicit = "explicit",
        /// It follows from other keys of the header.
        Inferred = "inferred",
        /// It is the default of the format.
        Default = "default",
        /// The header had to be repaired.
        Repaired = "repaired",
        /// The header could not be read.
        FailOpen = "fail-open",
    }
}

impl Activation {
    /// What becomes of a rule, whatever its paths are.
    pub fn outcome(self) -> &'static str {
        match self {
            Activation::Always => "it is in every request",
            Activation::When => "its other conditions decide",
            Activation::OnRequest => "it is offered to the agent",
            Activation::Manual => "it applies only when mentioned by name",
            Activation::Stream => "it watches the output of the model",
            Activation::Never => "it never applies",
        }
    }
}

impl Basis {
    /// Whether the header could not be read as written.
    pub fn is_doubtful(self) -> bool {
        matches!(self, Basis::Repaired | Basis::FailOpen)
    }
}

/// Examples of a rule, which `rulebook test` checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examples {
    /// Paths it must apply to.
    pub matches: Vec<String>,
    /// Paths it must not apply to.
    pub misses: Vec<String>,
    /// Texts its trigger must fire on, or shell lines it must forbid.
    pub fires: Vec<String>,
    /// Texts its trigger must not fire on, or shell lines it must not forbid.
    pub clean: Vec<String>,
    /// Keys that are none of these, which are ignored.
    pub unknown: Vec<String>,
}

impl Examples {
    /// Whether it has texts for a trigger or a requirement.
    pub(crate) fn has_texts(&self) -> bool {
        !self.fires.is_empty() || !self.clean.is_empty()
    }
}

impl Rule {
    /// Returns its place in the order.
    pub fn rank(&self) -> Rank<'_> {
        let Position { depth, place } = self.position;
        Rank {
            priority: Reverse(self.priority),
            scope: self.origin.scope,
            format: self.origin.format.order,
            depth: Reverse(depth),
            id: &self.id,
            place,
            path: &self.origin.display,
        }
    }

    /// Returns its place in the order, but the general one first of files found by location.
    pub(crate) fn reading_rank(&self) -> impl Ord + '_ {
        let Rank { priority, scope, format, depth: Reverse(depth), id, place, path } = self.rank();
        let is_located = self.is_located();
        let depth = if is_located { depth } else { usize::MAX - depth };
        (priority, scope, format, is_located, depth, id, place, path)
    }

    /// Returns what reading it returns: its text. That of a skill starts with its folder, which holds other files.
    pub fn readable(&self) -> Cow<'_, str> {
        let folder = self.origin.display.rsplit_once('/').map(|(folder, _)| folder);
        match folder.filter(|_| self.origin.format.id == FormatId::Skill) {
            Some(folder) => Cow::Owned(format!("Folder: {folder}\n\n{}", self.body)),
            None => Cow::Borrowed(&self.body),
        }
    }

    /// Whether it applies to every request, at least in its folder.
    pub fn is_on_here(&self) -> bool {
        self.conditions.is_empty() && matches!(self.activation, Activation::Always | Activation::When)
    }

    /// Returns what a monitor needs to watch for it, if it is a stream rule.
    pub fn stream_rule(&self) -> Option<StreamRule<'_>> {
        let trigger = self.stream.as_deref()?;
        let Rule { name, is_mandatory, origin, .. } = self;
        Some(StreamRule {
            name,
            source: &origin.display,
            is_mandatory: *is_mandatory,
            trigger,
            other_roots: &[],
        })
    }

    /// Returns the shortest name that reads this rule and no other: its name, its key or its file.
    pub fn address(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }

    /// Returns its key: `id@format`.
    pub fn key(&self) -> String {
        format!("{}@{}", self.id, self.origin.format.id)
    }

    /// Whether it has that key.
    pub fn has_key(&self, key: &str) -> bool {
        let is_it =
            |(id, format): (&str, FormatId)| self.origin.format.id == format && self.id == normalize_id(id);
        FormatId::split_key(key).is_some_and(is_it)
    }

    /// Whether it comes from that file, given as displayed or by its absolute path.
    pub fn is_at(&self, path: &str) -> bool {
        self.origin.display == path || self.origin.path == path
    }

    /// Whether it has that name or id.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.id == normalize_id(name)
    }

    /// Whether that is its file, key, name or id.
    pub fn is_called(&self, name: &str) -> bool {
        self.is_at(name) || self.has_key(name) || self.is_named(name)
    }

    /// Whether its file is found by location: it applies to the folder it is in.
    pub fn is_located(&self) -> bool {
        matches!(self.origin.place.shape, PlaceKind::Located { .. })
    }

    /// Whether it has the same text as another rule and certainly applies in the same cases.
    pub fn applies_as(&self, other: &Rule) -> bool {
        let place = |rule: &Rule| (rule.origin.root, rule.origin.folder.clone(), rule.origin.scope);
        let dialect = |rule: &Rule| (rule.origin.format.dialect, rule.origin.format.rival);
        let is_for_paths = self.conditions.iter().all(|condition| condition.key == "paths");
        self.body == other.body
            && self.activation == other.activation
            && place(self) == place(other)
            && is_for_paths
            && self.conditions.len() == other.conditions.len()
            && self.globs == other.globs
            && (self.conditions.is_empty() || dialect(self) == dialect(other))
    }

    /// Returns the root that it belongs to, if it belongs to one.
    pub(crate) fn own_root(&self) -> Option<usize> {
        (self.origin.scope == Scope::Workspace).then_some(self.origin.root)
    }

    /// Whether its agent does not document what it does with such a rule.
    pub(crate) fn is_undocumented(&self) -> bool {
        self.activation == Activation::Never
            && self.origin.format.bare == Bare::Undocumented
            && self.basis != Basis::Explicit
    }

    /// Whether both belong to roots, and to different ones.
    pub(crate) fn is_of_other_root(&self, other: &Rule) -> bool {
        matches!((self.own_root(), other.own_root()), (Some(a), Some(b)) if a != b)
    }
}

/// Returns the id in a key, for people; a name without a format is returned as it is.
pub fn id_of(key: &str) -> &str {
    FormatId::split_key(key).map_or(key, |(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(priority: u8, scope: Scope, format: usize, depth: usize, path: &str) -> Rank<'_> {
        Rank {
            priority: Reverse(priority),
            scope,
            format,
            depth: Reverse(depth),
            id: "a",
            place: Some(0),
            path,
        }
    }

    #[test]
    fn rules_are_ordered_by_priority_scope_format_folder_path() {
        let ranks = [
            rank(90, Scope::User, 9, 0, "z"),
            rank(50, Scope::Workspace, 1, 2, "z"),
            rank(50, Scope::Workspace, 1, 0, "a"),
            rank(50, Scope::Workspace, 1, 0, "b"),
            rank(50, Scope::Workspace, 2, 5, "a"),
            rank(50, Scope::Remote, 0, 9, "a"),
            rank(50, Scope::Extra, 0, 9, "a"),
            rank(50, Scope::User, 0, 9, "a"),
            rank(0, Scope::Workspace, 0, 9, "a"),
        ];
        assert!(ranks.is_sorted());
        let steps: Vec<_> = ranks.windows(2).map(|pair| pair[0].decided_by(&pair[1]).name()).collect();
        assert_eq!(steps, ["priority", "folder", "path", "format", "scope", "scope", "scope", "priority"]);
    }
}
