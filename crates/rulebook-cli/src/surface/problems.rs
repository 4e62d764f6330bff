//! The most important problems of a workspace, each with its effect and what fixes it. They are the groups of `check`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

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
    /// More tokens of more agents come first; of false statements, more of them.
    #[serde(skip)]
    weight: Reverse<usize>,
    #[serde(skip)]
    pub(super) severity: Severity,
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
    /// What models must not get.
    Unsafe,
    /// Rules that do not reach an agent, or reach it always and were not meant to.
    Misplaced,
    MatchesNothing,
    /// Rules that say what is not true.
    False,
    Other,
    /// What costs little.
    Untidy,
    Note,
}

/// Returns every problem, the most important first.
pub(super) fn problems(matrix: &Matrix<'_>, diagnostics: &[Diagnostic]) -> Vec<Problem> {
    let (sizes, rejected) = (sizes(matrix), rejected(matrix));
    let problem = |group: &Group<'_>| problem(group, &sizes, &rejected);
    let mut all: Vec<Problem> = group(diagnostics).iter().map(problem).collect();
    all.sort();
    all
}

/// Returns the most important of sorted problems: at most one of each kind that says little more when it is repeated.
pub(super) fn most_important(problems: &[Problem], most: usize) -> Vec<&Problem> {
    let mut known = HashSet::new();
    let is_new = |problem: &&Problem| known.insert(problem.code) || problem.kind <= Kind::Misplaced;
    let (first, repeated): (Vec<&Problem>, Vec<&Problem>) = problems.iter().partition(is_new);
    first.into_iter().chain(repeated).take(most).collect()
}

fn problem(group: &Group<'_>, sizes: &BTreeMap<&str, usize>, rejected: &HashSet<&str>) -> Problem {
    let first = group.diagnostics[0];
    let count = group.diagnostics.len();
    let all = group
        .diagnostics
        .iter()
        .flat_map(|found| std::iter::once(&found.help).chain(found.others.iter().map(|other| &other.help)));
    let others = all.skip(1).cloned();
    let more = if count == 1 { String::new() } else { format!(" (and {} more like it)", count - 1) };
    let kind = match (group.severity(), group.code()) {
        (_, Code::AlwaysLoaded) => Kind::Misplaced,
        (Severity::Note, _) => Kind::Note,
        (Severity::Error, _) if rejected.contains(first.path.as_str()) => Kind::Misplaced,
        (_, code) => kind(code),
    };
    let paths: BTreeSet<&str> = group.diagnostics.iter().flat_map(|found| found.paths()).collect();
    let weight = match kind {
        Kind::False => count,
        _ => paths.into_iter().map(|path| size(path, sizes)).sum(),
    };
    Problem {
        kind,
        weight: Reverse(weight),
        severity: group.severity(),
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

/// Returns the tokens of a file, or of the files of a folder.
fn size(path: &str, sizes: &BTreeMap<&str, usize>) -> usize {
    let own = sizes.get(path).copied();
    own.unwrap_or_else(|| {
        let below = format!("{path}/");
        sizes.range(&*below..).take_while(|(file, _)| file.starts_with(&below)).map(|(_, size)| size).sum()
    })
}

fn kind(code: Code) -> Kind {
    match code {
        Code::MandatoryMissing => Kind::MandatoryMissing,
        Code::Forged | Code::HiddenComment | Code::HiddenText | Code::Secret => Kind::Unsafe,
        // Other keys than its agent reads are a broken header to the agent.
        Code::AgentAlways
        | Code::AgentDiffers
        | Code::AgentNever
        | Code::AlwaysOverridden
        | Code::BrokenHeader
        | Code::NotRead
        | Code::SkillDescription
        | Code::Unreachable => Kind::Misplaced,
        Code::DeadGlob => Kind::MatchesNothing,
        Code::ImportMissing | Code::MissingLink | Code::PackageManager | Code::UnknownScript => Kind::False,
        Code::DriftedCopy
        | Code::DuplicateBody
        | Code::LegacyPlace
        | Code::OverLimit
        | Code::UnclosedFence => Kind::Untidy,
        _ => Kind::Other,
    }
}
