//! One row of the table of formats.

use super::config::Config;
use super::id::FormatId;
use super::place::{Place, PlaceKind};
use crate::frontmatter::Tier;
use crate::glob::{Dialect, Exclusions};
use crate::words::words;

/// How one agent's files are found and read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Format {
    /// Which format it is. An agent's own reading of a format has the same id.
    pub id: FormatId,
    /// The position in its table, which decides between rules of equal priority and scope.
    pub order: usize,
    /// The agent it belongs to, for messages.
    pub agent: &'static str,
    /// Where its files are in a workspace.
    pub workspace: &'static [Place],
    /// Where a user's own files are.
    pub user: &'static [Place],
    /// Settings of the agent that decide which files it reads.
    pub configs: &'static [Config],
    /// The first version of the agent that reads these files, if not all do.
    pub since: Option<&'static str>,
    /// Values of keys that switch a file off for this agent.
    pub off_words: &'static [(&'static str, &'static str)],
    /// Whether the nearest place above the root counts when the root has none.
    pub climbs: bool,
    /// Whether the user's files come before those of the workspace, for an agent that sorts by format.
    pub user_first: bool,
    /// The priority of a file that gives none. Without a default, the file must give one.
    pub priority: Option<u8>,
    /// The most forgiving reader its headers get. Without one, files have no header: everything is text.
    pub tier: Option<Tier>,
    /// What happens to a file whose header cannot be read.
    pub broken: Broken,
    /// The activation of a rule without conditions.
    pub bare: Bare,
    /// The activation of a rule without conditions whose header has `alwaysApply: false`, if that is another one.
    pub not_always: Option<Bare>,
    /// Which patterns make a rule always on instead of restricting it to files.
    pub everything: Everything,
    /// Which of several equal keys counts.
    pub repeats: Repeats,
    /// Whether sub-folders of the rule folder are part of the id.
    pub ids: Ids,
    /// Sub-folders of the rule folder that are not part of the id in any case.
    pub plain_folders: &'static [&'static str],
    /// What happens to several of its rules with one id.
    pub same_id: SameId,
    /// The agent's own key for paths.
    pub paths_key: &'static str,
    /// Which values that key accepts.
    pub lists: Lists,
    /// Which of the keys known to Rulebook count in this format.
    pub keys: Keys,
    /// The agent's own key for the activation.
    pub modes: Option<ActivationKey>,
    /// The agent's own names for keys known by another name here.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Keys of the agent that have no effect here.
    pub inert: &'static [&'static str],
    /// The words that some of those keys accept.
    pub sets: &'static [(&'static str, &'static [&'static str])],
    /// The key and the words in it that keep the agent from reading a rule.
    pub excludes: Option<(&'static str, &'static [&'static str])>,
    /// Keys understood here which the agent itself ignores.
    pub agent_ignores: &'static [&'static str],
    /// Whether the agent itself reads, and writes, patterns without quotes.
    pub unquoted: bool,
    /// Whether a described rule is offered to the model even if it has patterns.
    pub offers_scoped: bool,
    /// The agent's glob dialect.
    pub dialect: Dialect,
    /// A second candidate where the dialect is not documented: where the two disagree, the result is unknown.
    pub rival: Option<Dialect>,
    /// What `!pattern` does in the agent's lists.
    pub exclusions: Exclusions,
    /// Where a header may start.
    pub top: Top,
    /// Whether the agent removes HTML comments, so that a file with nothing else has no text.
    pub strips_comments: bool,
    /// Whether files in folders below the root apply to their folder only.
    pub scoped: bool,
    /// Whether patterns of files in such a folder are nevertheless relative to the root.
    pub from_root: bool,
    /// Files at the root that make the agent ignore this format's files.
    pub unless: &'static [&'static str],
    /// Whether the agent lists a skill only if its name is that of its folder.
    pub needs_folder_name: bool,
    /// How many levels of `@file` imports the agent follows from a file found by location.
    pub imports: usize,
    /// The largest file that the agent reads, in bytes, if it is larger than what Rulebook reads.
    pub largest: Option<u64>,
    /// Whether it follows those of the files in its rule folders, too.
    pub rules_import: bool,
    /// How many characters of a file the agent reads.
    pub limit: Option<usize>,
    /// The longest file, in lines, that the agent's documentation recommends.
    pub advised: Option<usize>,
    /// How certain this row is.
    pub confidence: Confidence,
    /// What this row is based on.
    pub knowledge: &'static str,
}

