//! The files of an export: what becomes of each rule, and of each file.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::path::{Path, PathBuf};

use rulebook::export::{Blocks, Loss, Proof, Target, is_marked, with_breaks};

use crate::read;
use crate::recorded::{Record, RecordedCopies, hash};
use crate::write::Owner;

/// What becomes of a rule for a target.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportRow {
    /// The rule's id; empty for a copy whose rule is gone.
    pub id: String,
    /// The rule's file, as shown.
    pub source: String,
    /// The target.
    pub target: &'static Target,
    /// What becomes of it.
    pub outcome: Outcome,
    /// What else people should know.
    pub notes: Vec<String>,
}

impl ExportRow {
    /// Whether a name is that of its source, or of the file that lists its rule.
    pub(super) fn is_of(&self, name: &str) -> bool {
        self.source == name || matches!(&self.outcome, Outcome::Indexed(path, _) if path == name)
    }

    /// What the target does not do as meant, if anything.
    pub fn loss(&self) -> Option<Loss> {
        match &self.outcome {
            Outcome::Copied { proof, .. } | Outcome::Read { proof, .. } if !proof.is_same() => {
                Some(Loss::Partly(Box::new(proof.clone())))
            }
            Outcome::Delivered(loss) | Outcome::Indexed(_, loss) | Outcome::LeftOut(loss) => {
                Some(loss.clone())
            }
            _ => None,
        }
    }
}

/// What becomes of a rule for a target.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// It is copied.
    Copied {
        /// The file of the copy, relative to the root.
        path: String,
        /// How the copy compares with the rule.
        proof: Proof,
        /// How the copy compares with what is on disk.
        state: CopyState,
    },
    /// The agent already reads a file that does the same.
    Read {
        /// That file.
        path: String,
        /// How it compares.
        proof: Proof,
    },
    /// Rulebook delivers it.
    Delivered(Loss),
    /// It is listed in this file.
    Indexed(String, Loss),
    /// It is not written.
    LeftOut(Loss),
    /// A copy that is no longer made.
    Stale {
        /// The file of the copy, relative to the root.
        path: String,
        /// Whether it was edited, and is kept for that reason.
        is_edited: bool,
        /// Whether its rule is gone; otherwise the rule is no longer copied.
        is_gone: bool,
    },
    /// The list of rules was edited by hand and is not touched.
    ListEdited {
        /// Its file, relative to the root.
        path: String,
        /// What is there.
        before: String,
        /// What would be written.
        after: String,
    },
}

/// How a copy compares with what is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyState {
    /// It does not exist yet.
    New,
    /// It is replaced.
    Changed,
    /// It is up to date.
    Same,
    /// It was edited by hand and is not touched: what is there, and what would be written.
    Edited {
        /// What is there.
        before: String,
        /// What would be written.
        after: String,
        /// Whether the rule changed too.
        is_conflict: bool,
    },
}

/// A file that changes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// As shown: relative to its root.
    pub display: String,
    /// The folder that it must stay in.
    pub base: PathBuf,
    /// What it contains; `None` if it does not exist.
    pub before: Option<String>,
    /// What it will contain; `None` if it is removed.
    pub after: Option<String>,
}

/// A copy that is to be written.
pub(super) struct PlannedCopy {
    pub(super) root: usize,
    pub(super) path: String,
    pub(super) source: String,
    pub(super) target: &'static str,
    /// The whole file, or the block.
    pub(super) text: String,
    /// The name in the markers of the block.
    pub(super) block: Option<String>,
    pub(super) source_hash: String,
    pub(super) is_kept: bool,
}

/// The files of an export, as they are and as they will be.
pub(super) struct Files<'f> {
    bases: Vec<Base<'f>>,
    texts: HashMap<(usize, String), (Option<String>, Option<String>)>,
}

/// A folder that copies are written to.
struct Base<'f> {
    path: &'f Path,
    recorded: &'f [Record],
    /// Positions in the record, by the path of the copy.
    by_path: HashMap<&'f str, Vec<usize>>,
    /// What is in its folders. Each is listed once: most copies do not exist yet.
    listings: HashMap<String, Listing>,
}

