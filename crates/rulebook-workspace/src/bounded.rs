//! Reading small files whole, and nothing that only looks like one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a regular file, at most `limit` and one more; nothing where there is none.
///
/// A FIFO would wait for a writer and a device has no end: neither is opened.
pub(crate) fn read(path: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
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
