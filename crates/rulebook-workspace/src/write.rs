//! The one module that writes files: replaces and removes them, makes folders, and locks files against other writers.

mod folder;
mod scratch;
mod temporary;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::thread;

use self::folder::Folder;
pub(crate) use self::scratch::Scratch;
use self::temporary::{create_only, create_temporary, prefix_of, remove_stale};
use crate::canonical::canonical;
use crate::read;

/// Who may read a file that did not exist before.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Its owner alone.
    Owner,
    /// Everyone the system allows by default.
    Default,
}

/// What survives if the whole machine stops.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// The new text, from when the write returns.
    Synced,
    /// The old text or the new one, as the file system keeps it: for what many small writes change, and nobody has to keep.
    /// The caller holds the file's lock, so its temporary file has one name, and no writer searches the folder for others.
    Cached,
}

/// Whose file is written, and so where links may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner<'p> {
    /// The person's own: their links are followed and kept, except broken ones.
    Person,
    /// A repository's, in this folder: strangers may have made its links, so none may lead out of the folder or into `.git`.
    Repository(&'p Path),
}

impl<'p> Owner<'p> {
    /// Whose file a path names that a person gave: a repository's as soon as the path enters one of these roots.
    pub fn of(path: &Path, roots: impl IntoIterator<Item = &'p Path>) -> Owner<'p> {
        let path = without_parents(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
        let folders: Vec<PathBuf> = path.ancestors().filter_map(|at| canonical(at).ok()).collect();
        let is_inside = |root: &&Path| folders.iter().any(|folder| folder.starts_with(root));
        roots.into_iter().find(is_inside).map_or(Owner::Person, Owner::Repository)
    }

    /// Checks that a path may be written, before anything is.
    ///
    /// # Errors
    /// If it is, or is below, a broken link, or leads out of the repository.
    pub fn check(self, path: &Path) -> io::Result<()> {
        let path = std::path::absolute(path)?;
        let there = path.ancestors().find(|path| fs::symlink_metadata(path).is_ok()).unwrap_or(&path);
        match (self, canonical(there)) {
            // A file in the place of the link would separate what the link keeps together.
            (_, Err(_)) if fs::symlink_metadata(there).is_ok_and(|at| at.is_symlink()) => {
                Err(io::Error::other("it is a broken symbolic link"))
            }
            (Owner::Person, _) => Ok(()),
            (Owner::Repository(_), Ok(real)) => self.allow(&real),
            (Owner::Repository(_), Err(error)) => Err(error),
        }
    }

    /// Checks a canonical path.
    fn allow(self, real: &Path) -> io::Result<()> {
        let Owner::Repository(base) = self else { return Ok(()) };
        let base = canonical(base)?;
        let refused = |why: String| Err(io::Error::other(format!("it leads to `{}`, {why}", real.display())));
        match real.strip_prefix(&base) {
            Err(_) => refused(format!("outside `{}`", base.display())),
            Ok(inner) if inner.iter().any(|part| part.eq_ignore_ascii_case(".git")) => {
                refused("a file of git".to_owned())
            }
            Ok(_) => Ok(()),
        }
    }
}

/// Returns a path without `..`, unless links decide where that leads.
fn without_parents(path: PathBuf) -> PathBuf {
    let parts: Vec<Component<'_>> = path.components().collect();
    let Some(last) = parts.iter().rposition(|part| *part == Component::ParentDir) else { return path };
    let written: PathBuf = parts[..=last].iter().collect();
    let mut plain = PathBuf::new();
    for part in &parts[..=last] {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    match (canonical(&written), canonical(&plain)) {
        (Ok(one), Ok(other)) if one == other => plain.join(parts[last + 1..].iter().collect::<PathBuf>()),
        _ => path,
    }
}

/// Whether a file can be run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As before; a new file cannot.
    Text,
    /// By everyone who may read it. Only for text of Rulebook's own.
    Script,
}

/// A file to rewrite, in its repository.
#[derive(Debug)]
pub struct Rewrite {
    /// The file.
    pub path: PathBuf,
    /// The folder that it must be in.
    pub root: PathBuf,
    /// Its new text.
    pub text: String,
}

/// Replaces a file's text in one step and keeps its mode: a reader sees the old text or the new, never a part. Makes the
/// folders above it.
///
/// # Errors
/// If the file cannot be written, or must not be.
pub fn rewrite(path: &Path, text: &str, kind: Kind, owner: Owner<'_>) -> io::Result<()> {
    write(path, text, kind, Audience::Default, Durability::Synced, owner)
}

/// Replaces the texts of many files, each as [`rewrite`] does. Returns one result per file, in order.
///
/// Several threads write, because most of the time is spent waiting for the disk. Each folder is synced once.
#[must_use]
pub fn rewrite_all(files: &[Rewrite]) -> Vec<io::Result<()>> {
    /// Waiting threads cost nothing.
    const THREADS: usize = 16;
    let one = |Rewrite { path, root, text }: &Rewrite| {
        let written = place(path, Owner::Repository(root)).and_then(|(folder, name)| {
            put(&folder, &name, text, Kind::Text, Audience::Default, Durability::Synced)
        });
        written.map_err(|error| naming("cannot write", path, &error))
    };
    let paths: BTreeSet<&Path> = files.iter().map(|file| folder(&file.path)).collect();
    let folders: Vec<Folder> = paths.into_iter().filter_map(|path| Folder::open(path).ok()).collect();
    let names: BTreeSet<OsString> =
        files.iter().filter_map(|file| file.path.file_name()).map(prefix_of).collect();
    folders.iter().for_each(|folder| remove_stale(folder, &names));
    let results: Vec<io::Result<()>> = thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(THREADS).max(1));
        let parts: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().map(one).collect::<Vec<_>>())).collect();
        parts.into_iter().filter_map(|part| part.join().ok()).flatten().collect()
    });
    // The files are whole in any case; not every system can make their names durable.
    folders.iter().for_each(|folder| drop(folder.sync()));
    results
}

