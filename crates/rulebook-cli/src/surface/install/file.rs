//! Reads and writes the files of hosts, below the workspace or home and nowhere else.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rulebook_workspace::rewrite;

/// The largest file that is edited.
const MAX_BYTES: u64 = 64 << 20;

/// A file as it is, and as it is to be; `None` is no file.
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) is_script: bool,
}

impl Change {
    /// The file as it is, to be left so.
    pub(super) fn read(path: PathBuf, base: &Path) -> io::Result<Change> {
        refuse_leading_out(&path, base)?;
        let before = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // A pipe would be waited for.
            Ok(kind) if !kind.is_file() => return Err(io::Error::other("it is not a file")),
            found => found.and_then(|_| read(fs::File::open(&path)?)).map(Some)?,
        };
        Ok(Change { path, after: before.clone(), before, is_script: false })
    }

    /// Makes the file what it is to be; folders come and, once empty, go with it.
    pub(super) fn write(&self, base: &Path) -> io::Result<()> {
        match &self.after {
            Some(text) => {
                fs::create_dir_all(self.path.parent().unwrap_or(base))?;
                rewrite(&self.path, text)?;
                if self.is_script { make_executable(&self.path) } else { Ok(()) }
            }
            None => {
                fs::remove_file(&self.path)?;
                let folders = self.path.ancestors().skip(1);
                let below = folders.take_while(|folder| *folder != base && folder.starts_with(base));
                // The first folder that holds something else stays, and all above it.
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

/// A link within the base is followed; one that leads out of it would have files elsewhere written.
fn refuse_leading_out(path: &Path, base: &Path) -> io::Result<()> {
    let base = fs::canonicalize(base)?;
    let there = path.ancestors().find(|path| fs::symlink_metadata(path).is_ok()).unwrap_or(path);
    let real = fs::canonicalize(there).map_err(|_| io::Error::other("it is a link to nothing"))?;
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
    // Whoever may read it may run it.
    permissions.set_mode(mode | (mode & 0o444) >> 2);
    fs::set_permissions(path, permissions)
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}
