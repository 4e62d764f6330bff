//! Formats: how one agent's rule files are found and read.

mod activation;
mod build;
mod fields;
mod header;
mod imports;
mod keys;
mod parse;
mod patterns;
mod place;
mod reader;
mod strict;
pub(crate) mod table;
mod trigger;

pub use header::{Explained, explain_header};
pub use imports::{Import, imports};
pub(crate) use keys::PATHS;
pub use parse::{Entry, Parsed, Rejected, parse};
pub use place::{Base, Depth, FETCHED, IMPORTED, Place, PlaceKind};
pub use table::FORMATS;

use crate::agent::AGENTS;
use crate::frontmatter::Tier;
use crate::glob::Dialect;
use crate::id::normalize_id;
use crate::source::{Origin, Scope};

/// How one agent's files are found and read.
#[derive(Debug)]
pub struct Format {
    /// What it is called in output and settings.
    pub name: &'static str,
    /// The agent it belongs to, for messages.
    pub agent: &'static str,
    /// Where its files lie in a workspace.
    pub workspace: &'static [Place],
    /// Where a person's own lie.
    pub user: &'static [Place],
    /// Whether the nearest place above the root counts when the root has none.
    pub climbs: bool,
    /// Used where the file gives none; without one, the file must.
    pub priority: Option<u8>,
    /// How far the header's reader may go in forgiving; without one files have no header, and all is text.
    pub tier: Option<Tier>,
    /// What a header that cannot be read makes of the file.
    pub broken: Broken,
    /// What a rule without conditions is.
    pub bare: Bare,
    /// Whether sub-folders of the rule folder are part of the id.
    pub ids: Ids,
    /// The agent's own key for paths.
    pub paths_key: &'static str,
    /// What may stand under it.
    pub lists: Lists,
    /// Which of the keys this project understands count in this format.
    pub keys: Keys,
    /// The agent's own key for how a rule comes on.
    pub modes: Option<ActivationKey>,
    /// The agent's own names for keys known by another name here.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Keys of the agent that change nothing here.
    pub inert: &'static [&'static str],
    /// Keys among them that take one of a few words.
    pub sets: &'static [(&'static str, &'static [&'static str])],
    /// Keys understood here which the agent itself ignores.
    pub agent_ignores: &'static [&'static str],
    /// Whether the agent itself reads, and writes, patterns without quotes.
    pub unquoted: bool,
    /// The agent's glob dialect.
    pub dialect: Dialect,
    /// Where the dialect is documented nowhere, another it may be: where the two part, nobody knows.
    pub rival: Option<Dialect>,
    /// Where a header may start.
    pub top: Top,
    /// Whether files in folders below the root are for their folder alone.
    pub scoped: bool,
    /// Files at the root beside which the agent does not look at this format's.
    pub unless: &'static [&'static str],
    /// How many `@file` imports deep the agent follows those of a file found by location.
    pub imports: usize,
    /// How many characters of a file the agent takes.
    pub limit: Option<usize>,
    /// Of how many lines at most the agent's makers advise to make a file.
    pub advised: Option<usize>,
    /// How sure all this is.
    pub confidence: Confidence,
    /// Where it is known from.
    pub knowledge: &'static str,
}

/// Two formats are the same when they have the same name.
impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl Format {
    /// Its place in its table, which is its place in the order of rules.
    pub fn order(&self) -> usize {
        let tables = std::iter::once(FORMATS).chain(AGENTS.iter().map(|agent| agent.formats));
        let place = |table: &[Format]| table.iter().position(|format| std::ptr::eq(format, self));
        tables.into_iter().find_map(place).unwrap_or(FORMATS.len())
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// The format that a folder named like this is read as: the one whose workspace folder it ends in, else native.
    pub fn of_folder(path: &str) -> (&'static Format, &'static Place) {
        let ends_in = |place: &&Place| {
            matches!(place.shape, PlaceKind::Folder { .. })
                && (path == place.path || path.ends_with(&format!("/{}", place.path)))
        };
        FORMATS
            .iter()
            .find_map(|format| Some((format, format.workspace.iter().find(ends_in)?)))
            .unwrap_or((&FORMATS[0], &FORMATS[0].workspace[0]))
    }

    /// Every key its headers may have, sorted.
    pub fn known_keys(&self) -> Vec<&'static str> {
        let mut known: Vec<&str> = keys::known(self).collect();
        known.sort_unstable();
        known.dedup();
        known
    }

    /// The words of its key for how a rule comes on; of `alwaysApply` and the paths where it has none.
    pub fn mode_words(&self) -> Vec<&'static str> {
        self.modes.map(|modes| modes.words.iter().map(|(word, _)| *word).collect()).unwrap_or_default()
    }

    /// The priority of a file found at a place that gives none.
    pub(crate) fn default_priority(&self, place: &Place) -> u8 {
        match (place.shape, self.priority) {
            (_, None) => 0,
            (PlaceKind::Located { .. } | PlaceKind::Imported, Some(priority)) => {
                priority.min(LOCATED_PRIORITY)
            }
            (_, Some(priority)) => priority,
        }
    }

    /// The id of a file by where it was found.
    pub fn id_of(&self, origin: &Origin) -> String {
        let inner = origin.inner.as_str();
        let inner = match origin.place.shape {
            PlaceKind::File { id, .. } => return id.to_owned(),
            PlaceKind::Located { id, .. } if origin.scope == Scope::User => return format!("{id}@~"),
            PlaceKind::Located { id, .. } if origin.folder.is_empty() => return id.to_owned(),
            PlaceKind::Located { id, .. } => return format!("{id}@{}", origin.folder),
            PlaceKind::Modes { prefix, .. } => inner.strip_prefix(prefix).unwrap_or(inner),
            PlaceKind::Folder { .. } if self.ids == Ids::Stem => inner.rsplit('/').next().unwrap_or(inner),
            PlaceKind::Folder { .. } | PlaceKind::Imported => inner,
        };
        let stem =
            SUFFIXES.iter().find_map(|suffix| inner.strip_suffix(suffix)).filter(|stem| !stem.is_empty());
        normalize_id(stem.unwrap_or_else(|| inner.trim_matches('.')))
    }
}

