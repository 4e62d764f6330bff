//! The one module that opens files to read them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use rulebook::source::{MAX_SOURCE, Unreadable};

/// The size of the first read of a rule file. Nearly all rule files fit.
pub(crate) const FIRST_READ: usize = 16 << 10;

/// Opens a regular file; `None` if it does not exist.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    if is_regular_file(path)? { open_file(path).map(Some) } else { Ok(None) }
}

fn open_file(path: &Path) -> io::Result<File> {
    #[cfg(test)]
    record::add(path);
    File::open(path)
}

/// Checks that a path can be opened without blocking: a FIFO waits for its other end, and a device has no end.
///
/// Returns whether the file exists; anything but a regular file is an error.
pub(crate) fn is_regular_file(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(true),
        Ok(_) => Err(io::Error::other("not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads the first `limit` bytes of a file; `None` if it does not exist.
pub(crate) fn prefix(path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Reads a file of at most `limit` bytes; `None` if it does not exist. A larger file is [`io::ErrorKind::FileTooLarge`].
pub(crate) fn bytes(path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    match prefix(path, limit + 1)? {
        Some(bytes) if bytes.len() > limit => {
            Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {limit} bytes")))
        }
        bytes => Ok(bytes),
    }
}

/// Reads a UTF-8 file of at most `limit` bytes; `None` if it does not exist.
pub(crate) fn text(path: &Path, limit: usize) -> io::Result<Option<String>> {
    let not_utf8 = |_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8 text");
    bytes(path, limit)?.map(String::from_utf8).transpose().map_err(not_utf8)
}

/// Reads a rule file, which discovery found to be a regular file. `buffer` holds the first read.
///
/// A file that fits the buffer costs no second read: a regular file returns all it has at once.
pub(crate) fn rule_text(path: &Path, buffer: &mut [u8]) -> Result<Arc<str>, Unreadable> {
    let refused = |error: io::Error| Unreadable::Refused(reason(&error));
    let not_utf8 = |error: std::str::Utf8Error| Unreadable::NotUtf8 { valid_up_to: error.valid_up_to() };
    let mut file = open_file(path).map_err(refused)?;
    let len = file.read(buffer).map_err(refused)?;
    if len < buffer.len() {
        return std::str::from_utf8(&buffer[..len]).map(Arc::from).map_err(not_utf8);
    }
    let mut bytes = buffer.to_vec();
    file.take(MAX_SOURCE + 1 - len as u64).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > MAX_SOURCE {
        let len = fs::metadata(path).map_or(0, |metadata| metadata.len()).max(bytes.len() as u64);
        return Err(Unreadable::TooLarge { len });
    }
    std::str::from_utf8(&bytes).map(Arc::from).map_err(not_utf8)
}

/// Lists a folder.
pub(crate) fn folder(path: &Path) -> io::Result<fs::ReadDir> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `/proc/self/smaps` reports a length of 0.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_reported_length_is_not_trusted() {
        let path = Path::new("/proc/self/smaps");
        assert_eq!(prefix(path, 100).unwrap().map(|bytes| bytes.len()), Some(100));
        assert_eq!(bytes(path, 100).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
