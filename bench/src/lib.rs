//! The rule files, evidence and streams for all measurements.

pub mod corpus;
pub mod globs;
pub mod sample;
pub mod stream;
