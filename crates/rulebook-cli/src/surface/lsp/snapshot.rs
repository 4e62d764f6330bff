//! What is known about the workspace at one moment: everything that `check` and `status` know, with unsaved texts.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use rulebook::agent::{AGENTS, Agent};
use rulebook::diagnostic::Diagnostic;
use rulebook::evidence::{Evidence, Input, PathLocation, Seen};
use rulebook::fix::Readers;
use rulebook::format::FORMATS;
use rulebook::matrix::{AgentColumn, CellState};
use rulebook::rule::Rule;
use rulebook::source::Origin;
use rulebook::stream::Monitor;
use rulebook::syntax::Syntax;
use rulebook_workspace::{AgentSearch, Overlay, Readings, Rechecked, Tree, Views, Wanted, Workspace};

use serde::Serialize;
use serde_json::Value;

use super::document::Document;
use super::matcher::Matcher;
use super::uris::Uris;
use crate::args::Args;
use crate::input::open_over;
use crate::lock::lock;
use crate::surface::stream;

/// The files of the workspace. Walking takes long in a large tree, so they are kept until files appear or vanish.
pub(super) struct Files {
    pub(super) tree: Tree,
    /// Every file, sorted.
    pub(super) evidence: Arc<Evidence>,
    pub(super) matcher: Matcher,
    /// Some of them, to compare the views of agents on.
    pub(super) sample: Vec<Seen>,
}

impl Files {
    fn walk(workspace: &Workspace) -> Files {
        /// As many as `check --fix` compares.
        const MAX_SAMPLE: usize = 2_000;
        let tree = workspace.tree(Wanted::All, &|_| ());
        let paths = tree.paths();
        let sample = tree.sample(MAX_SAMPLE);
        let evidence = Arc::new(Evidence { paths, ..Evidence::default() });
        let matcher = Matcher::start(Arc::clone(&evidence), workspace.roots.roots.len());
        Files { tree, evidence, matcher, sample }
    }
}

/// The state of a workspace, with the texts of open documents.
pub(super) struct Snapshot {
    pub(super) workspace: Workspace,
    /// The rules as meant, with the diagnostics of `check`, and as each agent reads them.
    pub(super) views: Views,
    pub(super) files: Arc<Files>,
    pub(super) uris: Uris,
    /// The texts of the documents that were open.
    pub(super) overlay: Overlay,
    /// How long the check took.
    pub(super) took: Duration,
    /// What the view of the extension shows, if it is open.
    pub(super) view: Option<Value>,
    readers: HashMap<PathBuf, Readers>,
    /// The open documents that no rule depends on.
    unused: HashSet<PathBuf>,
    here: Mutex<HashMap<PathBuf, Arc<Vec<AgentHere>>>>,
    monitor: OnceLock<Mutex<Monitor>>,
    /// Who parses code for syntax triggers.
    pub(super) parser: Option<Arc<dyn Syntax>>,
    /// The positions of rules, by path.
    rules: HashMap<String, Vec<usize>>,
    /// The files that are parts of rules, which import them, by path: the importing files as people see them.
    inlined: BTreeMap<String, Vec<String>>,
    /// The paths of rule files, by the names that people see.
    shown: HashMap<String, String>,
}

/// What a check starts from.
pub(super) struct Job {
    pub(super) roots: Vec<PathBuf>,
    pub(super) overlay: Overlay,
    /// The paths and addresses of the open documents, as the editor names them.
    pub(super) open: Vec<(PathBuf, String)>,
    /// Whether files may have appeared or vanished.
    pub(super) walk: bool,
    /// Whether the view of the extension is needed.
    pub(super) view: bool,
}

/// What one agent has for a file.
pub(super) struct AgentHere {
    pub(super) agent: &'static Agent,
    pub(super) tokens: usize,
    /// The rules that it has in context, offered or watching, in its order.
    pub(super) rules: Vec<RuleHere>,
}

/// A rule for a file.
#[derive(Clone, Serialize)]
pub(super) struct RuleHere {
    pub(super) id: String,
    pub(super) key: String,
    pub(super) source: String,
    pub(super) uri: String,
    pub(super) state: CellState,
    pub(super) because: String,
}

