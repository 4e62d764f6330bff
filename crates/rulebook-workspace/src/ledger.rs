//! The ledger: what one session of one agent has seen and got, a line a fact, appended by processes that run at once.
//!
//! A line is written in one piece under a lock that is held for that piece alone; a process that is killed leaves at most
//! the line it was writing, which the next one parts from its own. Nothing is ever rewritten.

mod history;
mod sessions;

pub use history::{Delivery, History};
pub use sessions::{Session, sessions, sweep};

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::atomic::naming;
use crate::bounded;
use crate::state::make_folder;

/// The version of the lines written here.
pub const VERSION: u32 = 1;

/// Longer messages are cut: their beginning says what the turn is about.
const MAX_MESSAGE: usize = 8 << 10;

/// A ledger beyond this is read from here on only.
const MAX_LEDGER: u64 = 16 << 20;

/// One fact of a session, in the order in which they became known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Fact {
    /// The session began: whose it is and where.
    Began {
        /// The version of the ledger.
        version: u32,
        /// The host.
        host: String,
        /// The host's name for the session.
        session: String,
        /// The agent; the main one has none.
        agent: Option<String>,
        /// The workspace.
        root: String,
    },
    /// The user spoke.
    Spoke {
        /// What was said.
        message: String,
    },
    /// A tool was about to run, or ran.
    Tool {
        /// Its name.
        name: String,
        /// The files it is about, as the evidence has them.
        paths: Vec<String>,
        /// The shell command, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// Whether it is yet to run.
        #[serde(default)]
        pending: bool,
    },
    /// A rule was given to the model.
    Delivered(Delivery),
    /// The context was compacted: what was given may be gone.
    Compacted,
    /// The session was taken up again by a host that forgets some of what it was given.
    Resumed,
    /// A call was refused once because of a rule.
    Refused {
        /// The rule's id.
        rule: String,
        /// What it was about, so that the same call passes the next time.
        call: String,
    },
    /// A stream rule matched what the model wrote.
    Interrupted {
        /// The rule's id.
        rule: String,
        /// Its file, as shown.
        path: String,
        /// The part of the output: `text`, `thinking` or `tool`.
        source: String,
        /// What matched.
        text: String,
        /// The file it was for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// `interrupt`: the output was stopped and asked for again; `remind`: the rule is told after it; `released`: the
        /// text was held too long and let go.
        action: String,
    },
    /// Something of ours failed; the agent went on.
    Failed {
        /// What.
        what: String,
    },
}

impl Fact {
    /// The user spoke; a long message is cut.
    pub fn spoke(message: &str) -> Fact {
        Fact::Spoke { message: message[..message.floor_char_boundary(MAX_MESSAGE)].to_owned() }
    }
}

/// The ledger of one session and agent.
#[derive(Clone, Debug)]
pub struct Ledger {
    file: PathBuf,
}

impl Ledger {
    /// The ledger of a session, below the folder for state; nothing is made yet.
    pub fn of(state: &Path, host: &str, session: &str, agent: Option<&str>) -> Ledger {
        let folder = sessions::folder(state).join(safe(host)).join(safe(session));
        Ledger { file: folder.join(format!("{}.jsonl", safe(agent.unwrap_or("main")))) }
    }

    /// Where it lies.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What is to be told of a ledger that a newer Rulebook writes: it is neither read nor written to.
    pub fn left_alone(&self, history: &History) -> Option<String> {
        let told = |version| {
            let file = self.file.display();
            format!("`{file}` was written by a newer Rulebook (version {version}), and is left alone")
        };
        history.newer().map(told)
    }

    /// The session it is of, if anything was written.
    pub fn session(self) -> Option<Session> {
        sessions::session(self.file)
    }

    /// What is known so far; a ledger that is not there yet is empty.
    pub fn read(&self) -> io::Result<History> {
        let mut history = History::default();
        self.follow(&mut history)?;
        Ok(history)
    }

