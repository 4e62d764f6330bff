//! The files of tool calls.

use crate::evidence::{PathLocation, Roots};

/// A file that a tool call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Its root. `None` if it is outside of every root, or relative with several roots: only the disk knows which.
    pub(super) root: Option<usize>,
    /// Relative to its root; as written if it is outside of every root.
    pub(super) path: String,
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
            PathLocation::Inside { root, path } => File { root: is_certain.then_some(root), path },
            _ => File { root: None, path: written.to_owned() },
        }
    }
}
