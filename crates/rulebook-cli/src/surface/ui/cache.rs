//! What the disk says, kept for a moment: a page and the requests it makes see the same, and typing reads no files.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rulebook::coverage::{Listing, Report};
use rulebook::diagnostic::Diagnostic;
use rulebook::rule::Rule;
use rulebook_workspace::{Loaded, Reach, Tree, Wanted, Workspace};

use super::super::check;
use super::super::status::{self, Row};
use crate::args::Args;
use crate::input::open_workspace;

/// The rules of the tree.
pub(super) struct CachedRules {
    pub(super) workspace: Workspace,
    pub(super) loaded: Loaded,
    pub(super) rows: Vec<Row>,
}

/// The tree, and what the rules are to it.
pub(super) struct CachedTree {
    pub(super) tree: Tree,
    pub(super) report: Report,
}

impl CachedRules {
    /// The rule of a file, as shown.
    pub(super) fn rule(&self, source: &str) -> Option<&Rule> {
        self.loaded.book.rules().map(|(rule, _)| rule).find(|rule| rule.origin.display == source)
    }

    /// Whether the user's own switch decides: the rule is on, or the user turned it off.
    pub(super) fn is_switchable(&self, row: &Row) -> bool {
        let mut rules = self.loaded.book.rules();
        let found = rules.find(|(rule, _)| rule.origin.display == row.source);
        found.and_then(|(_, off)| off).is_none_or(|off| off.by == "toggle")
    }

    pub(super) fn row(&self, source: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.source == source)
    }

    /// Whether a session of that folder is one of this workspace.
    pub(super) fn is_here(&self, root: &str) -> bool {
        self.workspace.roots.roots.iter().any(|own| own.path == root)
    }

    /// A path that is shown with its root's name, where there are several, so that it can be asked about.
    pub(super) fn full(&self, shown: &str) -> String {
        let roots = &self.workspace.roots.roots;
        let (first, rest) = shown.split_once('/').unwrap_or((shown, ""));
        match roots.iter().find(|root| roots.len() > 1 && root.name == first) {
            Some(root) => format!("{}/{rest}", root.path).trim_end_matches('/').to_owned(),
            None => shown.to_owned(),
        }
    }

    /// The workspace's name, for people.
    pub(super) fn name(&self) -> String {
        let roots = &self.workspace.roots.roots;
        roots
            .iter()
            .map(|root| self.workspace.homes.shown(Path::new(&root.path)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Caches at the disk, each kept until it is old.
pub(super) struct Caches<'a> {
    args: &'a Args,
    rules: Kept<CachedRules>,
    tree: Kept<CachedTree>,
    diagnostics: Kept<Vec<Diagnostic>>,
}

impl<'a> Caches<'a> {
    pub(super) fn new(args: &'a Args) -> Caches<'a> {
        Caches { args, rules: Kept::default(), tree: Kept::default(), diagnostics: Kept::default() }
    }

    pub(super) fn rules(&self) -> anyhow::Result<Arc<CachedRules>> {
        self.rules.look(|| {
            let workspace = open_workspace(self.args)?;
            let loaded = workspace.load(Reach::Tree);
            let rows = status::rows(&workspace, &loaded);
            Ok(CachedRules { workspace, loaded, rows })
        })
    }

    pub(super) fn tree(&self) -> anyhow::Result<Arc<CachedTree>> {
        self.tree.look(|| {
            let workspace = open_workspace(self.args)?;
            // As `coverage` asks: rules in a folder that git ignores are for files that do not count.
            let tree = workspace.tree(Wanted::Files, &|_| ());
            let loaded = workspace.load(Reach::Walked(&tree));
            let report = workspace.coverage(&loaded.book, &tree, Listing::Sample);
            Ok(CachedTree { report, tree })
        })
    }

    /// What is wrong with the rules, as `check` has it.
    pub(super) fn diagnostics(&self) -> anyhow::Result<Arc<Vec<Diagnostic>>> {
        self.diagnostics.look(|| {
            let workspace = open_workspace(self.args)?;
            let tree = workspace.tree(Wanted::All, &|_| ());
            Ok(check::load(&workspace, &tree).diagnostics)
        })
    }

    /// Caches anew the next time.
    pub(super) fn forget(&self) {
        self.rules.forget();
        self.tree.forget();
        self.diagnostics.forget();
    }
}

/// The last look, with when it was and how long it took.
struct Kept<T>(Mutex<Option<(Instant, Duration, Arc<T>)>>);

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept(Mutex::new(None))
    }
}

impl<T> Kept<T> {
    /// How long a look is good for, at least.
    const FRESH: Duration = Duration::from_secs(1);

    /// In a large tree a look takes time: it gets at most one part in this many.
    const SHARE: u32 = 20;

    /// The last look, or a new one. Whoever asks meanwhile waits for it instead of looking too.
    fn look(&self, make: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Arc<T>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, took, look)) = &*kept
            && at.elapsed() < Self::FRESH.max(took.saturating_mul(Self::SHARE))
        {
            return Ok(Arc::clone(look));
        }
        // Two looks at once are not needed in memory.
        *kept = None;
        let started = Instant::now();
        let look = Arc::new(make()?);
        *kept = Some((Instant::now(), started.elapsed(), Arc::clone(&look)));
        Ok(look)
    }

    fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
