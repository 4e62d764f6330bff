//! The files of tool calls.

use crate::condition::Paths;
use crate::evidence::{PathLocation, Roots};

/// A file that a tool call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Its root. `None` if it is outside of every root, or relative with several roots: only the disk knows which.
    pub(super) root: Option<usize>,
    /// Relative to its root; as written if it is outside of every root.
    pub(super) path: String,
    /// Whether its name is known. A shell line may name a file by a variable.
    pub(super) is_known: bool,
}

impl File {
    /// Whether it is certain to be in one of these roots.
    pub(super) fn is_in(&self, roots: &[usize]) -> bool {
        self.root.is_some_and(|root| roots.contains(&root))
    }

    pub(super) fn new(roots: &Roots, written: &str) -> File {
        let locate = |at: usize| roots.locate(written, &|root, _| root == at);
        let location = locate(0);
        let is_certain = location == locate(roots.roots.len().saturating_sub(1));
        match location {
            PathLocation::Inside { root, path } => {
                File { root: is_certain.then_some(root), path, is_known: true }
            }
            _ => File { is_known: true, ..File::unknown(written) },
        }
    }

    /// A file whose name is not known, as written.
    pub(super) fn unknown(written: &str) -> File {
        File { root: None, path: written.to_owned(), is_known: false }
    }

    /// Whether it is certain that it matches.
    pub(super) fn is_match(&self, paths: &Paths) -> bool {
        self.is_known && paths.is_match(self.root, &self.path)
    }
}
