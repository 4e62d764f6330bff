//! Text in agents' folders that is not read: rule files that their agent ignores, and files that are not rules.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rulebook::agent::{AGENTS, Agent, Ignored, Nested};
use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::format::{Confidence, FORMATS, Format, FormatId, Place, PlaceKind};
use rulebook::resolve::Rulebook;
use rulebook::shell::quoted;
use rulebook::source::Origin;
use rulebook::unread::{
    NOT_RULES, SeenKind, UnreadCause, UnreadFile, is_documentation, is_text, owner_places,
};

use serde::Serialize;

use crate::agents::{AgentSearch, UsedAgent};
use crate::disk::Kind;
use crate::sources::Sources;
use crate::tree::{NEVER_WALKED, RuleFolder, Tree};

/// A text file in an agent's folder that is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct SeenFile {
    /// The path as shown to people.
    pub path: String,
    /// What it is.
    pub kind: SeenKind,
}

/// What was found in agents' folders and is not read.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct NotRead {
    /// One for each folder and cause.
    pub diagnostics: Vec<Diagnostic>,
    /// Files that are not rules, sorted.
    pub seen: Vec<SeenFile>,
    /// The shown paths of the files that the diagnostics are about.
    pub(crate) files: HashSet<String>,
    /// The shown paths of rules of formats that their agent ignores, to which another rule links.
    pub(crate) linked: HashSet<String>,
}

/// The most files that are listed of one folder.
const MAX_FILES: usize = 5_000;

/// Who reads a file: the name by which an agent reads it, and the agent.
type FileReaders = HashMap<PathBuf, Vec<(String, &'static Agent)>>;

/// A folder that also holds other files of the agent.
const MIXED: &str = ".sourcegraph";

/// A rule folder on disk, and how its agent reads it.
struct Folder {
    format: &'static Format,
    places: Vec<(&'static Format, &'static Place)>,
    /// As shown to people.
    shown: String,
    /// On disk.
    base: PathBuf,
    /// As git knows it: where links lead.
    real: String,
    /// The root that it is in.
    root: usize,
    /// The agents that read it: its own, then the others that are used here.
    readers: Vec<&'static Agent>,
}

/// The agents that read a folder: its own, then others that are used, or that are of the same product as the first.
fn readers_of(
    owner: Option<&'static Agent>,
    format: &Format,
    place: &Place,
    used: &[UsedAgent],
) -> Vec<&'static Agent> {
    let Some(owner) = owner else { return Vec::new() };
    let is_here = |format: &Format| format.workspace.iter().any(|other| other.path == place.path);
    let reads = |agent: &&'static Agent| {
        let mut own = agent.formats.iter().filter(|own| own.id == format.id);
        agent.name != owner.name && own.any(is_here)
    };
    let product = owner.product().map_or(&[][..], |product| product.surfaces);
    let is_used = |agent: &&'static Agent| {
        product.contains(&agent.name) || used.iter().any(|used| used.agent.name == agent.name)
    };
    std::iter::once(owner).chain(AGENTS.iter().filter(reads).filter(is_used)).collect()
}

/// A file of a folder by its path in there, and the one under which the agent would read it.
struct Rename {
    from: String,
    to: String,
    /// Another agent that reads the same file by its present name.
    reader: Option<&'static str>,
    /// The agents that lack it; none if the folder is for every agent.
    agents: Vec<&'static Agent>,
}

