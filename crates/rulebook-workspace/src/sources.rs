//! Sources: the rule files within reach, each found and read once. Every view is a reading of the same texts.

mod differences;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rulebook::agent::{Agent, Nested};
use rulebook::compare::Difference;
use rulebook::diagnostic::{Code, Diagnostic, similar_names};
use rulebook::evidence::Seen;
use rulebook::export::Tool;
use rulebook::format::{FORMATS, Format, FormatId};
use rulebook::lint::over_limit;
use rulebook::parse::{Entry, Parsed};
use rulebook::resolve::{Rulebook, Switches, resolve, resolve_as};
use rulebook::rule::Rule;
use rulebook::source::{Origin, Scope};

use crate::discover::{Search, Within, discover, root_prefix};
use crate::disk::Disk;
use crate::load::{Loader, Readings};
use crate::schema::Strict;
use crate::settings::Setting;
use crate::tree::{Tree, Wanted, walk};
use crate::workspace::Workspace;
use crate::{facts, git, imports, recorded, remote, skills, trust};

/// Which nested rule folders are searched.
#[derive(Clone, Copy, Debug)]
pub enum Reach<'p> {
    /// Those above these paths. This walks no tree.
    Above(&'p [Seen]),
    /// Those of a tree that was walked.
    Walked(&'p Tree),
    /// Those of the whole tree, which is walked now.
    Tree,
}

/// The rules of one view, and their problems.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// In order, switches applied.
    pub book: Rulebook,
    /// Of settings and files, sorted by location.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Of some diagnostics, those of the files in this view that do not concern another agent.
    pub fn reported(&self, agent: &Agent, diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
        let rules = self.book.rules().map(|(rule, _)| rule.origin.display.as_str());
        let rejected = self.book.rejected().iter().map(|rejected| rejected.origin.display.as_str());
        let files: HashSet<&str> = rules.chain(rejected).collect();
        let is_reported = |found: &&Diagnostic| {
            files.contains(found.path.as_str()) && found.agent.is_none_or(|name| name == agent.name)
        };
        diagnostics.iter().filter(is_reported).cloned().collect()
    }
}

/// The rule files within reach, each found and read once.
///
/// [`meant`](Sources::meant) reads them as their authors meant them, [`native`](Sources::native) as one agent does by
/// itself. A view costs no access to a file that another view has read.
#[derive(Debug)]
pub struct Sources<'w> {
    workspace: &'w Workspace,
    folders: Folders<'w>,
    pub(crate) disk: Disk,
    readings: Readings,
    /// Readings of earlier loads.
    earlier: Option<&'w Readings>,
}

/// The nested folders to search.
#[derive(Debug)]
enum Folders<'w> {
    Above(Vec<(usize, String)>),
    Borrowed(&'w Tree),
    Walked(Tree),
}

/// The formats of a view, and what it reads besides.
struct View {
    formats: Vec<&'static Format>,
    is_nested: bool,
    /// Whether it is what the authors meant: with remotes and extra folders, which agents know nothing of.
    is_meant: bool,
    /// Whether files count whether or not the user trusts them: an agent reads its own.
    ignores_trust: bool,
}

impl Workspace {
    /// The rule files within reach. They are read by the first view that needs them.
    pub fn sources<'w>(&'w self, reach: Reach<'w>) -> Sources<'w> {
        match reach {
            Reach::Above(paths) => Sources::above(self, paths),
            Reach::Walked(tree) => Sources::new(self, Folders::Borrowed(tree)),
            Reach::Tree => Sources::new(self, Folders::Walked(self.tree(Wanted::Rules, &|_| ()))),
        }
    }

    /// Reads the rules within reach as they are meant.
    pub fn load(&self, reach: Reach<'_>) -> Loaded {
        self.sources(reach).meant()
    }

    /// Reads the rules within reach as they are meant. Files that did not change since an earlier load with these readings
    /// are not parsed again.
    pub fn reload<'w>(&'w self, reach: Reach<'w>, readings: &'w Readings) -> Loaded {
        let loaded = self.sources_since(reach, readings).meant();
        readings.drop_unused();
        loaded
    }

    /// The rules within reach. Files that did not change since an earlier load with these readings are not parsed again.
    pub(crate) fn sources_since<'w>(&'w self, reach: Reach<'w>, readings: &'w Readings) -> Sources<'w> {
        Sources { earlier: Some(readings), ..self.sources(reach) }
    }

    /// Reads the rules within reach as one agent does by itself.
    pub fn load_as(&self, agent: &'static Agent, reach: Reach<'_>) -> Loaded {
        self.sources(reach).native(agent)
    }

    /// Walks the roots. `progress` receives the number of files found so far, now and then.
    pub fn tree(&self, wanted: Wanted, progress: &(dyn Fn(usize) + Sync)) -> Tree {
        walk(&self.files, &self.roots, wanted, progress)
    }
}

