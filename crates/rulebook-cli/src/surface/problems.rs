//! The most important problems of a workspace, each with its effect and what fixes it.

use std::collections::{BTreeMap, HashSet};

use rulebook::agent::{AGENTS, Agent, Nested};
use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::matrix::{AgentColumn, CellState, Matrix, RuleRow};
use rulebook::render::estimate_tokens;
use rulebook::rule::{Activation, Rule};
use rulebook::source::Scope;
use rulebook_workspace::hosts::Host;
use serde::Serialize;

use crate::out::{grouped, plural};

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Problem {
    #[serde(skip)]
    kind: Kind,
    /// More tokens of more agents come first.
    #[serde(skip)]
    weight: std::cmp::Reverse<usize>,
    #[serde(skip)]
    path: String,
    pub(super) code: &'static str,
    pub(super) effect: String,
    pub(super) command: String,
}

/// The kinds of problems, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    MandatoryMissing,
    Unread,
    BrokenHeader,
    MatchesNothing,
    DriftedCopy,
    OverLimit,
    Other,
}

/// Returns every problem, the most important first.
pub(super) fn problems(matrix: &Matrix<'_>, diagnostics: &[Diagnostic]) -> Vec<Problem> {
    let mut all = mandatory(matrix);
    let unread = unread(matrix);
    // Files that are not read are named once.
    let is_named = |path: &str| unread.iter().any(|problem| path.starts_with(&problem.path));
    let is_about_reading = |code: Code| matches!(code, Code::NotRead | Code::AgentNever);
    let others = |found: &&Diagnostic| !is_about_reading(found.code) || !is_named(&found.path);
    let others: Vec<&Diagnostic> = diagnostics.iter().filter(others).collect();
    all.extend(of_diagnostics(matrix, &others));
    all.extend(unread);
    all.extend(always_loaded(matrix));
    all.sort();
    all
}

fn mandatory(matrix: &Matrix<'_>) -> Vec<Problem> {
    let mut all = Vec::new();
    for (at, row) in matrix.rows.iter().enumerate() {
        let applies = matrix.meant.stack().any(|verdict| {
            verdict.rule.is_mandatory
                && verdict.rule.origin.path == row.origin.path
                && verdict.rule.id == row.id
        });
        if !applies {
            continue;
        }
        let lacks = |column: &&AgentColumn<'_>| {
            !matches!(column.cells[at].state, CellState::Native | CellState::Added)
        };
        for column in matrix.columns.iter().filter(lacks) {
            all.push(Problem {
                kind: Kind::MandatoryMissing,
                weight: std::cmp::Reverse(tokens(row)),
                path: row.origin.display.clone(),
                code: "mandatory-missing",
                effect: format!(
                    "the mandatory rule {} does not reach {}",
                    row.origin.display, column.agent.title
                ),
                command: install(&[column]).unwrap_or_else(|| {
                    format!("use an agent that can be wired; {} cannot", column.agent.title)
                }),
            });
        }
    }
    all
}