impl Sources<'_> {
    /// The files in rule folders of the tree that their agents do not read, and text beside rules that is not a rule.
    pub fn not_read(&self, book: &Rulebook, tree: &Tree) -> NotRead {
        let rules: HashSet<&str> = book.rules().map(|(rule, _)| rule.origin.display.as_str()).collect();
        let rejected = book.rejected().iter().map(|rejected| rejected.origin.display.as_str());
        let rules: HashSet<&str> = rules.into_iter().chain(rejected).collect();
        let mut found = NotRead::default();
        let mut known = BTreeSet::new();
        let others = self.readers(book);
        let used = self.workspace().agents_used(AgentSearch::Workspace);
        for at in &tree.rule_folders {
            for (format, place) in self.folder_places(at) {
                let base = Path::new(&self.workspace().roots.roots[at.root].path).join(&at.folder);
                let (agent, places) = owner_places(format, place);
                let is_nested = !at.folder.is_empty();
                let is_beyond =
                    is_nested && agent.is_some_and(|agent| agent.nested_at(place) != Nested::Read);
                let is_known = !known.insert((at.root, at.folder.as_str(), place.path));
                if is_known || is_beyond || places.is_empty() {
                    continue;
                }
                let slash = if is_nested { "/" } else { "" };
                let shown = format!("{}{}{slash}{}", self.prefix(at.root), at.folder, place.path);
                let base = base.join(place.path);
                let real = self.git_path(at.root, &base).unwrap_or_else(|| shown.clone());
                let readers = readers_of(agent, format, place, &used);
                let folder = Folder { format, places, shown, base, real, root: at.root, readers };
                let files = self.texts(&folder.base, place.skipped());
                self.sort_unread(&folder, &files, (&rules, &others), book, &mut found);
            }
        }
        self.seen_elsewhere(&mut found);
        for (rule, _) in book.rules().filter(|(rule, _)| ignoring(rule.origin.format.id).is_some()) {
            let path = &rule.origin.display;
            if book.rules().any(|(other, _)| links_to(&other.body, path)) {
                found.linked.insert(path.clone());
                found.seen.push(SeenFile { path: path.clone(), kind: SeenKind::Linked });
            }
        }
        found.seen.sort();
        found.seen.dedup();
        found
    }

    /// The rule folders of formats that are read here, in one folder of the tree.
    fn folder_places(&self, at: &RuleFolder) -> impl Iterator<Item = (&'static Format, &'static Place)> {
        let rules = &self.workspace().settings.rules;
        let formats = FORMATS.iter().filter(|format| rules.reads(format.id));
        let is_folder =
            |place: &&Place| matches!(place.shape, PlaceKind::Folder { .. }) && place.path != MIXED;
        formats.flat_map(move |format| {
            let places = format.workspace.iter().filter(is_folder);
            places.filter(|place| at.heads.contains(&place.head())).map(move |place| (format, place))
        })
    }

    fn sort_unread(
        &self,
        folder: &Folder,
        files: &[String],
        (rules, others): (&HashSet<&str>, &FileReaders),
        book: &Rulebook,
        found: &mut NotRead,
    ) {
        let mut groups: BTreeMap<(UnreadCause, Vec<&str>), Vec<Rename>> = BTreeMap::new();
        let mut taken: HashSet<String> = files.iter().cloned().collect();
        let real = |inner: &str| self.disk.real(&folder.base.join(inner)).ok();
        let is_read = |inner: &&String| folder.places.iter().any(|(_, place)| place.unread(inner).is_none());
        // The agent may read a file by another name, which is a link to it.
        let mut linked: Option<HashSet<PathBuf>> = None;
        for inner in files {
            let reasons: Option<Vec<UnreadFile>> =
                folder.places.iter().map(|(_, place)| place.unread(inner)).collect();
            let Some(UnreadFile { cause, mut renamed, .. }) = reasons.and_then(|all| all.into_iter().next())
            else {
                continue;
            };
            let path = format!("{}/{inner}", folder.shown);
            let name = inner.rsplit('/').next().unwrap_or(inner);
            let is_rule = rules.contains(path.as_str());
            if is_documentation(name) && !is_rule {
                found.seen.push(SeenFile { path, kind: SeenKind::Documentation });
            } else if !is_rule
                && !self.has_header(folder, inner)
                && book.rules().any(|(rule, _)| links_to(&rule.body, &path))
            {
                found.seen.push(SeenFile { path, kind: SeenKind::Linked });
            } else {
                let real_file = real(inner);
                let linked = linked.get_or_insert_with(|| {
                    files.iter().filter(is_read).filter_map(|inner| real(inner)).collect()
                });
                if real_file.as_ref().is_some_and(|real| linked.contains(real)) {
                    found.files.insert(path);
                    continue;
                }
                if taken.contains(&renamed) {
                    renamed = inner.replace('/', "-");
                    renamed = folder.places[0].1.unread(&renamed).map_or(renamed, |file| file.renamed);
                }
                taken.insert(renamed.clone());
                found.files.insert(path.clone());
                let readers = real_file.and_then(|real| others.get(&real)).map_or(&[][..], Vec::as_slice);
                let has = |agent: &Agent| readers.iter().any(|(_, reader)| reader.name == agent.name);
                // An agent that reads the file by another name lacks nothing.
                let agents: Vec<&'static Agent> =
                    folder.readers.iter().copied().filter(|agent| !has(agent)).collect();
                if agents.is_empty() && !folder.readers.is_empty() {
                    continue;
                }
                let reader = readers.iter().find(|(at, _)| *at != path).map(|(_, agent)| agent.title);
                let names = agents.iter().map(|agent| agent.name).collect();
                let file = Rename { from: inner.clone(), to: renamed, reader, agents };
                groups.entry((cause, names)).or_default().push(file);
            }
        }
        let groups = groups.into_iter();
        found.diagnostics.extend(groups.map(|((cause, _), files)| report(folder, cause, &files)));
    }

    /// Whether a file starts with a header, as rules do.
    fn has_header(&self, folder: &Folder, inner: &str) -> bool {
        const MAX_BYTES: usize = 1 << 20;
        let root = Path::new(&self.workspace().roots.roots[folder.root].path);
        let text =
            self.workspace().files.text_within(&folder.base.join(inner), root, MAX_BYTES).ok().flatten();
        text.is_some_and(|text| text.trim_start_matches('\u{feff}').starts_with("---\n"))
    }

    /// The agents that read each rule file, by its canonical path: the name by which they read it, and their title.
    fn readers(&self, book: &Rulebook) -> FileReaders {
        let mut readers = FileReaders::new();
        for (rule, _) in book.rules() {
            let Origin { place, format, inner, .. } = &rule.origin;
            let Ok(real) = self.disk.real(Path::new(&rule.origin.path)) else { continue };
            let owner = Agent::owner_of(format.id);
            let others = AGENTS.iter().filter(|agent| owner.is_none_or(|owner| owner.name != agent.name));
            let reads = |agent: &&'static Agent| {
                let mut own = agent.formats.iter().filter(|own| own.id == format.id);
                let reads = |other: &Place| other.path == place.path && other.unread(inner).is_none();
                own.any(|format| format.workspace.iter().any(reads))
            };
            let found = owner.into_iter().chain(others).filter(reads);
            let found = found.map(|agent| (rule.origin.display.clone(), agent));
            readers.entry(real).or_default().extend(found);
        }
        readers
    }

    /// The path of a folder as git knows it, shown to people; `None` if no link leads to it.
    fn git_path(&self, root: usize, folder: &Path) -> Option<String> {
        let base = self.disk.real(Path::new(&self.workspace().roots.roots[root].path)).ok()?;
        let real = self.disk.real(folder).ok()?;
        let inner = real.strip_prefix(base).ok()?.to_str()?;
        Some(format!("{}{}", self.prefix(root), inner.replace('\\', "/")))
    }

    /// Adds the text of folders of agents that hold no rules.
    fn seen_elsewhere(&self, found: &mut NotRead) {
        for (at, root) in self.workspace().roots.roots.iter().enumerate() {
            for (path, kind) in NOT_RULES {
                let files = self.texts(&Path::new(&root.path).join(path), &[]);
                let prefix = self.prefix(at);
                found.seen.extend(
                    files
                        .iter()
                        .map(|inner| SeenFile { path: format!("{prefix}{path}/{inner}"), kind: *kind }),
                );
            }
        }
    }

    /// The text files below a folder, by their paths inside it, sorted. Links are not followed inside it.
    fn texts(&self, folder: &Path, skip: &[&str]) -> Vec<String> {
        let mut files = Vec::new();
        let mut open = vec![String::new()];
        if !self.disk.kind(folder).is_some_and(Kind::is_folder) {
            return files;
        }
        while let Some(inner) = open.pop() {
            let Ok(listing) = self.disk.folder(&folder.join(&inner)) else { continue };
            for entry in &listing.entries {
                let Some(name) = entry.name.to_str() else { continue };
                let path = if inner.is_empty() { name.to_owned() } else { format!("{inner}/{name}") };
                let is_skipped = inner.is_empty() && skip.contains(&name) || NEVER_WALKED.contains(&name);
                if entry.kind.is_dir() && !is_skipped {
                    open.push(path);
                } else if !entry.kind.is_dir() && is_text(name) {
                    files.push(path);
                }
            }
            if files.len() + open.len() > MAX_FILES {
                break;
            }
        }
        files.sort();
        files
    }
}

