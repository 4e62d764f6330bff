//! A small regular-expression engine: JavaScript's syntax, no backtracking.
//!
//! A path is read once, from its end to its start, while tracking the set of instructions from which the rest matches.
//! Look-aheads are such sets too, so a negated one is a complement and costs no more.

mod build;
mod class;
mod compile;
mod complement;
mod lazy;
mod literals;
mod node;
mod parse;
mod program;
mod run;

pub(super) use lazy::LazyDfa;
pub(super) use literals::Literals;
pub(super) use node::Node;
pub(super) use parse::{Fault, NO_DOTS, NO_DOTS_BEYOND, NO_LONE_DOT, SOMETHING};
pub(super) use program::Program;

use super::error::GlobError;

/// Compiles the expression, and returns the literals that every match has.
pub(super) fn compile(source: &str) -> Result<(Program, Literals), Fault> {
    Ok(compile_node(&parse::parse(source)?)?)
}

/// As [`compile`], for folded paths.
pub(super) fn compile_folded(source: &str) -> Result<(Program, Literals), Fault> {
    Ok(compile_node(&parse::parse(source)?.folded())?)
}

/// As [`compile`], for alternatives of which one must match the whole path; the paths are folded if `ignores_case`.
pub(super) fn compile_any(
    sources: impl Iterator<Item = String>,
    ignores_case: bool,
) -> Result<(Program, Literals), Fault> {
    let node = Node::whole(sources.map(|source| parse::parse(&source)))?;
    Ok(compile_node(&if ignores_case { node.folded() } else { node })?)
}

/// As [`compile`], for an expression that is parsed already.
pub(super) fn compile_node(node: &Node) -> Result<(Program, Literals), GlobError> {
    Ok((compile::compile(node)?, node.literals()))
}

/// Whether JavaScript accepts the expression.
pub(super) fn is_valid(source: &str) -> bool {
    !matches!(parse::parse(source), Err(Fault::Invalid))
}
