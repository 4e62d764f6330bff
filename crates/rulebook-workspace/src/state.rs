//! State files: what Rulebook keeps for a person between runs, each with a version, replaced whole under a lock.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::atomic::{self, Audience, naming};
use crate::bounded;

/// A state file, as read at one moment.
#[derive(Debug)]
pub(crate) enum Read<T> {
    /// There is none yet.
    Absent,
    /// It says this.
    Known(T),
    /// A newer Rulebook wrote it: it is neither used nor written to.
    Newer(u64),
    /// It cannot be read; the next writer keeps it beside the new one.
    Broken(String),
}

/// Reads a state file of at most `limit` bytes. Takes no lock: a writer puts a whole file in the place of a whole file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, limit: usize, version: u64) -> Read<T> {
    let bytes = match bounded::read(path, limit) {
        Ok(None) => return Read::Absent,
        Ok(Some(bytes)) if bytes.len() > limit => {
            return Read::Broken(format!("it is larger than {limit} bytes"));
        }
        Ok(Some(bytes)) => bytes,
        Err(error) => return Read::Broken(crate::discover::reason(&error)),
    };
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => return Read::Broken(format!("not JSON: {error}")),
    };
    match value.get("version").and_then(Value::as_u64) {
        Some(found) if found > version => Read::Newer(found),
        Some(_) => serde_json::from_value(value)
            .map_or_else(|error| Read::Broken(format!("not what it should be: {error}")), Read::Known),
        None => Read::Broken("it has no version".to_owned()),
    }
}

impl<T> Read<T> {
    /// What it says, if anything.
    pub(crate) fn known(self) -> Option<T> {
        match self {
            Read::Known(known) => Some(known),
            _ => None,
        }
    }

    /// What is to be told of a file that is there and not used.
    pub(crate) fn diagnostic(&self, path: &Path) -> Option<Diagnostic> {
        let told = match self {
            Read::Absent | Read::Known(_) => return None,
            Read::Newer(version) => {
                let told = format!("was written by a newer Rulebook (version {version}), and is left alone");
                return Some(
                    Diagnostic::whole(Code::BadState, path.display().to_string(), told)
                        .help("use that Rulebook, or remove the file"),
                );
            }
            Read::Broken(why) => format!("cannot be read and is not used: {why}"),
        };
        Some(Diagnostic::whole(Code::BadState, path.display().to_string(), told))
    }
}

/// Changes a state file, after every other process that is doing so. `change` is given what it says now, and returns
/// what it is to say, or nothing to leave it.
///
/// When this returns, the change is on disk. A file that could not be read is kept as `….broken`; one of a newer version
/// is not written to.
pub(crate) fn update<T: Serialize + DeserializeOwned>(
    path: &Path,
    limit: usize,
    version: u64,
    change: impl FnOnce(Option<T>) -> Option<T>,
) -> io::Result<()> {
    let _held = lock(path).map_err(|error| naming("cannot write", path, &error))?;
    let found = read(path, limit, version);
    if let Read::Newer(newer) = found {
        return Err(newer_error(path, newer, version));
    }
    let is_broken = matches!(found, Read::Broken(_));
    let Some(after) = change(found.known()) else { return Ok(()) };
    if is_broken {
        move_aside(path)?;
    }
    atomic::replace(path, &(serde_json::to_string_pretty(&after)? + "\n"), Audience::Owner)
}

/// What a state file of at most `limit` bytes says, if that can be read.
pub fn recall<T: DeserializeOwned>(path: &Path, limit: usize, version: u64) -> Option<T> {
    read(path, limit, version).known()
}

/// Replaces what a state file says. What could not be read of it is kept as `….broken`, and told; one of a newer version
/// is not written to.
///
/// # Errors
/// If it cannot be written, or a newer Rulebook keeps it.
pub fn keep<T: Serialize + DeserializeOwned>(
    path: &Path,
    limit: usize,
    version: u64,
    now: &T,
) -> io::Result<Option<Diagnostic>> {
    let _held = lock(path).map_err(|error| naming("cannot write", path, &error))?;
    let found = read::<T>(path, limit, version);
    match found {
        Read::Newer(newer) => return Err(newer_error(path, newer, version)),
        Read::Broken(_) => move_aside(path)?,
        Read::Absent | Read::Known(_) => {}
    }
    atomic::replace(path, &serde_json::to_string(now)?, Audience::Owner)?;
    Ok(found.diagnostic(path))
}

/// Why a file of a newer version is not written to.
pub(crate) fn newer_error(path: &Path, newer: u64, known: u64) -> io::Error {
    io::Error::other(format!(
        "`{}` was written by a newer Rulebook (version {newer}, this one knows {known}); nothing was changed",
        path.display()
    ))
}

/// Moves what cannot be read aside, to a name that is free, before another file takes its place. It may be anything: a FIFO,
/// a folder, a file that fills the disk.
pub(crate) fn move_aside(path: &Path) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names = (1..).map(|at| if at == 1 { ".broken".to_owned() } else { format!(".broken-{at}") });
    let mut free = names
        .map(|end| path.with_file_name(format!("{name}{end}")))
        .filter(|path| fs::symlink_metadata(path).is_err());
    let broken: PathBuf = free.next().expect("names do not end");
    fs::rename(path, &broken).map_err(|error| naming("cannot write", &broken, &error))
}

/// Waits for the lock of a file, which lasts as long as what is returned. The lock file stays: a writer that removed it
/// would let two others lock two files of one name.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    make_folder(atomic::folder(path))?;
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    bounded::is_there(&lock).map_err(|error| naming("cannot lock", &lock, &error))?;
    let file = File::options().create(true).truncate(false).write(true).open(lock)?;
    file.lock()?;
    Ok(file)
}

/// Makes a folder for the person alone, with all above it.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// The SHA-256 of a text, in lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