/// The rules that no agent used here reads, and those that their own agent does not read, by folder.
fn unread(matrix: &Matrix<'_>) -> Vec<Problem> {
    let mut groups: BTreeMap<(Option<usize>, String), Vec<usize>> = BTreeMap::new();
    // A link to a file, or a copy, brings its text to the agent.
    let texts = |column: &AgentColumn<'_>| -> HashSet<&str> {
        let read = matrix.rows.iter().zip(&column.cells).filter(|(_, cell)| cell.state != CellState::Unread);
        read.filter_map(|(row, _)| row.rule).map(|rule| rule.body.as_str()).collect()
    };
    let texts: Vec<HashSet<&str>> = matrix.columns.iter().map(texts).collect();
    for (at, row) in matrix.rows.iter().enumerate() {
        let is_on =
            row.rule.is_some_and(|rule| rule.origin.scope == Scope::Workspace && !rule.body.is_empty());
        if !is_on || matrix.columns.is_empty() {
            continue;
        }
        let text = row.rule.map_or("", |rule| &rule.body);
        let is_unread = |(column, texts): (&AgentColumn<'_>, &HashSet<&str>)| {
            column.cells[at].state == CellState::Unread && !texts.contains(text)
        };
        let owner = matrix.columns.iter().position(|column| column.agent.owns == Some(row.origin.format.id));
        // An agent that reads the folders from the root to where it is started may be started there.
        let may_read = |column: &AgentColumn<'_>| {
            let is_located = row.rule.is_some_and(Rule::is_located);
            is_located && column.agent.nested != Nested::Read && !row.origin.folder.is_empty()
        };
        let owner = owner.filter(|owner| is_unread((&matrix.columns[*owner], &texts[*owner])));
        if owner.is_some_and(|owner| may_read(&matrix.columns[owner])) {
            continue;
        }
        if owner.is_some() || matrix.columns.iter().zip(&texts).all(is_unread) {
            groups.entry((owner, folder(&row.origin.display).to_owned())).or_default().push(at);
        }
    }
    let problem = |((owner, folder), rows): ((Option<usize>, String), Vec<usize>)| {
        let first = &matrix.rows[rows[0]];
        let place = if folder.is_empty() { first.origin.display.clone() } else { folder };
        let weight: usize = rows.iter().map(|at| tokens(&matrix.rows[*at])).sum();
        let (effect, command) = match owner {
            Some(owner) => {
                let column = &matrix.columns[owner];
                let why = column.cells[rows[0]].because.clone();
                let why = if why.is_empty() { String::new() } else { format!(": it {why}") };
                let effect = match rows.len() {
                    1 => format!("{} does not read {}{why}", column.agent.title, first.origin.display),
                    count => {
                        format!("{} reads none of the {count} files in {place}{why}", column.agent.title)
                    }
                };
                (
                    effect,
                    rename(first, &why, rows.len())
                        .unwrap_or_else(|| "`rulebook check` says what to change".to_owned()),
                )
            }
            None => {
                let columns: Vec<&AgentColumn<'_>> = matrix.columns.iter().collect();
                let effect = match rows.len() {
                    1 => format!("no agent used here reads {}", first.origin.display),
                    count => format!("no agent used here reads the {count} rules in {place}"),
                };
                let command = install(&columns);
                (
                    effect,
                    command.unwrap_or_else(|| "add their agent to `agents.used`, or remove them".to_owned()),
                )
            }
        };
        Problem {
            kind: Kind::Unread,
            weight: std::cmp::Reverse(weight * matrix.columns.len().max(1)),
            path: place,
            code: "not-read",
            effect,
            command,
        }
    };
    groups.into_iter().map(problem).collect()
}

/// Returns the command that gives a file the extension that its agent reads.
fn rename(row: &RuleRow<'_>, why: &str, count: usize) -> Option<String> {
    let extension = why.split("`*.").nth(1)?.split('`').next()?.split(['{', ',']).next()?;
    let source = &row.origin.display;
    let (stem, _) = source.rsplit_once('.').filter(|(_, own)| *own != extension && !extension.is_empty())?;
    let more = match count {
        1 => String::new(),
        _ => format!("  (and {} more: `rulebook check` lists them)", count - 1),
    };
    Some(format!("git mv {source} {stem}.{extension}{more}"))
}

