//! The tree: every file that git would not ignore, and the folders that hold rule files.

mod find;
mod ignored;
mod walk;

use std::ffi::OsString;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rulebook::evidence::{Roots, Seen};

use walk::Walk;

/// The files of all roots. They are kept by folder: the rules are known only when all folders are.
#[derive(Debug, Default)]
pub struct Tree {
    /// By root and folder; a folder may have several.
    portions: Vec<Portion>,
    /// The folders with first names of places in them; sorted.
    pub(crate) listed: Vec<Listed>,
    /// Root and path of folders that no rule is looked for in because their names are not UTF-8.
    pub(crate) odd: Vec<(usize, String)>,
}

/// What a walk is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The files git would not ignore, and the rule files beside them.
    Files,
    /// Rule files, in folders git ignores too.
    Rules,
    /// Both.
    All,
}

/// A folder and which first names of places are in it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
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
    /// One after the other, each ended by [`END`].
    names: String,
    count: usize,
}

/// What no name contains.
const END: char = '\0';

/// How many files are handed on at once: preparing them must be worth it, and they should stay in the cache.
const BATCH: usize = 1 << 13;

impl Tree {
    /// Walks the roots. `progress` is told now and then how many files were found.
    pub(crate) fn walk(roots: &Roots, wanted: Wanted, progress: &(dyn Fn(usize) + Sync)) -> Tree {
        let mut tree = Tree::default();
        for found in Walk::new(roots, wanted, progress).run() {
            tree.portions.extend(found.portions);
            tree.listed.extend(found.listed);
            tree.odd.extend(found.odd);
        }
        tree.portions.sort_by(|a, b| (a.root, &a.folder).cmp(&(b.root, &b.folder)));
        tree.listed.sort();
        tree
    }

    /// How many files there are.
    pub fn files(&self) -> usize {
        self.portions.iter().map(|portion| portion.count).sum()
    }

    /// Hands every file to `take`, in batches, each with what its thread has gathered so far; gives what every
    /// thread gathered. Which thread gets which files is left open.
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
            let mut so_far = start();
            while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                take(&mut so_far, batch.iter().flat_map(Portion::files).collect());
            }
            so_far
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(batches.len());
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut gathered = vec![work()];
            gathered.extend(others.into_iter().filter_map(|other| other.join().ok()));
            gathered
        })
    }
}

impl Portion {
    fn files<'p>(&'p self) -> impl Iterator<Item = Seen> + use<'p> {
        let extension = |name: &'p str| name.rsplit_once('.').map(|(_, extension)| extension);
        let mut names: Vec<(Option<&str>, &str)> =
            self.names.split_terminator(END).map(|name| (extension(name), name)).collect();
        // Names of one extension side by side: many globs cannot tell them apart.
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
    fn note(&mut self, root: usize, folder: &str, heads: Vec<&'static str>) {
        if !heads.is_empty() {
            self.listed.push(Listed { root, folder: folder.to_owned(), heads });
        }
    }

    /// Adds the files of a folder.
    fn add(&mut self, root: usize, folder: &str, names: &[OsString]) {
        for names in names.chunks(BATCH) {
            let mut portion = Portion { root, folder: folder.to_owned(), ..Portion::default() };
            for name in names {
                match &*name.to_string_lossy() {
                    // A path in evidence is read that way too.
                    name if name.contains('\\') => self.add_odd(root, folder, &name.replace('\\', "/")),
                    name => portion.push(name),
                }
            }
            self.portions.push(portion);
        }
    }

    fn add_odd(&mut self, root: usize, folder: &str, name: &str) {
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
