//! Reads and writes the files of hosts, and nothing outside the folder they belong to.

use std::io;

use rulebook_workspace::read;
use rulebook_workspace::write::{self, Kind};

use super::destination::HostPath;

/// The largest file that is edited, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// A file before and after the edit; `None` means that it does not exist.
pub(super) struct Change {
    pub(super) path: HostPath,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// Whether the new text is a script of ours.
    pub(super) kind: Kind,
}

impl Change {
    /// Reads the file; until `after` is set, nothing changes.
    pub(super) fn read(path: HostPath) -> io::Result<Change> {
        path.owner().check(&path.path)?;
        let before = read::text(&path.path, MAX_BYTES).map_err(|error| path.explained(error))?;
        Ok(Change { path, after: before.clone(), before, kind: Kind::Text })
    }

    /// Writes or removes the file; creates missing folders, and removes those that become empty.
    pub(super) fn write(&self) -> io::Result<()> {
        let HostPath { path, base, .. } = &self.path;
        match &self.after {
            Some(text) => write::rewrite(path, text, self.kind, self.path.owner()),
            None => write::remove(path, base, self.path.owner()),
        }
    }
}
