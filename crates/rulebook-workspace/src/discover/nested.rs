//! Nested rule folders: above the paths in evidence, or anywhere in the tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rulebook::format::FORMATS;

use super::{Finder, Here, MAX_DEPTH, Reach};
use crate::git;

/// Folders that hold other people's code or none at all; never walked.
const NEVER_WALKED: &[&str] = &[
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
        let mut folders = BTreeSet::new();
        match reach {
            Reach::Above(paths) => {
                for (root, path) in paths {
                    let parts: Vec<&str> = path.split('/').collect();
                    let above = (1..=parts.len()).map(|len| &parts[..len]);
                    let walked =
                        above.take_while(|parts| !NEVER_WALKED.contains(parts.last().unwrap_or(&"")));
                    folders.extend(walked.map(|parts| (*root, parts.join("/"))));
                }
                let mut gone: Option<(usize, String)> = None;
                for (root, folder) in folders {
                    let is_below = |(at, above): &(usize, String)| {
                        *at == root
                            && folder.strip_prefix(above.as_str()).is_some_and(|rest| rest.starts_with('/'))
                    };
                    if gone.as_ref().is_some_and(is_below) {
                        continue;
                    }
                    if self.is_walked(root, &folder) {
                        self.nested_folder(root, &folder);
                    } else {
                        gone = Some((root, folder));
                    }
                }
            }
            Reach::Tree => {
                for root in 0..self.search.roots.roots.len() {
                    self.walk(root, "", 0);
                }
            }
        }
    }

    fn nested_folder(&mut self, root: usize, folder: &str) {
        let base = Path::new(&self.search.roots.roots[root].path).join(folder);
        self.look(&Here { root, folder, base: &base, up: "" }, |_| true);
    }

    /// Whether a folder is one of this root's own: there, not another root, not a second checkout of the same
    /// repository, and not a link out.
    fn is_walked(&self, root: usize, folder: &str) -> bool {
        let roots = &self.search.roots.roots;
        let base = Path::new(&roots[root].path);
        let path = base.join(folder);
        let Ok(metadata) = fs::symlink_metadata(&path) else { return false };
        if metadata.is_symlink() {
            return fs::metadata(&path).is_ok_and(|m| m.is_dir())
                && fs::canonicalize(&path)
                    .is_ok_and(|real| fs::canonicalize(base).is_ok_and(|base| real.starts_with(base)));
        }
        metadata.is_dir()
            && !roots.iter().any(|other| Path::new(&other.path) == path)
            && !git::is_worktree_of(&path, base)
    }

    fn walk(&mut self, root: usize, folder: &str, level: usize) {
        let base = Path::new(&self.search.roots.roots[root].path).join(folder);
        if !folder.is_empty() {
            self.nested_folder(root, folder);
        }
        let Ok(entries) = fs::read_dir(&base) else { return };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !NEVER_WALKED.contains(&name.as_str()))
            .collect();
        names.sort();
        for name in names {
            let below = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let is_build = name == "target" && base.join("target/CACHEDIR.TAG").exists();
            if level < MAX_DEPTH && !is_build && !self.is_rule_folder(&below) && self.is_walked(root, &below)
            {
                self.walk(root, &below, level + 1);
            }
        }
    }

    /// Rule folders hold rules, not projects.
    fn is_rule_folder(&self, folder: &str) -> bool {
        let places = FORMATS.iter().flat_map(|format| format.workspace);
        places.filter(|place| place.extensions().is_some()).any(|place| {
            folder == place.path || folder.strip_suffix(place.path).is_some_and(|rest| rest.ends_with('/'))
        })
    }
}
