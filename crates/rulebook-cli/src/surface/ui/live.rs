//! The sessions as they are written: what each came to so far, and a stream that says when there is more.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rulebook::session::Event;

use super::super::follow::{Followed, Follower, News};
use super::http::stream_head;

/// How long between two looks while somebody is connected.
const EVERY: Duration = Duration::from_millis(300);

/// What a session came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) host: String,
    pub(super) session: String,
    pub(super) agent: Option<String>,
    pub(super) root: String,
    pub(super) turns: u64,
    pub(super) events: usize,
    pub(super) given: usize,
    pub(super) tokens: usize,
    pub(super) interrupts: usize,
    /// The beginning of what was said last.
    pub(super) message: String,
    /// When something was last written, in seconds since 1970.
    pub(super) at: u64,
}

/// When each file's rule was last given, by workspace and file.
type Delivered = HashMap<String, HashMap<String, u64>>;

/// The longest beginning of a message that is kept.
const MAX_MESSAGE: usize = 200;

/// Every session, followed.
pub(super) struct Live(Mutex<Following>);

struct Following {
    follower: Option<Follower>,
    sums: HashMap<PathBuf, Sum>,
    delivered: Delivered,
    looked: Option<Instant>,
    /// Counts the looks that found something.
    version: u64,
}

impl Live {
    /// Follows the sessions below a folder for state; without one there are none.
    pub(super) fn new(state: Option<PathBuf>) -> Live {
        let follower = state.map(Follower::new);
        let (sums, delivered) = (HashMap::new(), HashMap::new());
        Live(Mutex::new(Following { follower, sums, delivered, looked: None, version: 0 }))
    }

    /// Every session, the last written first.
    pub(super) fn sums(&self) -> Vec<Sum> {
        self.with(|following| {
            let began = following.sums.values().filter(|sum| !sum.host.is_empty());
            let mut sums: Vec<Sum> = began.cloned().collect();
            sums.sort_by(|a, b| (b.at, &a.session, &a.agent).cmp(&(a.at, &b.session, &b.agent)));
            sums
        })
    }

    /// When each rule was last given in a session of these folders, by its file.
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

    /// Another one after each look that found something.
    pub(super) fn version(&self) -> u64 {
        self.with(|following| following.version)
    }

    /// Says which version there is, and says it again whenever a session was written, until the client is gone.
    pub(super) fn stream(&self, stream: &TcpStream) {
        // A client that went away ends the loop; that is all there is to do about it.
        let _ = self.say(stream);
    }

    fn say(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.write_all(stream_head().as_bytes())?;
        stream.write_all(b"retry: 1000\n\n")?;
        stream.set_read_timeout(Some(EVERY))?;
        let mut told = None;
        loop {
            let version = self.version();
            if told.replace(version) != Some(version) {
                stream.write_all(format!("event: change\ndata: {version}\n\n").as_bytes())?;
            }
            // Nothing more is to be said to us: waiting for it is the pause, and its end the client's.
            match stream.read(&mut [0; 1]) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                }
                Err(error) => return Err(error),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Caches, unless somebody just did.
    fn with<T>(&self, ask: impl FnOnce(&Following) -> T) -> T {
        let mut following = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if following.looked.is_none_or(|at| at.elapsed() > EVERY / 2) {
            following.look();
        }
        ask(&following)
    }
}

impl Following {
    fn look(&mut self) {
        let Following { follower, sums, delivered, version, looked } = self;
        let Some(follower) = follower else { return };
        let mut is_news = false;
        let there = follower.scan(|file, session, news| {
            is_news = true;
            sums.entry(file.clone()).or_default().add(session, news, delivered);
        });
        let before = sums.len();
        sums.retain(|file, _| there.contains(file));
        is_news |= sums.len() < before;
        *version += u64::from(is_news);
        *looked = Some(Instant::now());
    }
}

impl Sum {
    fn add(&mut self, session: &Followed, news: Vec<News>, delivered: &mut Delivered) {
        if matches!(news.first(), Some(News { event: Event::Started { .. }, .. })) {
            *self = Sum::default();
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
                    self.given += 1;
                    self.tokens += delivery.tokens;
                    let known =
                        delivered.entry(self.root.clone()).or_default().entry(delivery.source).or_default();
                    *known = at.max(*known);
                }
                Event::Interrupted { .. } | Event::Refused { .. } => self.interrupts += 1,
                _ => {}
            }
        }
    }
}
