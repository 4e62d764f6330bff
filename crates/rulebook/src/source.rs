//! Sources: rule files as they were found, before their text is read.

use std::sync::Arc;

use crate::format::{FETCHED, Files, Format, FormatId, Ids, Place, PlaceKind};
use crate::id::normalize_id;
use crate::words::words;

/// One rule file, or one remote entry, and where it was found.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it was found, and which format it has.
    pub origin: Origin,
    /// Its text, or why it has none: a file that cannot be read still ends in a visible state.
    pub text: Result<Arc<str>, Unreadable>,
}

impl Source {
    /// Makes a source of a text. The name is a path relative to the workspace: `.clinerules/web.md`.
    #[must_use]
    pub fn text(format: FormatId, name: &str, text: impl Into<Arc<str>>) -> Source {
        Source { origin: Origin::named(format, name), text: Ok(text.into()) }
    }
}

/// Where a rule comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Origin {
    /// How the file is read.
    pub format: &'static Format,
    /// The place of the format where it was found.
    pub place: &'static Place,
    /// Where the rule comes from.
    pub scope: Scope,
    /// The name shown to people: `.clinerules/web.md`, `~/.cursor/rules/a.mdc`, a remote entry's name.
    pub display: String,
    /// The absolute path, with `/` between folders.
    pub path: String,
    /// The workspace root it belongs to, counted from 0.
    pub root: usize,
    /// The folder that holds the rule folder, relative to its root; empty at the root itself.
    pub folder: String,
    /// The path inside the rule folder: `frontend/react.mdc`.
    pub inner: String,
    /// The file that imports it, as shown.
    pub imported_by: Option<String>,
    /// Whether it is a link: of several names for one file, the file's own name counts.
    pub is_link: bool,
}

impl Origin {
    /// Whether the agent follows the imports of the file.
    #[must_use]
    pub fn follows_imports(&self) -> bool {
        let is_rule = matches!(self.place.shape, PlaceKind::Folder { .. });
        self.format.imports > 0 && (self.place.is_raw() || self.format.rules_import && is_rule)
    }

    /// Makes the origin of a file at a place of the first root. What differs can be set afterwards.
    #[must_use]
    pub fn new(format: &'static Format, place: &'static Place, display: impl Into<String>) -> Origin {
        let display = display.into();
        Origin {
            format,
            place,
            scope: Scope::Workspace,
            path: display.clone(),
            root: 0,
            folder: String::new(),
            inner: display.rsplit('/').next().unwrap_or_default().to_owned(),
            display,
            imported_by: None,
            is_link: false,
        }
    }

    /// Makes the origin of a file by its path in the workspace, at the place of the format that the path belongs to.
    #[must_use]
    pub fn named(format: FormatId, path: &str) -> Origin {
        let format = format.row();
        Origin::at([format], path)
            .unwrap_or_else(|| Origin::new(format, format.workspace.first().unwrap_or(&FETCHED), path))
    }

    /// Makes the origin of a file by its path in the workspace, if it is at a place of one of these formats.
    #[must_use]
    pub fn at(formats: impl IntoIterator<Item = &'static Format>, path: &str) -> Option<Origin> {
        let mut places =
            formats.into_iter().flat_map(|format| format.workspace.iter().map(move |place| (format, place)));
        places.find_map(|(format, place)| {
            let (folder, inner) = place.split(path)?;
            let (folder, inner) = (folder.to_owned(), inner.to_owned());
            Some(Origin { folder, inner, ..Origin::new(format, place, path) })
        })
    }

    /// Returns how many folders deep the folder that holds the rule folder is.
    pub fn depth(&self) -> usize {
        self.folder.split('/').filter(|part| !part.is_empty()).count()
    }

    /// Returns the root and folder of a nested rule that applies to its folder only.
    pub(crate) fn nest(&self) -> Option<(usize, &str)> {
        let is_scoped = !self.folder.is_empty() && self.format.scoped;
        is_scoped.then_some((self.root, self.folder.as_str()))
    }

    /// Returns the id that the file has by its name and place.
    pub fn id(&self) -> String {
        let inner = self.inner.as_str();
        let inner = match self.place.shape {
            PlaceKind::File { id, .. } => return unlike_key(id.to_owned()),
            PlaceKind::Located { id, .. } if self.scope == Scope::User => return format!("{id}@~"),
            PlaceKind::Located { id, .. } if self.folder.is_empty() => return id.to_owned(),
            PlaceKind::Located { id, .. } => {
                return unlike_key(normalize_id(&format!("{id}@{}", self.folder)));
            }
            PlaceKind::Named => return self.named_id(),
            PlaceKind::Skills => {
                let name = inner.split('/').next().unwrap_or(inner);
                return normalize_id(&format!("skill/{name}"));
            }
            PlaceKind::Modes { prefix, .. } => inner.strip_prefix(prefix).unwrap_or(inner),
            PlaceKind::Folder { .. } if self.format.ids == Ids::Stem => {
                inner.rsplit('/').next().unwrap_or(inner)
            }
            PlaceKind::Folder { .. } => {
                let mut plain = self.format.plain_folders.iter();
                plain.find_map(|folder| inner.strip_prefix(folder)?.strip_prefix('/')).unwrap_or(inner)
            }
            PlaceKind::Imported => inner,
        };
        let known = SUFFIXES.iter().find_map(|suffix| inner.strip_suffix(suffix));
        let any = || {
            let takes_any = matches!(self.place.files(), Some(Files::AllBut(_)));
            let (stem, extension) = inner.rsplit_once('.').filter(|_| takes_any)?;
            (!extension.contains('/') && !stem.ends_with('/')).then_some(stem)
        };
        let stem = known.or_else(any).filter(|stem| !stem.is_empty());
        normalize_id(stem.unwrap_or_else(|| inner.trim_matches('.')))
    }
}

