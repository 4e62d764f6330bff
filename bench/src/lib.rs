//! The rule files, the evidence and the streams that everything here is measured on.

pub mod corpus;
pub mod globs;
pub mod sample;
pub mod stream;