    /// The same for who delivers rules: of deliveries only what is still in the context is kept.
    pub fn recall(&self) -> io::Result<History> {
        let mut history = History::without_deliveries();
        self.follow(&mut history)?;
        Ok(history)
    }

    /// Takes in what was written since the history was read.
    pub fn follow(&self, history: &mut History) -> io::Result<()> {
        let read = bounded::open(&self.file)
            .and_then(|file| file.map_or(Ok(()), |mut file| read_on(&mut file, history)));
        read.map_err(|error| naming("cannot read", &self.file, &error))
    }

    /// Appends facts, and those of the deliveries that nobody made before. What others wrote since `history` was read is
    /// read first, so of all processes that want to deliver a rule one does. Returns the deliveries that are this one's.
    pub fn record(
        &self,
        history: &mut History,
        facts: Vec<Fact>,
        wanted: Vec<Delivery>,
    ) -> io::Result<Vec<Delivery>> {
        let mut file = self.open().map_err(|error| naming("cannot write", &self.file, &error))?;
        let is_locked = lock(&file);
        read_on(&mut file, history).map_err(|error| naming("cannot read", &self.file, &error))?;
        let mine: Vec<Delivery> = wanted.into_iter().filter(|delivery| !history.has(delivery)).collect();
        let facts: Vec<Fact> = facts.into_iter().chain(mine.iter().cloned().map(Fact::Delivered)).collect();
        let mut text = if history.is_torn() { "\n".to_owned() } else { String::new() };
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        for fact in &facts {
            text.push_str(&history::line(at, fact)?);
        }
        if history.newer().is_some() {
            // What it says is not known, so nothing was claimed before; and nothing is written to it.
            text.clear();
        }
        if !text.is_empty() {
            file.write_all(text.as_bytes()).map_err(|error| naming("cannot write", &self.file, &error))?;
        }
        if is_locked {
            // Closing the file gives the lock back, whatever this says.
            let _ = file.unlock();
        }
        history.append(facts, at, text.len() as u64);
        Ok(mine)
    }

    fn open(&self) -> io::Result<File> {
        bounded::is_there(&self.file)?;
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // For the person alone: messages stand in the files below it.
                make_folder(self.file.parent().unwrap_or(Path::new(".")))?;
                options.open(&self.file)
            }
            opened => opened,
        }
    }
}

/// Waits for the others, but not for one that hangs: appending is safe without the lock, only claims are not.
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

/// Reads what was appended since.
fn read_on(file: &mut File, history: &mut History) -> io::Result<()> {
    let len = file.metadata()?.len();
    if history.end() == 0 && len > 0 {
        history.set_version(version(file)?);
    }
    if history.newer().is_some() {
        return Ok(());
    }
    let from = history.end().max(len.saturating_sub(MAX_LEDGER));
    if len > from {
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::with_capacity(usize::try_from(len - from).unwrap_or_default());
        file.take(len - from).read_to_end(&mut bytes)?;
        history.read_on(from, &bytes);
    }
    Ok(())
}

/// The version that the first line of a ledger says, however the rest of it may read.
fn version(file: &mut File) -> io::Result<Option<u64>> {
    #[derive(Deserialize)]
    struct Stamp {
        version: u64,
    }
    const MAX_LINE: u64 = 64 << 10;
    file.seek(SeekFrom::Start(0))?;
    let mut line = Vec::new();
    BufReader::new(&mut *file).take(MAX_LINE).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line).ok().map(|Stamp { version }| version))
}

/// A name as part of a path, whatever a host calls its sessions: other signs are written as their numbers.
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
    if safe.len() > MAX || safe.is_empty() {
        let hash = history::hash(name);
        safe.truncate(safe.floor_char_boundary(MAX - 20));
        safe.push_str(&format!("%{hash}"));
    }
    safe
}

#[cfg(test)]
mod tests;
