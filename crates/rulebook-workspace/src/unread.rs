//! Text in agents' folders that is not read: rule files that their agent ignores, and files that are not rules.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use rulebook::agent::{Agent, Nested};
use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::format::{Confidence, FORMATS, Format, Place, PlaceKind};
use rulebook::resolve::Rulebook;
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

/// A folder that also holds other files of the agent.
const MIXED: &str = ".sourcegraph";

/// A rule folder on disk, and how its agent reads it.
struct Folder {
    agent: Option<&'static Agent>,
    format: &'static Format,
    places: Vec<(&'static Format, &'static Place)>,
    /// As shown to people.
    shown: String,
}

/// A file of a folder: its shown path, and the one under which the agent would read it.
type Renames = Vec<(String, String)>;

impl Sources<'_> {
    /// The files in rule folders of the tree that their agents do not read, and text beside rules that is not a rule.
    pub fn not_read(&self, book: &Rulebook, tree: &Tree) -> NotRead {
        let rules: HashSet<&str> = book.rules().map(|(rule, _)| rule.origin.display.as_str()).collect();
        let rejected = book.rejected().iter().map(|rejected| rejected.origin.display.as_str());
        let rules: HashSet<&str> = rules.into_iter().chain(rejected).collect();
        let mut found = NotRead::default();
        let mut known = BTreeSet::new();
        for at in &tree.rule_folders {
            for (format, place) in self.folder_places(at) {
                let base = Path::new(&self.workspace().roots.roots[at.root].path).join(&at.folder);
                let (agent, places) = owner_places(format, place);
                let is_nested = !at.folder.is_empty();
                let is_beyond = is_nested && agent.is_some_and(|agent| agent.nested != Nested::Read);
                let is_known = !known.insert((at.root, at.folder.as_str(), place.path));
                if is_known || is_beyond || places.is_empty() {
                    continue;
                }
                let slash = if is_nested { "/" } else { "" };
                let shown = format!("{}{}{slash}{}", self.prefix(at.root), at.folder, place.path);
                let folder = Folder { agent, format, places, shown };
                let files = self.texts(&base.join(place.path), place.skipped());
                self.sort_unread(&folder, &files, &rules, book, &mut found);
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
        rules: &HashSet<&str>,
        book: &Rulebook,
        found: &mut NotRead,
    ) {
        let mut groups: BTreeMap<UnreadCause, Renames> = BTreeMap::new();
        let mut taken: HashSet<String> = files.iter().cloned().collect();
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
                if taken.contains(&renamed) {
                    renamed = inner.replace('/', "-");
                    renamed = folder.places[0].1.unread(&renamed).map_or(renamed, |file| file.renamed);
                }
                taken.insert(renamed.clone());
                found.files.insert(path.clone());
                groups.entry(cause).or_default().push((path, format!("{}/{renamed}", folder.shown)));
            }
        }
        found.diagnostics.extend(groups.into_iter().map(|(cause, files)| report(folder, cause, &files)));
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

fn report(folder: &Folder, cause: UnreadCause, files: &Renames) -> Diagnostic {
    let Folder { agent, format, places, shown } = folder;
    let (own, place) = places[0];
    let name = agent.map_or(format.agent, |agent| agent.title);
    let reads = place.files().map(|files| files.shown()).unwrap_or_default();
    let (why, these) = match cause {
        UnreadCause::Extension => (format!("it reads `{reads}`"), "with other extensions"),
        UnreadCause::Case => (format!("it reads `{reads}`, in lower case"), "in other case"),
        UnreadCause::Depth => (format!("it reads only `{reads}` directly in `{shown}`"), "in sub-folders"),
    };
    let (path, renamed) = &files[0];
    let what = match files.len() {
        1 => "this file".to_owned(),
        count => format!("the {count} files {these} in `{shown}`"),
    };
    let is_sure = own.confidence == Confidence::High;
    let doubt = if is_sure { "" } else { ", as far as is documented" };
    let more = match files.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let message = format!("{name} does not read {what}: {why}{doubt}");
    let found = Diagnostic::whole(Code::NotRead, path, message).help(format!(
        "git mv {} {}{more}",
        quoted(path),
        quoted(renamed)
    ));
    if is_sure { found } else { found.severity(Severity::Note) }
}

/// A path as a shell needs it.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@~".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
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
