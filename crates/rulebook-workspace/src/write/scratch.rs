//! A temporary folder that a tree of files is written to. It is removed when it is dropped.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// The folder.
#[derive(Debug)]
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> io::Result<Scratch> {
        tempfile::Builder::new().prefix("rulebook-").tempdir().map(Scratch)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Creates a file, and the folders above it.
    pub(crate) fn create(&self, path: &Path) -> io::Result<File> {
        let path = self.path().join(path);
        fs::create_dir_all(super::folder(&path))?;
        File::create(path)
    }

    /// Creates a symbolic link, and the folders above it.
    #[cfg(unix)]
    pub(crate) fn link(&self, path: &Path, target: &[u8]) -> io::Result<()> {
        use std::os::unix::ffi::OsStrExt as _;
        let path = self.path().join(path);
        fs::create_dir_all(super::folder(&path))?;
        std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), path)
    }

    /// Where links need a privilege, git writes their target as text.
    #[cfg(not(unix))]
    pub(crate) fn link(&self, path: &Path, target: &[u8]) -> io::Result<()> {
        fs::write(self.path().join(path), target)
    }
}
