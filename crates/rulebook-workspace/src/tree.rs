//! The tree: every file that git would not ignore, found by several threads.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use rulebook::evidence::{Roots, Seen};

/// The files of all roots. They are kept by folder: the rules are known only when all folders are.
#[derive(Debug, Default)]
pub struct Tree {
    /// By root and folder; a folder may have several.
    portions: Vec<Portion>,
    /// Root and folder of everything that was walked.
    folders: BTreeSet<(usize, String)>,
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
    pub(crate) fn walk(roots: &Roots, progress: &(dyn Fn(usize) + Sync)) -> Tree {
        let tree = Mutex::new(Tree::default());
        let count = AtomicUsize::new(0);
        for (root, at) in roots.roots.iter().enumerate() {
            // A root inside another is its own.
            let roots: Vec<String> = roots.roots.iter().map(|root| root.path.clone()).collect();
            let is_root = move |entry: &DirEntry| {
                roots.len() > 1 && roots.iter().any(|root| entry.path() == Path::new(root))
            };
            let walk = WalkBuilder::new(&at.path)
                .hidden(false)
                .ignore(false)
                .filter_entry(move |entry| {
                    entry.depth() == 0 || entry.file_name() != ".git" && !is_root(entry)
                })
                .build_parallel();
            let hand = Hand { root, skip: at.path.len(), tree: &tree, count: &count, progress };
            walk.visit(&mut { hand });
        }
        let mut tree = tree.into_inner().unwrap_or_default();
        tree.portions.sort_by(|a, b| (a.root, &a.folder).cmp(&(b.root, &b.folder)));
        tree
    }

    /// How many files there are.
    pub fn files(&self) -> usize {
        self.portions.iter().map(|portion| portion.count).sum()
    }

    /// Root and path of every folder.
    pub fn folders(&self) -> Vec<(usize, &str)> {
        self.folders.iter().map(|(root, folder)| (*root, folder.as_str())).collect()
    }

    /// The files whose path has all the words in it, whatever their case: those that begin with the first word, then
    /// those whose name does, then the others; shorter paths first. Absolute where there are several roots.
    pub fn find(&self, words: &str, roots: &Roots, limit: usize) -> Vec<String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let first = words.first().map_or("", String::as_str);
        let parts = self.fold(Vec::new, |found: &mut Vec<(u8, usize, String)>, files| {
            for Seen { path, root, .. } in files {
                let lower = path.to_lowercase();
                if !words.iter().all(|word| lower.contains(word.as_str())) {
                    continue;
                }
                let name = lower.rsplit('/').next().unwrap_or_default();
                let class = if lower.starts_with(first) { 0 } else { 1 + u8::from(!name.starts_with(first)) };
                let path =
                    if roots.roots.len() > 1 { format!("{}/{path}", roots.roots[root].path) } else { path };
                found.push((class, path.len(), path));
            }
            found.sort();
            found.truncate(limit);
        });
        let mut found: Vec<_> = parts.into_iter().flatten().collect();
        found.sort();
        found.truncate(limit);
        found.into_iter().map(|(.., path)| path).collect()
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

/// What every thread is given.
struct Hand<'w> {
    root: usize,
    /// The length of the root's path.
    skip: usize,
    tree: &'w Mutex<Tree>,
    count: &'w AtomicUsize,
    progress: &'w (dyn Fn(usize) + Sync),
}

impl<'w> ParallelVisitorBuilder<'w> for Hand<'w> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'w> {
        let Hand { root, skip, tree, count, progress } = *self;
        Box::new(Visitor { hand: Hand { root, skip, tree, count, progress }, found: Tree::default() })
    }
}

/// One thread's walk through one root.
struct Visitor<'w> {
    hand: Hand<'w>,
    found: Tree,
}

impl ParallelVisitor for Visitor<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        // What cannot be read has no files to tell of.
        let Ok(entry) = entry else { return WalkState::Continue };
        let path = entry.path().to_string_lossy();
        let path = path.get(self.hand.skip..).unwrap_or_default().trim_start_matches(['/', '\\']);
        match entry.file_type() {
            Some(kind) if kind.is_file() && path.contains('\\') => self.add(&path.replace('\\', "/")),
            Some(kind) if kind.is_file() => self.add(path),
            Some(kind) if kind.is_dir() => {
                self.found.folders.insert((self.hand.root, path.replace('\\', "/")));
            }
            _ => {}
        }
        WalkState::Continue
    }
}

impl Visitor<'_> {
    fn add(&mut self, path: &str) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_here = |portion: &&mut Portion| portion.folder == folder && portion.count < BATCH;
        match self.found.portions.last_mut().filter(is_here) {
            Some(portion) => portion.push(name),
            None => {
                let mut portion =
                    Portion { root: self.hand.root, folder: folder.to_owned(), ..Portion::default() };
                portion.push(name);
                self.found.portions.push(portion);
            }
        }
        let count = self.hand.count.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(BATCH) {
            (self.hand.progress)(count);
        }
    }
}

impl Portion {
    fn push(&mut self, name: &str) {
        self.names.push_str(name);
        self.names.push(END);
        self.count += 1;
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        if let Ok(mut tree) = self.hand.tree.lock() {
            tree.portions.append(&mut self.found.portions);
            tree.folders.append(&mut self.found.folders);
        }
    }
}

#[cfg(test)]
mod tests {
    use rulebook::evidence::Root;

    use super::*;

    #[test]
    fn files_are_found_by_words_the_nearest_first() {
        let folder = tempfile::tempdir().unwrap();
        for path in
            ["apps/web/Button.tsx", "apps/web/form/Button.test.tsx", "button/a.ts", "docs/about-buttons.md"]
        {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let path = folder.path().to_string_lossy().into_owned();
        let roots = Roots { roots: vec![Root { name: "r".into(), path, also: None }], home: None };
        let tree = Tree::walk(&roots, &|_| ());
        #[track_caller]
        fn check(tree: &Tree, roots: &Roots, words: &str, found: &[&str]) {
            assert_eq!(tree.find(words, roots, 3), found, "{words}");
        }
        check(
            &tree,
            &roots,
            "button",
            &["button/a.ts", "apps/web/Button.tsx", "apps/web/form/Button.test.tsx"],
        );
        check(&tree, &roots, "test apps", &["apps/web/form/Button.test.tsx"]);
        check(&tree, &roots, "nowhere", &[]);
    }
}
