//! Sessions: what one conversation with one agent has seen and received, and what it still needs.
//!
//! A [`Session`] is plain state: events go in, deliveries come out. Whoever embeds it keeps it, as the events themselves or
//! serialised.

mod blocks;
mod event;
mod state;

pub use blocks::{Blocks, Cap, because, blocks};
pub use event::{Delivery, EVENT_VERSION, Event, TextHash};
pub use state::Session;

#[cfg(test)]
mod tests;