/// The names in a folder.
enum Listing {
    /// By their lower case: some file systems ignore case.
    Names(HashMap<String, Vec<String>>),
    /// The folder cannot be listed.
    Unknown,
}

impl Listing {
    fn of(folder: &Path) -> Listing {
        let names = |entries: std::fs::ReadDir| {
            let mut names: HashMap<String, Vec<String>> = HashMap::new();
            for entry in entries {
                let name = entry?.file_name().to_string_lossy().into_owned();
                names.entry(name.to_lowercase()).or_default().push(name);
            }
            Ok(names)
        };
        match read::folder(folder).and_then(names) {
            Ok(names) => Listing::Names(names),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Listing::Names(HashMap::new()),
            Err(_) => Listing::Unknown,
        }
    }

    /// Whether no file has this name. Some file systems know a file by other names too: normalised, or shortened with a `~`.
    fn lacks(&self, name: &str) -> bool {
        let is_plain = name.is_ascii() && !name.contains('~');
        matches!(self, Listing::Names(names) if is_plain && !names.contains_key(&name.to_lowercase()))
    }

    /// Whether a file has this name in other letter case. Some file systems take it for the same file.
    fn has_other_case(&self, name: &str) -> bool {
        let Listing::Names(names) = self else { return false };
        names.get(&name.to_lowercase()).is_some_and(|same| same.iter().any(|other| other != name))
    }
}

impl<'f> Base<'f> {
    fn new((path, recorded): &'f (PathBuf, RecordedCopies)) -> Base<'f> {
        let recorded = recorded.copies.as_slice();
        let mut by_path: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, record) in recorded.iter().enumerate() {
            by_path.entry(&record.path).or_default().push(at);
        }
        Base { path, recorded, by_path, listings: HashMap::new() }
    }

    /// The records of a copy, each with its position.
    fn records(&self, path: &str) -> impl Iterator<Item = (usize, &'f Record)> {
        let positions = self.by_path.get(path).map_or(&[][..], Vec::as_slice);
        positions.iter().map(|at| (*at, &self.recorded[*at]))
    }

    fn listing(&mut self, folder: &str) -> io::Result<&Listing> {
        if !self.listings.contains_key(folder) {
            check(self.path, folder)?;
            self.listings.insert(folder.to_owned(), Listing::of(&self.path.join(folder)));
        }
        Ok(&self.listings[folder])
    }

    fn text(&mut self, path: &str) -> io::Result<Option<String>> {
        let (folder, name) = split(path);
        if self.listing(folder)?.lacks(name) { Ok(None) } else { text_at(self.path, path) }
    }
}

impl<'f> Files<'f> {
    pub(super) fn new(bases: &'f [(PathBuf, RecordedCopies)]) -> Files<'f> {
        Files { bases: bases.iter().map(Base::new).collect(), texts: HashMap::new() }
    }

    /// The record of a copy.
    pub(super) fn record(&self, root: usize, path: &str, source: &str) -> Option<&'f Record> {
        let mut records = self.bases[root].records(path).map(|(_, record)| record);
        records.find(|record| record.source == source)
    }

    /// Whether a file is recorded as a copy of anything.
    pub(super) fn is_recorded(&self, root: usize, path: &str) -> bool {
        self.bases[root].by_path.contains_key(path)
    }

    /// Whether a file differs from this one in letter case alone.
    pub(super) fn has_other_case(&mut self, root: usize, path: &str) -> io::Result<bool> {
        let (folder, name) = split(path);
        Ok(self.bases[root].listing(folder)?.has_other_case(name))
    }

    /// Whether a file did not exist before its first copy.
    fn is_own_file(&self, root: usize, path: &str) -> bool {
        self.bases[root].records(path).any(|(_, record)| record.is_new_file)
    }

    /// What a file contains before and after the export.
    pub(super) fn get(
        &mut self,
        root: usize,
        path: &str,
    ) -> io::Result<&mut (Option<String>, Option<String>)> {
        let text = match self.texts.entry((root, path.to_owned())) {
            Entry::Occupied(known) => return Ok(known.into_mut()),
            Entry::Vacant(new) => (new, self.bases[root].text(path)?),
        };
        let (new, text) = text;
        Ok(new.insert((text.clone(), text)))
    }