impl Snapshot {
    /// Checks the workspace. `files` are those of the last walk.
    pub(super) fn take(
        args: &Args,
        job: &Job,
        readings: &Readings,
        files: Option<Arc<Files>>,
    ) -> anyhow::Result<Snapshot> {
        let started = Instant::now();
        let workspace = open_over(args, &job.roots, job.overlay.clone())?;
        let files = files.filter(|_| !job.walk).unwrap_or_else(|| Arc::new(Files::walk(&workspace)));
        let open: Vec<String> = job.open.iter().map(|(path, _)| display(&workspace, path)).collect();
        let edited: HashSet<&str> = open.iter().map(String::as_str).collect();
        let agents = workspace.agents_used(AgentSearch::WorkspaceAndHome);
        let Rechecked { views, readers, unused, .. } =
            workspace.recheck(&files.tree, readings, agents, &edited);
        let mut rules: HashMap<String, Vec<usize>> = HashMap::new();
        let mut inlined: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (at, (rule, _)) in views.meant.book.rules().enumerate() {
            rules.entry(rule.origin.path.clone()).or_default().push(at);
            for import in &rule.inlined {
                inlined.entry(import.path.clone()).or_default().push(rule.origin.display.clone());
            }
        }
        let rejected = views.meant.book.rejected().iter().map(|rejected| &rejected.origin);
        let origins = views.meant.book.rules().map(|(rule, _)| &rule.origin).chain(rejected);
        let files_only = origins.filter(|origin| Path::new(&origin.path).is_absolute());
        let shown = files_only.map(|origin| (origin.display.clone(), origin.path.clone())).collect();
        let overlay = job.overlay.clone();
        let parser = workspace.watching_parser(&views.meant.book);
        let uris = job.open.iter().map(|(path, uri)| (named(&workspace, path), uri.clone()));
        let uris = Uris::new(&workspace, uris);
        let (here, monitor) = (Mutex::default(), OnceLock::new());
        Ok(Snapshot {
            shown,
            inlined,
            uris,
            view: None,
            here,
            monitor,
            parser,
            workspace,
            views,
            files,
            overlay,
            readers,
            unused,
            rules,
            took: started.elapsed(),
        })
    }

    /// A file by the name that rules have: below the canonical path of its root, or as given.
    pub(super) fn named(&self, path: &Path) -> String {
        named(&self.workspace, path)
    }

    /// The rules of a file, each with its position in the book.
    pub(super) fn rules_of(&self, path: &Path) -> Vec<(usize, &Rule)> {
        let positions = self.rules.get(&self.named(path)).map_or(&[][..], Vec::as_slice);
        positions.iter().filter_map(|at| Some((*at, self.views.meant.book.rules().nth(*at)?.0))).collect()
    }

    /// The files, as people see them, of the rules that a file is a part of because they import it; `None` if there are none.
    pub(super) fn importers(&self, path: &Path) -> Option<&[String]> {
        self.inlined.get(&self.named(path)).map(Vec::as_slice)
    }

    /// Whether the text of a file is the text of a rule, or a part of one.
    pub(super) fn has_rule_text(&self, path: &Path) -> bool {
        self.origin(path).is_some() || self.importers(path).is_some()
    }

    /// Whether a file was found as a rule file.
    pub(super) fn is_found(&self, path: &Path) -> bool {
        let name = self.named(path);
        self.rules.contains_key(&name)
            || self.views.meant.book.rejected().iter().any(|rejected| rejected.origin.path == name)
    }

    /// How a file is read as meant, if it is a rule file: one that was found, or would be once it is saved.
    pub(super) fn origin(&self, path: &Path) -> Option<Origin> {
        if let Some((_, rule)) = self.rules_of(path).first() {
            return Some(rule.origin.clone());
        }
        let name = self.named(path);
        let rejected = self.views.meant.book.rejected().iter();
        let mut rejected = rejected.filter(|rejected| rejected.origin.path == name);
        rejected.next().map(|found| found.origin.clone()).or_else(|| {
            let rules = &self.workspace.settings.rules;
            let formats = FORMATS.iter().filter(|format| rules.reads(format.id));
            self.origin_at(path, Origin::at(formats, self.located(path)?.1.as_str())?)
        })
    }

    /// Everyone who reads a file.
    pub(super) fn readers(&self, path: &Path, real: &Path) -> Option<Readers> {
        if let Some(readers) = self.readers.get(real) {
            return Some(readers.clone());
        }
        let (_, inside) = self.located(path)?;
        let agents = AGENTS
            .iter()
            .filter_map(|agent| Some((agent, self.origin_at(path, Origin::at(agent.formats, &inside)?)?)));
        Some(Readers { meant: vec![self.origin(path)?], agents: agents.collect() })
    }

    fn origin_at(&self, path: &Path, mut origin: Origin) -> Option<Origin> {
        origin.root = self.located(path)?.0;
        origin.path = self.named(path);
        origin.display = self.display(path);
        Some(origin)
    }

    /// Whether a change of an open document changes only what is shown in it: no rule or setting depends on it.
    pub(super) fn is_independent(&self, document: &Document) -> bool {
        let is_setting = document.real.file_name().is_some_and(|name| name == "rulebook.toml");
        // Conditions on contents are about any file.
        let needs = self.views.meant.book.needs();
        self.unused.contains(&document.real) && !is_setting && !needs.content && !needs.syntax
    }

    /// The root of a file, and its path there.
    pub(super) fn located(&self, path: &Path) -> Option<(usize, String)> {
        located(&self.workspace, path)
    }

    /// A file as people see it.
    pub(super) fn display(&self, path: &Path) -> String {
        display(&self.workspace, path)
    }

