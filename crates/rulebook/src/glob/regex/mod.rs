//! A small regular-expression engine: JavaScript's syntax, no backtracking.
//!
//! A path is read once, from its end to its start, keeping the set of steps from which the rest
//! would match. Look-aheads are such sets too, so a negated one is a complement and costs no more.

mod build;
mod class;
mod complement;
mod lazy;
mod node;
mod parse;
mod program;
mod run;

pub(super) use lazy::Lazy;
pub(super) use node::{Needs, Node};
pub(super) use program::Program;

use super::error::GlobError;

/// Why an expression could not be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// JavaScript refuses it too.
    Invalid,
    /// JavaScript would run it, this engine does not.
    Refused(GlobError),
}

impl From<GlobError> for Fault {
    fn from(error: GlobError) -> Fault {
        Fault::Refused(error)
    }
}

/// Compiles the expression, and says which literals every match has.
pub(super) fn compile(source: &str) -> Result<(Program, Needs), Fault> {
    Ok(compile_node(&parse::parse(source)?)?)
}

/// As [`compile`], for paths that are folded.
pub(super) fn compile_folded(source: &str) -> Result<(Program, Needs), Fault> {
    Ok(compile_node(&parse::parse(source)?.folded())?)
}

/// As [`compile`] or [`compile_folded`], for expressions of which one has to match the whole path.
pub(super) fn compile_any(
    sources: impl Iterator<Item = String>,
    folds: bool,
) -> Result<(Program, Needs), Fault> {
    let parsed = |source: String| parse::parse(&source);
    let node = Node::whole(sources.map(parsed))?;
    Ok(compile_node(&if folds { node.folded() } else { node })?)
}

/// As [`compile`], for an expression made by hand.
pub(super) fn compile_node(node: &Node) -> Result<(Program, Needs), GlobError> {
    Ok((program::compile(node)?, node.needs()))
}

/// Whether JavaScript would accept the expression.
pub(super) fn is_valid(source: &str) -> bool {
    !matches!(parse::parse(source), Err(Fault::Invalid))
}

/// What `.` does not match.
pub(super) fn is_line_break(unit: u16) -> bool {
    matches!(unit, 0x0a | 0x0d | 0x2028 | 0x2029)
}
