//! Reads and writes the files of hosts, and nothing outside the folder they belong to.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use rulebook_workspace::rewrite;

use super::destination::HostPath;

/// The largest file that is edited, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// A file before and after the edit; `None` means that it does not exist.
pub(super) struct Change {
    pub(super) path: HostPath,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Change {
    /// Reads the file; until `after` is set, nothing changes.
    pub(super) fn read(path: HostPath) -> io::Result<Change> {
        refuse_outside(&path)?;
        let before = match fs::metadata(&path.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // Reading a pipe would block.
            Ok(kind) if !kind.is_file() => return Err(io::Error::other("it is not a file")),
            found => found.and_then(|_| read(fs::File::open(&path.path)?)).map(Some)?,
        };
        Ok(Change { path, after: before.clone(), before })
    }

    /// Writes or removes the file; creates missing folders, and removes those that become empty.
    pub(super) fn write(&self) -> io::Result<()> {
        let HostPath { path, base, .. } = &self.path;
        match &self.after {
            Some(text) => {
                fs::create_dir_all(path.parent().unwrap_or(base))?;
                rewrite(path, text)?;
                if text.starts_with("#!") { make_executable(path) } else { Ok(()) }
            }
            None => {
                fs::remove_file(path)?;
                let folders = path.ancestors().skip(1);
                let below = folders.take_while(|folder| folder != base && folder.starts_with(base));
                // Stops at the first folder that is not empty.
                let _ = below.map(fs::remove_dir).find(Result::is_err);
                Ok(())
            }
        }
    }
}

fn read(file: fs::File) -> io::Result<String> {
    let mut text = String::new();
    file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {MAX_BYTES} bytes")));
    }
    Ok(text)
}

/// Rejects a symbolic link that leads outside the base.
fn refuse_outside(HostPath { path, base, .. }: &HostPath) -> io::Result<()> {
    if !base.exists() {
        return Ok(());
    }
    let base = fs::canonicalize(base)?;
    let there = path.ancestors().find(|path| fs::symlink_metadata(path).is_ok()).unwrap_or(path);
    let real = fs::canonicalize(there).map_err(|_| io::Error::other("it is a broken symbolic link"))?;
    if real.starts_with(&base) {
        return Ok(());
    }
    Err(io::Error::other(format!("it leads to `{}`, outside `{}`", real.display(), base.display())))
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut permissions = fs::metadata(path)?.permissions();
    let mode = permissions.mode();
    // Everyone who may read it may run it.
    permissions.set_mode(mode | (mode & 0o444) >> 2);
    fs::set_permissions(path, permissions)
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}