impl<'w> Sources<'w> {
    fn new(workspace: &'w Workspace, folders: Folders<'w>) -> Sources<'w> {
        Sources {
            workspace,
            folders,
            disk: Disk::over(&workspace.files, &workspace.overlay),
            readings: Readings::default(),
            earlier: None,
        }
    }

    /// The rule files above some paths.
    pub(crate) fn above(workspace: &'w Workspace, paths: &[Seen]) -> Sources<'w> {
        let paths = paths.iter().map(|seen| (seen.root, seen.path.clone()));
        Sources::new(workspace, Folders::Above(paths.collect()))
    }

    /// The start of the shown paths of a root: its name if there are several roots.
    pub(crate) fn prefix(&self, root: usize) -> String {
        root_prefix(&self.workspace.roots, root)
    }

    pub(crate) fn workspace(&self) -> &'w Workspace {
        self.workspace
    }

    /// Extends the reach to the whole tree, which is walked now. Files that were read are not read again.
    pub(crate) fn widen(&mut self) {
        self.folders = Folders::Walked(self.workspace.tree(Wanted::Rules, &|_| ()));
    }

    /// The rules as their authors meant them, with settings and toggles.
    pub fn meant(&self) -> Loaded {
        let workspace = self.workspace;
        let (parsed, mut diagnostics) = self.read_meant();
        diagnostics.extend(workspace.diagnostics.iter().cloned());
        let mut entries = entries(parsed, &mut diagnostics);
        skills::limit(&mut entries, workspace.settings.agents.skills);
        let book = resolve(entries, &workspace.switches()).identified_by(workspace.settings.rules.identity);
        if !matches!(self.folders, Folders::Above(_)) {
            diagnostics.extend(self.report_unknown_ids(&book));
        }
        if book.needs().tags {
            let folders = workspace.readable_folders();
            let Workspace { files, roots, homes, .. } = workspace;
            diagnostics.extend(facts::report_outside(files, roots, homes, &folders));
        }
        Loaded { book, diagnostics: sorted(diagnostics) }
    }

    /// The rules that one agent reads by itself, the way it does: its files and keys, no settings and no toggles.
    ///
    /// Within [`Reach::Above`] this has the files above those paths only, even for an agent that applies some files of
    /// other folders too.
    pub fn native(&self, agent: &'static Agent) -> Loaded {
        native_book(agent, self.read_as(agent))
    }

    /// The rules that one agent reads by itself, and the positions of the rules of its own format that it treats
    /// differently than they are meant.
    pub(crate) fn native_and_differences(
        &self,
        agent: &'static Agent,
        meant: &Rulebook,
    ) -> (Loaded, Vec<(usize, Difference)>) {
        let read = self.read_as(agent);
        let differences = self.differences_from(agent, meant, &read.0);
        (native_book(agent, read), differences)
    }

    /// The text of a rule's file, if it was read.
    pub fn text(&self, rule: &Rule) -> Option<Arc<str>> {
        self.disk.known_text(Path::new(&rule.origin.path))
    }

    pub(crate) fn read_meant(&self) -> (Vec<Parsed>, Vec<Diagnostic>) {
        let rules = &self.workspace.settings.rules;
        let formats = FORMATS.iter().filter(|format| rules.reads(format.id)).collect();
        self.read(View { formats, is_nested: true, is_meant: true, ignores_trust: false })
    }

    /// The rules in a tool's own folder.
    pub fn of_tool(&self, tool: &Tool) -> Loaded {
        let formats = tool.formats.iter().collect();
        let view = View { formats, is_nested: true, is_meant: false, ignores_trust: false };
        let (parsed, mut diagnostics) = self.read(view);
        let book = resolve(entries(parsed, &mut diagnostics), &Switches::default());
        Loaded { book, diagnostics: sorted(diagnostics) }
    }

    pub(crate) fn read_as(&self, agent: &Agent) -> (Vec<Parsed>, Vec<Diagnostic>) {
        let version = self.workspace.settings.agents.of(agent).version;
        let is_old = |format: &&Format| format.is_newer_than(version.as_deref());
        let formats = agent.formats.iter().filter(|format| !is_old(format)).collect();
        let is_nested = matches!(agent.nested, Nested::Read | Nested::Located);
        let view = View { formats, is_nested, is_meant: false, ignores_trust: true };
        let (mut parsed, diagnostics) = self.read(view);
        parsed.retain(|parsed| agent.reads_at(parsed.entry.origin()));
        (parsed, diagnostics)
    }

    fn read(&self, view: View) -> (Vec<Parsed>, Vec<Diagnostic>) {
        let workspace = self.workspace;
        let settings = &workspace.settings;
        let remotes = if view.is_meant { settings.remotes.as_slice() } else { &[] };
        let extra = if view.is_meant { settings.rules.extra_paths.as_slice() } else { &[] };
        let within = match &self.folders {
            _ if !view.is_nested => Within::Above(&[]),
            Folders::Above(paths) => Within::Above(paths),
            Folders::Borrowed(tree) => Within::Tree(tree),
            Folders::Walked(tree) => Within::Tree(tree),
        };
        let allow_links = workspace.allow_links();
        let search = Search {
            disk: &self.disk,
            roots: &workspace.roots,
            homes: &workspace.homes,
            formats: view.formats,
            used: view.is_meant.then(|| settings.agents.owned_formats()),
            extra,
            folders: remote::folders(remotes, &workspace.homes),
            allow_links: &allow_links,
        };
        let readings = self.earlier.or((!view.is_meant).then_some(&self.readings));
        let View { is_meant, ignores_trust, .. } = view;
        let loader = Loader { search: &search, gate: &workspace.gate, readings, is_meant, ignores_trust };
        let (mut found, mut diagnostics) = discover(&search, within);
        let strict = Strict::decide(&mut found, &loader, &settings.rules);
        let twins = self.twins();
        let mut parsed = loader.load(found, &|origin| twin_key(&twins, origin));
        strict.explain(&mut parsed);
        let resolve = if view.is_meant { imports::resolve_meant } else { imports::follow_native };
        diagnostics.extend(resolve(&mut parsed, &search, &loader));
        let settings_of = if ignores_trust { &[][..] } else { &workspace.untrusted_settings };
        diagnostics.extend(trust::report_untrusted(&mut parsed, settings_of, &workspace.roots));
        let (fetched, reported) = remote::load(remotes, &workspace.homes);
        diagnostics.extend(reported);
        parsed.extend(fetched);
        if view.is_meant && !settings.rules.reads(FormatId::Remote) {
            parsed.retain(is_mandatory_or_local);
        }
        remote::rename_imitations(&mut parsed);
        if view.is_meant {
            diagnostics.extend(recorded::mark_copies(&mut parsed, &workspace.files, &workspace.roots));
        }
        (parsed, diagnostics)
    }

    /// For each root, the repository it is a checkout of, if there are several roots.
    fn twins(&self) -> Vec<Option<PathBuf>> {
        let Workspace { files, roots, .. } = self.workspace;
        match roots.roots.as_slice() {
            [_] => Vec::new(),
            roots => roots.iter().map(|root| git::common_dir(files, Path::new(&root.path))).collect(),
        }
    }

    fn report_unknown_ids(&self, book: &Rulebook) -> Vec<Diagnostic> {
        /// Each is compared with all known ids.
        const MAX_UNKNOWN: usize = 20;
        let known = book.ids();
        let ids = &self.workspace.settings.rules.disabled_ids;
        let names: Vec<&str> = ids.iter().map(|id| id.value.as_str()).collect();
        let unknown: HashSet<&str> = book.unknown_names(&names).into_iter().collect();
        let mut unknown = ids.iter().filter(|id| unknown.contains(id.value.as_str()));
        let report = |id: &Setting| {
            let message =
                format!("`rules.disabled_ids` names `{}`, but no rule has this file, key or id", id.value);
            let found = Diagnostic::whole(Code::UnknownId, &id.file, message);
            match similar_names(&id.value, known.iter().copied()) {
                Some(similar) => found.help(format!("did you mean {similar}?")),
                None => found,
            }
        };
        let mut reported: Vec<Diagnostic> = unknown.by_ref().take(MAX_UNKNOWN).map(report).collect();
        if let Some(next) = unknown.next() {
            let message = format!("`rules.disabled_ids` names {} more unknown ids", unknown.count() + 1);
            reported.push(Diagnostic::whole(Code::UnknownId, &next.file, message));
        }
        reported
    }
}

