//! Applying a plan: writes and removes files, and records what was done.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rulebook::evidence::Root;
use rulebook::export::Tool;

use super::files::{Files, PlannedFile};
use super::plan::ExportPlan;
use super::stale::{Taken, take_out};
use crate::homes::posix;
use crate::read;
use crate::recorded::{FILE, Record, RecordedCopies};
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
        self.error.fmt(f)
    }
}

impl std::error::Error for WriteError {}

impl ExportPlan {
    /// Whether the files on disk are what the plan says, the record included.
    pub fn is_done(&self) -> io::Result<bool> {
        for (base, records) in self.records.iter().filter(|_| self.files.is_empty()) {
            if RecordedCopies::read(&Storage::Disk, base)?.text() != records.text() {
                return Ok(false);
            }
        }
        Ok(self.files.is_empty())
    }

    /// The files that the record names but that no export writes. They are not touched.
    pub fn refused(&self) -> impl Iterator<Item = &str> {
        self.records.iter().flat_map(|(_, record)| record.refused.iter().map(String::as_str))
    }

    /// Writes the files of the plan, and records them.
    ///
    /// # Errors
    /// If a file is outside its root or cannot be written. Nothing is written if one is outside.
    pub fn apply(&self) -> Result<(), WriteError> {
        write_files(&self.files, self.records.clone(), &self.roots)
    }
}

impl Workspace {
    /// The folders that copies are written to, one per root, if they may be written.
    ///
    /// # Errors
    /// If one is in a root and its path leads out of it or into `.git`: strangers may have made its links.
    pub(super) fn checked_folders(&self, dir: Option<&Path>) -> io::Result<Vec<PathBuf>> {
        let folders = self.export_folders(dir);
        let roots = self.root_folders();
        for folder in &folders {
            check_folder(folder, &roots)?;
        }
        Ok(folders)
    }

    pub(super) fn root_folders(&self) -> Vec<PathBuf> {
        self.roots.roots.iter().map(|root| PathBuf::from(&root.path)).collect()
    }

    /// The folders that copies are written to, one per root.
    pub(super) fn export_folders(&self, dir: Option<&Path>) -> Vec<PathBuf> {
        let roots = &self.roots.roots;
        let of_root = |root: &Root| match dir {
            None => PathBuf::from(&root.path),
            Some(dir) if roots.len() == 1 => dir.to_owned(),
            // Copies of several roots may have the same path.
            Some(dir) => dir.join(&root.name),
        };
        roots.iter().map(of_root).collect()
    }

    /// Returns what was exported: the files of the rules that still exist, and the targets.
    ///
    /// # Errors
    /// If the record cannot be read.
    pub fn recorded_export(&self, dir: Option<&Path>) -> io::Result<(Vec<String>, Vec<String>)> {
        let (mut from, mut to) = (BTreeSet::new(), BTreeSet::new());
        for (root, base) in self.export_folders(None).iter().zip(self.export_folders(dir)) {
            let recorded = RecordedCopies::read(&Storage::Disk, &base)?;
            for Record { source, target, .. } in
                recorded.copies.into_iter().filter(|record| Tool::of_file(&record.source).is_none())
            {
                to.insert(target);
                if !source.is_empty() && root.join(&source).exists() {
                    from.insert(source);
                }
            }
        }
        Ok((from.into_iter().collect(), to.into_iter().collect()))
    }

    /// Waits until no other export writes to the same folders. They stay locked until the returned values are dropped. A folder
    /// that cannot be locked is not: not every file system can.
    #[must_use]
    pub fn lock_exports(&self, dir: Option<&Path>) -> Vec<File> {
        // In one order, so that two exports never wait for each other.
        let roots = self.export_folders(None);
        let folders: BTreeSet<PathBuf> = roots.into_iter().chain(self.export_folders(dir)).collect();
        folders.iter().filter_map(|folder| write::lock_folder(folder).ok().flatten()).collect()
    }

    /// Takes every copy out again. Returns the files that change and, by name, those that stay because they were edited.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn remove_exported(&self, dir: Option<&Path>) -> io::Result<(ExportPlan, Vec<String>)> {
        let read = |base: PathBuf| RecordedCopies::read(&Storage::Disk, &base).map(|records| (base, records));
        let records: Vec<(PathBuf, RecordedCopies)> =
            self.checked_folders(dir)?.into_iter().map(read).collect::<io::Result<_>>()?;
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
        let plan = ExportPlan {
            rows: Vec::new(),
            files: files.changes(),
            tree: 0,
            records: left,
            roots: self.root_folders(),
        };
        Ok((plan, kept.into_iter().collect()))
    }
}

/// The folder that the files of a folder for copies must stay in: its repository, if it is in a root.
fn boundary<'p>(base: &'p Path, roots: &'p [PathBuf]) -> &'p Path {
    match Owner::of(base, roots.iter().map(PathBuf::as_path)) {
        Owner::Person => base,
        Owner::Repository(root) => root,
    }
}

