//! A folder to write in. It is opened first and then checked, and its files are named relative to it: a path may lead
//! elsewhere by the time it is used.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

#[cfg(unix)]
use crate::read;

/// An open folder.
pub(super) struct Folder {
    #[cfg(unix)]
    open: File,
    /// Its canonical path.
    pub(super) real: PathBuf,
}

/// Where folders can be opened.
#[cfg(unix)]
impl Folder {
    const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        let open = File::from(rustix::fs::open(path, Self::FLAGS, Mode::empty())?);
        let real = read::real_path(&open, path)?;
        Ok(Folder { open, real })
    }

    /// Creates a file that does not exist.
    #[allow(clippy::useless_conversion, reason = "the type of a mode differs between systems")]
    pub(super) fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode.try_into().unwrap_or(0o600));
        Ok(rustix::fs::openat(&self.open, name, flags, mode)?.into())
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.open, from, &self.open, to)?)
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.open, name, AtFlags::empty())?)
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.open, name, AtFlags::REMOVEDIR)?)
    }

    /// Makes a folder below it if there is none, and opens it. A link is not followed.
    pub(super) fn make(&self, name: &OsStr) -> io::Result<Folder> {
        match rustix::fs::mkdirat(&self.open, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let open = rustix::fs::openat(&self.open, name, Self::FLAGS | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Folder { open: open.into(), real: self.real.join(name) })
    }

    /// The permissions of a regular file in it.
    #[allow(clippy::useless_conversion, reason = "the type of a mode differs between systems")]
    pub(super) fn permissions(&self, name: &OsStr) -> Option<fs::Permissions> {
        use std::os::unix::fs::PermissionsExt as _;
        let found = rustix::fs::statat(&self.open, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        let mode: u32 = Mode::from_raw_mode(found.st_mode).as_raw_mode().into();
        is_file.then(|| fs::Permissions::from_mode(mode))
    }

    /// Makes renames durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.open.sync_all()
    }
}

/// Where folders cannot be opened, their canonical paths stand for them.
#[cfg(not(unix))]
impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder { real: crate::canonical(path)? })
    }

    /// Creates a file that does not exist.
    pub(super) fn create(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        File::options().write(true).create_new(true).open(self.real.join(name))
    }

    /// Windows may refuse to replace a file while another process reads it, so it is tried again.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        const TRIES: usize = 200;
        const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);
        let (from, to) = (self.real.join(from), self.real.join(to));
        for _ in 1..TRIES {
            match fs::rename(&from, &to) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => std::thread::sleep(PAUSE),
                done => return done,
            }
        }
        fs::rename(&from, &to)
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.real.join(name))
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.real.join(name))
    }

    /// Makes a folder below it if there is none, and opens it.
    pub(super) fn make(&self, name: &OsStr) -> io::Result<Folder> {
        let real = self.real.join(name);
        fs::create_dir_all(&real)?;
        Ok(Folder { real })
    }

    /// The permissions of a regular file in it.
    pub(super) fn permissions(&self, name: &OsStr) -> Option<fs::Permissions> {
        let found = fs::symlink_metadata(self.real.join(name)).ok()?;
        found.is_file().then(|| found.permissions())
    }

    /// Renames need nothing to be durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
