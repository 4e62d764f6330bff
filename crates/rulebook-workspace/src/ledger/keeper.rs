//! A keeper: a session kept in its ledger, as long as that can be read and written.

use std::path::Path;
use std::time::SystemTime;

use rulebook::session::{Delivery, EVENT_VERSION, Event, Session, SessionStore};

use super::file::{Kept, Ledger};
use super::sessions::sweep;

/// A session and its ledger. If the ledger fails, the session continues without memory.
#[derive(Debug)]
pub struct Keeper {
    ledger: Option<Ledger>,
    start: Event,
    kept: Kept,
    lost: Option<String>,
}

/// Whose session it is.
#[derive(Clone, Debug)]
pub struct SessionName<'a> {
    /// The host.
    pub host: &'a str,
    /// The host's name for the session.
    pub session: &'a str,
    /// The sub-agent; the main agent has none.
    pub agent: Option<&'a str>,
    /// The workspace.
    pub root: &'a str,
    /// Its other roots.
    pub more_roots: Vec<String>,
}

impl Keeper {
    /// Recalls a session from the folder for state; a machine without one has no memory.
    pub fn open(state: Option<&Path>, name: &SessionName<'_>) -> Keeper {
        let SessionName { host, session, agent, root, .. } = *name;
        let ledger = state.map(|state| Ledger::of(state, host, session, agent));
        let mut keeper = Keeper {
            ledger,
            start: Event::Started {
                version: EVENT_VERSION,
                host: host.to_owned(),
                session: session.to_owned(),
                agent: agent.map(str::to_owned),
                root: root.to_owned(),
                more_roots: name.more_roots.clone(),
            },
            kept: Kept::default(),
            lost: None,
        };
        keeper.recall(state);
        keeper
    }

    fn recall(&mut self, state: Option<&Path>) {
        let (Some(ledger), Some(state)) = (&self.ledger, state) else {
            self.lost = Some("no folder for sessions: set HOME or XDG_STATE_HOME".to_owned());
            return;
        };
        match ledger.recall(self.roots()) {
            Ok(kept) => {
                self.lost = ledger.left_alone(kept.newer());
                self.kept = kept;
            }
            Err(error) => self.lost = Some(error.to_string()),
        }
        if !self.kept.session.is_started() {
            sweep(state, SystemTime::now());
        }
    }

    fn roots(&self) -> Vec<String> {
        match &self.start {
            Event::Started { root, more_roots, .. } => {
                std::iter::once(root).chain(more_roots).cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Takes in what other processes recorded.
    pub fn refresh(&mut self) {
        if let Some(ledger) = self.ledger.as_ref().filter(|_| self.lost.is_none())
            && let Err(error) = ledger.refresh(&mut self.kept)
        {
            self.lost = Some(error.to_string());
        }
    }

    /// The host, its name for the session, and the sub-agent.
    pub fn name(&self) -> Option<(&str, &str, Option<&str>)> {
        match &self.start {
            Event::Started { host, session, agent, .. } => Some((host, session, agent.as_deref())),
            _ => None,
        }
    }

    /// Why the session is not kept.
    pub fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }
}

impl SessionStore for Keeper {
    fn session(&mut self) -> &mut Session {
        &mut self.kept.session
    }

    fn record(&mut self, events: Vec<Event>, claims: Vec<Delivery>) -> Vec<Delivery> {
        let Some(ledger) = self.ledger.as_ref().filter(|_| self.lost.is_none()) else {
            self.kept.session.enter();
            self.kept.session.record(events, claims.clone());
            return claims;
        };
        if events.is_empty() && claims.is_empty() && self.kept.session.is_started() {
            return claims;
        }
        ledger.record(&self.start, &mut self.kept, events, claims.clone()).unwrap_or_else(|error| {
            self.lost = Some(error.to_string());
            claims
        })
    }
}
