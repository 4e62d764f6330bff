//! The files that git ignores: by the patterns of a folder, of its ancestors in the repository, and of the person.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::git;
use crate::storage::{FileKind, Storage};

/// The most bytes of patterns that are read, of one file and of all.
const MAX_PATTERNS: usize = 1 << 20;

/// How many bytes of patterns one walk may read: each costs time to compile and to match.
#[derive(Debug)]
pub(super) struct PatternBudget {
    left: AtomicUsize,
    is_spent: AtomicBool,
    /// Whether folders below the top of a repository count.
    has_nested: bool,
}

impl PatternBudget {
    pub(super) fn new() -> PatternBudget {
        PatternBudget { left: MAX_PATTERNS.into(), is_spent: false.into(), has_nested: true }
    }

    /// For the second walk of a tree whose patterns are too many: whatever the order of folders, the same files are found.
    pub(super) fn of_top() -> PatternBudget {
        PatternBudget { has_nested: false, ..PatternBudget::new() }
    }

    /// Whether there were too many patterns.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) -> bool {
        let take = |left: usize| left.checked_sub(bytes);
        let is_taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        self.is_spent.fetch_or(!is_taken, Ordering::Relaxed);
        is_taken
    }
}

/// The patterns that apply in a folder of a repository.
#[derive(Debug)]
pub(super) struct Ignored {
    own: Gitignore,
    /// Of its parent; `None` at the top of the repository.
    above: Option<Arc<Ignored>>,
    /// `info/exclude` of the repository, then the person's own.
    last: Arc<[Gitignore]>,
}

/// Which of git's files a folder has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// It is the top of a repository.
    pub(super) top: bool,
    /// It has a `.gitignore`.
    pub(super) patterns: bool,
}

impl Marks {
    fn of(files: &Storage, folder: &Path) -> Marks {
        let patterns = files.own_kind(&folder.join(".gitignore")).is_some_and(FileKind::is_file);
        let top = files.exists(&folder.join(".git")) || files.is_folder(&folder.join(".jj"));
        Marks { top, patterns }
    }
}

impl Ignored {
    /// The patterns that apply around a root, which may be deep in a repository.
    pub(super) fn around(files: &Storage, root: &Path, budget: &PatternBudget) -> Option<Arc<Ignored>> {
        let above: Vec<(&Path, Marks)> =
            root.ancestors().skip(1).map(|at| (at, Marks::of(files, at))).collect();
        let top = above.iter().position(|(_, marks)| marks.top)?;
        above[..=top]
            .iter()
            .rev()
            .fold(None, |around, (folder, marks)| Ignored::within(files, around, folder, *marks, budget))
    }

    /// The patterns that apply in a folder, given those of its parent.
    pub(super) fn within(
        files: &Storage,
        around: Option<Arc<Ignored>>,
        folder: &Path,
        marks: Marks,
        budget: &PatternBudget,
    ) -> Option<Arc<Ignored>> {
        let own = match marks.patterns && (marks.top || budget.has_nested) {
            true => patterns(files, folder, &folder.join(".gitignore"), budget),
            false => Gitignore::empty(),
        };
        if marks.top {
            let exclude = git::common_dir(files, folder)
                .map(|git| patterns(files, folder, &git.join("info/exclude"), budget));
            let persons = files.are_on_disk().then(|| GitignoreBuilder::new(folder).build_global().0);
            let last = exclude.into_iter().chain(persons).collect();
            return Some(Arc::new(Ignored { own, above: None, last }));
        }
        let around = around?;
        if own.is_empty() {
            return Some(around);
        }
        let last = Arc::clone(&around.last);
        Some(Arc::new(Ignored { own, above: Some(around), last }))
    }

    /// Whether there is any pattern.
    pub(super) fn is_empty(&self) -> bool {
        self.patterns().all(Gitignore::is_empty)
    }

    /// Whether git ignores an entry of the folder; the nearest pattern that matches decides.
    pub(super) fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        let mut matches = self.patterns().map(|patterns| patterns.matched(path, is_folder));
        matches.find(|found| !found.is_none()).is_some_and(|found| found.is_ignore())
    }

    fn patterns(&self) -> impl Iterator<Item = &Gitignore> {
        let chain = std::iter::successors(Some(self), |one| one.above.as_deref()).map(|one| &one.own);
        chain.chain(self.last.iter())
    }
}

/// The patterns of a file that can be read.
fn patterns(files: &Storage, folder: &Path, file: &Path, budget: &PatternBudget) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    let bytes = files.bytes(file, MAX_PATTERNS).ok().flatten();
    if !budget.take(bytes.as_ref().map_or(0, Vec::len)) {
        return Gitignore::empty();
    }
    let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
    for line in text.trim_start_matches('\u{feff}').lines() {
        // An invalid pattern does not affect the others.
        let _ = builder.add_line(Some(file.to_owned()), line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
