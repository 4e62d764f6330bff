//! The walk: every folder is listed once, by as many threads as there are processors.

use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

use rulebook::agent::AGENTS;
use rulebook::evidence::Roots;
use rulebook::format::{FORMATS, Place, PlaceKind};

use super::ignored::{Ignored, Marks, PatternBudget};
use super::{BATCH, NEVER_WALKED, Tree, Wanted};
use crate::git;
use crate::storage::{FileKind, Storage};

/// Walks the roots. `progress` receives the number of files found so far, now and then.
pub(crate) fn walk(
    files: &Storage,
    roots: &Roots,
    wanted: Wanted,
    progress: &(dyn Fn(usize) + Sync),
) -> Tree {
    let first = Walk::new(files, roots, wanted, progress, PatternBudget::new());
    let mut found = first.run();
    let has_too_many_patterns = first.budget.is_spent();
    if has_too_many_patterns {
        found = Walk::new(files, roots, wanted, progress, PatternBudget::of_top()).run();
    }
    let mut tree = Tree { has_too_many_patterns, ..Tree::default() };
    for found in found {
        tree.portions.extend(found.portions);
        tree.rule_folders.extend(found.rule_folders);
        tree.not_utf8.extend(found.not_utf8);
    }
    tree.portions.sort_by(|a, b| (a.root, &a.folder).cmp(&(b.root, &b.folder)));
    tree.rule_folders.sort();
    tree
}

/// With this many folders in the queue, other threads help.
const MANY: usize = 32;

/// A folder to be listed.
struct Folder {
    root: usize,
    /// Relative to the root, with `/`.
    name: String,
    at: PathBuf,
    around: Option<Arc<Ignored>>,
    /// Whether its files count: git does not ignore it.
    counts: bool,
    /// Whether it is searched for rules.
    is_searched: bool,
}

/// The state that all threads share.
struct Walk<'w> {
    files: &'w Storage,
    roots: &'w Roots,
    wanted: Wanted,
    progress: &'w (dyn Fn(usize) + Sync),
    budget: PatternBudget,
    count: AtomicUsize,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Folder>,
    /// The number of folders being listed, which may add more.
    busy: usize,
}

/// Marks a folder as finished when dropped, even after a panic.
struct Busy<'w>(&'w Walk<'w>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.queue().busy -= 1;
        self.0.changed.notify_all();
    }
}

