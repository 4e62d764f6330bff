//! Rules: one instruction each, normalised; nothing of the format survives but the origin.

use std::cmp::Reverse;

use crate::condition::{Condition, MatchMode};
use crate::id::normalize_id;
use crate::source::{Origin, Scope};
use crate::stream::trigger::{StreamRule, Trigger};
use crate::words::words;

/// One instruction and how it may come on.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What rules are told apart and overridden by.
    pub id: String,
    /// The id, or a remote entry's name as given.
    pub name: String,
    /// What the rule is for, as its author put it.
    pub description: Option<String>,
    /// The instruction: Markdown, trimmed, without the header.
    pub body: String,
    /// Labels for reports.
    pub tags: Vec<String>,
    /// 0 to 100: the higher one wins.
    pub priority: u8,
    /// Where its file stands.
    pub(crate) position: Position,
    /// How it may come on.
    pub activation: Activation,
    /// Why the activation is what it is.
    pub basis: Basis,
    /// What must hold for it to come on.
    pub conditions: Vec<Condition>,
    /// Whether all conditions must hold, or any.
    pub combine: MatchMode,
    /// The patterns of its paths, as written, for showing.
    pub globs: Vec<String>,
    /// Whether the agent may ask for it by its description while it is not on.
    pub is_offered: bool,
    /// `false` switches it, and every rule of the same id and lower rank, off.
    pub enabled: bool,
    /// Whether nobody may switch it off, override it or cut it: its own conditions alone decide.
    pub is_mandatory: bool,
    /// What it watches the model's output for.
    pub stream: Option<Box<Trigger>>,
    /// What its author says it must and must not do.
    pub examples: Option<Box<Examples>>,
    /// Where it comes from.
    pub origin: Origin,
    /// The line of the file the body starts at, counted from 1.
    pub body_line: usize,
}

/// The parts of a rule's rank that its origin gives. They are computed once: sorting needs them often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) depth: usize,
    pub(crate) place: Option<usize>,
}

/// A rule's place among all rules. The derived order is the precedence: what sorts first wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank<'r> {
    /// 0 to 100, higher first.
    pub priority: Reverse<u8>,
    /// Whose word it is.
    pub scope: Scope,
    /// The format's place in the table of formats.
    pub format: usize,
    /// How many folders deep the folder that holds the rule folder lies: nearer to the work first.
    pub depth: Reverse<usize>,
    /// The rule's id.
    pub id: &'r str,
    /// The place among those of its format.
    pub place: Option<usize>,
    /// The file, as shown.
    pub path: &'r str,
}

words! {
    /// The step of the order that parted two rules of one id.
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
        /// Not the order: the other one cannot be switched off.
        Enabled = "alwaysEnabled",
        /// Not the order: the same text is delivered already.
        Duplicate = "duplicate",
    }
}

impl Rank<'_> {
    /// Which step decides between two ranks of one id.
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
    /// How a rule may come on.
    Activation {
        /// With every request.
        Always = "always",
        /// When its conditions hold.
        When = "when",
        /// When the agent asks for it.
        OnRequest = "on-request",
        /// When the user asks for it.
        Manual = "manual",
        /// When the model's output matches its trigger.
        Stream = "stream",
        /// Not at all.
        Never = "never",
    }
}

words! {
    /// Why a rule's activation is what it is.
    Basis {
        /// The header says so.
        Explicit = "explicit",
        /// It follows from what the header says.
        Inferred = "inferred",
        /// The format says so where the header says nothing.
        Default = "default",
        /// The header had to be mended to be read.
        Repaired = "repaired",
        /// The header could not be read.
        FailOpen = "fail-open",
    }
}

impl Basis {
    /// Whether the header could not be read as written.
    pub fn is_doubtful(self) -> bool {
        matches!(self, Basis::Repaired | Basis::FailOpen)
    }
}

/// Examples a rule carries, checked by `rulebook test`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examples {
    /// Paths it must apply to.
    pub matches: Vec<String>,
    /// Paths it must not apply to.
    pub misses: Vec<String>,
    /// Texts its trigger must fire on.
    pub fires: Vec<String>,
    /// Texts its trigger must not fire on.
    pub clean: Vec<String>,
}

impl Rule {
    /// Its place among all rules.
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

    /// Whether it is on with every request, at least for its folder.
    pub fn is_on_here(&self) -> bool {
        self.conditions.is_empty() && matches!(self.activation, Activation::Always | Activation::When)
    }

    /// What a monitor watches for, if this is a stream rule.
    pub fn stream_rule(&self) -> Option<StreamRule<'_>> {
        let trigger = self.stream.as_deref()?;
        Some(StreamRule { name: &self.name, is_mandatory: self.is_mandatory, trigger })
    }

    /// Whether people mean it by that name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.id == normalize_id(name)
    }
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
    fn the_order_goes_by_priority_scope_format_folder_path() {
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
