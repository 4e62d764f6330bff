//! Sources: rule files as they were found, before anything is known of their meaning.

use crate::format::{Format, Place};

/// One rule file, or one remote entry, with where it was found.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it was found, and as whose.
    pub origin: Origin,
    /// Its text, or why there is none: a file that cannot be read still ends in a visible state.
    pub text: Result<String, Unreadable>,
}

/// Where a rule comes from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// How files like this are read.
    pub format: &'static Format,
    /// The place of the format it was found in.
    pub place: &'static Place,
    /// Whose word it is.
    pub scope: Scope,
    /// As shown to people: `.clinerules/web.md`, `~/.cursor/rules/a.mdc`, a remote entry's name.
    pub display: String,
    /// The absolute path, POSIX separators.
    pub path: String,
    /// Which of the workspace's roots it belongs to, counted from 0.
    pub root: usize,
    /// The folder that holds the rule folder, relative to its root; empty at the root itself.
    pub folder: String,
    /// The path inside the rule folder: `frontend/react.mdc`.
    pub inner: String,
}

#[cfg(test)]
impl Origin {
    /// A file of this name at the root of a workspace, in the first place of its format.
    pub(crate) fn named(format: &'static Format, name: &str) -> Origin {
        Origin {
            format,
            place: &format.workspace[0],
            scope: Scope::Workspace,
            display: name.to_owned(),
            path: format!("/repo/{name}"),
            root: 0,
            folder: String::new(),
            inner: name.to_owned(),
        }
    }
}

impl Origin {
    /// How many folders deep the folder that holds the rule folder lies.
    pub fn depth(&self) -> usize {
        self.folder.split('/').filter(|part| !part.is_empty()).count()
    }

    /// Root and folder of a nested rule that is for its folder.
    pub(crate) fn nest(&self) -> Option<(usize, &str)> {
        let is_scoped = !self.folder.is_empty() && self.format.scoped;
        is_scoped.then_some((self.root, self.folder.as_str()))
    }
}

/// A folder and every folder above it; the root, `""`, is last.
pub(crate) fn enclosing_folders(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        (!folder.is_empty()).then(|| folder.rsplit_once('/').map_or("", |(above, _)| above))
    })
}

/// Whose word a rule is. Earlier wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The repository's.
    Workspace,
    /// The organisation's, fetched.
    Remote,
    /// A folder named in the settings.
    Extra,
    /// The person's own.
    User,
}

impl Scope {
    /// The word shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Workspace => "workspace",
            Scope::Remote => "remote",
            Scope::Extra => "extra",
            Scope::User => "user",
        }
    }
}

/// Why a file that was found has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The operating system said no; its words.
    Refused(String),
    /// Not UTF-8 from this byte on.
    NotUtf8 {
        /// How many bytes were fine.
        valid_up_to: usize,
    },
    /// Larger than [`MAX_SOURCE`].
    TooLarge {
        /// Its size in bytes.
        len: u64,
    },
    /// A folder, FIFO, socket or device with a rule file's name.
    NotAFile {
        /// What it is instead, with an article.
        kind: &'static str,
    },
    /// A link whose target lies outside its root.
    OutsideRoot {
        /// Where it leads, or why that cannot be told.
        target: String,
    },
    /// Of a workspace that is not trusted, while the person's settings require that it is.
    Untrusted,
    /// Beyond what is read of all rule files together.
    TooMany,
}

/// The largest rule file that is read, in bytes.
pub const MAX_SOURCE: u64 = 1 << 20;
