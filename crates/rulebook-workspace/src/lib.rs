//! The disk side of Rulebook: finds rule files, settings and switches, and hands them to the engine.
//!
//! ```no_run
//! use rulebook::evidence::Input;
//! use rulebook_workspace::Workspace;
//!
//! let workspace = Workspace::open(".")?;
//! let input = Input { message: Some("add a component to apps/web".into()), ..Input::default() };
//! let asked = workspace.ask(&input);
//! for verdict in asked.evaluate().verdicts {
//!     println!("{} {:?}", verdict.rule.id, verdict.state);
//! }
//! # Ok::<(), rulebook_workspace::OpenError>(())
//! ```

#![forbid(unsafe_code)]

mod atomic;
mod bounded;
mod coverage;
pub mod discover;
mod facts;
pub mod git;
mod homes;
mod imports;
pub mod ledger;
mod load;
mod open;
pub mod remote;
mod session;
pub mod settings;
pub mod state;
pub mod team;
pub mod toggles;
mod tree;
pub mod trust;

pub use coverage::Reached;
pub use discover::Reach;
pub use homes::Homes;
pub use open::{OpenError, find_root};
pub use tree::{Tree, Wanted};

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rulebook::agent::{AGENTS, Agent, Nested};
use rulebook::compare::{Difference, compare};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evaluate::{Evaluation, evaluate};
use rulebook::evidence::{Evidence, Input, Roots, collect};
use rulebook::format::{FORMATS, Format, FormatId, PlaceKind};
use rulebook::lint::over_limit;
use rulebook::parse::{Entry, Parsed};
use rulebook::resolve::{Off, OffBy, Rulebook, Switches, resolve, resolve_as};
use rulebook::rule::Rule;
use rulebook::source::{Origin, Scope};

use discover::{Search, discover};
use settings::{Remote, Setting, Settings};
use toggles::{Switched, Toggles};

/// Roots, settings and switches, read once; rules are read when they are asked for.
#[derive(Debug)]
pub struct Workspace {
    /// Where it lies.
    pub roots: Roots,
    /// The user's folders.
    pub homes: Homes,
    /// What the settings files say.
    pub settings: Settings,
    /// What is to be told about the settings.
    pub diagnostics: Vec<Diagnostic>,
    switched: Switched,
    gate: trust::Gate,
    /// Texts of settings files of the workspace, trusted or not.
    offered: Vec<(usize, String)>,
    /// Roots whose settings are not used, because they are not trusted.
    shut: Vec<usize>,
}

/// The rules within reach, and what is to be told about them.
#[derive(Debug)]
pub struct Loaded {
    /// In order, switches applied.
    pub book: Rulebook,
    /// Of the settings and of every file, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
}

/// The evidence and the rules it was put to.
#[derive(Debug)]
pub struct Asked {
    /// What is known, with the facts the rules ask for.
    pub evidence: Evidence,
    /// The rules within its reach.
    pub book: Rulebook,
    /// Of settings, files and evidence.
    pub diagnostics: Vec<Diagnostic>,
}

impl Asked {
    /// Gives every rule its verdict.
    pub fn evaluate(&self) -> Evaluation<'_> {
        evaluate(&self.book, &self.evidence)
    }
}

impl Workspace {
    /// The person's switches; none without a home.
    pub fn toggles(&self) -> Option<Toggles> {
        self.homes.state.as_ref().map(|state| Toggles::at(&state.join("rulebook")))
    }

    /// Where the person's trust is kept; nowhere without a home.
    pub fn trust_store(&self) -> Option<trust::Store> {
        self.homes.state.as_ref().map(|state| trust::Store::at(&state.join("rulebook")))
    }

