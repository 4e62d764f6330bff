//! Replaces a file so that a reader, or a kill at any moment, meets the old text or the new one.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push(".");
    for stale in left_behind(folder(path), &prefix) {
        // One that cannot be removed harms nobody.
        let _ = fs::remove_file(stale);
    }
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
    sync(folder(path))
}

fn left_behind(folder: &Path, prefix: &OsString) -> Vec<PathBuf> {
    let is_ours = |name: &OsString| {
        let name = name.as_encoded_bytes();
        name.starts_with(prefix.as_encoded_bytes()) && name.ends_with(SUFFIX.as_bytes())
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).filter(is_ours).map(|name| folder.join(name)).collect()
}

/// Makes a rename last through a loss of power; only Unix lets folders be opened for that.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