/// Folders whose many files an agent loads in every session, because none of them is for some files only.
fn always_loaded(matrix: &Matrix<'_>) -> Vec<Problem> {
    /// Fewer rules or tokens are not worth a line.
    const MIN_RULES: usize = 10;
    const MIN_TOKENS: usize = 5_000;
    let mut all = Vec::new();
    for column in &matrix.columns {
        let mut folders: BTreeMap<&str, (usize, usize, bool)> = BTreeMap::new();
        for (row, cell) in matrix.rows.iter().zip(&column.cells) {
            let entry = folders.entry(folder(&row.origin.display)).or_default();
            let is_scoped = cell.rule.is_some_and(|rule| rule.activation == Activation::When);
            match cell.state {
                CellState::Native if !is_scoped => {
                    entry.0 += 1;
                    entry.1 += tokens(row);
                }
                _ => entry.2 |= is_scoped,
            }
        }
        let heavy = folders.into_iter().filter(|(_, (rules, tokens, is_scoped))| {
            *rules >= MIN_RULES && *tokens >= MIN_TOKENS && !is_scoped
        });
        let key = column.agent.owns.map_or("paths", |format| format.row().paths_key);
        all.extend(heavy.map(|(folder, (rules, tokens, _))| Problem {
            kind: Kind::Other,
            weight: std::cmp::Reverse(tokens),
            path: folder.to_owned(),
            code: "always-loaded",
            effect: format!(
                "{} loads {rules} rules ({} tokens) in every session: no file in {folder} has `{key}`",
                column.agent.title,
                grouped(tokens)
            ),
            command: format!("add `{key}` to the rules that concern some files only"),
        }));
    }
    all
}

/// Groups diagnostics by code.
fn of_diagnostics(matrix: &Matrix<'_>, diagnostics: &[&Diagnostic]) -> Vec<Problem> {
    // The tokens of a file, for each agent that reads it.
    let readers = |at: usize| {
        let is_read = |column: &&AgentColumn<'_>| column.cells[at].state != CellState::Unread;
        matrix.columns.iter().filter(is_read).count()
    };
    let sizes: BTreeMap<&str, usize> = matrix
        .rows
        .iter()
        .enumerate()
        .map(|(at, row)| (row.origin.display.as_str(), tokens(row) * readers(at)))
        .collect();
    let is_for_unused = |diagnostic: &Diagnostic| {
        let agent =
            AGENTS.iter().find(|agent| diagnostic.message.starts_with(&format!("{} reads", agent.title)));
        let is_used = |agent: &Agent| matrix.columns.iter().any(|column| column.agent.name == agent.name);
        diagnostic.code == Code::OverLimit && agent.is_some_and(|agent| !is_used(agent))
    };
    let mut groups: BTreeMap<(Kind, Code), Vec<&Diagnostic>> = BTreeMap::new();
    let is_problem =
        |diagnostic: &&Diagnostic| diagnostic.severity != Severity::Note && !is_for_unused(diagnostic);
    for diagnostic in diagnostics.iter().copied().filter(is_problem) {
        groups.entry((kind(diagnostic), diagnostic.code)).or_default().push(diagnostic);
    }
    let problem = |((kind, code), group): ((Kind, Code), Vec<&Diagnostic>)| {
        let first = group[0];
        let weight: usize = group.iter().filter_map(|found| sizes.get(found.path.as_str())).sum();
        let more = match group.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        Problem {
            kind,
            weight: std::cmp::Reverse(weight),
            path: first.path.clone(),
            code: code.row().name,
            effect: format!("{}: {}{more}", first.path, first.message),
            command: first.help.clone(),
        }
    };
    groups.into_iter().map(problem).collect()
}

fn kind(diagnostic: &Diagnostic) -> Kind {
    match diagnostic.code {
        Code::NotRead => Kind::Unread,
        Code::BrokenHeader => Kind::BrokenHeader,
        Code::DeadGlob => Kind::MatchesNothing,
        Code::DriftedCopy => Kind::DriftedCopy,
        Code::OverLimit => Kind::OverLimit,
        _ => Kind::Other,
    }
}

/// Returns the command that wires one of these agents.
fn install(columns: &[&AgentColumn<'_>]) -> Option<String> {
    let unwired = columns.iter().filter(|column| column.wired.is_empty());
    let host = unwired.filter_map(|column| Host::of(column.agent)).next()?;
    Some(host.install_command())
}

fn tokens(row: &RuleRow<'_>) -> usize {
    row.rule.map_or(0, |rule| estimate_tokens(&rule.body))
}

fn folder(source: &str) -> &str {
    source.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Describes how many more problems there are.
pub(super) fn more(count: usize) -> Option<String> {
    (count > 0).then(|| format!("{}: run `rulebook check`", plural(count, "more problem")))
}
