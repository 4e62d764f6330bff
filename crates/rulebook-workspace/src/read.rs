//! The one module that opens files to read them.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rulebook::source::{MAX_READ, Unreadable};
#[cfg(unix)]
use rustix::fs::{Mode, OFlags};
use simdutf8::compat::{Utf8Error, from_utf8};

use crate::canonical::canonical;

/// The size of the first read of a rule file. Nearly all rule files fit.
pub(crate) const FIRST_READ: usize = 16 << 10;

/// Opens a regular file; `None` if it does not exist.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    match open_regular(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn open_regular(path: &Path) -> io::Result<File> {
    #[cfg(test)]
    record::add(path);
    open_with(path, File::options().read(true))
}

/// Opens a regular file in a given way, and then checks what was opened: a path may lead elsewhere by the time it is opened.
///
/// Anything but a regular file is an error: a FIFO waits for its other end, and a device has no end.
pub(crate) fn open_with(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, OFlags::NONBLOCK.bits().cast_signed());
    let irregular = || io::Error::other("not a regular file");
    // A folder, or a FIFO without its other end, cannot be opened for writing: the system's words do not say why.
    let is_irregular = |_: &io::Error| fs::metadata(path).is_ok_and(|found| !found.is_file());
    let file = options.open(path).map_err(|error| if is_irregular(&error) { irregular() } else { error })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

/// Reads the first `limit` bytes of a file; `None` if it does not exist.
pub(crate) fn prefix(path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    open(path)?.map(|file| first(file, limit)).transpose()
}

/// Reads the first `limit` bytes of a file; `None` if it does not exist, or if `allows` refuses the canonical path of
/// what was opened.
pub(crate) fn allowed_prefix(
    path: &Path,
    limit: usize,
    allows: impl FnOnce(&Path) -> bool,
) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open(path)? else { return Ok(None) };
    if !allows(&real_path(&file, path)?) {
        return Ok(None);
    }
    first(file, limit).map(Some)
}

fn first(file: File, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file of at most `limit` bytes; `None` if it does not exist. A larger file is [`io::ErrorKind::FileTooLarge`].
///
/// # Errors
/// If it is larger, is not a regular file, or cannot be read.
pub fn bytes(path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    prefix(path, limit + 1)?.map(|bytes| whole(bytes, limit)).transpose()
}

fn whole(bytes: Vec<u8>, limit: usize) -> io::Result<Vec<u8>> {
    if bytes.len() > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
    }
    Ok(bytes)
}

/// Reads a UTF-8 file of at most `limit` bytes; `None` if it does not exist.
///
/// # Errors
/// If it is larger, is not text or not a regular file, or cannot be read.
pub fn text(path: &Path, limit: usize) -> io::Result<Option<String>> {
    bytes(path, limit)?.map(utf8).transpose()
}

fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text"))
}

/// Reads a UTF-8 file of at most `limit` bytes in a folder, whatever the path leads to by now; `None` if it does not exist.
///
/// # Errors
/// If what was opened is outside the folder, or as [`text`].
pub fn text_within(path: &Path, folder: &Path, limit: usize) -> io::Result<Option<String>> {
    let Some(file) = open(path)? else { return Ok(None) };
    if !real_path(&file, path)?.starts_with(canonical(folder)?) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, LEADS_OUT));
    }
    utf8(whole(first(file, limit + 1)?, limit)?).map(Some)
}

/// Why a file is not read that is not in the folder where its path is.
pub(crate) const LEADS_OUT: &str = "it leads out of its folder";

/// Reads a file that a person named as an argument: also a pipe or a device, which may never end.
///
/// # Errors
/// If it is larger than `limit` bytes, or cannot be read.
pub fn argument(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    whole(first(File::open(path)?, limit + 1)?, limit)
}

/// Reads a rule file. `buffer` holds the first read.
///
/// `allows` decides about the canonical path of what was opened, or about that of its folder.
pub(crate) fn rule_text(
    path: &Path,
    listed: Option<(&OpenFolder, &OsStr)>,
    buffer: &mut [u8],
    allows: &dyn Fn(&Path) -> bool,
) -> Result<Arc<str>, Unreadable> {
    let refused = |error: io::Error| Unreadable::Refused(reason(&error));
    let listed = listed.filter(|(folder, _)| allows(&folder.real));
    let file = match listed.and_then(|(folder, name)| folder.file(name)) {
        Some(file) => file,
        None => {
            let file = open_regular(path).map_err(refused)?;
            let real = real_path(&file, path).map_err(refused)?;
            if !allows(&real) {
                return Err(Unreadable::OutsideRoot { target: real.to_string_lossy().into_owned() });
            }
            file
        }
    };
    read_text(file, buffer)
}

