//! Stream rules: triggers that watch the model's own output.

pub mod arguments;
mod automaton;
mod call;
mod fallback;
pub mod monitor;
pub mod patch;
pub mod pattern;
pub mod policy;
pub mod scope;

pub use monitor::{Hit, Kind, Monitor};

#[cfg(test)]
mod tests;
