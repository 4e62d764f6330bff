//! One row of the table of agents.

use crate::format::{Format, FormatId, Place, PlaceKind};
use crate::rule::Rule;
use crate::source::Origin;
use crate::words::words;

/// An agent, or one surface of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Agent {
    /// Its name in `--as`.
    pub name: &'static str,
    /// The name people know.
    pub title: &'static str,
    /// The format that is its own.
    pub owns: Option<FormatId>,
    /// What it reads, in order, and how.
    pub formats: &'static [Format],
    /// A format whose rule folder is named after the agent, which does not read it.
    pub ignores: Option<Ignored>,
    /// Whether it reads files in folders below the root.
    pub nested: Nested,
    /// Whether it is known to follow links that lead out of the root.
    pub follows_links: bool,
    /// Whether it reads the files of the first root only.
    pub is_for_first_root: bool,
    /// What it does with several rules of one id.
    pub conflicts: Conflicts,
    /// Which rules it puts first.
    pub order: Order,
    /// Whether it offers its model tools in a conversation. Requests without tools are then for titles and summaries.
    pub offers_tools: bool,
    /// How much it reads of all files of a workspace together, if that is limited.
    pub limit: Option<SizeLimit>,
    /// When its rules for paths apply, in a few words.
    pub path_rules: &'static str,
    /// Where its rules for paths are in its context.
    pub arrival: Arrival,
}

impl Agent {
    /// Whether it reads what is at a place in folders below the root.
    pub fn nested_at(&self, place: &Place) -> Nested {
        match (self.nested, place.shape) {
            (
                Nested::Located,
                PlaceKind::Folder { .. } | PlaceKind::Modes { .. } | PlaceKind::File { .. },
            ) => Nested::Undocumented,
            (Nested::Located, _) => Nested::Read,
            (own, _) => own,
        }
    }

    /// Whether a rule is of its own format.
    pub fn owns_rule(&self, rule: &Rule) -> bool {
        self.owns == Some(rule.origin.format.id) && rule.origin.place.shape != PlaceKind::Imported
    }

    /// Whether its view has a file there.
    pub fn reads_at(&self, origin: &Origin) -> bool {
        origin.folder.is_empty()
            || self.nested != Nested::Located
            || self.nested_at(origin.place) == Nested::Read
    }

    /// Returns the format that tells how certain its view is: its own, or the first it reads.
    pub fn known_by(&self) -> &'static Format {
        self.formats.iter().find(|format| self.owns == Some(format.id)).unwrap_or(&self.formats[0])
    }
}

/// A rule folder that is named after an agent which does not read it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ignored {
    /// The format of the folder.
    pub format: FormatId,
    /// What the agent reads instead.
    pub reads: &'static str,
    /// What makes the agent read the folder.
    pub remedy: &'static str,
}

words! {
    /// How an agent is connected to Rulebook.
    Wiring {
        /// It reports events to `rulebook hook`, and takes in the answers.
        Hook = "hook",
        /// It can call the MCP server.
        Mcp = "mcp",
        /// Its requests to the model pass through the proxy.
        Proxy = "proxy",
    }
}

/// Which of the rules that an agent does not read by itself are added for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AddPolicy {
    /// All, except a file named after another agent where this one finds a file of its own.
    #[default]
    Usual,
    /// All.
    All,
    /// None. Mandatory rules are added nevertheless.
    Nothing,
    /// Those of some formats.
    Formats(Vec<FormatId>),
}

/// Whether an agent reads files in folders below the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nested {
    /// It reads them.
    Read,
    /// It reads files that it finds by location, such as `AGENTS.md`. Whether it reads rule folders there is not
    /// documented; its view has those of the root only.
    Located,
    /// It does not.
    Unread,
    /// It is not documented; its view has the files of the root only.
    Undocumented,
}

/// What happens to several rules of one id, or with one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// The first in order wins.
    #[default]
    FirstWins,
    /// All are kept.
    KeepAll,
}

/// Which rules come first in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The user's, then the workspace's.
    UserFirst,
    /// The workspace's, then the user's.
    WorkspaceFirst,
    /// Those of one format after those of another. Each format states whether the user's come first.
    ByFormat,
}

/// Where rules for paths and files of nested folders are in an agent's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Among the rules that are loaded at the start.
    AtStart,
    /// After them: the agent adds them once it works with a matching file.
    Later,
    /// After them, files of nested folders first.
    NestedFirst,
    /// After them, files of nested folders last, those of the nearest folder first.
    NestedLast,
}

/// How much an agent reads of all files of a workspace together.
#[derive(Debug)]
#[non_exhaustive]
pub struct SizeLimit {
    /// The most it reads.
    pub most: usize,
    /// The unit of that.
    pub unit: SizeUnit,
    /// Whether a file counts.
    pub counts: fn(&Rule) -> bool,
    /// What happens beyond the limit.
    pub beyond: Beyond,
}

words! {
    /// The unit of a size limit.
    SizeUnit {
        /// Bytes on disk.
        Bytes = "bytes",
        /// Code points.
        Characters = "characters",
    }
}

impl SizeUnit {
    /// Measures a text.
    pub fn count(self, text: &str) -> usize {
        match self {
            SizeUnit::Bytes => text.len(),
            SizeUnit::Characters => text.chars().count(),
        }
    }
}

/// What an agent does with text beyond its size limit.
#[derive(Clone, Copy, Debug)]
pub enum Beyond {
    /// It cuts the end, reading from the outermost file inwards.
    Cut,
    /// It leaves files out, in this order.
    LeftOut(&'static str),
}
