//! The sessions there are, and their cleaning up.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Fact, History, Ledger};

/// Older sessions are removed.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// More sessions than this are removed, oldest first.
const MAX_SESSIONS: usize = 500;

/// The ledger of one session and agent, with when it was last written.
#[derive(Clone, Debug)]
pub struct Session {
    /// Where it is written.
    pub ledger: Ledger,
    /// When it was last written.
    pub at: SystemTime,
    /// How long it is, in bytes.
    pub len: u64,
}

impl Session {
    /// Host, session, agent and root, as its first line says.
    pub fn began(history: &History) -> Option<&Fact> {
        history.facts().iter().find(|fact| matches!(fact, Fact::Began { .. }))
    }
}

/// Where sessions lie below the folder for state.
pub(super) fn folder(state: &Path) -> PathBuf {
    state.join("sessions")
}

/// Every session and agent, the last written first.
pub fn sessions(state: &Path) -> Vec<Session> {
    let mut found: Vec<Session> = entries(&folder(state))
        .iter()
        .flat_map(|host| entries(host))
        .flat_map(|session| entries(&session))
        .filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"))
        .filter_map(session)
        .collect();
    found.sort_by(|a, b| (b.at, a.ledger.file()).cmp(&(a.at, b.ledger.file())));
    found
}

/// The session a file is the ledger of.
pub(super) fn session(file: PathBuf) -> Option<Session> {
    let metadata = fs::metadata(&file).ok()?;
    Some(Session { at: metadata.modified().ok()?, len: metadata.len(), ledger: Ledger { file } })
}

/// Removes sessions that are old, or too many. What cannot be removed stays.
pub fn sweep(state: &Path, now: SystemTime) {
    let is_old = |at: SystemTime| now.duration_since(at).is_ok_and(|age| age > MAX_AGE);
    for (at, session) in sessions(state).iter().enumerate() {
        if at >= MAX_SESSIONS || is_old(session.at) {
            let _ = fs::remove_file(session.ledger.file());
            // Only when it was the last agent's, with what surfaces keep beside it.
            let folder = session.ledger.file().parent();
            let is_ledger = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "jsonl");
            if let Some(folder) = folder.filter(|folder| !entries(folder).iter().any(is_ledger)) {
                let _ = fs::remove_dir_all(folder);
            }
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
