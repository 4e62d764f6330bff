//! The record of copies: which file is a copy of which, and what both contained when it was written.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::Roots;
use rulebook::export::{Blocks, Target, Tool, is_marked, outside_blocks};
use rulebook::format::{FORMATS, FormatId};
use rulebook::parse::{Entry, Parsed};
use rulebook::source::{Origin, Scope};
use serde::{Deserialize, Serialize};

use crate::storage::{FileKind, Storage};
use crate::{read, state};

/// The file, relative to the root.
pub(crate) const FILE: &str = ".rulebook/export.lock";

/// What the marker of a list of rules names instead of a source.
pub(crate) const INDEX: &str = "the list of rules";

/// The version of its content.
const VERSION: u64 = 1;

/// The largest record that is read, in bytes.
const MAX_RECORD: usize = 16 << 20;

/// What was exported from a root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedCopies {
    version: u64,
    /// Sorted by path, source and target.
    pub copies: Vec<Record>,
    /// How many folders were made for the folder itself.
    #[serde(default, skip_serializing_if = "is_zero", rename = "newFolders")]
    pub(crate) new_folders: usize,
    /// Folders that were empty before, relative to the folder. They stay when their copies are removed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty", rename = "keptFolders")]
    pub(crate) kept_folders: BTreeSet<String>,
    /// Files that the record names, but that no export writes.
    #[serde(skip)]
    pub refused: Vec<String>,
}

/// One copy of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Record {
    /// The file of the copy, relative to the root.
    pub path: String,
    /// The file of the rule, relative to the root; empty for an index of rules.
    pub source: String,
    /// The agent it was written for.
    pub target: String,
    /// The hash of the rule's file.
    pub source_hash: String,
    /// The hash of the copy: of the file, or of its block.
    pub copy_hash: String,
    /// The hash of what an export was about to write, if it did not finish.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// Whether the copy is a block of a file.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_block: bool,
    /// Whether the file did not exist before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_new_file: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &usize) -> bool {
    *value == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Record {
    /// Whether a copy has this text.
    pub(crate) fn is_of(&self, text: &str) -> bool {
        let found = hash(text);
        self.copy_hash == found || self.pending.as_ref() == Some(&found)
    }

    fn key(&self) -> [&str; 3] {
        [&self.path, &self.source, &self.target]
    }
}

impl RecordedCopies {
    /// What is true before, while and after the copies of another record replace these: a copy has its recorded text or the
    /// one that is about to be written.
    pub(crate) fn becoming(&self, next: &RecordedCopies) -> RecordedCopies {
        let new: HashMap<[&str; 3], &Record> =
            next.copies.iter().map(|record| (record.key(), record)).collect();
        let old: HashSet<[&str; 3]> = self.copies.iter().map(Record::key).collect();
        let (new_folders, kept_folders) = (next.new_folders, next.kept_folders.clone());
        let mut both = RecordedCopies { new_folders, kept_folders, ..self.clone() };
        for record in &mut both.copies {
            let next = new.get(&record.key()).map(|next| &next.copy_hash);
            record.pending = next.filter(|next| **next != record.copy_hash).cloned();
        }
        both.copies.extend(next.copies.iter().filter(|record| !old.contains(&record.key())).cloned());
        both
    }

    /// Reads the record of a root. A record that cannot be read is an error: nothing may be overwritten then.
    pub(crate) fn read(files: &Storage, root: &Path) -> io::Result<RecordedCopies> {
        let path = root.join(FILE);
        let unreadable = |why: String| {
            io::Error::other(format!(
                "`{FILE}` cannot be read: {why}; restore it, or remove it to start again"
            ))
        };
        let text =
            files.text_within(&path, root, MAX_RECORD).map_err(|error| unreadable(read::reason(&error)))?;
        let Some(text) = text else { return Ok(RecordedCopies::default()) };
        let known: RecordedCopies =
            serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        match known.version {
            VERSION => Ok(known.checked()),
            newer => Err(unreadable(format!("a newer Rulebook wrote it (version {newer})"))),
        }
    }

    /// Without the files that no export writes, and each copy once: somebody else may have written the record.
    fn checked(mut self) -> RecordedCopies {
        let is_path = |record: &Record| {
            Target::named(&record.target).is_some_and(|target| target.is_path(&record.path))
        };
        let (copies, refused): (Vec<Record>, Vec<Record>) = self.copies.into_iter().partition(is_path);
        self.copies = copies;
        let key = |record: &Record| (record.path.clone(), record.source.clone(), record.target.clone());
        let mut seen = HashSet::new();
        self.copies.retain(|record| seen.insert(key(record)));
        self.refused = refused.into_iter().map(|record| record.path).collect();
        self
    }

