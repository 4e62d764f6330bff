//! Replaces a file so that a reader, or a kill at any moment, meets the old text or the new one.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

/// Who may read a file that was not there before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The person alone.
    Owner,
    /// Whoever the system lets by default.
    Usual,
}

/// Writes `text` to `path`, through links, keeping the mode of a file that was there.
///
/// The caller holds the lock of that file: what killed writers left of their temporary files is
/// removed here, and a living writer waits for the same lock before it makes one.
pub(crate) fn replace(path: &Path, text: &str, audience: Audience) -> io::Result<()> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    write(&real, text, audience).map_err(|error| naming("cannot write", path, &error))
}

/// Replaces several files, each whole or not at all, by several threads: most of the time is spent waiting for the disk.
/// What stands in one folder is made to last together.
pub(crate) fn replace_all(files: &[(PathBuf, String)]) -> Vec<io::Result<()>> {
    /// Waiting threads cost nothing.
    const THREADS: usize = 16;
    let one = |(path, text): &(PathBuf, String)| {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        put(&real, text, Audience::Usual).map_err(|error| naming("cannot write", path, &error))
    };
    let folders: BTreeSet<&Path> = files.iter().map(|(path, _)| folder(path)).collect();
    let names: BTreeSet<OsString> = files.iter().map(|(path, _)| prefix_of(path)).collect();
    for stale in folders.iter().flat_map(|folder| left_behind(folder, &names)) {
        let _ = fs::remove_file(stale);
    }
    let results: Vec<io::Result<()>> = thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(THREADS).max(1));
        let parts: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().map(one).collect::<Vec<_>>())).collect();
        parts.into_iter().filter_map(|part| part.join().ok()).flatten().collect()
    });
    // The files are whole in any case; that their names last cannot be had everywhere.
    folders.into_iter().for_each(|folder| drop(sync(folder)));
    results
}

/// The same error, saying what was tried with which file.
pub(crate) fn naming(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} `{}`: {error}", path.display()))
}

/// The folder a file stands in.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How a temporary file's name ends; it begins with that of the file it is for.
const SUFFIX: &str = ".tmp";

fn write(path: &Path, text: &str, audience: Audience) -> io::Result<()> {
    for stale in left_behind(folder(path), &BTreeSet::from([prefix_of(path)])) {
        // One that cannot be removed harms nobody.
        let _ = fs::remove_file(stale);
    }
    put(path, text, audience)?;
    sync(folder(path))
}

/// What the name of a temporary file for another begins with.
fn prefix_of(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    prefix
}

/// Puts a whole file in the place of another.
fn put(path: &Path, text: &str, audience: Audience) -> io::Result<()> {
    let prefix = prefix_of(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    if audience == Audience::Usual {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder(path))?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

/// Temporary files in a folder whose names begin with one of the prefixes.
fn left_behind(folder: &Path, prefixes: &BTreeSet<OsString>) -> Vec<PathBuf> {
    let is_ours = |name: &OsString| {
        let stem = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)?.rsplit_once('.'));
        stem.is_some_and(|(prefix, _)| prefixes.contains(OsStr::new(&format!("{prefix}."))))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).filter(is_ours).map(|name| folder.join(name)).collect()
}

/// Makes a rename last through a loss of power; only Unix lets folders be opened for that.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
