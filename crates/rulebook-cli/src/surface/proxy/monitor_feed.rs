//! What was heard of an answer: its texts through the monitor, and how far each may be shown.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

use rulebook::stream::{Hit, Monitor, StreamKind};

use super::hold_queue::Text;
use super::rules::Watch;
use crate::lock::lock;
use crate::surface::wire::{Step, Waits};

/// More of what was said than this is not said again.
const MAX_SAID: usize = 256 << 10;

/// What was heard of one answer.
pub(super) struct MonitorFeed {
    pub(super) watch: Arc<Watch>,
    /// Before the names of its streams: the monitor knows those of all answers.
    name: String,
    /// How much of each stream came, and up to where one was let go that is not settled.
    fed: HashMap<String, usize>,
    let_go: HashMap<String, usize>,
    /// What was said, for a rule that keeps it.
    pub(super) said: String,
}

impl MonitorFeed {
    pub(super) fn new(watch: Arc<Watch>, name: String) -> MonitorFeed {
        MonitorFeed { watch, name, fed: HashMap::new(), let_go: HashMap::new(), said: String::new() }
    }

    /// Feeds the monitor; returns the texts that must be settled, and what was found.
    pub(super) fn take(&mut self, steps: Vec<Step>, waits: Waits) -> (Vec<Text>, Vec<Hit>) {
        let (mut texts, mut hits) = (Vec::new(), Vec::new());
        let mut monitor = lock(&self.watch.monitor);
        for step in steps {
            match step {
                Step::Feed { kind: StreamKind::Thinking, .. } if !self.watch.hears_thinking => {}
                Step::Feed { stream, kind, bytes } => {
                    let stream = format!("{}{stream}", self.name);
                    hits.extend(monitor.feed(&stream, &kind, &bytes));
                    if self.watch.keeps && kind == StreamKind::Text && self.said.len() < MAX_SAID {
                        self.said.push_str(&String::from_utf8_lossy(&bytes));
                    }
                    let fed = match self.fed.get_mut(&stream) {
                        Some(fed) => fed,
                        None => self.fed.entry(stream.clone()).or_default(),
                    };
                    let start = *fed;
                    *fed += bytes.len();
                    // What waits for more than its text waits for that alone.
                    if !matches!(kind, StreamKind::Tool(_)) && waits == Waits::Nothing {
                        texts.push(Text { stream, start, end: *fed });
                    }
                }
                Step::End { stream } => {
                    let stream = format!("{}{stream}", self.name);
                    hits.extend(monitor.finish(&stream));
                    self.fed.remove(&stream);
                }
            }
        }
        (texts, hits)
    }

    /// Returns whether texts may be shown.
    pub(super) fn is_settled(&mut self, texts: &[Text]) -> bool {
        let mut settled = self.settled();
        texts.iter().all(|text| text.end <= settled.of(&text.stream))
    }

    /// How far texts may be shown.
    pub(super) fn settled(&mut self) -> Settled<'_> {
        Settled { monitor: lock(&self.watch.monitor), let_go: &self.let_go }
    }

    /// Whether this much came since a text began that is not settled.
    pub(super) fn is_much(&self, texts: &[Text], most: usize) -> bool {
        let since = |text: &Text| self.fed.get(&text.stream).map_or(0, |fed| fed.saturating_sub(text.start));
        texts.iter().any(|text| since(text) >= most)
    }

    /// Lets streams go up to where they are; whether that is new.
    pub(super) fn let_go(&mut self, stream: &str) -> bool {
        let fed = self.fed.get(stream).copied().unwrap_or(usize::MAX);
        self.let_go.insert(stream.to_owned(), fed).is_none()
    }

    /// Nothing of it counts any more.
    pub(super) fn forget(&mut self) {
        let mut monitor = lock(&self.watch.monitor);
        self.fed.drain().for_each(|(stream, _)| monitor.forget(&stream));
        self.let_go.clear();
    }
}

impl Drop for MonitorFeed {
    fn drop(&mut self) {
        self.forget();
    }
}

/// How far texts may be shown, at one moment.
pub(super) struct Settled<'h> {
    monitor: MutexGuard<'h, Monitor>,
    let_go: &'h HashMap<String, usize>,
}

impl Settled<'_> {
    pub(super) fn of(&mut self, stream: &str) -> usize {
        let let_go = self.let_go.get(stream).copied().unwrap_or(0);
        let_go.max(self.monitor.settled(stream))
    }
}