    /// Plans a copy, unless its file was edited, and records it.
    pub(super) fn put(
        &mut self,
        copy: PlannedCopy,
        new: &mut [(PathBuf, RecordedCopies)],
    ) -> io::Result<CopyState> {
        let known = self.record(copy.root, &copy.path, &copy.source);
        let (before, after) = self.get(copy.root, &copy.path)?;
        let file = after.clone().unwrap_or_default();
        let there = match &copy.block {
            Some(name) => Blocks::of(before.as_deref().unwrap_or_default()).get(name).map(str::to_owned),
            None => before.clone(),
        };
        // A record may be a stranger's: only a text that says what it is a copy of is one.
        let is_copy = |text: &str, known: &Record| {
            known.is_of(text) && is_marked(text, copy.block.as_deref().unwrap_or(&copy.source))
        };
        let is_edited = |there: &String| !known.is_some_and(|known| is_copy(there, known));
        let state = match &there {
            None => CopyState::New,
            Some(there) if hash(there) == hash(&copy.text) => CopyState::Same,
            Some(there) if is_edited(there) && !copy.is_kept => CopyState::Edited {
                before: there.clone(),
                after: copy.text.clone(),
                is_conflict: known.is_some_and(|known| known.source_hash != copy.source_hash),
            },
            Some(_) => CopyState::Changed,
        };
        if matches!(state, CopyState::Edited { .. }) {
            return Ok(state);
        }
        let had_no_file = before.is_none();
        // Line breaks that git changed stay.
        if state != CopyState::Same || after.is_none() {
            let model = if file.is_empty() { &copy.text } else { &file };
            let line_break = if model.contains("\r\n") { "\r\n" } else { "\n" };
            *after = Some(match &copy.block {
                Some(name) => Blocks::of(&file).with(name, &with_breaks(&copy.text, line_break)),
                None => copy.text.clone(),
            });
        }
        let record = Record {
            copy_hash: hash(&copy.text),
            pending: None,
            is_block: copy.block.is_some(),
            is_new_file: copy.block.is_some() && (had_no_file || self.is_own_file(copy.root, &copy.path)),
            path: copy.path,
            source: copy.source,
            target: copy.target.to_owned(),
            source_hash: copy.source_hash,
        };
        let is_same = |(_, other): &(usize, &Record)| {
            (&other.source, &other.target) == (&record.source, &record.target)
        };
        let at = self.bases[copy.root].records(&record.path).find(is_same).map(|(at, _)| at);
        // Records stay where they are until stale ones are removed.
        let records = &mut new[copy.root].1.copies;
        match at {
            Some(at) => records[at] = record,
            None => records.push(record),
        }
        Ok(state)
    }

    pub(super) fn changes(self) -> Vec<PlannedFile> {
        let changed = self.texts.into_iter().filter(|(_, (before, after))| before != after);
        let mut changed: Vec<_> = changed.collect();
        changed.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let planned =
            |((root, path), (before, after)): ((usize, String), (Option<String>, Option<String>))| {
                let base = self.bases[root].path.to_owned();
                PlannedFile { path: base.join(&path), display: path, base, before, after }
            };
        changed.into_iter().map(planned).collect()
    }
}

/// The folder and the name of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The largest file that a block is added to, in bytes.
const MAX_FILE: usize = 4 << 20;

/// The text of a file in a folder, through links that stay in the folder.
pub(super) fn text_at(base: &Path, inner: &str) -> io::Result<Option<String>> {
    check(base, inner)?;
    let path = base.join(inner);
    read::text_within(&path, base, MAX_FILE).map_err(|error| {
        io::Error::new(error.kind(), format!("`{}`: {}", path.display(), read::reason(&error)))
    })
}

/// Checks that a path in a folder may be written.
fn check(base: &Path, inner: &str) -> io::Result<()> {
    let path = base.join(inner);
    let named = |error| io::Error::other(format!("`{}`: {error}", path.display()));
    if base.exists() { Owner::Repository(base).check(&path).map_err(named) } else { Ok(()) }
}
