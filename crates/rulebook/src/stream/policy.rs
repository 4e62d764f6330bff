//! The policy of a turn: what a match in the output leads to, and which rules the model has received.
//!
//! A rule on its way to the model is *claimed* until the host says whether its text was sent (`delivered`) or not
//! (`released`). Only a delivery is remembered: a turn that dies leaves no trace, and no timer decides anything.

mod action;
mod decide;
mod inject;
mod modes;
mod record;
#[cfg(test)]
mod tests;

pub use action::{Action, Claim, ClaimId, Downgrade, Means, Reminder, TriggerMatch};
pub use decide::{MAX_INTERRUPTS, Policy};
pub use inject::{MatchedText, Triggered, escape_tags, injection, join, reminder};
pub(crate) use inject::{attribute, excerpt, own_tags, refusal};
pub use modes::{ContextMode, InterruptMode, OutputSource, RepeatMode, StreamModes};
