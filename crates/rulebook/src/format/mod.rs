//! Formats: how one agent's rule files are found and read.

mod build;
mod fields;
mod keys;
mod parse;
mod reader;
mod strict;
mod table;

pub use parse::{Entry, Parsed, Rejected, parse};
pub use table::FORMATS;

use crate::frontmatter::Tier;
use crate::glob::Dialect;
use crate::rule::normalize_id;

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
    /// How far the header's reader may go in forgiving.
    pub tier: Tier,
    /// What a header that cannot be read makes of the file.
    pub broken: Broken,
    /// What a rule without conditions is.
    pub bare: Bare,
    /// Whether sub-folders of the rule folder are part of the id.
    pub ids: Ids,
    /// The agent's own key for paths.
    pub paths_key: &'static str,
    /// Which of the keys this project understands count in this format.
    pub keys: Keys,
    /// Keys understood here which the agent itself ignores.
    pub agent_ignores: &'static [&'static str],
    /// Whether the agent itself reads, and writes, patterns without quotes.
    pub unquoted: bool,
    /// The agent's glob dialect.
    pub dialect: Dialect,
}

/// Two formats are the same when they have the same name.
impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl Format {
    /// Its place in the table, which is its place in the order of rules.
    pub fn order(&self) -> usize {
        FORMATS.iter().position(|format| format == self).unwrap_or(FORMATS.len())
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// The format that a folder named like this is read as: the one whose workspace folder it ends in, else native.
    pub fn of_folder(path: &str) -> (&'static Format, &'static Place) {
        let ends_in = |place: &&Place| {
            place.extensions().is_some()
                && (path == place.path || path.ends_with(&format!("/{}", place.path)))
        };
        FORMATS
            .iter()
            .find_map(|format| Some((format, format.workspace.iter().find(ends_in)?)))
            .unwrap_or((&FORMATS[0], &FORMATS[0].workspace[0]))
    }

    /// The id of a file found at `inner` in one of the format's places.
    pub fn id_of(&self, place: &Place, inner: &str) -> String {
        match place.shape {
            Shape::File { id, .. } => id.to_owned(),
            Shape::Folder { .. } => {
                let inner = match self.ids {
                    Ids::Path => inner,
                    Ids::Stem => inner.rsplit('/').next().unwrap_or(inner),
                };
                let stem = SUFFIXES
                    .iter()
                    .find_map(|suffix| inner.strip_suffix(suffix))
                    .filter(|stem| !stem.is_empty());
                normalize_id(stem.unwrap_or_else(|| inner.trim_matches('.')))
            }
        }
    }
}

/// What is dropped from a file name to make an id; longer ones first.
const SUFFIXES: &[&str] = &[".instructions.md", ".rule.md", ".markdown", ".mdc", ".md", ".txt"];

/// A place where a format's files lie.
#[derive(Debug)]
pub struct Place {
    /// What the path is relative to.
    pub base: Base,
    /// The folder or file.
    pub path: &'static str,
    /// What is expected there.
    pub shape: Shape,
}

impl Place {
    /// The first name of its path.
    pub fn head(&self) -> &'static str {
        self.path.split('/').next().unwrap_or(self.path)
    }

    /// The extensions of a folder's files; nothing for a single file.
    pub fn extensions(&self) -> Option<&'static [&'static str]> {
        match self.shape {
            Shape::Folder { extensions, .. } => Some(extensions),
            Shape::File { .. } => None,
        }
    }

    /// Whether a file name in the folder is a rule file's.
    pub fn takes(&self, name: &str) -> bool {
        self.extensions().is_some_and(|extensions| {
            name.rsplit_once('.')
                .is_some_and(|(stem, extension)| !stem.is_empty() && extensions.contains(&extension))
        })
    }
}

/// What a place's path is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A workspace root, or a folder below it.
    Root,
    /// The user's home.
    Home,
    /// The user's configuration folder, `~/.config` unless `XDG_CONFIG_HOME` says otherwise.
    Config,
}

/// What lies at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A folder of rule files.
    Folder {
        /// Which files are rules.
        extensions: &'static [&'static str],
        /// Whether sub-folders are read.
        depth: Depth,
        /// Sub-folders of the folder that hold something else.
        skip: &'static [&'static str],
    },
    /// One file.
    File {
        /// Its id.
        id: &'static str,
        /// Whether it is on whatever it says.
        always: bool,
    },
}

/// Whether sub-folders are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The folder's own files only.
    Flat,
    /// All the way down.
    Recursive,
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
}

impl Broken {
    /// In a few words, for documentation.
    pub fn meaning(self) -> &'static str {
        match self {
            Broken::Open => "whole file, always on",
            Broken::Bare => "read line by line; at last, as a file without a header",
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
    /// Offered by its description; without one, always on.
    OfferedElseAlways,
    /// Offered by its description; without one, on when the user asks for it.
    OfferedElseManual,
    /// Offered by its description; without one, out of reach.
    OfferedElseUnreachable,
}

impl Bare {
    /// In a few words, for documentation.
    pub fn meaning(self) -> &'static str {
        match self {
            Bare::Always => "always on",
            Bare::Inactive => "inactive",
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
    /// Paths, stream triggers, and `trigger` for the activation.
    Trigger,
    /// Only what the schema has; wrong types reject the rule.
    Strict,
}