/// Checks a folder that a person named, which may not exist yet.
fn check_folder(folder: &Path, roots: &[PathBuf]) -> io::Result<()> {
    let checked = Owner::of(folder, roots.iter().map(PathBuf::as_path)).check(folder);
    checked.map_err(|error| write::naming("cannot write", folder, &error))
}

fn owner<'p>(base: &'p Path, roots: &'p [PathBuf]) -> Owner<'p> {
    Owner::Repository(boundary(base, roots))
}

/// Writes the files, and records those that could be written.
fn write_files(
    files: &[PlannedFile],
    mut records: Vec<(PathBuf, RecordedCopies)>,
    roots: &[PathBuf],
) -> Result<(), WriteError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| WriteError { path, error }
    };
    for (base, record) in records.iter_mut().filter(|(base, _)| !files.is_empty() && !base.exists()) {
        check_folder(base, roots).map_err(failed(base))?;
        record.new_folders = base.ancestors().take_while(|folder| !folder.exists()).count();
        write::make_folder(base).map_err(failed(base))?;
    }
    for PlannedFile { path, base, .. } in files {
        let named = |error| write::naming("cannot write", path, &error);
        owner(base, roots).check(path).map_err(named).map_err(failed(path))?;
    }
    for (base, record) in &mut records {
        record.kept_folders.extend(empty_folders(base, files));
    }
    // Before any file changes: an export that does not finish leaves no copy that nobody knows of.
    for (base, record) in records.iter().filter(|_| !files.is_empty()) {
        let path = base.join(FILE);
        let before = RecordedCopies::read(&Storage::Disk, base).map_err(failed(&path))?;
        if let Some(text) = before.becoming(record).text().filter(|text| before.text().as_ref() != Some(text))
        {
            write::rewrite(&path, &text, Kind::Text, Owner::Repository(base)).map_err(failed(&path))?;
        }
    }
    let mut failures: Vec<WriteError> = Vec::new();
    let mut texts: Vec<Rewrite> = Vec::new();
    for PlannedFile { path, base, after, .. } in files {
        match after {
            Some(text) => {
                let root = boundary(base, roots).to_owned();
                texts.push(Rewrite { path: path.clone(), root, text: text.clone() });
            }
            None => {
                let kept = path.ancestors().find(|folder| is_kept(base, folder, &records));
                let removed = write::remove(path, kept.unwrap_or(base), owner(base, roots));
                let named = |error| write::naming("cannot remove", path, &error);
                failures.extend(removed.map_err(named).map_err(failed(path)).err());
            }
        }
    }
    for (file, result) in texts.iter().zip(write::rewrite_all(&texts)) {
        failures.extend(result.map_err(failed(&file.path)).err());
    }
    // In reverse: the first one may have made the folder of the others.
    for (base, mut record) in records.into_iter().rev() {
        let path = base.join(FILE);
        record.keep(&base, &RecordedCopies::read(&Storage::Disk, &base).map_err(failed(&path))?, &failures);
        match record.text() {
            Some(text) => {
                write::rewrite(&path, &text, Kind::Text, owner(&base, roots)).map_err(failed(&path))?;
            }
            None if path.exists() => {
                write::remove(&path, &base, owner(&base, roots)).map_err(failed(&path))?;
                write::remove_empty(&base, record.new_folders);
            }
            None => {}
        }
    }
    failures.into_iter().next().map_or(Ok(()), Err)
}

/// The folders that are empty now, and get new files.
fn empty_folders(base: &Path, files: &[PlannedFile]) -> BTreeSet<String> {
    let is_new = |file: &&PlannedFile| file.base == base && file.before.is_none();
    let folders: BTreeSet<&Path> =
        files.iter().filter(is_new).filter_map(|file| file.path.parent()).collect();
    let first_there = |folder: &Path| {
        let mut above = folder.ancestors().take_while(|above| *above != base && above.starts_with(base));
        above.find_map(|above| read::folder(above).ok().map(|entries| (above.to_owned(), entries)))
    };
    let there = folders.into_iter().filter_map(first_there);
    let empty = there.filter_map(|(folder, mut entries)| entries.next().is_none().then_some(folder));
    empty.filter_map(|folder| folder.strip_prefix(base).ok().map(posix)).collect()
}

fn is_kept(base: &Path, folder: &Path, records: &[(PathBuf, RecordedCopies)]) -> bool {
    let is_in = |record: &RecordedCopies| {
        folder.strip_prefix(base).is_ok_and(|inner| record.kept_folders.contains(&posix(inner)))
    };
    records.iter().any(|(other, record)| other == base && is_in(record))
}

impl RecordedCopies {
    /// Keeps what was recorded before of files that could not be written.
    fn keep(&mut self, base: &Path, before: &RecordedCopies, failures: &[WriteError]) {
        let has_failed = |record: &Record| failures.iter().any(|one| one.path == base.join(&record.path));
        self.copies.retain(|record| !has_failed(record));
        self.copies.extend(before.copies.iter().filter(|record| has_failed(record)).cloned());
    }
}
