//! The file of a ledger: read by many, appended to under a lock.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use rulebook::session::{Delivery, Event, Session, TextHash};

use super::lines::{Cursor, DELIVERED, Tail, event, first_line, line};
use super::log::Log;
use crate::read;
use crate::write::{naming, open_to_append};

/// The ledger of one session and agent.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub(super) file: PathBuf,
}

/// A session as its ledger keeps it.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// What the ledger says of the session so far.
    pub session: Session,
    cursor: Cursor,
}

impl Ledger {
    /// The ledger of a session, below the folder for state; nothing is created yet.
    pub fn of(state: &Path, host: &str, session: &str, agent: Option<&str>) -> Ledger {
        let folder = folder(state).join(safe(host)).join(safe(session));
        Ledger { file: folder.join(format!("{}.jsonl", safe(agent.unwrap_or("main")))) }
    }

    /// Its path.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Reads the first event, which names the session and its workspace.
    pub fn start(&self) -> Option<Event> {
        let mut file = read::open(&self.file).ok()??;
        event(std::str::from_utf8(&first_line(&mut file).ok()?).ok()?).ok()
    }

    /// Reads every event; a ledger that does not exist yet has none.
    pub fn read(&self) -> io::Result<Log> {
        let mut log = Log::default();
        self.follow(&mut log)?;
        Ok(log)
    }

    /// Reads the events that were written since.
    pub fn follow(&self, log: &mut Log) -> io::Result<()> {
        let mut cursor = std::mem::take(&mut log.cursor);
        let read = self.read_on(&mut cursor, |line| log.add(line));
        log.cursor = cursor;
        read
    }

    /// Reads the session, for whoever delivers the rules of a workspace.
    pub(crate) fn recall(&self, roots: Vec<String>) -> io::Result<Kept> {
        let mut kept = Kept { session: Session::about(roots), cursor: Cursor::default() };
        self.refresh(&mut kept)?;
        Ok(kept)
    }

    /// Reads what was written since.
    pub fn refresh(&self, kept: &mut Kept) -> io::Result<()> {
        let Kept { session, cursor } = kept;
        self.read_on(cursor, |line| apply(session, line))
    }

    fn read_on(&self, cursor: &mut Cursor, take: impl FnMut(&str) -> bool) -> io::Result<()> {
        let read = read::open(&self.file)
            .and_then(|file| file.map_or(Ok(()), |mut file| cursor.read_on(&mut file, take)));
        read.map_err(|error| naming("cannot read", &self.file, &error))
    }

    /// Appends events, and those of the wanted deliveries that nobody made yet. Reads first what others wrote since, so of
    /// all processes that want to deliver a rule exactly one does. `start` goes before them if the last events are from
    /// another workspace, or there are none. Returns the deliveries that are the caller's to make.
    pub fn record(
        &self,
        start: &Event,
        kept: &mut Kept,
        events: Vec<Event>,
        wanted: Vec<Delivery>,
    ) -> io::Result<Vec<Delivery>> {
        let mut file =
            open_to_append(&self.file).map_err(|error| naming("cannot write", &self.file, &error))?;
        let is_locked = lock(&file);
        let Kept { session, cursor } = kept;
        cursor
            .read_on(&mut file, |line| apply(session, line))
            .map_err(|error| naming("cannot read", &self.file, &error))?;
        let mine: Vec<Delivery> = wanted.into_iter().filter(|delivery| !session.has(delivery)).collect();
        let mut events: Vec<Event> =
            events.into_iter().chain(mine.iter().cloned().map(Event::Delivered)).collect();
        if session.is_elsewhere() && !(events.is_empty() && session.is_started()) {
            events.insert(0, start.clone());
        }
        // The events of a newer ledger are unknown: nothing counts as claimed, and nothing is written to it.
        let is_newer = cursor.newer.is_some();
        let text = if is_newer { String::new() } else { written(&events, cursor.is_torn)? };
        if !text.is_empty() {
            file.write_all(text.as_bytes()).map_err(|error| naming("cannot write", &self.file, &error))?;
        }
        if is_locked {
            // Closing the file releases the lock in any case.
            let _ = file.unlock();
        }
        // After a torn line the next read takes in both.
        if !cursor.is_torn {
            cursor.end += text.len() as u64;
            events.into_iter().for_each(|event| session.apply(event));
        }
        Ok(mine)
    }

