//! Following every session's ledger: each scan reads what was appended since the last one.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::SystemTime;

use rulebook::session::Event;
use rulebook_workspace::ledger::{Log, sessions};

/// The known sessions, and how far each was read. The events themselves are not kept.
pub(super) struct Follower {
    state: PathBuf,
    known: HashMap<PathBuf, Followed>,
}

/// One session and agent.
#[derive(Default)]
pub(super) struct Followed {
    pub(super) host: String,
    pub(super) session: String,
    pub(super) agent: Option<String>,
    pub(super) root: String,
    /// How many messages the user sent.
    pub(super) turn: u64,
    /// Time and length of the ledger at the last scan.
    written: Option<(SystemTime, u64)>,
    log: Log,
}

/// An event that was written since the last scan.
pub(super) struct News {
    pub(super) turn: u64,
    /// In seconds since 1970; 0 where it is not known.
    pub(super) at: u64,
    pub(super) event: Event,
}

impl Follower {
    /// Follows the sessions below a folder for state.
    pub(super) fn new(state: PathBuf) -> Follower {
        Follower { state, known: HashMap::new() }
    }

    /// Reads what is new. Calls `take` for every session with news, the least recently written first. Forgets sessions whose
    /// file is gone, and returns the files that exist.
    pub(super) fn scan(&mut self, mut take: impl FnMut(&PathBuf, &Followed, Vec<News>)) -> HashSet<PathBuf> {
        let mut existing = HashSet::new();
        for found in sessions(&self.state).into_iter().rev() {
            let file = found.ledger.file().to_owned();
            let written = Some((found.at, found.len));
            existing.insert(file.clone());
            let mut followed = match self.known.remove(&file) {
                Some(followed) if followed.written == written => {
                    self.known.insert(file, followed);
                    continue;
                }
                Some(followed) if followed.written.is_some_and(|(_, len)| len <= found.len) => followed,
                // A shorter one was removed and started again.
                _ => Followed::default(),
            };
            followed.written = written;
            // A ledger that cannot be read now may be readable at the next scan.
            let _ = found.ledger.follow(&mut followed.log);
            let news = followed.take_news();
            if !news.is_empty() {
                take(&file, &followed, news);
            }
            self.known.insert(file, followed);
        }
        self.known.retain(|file, _| existing.contains(file));
        existing
    }
}

impl Followed {
    /// When it was last written, in seconds since 1970.
    #[cfg(feature = "ui")]
    pub(super) fn written_at(&self) -> u64 {
        self.written.map_or(0, |(at, _)| crate::out::seconds(at))
    }

    fn take_news(&mut self) -> Vec<News> {
        let mut news = Vec::new();
        for (at, event) in self.log.take() {
            match &event {
                Event::Started { host, session, agent, root, .. } => {
                    (self.host, self.session) = (host.clone(), session.clone());
                    (self.agent, self.root) = (agent.clone(), root.clone());
                }
                Event::Prompt { .. } => self.turn += 1,
                _ => {}
            }
            news.push(News { turn: self.turn, at: at.as_secs(), event });
        }
        news
    }
}
