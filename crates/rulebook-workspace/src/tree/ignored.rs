//! What git ignores: the patterns of a folder, of those above it up to its repository, and of the person.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::{bounded, git};

/// The longest file of patterns that is read.
const MAX_PATTERNS: usize = 1 << 20;

/// The patterns that hold in a folder of a repository.
#[derive(Debug)]
pub(super) struct Ignored {
    own: Gitignore,
    /// Up to the repository's top, which has none above.
    above: Option<Arc<Ignored>>,
    /// `info/exclude` of the repository, then the person's own.
    last: Arc<[Gitignore]>,
}

/// What a folder has of git.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// It is a repository's top.
    pub(super) top: bool,
    /// It has a `.gitignore`.
    pub(super) patterns: bool,
}

impl Marks {
    fn of(folder: &Path) -> Marks {
        let patterns = fs::symlink_metadata(folder.join(".gitignore")).is_ok_and(|found| found.is_file());
        Marks { top: folder.join(".git").exists() || folder.join(".jj").is_dir(), patterns }
    }
}

impl Ignored {
    /// What holds around a root, which may lie deep in a repository.
    pub(super) fn around(root: &Path) -> Option<Arc<Ignored>> {
        let above: Vec<(&Path, Marks)> = root.ancestors().skip(1).map(|at| (at, Marks::of(at))).collect();
        let top = above.iter().position(|(_, marks)| marks.top)?;
        above[..=top]
            .iter()
            .rev()
            .fold(None, |around, (folder, marks)| Ignored::within(around, folder, *marks))
    }

    /// What holds in a folder, given what holds around it.
    pub(super) fn within(around: Option<Arc<Ignored>>, folder: &Path, marks: Marks) -> Option<Arc<Ignored>> {
        let own = match marks.patterns {
            true => patterns(folder, &folder.join(".gitignore")),
            false => Gitignore::empty(),
        };
        if marks.top {
            let exclude = git::common_dir(folder).map(|git| patterns(folder, &git.join("info/exclude")));
            let persons = GitignoreBuilder::new(folder).build_global().0;
            let last = exclude.into_iter().chain([persons]).collect();
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

    /// Whether git ignores what lies right in the folder; the nearest pattern that speaks of it decides.
    pub(super) fn holds(&self, path: &Path, is_folder: bool) -> bool {
        let mut said = self.patterns().map(|patterns| patterns.matched(path, is_folder));
        said.find(|said| !said.is_none()).is_some_and(|said| said.is_ignore())
    }

    fn patterns(&self) -> impl Iterator<Item = &Gitignore> {
        let chain = std::iter::successors(Some(self), |one| one.above.as_deref()).map(|one| &one.own);
        chain.chain(self.last.iter())
    }
}

/// As many of a file's patterns as can be read.
fn patterns(folder: &Path, file: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    let bytes = bounded::read(file, MAX_PATTERNS).ok().flatten().filter(|bytes| bytes.len() <= MAX_PATTERNS);
    let text = String::from_utf8_lossy(bytes.as_deref().unwrap_or_default());
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A pattern that cannot be read is left out, and the others hold.
        let _ = builder.add_line(Some(file.to_owned()), line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
