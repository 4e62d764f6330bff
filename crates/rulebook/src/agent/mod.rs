//! Agents: what each one reads by itself, and how.
//!
//! An agent's view is a table of formats: the same reader, resolver and evaluator run over it, with the agent's own
//! dialect and its own way to fail.

mod names;
mod owner;
mod row;
mod table;

pub use names::{NamedAgent, PRODUCTS, Product, Purpose, UnknownAgent};
pub use row::{
    AddPolicy, Agent, Arrival, Beyond, Conflicts, Ignored, Nested, Order, SizeLimit, SizeUnit, Wiring,
};
pub use table::AGENTS;
