//! Applying a plan: writes and removes files, and records what was done.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::files::{Files, PlannedFile};
use super::plan::ExportPlan;
use super::stale::{Taken, take_out};
use crate::recorded::{FILE, RecordedCopies};
use crate::storage::Storage;
use crate::workspace::Workspace;
use crate::write::{self, Kind, Owner, Rewrite};

/// A file could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

impl std::fmt::Display for WriteError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot write `{}`: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for WriteError {}

impl ExportPlan {
    /// Whether the files on disk are what the plan says, the record included.
    pub fn is_done(&self) -> io::Result<bool> {
        for (base, records) in &self.records {
            if RecordedCopies::read(&Storage::Disk, base)?.text() != records.text() {
                return Ok(false);
            }
        }
        Ok(self.files.is_empty())
    }

    /// Writes the files of the plan, and records them.
    ///
    /// # Errors
    /// If a file is outside its root or cannot be written. Nothing is written if one is outside.
    pub fn apply(&self) -> Result<(), WriteError> {
        write_files(&self.files, self.records.clone())
    }
}

impl Workspace {
    /// Takes every copy out again. Returns the files that change and, by name, those that stay because they were edited.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn remove_exported(&self, dir: Option<&Path>) -> io::Result<(ExportPlan, Vec<String>)> {
        let bases: Vec<PathBuf> = match dir {
            Some(dir) => vec![dir.to_owned()],
            None => self.roots.roots.iter().map(|root| root.path.clone().into()).collect(),
        };
        let read = |base: PathBuf| RecordedCopies::read(&Storage::Disk, &base).map(|records| (base, records));
        let records: Vec<(PathBuf, RecordedCopies)> =
            bases.into_iter().map(read).collect::<io::Result<_>>()?;
        let mut files = Files::new(&records);
        let mut kept: BTreeSet<String> = BTreeSet::new();
        let mut left: Vec<(PathBuf, RecordedCopies)> = records.clone();
        for (root, (_, recorded)) in records.iter().enumerate() {
            let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
            left[root].1.copies.clear();
            // In reverse, so that text that was added last is removed first.
            for record in recorded.copies.iter().rev() {
                let is_first = seen.insert((&record.path, &record.source));
                if is_first && take_out(&mut files, root, record)? == Taken::Edited {
                    kept.insert(record.path.clone());
                }
                if kept.contains(&record.path) {
                    left[root].1.copies.push(record.clone());
                }
            }
        }
        let plan = ExportPlan { rows: Vec::new(), files: files.changes(), tree: 0, records: left };
        Ok((plan, kept.into_iter().collect()))
    }
}

fn write_files(files: &[PlannedFile], records: Vec<(PathBuf, RecordedCopies)>) -> Result<(), WriteError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| WriteError { path, error }
    };
    for (base, _) in records.iter().filter(|(base, _)| !base.exists()) {
        write::make_folder(base).map_err(failed(base))?;
    }
    for PlannedFile { path, base, .. } in files {
        Owner::Repository(base).check(path).map_err(failed(path))?;
    }
    let mut texts: Vec<Rewrite> = Vec::new();
    for PlannedFile { path, base, after, .. } in files {
        match after {
            Some(text) => texts.push(Rewrite { path: path.clone(), root: base.clone(), text: text.clone() }),
            None => write::remove(path, base, Owner::Repository(base)).map_err(failed(path))?,
        }
    }
    for (file, result) in texts.iter().zip(write::rewrite_all(&texts)) {
        result.map_err(failed(&file.path))?;
    }
    for (base, record) in records {
        let path = base.join(FILE);
        match record.text() {
            Some(text) => {
                write::rewrite(&path, &text, Kind::Text, Owner::Repository(&base)).map_err(failed(&path))?;
            }
            None if path.exists() => {
                write::remove(&path, &base, Owner::Repository(&base)).map_err(failed(&path))?;
            }
            None => {}
        }
    }
    Ok(())
}
