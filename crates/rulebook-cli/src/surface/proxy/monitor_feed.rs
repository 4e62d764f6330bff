//! The monitor's side of a response: its streams are fed, and each may be shown up to where it is settled.

use std::sync::{Arc, MutexGuard};

use rulebook::evidence::ToolCall;
use rulebook::session::{FedPiece, Feed};
use rulebook::stream::{Hit, Monitor, StreamKind};

use super::rules::Watch;
use crate::lock::lock;
use crate::surface::wire::{Step, Waits};

/// One response on its way through the monitor.
pub(super) struct MonitorFeed {
    pub(super) watch: Arc<Watch>,
    feed: Feed,
}

impl MonitorFeed {
    /// The name is unique: the monitor is shared by many responses.
    pub(super) fn new(watch: Arc<Watch>, name: String) -> MonitorFeed {
        MonitorFeed { watch, feed: Feed::new(name) }
    }

    /// Feeds the monitor. Returns the texts that must be settled before they are shown, and what was found.
    pub(super) fn take(&mut self, steps: Vec<Step>, waits: Waits) -> (Vec<FedPiece>, Vec<Hit>) {
        let (mut texts, mut hits) = (Vec::new(), Vec::new());
        if steps.is_empty() {
            return (texts, hits);
        }
        let mut monitor = lock(&self.watch.monitor);
        for step in steps {
            match step {
                Step::Feed { stream, kind, bytes } => {
                    let rules = &self.watch.rules;
                    let piece = self.feed.feed(&mut monitor, rules, &stream, &kind, &bytes, &mut hits);
                    // An event that waits for the end of the response need not wait for its text.
                    if !matches!(kind, StreamKind::Tool(_)) && waits == Waits::Nothing {
                        texts.extend(piece);
                    }
                }
                Step::End { stream } => self.feed.finish(&mut monitor, &stream, &mut hits),
            }
        }
        (texts, hits)
    }

    /// The calls that are complete, and were not taken yet.
    pub(super) fn take_calls(&mut self) -> Vec<ToolCall> {
        self.feed.take_calls()
    }

    /// Whether a call began.
    pub(super) fn has_calls(&self) -> bool {
        self.feed.has_calls()
    }

    /// Whether texts may be shown.
    pub(super) fn is_settled(&self, texts: &[FedPiece]) -> bool {
        texts.is_empty() || {
            let mut settled = self.settled();
            texts.iter().all(|text| text.end <= settled.of(text.stream))
        }
    }

    /// How far texts may be shown.
    pub(super) fn settled(&self) -> Settled<'_> {
        Settled { monitor: lock(&self.watch.monitor), feed: &self.feed }
    }

    /// Whether this many bytes arrived since one of the texts started.
    pub(super) fn is_much(&self, texts: &[FedPiece], most: usize) -> bool {
        texts.iter().any(|text| self.feed.fed_since(text) >= most)
    }

    /// Lets a stream be shown as far as it arrived. Returns its name the first time.
    pub(super) fn release(&mut self, stream: usize) -> Option<String> {
        self.feed.release(stream).map(str::to_owned)
    }

    /// The text so far, where a rule keeps it.
    pub(super) fn output(&self) -> &str {
        self.feed.output()
    }

    pub(super) fn forget(&mut self) {
        self.feed.forget(&mut lock(&self.watch.monitor));
    }
}

impl Drop for MonitorFeed {
    fn drop(&mut self) {
        self.forget();
    }
}

/// How far texts may be shown, at one moment.
pub(super) struct Settled<'f> {
    monitor: MutexGuard<'f, Monitor>,
    feed: &'f Feed,
}

impl Settled<'_> {
    pub(super) fn of(&mut self, stream: usize) -> usize {
        self.feed.settled(&mut self.monitor, stream)
    }
}
