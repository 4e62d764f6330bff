//! The rule files and the evidence that everything here is measured on.

pub mod corpus;
pub mod sample;