impl<'w> Walk<'w> {
    fn new(
        files: &'w Storage,
        roots: &'w Roots,
        wanted: Wanted,
        progress: &'w (dyn Fn(usize) + Sync),
        budget: PatternBudget,
    ) -> Walk<'w> {
        let waiting = roots.roots.iter().enumerate().map(|(root, found)| {
            let at = PathBuf::from(&found.path);
            let around = if wanted == Wanted::Rules { None } else { Ignored::around(files, &at, &budget) };
            Folder { root, name: String::new(), at, around, counts: true, is_searched: true }
        });
        let queue = Mutex::new(Queue { waiting: waiting.collect(), busy: 0 });
        let count = AtomicUsize::new(0);
        Walk { files, roots, wanted, progress, budget, count, queue, changed: Condvar::new() }
    }

    /// Returns what each thread found.
    fn run(&self) -> Vec<Tree> {
        let mut first = Tree::default();
        while self.queue().waiting.len() < MANY {
            let Some((folder, _busy)) = self.next() else { return vec![first] };
            self.list(&folder, &mut first);
        }
        let work = || {
            let mut found = Tree::default();
            while let Some((folder, _busy)) = self.next() {
                self.list(&folder, &mut found);
            }
            found
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut found = vec![first, work()];
            found.extend(others.into_iter().filter_map(|other| other.join().ok()));
            found
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next folder; `None` when all are finished.
    fn next(&self) -> Option<(Folder, Busy<'_>)> {
        let mut queue = self.queue();
        loop {
            // A walk with too many patterns is done again.
            if self.budget.is_spent() {
                queue.waiting.clear();
            }
            if let Some(folder) = queue.waiting.pop() {
                queue.busy += 1;
                return Some((folder, Busy(self)));
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn list(&self, folder: &Folder, found: &mut Tree) {
        let Ok(entries) = self.files.list(&folder.at) else { return };
        let mut here = Here::default();
        entries.for_each(|entry| here.add(entry.name, entry.kind));
        let is_searched = folder.is_searched && !self.is_foreign(folder, &here);
        if is_searched {
            found.add_rule_folder(folder.root, &folder.name, here.heads);
        }
        let ignored = match self.wanted {
            Wanted::Rules => None,
            _ => Ignored::within(self.files, folder.around.clone(), &folder.at, here.marks, &self.budget),
        };
        let patterns = ignored.as_ref().filter(|ignored| folder.counts && !ignored.is_empty());
        let mut at = folder.at.clone();
        let mut is_ignored = |name: &OsStr, is_folder: bool| {
            patterns.is_some_and(|ignored| {
                at.push(name);
                let is_ignored = ignored.ignores(&at, is_folder);
                at.pop();
                is_ignored
            })
        };
        if folder.counts && self.wanted != Wanted::Rules {
            here.files.retain(|name| !is_ignored(name, false));
            found.add(folder.root, &folder.name, &here.files);
            self.count_files(here.files.len());
        }
        let mut below = Vec::new();
        for name in here.folders {
            let counts = folder.counts && !is_ignored(&name, true);
            below.extend(self.below(folder, is_searched, counts, &name, ignored.as_ref(), found));
        }
        self.queue().waiting.extend(below);
    }

    /// A folder in another, if it has to be listed.
    fn below(
        &self,
        above: &Folder,
        is_searched: bool,
        counts: bool,
        name: &OsStr,
        around: Option<&Arc<Ignored>>,
        found: &mut Tree,
    ) -> Option<Folder> {
        let at = above.at.join(name);
        let shown = name.to_string_lossy();
        let slash = if above.name.is_empty() { "" } else { "/" };
        let path = [&above.name, slash, &shown].concat();
        let is_searched = is_searched && !NEVER_WALKED.contains(&&*shown) && !is_rule_folder(&path);
        if is_searched && name.to_str().is_none() {
            found.not_utf8.push((above.root, path.clone()));
        }
        let is_searched = is_searched && name.to_str().is_some();
        let is_wanted = match self.wanted {
            Wanted::Files => counts,
            Wanted::Rules => is_searched,
            Wanted::All => counts || is_searched,
        };
        // A root inside another is walked as a root.
        let is_root = || self.roots.roots.iter().any(|root| Path::new(&root.path) == at);
        let is_entered = is_wanted && !is_root();
        is_entered.then(|| Folder {
            root: above.root,
            name: path,
            around: around.cloned(),
            at,
            counts,
            is_searched,
        })
    }

    /// Whether a folder is another worktree of the root's repository, or a build folder.
    fn is_foreign(&self, folder: &Folder, here: &Here) -> bool {
        let root = Path::new(&self.roots.roots[folder.root].path);
        here.is_build && folder.at.ends_with("target")
            || here.is_linked && folder.at != root && git::is_worktree_of(self.files, &folder.at, root)
    }

    /// Counts files and reports progress now and then.
    fn count_files(&self, files: usize) {
        let before = self.count.fetch_add(files, Ordering::Relaxed);
        if (before + files) / BATCH > before / BATCH {
            (self.progress)(before + files);
        }
    }
}

/// The entries of a folder.
#[derive(Default)]
struct Here {
    files: Vec<OsString>,
    folders: Vec<OsString>,
    /// The first names of places.
    heads: Vec<&'static str>,
    marks: Marks,
    /// `.git` is a file, as in a worktree.
    is_linked: bool,
    /// It has a `CACHEDIR.TAG`, which build tools write.
    is_build: bool,
}

impl Here {
    fn add(&mut self, name: OsString, kind: FileKind) {
        self.heads.extend(name.to_str().and_then(head));
        match name.as_encoded_bytes() {
            b".git" => {
                self.marks.top = true;
                self.is_linked = kind.is_file();
                return;
            }
            b".jj" => self.marks.top |= kind.is_dir(),
            b".gitignore" => self.marks.patterns = kind.is_file(),
            b"CACHEDIR.TAG" => self.is_build = true,
            _ => {}
        }
        if kind.is_dir() {
            self.folders.push(name);
        } else if kind.is_file() {
            self.files.push(name);
        }
    }
}

/// The first names of all places of all formats, and the bytes they start with.
struct Heads {
    sorted: Vec<&'static str>,
    starts: [bool; 256],
}

static HEADS: LazyLock<Heads> = LazyLock::new(|| {
    let formats = FORMATS.iter().chain(AGENTS.iter().flat_map(|agent| agent.formats));
    let mut sorted: Vec<&str> = formats.flat_map(|format| format.workspace).map(Place::head).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut starts = [false; 256];
    sorted.iter().filter_map(|head| head.bytes().next()).for_each(|byte| starts[usize::from(byte)] = true);
    Heads { sorted, starts }
});

/// The first name of a place that equals this name. Hardly any name does.
fn head(name: &str) -> Option<&'static str> {
    let Heads { sorted, starts } = &*HEADS;
    let may_be = name.bytes().next().is_some_and(|byte| starts[usize::from(byte)]);
    may_be.then(|| sorted.binary_search(&name).ok().map(|at| sorted[at])).flatten()
}

/// Rule folders contain rules, not projects.
fn is_rule_folder(folder: &str) -> bool {
    let places = FORMATS.iter().flat_map(|format| format.workspace);
    places.filter(|place| matches!(place.shape, PlaceKind::Folder { .. } | PlaceKind::Skills)).any(|place| {
        folder.strip_suffix(place.path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    })
}
