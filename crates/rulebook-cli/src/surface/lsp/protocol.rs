//! The parts of the language server protocol that are used here: positions, addresses of files, parameters.

use std::path::{Path, PathBuf};

use rulebook::id::{percent_decoded, percent_encoded};
use rulebook_workspace::canonical;
use serde::{Deserialize, Serialize};

/// A line and a character in it, both counted from 0. Characters are UTF-16 code units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) character: usize,
}

/// A part of a text; its end is not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Span {
    pub(super) start: Position,
    pub(super) end: Position,
}

impl Span {
    /// Whether the two have a position in common.
    pub(super) fn touches(&self, other: &Span) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct DocumentName {
    pub(super) uri: String,
    pub(super) version: Option<i64>,
}

/// A request about a document, and perhaps a place in it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Place {
    pub(super) text_document: DocumentName,
    #[serde(default)]
    pub(super) position: Position,
    #[serde(default)]
    pub(super) range: Span,
    /// The new name, in a request to rename.
    #[serde(default)]
    pub(super) new_name: String,
    #[serde(default)]
    context: Option<Context>,
}

impl Place {
    /// Whether an action of this kind is wanted.
    pub(super) fn wants(&self, kind: &str) -> bool {
        self.context.as_ref().is_none_or(|context| context.wants(kind))
    }
}

/// What a request for actions is about.
#[derive(Debug, Deserialize)]
struct Context {
    /// The kinds of actions that are wanted, with those below them.
    only: Option<Vec<String>>,
}

impl Context {
    fn wants(&self, kind: &str) -> bool {
        let is_below = |wanted: &String| {
            kind.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.only.as_ref().is_none_or(|only| only.iter().any(|wanted| wanted.is_empty() || is_below(wanted)))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Opened {
    pub(super) text_document: OpenedDocument,
}

#[derive(Debug, Deserialize)]
pub(super) struct OpenedDocument {
    pub(super) uri: String,
    pub(super) version: Option<i64>,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changed {
    pub(super) text_document: DocumentName,
    pub(super) content_changes: Vec<Change>,
}

/// A replaced part of a document, or its whole new text.
#[derive(Debug, Deserialize)]
pub(super) struct Change {
    pub(super) range: Option<Span>,
    pub(super) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Command {
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: Vec<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Folder {
    pub(super) uri: String,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FolderChange {
    #[serde(default)]
    pub(super) added: Vec<Folder>,
    #[serde(default)]
    pub(super) removed: Vec<Folder>,
}

/// The path of a file's address; `None` for another scheme.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // A host before the path is a share.
    let path = percent_decoded(if rest.starts_with('/') { rest } else { return None });
    let bytes = path.as_bytes();
    let is_drive = bytes.len() > 2 && bytes[1].is_ascii_alphabetic() && bytes[2] == b':';
    Some(PathBuf::from(if is_drive && cfg!(windows) { &path[1..] } else { path.as_ref() }))
}

/// The address of a file.
pub(super) fn uri_of(path: &str) -> String {
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", percent_encoded(path))
}

/// The canonical path of a file, which need not exist.
pub(super) fn real(path: &Path) -> PathBuf {
    let below = |above: &Path| {
        let (real, rest) = (canonical(above).ok()?, path.strip_prefix(above).ok()?);
        // An empty rest would add a `/`.
        Some(if above == path { real } else { real.join(rest) })
    };
    path.ancestors().find_map(below).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_of_actions_includes_those_below_it() {
        #[track_caller]
        fn check(only: Option<&[&str]>, kind: &str, wanted: bool) {
            let only = only.map(|only| only.iter().map(|&kind| kind.to_owned()).collect());
            assert_eq!(Context { only }.wants(kind), wanted, "{kind}");
        }
        check(None, "quickfix", true);
        check(Some(&[]), "quickfix", false);
        check(Some(&["quickfix"]), "quickfix", true);
        check(Some(&["source", "refactor"]), "source.fixAll.rulebook", true);
        check(Some(&["source.fixAll.rulebook.x"]), "source.fixAll.rulebook", false);
        check(Some(&["source.fix"]), "source.fixAll.rulebook", false);
        check(Some(&[""]), "quickfix", true);
    }

    #[test]
    fn an_address_and_its_path_name_the_same_file() {
        #[track_caller]
        fn check(uri: &str, path: Option<&str>) {
            assert_eq!(path_of(uri).as_deref(), path.map(Path::new), "{uri}");
        }
        check("file:///a/b.md", Some("/a/b.md"));
        check("file:///a%20b/%C3%A9.md", Some("/a b/é.md"));
        check("file:///a/%5Bid%5D.ts", Some("/a/[id].ts"));
        check("untitled:Untitled-1", None);
        check("file://host/share", None);
        for path in ["/a b/é[x]#?.md", "/a%41"] {
            check(&uri_of(path), Some(path));
        }
    }
}
