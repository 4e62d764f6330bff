//! The tree: every file that git does not ignore, and the folders that contain rule files.

mod find;
mod ignored;
mod walk;

pub(crate) use walk::walk;

use std::ffi::OsString;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rulebook::evidence::Seen;

/// Folders of other people's code, or of none; never searched for rules.
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

/// The files of all roots. They are kept by folder, because the rules are known only after all folders were listed.
#[derive(Debug, Default)]
pub struct Tree {
    /// By root and folder; a folder may have several.
    portions: Vec<Portion>,
    /// The folders that contain the first name of a place; sorted.
    pub(crate) rule_folders: Vec<RuleFolder>,
    /// Root and path of folders that are not searched because their names are not UTF-8.
    pub(crate) not_utf8: Vec<(usize, String)>,
    /// Whether `.gitignore` files below the tops of repositories are not used because they are too large together.
    pub(crate) has_too_many_patterns: bool,
}

/// The purpose of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The files that git does not ignore, and the rule files beside them.
    Files,
    /// Rule files, in folders that git ignores too.
    Rules,
    /// Both.
    All,
}

/// A folder, and the first names of places in it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RuleFolder {
    pub(crate) root: usize,
    /// Relative to the root; empty for the root itself.
    pub(crate) folder: String,
    pub(crate) heads: Vec<&'static str>,
}

/// Some files of one folder.
#[derive(Debug, Default)]
struct Portion {
    root: usize,
    folder: String,
    /// One after the other, each terminated by [`END`].
    names: String,
    count: usize,
}

/// A character that no name contains.
const END: char = '\0';

/// The number of files per batch: enough to be worth preparing, few enough to stay in the processor's cache.
const BATCH: usize = 1 << 13;

impl Tree {
    /// The number of files.
    pub fn files(&self) -> usize {
        self.portions.iter().map(|portion| portion.count).sum()
    }

    /// Every file, sorted.
    pub fn paths(&self) -> Vec<Seen> {
        let mut all: Vec<Seen> = self.portions.iter().flat_map(Portion::files).collect();
        all.sort_by(|a, b| (a.root, &a.path).cmp(&(b.root, &b.path)));
        all
    }

    /// The files below a folder of a root, sorted.
    pub fn below(&self, root: usize, folder: &str) -> Vec<Seen> {
        let is_below = |seen: &Seen| {
            let rest = seen.path.strip_prefix(folder);
            seen.root == root && rest.is_some_and(|rest| folder.is_empty() || rest.starts_with('/'))
        };
        self.paths().into_iter().filter(is_below).collect()
    }

    /// Whether a file is below a folder of a root.
    pub(crate) fn has_below(&self, root: usize, folder: &str) -> bool {
        let is_below = |portion: &Portion| {
            let rest = portion.folder.strip_prefix(folder);
            portion.root == root && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.portions.iter().any(is_below)
    }

    /// Passes every file to `take`, in batches, with the result of its thread so far. Returns the results of all
    /// threads; which thread gets which files is unspecified.
    pub(crate) fn fold<T: Send>(
        &self,
        start: impl Fn() -> T + Sync,
        take: impl Fn(&mut T, Vec<Seen>) + Sync,
    ) -> Vec<T> {
        let mut batches: Vec<&[Portion]> = Vec::new();
        let mut rest = self.portions.as_slice();
        while !rest.is_empty() {
            let mut count = 0;
            let is_full = |portion: &Portion| {
                count += portion.count;
                count >= BATCH
            };
            let len = rest.iter().position(is_full).map_or(rest.len(), |at| at + 1);
            batches.push(&rest[..len]);
            rest = &rest[len..];
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut result = start();
            while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                take(&mut result, batch.iter().flat_map(Portion::files).collect());
            }
            result
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(batches.len());
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut results = vec![work()];
            results.extend(others.into_iter().filter_map(|other| other.join().ok()));
            results
        })
    }
}

impl Portion {
    fn files<'p>(&'p self) -> impl Iterator<Item = Seen> + use<'p> {
        let extension = |name: &'p str| name.rsplit_once('.').map(|(_, extension)| extension);
        let mut names: Vec<(Option<&str>, &str)> =
            self.names.split_terminator(END).map(|name| (extension(name), name)).collect();
        // Many globs treat names of one extension alike, so those are put side by side.
        names.sort_unstable();
        let path = |name: &str| match self.folder.as_str() {
            "" => name.to_owned(),
            folder => [folder, "/", name].concat(),
        };
        names.into_iter().map(move |(_, name)| Seen {
            path: path(name),
            root: self.root,
            sources: Vec::new(),
        })
    }
}

impl Tree {
    fn add_rule_folder(&mut self, root: usize, folder: &str, heads: Vec<&'static str>) {
        if !heads.is_empty() {
            self.rule_folders.push(RuleFolder { root, folder: folder.to_owned(), heads });
        }
    }

    /// Adds the files of a folder.
    fn add(&mut self, root: usize, folder: &str, names: &[OsString]) {
        for names in names.chunks(BATCH) {
            let mut portion = Portion { root, folder: folder.to_owned(), ..Portion::default() };
            for name in names {
                match &*name.to_string_lossy() {
                    // Paths in evidence are normalised the same way.
                    name if name.contains('\\') => self.add_path(root, folder, &name.replace('\\', "/")),
                    name => portion.push(name),
                }
            }
            self.portions.push(portion);
        }
    }

    fn add_path(&mut self, root: usize, folder: &str, name: &str) {
        let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let mut portion = Portion { root, folder: folder.to_owned(), ..Portion::default() };
        portion.push(name);
        self.portions.push(portion);
    }
}

impl Portion {
    fn push(&mut self, name: &str) {
        self.names.push_str(name);
        self.names.push(END);
        self.count += 1;
    }
}
