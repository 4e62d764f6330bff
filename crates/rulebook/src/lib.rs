//! Decides which rules of coding agents apply to the work at hand, and why.

pub mod diagnostic;
pub mod glob;