    /// Appends events without claiming anything; a new ledger gets `start` first. Returns why a ledger of a newer version is
    /// left alone.
    pub fn append(&self, start: &Event, events: &[Event]) -> io::Result<Option<String>> {
        let writing = |error: &io::Error| naming("cannot write", &self.file, error);
        let mut file = open_to_append(&self.file).map_err(|error| writing(&error))?;
        let _is_locked = lock(&file);
        let tail = Tail::of(&mut file).map_err(|error| naming("cannot read", &self.file, &error))?;
        if tail.newer.is_some() {
            return Ok(self.left_alone(tail.newer));
        }
        let start = Some(start).filter(|_| tail.is_empty);
        let text = written(start.into_iter().chain(events), tail.is_torn)?;
        file.write_all(text.as_bytes()).map_err(|error| writing(&error))?;
        Ok(None)
    }

    /// Why a ledger of a newer version is neither read nor written.
    pub fn left_alone(&self, newer: Option<u64>) -> Option<String> {
        let file = self.file.display();
        let fault = |version| {
            format!("`{file}` was written by a newer Rulebook (version {version}), and is left alone")
        };
        newer.map(fault)
    }
}

impl Kept {
    /// The version of a ledger that is too new to be read.
    pub fn newer(&self) -> Option<u64> {
        self.cursor.newer
    }
}

/// Applies the event of a line. Of a delivery only what counts is read.
fn apply(session: &mut Session, line: &str) -> bool {
    if let Some((source, hash, is_lost_on_resume)) = delivery(line) {
        session.apply_delivery(source.to_owned(), hash, is_lost_on_resume);
        return true;
    }
    let Ok(event) = event(line) else { return false };
    session.apply(event);
    true
}

/// What counts of a delivery, if its line is as `written` writes it and has no escapes before the hash: its source, its
/// hash, and whether it is lost on resume. Quotes in texts are escaped, so no text contains a key.
fn delivery(line: &str) -> Option<(&str, TextHash, bool)> {
    let (_, rest) = line.strip_prefix(DELIVERED)?.strip_prefix(r#""rule":""#)?.split_once('"')?;
    let (source, rest) = rest.strip_prefix(r#","source":""#)?.split_once('"')?;
    let (hash, rest) = rest.strip_prefix(r#","hash":""#)?.split_once('"')?;
    let is_whole = !source.contains('\\') && rest.ends_with('}');
    is_whole.then_some((source, hash.parse().ok()?, rest.contains(r#","passing":true"#)))
}

/// Events as lines, after the end of a torn line.
fn written<'e>(events: impl IntoIterator<Item = &'e Event>, is_torn: bool) -> io::Result<String> {
    let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut text = if is_torn { "\n".to_owned() } else { String::new() };
    for event in events {
        text.push_str(&line(at, event)?);
    }
    Ok(text)
}

/// Waits for other writers, but not for one that hangs: appending is safe without the lock, only claims are not.
fn lock(file: &File) -> bool {
    const TRIES: u32 = 400;
    for tried in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return true,
            Err(fs::TryLockError::WouldBlock) => {
                thread::sleep(Duration::from_micros(u64::from(tried.min(20)) * 100));
            }
            Err(fs::TryLockError::Error(_)) => return false,
        }
    }
    false
}

/// The folder of all sessions, below the folder for state.
pub(super) fn folder(state: &Path) -> PathBuf {
    state.join("sessions")
}

/// A name as part of a path, whatever it contains: other characters are written as their numbers.
pub(crate) fn safe(name: &str) -> String {
    const MAX: usize = 120;
    let mut safe = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' => safe.push(c),
            '.' | '_' if !safe.is_empty() => safe.push(c),
            other => safe.push_str(&format!("%{:x}", u32::from(other))),
        }
    }
    // Windows drops dots at the end of a name, and opens a device instead of a file of its name.
    const DEVICES: [&str; 4] = ["aux", "con", "nul", "prn"];
    let stem = safe.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_port =
        matches!(stem.as_bytes(), [b'c', b'o', b'm', b'0'..=b'9'] | [b'l', b'p', b't', b'0'..=b'9']);
    if is_port || DEVICES.contains(&stem.as_str()) {
        safe.insert_str(0, "%-");
    }
    if safe.ends_with('.') {
        safe.truncate(safe.len() - 1);
        safe.push_str("%2e");
    }
    if safe.len() > MAX || safe.is_empty() {
        safe.truncate(safe.floor_char_boundary(MAX - 20));
        safe.push_str(&format!("%{}", TextHash::of(name)));
    }
    safe
}