fn report(folder: &Folder, cause: UnreadCause, files: &[Rename]) -> Diagnostic {
    let Folder { format, places, shown, real, .. } = folder;
    let (own, place) = places[0];
    let agents = &files[0].agents;
    let titles: Vec<&str> = agents.iter().map(|agent| agent.title).collect();
    let name = if agents.is_empty() { format.agent.to_owned() } else { titles.join(", ") };
    let (does, reads_none, it) = match agents.len() {
        0 | 1 => ("does not read", "reads none", "it reads"),
        _ => ("do not read", "read none", "they read"),
    };
    let reads = place.files().map(|files| files.shown()).unwrap_or_default();
    let (why, these) = match cause {
        UnreadCause::Extension => (format!("{it} `{reads}`"), "files with other extensions".to_owned()),
        UnreadCause::Case => (format!("{it} `{reads}`, in lower case"), "files in other case".to_owned()),
        UnreadCause::Depth => {
            (format!("{it} only `{reads}` directly in `{shown}`"), "files in sub-folders".to_owned())
        }
    };
    let extension = |file: &Rename| file.from.rsplit_once('.').map(|(_, extension)| extension.to_owned());
    let first = extension(&files[0]).filter(|first| {
        cause == UnreadCause::Extension && files.iter().all(|file| extension(file).as_ref() == Some(first))
    });
    let these = first.map_or(these, |extension| format!("`.{extension}` files"));
    let what = match files.len() {
        1 => format!("{does} this file"),
        count => format!("{reads_none} of the {count} {these} in `{shown}`"),
    };
    let is_sure = own.confidence == Confidence::High;
    let doubt = if is_sure { "" } else { ", as far as is documented" };
    let more = match files.len() {
        1 => String::new(),
        count => format!(" (and {} more: `rulebook check --all` lists them)", count - 1),
    };
    let message = format!("{name} {what}: {why}{doubt}");
    let within = |inner: &str| quoted(&format!("{real}/{inner}")).into_owned();
    // A rename would take the file from another agent.
    let command = |Rename { from, to, reader, .. }: &Rename| match reader {
        Some(_) => format!("ln -s {} {}", quoted(&link_target(from, to)), within(to)),
        None => format!("git mv {} {}", within(from), within(to)),
    };
    let kept = files[0].reader.map(|reader| format!("; {reader} reads the same file by its present name"));
    let help = format!("{}{more}{}", command(&files[0]), kept.unwrap_or_default());
    let path = |file: &Rename| format!("{shown}/{}", file.from);
    let others = files[1..].iter().map(|file| (path(file), command(file)));
    let found = Diagnostic::whole(Code::NotRead, path(&files[0]), message).help(help).others(others);
    let found = match agents.as_slice() {
        [agent] => found.of_agent(agent.name),
        _ => found,
    };
    if is_sure { found } else { found.severity(Severity::Note) }
}

