//! Nested rule folders: above the paths in evidence, or anywhere in the tree.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rulebook::diagnostic::{Code, Diagnostic, Severity};

use super::{Finder, Here, Reach, present};
use crate::git;
use crate::tree::{Listed, Tree, Wanted};

/// Folders that hold other people's code or none at all; never walked.
pub(crate) const NEVER_WALKED: &[&str] = &[
    ".cache",
    ".direnv",
    ".git",
    ".gradle",
    ".hg",
    ".jj",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".yarn",
    "__pycache__",
    "bower_components",
    "node_modules",
    "venv",
];

impl Finder<'_> {
    pub(super) fn nested(&mut self, reach: Reach<'_>) {
        match reach {
            Reach::Above(paths) => {
                let mut known = HashMap::new();
                for (root, path) in paths {
                    self.descend(*root, path, &mut known);
                }
            }
            Reach::Walked(tree) => self.walked(tree),
            Reach::Tree => self.walked(&Tree::walk(self.search.roots, Wanted::Rules, &|_| ())),
        }
    }

    /// Looks in the folders of a tree that have something to look for.
    fn walked(&mut self, tree: &Tree) {
        for Listed { root, folder, heads } in tree.listed.iter().filter(|listed| !listed.folder.is_empty()) {
            let base = Path::new(&self.search.roots.roots[*root].path).join(folder);
            self.look(&Here { root: *root, folder, base: &base, up: "" }, heads);
        }
        for (root, folder) in &tree.odd {
            let told = "has a name that is not UTF-8 and is not looked into";
            let told = Diagnostic::whole(Code::Unreadable, format!("{}{folder}", self.prefix(*root)), told);
            self.diagnostics.push(told.severity(Severity::Note).help("rename the folder"));
        }
    }

    /// Looks in every folder on the way to a path, and stops at the first that is none of the root's own.
    fn descend<'p>(&mut self, root: usize, path: &'p str, known: &mut HashMap<(usize, &'p str), bool>) {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for folder in ends.map(|end| &path[..end]) {
            let is_own = *known.entry((root, folder)).or_insert_with(|| {
                let is_own = self.is_walked(root, folder);
                if is_own {
                    let base = Path::new(&self.search.roots.roots[root].path).join(folder);
                    let present = present(&self.heads, &base).heads;
                    self.look(&Here { root, folder, base: &base, up: "" }, &present);
                }
                is_own
            });
            if !is_own {
                return;
            }
        }
    }

    /// Whether a folder is one of this root's own: there, not another root, not a second checkout of the same
    /// repository, and not a link out, which is told.
    fn is_walked(&mut self, root: usize, folder: &str) -> bool {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        let roots = &self.search.roots.roots;
        let base = Path::new(&roots[root].path);
        let path = base.join(folder);
        if NEVER_WALKED.contains(&name) {
            return false;
        }
        let Ok(metadata) = fs::symlink_metadata(&path) else { return false };
        if metadata.is_symlink() {
            let Some(real) = fs::canonicalize(&path).ok().filter(|real| real.is_dir()) else { return false };
            let is_inside = real.starts_with(base);
            if !is_inside {
                let shown = format!("{}{folder}", self.prefix(root));
                self.tell_outside(shown, &self.search.homes.shown(&real));
            }
            return is_inside;
        }
        let is_root = roots.iter().any(|other| Path::new(&other.path) == path);
        let is_build = name == "target" && path.join("CACHEDIR.TAG").exists();
        metadata.is_dir() && !is_root && !is_build && !git::is_worktree_of(&path, base)
    }
}