/// Removes a file, and the folders between it and `base` that become empty.
///
/// # Errors
/// If the file cannot be removed, or must not be.
pub fn remove(path: &Path, base: &Path, owner: Owner<'_>) -> io::Result<()> {
    let one = |path: &Path, remove: fn(&Folder, &OsStr) -> io::Result<()>| {
        let within = Folder::open(folder(path))?;
        owner.allow(&within.real)?;
        remove(&within, path.file_name().unwrap_or_default())
    };
    one(path, Folder::remove)?;
    let above = path.ancestors().skip(1).take_while(|folder| *folder != base && folder.starts_with(base));
    // Stops at the first folder that is not empty.
    let _ = above.map(|folder| one(folder, Folder::remove_folder)).find(Result::is_err);
    Ok(())
}

/// Removes a folder and the folders above it, this many in all, as long as they are empty.
pub(crate) fn remove_empty(folder: &Path, count: usize) {
    let _ = folder.ancestors().take(count).map(fs::remove_dir).find(Result::is_err);
}

/// Creates a file that does not exist, readable by its owner alone.
///
/// # Errors
/// If there is anything at the path, or the file cannot be written, or must not be.
pub fn create(path: &Path, bytes: &[u8], owner: Owner<'_>) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let within = Folder::open(folder(path))?;
    owner.allow(&within.real)?;
    within.create(name, 0o600)?.write_all(bytes)
}

/// Writes `text` to a file of ours, through links, and keeps the mode of an existing file.
///
/// The caller holds the file's lock: temporary files that killed writers left are removed here, and a living writer
/// waits for the same lock before it creates one.
pub(crate) fn replace(path: &Path, text: &str, audience: Audience, owner: Owner<'_>) -> io::Result<()> {
    write(path, text, Kind::Text, audience, Durability::Synced, owner)
}

/// Writes `text` to a file of the user's state, as [`replace`] does.
pub(crate) fn replace_state(path: &Path, text: &str, durability: Durability) -> io::Result<()> {
    write(path, text, Kind::Text, Audience::Owner, durability, Owner::Person)
}

fn write(
    path: &Path,
    text: &str,
    kind: Kind,
    audience: Audience,
    durability: Durability,
    owner: Owner<'_>,
) -> io::Result<()> {
    let written = || {
        let (folder, name) = place(path, owner)?;
        if durability == Durability::Cached {
            return put(&folder, &name, text, kind, audience, durability);
        }
        remove_stale(&folder, &BTreeSet::from([prefix_of(&name)]));
        put(&folder, &name, text, kind, audience, durability)?;
        folder.sync()
    };
    written().map_err(|error| naming("cannot write", path, &error))
}

/// Opens a file to read it and to append to it; creates it, and the folders above it, for its owner alone.
pub(crate) fn open_to_append(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match read::open_with(path, &mut options) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_folder(folder(path))?;
            read::open_with(path, &mut options)
        }
        opened => opened,
    }
}

/// Removes a file of ours. One that cannot be removed stays.
pub(crate) fn discard(path: &Path) {
    let _ = fs::remove_file(path);
}

/// Removes a folder of ours and everything in it. What cannot be removed stays.
pub(crate) fn discard_folder(path: &Path) {
    let _ = fs::remove_dir_all(path);
}

