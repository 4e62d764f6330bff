//! Where files are in their checkout. Services that show problems in a repository count paths from its top, wherever the
//! workspace root is.

use std::path::Path;

use rulebook::evidence::Roots;
use rulebook_workspace::find_root;

/// A file, as a service finds it.
pub(super) enum Location {
    /// In the checkout of a root: the number of the root, and the path from the top of the checkout.
    Inside(usize, String),
    /// Anywhere else.
    Absolute(String),
}

/// The checkouts that hold the roots of a workspace.
pub(super) struct Checkouts<'w> {
    roots: &'w Roots,
    /// For each root, the top of its checkout.
    tops: Vec<String>,
}

impl<'w> Checkouts<'w> {
    pub(super) fn of(roots: &'w Roots) -> Checkouts<'w> {
        let top = |path: &String| find_root(Path::new(path)).to_string_lossy().into_owned();
        Checkouts { roots, tops: roots.roots.iter().map(|root| top(&root.path)).collect() }
    }

    /// Returns the top of the checkout of a root.
    pub(super) fn top(&self, root: usize) -> &str {
        &self.tops[root]
    }

    /// Returns whether one checkout holds every root.
    pub(super) fn is_one(&self) -> bool {
        self.tops.iter().all(|top| *top == self.tops[0])
    }

    /// Finds a file by the path that messages show.
    pub(super) fn locate(&self, path: &str) -> Location {
        if let (Some(rest), Some(home)) = (path.strip_prefix("~/"), &self.roots.home) {
            return Location::Absolute(format!("{home}/{rest}"));
        }
        if path.starts_with('/') {
            return Location::Absolute(path.to_owned());
        }
        // With several roots, a path starts with the name of its root.
        let roots = &self.roots.roots;
        let below = |root: &str| path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        let named = roots.iter().enumerate().find_map(|(at, root)| Some((at, below(&root.name)?)));
        let (at, path) = named.filter(|_| roots.len() > 1).unwrap_or((0, path));
        let prefix = roots[at].path.strip_prefix(&self.tops[at]).unwrap_or_default().trim_matches('/');
        Location::Inside(at, if prefix.is_empty() { path.to_owned() } else { format!("{prefix}/{path}") })
    }
}
