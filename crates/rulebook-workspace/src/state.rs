//! State files: what Rulebook keeps for a person between runs. Each has a version and is replaced whole under a lock.

use std::io;
use std::path::Path;

use rulebook::diagnostic::{Code, Diagnostic};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::read;
use crate::write::{self, Durability, naming};

/// The content of a state file at one moment.
#[derive(Debug)]
pub(crate) enum Read<T> {
    /// The file does not exist yet.
    Absent,
    /// The file was read.
    Known(T),
    /// A newer Rulebook wrote it: it is neither used nor overwritten.
    Newer(u64),
    /// It cannot be read; the next writer moves it aside.
    Broken(String),
}

/// Reads a state file of at most `limit` bytes. This needs no lock, because writers replace the whole file.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, limit: usize, version: u64) -> Read<T> {
    let bytes = match read::bytes(path, limit) {
        Ok(None) => return Read::Absent,
        Ok(Some(bytes)) => bytes,
        Err(error) => return Read::Broken(read::reason(&error)),
    };
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => return Read::Broken(format!("not JSON: {error}")),
    };
    match value.get("version").and_then(Value::as_u64) {
        Some(found) if found > version => Read::Newer(found),
        Some(_) => serde_json::from_value(value)
            .map_or_else(|error| Read::Broken(format!("unexpected content: {error}")), Read::Known),
        None => Read::Broken("it has no `version`".to_owned()),
    }
}

impl<T> Read<T> {
    /// The content, if it was read.
    pub(crate) fn known(self) -> Option<T> {
        match self {
            Read::Known(known) => Some(known),
            _ => None,
        }
    }

    /// Why an existing file is not used.
    pub(crate) fn diagnostic(&self, path: &Path) -> Option<Diagnostic> {
        let report = |message: String| Diagnostic::whole(Code::BadState, path.display().to_string(), message);
        match self {
            Read::Absent | Read::Known(_) => None,
            Read::Newer(version) => {
                let message = format!("is not used: a newer Rulebook wrote it (version {version})");
                Some(report(message).help("use that Rulebook, or remove the file"))
            }
            Read::Broken(why) => Some(report(format!("cannot be read and is not used: {why}"))),
        }
    }
}

/// Changes a state file while no other process does. `change` receives the current content and returns the new one.
/// Returns the problem of a file that could not be read.
///
/// When this returns, the change is on disk. An unreadable file is moved aside; one of a newer version is not written to.
pub(crate) fn update<T: DeserializeOwned, U: Serialize>(
    path: &Path,
    limit: usize,
    version: u64,
    change: impl FnOnce(Option<T>) -> U,
) -> io::Result<Option<Diagnostic>> {
    update_to(path, limit, version, Durability::Synced, change)
}

fn update_to<T: DeserializeOwned, U: Serialize>(
    path: &Path,
    limit: usize,
    version: u64,
    durability: Durability,
    change: impl FnOnce(Option<T>) -> U,
) -> io::Result<Option<Diagnostic>> {
    let _lock = write::lock(path).map_err(|error| naming("cannot write", path, &error))?;
    let found = read(path, limit, version);
    let problem = found.diagnostic(path);
    match found {
        Read::Newer(newer) => return Err(newer_error(path, newer, version)),
        Read::Broken(_) => write::move_aside(path)?,
        Read::Absent | Read::Known(_) => {}
    }
    let text = serde_json::to_string(&change(found.known()))? + "\n";
    write::replace_state(path, &text, durability)?;
    Ok(problem)
}

/// Reads a state file of at most `limit` bytes, if it exists and can be read.
pub fn load<T: DeserializeOwned>(path: &Path, limit: usize, version: u64) -> Option<T> {
    read(path, limit, version).known()
}

/// Replaces the content of a state file that can be lost if the machine stops. An unreadable one is moved aside and reported.
///
/// # Errors
/// If the file cannot be written, or a newer Rulebook wrote it.
pub fn save<T: Serialize + DeserializeOwned>(
    path: &Path,
    limit: usize,
    version: u64,
    content: &T,
) -> io::Result<Option<Diagnostic>> {
    update_to(path, limit, version, Durability::Cached, |_: Option<T>| content)
}

/// The error of a write to a file that a newer Rulebook wrote.
pub(crate) fn newer_error(path: &Path, newer: u64, known: u64) -> io::Error {
    io::Error::other(format!(
        "a newer Rulebook wrote `{}` (version {newer}, this one knows {known}); nothing was changed",
        path.display()
    ))
}

/// The SHA-256 of some bytes, in lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beside_many_others_is_saved_without_listing_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.json");
        let left = folder.path().join(".one.json.tmp");
        std::fs::write(&left, "a writer that was killed left this").unwrap();
        let content = serde_json::json!({ "version": 1 });
        read::record::take();
        save(&path, 100, 1, &content).unwrap();
        assert_eq!(read::record::take(), std::slice::from_ref(&path), "the folder is not listed");
        assert_eq!(load::<Value>(&path, 100, 1), Some(content));
        assert!(!left.exists());
    }
}
