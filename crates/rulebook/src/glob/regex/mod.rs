//! A small regular-expression engine: JavaScript's syntax, no backtracking.
//!
//! A path is read once, from its end to its start, keeping the set of steps from which the rest
//! would match. Look-aheads are such sets too, so a negated one is a complement and costs no more.

mod class;
mod lazy;
mod node;
mod parse;
mod program;
mod run;

pub(super) use lazy::Lazy;
pub(super) use node::Needs;
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

/// Compiles the expression, and says which literals every match has.
pub(super) fn compile(source: &str) -> Result<(Program, Needs), Fault> {
    let node = parse::parse(source)?;
    let needs = node.needs();
    let program = program::compile(&node).map_err(Fault::Refused)?;
    Ok((program, needs))
}

/// Whether JavaScript would accept the expression.
pub(super) fn is_valid(source: &str) -> bool {
    !matches!(parse::parse(source), Err(Fault::Invalid))
}

/// What `.` does not match.
pub(super) fn is_line_break(unit: u16) -> bool {
    matches!(unit, 0x0a | 0x0d | 0x2028 | 0x2029)
}