    /// The text of the record; `None` if there is nothing to record.
    pub(crate) fn text(&self) -> Option<String> {
        let mut sorted = RecordedCopies { version: VERSION, ..self.clone() };
        sorted.copies.sort();
        sorted.copies.dedup();
        let text = serde_json::to_string_pretty(&sorted).unwrap_or_default() + "\n";
        (!sorted.copies.is_empty()).then_some(text)
    }

    /// The absolute paths of copies of rules. What was imported from a tool is a rule itself.
    pub(crate) fn paths(&self, root: &Path) -> HashSet<PathBuf> {
        let is_copy = |record: &&Record| !record.source.is_empty() && Tool::of_file(&record.source).is_none();
        self.copies.iter().filter(is_copy).map(|record| root.join(&record.path)).collect()
    }
}

/// The hash of a rule's file. The copies that are part of it do not count.
pub(crate) fn source_hash(text: &str) -> String {
    hash(&outside_blocks(text))
}

/// The hash of a text, whatever its line breaks: git may change them.
pub(crate) fn hash(text: &str) -> String {
    state::sha256(text.replace("\r\n", "\n").as_bytes())
}

/// Notes for every rule which files it is a recorded copy of. Returns the problems of the records.
pub(crate) fn mark_copies(
    parsed: &mut [Parsed],
    files: &Storage,
    roots: &Roots,
    reads: impl Fn(FormatId) -> bool,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    // By the absolute path of the copy: the absolute path of the rule, and its path in the root.
    let mut sources: HashMap<String, Vec<(String, String)>> = HashMap::new();
    for root in &roots.roots {
        match RecordedCopies::read(files, Path::new(&root.path)) {
            Ok(records) => {
                for record in &records.copies {
                    let below = |path: &str| format!("{}/{path}", root.path.trim_end_matches('/'));
                    // All lists of rules have one origin.
                    let source = if record.source.is_empty() { FILE } else { &record.source };
                    let source = (below(source), source.to_owned());
                    sources.entry(below(&record.path)).or_default().push(source);
                }
                problems.extend(records.refused.iter().map(|path| {
                    let message = format!("it records `{path}`, which no export writes");
                    Diagnostic::whole(Code::BadState, FILE, message).help("remove these lines")
                }));
            }
            Err(error) => problems.push(Diagnostic::whole(Code::BadState, FILE, error.to_string())),
        }
    }
    let of_entry = |parsed: &Parsed| match &parsed.entry {
        Entry::Rule(rule) => (rule.origin.path.clone(), true),
        entry => (entry.origin().path.clone(), false),
    };
    let found: HashMap<String, bool> =
        if sources.is_empty() { HashMap::new() } else { parsed.iter().map(of_entry).collect() };
    // Rules of folders without evidence are not loaded. What was imported from a tool, or is not read, decides nothing.
    let is_elsewhere = |source: &str, inner: &str| {
        Origin::at(FORMATS, inner).is_some_and(|origin| !origin.folder.is_empty() && reads(origin.format.id))
            && files.kind(Path::new(source)).is_some_and(FileKind::is_file)
    };
    let decides = |source: &str, inner: &str| match found.get(source) {
        Some(is_rule) => *is_rule,
        None => is_elsewhere(source, inner),
    };
    for parsed in parsed.iter_mut().filter(|_| !sources.is_empty()) {
        if let Entry::Rule(rule) = &mut parsed.entry
            && rule.origin.scope == Scope::Workspace
            && let Some(known) = sources.get(&rule.origin.path)
        {
            rule.copy_of = known.iter().map(|(source, _)| source.clone()).collect();
            rule.follows_source = !rule.is_located()
                && known.iter().any(|(source, inner)| is_marked(&rule.body, inner) && decides(source, inner));
        }
    }
    problems
}

