//! Agents: what each one reads by itself, and how.
//!
//! An agent's view is a table of formats: the same reader, resolver and evaluator run over it, with the agent's own
//! dialect and its own way to fail.

mod row;
mod table;

pub use row::{Agent, Beyond, Conflicts, Nested, Order, SizeLimit, SizeUnit};
pub use table::AGENTS;
