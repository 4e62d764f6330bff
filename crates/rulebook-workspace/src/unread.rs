//! Text in agents' folders that is not read: rule files that their agent ignores, and files that are not rules.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rulebook::agent::{Agent, Nested};
use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::format::{Confidence, FORMATS, Format, Place, PlaceKind};
use rulebook::resolve::Rulebook;
use rulebook::shell::quoted;
use rulebook::source::Origin;
use rulebook::unread::{
    NOT_RULES, SeenKind, UnreadCause, UnreadFile, is_documentation, is_text, owner_places,
};

use serde::Serialize;

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
}

/// The most files that are listed of one folder.
const MAX_FILES: usize = 5_000;

/// Who reads a file: the name by which an agent reads it, and the agent's title.
type FileReaders = HashMap<PathBuf, Vec<(String, &'static str)>>;

/// A folder that also holds other files of the agent.
const MIXED: &str = ".sourcegraph";

/// A rule folder on disk, and how its agent reads it.
struct Folder {
    agent: Option<&'static Agent>,
    format: &'static Format,
    places: Vec<(&'static Format, &'static Place)>,
    /// As shown to people.
    shown: String,
    /// On disk.
    base: PathBuf,
    /// As git knows it: where links lead.
    real: String,
}

/// A file of a folder by its path in there, and the one under which the agent would read it.
struct Rename {
    from: String,
    to: String,
    /// Another agent that reads the same file by its present name.
    reader: Option<&'static str>,
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
                let folder = Folder { agent, format, places, shown, base, real };
                let files = self.texts(&folder.base, place.skipped());
                self.sort_unread(&folder, &files, (&rules, &others), book, &mut found);
            }
        }
        self.seen_elsewhere(&mut found);
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
        let mut groups: BTreeMap<UnreadCause, Vec<Rename>> = BTreeMap::new();
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
            } else if !is_rule && book.rules().any(|(rule, _)| links_to(&rule.body, name)) {
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
                let readers = real_file.and_then(|real| others.get(&real));
                let reader = readers.and_then(|readers| readers.iter().find(|(at, _)| *at != path));
                let reader = reader.map(|(_, title)| *title);
                groups.entry(cause).or_default().push(Rename { from: inner.clone(), to: renamed, reader });
            }
        }
        found.diagnostics.extend(groups.into_iter().map(|(cause, files)| report(folder, cause, &files)));
    }

    /// The agents that read each rule file, by its canonical path: the name by which they read it, and their title.
    fn readers(&self, book: &Rulebook) -> FileReaders {
        let mut readers = FileReaders::new();
        for (rule, _) in book.rules() {
            let Origin { place, format, inner, .. } = &rule.origin;
            let (agent, places) = owner_places(format, place);
            let is_read = places.iter().any(|(_, place)| place.unread(inner).is_none());
            if let Some(agent) = agent.filter(|_| is_read)
                && let Ok(real) = self.disk.real(Path::new(&rule.origin.path))
            {
                readers.entry(real).or_default().push((rule.origin.display.clone(), agent.title));
            }
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
    let Folder { agent, format, places, shown, real, .. } = folder;
    let (own, place) = places[0];
    let name = agent.map_or(format.agent, |agent| agent.title);
    let reads = place.files().map(|files| files.shown()).unwrap_or_default();
    let (why, these) = match cause {
        UnreadCause::Extension => (format!("it reads `{reads}`"), "files with other extensions".to_owned()),
        UnreadCause::Case => (format!("it reads `{reads}`, in lower case"), "files in other case".to_owned()),
        UnreadCause::Depth => {
            (format!("it reads only `{reads}` directly in `{shown}`"), "files in sub-folders".to_owned())
        }
    };
    let extension = |file: &Rename| file.from.rsplit_once('.').map(|(_, extension)| extension.to_owned());
    let first = extension(&files[0]).filter(|first| {
        cause == UnreadCause::Extension && files.iter().all(|file| extension(file).as_ref() == Some(first))
    });
    let these = first.map_or(these, |extension| format!("`.{extension}` files"));
    let what = match files.len() {
        1 => "does not read this file".to_owned(),
        count => format!("reads none of the {count} {these} in `{shown}`"),
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
    let command = |Rename { from, to, reader }: &Rename| match reader {
        Some(_) => format!("ln -s {} {}", quoted(&link_target(from, to)), within(to)),
        None => format!("git mv {} {}", within(from), within(to)),
    };
    let kept = files[0].reader.map(|reader| format!("; {reader} reads the same file by its present name"));
    let help = format!("{}{more}{}", command(&files[0]), kept.unwrap_or_default());
    let path = |file: &Rename| format!("{shown}/{}", file.from);
    let others = files[1..].iter().map(|file| (path(file), command(file)));
    let found = Diagnostic::whole(Code::NotRead, path(&files[0]), message).help(help).others(others);
    let found = match agent {
        Some(agent) => found.of_agent(agent.name),
        None => found,
    };
    if is_sure { found } else { found.severity(Severity::Note) }
}

/// The text of a link at one path of a folder to another.
fn link_target(from: &str, at: &str) -> String {
    match (from.rsplit_once('/'), at.rsplit_once('/')) {
        (Some((one, name)), Some((other, _))) if one == other => name.to_owned(),
        _ => format!("{}{from}", "../".repeat(at.matches('/').count())),
    }
}

/// Whether a text links to a file of that name: `](path/name)`, `@path/name`, `mdc:path/name`.
fn links_to(body: &str, name: &str) -> bool {
    body.match_indices(name).any(|(at, _)| {
        let before = &body[..at];
        let start = before.rfind(|c: char| c.is_whitespace() || "(@<\"".contains(c));
        let is_target =
            start.is_some_and(|start| before[..=start].ends_with("](") || before[start..].starts_with('@'));
        is_target || before.ends_with("mdc:")
    })
}
