//! The tree: every file that git would not ignore, walked by several threads.

use std::path::Path;
use std::sync::Mutex;

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use rulebook::evidence::{Roots, Seen};

/// How many files are handed on at once: enough that preparing them is worth it, few enough to stay in the cache.
const BATCH: usize = 4096;

/// Hands every file of the tree to `take`, in batches, each with what its thread has gathered so far; gives what
/// every thread gathered. Which thread gets which files is nobody's to know.
pub(crate) fn walk<T: Send>(
    roots: &Roots,
    start: impl Fn() -> T + Sync,
    take: impl Fn(&mut T, Vec<Seen>) + Sync,
) -> Vec<T> {
    let gathered = Mutex::new(Vec::new());
    for (root, at) in roots.roots.iter().enumerate() {
        // A root inside another is its own.
        let others: Vec<String> = roots.roots.iter().map(|root| root.path.clone()).collect();
        let is_inner = move |entry: &DirEntry| {
            entry.depth() > 0 && others.iter().any(|other| entry.path() == Path::new(other))
        };
        let walk = WalkBuilder::new(&at.path)
            .hidden(false)
            .ignore(false)
            .filter_entry(move |entry| entry.file_name() != ".git" && !is_inner(entry))
            .build_parallel();
        let hand = Hand { root, skip: at.path.len(), start: &start, take: &take, gathered: &gathered };
        walk.visit(&mut { hand });
    }
    gathered.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What every thread is given.
struct Hand<'w, T, S, F> {
    root: usize,
    /// The length of the root's path.
    skip: usize,
    start: &'w S,
    take: &'w F,
    gathered: &'w Mutex<Vec<T>>,
}

impl<'w, T: Send, S: Fn() -> T + Sync, F: Fn(&mut T, Vec<Seen>) + Sync> ParallelVisitorBuilder<'w>
    for Hand<'w, T, S, F>
{
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'w> {
        let Hand { root, skip, start, take, gathered } = *self;
        Box::new(Visitor { root, skip, batch: Vec::new(), so_far: Some(start()), take, gathered })
    }
}

/// One thread's walk through one root.
struct Visitor<'w, T, F: Fn(&mut T, Vec<Seen>)> {
    root: usize,
    skip: usize,
    batch: Vec<Seen>,
    so_far: Option<T>,
    take: &'w F,
    gathered: &'w Mutex<Vec<T>>,
}

impl<T, F: Fn(&mut T, Vec<Seen>)> Visitor<'_, T, F> {
    fn hand_on(&mut self) {
        if let Some(so_far) = self.so_far.as_mut().filter(|_| !self.batch.is_empty()) {
            (self.take)(so_far, std::mem::take(&mut self.batch));
        }
    }
}

impl<T: Send, F: Fn(&mut T, Vec<Seen>) + Sync> ParallelVisitor for Visitor<'_, T, F> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        let file = entry.ok().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        if let Some(file) = file {
            let path = file.path().to_string_lossy();
            let relative = path.get(self.skip..).unwrap_or(&path).trim_start_matches(['/', '\\']);
            self.batch.push(Seen { path: relative.replace('\\', "/"), root: self.root, sources: Vec::new() });
            if self.batch.len() >= BATCH {
                self.hand_on();
            }
        }
        WalkState::Continue
    }
}

impl<T, F: Fn(&mut T, Vec<Seen>)> Drop for Visitor<'_, T, F> {
    fn drop(&mut self) {
        self.hand_on();
        let mut gathered = self.gathered.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        gathered.extend(self.so_far.take());
    }
}
