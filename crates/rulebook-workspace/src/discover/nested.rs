//! Nested rule folders: above the paths in evidence, or anywhere in the tree.

use foldhash::HashMap;
use std::path::Path;

use rulebook::diagnostic::{Code, Diagnostic, Severity};

use super::finder::Finder;
use super::places::{Here, Present};
use crate::git;
use crate::tree::{NEVER_WALKED, RuleFolder, Tree};

/// The folders below the roots that are searched.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Within<'p> {
    /// Those above these paths, each with its root.
    Above(&'p [(usize, String)]),
    /// Those of a tree.
    Tree(&'p Tree),
}

/// Whether a folder, by root and path, belongs to its root.
type Known<'p> = HashMap<(usize, &'p str), bool>;

impl Finder<'_> {
    /// Adds the rule files of folders below the roots.
    pub(super) fn nested(&mut self, within: Within<'_>) {
        match within {
            Within::Above(paths) => {
                let mut known = Known::default();
                for (root, path) in paths {
                    self.descend(*root, path, &mut known);
                }
            }
            Within::Tree(tree) => self.tree(tree),
        }
    }

    fn tree(&mut self, tree: &Tree) {
        let below = tree.rule_folders.iter().filter(|found| !found.folder.is_empty());
        for RuleFolder { root, folder, heads } in below {
            let base = Path::new(&self.search.roots.roots[*root].path).join(folder);
            self.places(&Here { root: *root, folder, base: &base, up: "" }, heads);
        }
        if tree.has_too_many_patterns {
            let message =
                "they are larger than 1 MiB together; only that of the repository's top folder is used";
            let diagnostic = Diagnostic::whole(Code::TooMany, ".gitignore files", message);
            self.diagnostics.push(diagnostic.severity(Severity::Warning).help("shorten them"));
        }
        for (root, folder) in &tree.not_utf8 {
            let path = format!("{}{folder}", self.search.prefix(*root));
            let message = "is not searched for rules: its name is not UTF-8";
            let diagnostic = Diagnostic::whole(Code::Unreadable, path, message);
            self.diagnostics.push(diagnostic.severity(Severity::Note).help("rename the folder"));
        }
    }

    /// Searches every folder on the way to a path, and stops at the first that does not belong to the root.
    fn descend<'p>(&mut self, root: usize, path: &'p str, known: &mut Known<'p>) {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for folder in ends.map(|end| &path[..end]) {
            if !*known.entry((root, folder)).or_insert_with(|| self.enter(root, folder)) {
                return;
            }
        }
    }

    /// Searches a folder that belongs to this root: it exists and is not another root, another worktree, or a link to
    /// the outside, which is reported. Returns whether it does.
    fn enter(&mut self, root: usize, folder: &str) -> bool {
        let search = self.search;
        let name = folder.rsplit('/').next().unwrap_or(folder);
        if NEVER_WALKED.contains(&name) {
            return false;
        }
        let base = Path::new(&search.roots.roots[root].path);
        let path = base.join(folder);
        let Some(kind) = search.disk.kind(&path) else { return false };
        if kind.is_link {
            let Some(real) = search.disk.real(&path).ok().filter(|_| kind.is_folder()) else { return false };
            if !real.starts_with(base) {
                let shown = format!("{}{folder}", search.prefix(root));
                self.report_outside(shown, &search.homes.shown(&real));
                return false;
            }
        } else {
            let is_root = || search.roots.roots.iter().any(|other| Path::new(&other.path) == path);
            let is_build = || name == "target" && search.disk.files.exists(&path.join("CACHEDIR.TAG"));
            if !kind.is_folder() || is_root() || is_build() {
                return false;
            }
        }
        if !kind.is_link
            && search.disk.may_contain(&path, ".git")
            && git::is_worktree_of(&search.disk.files, &path, base)
        {
            return false;
        }
        let Present { heads, .. } = Present::of(&self.heads, &path, search.disk);
        self.places(&Here { root, folder, base: &path, up: "" }, &heads);
        true
    }
}
