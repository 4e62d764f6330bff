//! Nested rule folders: above the paths in evidence, or anywhere in the tree.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::format::Shape;

use super::{Finder, Here, Reach, head, present};
use crate::git;

/// Folders that hold other people's code or none at all; never walked.
pub(super) const NEVER_WALKED: &[&str] = &[
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

/// From so many folders on, several threads list them.
const MANY: usize = 256;

/// First names of places, by root and folder.
type Listed<'p> = HashMap<(usize, &'p str), Vec<&'static str>>;

impl Finder<'_> {
    pub(super) fn nested(&mut self, reach: Reach<'_>) {
        match reach {
            Reach::Above(paths) => {
                let mut known = HashMap::new();
                let mut listed = if paths.len() < MANY { Listed::new() } else { self.list(paths) };
                for (root, path) in paths {
                    self.descend(*root, path, &mut known, &mut listed);
                }
            }
            Reach::Tree => {
                for root in 0..self.search.roots.roots.len() {
                    self.walk(root, "");
                }
            }
        }
    }

    /// Lists folders ahead of looking into them.
    fn list<'p>(&self, folders: &[(usize, &'p str)]) -> Listed<'p> {
        let (heads, roots) = (&self.heads, &self.search.roots.roots);
        let list = |&(root, folder): &(usize, &'p str)| {
            ((root, folder), present(heads, &Path::new(&roots[root].path).join(folder)))
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            let parts = folders.chunks(folders.len().div_ceil(threads));
            let parts: Vec<_> =
                parts.map(|part| scope.spawn(move || part.iter().map(list).collect::<Vec<_>>())).collect();
            parts.into_iter().filter_map(|part| part.join().ok()).flatten().collect()
        })
    }

    /// Looks in every folder on the way to a path, and stops at the first that is none of the root's own.
    fn descend<'p>(
        &mut self,
        root: usize,
        path: &'p str,
        known: &mut HashMap<(usize, &'p str), bool>,
        listed: &mut Listed<'p>,
    ) {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        for folder in ends.map(|end| &path[..end]) {
            let is_own = *known.entry((root, folder)).or_insert_with(|| {
                let is_own = self.is_walked(root, folder);
                if is_own {
                    let base = Path::new(&self.search.roots.roots[root].path).join(folder);
                    let present = listed.remove(&(root, folder));
                    let present = present.unwrap_or_else(|| super::present(&self.heads, &base));
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

    /// Every folder of the tree; the length of a path bounds the depth.
    fn walk(&mut self, root: usize, folder: &str) {
        let base = Path::new(&self.search.roots.roots[root].path).join(folder);
        let Ok(entries) = fs::read_dir(&base) else { return };
        let mut names: Vec<OsString> = Vec::new();
        let mut present = Vec::new();
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            present.extend(name.to_str().and_then(|name| head(&self.heads, name)));
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                names.push(name);
            }
        }
        if !folder.is_empty() {
            self.look(&Here { root, folder, base: &base, up: "" }, &present);
        }
        names.sort();
        for name in names {
            let Some(name) = name.to_str() else {
                let shown = format!("{}{folder}/{}", self.prefix(root), name.to_string_lossy());
                let told = Diagnostic::whole(
                    Code::Unreadable,
                    shown,
                    "has a name that is not UTF-8 and is not looked into",
                );
                self.diagnostics.push(told.severity(Severity::Note).help("rename the folder"));
                continue;
            };
            let below = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            if !self.is_rule_folder(&below) && self.is_walked(root, &below) {
                self.walk(root, &below);
            }
        }
    }

    /// Rule folders hold rules, not projects.
    fn is_rule_folder(&self, folder: &str) -> bool {
        let places = self.formats.iter().flat_map(|format| format.workspace);
        places.filter(|place| matches!(place.shape, Shape::Folder { .. })).any(|place| {
            folder == place.path || folder.strip_suffix(place.path).is_some_and(|rest| rest.ends_with('/'))
        })
    }
}