    /// Reads the rules within reach.
    pub fn load(&self, reach: Reach<'_>) -> Loaded {
        let takes = |format: &Format| self.settings.rules.reads(format.id);
        let (parsed, mut diagnostics) = self.read(FORMATS, &takes, reach);
        diagnostics.extend(self.diagnostics.iter().cloned());
        let book = resolve(entries(parsed, &mut diagnostics), &self.switches());
        if !matches!(reach, Reach::Above(_)) {
            diagnostics.extend(self.report_unknown_ids(&book));
        }
        if book.needs().tags {
            diagnostics.extend(facts::report_outside(&self.roots, &self.homes, &self.grounds()));
        }
        Loaded { book, diagnostics: sorted(diagnostics) }
    }

    /// Reads what one agent itself reads, the way it does: its files and keys, no settings and no switches.
    pub fn load_as(&self, agent: &'static Agent, reach: Reach<'_>) -> Loaded {
        let (parsed, mut diagnostics) = self.read_as(agent, reach);
        let book = resolve_as(entries(parsed, &mut diagnostics), agent);
        diagnostics.extend(over_limit(agent, &book.rules().map(|(rule, _)| rule).collect::<Vec<_>>()));
        Loaded { book, diagnostics: sorted(diagnostics) }
    }

    /// Where the agents the rules belong to do something else than was meant.
    pub fn differences<'b>(
        &self,
        book: &'b Rulebook,
        reach: Reach<'_>,
    ) -> Vec<(&'b Rule, &'static Agent, Difference)> {
        let rules: Vec<&Rule> =
            book.rules().filter(|(rule, _)| !is_import(rule)).map(|(rule, _)| rule).collect();
        let owners =
            AGENTS.iter().filter(|agent| rules.iter().any(|rule| agent.owns == Some(rule.origin.format.id)));
        let mut found = Vec::new();
        for agent in owners {
            let (parsed, _) = self.read_as(agent, reach);
            let own: HashMap<&str, &Parsed> = parsed.iter().map(|parsed| (path_of(parsed), parsed)).collect();
            for rule in rules.iter().filter(|rule| agent.owns == Some(rule.origin.format.id)) {
                let own = own.get(rule.origin.path.as_str()).copied();
                // A person's own file may lie where only other tools look for it, and an agent that reads what lies
                // from the root to where it was started may be started there.
                let is_nested = !rule.origin.folder.is_empty();
                let is_elsewhere = rule.origin.scope == Scope::User
                    || agent.nested != Nested::Read
                        && matches!(rule.origin.place.shape, PlaceKind::Located { .. })
                    || agent.nested == Nested::Undocumented && is_nested;
                let difference = compare(rule, own).filter(|_| own.is_some() || !is_elsewhere);
                found.extend(difference.map(|difference| (*rule, agent, difference)));
            }
        }
        found
    }

    /// Whether an agent looks at a format's files, for what lies beside them.
    pub fn takes(&self, format: &Format) -> bool {
        let root = Path::new(&self.roots.roots[0].path);
        !format.unless.iter().any(|path| root.join(self.homes.expand(path)).exists())
    }

    fn read_as(&self, agent: &Agent, reach: Reach<'_>) -> (Vec<Parsed>, Vec<Diagnostic>) {
        let takes = |format: &Format| self.takes(format);
        let reach = match reach {
            _ if agent.nested != Nested::Read => Reach::Above(&[]),
            // What is for everything may lie anywhere.
            Reach::Above(_) if agent.formats.iter().any(|format| !format.scoped) => Reach::Tree,
            reach => reach,
        };
        self.read(agent.formats, &takes, reach)
    }

    fn read(
        &self,
        formats: &'static [Format],
        takes: &dyn Fn(&Format) -> bool,
        reach: Reach<'_>,
    ) -> (Vec<Parsed>, Vec<Diagnostic>) {
        let extra: Vec<(Option<usize>, String)> =
            self.settings.rules.extra_paths.iter().map(|path| (path.root, path.value.clone())).collect();
        let is_own = std::ptr::eq(formats, FORMATS);
        let allow_links = self.allow_links();
        // An agent's own view knows nothing of what is fetched here.
        let remotes: &[Remote] = if is_own { &self.settings.remotes } else { &[] };
        let folders = remote::folders(remotes, &self.homes);
        let search = Search {
            roots: &self.roots,
            homes: &self.homes,
            formats,
            takes,
            extra: if is_own { &extra } else { &[] },
            folders: &folders,
            allow_links: &allow_links,
        };
        let (found, mut diagnostics) = discover(&search, reach);
        let twins = self.twins();
        let (mut parsed, same) = load::load(found, &self.gate, &|origin| twin_key(&twins, origin));
        diagnostics.extend(same);
        diagnostics.extend(imports::follow(&mut parsed, &search, &self.gate));
        diagnostics.extend(trust::report_untrusted(&mut parsed, &self.shut, &self.roots));
        let (fetched, told) = remote::load(remotes, &self.homes);
        diagnostics.extend(told);
        parsed.extend(fetched);
        if is_own && !self.settings.rules.reads(FormatId::Remote) {
            parsed.retain(may_stay);
        }
        remote::report_apart(&mut parsed);
        (parsed, diagnostics)
    }

    /// For each root, the repository it is a checkout of, where another root is one too.
    fn twins(&self) -> Vec<Option<PathBuf>> {
        if self.roots.roots.len() < 2 {
            return Vec::new();
        }
        self.roots.roots.iter().map(|root| git::common_dir(Path::new(&root.path))).collect()
    }

    fn switches(&self) -> Switches {
        let rules = &self.settings.rules;
        let all = (!rules.enabled).then(|| Off {
            by: OffBy::Enabled,
            file: self.settings.said_by("rules.enabled").map(str::to_owned),
        });
        let toggled = self
            .roots
            .roots
            .iter()
            .flat_map(|root| self.switched.off_ids(Path::new(&root.path)))
            .map(|id| (id.to_owned(), Off { by: OffBy::Toggle, file: None }));
        let team = rules
            .disabled_ids
            .iter()
            .map(|id| (id.value.clone(), Off { by: OffBy::DisabledIds, file: Some(id.file.clone()) }));
        Switches { all, ids: toggled.chain(team).collect() }
    }

    fn report_unknown_ids(&self, book: &Rulebook) -> Vec<Diagnostic> {
        let known = book.ids();
        let ids = &self.settings.rules.disabled_ids;
        let mut unknown = ids.iter().filter(|id| known.binary_search(&id.value.as_str()).is_err());
        let tell = |id: &Setting<String>| {
            let told = format!("`rules.disabled_ids` names `{}`, which no rule has", id.value);
            Diagnostic::whole(Code::UnknownId, &id.file, told).did_you_mean(&id.value, known.iter().copied())
        };
        /// What is meant by an id is looked for among all that there are.
        const MAX_UNKNOWN: usize = 20;
        let mut told: Vec<Diagnostic> = unknown.by_ref().take(MAX_UNKNOWN).map(tell).collect();
        if let Some(next) = unknown.next() {
            let more = format!("`rules.disabled_ids` names {} more that no rule has", unknown.count() + 1);
            told.push(Diagnostic::whole(Code::UnknownId, &next.file, more));
        }
        told
    }

    /// Makes evidence of what a host says, with what the disk knows.
    pub fn gather(&self, input: &Input) -> (Evidence, Vec<Diagnostic>) {
        let (mut evidence, told) = collect(input, &self.roots, &|root, path| self.exists(root, path));
        evidence.os.get_or_insert_with(|| rulebook::evidence::system_name(std::env::consts::OS).to_owned());
        if evidence.env.is_none() {
            evidence.env.clone_from(&self.settings.workspace.env);
        }
        (evidence, told)
    }

    /// Puts what a host says to the rules within its reach.
    pub fn ask(&self, input: &Input) -> Asked {
        let (mut evidence, told) = self.gather(input);
        let paths: Vec<(usize, &str)> =
            evidence.paths.iter().map(|seen| (seen.root, seen.path.as_str())).collect();
        let mut loaded = self.load(Reach::Above(&paths));
        // A rule asked for by name may lie anywhere.
        let is_missing = |book: &Rulebook, name: &String| !book.rules().any(|(rule, _)| rule.is_called(name));
        if evidence.requested.iter().any(|name| is_missing(&loaded.book, name)) {
            loaded = self.load(Reach::Tree);
        }
        let Loaded { book, mut diagnostics } = loaded;
        diagnostics.extend(told);
        for name in evidence.requested.iter().filter(|name| is_missing(&book, name)) {
            let told = format!("there is no rule `{name}` to ask for");
            diagnostics
                .push(Diagnostic::whole(Code::UnknownId, "evidence", told).did_you_mean(name, book.ids()));
        }
        self.look_up(&book, &mut evidence);
        Asked { evidence, book, diagnostics }
    }

    /// Looks up the facts that some rule asks for, and no others.
    pub fn look_up(&self, book: &Rulebook, evidence: &mut Evidence) {
        let needs = book.needs();
        if needs.branch && evidence.branch.is_none() {
            evidence.branch = self.roots.roots.iter().find_map(|root| git::branch(Path::new(&root.path)));
        }
        if needs.content {
            evidence.contents = facts::contents(evidence, &self.roots, &self.grounds());
        }
        if needs.tags {
            let tags = evidence.tags.get_or_insert_with(Vec::new);
            tags.extend(self.settings.workspace.tags.iter().cloned());
            let grounds = self.grounds();
            let roots = self.roots.roots.iter();
            tags.extend(roots.flat_map(|root| facts::derived_tags(Path::new(&root.path), &grounds)));
            tags.sort();
            tags.dedup();
        }
    }

    fn allow_links(&self) -> Vec<PathBuf> {
        self.settings.rules.allow_links.iter().map(|path| self.homes.expand(path)).collect()
    }

    /// The real folders whose files are looked at: the roots, and those that links may lead to.
    fn grounds(&self) -> Vec<PathBuf> {
        let roots = self.roots.roots.iter().map(|root| PathBuf::from(&root.path));
        // The roots too: Windows spells a real path in a way of its own.
        roots.chain(self.allow_links()).filter_map(|path| path.canonicalize().ok()).collect()
    }

    fn exists(&self, root: usize, path: &str) -> bool {
        Path::new(&self.roots.roots[root].path).join(path).exists()
    }
}

