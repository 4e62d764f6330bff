//! A ledger as people see it: every event, with its time.

use rulebook::session::{Event, Session};

use super::lines::{Cursor, event, written_at};

/// The events of a ledger so far.
#[derive(Clone, Debug, Default)]
pub struct Log {
    events: Vec<Event>,
    times: Vec<u64>,
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

    /// Takes the events out, each with its time. [`Ledger::follow`](super::Ledger::follow) continues after them.
    pub fn take(&mut self) -> Vec<(u64, Event)> {
        std::mem::take(&mut self.times).into_iter().zip(std::mem::take(&mut self.events)).collect()
    }

    pub(super) fn add(&mut self, line: &str) -> bool {
        let Ok(event) = event(line) else { return false };
        self.events.push(event);
        self.times.push(written_at(line));
        true
    }
}
