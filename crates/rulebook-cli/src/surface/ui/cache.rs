//! Caches of what is on disk, so that a page and its requests see the same, and typing in a field reads no files.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rulebook::agent::{AGENTS, Agent, Purpose};
use rulebook::coverage::{CoverageReport, Listing};
use rulebook::diagnostic::Diagnostic;
use rulebook::evidence::Input;
use rulebook::matrix::CellState;
use rulebook::resolve::{OffBy, Rulebook};
use rulebook::rule::Rule;
use rulebook_workspace::{AgentSearch, Reach, Tree, Views, Wanted, Workspace};

use super::super::grid::GridTarget;
use super::super::problems::{Problem, problems};
use super::super::rows::{self, Row};
use super::http::Query;
use super::matrix::CachedMatrix;
use crate::args::Args;
use crate::input::open_workspace;
use crate::lock::lock;
use crate::pace::Pace;

/// The workspace with the rules of the whole tree.
pub(super) struct CachedRules {
    pub(super) workspace: Workspace,
    /// The rules as meant, with the diagnostics of `check`, and as each agent reads them.
    pub(super) views: Views,
    pub(super) rows: Vec<Row>,
    /// The most important first.
    pub(super) problems: Vec<Problem>,
    pub(super) matrix: CachedMatrix,
}

/// The tree's files and the coverage report.
pub(super) struct CachedTree {
    pub(super) tree: Tree,
    pub(super) report: CoverageReport,
}

impl CachedRules {
    /// Finds a rule by its displayed path: as meant, or as an agent reads it that reads it alone.
    pub(super) fn rule(&self, source: &str) -> Option<&Rule> {
        let books = self.views.agents.iter().map(|view| &view.native.book);
        let mut rules = [&self.views.meant.book].into_iter().chain(books).flat_map(Rulebook::rules);
        rules.find(|(rule, _)| rule.origin.display == source).map(|(rule, _)| rule)
    }

    /// Returns the problems of one agent: those that name it, and those of the files that it reads.
    pub(super) fn problems_of(&self, agent: &'static Agent) -> Vec<Problem> {
        let evidence = self.workspace.evidence_for(&self.views.meant.book, &Input::default());
        let matrix = self.views.matrix(&evidence);
        let column = matrix.columns.iter().find(|column| column.agent.name == agent.name);
        let cells = column.iter().flat_map(|column| matrix.rows.iter().zip(&column.cells));
        let read = cells.filter(|(_, cell)| cell.state != CellState::Unread);
        let read: HashSet<&str> = read.map(|(row, _)| row.origin.display.as_str()).collect();
        let names_other = |text: &str| {
            let named = AGENTS.iter().filter(|other| text.starts_with(other.title));
            named.max_by_key(|other| other.title.len()).map(|named| named.name != agent.name)
        };
        let is_its = |found: &&Diagnostic| {
            names_other(&found.message).map_or(read.contains(found.path.as_str()), |is_other| !is_other)
        };
        let own: Vec<Diagnostic> = self.views.meant.diagnostics.iter().filter(is_its).cloned().collect();
        let mut problems = problems(&matrix, &own);
        problems.retain(|problem| names_other(&problem.effect) != Some(true));
        problems
    }

    /// Whether the user's own switch decides: the rule is on, or the user turned it off.
    pub(super) fn is_switchable(&self, row: &Row) -> bool {
        let mut rules = self.views.meant.book.rules();
        let found = rules.find(|(rule, _)| rule.origin.display == row.source);
        found.and_then(|(_, off)| off).is_none_or(|off| off.by == OffBy::Toggle)
    }

