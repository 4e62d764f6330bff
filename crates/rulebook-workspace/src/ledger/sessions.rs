//! The list of sessions, and the removal of old ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rulebook::evidence::without_generated;
use rulebook::session::{Event, Session};

use super::file::{Ledger, folder, safe};
use crate::{read, write};

/// Older sessions are removed, by whoever starts another one.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Beyond this many, the oldest sessions are removed, if they were not written in the last hour: those may be running.
const MAX_SESSIONS: usize = 500;
const RUNNING: Duration = Duration::from_secs(60 * 60);

/// Beyond this many, the oldest sessions are removed in any case.
const MAX_RUNNING: usize = 10_000;

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

    /// Whether its name is that of a session, or one that shares it.
    pub fn is_of(&self, session: &str) -> bool {
        let folder = self.ledger.file().parent().and_then(Path::file_name);
        folder.is_some_and(|folder| folder == safe(session).as_str())
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

/// The host as which the proxy keeps its sessions.
pub const PROXY: &str = "proxy";

/// The host as which `rulebook acp` keeps its sessions.
pub const ACP: &str = "acp";

/// The hosts that relay a conversation between other programs: the agent's own host may report it too.
const RELAYS: [&str; 2] = [PROXY, ACP];

/// Whether a program relays the session of this name.
pub fn is_relayed(state: &Path, session: &str) -> bool {
    RELAYS.iter().any(|relay| Ledger::of(state, relay, session, None).file().exists())
}

/// A session of a host in a workspace, with what the programs that relay it stopped, by time; `None` if there are none.
pub fn relayed(
    state: &Path,
    host: &str,
    session: &str,
    agent: Option<&str>,
    roots: &[String],
) -> Option<Session> {
    let relays = RELAYS.map(|relay| Ledger::of(state, relay, session, agent));
    let relays: Vec<Ledger> = relays.into_iter().filter(|ledger| ledger.file().exists()).collect();
    if relays.is_empty() {
        return None;
    }
    let own = Ledger::of(state, host, session, agent);
    let mut all = own.read().ok()?.take();
    for ledger in relays {
        let Ok(mut log) = ledger.read() else { continue };
        let mut is_here = false;
        for (at, event) in log.take() {
            if let Event::Started { root, more_roots, .. } = &event {
                is_here = std::iter::once(root).chain(more_roots).eq(roots);
            }
            all.extend(event.of_relay().filter(|_| is_here).map(|event| (at, event)));
        }
    }
    // What was written in the same second: the message is before the answer to it.
    all.sort_by_key(|(at, _)| *at);
    let mut merged = Session::about(roots.to_vec());
    merged.enter();
    all.into_iter().for_each(|(_, event)| merged.apply(event));
    Some(merged)
}

/// What the proxy delivered in the session of this name, if it relays the present turn: it got the message that started the
/// turn, after the host reported it. Without that, the host may have been restarted without the proxy.
pub fn delivered_by_proxy(
    state: &Path,
    host: &str,
    session: &str,
    agent: Option<&str>,
    roots: &[String],
) -> Option<Session> {
    let proxy = Ledger::of(state, PROXY, session, agent);
    if !proxy.file().exists() {
        return None;
    }
    let message = |ledger: &Ledger| {
        let events = ledger.read().ok()?.take();
        events.into_iter().rev().find_map(|(at, event)| match event {
            Event::Prompt { message } => Some((at, without_generated(&message).trim().to_owned())),
            _ => None,
        })
    };
    let (reported, wanted) = message(&Ledger::of(state, host, session, agent))?;
    let (relayed, words) = message(&proxy)?;
    let is_present = !words.is_empty() && words == wanted && relayed >= reported;
    is_present.then(|| proxy.recall(roots.to_vec()).ok()).flatten().map(|kept| kept.session)
}

/// The tool calls and requirements of a session and its sub-agents in a workspace, by time, with what the proxy refused in the
/// session of this name; `None` if the ledger of this agent is all there is.
pub fn family(
    state: &Path,
    host: &str,
    session: &str,
    agent: Option<&str>,
    roots: &[String],
) -> Option<Session> {
    let own = ledgers(state, host, session);
    let this = Ledger::of(state, host, session, agent);
    let is_alone = own.iter().all(|file| file == this.file());
    let of_proxy = if host == PROXY { Vec::new() } else { ledgers(state, PROXY, session) };
    (!is_alone || !of_proxy.is_empty()).then(|| merged(state, host, session, own, of_proxy, roots))
}

/// The same, even if its main ledger is all there is.
pub fn together(state: &Path, host: &str, session: &str, roots: &[String]) -> Session {
    merged(state, host, session, ledgers(state, host, session), Vec::new(), roots)
}

/// The ledgers of a session, sorted.
fn ledgers(state: &Path, host: &str, session: &str) -> Vec<PathBuf> {
    let main = Ledger::of(state, host, session, None);
    let folder = main.file().parent().map(entries).unwrap_or_default();
    let mut files: Vec<PathBuf> = folder.into_iter().filter(|file| is_ledger(file)).collect();
    files.sort();
    files
}

fn merged(
    state: &Path,
    host: &str,
    session: &str,
    own: Vec<PathBuf>,
    of_proxy: Vec<PathBuf>,
    roots: &[String],
) -> Session {
    let main = Ledger::of(state, host, session, None);
    let mut all: Vec<(Duration, Event)> = Vec::new();
    // What was written at the same time: what the main agent did is before what it let others do.
    let (first, others): (Vec<PathBuf>, Vec<PathBuf>) = own.into_iter().partition(|file| file == main.file());
    let own = first.into_iter().chain(others);
    let files = own.map(|file| (file, true)).chain(of_proxy.into_iter().map(|file| (file, false)));
    for (file, is_own) in files {
        let is_main = file == main.file();
        let Ok(mut log) = (Ledger { file }).read() else { continue };
        let mut is_here = false;
        // Turns are those of the main agent.
        let mut is_shared = |event: &Event| match event {
            Event::Started { root, more_roots, .. } => {
                is_here = std::iter::once(root).chain(more_roots).eq(roots);
                false
            }
            // The host reports the calls themselves.
            Event::Tool { .. } => is_here && is_own,
            Event::Sequence { .. } => is_here,
            Event::Prompt { .. } => is_main,
            _ => false,
        };
        all.extend(log.take().into_iter().filter(|(_, event)| is_shared(event)));
    }
    all.sort_by_key(|(at, _)| *at);
    Session::of(all.into_iter().map(|(_, event)| event))
}

/// The most sessions that one sweep looks at, and removes: a hook must not wait for those of a whole year.
const MAX_SWEPT: (usize, usize) = (1_000, 100);

/// Removes sessions that are old, or too many, as far as it looks at them; the next sweep continues. What cannot be
/// removed stays.
pub fn sweep(state: &Path, now: SystemTime) {
    let all: Vec<PathBuf> = entries(&folder(state)).iter().flat_map(|host| entries(host)).collect();
    let too_many = all.len().saturating_sub(MAX_SESSIONS);
    let too_many_running = all.len().saturating_sub(MAX_RUNNING);
    let mut seen: Vec<(SystemTime, &PathBuf)> =
        all.iter().take(MAX_SWEPT.0).filter_map(|session| Some((written(session)?, session))).collect();
    seen.sort();
    let removed = seen.iter().enumerate().filter(|(at, (written, _))| {
        let age = now.duration_since(*written).unwrap_or_default();
        age > MAX_AGE || *at < too_many_running || (*at < too_many && age > RUNNING)
    });
    for (_, (_, session)) in removed.take(MAX_SWEPT.1) {
        write::discard_folder(session);
    }
}

/// When a session was last written.
fn written(session: &Path) -> Option<SystemTime> {
    let ledgers = entries(session).into_iter().filter(|file| is_ledger(file));
    let last = ledgers.filter_map(|file| SessionFile::of(Ledger { file })).map(|file| file.at).max();
    last.or_else(|| fs::metadata(session).ok()?.modified().ok())
}

fn is_ledger(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = read::folder(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
