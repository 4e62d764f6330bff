//! Sessions: what one conversation with one agent has seen and received, and what it still needs.
//!
//! A [`Session`] is plain state: events go in, deliveries come out. Whoever embeds it keeps it, as the events themselves or
//! serialised.

mod blocks;
mod due;
mod event;
mod host;
mod refuse;
mod reply;
mod state;
mod stream_rules;

pub use blocks::{Blocks, Cap, because, blocks};
pub use due::{Due, Written};
pub use event::{Delivery, EVENT_VERSION, Event, TextHash};
pub use host::{HostProfile, Moment, Native, NativeView, Report, Touch};
pub use refuse::Objection;
pub use reply::{Draft, Reply};
pub use state::Session;
pub use stream_rules::{StreamLimits, StreamSettings};

#[cfg(test)]
mod tests;
