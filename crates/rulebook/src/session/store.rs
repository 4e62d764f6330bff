//! Stores: where a session is kept between its events.

use super::event::{Delivery, Event};
use super::state::Session;

/// Where a session is kept: in memory, in a ledger, or wherever a host keeps it.
pub trait SessionStore {
    /// The session as known now.
    fn session(&mut self) -> &mut Session;

    /// Records events and claims deliveries. Returns the deliveries that nobody made before.
    fn record(&mut self, events: Vec<Event>, claims: Vec<Delivery>) -> Vec<Delivery>;
}

/// In memory; the host may serialise it.
impl SessionStore for Session {
    fn session(&mut self) -> &mut Session {
        self
    }

    fn record(&mut self, events: Vec<Event>, claims: Vec<Delivery>) -> Vec<Delivery> {
        events.into_iter().for_each(|event| self.apply(event));
        let mine: Vec<Delivery> = claims.into_iter().filter(|delivery| !self.has(delivery)).collect();
        mine.iter().cloned().for_each(|delivery| self.apply(Event::Delivered(delivery)));
        mine
    }
}
