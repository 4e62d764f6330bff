//! Nested rule folders: above the paths in evidence, or anywhere in the tree.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use rulebook::diagnostic::{Code, Diagnostic, Severity};

use super::{Finder, Here, Present, Reach, present};
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
    fn descend<'p>(&mut self, root: usize, path: &'p str, known: &mut Known<'p>) {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let mut above = None;
        for folder in ends.map(|end| &path[..end]) {
            let key = (root, folder);
            if !known.contains_key(&key) {
                let above = above.and_then(|above| known.get(&above)?.as_ref());
                let entered = self.enter(root, folder, above);
                known.insert(key, entered);
            }
            if known[&key].is_none() {
                return;
            }
            above = Some(key);
        }
    }

    /// Looks in a folder that is one of this root's own: there, not another root, not a second checkout of the same
    /// repository, and not a link out, which is told. What its parent lists need not be asked for.
    fn enter(&mut self, root: usize, folder: &str, above: Option<&Present>) -> Option<Present> {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        if NEVER_WALKED.contains(&name) {
            return None;
        }
        let roots = &self.search.roots.roots;
        let base = Path::new(&roots[root].path);
        let path = base.join(folder);
        let listed = above.and_then(|above| above.entries.as_ref()?.iter().find(|(entry, _)| entry == name));
        // It may be there under another spelling, where the disk does not mind.
        let kind = match listed {
            Some((_, kind)) => *kind,
            None => fs::symlink_metadata(&path).ok()?.file_type(),
        };
        if kind.is_symlink() {
            let real = fs::canonicalize(&path).ok().filter(|real| real.is_dir())?;
            if !real.starts_with(base) {
                let shown = format!("{}{folder}", self.prefix(root));
                self.report_outside(shown, &self.search.homes.shown(&real));
                return None;
            }
        } else {
            let is_root = || roots.iter().any(|other| Path::new(&other.path) == path);
            let is_build = || name == "target" && path.join("CACHEDIR.TAG").exists();
            if !kind.is_dir() || is_root() || is_build() {
                return None;
            }
        }
        let present = present(&self.heads, &path);
        let has_git = present.entries.as_ref().is_none_or(|all| all.iter().any(|(name, _)| name == ".git"));
        if !kind.is_symlink() && has_git && git::is_worktree_of(&path, base) {
            return None;
        }
        self.look(&Here { root, folder, base: &path, up: "" }, &present.heads);
        Some(present)
    }
}

/// What folders hold, by root and path; nothing where one is not the root's own.
type Known<'p> = HashMap<(usize, &'p str), Option<Present>>;
