//! Reading small files whole, and nothing that only looks like one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a regular file, at most `limit` and one more; nothing where there is none.
pub(crate) fn read(path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Opens a regular file to read it; nothing where there is none.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    if is_there(path)? { File::open(path).map(Some) } else { Ok(None) }
}

/// Whether there is a file, to be asked before it is opened: a FIFO would wait for who is at its other end, and a device
/// has no end. What is there and is no regular file is an error.
pub(crate) fn is_there(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(true),
        Ok(_) => Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This one says that it has none.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_length_is_not_believed() {
        let bytes = read(Path::new("/proc/self/smaps"), 100).unwrap();
        assert_eq!(bytes.map(|bytes| bytes.len()), Some(101));
    }
}
