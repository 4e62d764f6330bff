//! Sessions: what one conversation with one agent has seen and received, and what it still needs.
//!
//! A [`Session`] is plain state: events go in, deliveries come out. A [`SessionStore`] keeps it. Hosts that report events,
//! such as hooks, send a [`Report`] and get a [`Reply`]; programs that talk to a model themselves use a [`Turn`].

mod blocks;
mod calls;
mod carried;
mod demand;
mod due;
mod event;
mod feed;
mod host;
mod judge;
mod ordered;
mod progress;
mod refuse;
mod reply;
mod sequence;
mod situation;
mod state;
mod store;
mod stream_rules;
mod turn;
mod watch;

pub use crate::hash::TextHash;
pub use calls::JudgedCalls;
pub use carried::{carried, is_retry, returned};
pub use due::{Due, Written};
pub use event::{Delivery, EVENT_VERSION, Event, HostFacts, rules_given};
pub use feed::{FedPiece, Feed};
pub use host::{HostProfile, Moment, Report, Touch};
pub use judge::{Interrupt, Judgement, Reminders};
pub use progress::RequirementState;
pub use reply::{Draft, Reply};
pub use sequence::{Milestone, RequirementStatus};
pub use situation::{HandlingView, Situation};
pub use state::Session;
pub use store::SessionStore;
pub use stream_rules::{StreamLimits, StreamRules, StreamSettings};
pub use turn::{PausedTurn, Turn};
pub use watch::{Step, Watch};

#[cfg(test)]
mod tests;
