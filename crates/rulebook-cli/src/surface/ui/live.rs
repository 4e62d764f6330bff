//! Live sessions: totals of each session, and an event stream that announces changes.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rulebook::session::Event;

use super::super::follow::{Followed, Follower, News};
use super::http::stream_head;
use crate::lock::lock;

/// How long to wait between two scans while a client is connected.
const INTERVAL: Duration = Duration::from_millis(300);

/// The totals of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionTotals {
    pub(super) host: String,
    pub(super) session: String,
    pub(super) agent: Option<String>,
    pub(super) root: String,
    pub(super) turns: u64,
    pub(super) events: usize,
    pub(super) delivered: usize,
    pub(super) tokens: usize,
    pub(super) interrupts: usize,
    /// The beginning of the user's last message.
    pub(super) message: String,
    /// When the last event was written, in seconds since 1970.
    pub(super) at: u64,
}

/// When each rule was last delivered, by workspace and file.
type LastDelivered = HashMap<String, HashMap<String, u64>>;

/// How much of a message is kept, in bytes.
const MAX_MESSAGE: usize = 200;

/// All sessions.
pub(super) struct Live(Mutex<Following>);

struct Following {
    follower: Option<Follower>,
    totals: HashMap<PathBuf, SessionTotals>,
    delivered: LastDelivered,
    scanned: Option<Instant>,
    /// Counts the scans that found changes.
    version: u64,
}

impl Live {
    /// Follows the sessions in a state folder; without one, there are no sessions.
    pub(super) fn new(state: Option<PathBuf>) -> Live {
        let follower = state.map(Follower::new);
        let (totals, delivered) = (HashMap::new(), HashMap::new());
        Live(Mutex::new(Following { follower, totals, delivered, scanned: None, version: 0 }))
    }

    /// Returns every session, the most recent first.
    pub(super) fn sessions(&self) -> Vec<SessionTotals> {
        self.with(|following| {
            let started = following.totals.values().filter(|session| !session.host.is_empty());
            let mut sessions: Vec<SessionTotals> = started.cloned().collect();
            sessions.sort_by(|a, b| (b.at, &a.session, &a.agent).cmp(&(a.at, &b.session, &b.agent)));
            sessions
        })
    }

    /// Returns when each rule was last delivered in a session of these folders, by its file.
    pub(super) fn delivered(&self, is_here: impl Fn(&str) -> bool) -> HashMap<String, u64> {
        self.with(|following| {
            let mut last: HashMap<String, u64> = HashMap::new();
            let here = following.delivered.iter().filter(|(root, _)| is_here(root));
            for (source, at) in here.flat_map(|(_, delivered)| delivered) {
                let known = last.entry(source.clone()).or_default();
                *known = (*known).max(*at);
            }
            last
        })
    }

    /// Returns the version, which changes whenever a session changes.
    pub(super) fn version(&self) -> u64 {
        self.with(|following| following.version)
    }

    /// Sends the version whenever it changes, until the client disconnects.
    pub(super) fn stream(&self, stream: &TcpStream) {
        // An error means that the client has disconnected.
        let _ = self.send_versions(stream);
    }

    fn send_versions(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.write_all(stream_head().as_bytes())?;
        stream.write_all(b"retry: 1000\n\n")?;
        stream.set_read_timeout(Some(INTERVAL))?;
        let mut sent = None;
        loop {
            let version = self.version();
            if sent.replace(version) != Some(version) {
                stream.write_all(format!("event: change\ndata: {version}\n\n").as_bytes())?;
            }
            // The client sends nothing more, so this waits for the interval, or until the client disconnects.
            match stream.read(&mut [0; 1]) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                }
                Err(error) => return Err(error),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Scans for changes, unless that was just done, and calls `read`.
    fn with<T>(&self, read: impl FnOnce(&Following) -> T) -> T {
        let mut following = lock(&self.0);
        if following.scanned.is_none_or(|at| at.elapsed() > INTERVAL / 2) {
            following.scan();
        }
        read(&following)
    }
}

impl Following {
    fn scan(&mut self) {
        let Following { follower, totals, delivered, version, scanned } = self;
        let Some(follower) = follower else { return };
        let mut is_changed = false;
        let existing = follower.scan(|file, session, news| {
            is_changed = true;
            totals.entry(file.clone()).or_default().add(session, news, delivered);
        });
        let before = totals.len();
        totals.retain(|file, _| existing.contains(file));
        is_changed |= totals.len() < before;
        *version += u64::from(is_changed);
        *scanned = Some(Instant::now());
    }
}

impl SessionTotals {
    fn add(&mut self, session: &Followed, news: Vec<News>, delivered: &mut LastDelivered) {
        if matches!(news.first(), Some(News { event: Event::Started { .. }, .. })) {
            *self = SessionTotals::default();
        }
        self.at = session.written_at();
        let Followed { host, session, agent, root, turn, .. } = session;
        if self.host.is_empty() {
            (self.host, self.session) = (host.clone(), session.clone());
            (self.agent, self.root) = (agent.clone(), root.clone());
        }
        self.turns = *turn;
        self.events += news.len();
        for News { at, event, .. } in news {
            match event {
                Event::Prompt { message } => {
                    self.message = message[..message.floor_char_boundary(MAX_MESSAGE)].to_owned();
                }
                Event::Delivered(delivery) => {
                    self.delivered += usize::from(delivery.is_given());
                    self.tokens += delivery.tokens;
                    let known =
                        delivered.entry(self.root.clone()).or_default().entry(delivery.source).or_default();
                    *known = at.max(*known);
                }
                Event::Undelivered { rules, .. } => self.delivered = self.delivered.saturating_sub(rules),
                Event::Interrupted { .. } | Event::Refused { .. } => self.interrupts += 1,
                _ => {}
            }
        }
    }
}
