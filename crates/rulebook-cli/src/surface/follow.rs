//! Following: every session's ledger, read on from where it was read to.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::SystemTime;

use rulebook_workspace::ledger::{Fact, History, sessions};

/// The sessions there are, and how far each was read. Of what was read only the place is kept.
pub(super) struct Follower {
    state: PathBuf,
    known: HashMap<PathBuf, Followed>,
}

/// One session and agent.
pub(super) struct Followed {
    pub(super) host: String,
    pub(super) session: String,
    pub(super) agent: Option<String>,
    pub(super) root: String,
    /// How often the user spoke.
    pub(super) turn: u64,
    /// When and how long it was at the last look.
    written: (SystemTime, u64),
    place: History,
}

/// A fact that was not known at the last look.
pub(super) struct News {
    pub(super) turn: u64,
    /// In seconds since 1970; 0 where nobody said.
    pub(super) at: u64,
    pub(super) fact: Fact,
}

impl Follower {
    /// Follows the sessions below a folder for state.
    pub(super) fn new(state: PathBuf) -> Follower {
        Follower { state, known: HashMap::new() }
    }

    /// Reads on. `take` is given every session with news, the one written first first. Sessions that are gone are let
    /// go of; those there are now are returned.
    pub(super) fn look(&mut self, mut take: impl FnMut(&PathBuf, &Followed, Vec<News>)) -> HashSet<PathBuf> {
        let mut there = HashSet::new();
        for found in sessions(&self.state).into_iter().rev() {
            let file = found.ledger.file().to_owned();
            let written = (found.at, found.len);
            there.insert(file.clone());
            let mut followed = match self.known.remove(&file) {
                Some(followed) if followed.written == written => {
                    self.known.insert(file, followed);
                    continue;
                }
                Some(followed) if followed.written.1 <= found.len => followed,
                // One that is shorter now was removed and begun anew.
                _ => Followed::new(),
            };
            followed.written = written;
            // One that cannot be read now may be at the next look.
            let _ = found.ledger.follow(&mut followed.place);
            let news = followed.take_in();
            if !news.is_empty() {
                take(&file, &followed, news);
            }
            self.known.insert(file, followed);
        }
        self.known.retain(|file, _| there.contains(file));
        there
    }
}

impl Followed {
    fn new() -> Followed {
        Followed {
            host: String::new(),
            session: String::new(),
            agent: None,
            root: String::new(),
            turn: 0,
            written: (SystemTime::UNIX_EPOCH, 0),
            place: History::default(),
        }
    }

    /// When it was last written, in seconds since 1970.
    pub(super) fn written_at(&self) -> u64 {
        self.written.0.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    fn take_in(&mut self) -> Vec<News> {
        let mut news = Vec::new();
        for (at, fact) in self.place.take() {
            match &fact {
                Fact::Began { host, session, agent, root, .. } => {
                    (self.host, self.session) = (host.clone(), session.clone());
                    (self.agent, self.root) = (agent.clone(), root.clone());
                }
                Fact::Spoke { .. } => self.turn += 1,
                _ => {}
            }
            news.push(News { turn: self.turn, at, fact });
        }
        news
    }
}