/// Orders what an agent read.
fn native_book(agent: &Agent, (parsed, mut diagnostics): (Vec<Parsed>, Vec<Diagnostic>)) -> Loaded {
    let book = resolve_as(entries(parsed, &mut diagnostics), agent);
    diagnostics.extend(over_limit(agent, &book.rules().map(|(rule, _)| rule).collect::<Vec<_>>()));
    Loaded { book, diagnostics: sorted(diagnostics) }
}

/// Separates entries from their diagnostics.
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

/// Whether a rule stays if `rules.formats` leaves the format `remote` out: a workspace may set that, so mandatory rules
/// stay.
fn is_mandatory_or_local(parsed: &Parsed) -> bool {
    let Entry::Rule(rule) = &parsed.entry else { return true };
    rule.origin.format.id != FormatId::Remote || rule.is_mandatory
}

fn twin_key(twins: &[Option<PathBuf>], origin: &Origin) -> Option<String> {
    let common = twins.get(origin.root)?.as_ref()?;
    let shared = twins.iter().flatten().filter(|other| *other == common).count() > 1;
    (shared && origin.scope == Scope::Workspace && origin.folder.is_empty())
        .then(|| format!("{}\0{}\0{}", common.display(), origin.place.path, origin.inner))
}

#[cfg(test)]
mod tests;