impl Format {
    /// Returns the name used in output and settings.
    pub const fn name(&self) -> &'static str {
        self.id.name()
    }

    /// Returns the words its activation key accepts.
    pub fn mode_words(&self) -> Vec<&'static str> {
        self.modes.map(|modes| modes.words.iter().map(|(word, _)| *word).collect()).unwrap_or_default()
    }

    /// Whether the agent reads these files only in versions after the given one; without one, it is the newest.
    pub fn is_newer_than(&self, version: Option<&str>) -> bool {
        let numbers = |text: &str| -> Vec<u64> {
            text.trim_start_matches('v').split('.').map_while(|part| part.parse().ok()).collect()
        };
        self.since.zip(version).is_some_and(|(since, version)| numbers(version) < numbers(since))
    }

    /// Returns the priority of a file at a place that gives none.
    pub(crate) fn default_priority(&self, place: &Place) -> u8 {
        match (place.shape, self.priority) {
            (_, None) => 0,
            (PlaceKind::Located { .. } | PlaceKind::Imported | PlaceKind::Named, Some(priority)) => {
                priority.min(LOCATED_PRIORITY)
            }
            (_, Some(priority)) => priority,
        }
    }
}

/// Files found by location yield to rules that were written as rules.
const LOCATED_PRIORITY: u8 = 20;

/// Sets the position of every row of a table.
pub(crate) const fn numbered<const N: usize>(mut rows: [Format; N]) -> [Format; N] {
    let mut at = 0;
    while at < N {
        rows[at].order = at;
        at += 1;
    }
    rows
}

/// A table of formats whose rows know their position.
macro_rules! formats {
    [$($row:expr),+ $(,)?] => {{
        const ROWS: &[$crate::format::Format] = &$crate::format::numbered([$($row),+]);
        ROWS
    }};
}

pub(crate) use formats;

/// Where a header may start; elsewhere it is text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// After a byte order mark and blank lines.
    Blank,
    /// On the first line, after a byte order mark.
    Line,
    /// At the first byte.
    Byte,
}

impl Top {
    /// Whether the text may open with a header.
    pub(crate) fn admits(self, text: &str) -> bool {
        match self {
            Top::Blank => true,
            Top::Line => text.trim_start_matches('\u{feff}').starts_with("---"),
            Top::Byte => text.starts_with("---"),
        }
    }
}

/// Which patterns make a rule always on instead of restricting it to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Everything {
    /// None does.
    Nothing,
    /// One of these among the patterns.
    Any(&'static [&'static str]),
    /// Only these patterns.
    All(&'static [&'static str]),
}

impl Everything {
    /// Whether a rule with these patterns is always on.
    pub(crate) fn covers<'p>(self, mut patterns: impl Iterator<Item = &'p str>) -> bool {
        match self {
            Everything::Nothing => false,
            Everything::Any(words) => patterns.any(|pattern| words.contains(&pattern)),
            Everything::All(words) => {
                let mut patterns = patterns.peekable();
                patterns.peek().is_some() && patterns.all(|pattern| words.contains(&pattern))
            }
        }
    }
}

/// Which of several equal keys of a header counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// The first.
    First,
    /// The last.
    Last,
}

/// What happens to a file whose header cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The whole file is the body, always on.
    Open,
    /// The whole file is the body of a rule without a header.
    Bare,
    /// The file is rejected.
    Reject,
    /// As `Bare`, but a header that is never closed takes the whole file, and no text is left.
    Swallow,
}

impl Broken {
    /// Returns a few words for documentation.
    pub fn meaning(self) -> &'static str {
        match self {
            Broken::Open => "whole file, always on",
            Broken::Bare | Broken::Swallow => "read line by line; if that fails, as a file without a header",
            Broken::Reject => "rejected",
        }
    }
}