/// Reports recorded copies that were edited, or whose rule changed since.
pub(crate) fn report_drifted(files: &Storage, roots: &Roots) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for root in &roots.roots {
        let root = Path::new(&root.path);
        let Ok(records) = RecordedCopies::read(files, root) else { continue };
        for record in &records.copies {
            let text = |path: &str| files.text_within(&root.join(path), root, MAX_RECORD).ok().flatten();
            let name = if record.source.is_empty() { INDEX } else { &record.source };
            let copy = text(&record.path).and_then(|text| match record.is_block {
                true => Blocks::of(&text).get(name).map(str::to_owned),
                false => Some(text),
            });
            let Some(copy) = copy else { continue };
            if record.source.is_empty() {
                found.extend((!record.is_of(&copy)).then(|| edited_list(&record.path)));
                continue;
            }
            let source = text(&record.source);
            let command = match Tool::of_file(&record.source) {
                Some(tool) => format!("rulebook import {} --to {}", tool.name, record.target),
                None => format!("rulebook export --from {} --to {}", record.source, record.target),
            };
            let (what, help) = match (
                record.is_of(&copy),
                source.map(|text| source_hash(&text) == record.source_hash),
            ) {
                (true, Some(true)) => continue,
                (true, Some(false)) => ("is a copy of `{}`, which changed since", format!("run `{command}`")),
                (false, Some(_)) => (
                    "is a copy of `{}`, and was edited",
                    format!(
                        "run `{command}` with `--adopt {}` to take the edits, or with `--keep {}` to discard them",
                        record.path, record.source
                    ),
                ),
                (_, None) => (
                    "is a copy of `{}`, which is gone",
                    "run `rulebook export --sync`, or remove it".to_owned(),
                ),
            };
            let message = what.replace("{}", &record.source);
            found.push(Diagnostic::whole(Code::DriftedCopy, &record.path, message).help(help));
        }
    }
    found.sort();
    // Several targets may share a copy.
    found.dedup_by(|one, other| (&one.path, &one.message) == (&other.path, &other.message));
    found
}

fn edited_list(path: &str) -> Diagnostic {
    let message = format!("{INDEX} in it was edited, so it is no longer updated");
    let help = format!(
        "repeat the export with `--keep {path}` to replace the list; text of your own belongs outside of it"
    );
    Diagnostic::whole(Code::DriftedCopy, path, message).help(help)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    const OUTSIDE: &str = "<!-- rulebook: copy of a.md -->\nsecret\n";

    fn record(path: &str, source: &str) -> String {
        let record = Record {
            path: path.to_owned(),
            source: source.to_owned(),
            target: "claude".to_owned(),
            source_hash: hash("x"),
            copy_hash: hash(OUTSIDE),
            pending: None,
            is_block: false,
            is_new_file: false,
        };
        RecordedCopies { version: VERSION, copies: vec![record], ..RecordedCopies::default() }.text().unwrap()
    }

    /// If an export is interrupted, `--remove` knows what it wrote and what it did not write yet.
    #[test]
    fn an_interrupted_export_is_recorded() {
        let before: RecordedCopies = serde_json::from_str(&record("CLAUDE.md", "a.md")).unwrap();
        let mut after = before.clone();
        after.copies[0].copy_hash = hash("new");
        after.copies.push(Record { path: "AGENTS.md".to_owned(), ..after.copies[0].clone() });
        let between = before.becoming(&after);
        let is_of = |at: usize, text: &str| between.copies[at].is_of(text);
        assert_eq!(
            (between.copies.len(), is_of(0, OUTSIDE), is_of(0, "new"), is_of(0, "edited"), is_of(1, "new")),
            (2, true, true, false, true)
        );
        let again: RecordedCopies = serde_json::from_str(&between.text().unwrap()).unwrap();
        assert_eq!(again.copies[1].pending, Some(hash("new")));
        assert_eq!(after.becoming(&after).copies, after.copies);
    }

    /// A record is a file of the repository: it names files of the workspace, and none that a link leads to outside.
    #[test]
    fn a_record_leads_to_no_file_outside() {
        let stage = tempfile::tempdir().unwrap();
        let root = stage.path().join("repo");
        fs::create_dir_all(root.join(".rulebook")).unwrap();
        fs::create_dir_all(root.join(".claude/rules")).unwrap();
        fs::write(stage.path().join("secret.md"), OUTSIDE).unwrap();
        symlink("../secret.md", root.join("link.md")).unwrap();
        symlink("../../../secret.md", root.join(".claude/rules/link.md")).unwrap();
        let read = || RecordedCopies::read(&Storage::Disk, &root).map_err(|error| error.to_string());
        let lock = root.join(FILE);
        for path in ["../secret.md", "a/../../secret.md", "/etc/passwd"] {
            fs::write(&lock, record(path, "a.md")).unwrap();
            assert_eq!(read().unwrap().copies, [], "{path}");
        }
        // What a link leads to does not count as the copy: nothing is said about it.
        let roots = Roots {
            roots: vec![rulebook::evidence::Root { path: root.display().to_string(), ..Default::default() }],
            home: None,
        };
        fs::write(&lock, record(".claude/rules/link.md", "gone.md")).unwrap();
        assert_eq!(report_drifted(&Storage::Disk, &roots), []);
        fs::write(root.join(".claude/rules/copy.md"), OUTSIDE).unwrap();
        fs::write(&lock, record(".claude/rules/copy.md", "link.md")).unwrap();
        assert!(report_drifted(&Storage::Disk, &roots)[0].message.ends_with("which is gone"));
        fs::remove_file(&lock).unwrap();
        symlink(stage.path().join("secret.md"), &lock).unwrap();
        assert!(read().unwrap_err().contains("leads out of its folder"));
    }
}
