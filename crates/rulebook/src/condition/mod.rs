//! Conditions: tests of the evidence, each with a three-valued result and its reasons.

mod command;
mod content;
mod facts;
pub(crate) mod filters;
mod keywords;
mod kind;
mod message;
mod named;
mod path_patterns;
mod paths;
mod regexes;
mod table;
mod truth;
mod value;
mod when;

pub use command::CommandPattern;
pub use facts::Facts;
pub(crate) use filters::FILTERS;
pub(crate) use kind::PathExpression;
pub use kind::{Condition, ConditionKind, ConditionResult, Needs};
pub use path_patterns::Paths;
pub(crate) use regexes::RegexBudget;
pub use truth::{MatchMode, Truth};
pub(crate) use value::{PatternBase, Splits, texts, words};

/// Every condition, in the order in which reasons are given.
pub fn all() -> impl Iterator<Item = &'static ConditionKind> {
    table::CONDITIONS.iter().chain([&when::KIND])
}

#[cfg(test)]
mod tests;
