//! The most important problems of a workspace, each with its effect and what fixes it. They are the groups of `check`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::lint::{Group, group};
use rulebook::matrix::{AgentColumn, CellState, Matrix};
use rulebook::render::estimate_tokens;
use serde::Serialize;

/// A problem: diagnostics of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Problem {
    #[serde(skip)]
    kind: Kind,
    #[serde(skip)]
    pub(super) severity: Severity,
    /// More tokens of more agents come first.
    #[serde(skip)]
    weight: Reverse<usize>,
    /// The first file with it.
    #[serde(skip)]
    pub(super) path: String,
    pub(super) code: &'static str,
    pub(super) effect: String,
    pub(super) command: String,
    /// How many diagnostics.
    pub(super) count: usize,
    /// The agent that it concerns, if it concerns one.
    #[serde(skip)]
    pub(super) agent: Option<&'static str>,
}

/// The kinds of problems, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    MandatoryMissing,
    Unread,
    /// Always on because of its header.
    BrokenHeader,
    MatchesNothing,
    DriftedCopy,
    OverLimit,
    Other,
}

/// Returns every problem, the most important first.
pub(super) fn problems(matrix: &Matrix<'_>, diagnostics: &[Diagnostic]) -> Vec<Problem> {
    let sizes = sizes(matrix);
    let mut all: Vec<Problem> = group(diagnostics).iter().map(|group| problem(group, &sizes)).collect();
    all.sort();
    all
}

fn problem(group: &Group<'_>, sizes: &BTreeMap<&str, usize>) -> Problem {
    let first = group.diagnostics[0];
    let weight = group.diagnostics.iter().filter_map(|found| sizes.get(found.path.as_str())).sum();
    let count = group.diagnostics.len();
    let more = if count == 1 { String::new() } else { format!(" (and {} more like it)", count - 1) };
    Problem {
        // A note is never urgent.
        kind: if group.severity() == Severity::Note { Kind::Other } else { kind(group.code()) },
        severity: group.severity(),
        weight: Reverse(weight),
        path: first.path.clone(),
        code: group.code().row().name,
        effect: format!("{}: {}{more}", first.path, first.message),
        command: first.help.clone(),
        count,
        agent: first.agent,
    }
}

/// Returns the tokens of each file, once for each agent that reads it.
fn sizes<'m>(matrix: &'m Matrix<'_>) -> BTreeMap<&'m str, usize> {
    let readers = |at: usize| {
        let is_read = |column: &&AgentColumn<'_>| column.cells[at].state != CellState::Unread;
        matrix.columns.iter().filter(is_read).count()
    };
    let tokens = |(at, row): (usize, &rulebook::matrix::RuleRow<'_>)| {
        row.rule.map_or(0, |rule| estimate_tokens(&rule.body)) * readers(at).max(1)
    };
    let rows = matrix.rows.iter().enumerate();
    rows.map(|(at, row)| (row.origin.display.as_str(), tokens((at, row)))).collect()
}

fn kind(code: Code) -> Kind {
    match code {
        Code::MandatoryMissing => Kind::MandatoryMissing,
        Code::NotRead => Kind::Unread,
        // Other keys than its agent reads are a broken header to the agent.
        Code::BrokenHeader | Code::AgentAlways => Kind::BrokenHeader,
        Code::DeadGlob => Kind::MatchesNothing,
        Code::DriftedCopy => Kind::DriftedCopy,
        Code::OverLimit => Kind::OverLimit,
        _ => Kind::Other,
    }
}
