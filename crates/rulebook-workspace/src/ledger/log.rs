//! A ledger as people see it: every event, with its time.

use std::time::Duration;

use rulebook::session::{Event, Session};

use super::lines::{Cursor, event, written_at};

/// The events of a ledger so far.
#[derive(Clone, Debug, Default)]
pub struct Log {
    events: Vec<Event>,
    times: Vec<u64>,
    /// The same, as exactly as they are known.
    exact: Vec<Duration>,
    pub(super) cursor: Cursor,
}

impl Log {
    /// Every event, oldest first.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The time of each event, in seconds since 1970; 0 where it is not known.
    pub fn times(&self) -> &[u64] {
        &self.times
    }

    /// How many lines could not be read.
    pub fn unreadable(&self) -> usize {
        self.cursor.unreadable
    }

    /// The version of a ledger that is too new to be read.
    pub fn newer(&self) -> Option<u64> {
        self.cursor.newer
    }

    /// How many messages the user sent.
    pub fn turn(&self) -> u64 {
        self.events.iter().filter(|event| matches!(event, Event::Prompt { .. })).count() as u64
    }

    /// The session that these events make.
    pub fn session(&self) -> Session {
        Session::of(self.events.iter().cloned())
    }

    /// Takes the events out, each with its time since 1970. [`Ledger::follow`](super::Ledger::follow) continues after them.
    pub fn take(&mut self) -> Vec<(Duration, Event)> {
        self.times.clear();
        std::mem::take(&mut self.exact).into_iter().zip(std::mem::take(&mut self.events)).collect()
    }

    pub(super) fn add(&mut self, line: &str) -> bool {
        let Ok(event) = event(line) else { return false };
        self.events.push(event);
        let at = written_at(line);
        self.times.push(at.as_secs());
        self.exact.push(at);
        true
    }
}