/// Reads the text of a file. If it fits the buffer, it costs no second read: a regular file returns all it has at once.
fn read_text(mut file: File, buffer: &mut [u8]) -> Result<Arc<str>, Unreadable> {
    let refused = |error: io::Error| Unreadable::Refused(reason(&error));
    let not_utf8 = |error: Utf8Error| Unreadable::NotUtf8 { valid_up_to: error.valid_up_to() };
    let len = file.read(buffer).map_err(refused)?;
    if len < buffer.len() {
        return from_utf8(&buffer[..len]).map(Arc::from).map_err(not_utf8);
    }
    let mut bytes = buffer.to_vec();
    (&file).take(MAX_READ + 1 - len as u64).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > MAX_READ {
        let len = file.metadata().map_or(0, |metadata| metadata.len()).max(bytes.len() as u64);
        return Err(Unreadable::TooLarge { len });
    }
    from_utf8(&bytes).map(Arc::from).map_err(not_utf8)
}

/// The canonical path of an open file. Where the system cannot tell it, that of the path it was opened by.
pub(crate) fn real_path(file: &File, path: &Path) -> io::Result<PathBuf> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let number = std::os::fd::AsRawFd::as_raw_fd(file);
        if let Ok(real) = fs::read_link(format!("/proc/self/fd/{number}")) {
            return Ok(real);
        }
    }
    #[cfg(target_vendor = "apple")]
    {
        use std::os::unix::ffi::OsStringExt;
        if let Ok(real) = rustix::fs::getpath(file) {
            return Ok(std::ffi::OsString::from_vec(real.into_bytes()).into());
        }
    }
    let _ = file;
    canonical(path)
}

/// A folder that stays open: its files are opened relative to it, whatever its path leads to by then.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    #[cfg_attr(not(unix), expect(dead_code))]
    folder: File,
    /// Its canonical path.
    real: PathBuf,
}

impl OpenFolder {
    /// Opens a folder; `None` where files cannot be opened relative to one.
    pub(crate) fn open(path: &Path) -> Option<OpenFolder> {
        if cfg!(not(unix)) {
            return None;
        }
        let folder = File::open(path).ok()?;
        let real = real_path(&folder, path).ok()?;
        Some(OpenFolder { folder, real })
    }

    /// Opens a file of the folder. A link is not followed, and a FIFO is not waited for.
    #[cfg(unix)]
    fn file(&self, name: &OsStr) -> Option<File> {
        #[cfg(test)]
        record::add(&self.real.join(name));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        rustix::fs::openat(&self.folder, name, flags, Mode::empty()).ok().map(File::from)
    }

    #[cfg(not(unix))]
    fn file(&self, _: &OsStr) -> Option<File> {
        None
    }
}

/// Lists a folder.
///
/// # Errors
/// If it is not a folder, or cannot be listed.
pub fn folder(path: &Path) -> io::Result<fs::ReadDir> {
    #[cfg(test)]
    record::add(path);
    fs::read_dir(path)
}

/// The operating system's words for an error, without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or(&words).to_lowercase()
}

/// The files that a thread opened and the folders it listed, for tests that count them.
#[cfg(test)]
pub(crate) mod record {
    use std::cell::RefCell;
    use std::path::{Path, PathBuf};

    thread_local! {
        static OPENED: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn add(path: &Path) {
        OPENED.with_borrow_mut(|opened| opened.push(path.to_owned()));
    }

    /// Returns the paths recorded so far, and starts again.
    pub(crate) fn take() -> Vec<PathBuf> {
        OPENED.take()
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    /// `/proc/self/smaps` reports a length of 0.
    #[test]
    fn a_reported_length_is_not_trusted() {
        let path = Path::new("/proc/self/smaps");
        assert_eq!(prefix(path, 100).unwrap().map(|bytes| bytes.len()), Some(100));
        assert_eq!(bytes(path, 100).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