/// Files found by location yield to rules that were written as rules.
const LOCATED_PRIORITY: u8 = 20;

/// What is dropped from a file name to make an id; longer ones first.
const SUFFIXES: &[&str] =
    &["/RULE.mdc", "/RULE.md", ".instructions.md", ".rule.md", ".markdown", ".mdc", ".mdx", ".md", ".txt"];

/// Where a header may start; anywhere else it is text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// Behind a byte order mark and blank lines.
    Blank,
    /// On the first line, behind a byte order mark.
    Line,
    /// With the first byte.
    Byte,
    /// On the first line, which has nothing behind its three dashes.
    Fence,
}

impl Top {
    /// Whether the text may open with a header.
    pub(crate) fn admits(self, text: &str) -> bool {
        match self {
            Top::Blank => true,
            Top::Line => text.trim_start_matches('\u{feff}').starts_with("---"),
            Top::Byte => text.starts_with("---"),
            Top::Fence => text.trim_start_matches('\u{feff}').lines().next() == Some("---"),
        }
    }
}

/// What a header that cannot be read makes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The whole file is the body, always on.
    Open,
    /// The whole file is the body of a rule without a header.
    Bare,
    /// The file is rejected.
    Reject,
    /// As `Bare`; and what follows a header that is never closed is part of it, so that no text is left.
    Swallow,
}

impl Broken {
    /// In a few words, for documentation.
    pub fn meaning(self) -> &'static str {
        match self {
            Broken::Open => "whole file, always on",
            Broken::Bare | Broken::Swallow => "read line by line; at last, as a file without a header",
            Broken::Reject => "rejected",
        }
    }
}

/// What a rule without conditions is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// Always on.
    Always,
    /// Never on, until it says otherwise.
    Inactive,
    /// Documented nowhere.
    Undocumented,
    /// Listed to the agent, described or not.
    Listed,
    /// Offered by its description; without one, always on.
    OfferedElseAlways,
    /// Offered by its description; without one, on when the user asks for it.
    OfferedElseManual,
    /// Offered by its description; without one, out of reach.
    OfferedElseUnreachable,
}

impl Bare {
    /// What becomes of a rule whose paths the agent does not take, in a few words.
    pub(crate) fn outcome(self) -> &'static str {
        match self {
            Bare::Always => "always on",
            _ => "never on by its paths",
        }
    }

    /// In a few words, for documentation.
    pub fn meaning(self) -> &'static str {
        match self {
            Bare::Always => "always on",
            Bare::Inactive => "inactive",
            Bare::Undocumented => "documented nowhere",
            Bare::Listed => "listed to the agent",
            Bare::OfferedElseAlways => "offered if described, else always on",
            Bare::OfferedElseManual => "offered if described, else manual",
            Bare::OfferedElseUnreachable => "offered if described, else out of reach",
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
    /// Only what the schema has; wrong types reject the rule.
    Strict,
    /// These and no others: what an agent itself knows.
    Own(&'static [&'static str]),
}

/// What may stand under the key for paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// A list, or text with commas between the patterns.
    Either,
    /// A list; anything else is ignored.
    List,
    /// A list, which never comes on when empty; anything else is ignored.
    ListOrNever,
    /// A list, or text that is one pattern, commas and all.
    Whole,
    /// Text with commas between the patterns; a list is ignored.
    Text,
    /// Either, with commas between patterns inside items too, and lists in lists.
    Deep,
}

/// An agent's key for how a rule comes on, and its words.
#[derive(Clone, Copy, Debug)]
pub struct ActivationKey {
    /// The key.
    pub key: &'static str,
    /// What may be written there, and what it means.
    pub words: &'static [(&'static str, StatedActivation)],
    /// What a file without the key is, whatever else it says.
    pub unsaid: Option<StatedActivation>,
}

/// What a header says about the activation, whatever the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedActivation {
    /// Always on.
    Always,
    /// Files of this place are always on.
    AlwaysHere,
    /// On for its paths.
    Glob,
    /// On when the agent asks for it.
    Offered,
    /// On when the user asks for it.
    Manual,
    /// Off.
    Off,
}

/// How sure a row of the table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// From the agent's own source or current documentation.
    High,
    /// From older documentation, other tools, or reports that agree.
    Medium,
    /// From a single report.
    Low,
}

impl Confidence {
    /// The word shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Confidence::High => "high",
            Confidence::Medium => "medium",
            Confidence::Low => "low",
        }
    }
}
