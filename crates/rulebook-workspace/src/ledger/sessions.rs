//! The list of sessions, and the removal of old ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::file::{Ledger, folder};

/// Older sessions are removed.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Beyond this many, the oldest sessions are removed.
const MAX_SESSIONS: usize = 500;

/// The ledger of one session and agent, as found on disk.
#[derive(Clone, Debug)]
pub struct SessionFile {
    /// The ledger.
    pub ledger: Ledger,
    /// When it was last written.
    pub at: SystemTime,
    /// Its length in bytes.
    pub len: u64,
}

impl SessionFile {
    /// The file of a ledger; nothing if it does not exist.
    pub fn of(ledger: Ledger) -> Option<SessionFile> {
        let metadata = fs::metadata(&ledger.file).ok()?;
        Some(SessionFile { at: metadata.modified().ok()?, len: metadata.len(), ledger })
    }
}

/// Lists every session and agent, the last written first.
pub fn sessions(state: &Path) -> Vec<SessionFile> {
    let mut found: Vec<SessionFile> = entries(&folder(state))
        .iter()
        .flat_map(|host| entries(host))
        .flat_map(|session| entries(&session))
        .filter(|file| is_ledger(file))
        .filter_map(|file| SessionFile::of(Ledger { file }))
        .collect();
    found.sort_by(|a, b| (b.at, a.ledger.file()).cmp(&(a.at, b.ledger.file())));
    found
}

/// Removes sessions that are old, or too many. What cannot be removed stays.
pub fn sweep(state: &Path, now: SystemTime) {
    let is_old = |at: SystemTime| now.duration_since(at).is_ok_and(|age| age > MAX_AGE);
    for (at, session) in sessions(state).iter().enumerate() {
        if at >= MAX_SESSIONS || is_old(session.at) {
            let _ = fs::remove_file(session.ledger.file());
            // After the last agent's ledger, whatever surfaces keep beside it goes too.
            let folder = session.ledger.file().parent();
            if let Some(folder) = folder.filter(|folder| !entries(folder).iter().any(|file| is_ledger(file)))
            {
                let _ = fs::remove_dir_all(folder);
            }
        }
    }
}

fn is_ledger(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
