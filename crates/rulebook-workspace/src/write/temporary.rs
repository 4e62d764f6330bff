//! Temporary files beside those that they will replace.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use super::folder::Folder;
use crate::read;

/// The end of a temporary file's name; it starts with the name of the file it will replace.
const SUFFIX: &str = ".tmp";

/// The start of the names of a file's temporary files.
pub(super) fn prefix_of(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Creates a temporary file for a file of that name, beside those of other writers.
pub(super) fn create_temporary(folder: &Folder, name: &OsStr, mode: u32) -> io::Result<(File, OsString)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    loop {
        let mut temporary = prefix_of(name);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        temporary.push(format!("{}-{count}{SUFFIX}", process::id()));
        match folder.create(&temporary, mode) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Creates the one temporary file of a file whose lock the caller holds.
pub(super) fn create_only(folder: &Folder, name: &OsStr, mode: u32) -> io::Result<(File, OsString)> {
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(SUFFIX);
    let file = folder.create(&temporary, mode).or_else(|error| {
        if error.kind() != io::ErrorKind::AlreadyExists {
            return Err(error);
        }
        // A writer that was killed left it.
        folder.remove(&temporary)?;
        folder.create(&temporary, mode)
    })?;
    Ok((file, temporary))
}

/// Removes the temporary files in a folder whose names start with one of the prefixes. One that cannot be removed does
/// no harm.
pub(super) fn remove_stale(folder: &Folder, prefixes: &BTreeSet<OsString>) {
    let is_ours = |name: &OsString| {
        let stem = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)?.rsplit_once('.'));
        stem.is_some_and(|(prefix, _)| prefixes.contains(OsStr::new(&format!("{prefix}."))))
    };
    let entries = read::folder(&folder.real).into_iter().flatten().flatten();
    for name in entries.map(|entry| entry.file_name()).filter(is_ours) {
        let _ = folder.remove(&name);
    }
}