/// Appends `/` to an id that looks like a key: `agents@cursor` is the key of the id `agents` in the format `cursor`.
fn unlike_key(id: String) -> String {
    if FormatId::split_key(&id).is_some() { id + "/" } else { id }
}

impl Origin {
    /// Returns the id of a file that an agent's settings name: its path, or its name and folder.
    fn named_id(&self) -> String {
        let stem = SUFFIXES.iter().find_map(|suffix| self.inner.strip_suffix(suffix)).unwrap_or(&self.inner);
        let id = normalize_id(stem.trim_start_matches("./"));
        if self.folder.is_empty() { id } else { format!("{id}@{}", self.folder) }
    }
}

/// Suffixes that are not part of an id; longer ones first.
const SUFFIXES: &[&str] =
    &["/RULE.mdc", "/RULE.md", ".instructions.md", ".rule.md", ".markdown", ".mdc", ".mdx", ".md", ".txt"];

/// Returns a folder and every folder above it; the root, `""`, is last.
pub(crate) fn enclosing_folders(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        (!folder.is_empty()).then(|| folder.rsplit_once('/').map_or("", |(above, _)| above))
    })
}

words! {
    /// Where a rule comes from. Earlier wins.
    Scope {
        /// The repository.
        Workspace = "workspace",
        /// The organisation: fetched rules.
        Remote = "remote",
        /// A folder named in the settings.
        Extra = "extra",
        /// The user's own files.
        User = "user",
    }
}

/// Why a file that was found has no text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreadable {
    /// The operating system refused; its message.
    Refused(String),
    /// The file is not UTF-8.
    NotUtf8 {
        /// How many bytes are valid.
        valid_up_to: usize,
    },
    /// The file is larger than [`MAX_SOURCE`].
    TooLarge {
        /// Its size in bytes.
        len: u64,
    },
    /// A folder, FIFO, socket or device with the name of a rule file.
    NotAFile {
        /// What it is, with an article.
        kind: &'static str,
    },
    /// A link that leads nowhere.
    BrokenLink {
        /// The target, as written in the link.
        target: String,
    },
    /// A link whose target is outside its root.
    OutsideRoot {
        /// The target, or why it is unknown.
        target: String,
    },
    /// The workspace is not trusted, and the user's settings require trust.
    Untrusted,
    /// The file exceeds what is read of all rule files together.
    TooMany,
}

/// The largest rule file that is read, in bytes.
pub const MAX_SOURCE: u64 = 1 << 20;

/// The largest file that some agent reads, in bytes: it is read to show what that agent has.
pub const MAX_READ: u64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_matched_with_the_places_of_its_format() {
        #[track_caller]
        fn check(format: &str, path: &str, folder: &str, inner: &str, id: &str) {
            let origin = Origin::named(FormatId::named(format).unwrap(), path);
            assert_eq!((&*origin.folder, &*origin.inner, &*origin.id()), (folder, inner, id), "{path}");
        }
        check("cursor", ".cursor/rules/Web Rules.mdc", "", "Web Rules.mdc", "web-rules");
        check("cursor", ".cursor/rules/frontend/react.mdc", "", "frontend/react.mdc", "frontend/react");
        check("cursor", "packages/web/.cursor/rules/a.mdc", "packages/web", "a.mdc", "a");
        check("opencode", ".opencode/rules/frontend/react.md", "", "frontend/react.md", "react");
        check("cline", ".clinerules/a.instructions.md", "", "a.instructions.md", "a");
        check("cline", ".clinerules", "", ".clinerules", "clinerules");
        check("codebuddy", ".codebuddy/rules/web/RULE.mdc", "", "web/RULE.mdc", "web");
        check(
            "copilot",
            ".github/instructions/api/errors.instructions.md",
            "",
            "api/errors.instructions.md",
            "api/errors",
        );
        check("roo", ".roo/rules-code/style.md", "", "rules-code/style.md", "code/style");
        check("claude", "CLAUDE.md", "", "CLAUDE.md", "claude");
        check("claude", "packages/web/CLAUDE.md", "packages/web", "CLAUDE.md", "claude@packages/web");
        check("claude", "Apps/My Web/CLAUDE.md", "Apps/My Web", "CLAUDE.md", "claude@apps/my-web");
        check("claude", "cursor/CLAUDE.md", "cursor", "CLAUDE.md", "claude@cursor/");
        check("claude", "a/cursor/CLAUDE.md", "a/cursor", "CLAUDE.md", "claude@a/cursor");
        check("remote", "Team rules", "", "Team rules", "team-rules");
        check("rulebook", "a.md", "", "a.md", "a");
    }
}
