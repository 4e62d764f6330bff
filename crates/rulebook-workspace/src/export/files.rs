//! The files of an export: what becomes of each rule, and of each file.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use rulebook::export::{Blocks, Loss, Proof, Target, is_marked};

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
    /// The copy of a rule that is gone.
    Stale {
        /// The file of the copy, relative to the root.
        path: String,
        /// Whether it was edited, and is kept for that reason.
        is_edited: bool,
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
    bases: &'f [(PathBuf, RecordedCopies)],
    texts: BTreeMap<(usize, String), (Option<String>, Option<String>)>,
}

impl<'f> Files<'f> {
    pub(super) fn new(bases: &'f [(PathBuf, RecordedCopies)]) -> Files<'f> {
        Files { bases, texts: BTreeMap::new() }
    }

    /// What a file contains before and after the export.
    pub(super) fn get(
        &mut self,
        root: usize,
        path: &str,
    ) -> io::Result<&mut (Option<String>, Option<String>)> {
        let key = (root, path.to_owned());
        if !self.texts.contains_key(&key) {
            let text = text_at(&self.bases[root].0, path)?;
            self.texts.insert(key.clone(), (text.clone(), text));
        }
        Ok(self.texts.get_mut(&key).expect("it was added"))
    }

    /// Plans a copy, unless its file was edited, and records it.
    pub(super) fn put(
        &mut self,
        copy: PlannedCopy,
        new: &mut [(PathBuf, RecordedCopies)],
    ) -> io::Result<CopyState> {
        let known = self.bases[copy.root].1.find(&copy.path, &copy.source).cloned();
        let (before, after) = self.get(copy.root, &copy.path)?;
        let file = after.clone().unwrap_or_default();
        let there = match &copy.block {
            Some(name) => Blocks::of(before.as_deref().unwrap_or_default()).get(name).map(str::to_owned),
            None => before.clone(),
        };
        // A record may be a stranger's: only a text that says what it is a copy of is one.
        let is_copy = |text: &str, known: &Record| {
            hash(text) == known.copy_hash && is_marked(text, copy.block.as_deref().unwrap_or(&copy.source))
        };
        let is_edited = |there: &String| !known.as_ref().is_some_and(|known| is_copy(there, known));
        let state = match &there {
            None => CopyState::New,
            Some(there) if hash(there) == hash(&copy.text) => CopyState::Same,
            Some(there) if is_edited(there) && !copy.is_kept => CopyState::Edited {
                before: there.clone(),
                after: copy.text.clone(),
                is_conflict: known.as_ref().is_some_and(|known| known.source_hash != copy.source_hash),
            },
            Some(_) => CopyState::Changed,
        };
        if matches!(state, CopyState::Edited { .. }) {
            return Ok(state);
        }
        let is_new_file = known.as_ref().map_or(before.is_none(), |known| known.is_new_file);
        // Line breaks that git changed stay.
        if state != CopyState::Same || after.is_none() {
            *after = Some(match &copy.block {
                Some(name) => Blocks::of(&file).with(name, &copy.text),
                None => copy.text.clone(),
            });
        }
        let record = Record {
            copy_hash: hash(&copy.text),
            is_block: copy.block.is_some(),
            is_new_file: is_new_file && copy.block.is_some(),
            path: copy.path,
            source: copy.source,
            target: copy.target.to_owned(),
            source_hash: copy.source_hash,
        };
        let records = &mut new[copy.root].1.copies;
        // Most copies are new or as they were.
        if known.as_ref() == Some(&record) {
            return Ok(state);
        }
        let is_same = |other: &Record| {
            (&other.path, &other.source, &other.target) == (&record.path, &record.source, &record.target)
        };
        records.retain(|other| !is_same(other));
        records.push(record);
        Ok(state)
    }

    pub(super) fn changes(self) -> Vec<PlannedFile> {
        let changed = self.texts.into_iter().filter(|(_, (before, after))| before != after);
        changed
            .map(|((root, path), (before, after))| {
                let base = self.bases[root].0.clone();
                PlannedFile { path: base.join(&path), display: path, base, before, after }
            })
            .collect()
    }
}

/// What the marker of an index names instead of a source.
pub(super) const INDEX: &str = "the list of rules";

/// The largest file that a block is added to, in bytes.
const MAX_FILE: usize = 4 << 20;

/// The text of a file in a folder, through links that stay in the folder.
pub(super) fn text_at(base: &Path, inner: &str) -> io::Result<Option<String>> {
    let path = base.join(inner);
    if base.exists() {
        let named = |error| io::Error::other(format!("`{}`: {error}", path.display()));
        Owner::Repository(base).check(&path).map_err(named)?;
    }
    read::text_within(&path, base, MAX_FILE).map_err(|error| {
        io::Error::new(error.kind(), format!("`{}`: {}", path.display(), read::reason(&error)))
    })
}
