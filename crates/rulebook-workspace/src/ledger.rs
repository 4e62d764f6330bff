//! The ledger: the events of one session and agent, one line each, appended by processes that run at the same time.
//!
//! A line is written in one piece under a lock that is held only for that write. A process that is killed leaves at most
//! the line it was writing, and the next writer ends that line first. Nothing is ever rewritten.

mod file;
mod keeper;
mod lines;
mod log;
mod sessions;

pub use file::{Kept, Ledger};
pub use keeper::{Keeper, SessionName};
pub use log::Log;
pub use sessions::{
    ACP, PROXY, SessionFile, delivered_by_proxy, family, is_relayed, relayed, sessions, sweep, together,
};

pub(crate) use file::safe;

#[cfg(test)]
mod tests;