    pub(super) fn row(&self, source: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.source == source)
    }

    /// Whether a session's folder is a root of this workspace.
    pub(super) fn is_here(&self, root: &str) -> bool {
        self.workspace.roots.roots.iter().any(|own| own.path == root)
    }

    /// Converts a displayed path, which starts with its root's name if there are several roots, into an absolute one.
    pub(super) fn full(&self, shown: &str) -> String {
        let roots = &self.workspace.roots.roots;
        let (first, rest) = shown.split_once('/').unwrap_or((shown, ""));
        match roots.iter().find(|root| roots.len() > 1 && root.name == first) {
            Some(root) => format!("{}/{rest}", root.path).trim_end_matches('/').to_owned(),
            None => shown.to_owned(),
        }
    }

    /// Returns the workspace's roots for display.
    pub(super) fn name(&self) -> String {
        let roots = &self.workspace.roots.roots;
        roots
            .iter()
            .map(|root| self.workspace.homes.shown(Path::new(&root.path)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// All caches of the page.
pub(super) struct Caches<'a> {
    args: &'a Args,
    /// Agents that an address named and that are not used here.
    others: Mutex<BTreeSet<&'static str>>,
    rules: Cache<CachedRules>,
    tree: Cache<CachedTree>,
    /// What one agent reads by itself: its name and the report.
    agent: Cache<(&'static str, CoverageReport)>,
}

impl<'a> Caches<'a> {
    pub(super) fn new(args: &'a Args) -> Caches<'a> {
        Caches {
            args,
            others: Mutex::default(),
            rules: Cache::default(),
            tree: Cache::default(),
            agent: Cache::default(),
        }
    }

    /// Returns the rules, with a column for the agent that the address names.
    pub(super) fn rules_for(&self, query: &Query) -> anyhow::Result<Arc<CachedRules>> {
        let rules = self.rules()?;
        let named = Agent::find(query.get("for"), Purpose::View).ok();
        match named.map(|named| named.agent) {
            Some(agent) if rules.matrix.column(agent.name).is_none() => {
                lock(&self.others).insert(agent.name);
                *lock(&self.rules.0) = None;
                self.rules()
            }
            _ => Ok(rules),
        }
    }

    pub(super) fn rules(&self) -> anyhow::Result<Arc<CachedRules>> {
        self.rules.get(|| {
            let workspace = open_workspace(self.args)?;
            let tree = workspace.tree(Wanted::All, &|_| ());
            let sources = workspace.sources(Reach::Walked(&tree));
            let search = AgentSearch::WorkspaceAndHome;
            let agents = workspace.agents_used(search);
            let others: Vec<&str> = lock(&self.others).iter().copied().collect();
            let others = others.into_iter().filter_map(Agent::named);
            let others: Vec<_> = others
                .filter(|agent| agents.iter().all(|used| used.agent.name != agent.name))
                .map(|agent| workspace.agent(agent, search))
                .collect();
            // The problems are those of `status`: of the agents used here.
            let mut views = sources.views_with(sources.checked(&tree), agents);
            let rows = rows::rows(&workspace, &views.meant);
            let evidence = workspace.evidence_for(&views.meant.book, &Input::default());
            let problems = problems(&views.matrix(&evidence), &views.meant.diagnostics);
            views.agents.extend(others.into_iter().map(|used| sources.view(used)));
            let matrix = CachedMatrix::new(&views, &views.matrix(&evidence), GridTarget::Start);
            Ok(CachedRules { workspace, views, rows, problems, matrix })
        })
    }

    pub(super) fn tree(&self) -> anyhow::Result<Arc<CachedTree>> {
        self.tree.get(|| {
            let workspace = open_workspace(self.args)?;
            // As in `coverage`: rules in folders that git ignores do not count.
            let tree = workspace.tree(Wanted::Files, &|_| ());
            let loaded = workspace.load(Reach::Walked(&tree));
            let report = workspace.coverage(&loaded.book, &tree, Listing::Sample);
            Ok(CachedTree { report, tree })
        })
    }

    /// Returns the coverage for an agent, as `coverage --for` does.
    pub(super) fn coverage_of(
        &self,
        agent: &'static str,
    ) -> anyhow::Result<Arc<(&'static str, CoverageReport)>> {
        let (rules, tree) = (self.rules()?, self.tree()?);
        let make = || {
            let view = rules.views.agents.iter().find(|view| view.used.agent.name == agent);
            let (workspace, meant) = (&rules.workspace, &rules.views.meant.book);
            let report = view.map_or_else(
                || workspace.coverage(meant, &tree.tree, Listing::Sample),
                |view| workspace.coverage_for(view, meant, &tree.tree, Listing::Sample).report,
            );
            Ok((agent, report))
        };
        let cached = self.agent.get(make)?;
        if cached.0 == agent {
            return Ok(cached);
        }
        *lock(&self.agent.0) = None;
        self.agent.get(make)
    }

    /// Drops everything, so that the next request reads the disk.
    pub(super) fn clear(&self) {
        *lock(&self.rules.0) = None;
        *lock(&self.tree.0) = None;
        *lock(&self.agent.0) = None;
    }
}

/// A value, and until when it is fresh.
struct Cache<T>(Mutex<Option<(Instant, Arc<T>)>>);

impl<T> Default for Cache<T> {
    fn default() -> Cache<T> {
        Cache(Mutex::new(None))
    }
}

impl<T> Cache<T> {
    const PACE: Pace = Pace { shortest: Duration::from_secs(1), parts: 20 };

    /// Returns the value, made again if it is stale. Concurrent callers wait instead of making it too.
    fn get(&self, make: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Arc<T>> {
        let mut cached = lock(&self.0);
        if let Some((fresh_until, value)) = &*cached
            && Instant::now() < *fresh_until
        {
            return Ok(Arc::clone(value));
        }
        // Frees the old value first: both could be large.
        *cached = None;
        let started = Instant::now();
        let value = Arc::new(make()?);
        *cached = Some((Instant::now() + Self::PACE.pause(started.elapsed()), Arc::clone(&value)));
        Ok(value)
    }
}
