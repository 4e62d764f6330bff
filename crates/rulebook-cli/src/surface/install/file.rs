//! Reads and writes the files of hosts, below the folder they belong to and nowhere else.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use rulebook_workspace::rewrite;

use super::target::Spot;

/// The largest file that is edited.
const MAX_BYTES: u64 = 64 << 20;

/// A file as it is, and as it is to be; `None` is no file.
pub(super) struct Change {
    pub(super) spot: Spot,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) is_script: bool,
}

impl Change {
    /// The file as it is, to be left so.
    pub(super) fn read(spot: Spot) -> io::Result<Change> {
        refuse_leading_out(&spot)?;
        let before = match fs::metadata(&spot.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // A pipe would be waited for.
            Ok(kind) if !kind.is_file() => return Err(io::Error::other("it is not a file")),
            found => found.and_then(|_| read(fs::File::open(&spot.path)?)).map(Some)?,
        };
        Ok(Change { spot, after: before.clone(), before, is_script: false })
    }

    /// Makes the file what it is to be; folders come and, once empty, go with it.
    pub(super) fn write(&self) -> io::Result<()> {
        let Spot { path, base, .. } = &self.spot;
        match &self.after {
            Some(text) => {
                fs::create_dir_all(path.parent().unwrap_or(base))?;
                rewrite(path, text)?;
                if self.is_script { make_executable(path) } else { Ok(()) }
            }
            None => {
                fs::remove_file(path)?;
                let folders = path.ancestors().skip(1);
                let below = folders.take_while(|folder| folder != base && folder.starts_with(base));
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
fn refuse_leading_out(Spot { path, base, .. }: &Spot) -> io::Result<()> {
    if !base.exists() {
        return Ok(());
    }
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
