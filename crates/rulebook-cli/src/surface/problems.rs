//! The most important problems of a workspace, each with its effect and what fixes it. They are the groups of `check`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

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
    /// What to do about the other files that its diagnostics are about.
    #[serde(skip)]
    pub(super) others: Vec<String>,
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
    let (sizes, rejected) = (sizes(matrix), rejected(matrix));
    let problem = |group: &Group<'_>| problem(group, &sizes, &rejected);
    let mut all: Vec<Problem> = group(diagnostics).iter().map(problem).collect();
    all.sort();
    all
}

fn problem(group: &Group<'_>, sizes: &BTreeMap<&str, usize>, rejected: &HashSet<&str>) -> Problem {
    let first = group.diagnostics[0];
    let paths = group.diagnostics.iter().flat_map(|found| found.paths());
    let weight = paths.filter_map(|path| sizes.get(path)).sum();
    let count = group.diagnostics.len();
    let all = group
        .diagnostics
        .iter()
        .flat_map(|found| std::iter::once(&found.help).chain(found.others.iter().map(|other| &other.help)));
    let others = all.skip(1).cloned();
    let more = if count == 1 { String::new() } else { format!(" (and {} more like it)", count - 1) };
    Problem {
        // A note is never urgent.
        kind: match group.severity() {
            Severity::Note => Kind::Other,
            Severity::Error if rejected.contains(first.path.as_str()) => Kind::Unread,
            _ => kind(group.code()),
        },
        severity: group.severity(),
        weight: Reverse(weight),
        path: first.path.clone(),
        code: group.code().row().name,
        effect: format!("{}: {}{more}", first.path, first.message),
        command: first.help.clone(),
        count,
        others: others.collect(),
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

/// Returns the files that are rejected and that no agent has by itself.
fn rejected<'m>(matrix: &'m Matrix<'_>) -> HashSet<&'m str> {
    let rows = matrix.rows.iter().enumerate().filter(|(_, row)| row.rejected.is_some());
    let is_lost = |at: usize| matrix.columns.iter().all(|column| column.cells[at].state != CellState::Native);
    rows.filter(|(at, _)| is_lost(*at)).map(|(_, row)| row.origin.display.as_str()).collect()
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