/// The activation of a rule without conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// Always on.
    Always,
    /// Inactive unless its header says otherwise.
    Inactive,
    /// Not documented.
    Undocumented,
    /// Listed to the agent, with or without a description.
    Listed,
    /// On only when mentioned by name.
    Manual,
    /// Offered by its description; without one, always on.
    OfferedElseAlways,
    /// Offered by its description; without one, only on mention by name.
    OfferedElseManual,
    /// Offered by its description; without one, unreachable.
    OfferedElseUnreachable,
}

impl Bare {
    /// Returns what becomes of a rule whose paths the agent ignores, in a few words.
    pub(crate) fn outcome(self) -> &'static str {
        match self {
            Bare::Always => "always on",
            _ => "never activated by its paths",
        }
    }

    /// Returns a few words for documentation.
    pub fn meaning(self) -> &'static str {
        match self {
            Bare::Always => "always on",
            Bare::Inactive => "inactive",
            Bare::Undocumented => "not documented",
            Bare::Listed => "offered to the agent",
            Bare::Manual => "manual",
            Bare::OfferedElseAlways => "offered if described, else always on",
            Bare::OfferedElseManual => "offered if described, else manual",
            Bare::OfferedElseUnreachable => "offered if described, else unreachable",
        }
    }
}

/// Whether sub-folders of the rule folder are part of the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// `folder/stem`.
    Path,
    /// `stem`.
    Stem,
}

/// What happens to several rules of one id that apply together. Files found by location never override each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameId {
    /// The first in order wins, against rules of any other format too.
    FirstOfAll,
    /// The first of the format wins.
    FirstWins,
    /// All are kept.
    KeepAll,
}

/// Which groups of keys count in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// All of them, conditions included; `tags` are labels; any spelling.
    All,
    /// All of them, conditions included; `tags` are a condition.
    Conditions,
    /// Paths and stream triggers.
    Paths,
    /// Paths.
    Plain,
    /// Only the keys of the strict schema; wrong types reject the rule.
    Strict,
    /// Only these: the keys an agent itself knows.
    Own(&'static [&'static str]),
}

/// Which values the key for paths accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// A list, or text with commas between the patterns.
    Either,
    /// A list; anything else is ignored.
    List,
    /// A list; an empty one never matches, and anything else is ignored.
    ListOrNever,
    /// A list, or text that is one pattern including its commas.
    Whole,
    /// Text with commas between the patterns; a list is ignored.
    Text,
    /// Either, with commas between patterns inside items too, and nested lists.
    Deep,
}

/// An agent's key for the activation, and its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivationKey {
    /// The key.
    pub key: &'static str,
    /// The words it accepts and what each means.
    pub words: &'static [(&'static str, StatedActivation)],
    /// The activation of a file without the key, regardless of its other keys.
    pub unsaid: Option<StatedActivation>,
    /// The keys that a file needs to be offered to the model.
    pub offered_by: &'static [&'static str],
}

/// What a header states about the activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedActivation {
    /// Always on.
    Always,
    /// Always on because every file at this place is.
    AlwaysHere,
    /// On for its paths.
    Glob,
    /// On when the agent requests it.
    Offered,
    /// On when the user mentions it by name.
    Manual,
    /// Off.
    Off,
}

impl StatedActivation {
    /// Returns what a rule with this activation does.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            StatedActivation::Always | StatedActivation::AlwaysHere => "applies to every request",
            StatedActivation::Glob => "applies to the files its patterns match",
            StatedActivation::Offered => "applies when the agent requests it by its description",
            StatedActivation::Manual => "applies only when mentioned by name",
            StatedActivation::Off => "off",
        }
    }
}

words! {
    /// How certain a row of the table is.
    Confidence {
        /// From the agent's own source or current documentation.
        High = "high",
        /// From older documentation, other tools, or reports that agree.
        Medium = "medium",
        /// From a single report.
        Low = "low",
    }
}
