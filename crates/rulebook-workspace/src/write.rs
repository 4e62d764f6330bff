//! The one module that writes files: replaces them whole, and locks them against other writers.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

use crate::read;

/// Who may read a file that did not exist before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Its owner alone.
    Owner,
    /// Everyone the system allows by default.
    Default,
}

/// Replaces a file's text in one step and keeps its mode: a reader sees the old text or the new, never a part.
///
/// # Errors
/// If the file cannot be written.
pub fn rewrite(path: &Path, text: &str) -> io::Result<()> {
    replace(path, text, Audience::Default)
}

/// Replaces the texts of many files, each as [`rewrite`] does. Returns one result per file, in order.
///
/// Several threads write, because most of the time is spent waiting for the disk. Each folder is synced once.
#[must_use]
pub fn rewrite_all(files: &[(PathBuf, String)]) -> Vec<io::Result<()>> {
    /// Waiting threads cost nothing.
    const THREADS: usize = 16;
    let one = |(path, text): &(PathBuf, String)| {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        put(&real, text, Audience::Default).map_err(|error| naming("cannot write", path, &error))
    };
    let folders: BTreeSet<&Path> = files.iter().map(|(path, _)| folder(path)).collect();
    let names: BTreeSet<OsString> = files.iter().map(|(path, _)| prefix_of(path)).collect();
    folders.iter().for_each(|folder| remove_stale(folder, &names));
    let results: Vec<io::Result<()>> = thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(THREADS).max(1));
        let parts: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().map(one).collect::<Vec<_>>())).collect();
        parts.into_iter().filter_map(|part| part.join().ok()).flatten().collect()
    });
    // The files are whole in any case; not every system can make their names durable.
    folders.into_iter().for_each(|folder| drop(sync(folder)));
    results
}

/// Writes `text` to `path`, through links, and keeps the mode of an existing file.
///
/// The caller holds the file's lock: temporary files that killed writers left are removed here, and a living writer
/// waits for the same lock before it creates one.
pub(crate) fn replace(path: &Path, text: &str, audience: Audience) -> io::Result<()> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    remove_stale(folder(&real), &BTreeSet::from([prefix_of(&real)]));
    put(&real, text, audience)
        .and_then(|()| sync(folder(&real)))
        .map_err(|error| naming("cannot write", path, &error))
}

/// Waits for the lock of a file, which is held until the returned value is dropped.
///
/// The lock is a file beside it, which stays: a writer that removed it would let two others lock two files of one name.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    make_folder(folder(path))?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let beside = PathBuf::from(beside);
    let file = read::open_with(&beside, File::options().create(true).truncate(false).write(true))
        .map_err(|error| naming("cannot lock", &beside, &error))?;
    locked(file)
}

/// Waits for the lock of a folder, which leaves no lock file in a repository. It is held until the returned value is dropped.
///
/// Only Unix can open folders; elsewhere two writers at the same instant may lose one change.
///
/// # Errors
/// If the folder cannot be opened or locked.
pub fn lock_folder(folder: &Path) -> io::Result<Option<File>> {
    if cfg!(unix) { File::open(folder).and_then(locked).map(Some) } else { Ok(None) }
}

fn locked(file: File) -> io::Result<File> {
    file.lock()?;
    Ok(file)
}

/// Creates a folder and its ancestors, readable by their owner alone.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Renames an unreadable file to a free name ending in `.broken`, to make room for a new one.
///
/// It is renamed rather than copied because it may be anything: a FIFO, a folder, a file that fills the disk.
pub(crate) fn move_aside(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = (1..).map(|at| if at == 1 { ".broken".to_owned() } else { format!(".broken-{at}") });
    let mut free = names
        .map(|end| path.with_file_name(format!("{name}{end}")))
        .filter(|path| fs::symlink_metadata(path).is_err());
    let broken: PathBuf = free.next().expect("the names are endless");
    fs::rename(path, &broken).map_err(|error| naming("cannot write", &broken, &error))
}

/// Adds to an error what was attempted with which file.
pub(crate) fn naming(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} `{}`: {error}", path.display()))
}

/// The folder that contains a file.
pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The end of a temporary file's name; it starts with the name of the file it will replace.
const SUFFIX: &str = ".tmp";

/// The start of the names of a file's temporary files.
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
    if audience == Audience::Default {
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

/// Removes the temporary files in a folder whose names start with one of the prefixes. One that cannot be removed does
/// no harm.
fn remove_stale(folder: &Path, prefixes: &BTreeSet<OsString>) {
    let is_ours = |name: &OsString| {
        let stem = name.to_str().and_then(|name| name.strip_suffix(SUFFIX)?.rsplit_once('.'));
        stem.is_some_and(|(prefix, _)| prefixes.contains(OsStr::new(&format!("{prefix}."))))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for name in entries.map(|entry| entry.file_name()).filter(is_ours) {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// Makes a rename durable; only Unix can open folders for that.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