/// Returns the agent that a format is named after and that does not read it.
pub(crate) fn ignoring(format: FormatId) -> Option<(&'static Agent, &'static Ignored)> {
    let ignored = AGENTS.iter().filter_map(|agent| Some((agent, agent.ignores.as_ref()?)));
    ignored.into_iter().find(|(_, ignored)| ignored.format == format)
}

/// The text of a link at one path of a folder to another.
fn link_target(from: &str, at: &str) -> String {
    match (from.rsplit_once('/'), at.rsplit_once('/')) {
        (Some((one, name)), Some((other, _))) if one == other => name.to_owned(),
        _ => format!("{}{from}", "../".repeat(at.matches('/').count())),
    }
}

/// Whether a text links to a file: `](folder/name)`, `@folder/name`, `mdc:folder/name`, with its whole path or the end of it.
fn links_to(body: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    body.match_indices(name).any(|(at, _)| {
        let before = &body[..at];
        let start = before.rfind(|c: char| c.is_whitespace() || "(@<\"".contains(c));
        let is_target =
            start.is_some_and(|start| before[..=start].ends_with("](") || before[start..].starts_with('@'));
        let target = start.map_or(before, |start| &before[start + 1..]).trim_start_matches("mdc:");
        let folder = target.trim_start_matches(['.', '/']);
        let is_same = path[..path.len() - name.len()].trim_start_matches('.').ends_with(folder);
        is_same && (is_target || before.ends_with("mdc:"))
    })
}