    /// A file of the tree as people see it.
    pub(super) fn shown_file(&self, seen: &Seen) -> String {
        match self.workspace.roots.roots.as_slice() {
            [_] => seen.path.clone(),
            roots => format!("{}/{}", roots[seen.root].name, seen.path),
        }
    }

    /// The path of a rule file, by the name that people see.
    pub(super) fn rule_file(&self, display: &str) -> Option<&String> {
        self.shown.get(display)
    }

    /// The path of a file that is shown to people, as diagnostics name it; a folder if there is no file.
    pub(super) fn shown(&self, display: &str) -> String {
        self.existing(display).unwrap_or_else(|| self.first_root().to_owned())
    }

    fn first_root(&self) -> &str {
        self.workspace.roots.roots.first().map_or("/", |root| root.path.as_str())
    }

    /// The path of a file or folder that is shown to people, as diagnostics name it, if it exists.
    pub(super) fn existing(&self, display: &str) -> Option<String> {
        if let Some(path) = self.shown.get(display) {
            return Some(path.clone());
        }
        let (roots, first) = (&self.workspace.roots.roots, self.first_root());
        let path = match display.split_once('/') {
            Some(("~", rest)) => match &self.workspace.roots.home {
                Some(home) => format!("{home}/{rest}"),
                None => first.to_owned(),
            },
            _ if Path::new(display).is_absolute() => display.to_owned(),
            Some((name, rest)) if roots.len() > 1 => match roots.iter().find(|root| root.name == name) {
                Some(root) => format!("{}/{rest}", root.path),
                None => format!("{first}/{display}"),
            },
            _ => format!("{first}/{display}"),
        };
        // A link that leads nowhere is a file, too.
        let is_there = Path::new(&path).symlink_metadata().is_ok();
        (is_there || self.overlay.text(Path::new(&path)).is_some()).then_some(path)
    }

    /// The diagnostics of every file, by path.
    pub(super) fn diagnostics(&self) -> HashMap<String, Vec<&Diagnostic>> {
        let mut paths: HashMap<&str, String> = HashMap::new();
        let mut all: HashMap<String, Vec<&Diagnostic>> = HashMap::new();
        for found in &self.views.meant.diagnostics {
            let path = paths.entry(&found.path).or_insert_with(|| self.shown(&found.path));
            all.entry(path.clone()).or_default().push(found);
        }
        all
    }

    /// What each agent has for a file; without agents, what any would have.
    pub(super) fn here(&self, path: &Path) -> Arc<Vec<AgentHere>> {
        if let Some(known) = lock(&self.here).get(path) {
            return Arc::clone(known);
        }
        let input = Input::default().paths([path.to_string_lossy()]);
        let evidence = self.workspace.evidence_for(&self.views.meant.book, &input);
        let matrix = self.views.matrix(&evidence);
        let column = |column: &AgentColumn<'_>| {
            let cells = matrix.rows.iter().zip(&column.cells).filter(|(_, cell)| is_here(cell.state));
            let rules = cells.map(|(row, cell)| RuleHere {
                id: row.id.to_owned(),
                key: row.key(),
                source: row.origin.display.clone(),
                uri: self.uris.of(&row.origin.path),
                state: cell.state,
                because: cell.because.to_string(),
            });
            AgentHere { agent: column.agent, tokens: column.tokens, rules: rules.collect() }
        };
        let found: Arc<Vec<AgentHere>> = Arc::new(matrix.columns.iter().map(column).collect());
        lock(&self.here).insert(path.to_owned(), Arc::clone(&found));
        found
    }

    /// The stream rules, ready to watch a text.
    pub(super) fn monitor(&self) -> MutexGuard<'_, Monitor> {
        lock(self.monitor.get_or_init(|| {
            let rules = stream::watching(&self.workspace, &self.views.meant.book);
            Mutex::new(stream::new_monitor(&rules, &self.workspace.roots))
        }))
    }
}

/// Whether an agent has a rule, or may get it.
fn is_here(state: CellState) -> bool {
    matches!(state, CellState::Native | CellState::Added | CellState::Offered | CellState::Stream)
}

fn located(workspace: &Workspace, path: &Path) -> Option<(usize, String)> {
    match workspace.roots.locate(path.to_str()?, &|_, _| true) {
        PathLocation::Inside { root, path } => Some((root, path)),
        PathLocation::Root(_) | PathLocation::Outside => None,
    }
}

fn named(workspace: &Workspace, path: &Path) -> String {
    match located(workspace, path) {
        Some((root, inside)) => format!("{}/{inside}", workspace.roots.roots[root].path),
        None => path.to_string_lossy().replace('\\', "/"),
    }
}

fn display(workspace: &Workspace, path: &Path) -> String {
    match located(workspace, path) {
        Some((root, inside)) if workspace.roots.roots.len() > 1 => {
            format!("{}/{inside}", workspace.roots.roots[root].name)
        }
        Some((_, inside)) => inside,
        None => workspace.homes.shown(path),
    }
}
