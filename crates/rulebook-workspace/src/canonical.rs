//! Canonical paths, as people and programs write them.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The canonical path. On Windows it is `C:\…` and not `\\?\C:\…`: paths are compared with roots and arguments, which are written so.
///
/// # Errors
/// If there is nothing at the path, or it cannot be looked up.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(path)?;
    Ok(if cfg!(windows) { real.to_str().map(plain).unwrap_or(real) } else { real })
}

/// A path of Windows without its prefix for programs.
fn plain(path: &str) -> PathBuf {
    match path.strip_prefix(r"\\?\") {
        Some(rest) => match rest.strip_prefix(r"UNC\") {
            Some(share) => format!(r"\\{share}").into(),
            None => rest.into(),
        },
        None => path.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_windows_is_written_as_people_write_it() {
        let check = |path: &str, wanted: &str| assert_eq!(plain(path), Path::new(wanted));
        check(r"\\?\C:\work\a.md", r"C:\work\a.md");
        check(r"\\?\UNC\server\share\a.md", r"\\server\share\a.md");
        check(r"C:\work", r"C:\work");
    }
}