/// Opens the folder of a file to write, through links, and makes it if it does not exist. Returns the file's name there.
fn place(path: &Path, owner: Owner<'_>) -> io::Result<(Folder, OsString)> {
    owner.check(path)?;
    let path = std::path::absolute(path)?;
    let real = canonical(&path).unwrap_or(path);
    let name = real.file_name().ok_or_else(|| io::Error::other("it names no file"))?.to_owned();
    let wanted = folder(&real);
    let there = wanted.ancestors().find(|path| fs::symlink_metadata(path).is_ok()).unwrap_or(Path::new("."));
    let mut at = Folder::open(there)?;
    for part in wanted.strip_prefix(there).unwrap_or(Path::new("")).components() {
        match part {
            Component::Normal(part) => {
                owner.allow(&at.real)?;
                at = at.make(part)?;
            }
            Component::CurDir => {}
            _ => return Err(io::Error::other("a folder that does not exist has no `..`")),
        }
    }
    owner.allow(&at.real.join(&name))?;
    Ok((at, name))
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
///
/// # Errors
/// If a folder cannot be created.
pub fn make_folder(folder: &Path) -> io::Result<()> {
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

/// Puts a whole file in the place of another.
fn put(
    folder: &Folder,
    name: &OsStr,
    text: &str,
    kind: Kind,
    audience: Audience,
    durability: Durability,
) -> io::Result<()> {
    let mode = if audience == Audience::Default { 0o666 } else { 0o600 };
    let create = if durability == Durability::Cached { create_only } else { create_temporary };
    let (mut file, temporary) = create(folder, name, mode)?;
    let mut written = || {
        if let Some(old) = folder.permissions(name) {
            file.set_permissions(old)?;
        }
        if kind == Kind::Script {
            make_executable(&file)?;
        }
        file.write_all(text.as_bytes())?;
        if durability == Durability::Synced {
            file.sync_all()?;
        }
        folder.rename(&temporary, name)
    };
    let result = written();
    if result.is_err() {
        // One that stays is removed by the next writer.
        let _ = folder.remove(&temporary);
    }
    result
}

#[cfg(unix)]
fn make_executable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = file.metadata()?.permissions();
    let mode = permissions.mode();
    // Everyone who may read it may run it.
    permissions.set_mode(mode | (mode & 0o444) >> 2);
    file.set_permissions(permissions)
}

#[cfg(not(unix))]
fn make_executable(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_is_written_in_the_folder_that_was_checked_whatever_its_path_leads_to_by_then() {
        let place_of = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(place_of.path()).unwrap();
        for name in ["repo/rules", "home"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        let root = base.join("repo");
        let (folder, name) = place(&root.join("rules/a.md"), Owner::Repository(&root)).unwrap();
        fs::rename(root.join("rules"), root.join("old")).unwrap();
        symlink(base.join("home"), root.join("rules")).unwrap();
        put(&folder, &name, "x", Kind::Text, Audience::Default, Durability::Synced).unwrap();
        assert_eq!(fs::read_to_string(root.join("old/a.md")).unwrap(), "x");
        assert!(!base.join("home/a.md").exists());
        assert!(rewrite(&root.join("rules/a.md"), "y", Kind::Text, Owner::Repository(&root)).is_err());
        assert!(rewrite(&root.join("rules/new/a.md"), "y", Kind::Text, Owner::Repository(&root)).is_err());
        assert!(remove(&root.join("rules/a.md"), &root, Owner::Repository(&root)).is_err());
        assert_eq!(fs::read_dir(base.join("home")).unwrap().count(), 0);
    }

    #[test]
    fn a_broken_link_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        for (link, to) in [("file.json", "no.json"), ("folder", "nowhere")] {
            symlink(base.join(to), base.join(link)).unwrap();
        }
        for path in ["file.json", "folder/a.json"] {
            let path = base.join(path);
            let error = rewrite(&path, "{}", Kind::Text, Owner::Person).unwrap_err();
            assert!(error.to_string().ends_with("it is a broken symbolic link"), "{error}");
        }
        assert!(fs::symlink_metadata(base.join("file.json")).unwrap().is_symlink());
        assert!(!base.join("no.json").exists());
    }

    #[test]
    fn a_path_belongs_to_a_repository_as_soon_as_it_enters_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let (root, home) = (base.join("repo"), base.join("home"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&home).unwrap();
        symlink(&home, root.join("out")).unwrap();
        symlink(&root, base.join("link")).unwrap();
        let check = |path: &str, is_repository: bool| {
            let owner = Owner::of(&base.join(path), [root.as_path()]);
            let wanted = if is_repository { Owner::Repository(&root) } else { Owner::Person };
            assert_eq!(owner, wanted, "{path}");
        };
        check("repo/a.json", true);
        check("repo/new/a.json", true);
        check("repo/out/a.json", true);
        check("link/a.json", true);
        check("home/a.json", false);
        check("repo2/a.json", false);
        check("repo/../home/a.json", false);
        check("repo/new/../a.json", true);
        check("repo/out/../a.json", true);
    }

    #[test]
    fn a_mode_is_kept_and_only_a_script_becomes_executable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o111;
        rewrite(&path, "#!/bin/sh", Kind::Text, Owner::Person).unwrap();
        assert_eq!(mode(), 0);
        rewrite(&path, "#!/bin/sh", Kind::Script, Owner::Person).unwrap();
        assert_ne!(mode(), 0);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        rewrite(&path, "x", Kind::Text, Owner::Person).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
    }
}
