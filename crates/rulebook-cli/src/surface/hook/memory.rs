//! What a session was told, as far as it can be kept: where nothing can be written, rules are given all the same.

use std::cell::RefCell;
use std::time::SystemTime;

use rulebook::session::{Delivery, Event};
use rulebook_workspace::Workspace;
use rulebook_workspace::ledger::{Kept, Ledger, sweep};

use super::Host;
use super::event::HookEvent;

pub(super) struct Memory {
    ledger: Option<Ledger>,
    /// Why nothing is remembered.
    lost: RefCell<Option<String>>,
}

impl Memory {
    /// The memory of the event's session, and what is in it.
    pub(super) fn of(workspace: &Workspace, host: &Host, event: &HookEvent) -> (Memory, Kept) {
        let state = workspace.homes.state.as_ref().map(|state| state.join("rulebook"));
        let of_session = |state| Ledger::of(state, host.name, &event.session, event.agent.as_deref());
        let memory = Memory { ledger: state.as_deref().map(of_session), lost: RefCell::default() };
        let (Some(ledger), Some(state)) = (&memory.ledger, &state) else {
            memory.lose("there is no folder for sessions: set HOME or XDG_STATE_HOME");
            return (memory, Kept::default());
        };
        let history = ledger.recall().unwrap_or_else(|error| {
            memory.lose(&error.to_string());
            Kept::default()
        });
        if let Some(told) = ledger.left_alone(history.newer()) {
            memory.lose(&told);
        }
        if !history.session.is_started() {
            sweep(state, SystemTime::now());
        }
        (memory, history)
    }

    /// Writes down what happened and what is about to be said; returns what of it is this one's to say.
    pub(super) fn record(
        &self,
        history: &mut Kept,
        facts: Vec<Event>,
        claims: Vec<Delivery>,
    ) -> Vec<Delivery> {
        let Some(ledger) = self.ledger.as_ref().filter(|_| self.lost.borrow().is_none()) else {
            return claims;
        };
        ledger.record(history, facts, claims.clone()).unwrap_or_else(|error| {
            self.lose(&error.to_string());
            claims
        })
    }

    /// Why nothing is remembered, if so.
    pub(super) fn lost(&self) -> Option<String> {
        self.lost.borrow().clone()
    }

    fn lose(&self, why: &str) {
        eprintln!("rulebook: {why}; rules are given whatever the session got");
        *self.lost.borrow_mut() = Some(why.to_owned());
    }
}