/// Replaces a file's text in one step, keeping its mode: a reader sees the old text or the new, whole.
pub fn rewrite(path: &Path, text: &str) -> std::io::Result<()> {
    atomic::replace(path, text, atomic::Audience::Usual)
}

/// Replaces the texts of many files, each as [`rewrite`] does; what came of each, in order.
pub fn rewrite_all(files: &[(PathBuf, String)]) -> Vec<std::io::Result<()>> {
    atomic::replace_all(files)
}

/// Parts what files became from what is told of them.
fn entries(parsed: Vec<Parsed>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Entry> {
    let mut entries = Vec::with_capacity(parsed.len());
    for parsed in parsed {
        diagnostics.extend(parsed.diagnostics);
        entries.push(parsed.entry);
    }
    entries
}

fn sorted(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort();
    diagnostics.dedup();
    diagnostics
}

fn path_of(parsed: &Parsed) -> &str {
    &parsed.entry.origin().path
}

/// Whether a rule is read although its format is not: `rules.formats` may be a workspace's word.
fn may_stay(parsed: &Parsed) -> bool {
    let Entry::Rule(rule) = &parsed.entry else { return true };
    rule.origin.format.id != FormatId::Remote || rule.is_mandatory
}

fn is_import(rule: &Rule) -> bool {
    rule.origin.place.shape == PlaceKind::Imported
}

fn twin_key(twins: &[Option<PathBuf>], origin: &Origin) -> Option<String> {
    let common = twins.get(origin.root)?.as_ref()?;
    let shared = twins.iter().flatten().filter(|other| *other == common).count() > 1;
    (shared && origin.scope == Scope::Workspace && origin.folder.is_empty())
        .then(|| format!("{}\0{}\0{}", common.display(), origin.place.path, origin.inner))
}
