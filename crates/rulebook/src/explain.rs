//! Explaining: an evaluation as data, in the shape that every surface shows.

mod watching;

pub use watching::{Watching, watching};

use std::collections::BTreeMap;

use serde::Serialize;

use crate::agent::Wiring;
use crate::diagnostic::Code;
use crate::evaluate::{Evaluation, InactiveReason, Reason, State, Verdict};
use crate::evidence::{Evidence, Roots, Via};
use crate::format::FormatId;
use crate::matrix::{AgentColumn, Cell, CellReason, CellState, DoneBy, Matrix, RuleRow};
use crate::parse::Rejected;
use crate::render::OVER_BUDGET;
use crate::resolve::{OffBy, Rulebook};
use crate::rule::{Activation, Basis, Rule, Step};
use crate::source::{Origin, Scope};

/// What applies to one target, and why everything else does not.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract, described in the specification")]
#[non_exhaustive]
pub struct Target {
    pub path: Option<String>,
    /// The name of the root, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    pub stack: Vec<Applied>,
    pub overridden: Vec<Overridden>,
    pub offered: Vec<Offered>,
    pub stream: Vec<Watching>,
    pub inactive: Vec<Inactive>,
    pub disabled: Vec<Disabled>,
    pub rejected: Vec<RejectedRule>,
    pub agents: BTreeMap<&'static str, AgentTarget>,
}

/// What one agent has for a target.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct AgentTarget {
    pub wired: Vec<Wiring>,
    pub tokens: usize,
    pub rules: Vec<AgentRule>,
}

/// What becomes of a rule for one agent.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct AgentRule {
    pub id: String,
    pub key: String,
    pub source: String,
    pub state: CellState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<DoneBy>,
    pub because: CellReason,
}

/// A rule that applies.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Applied {
    pub id: String,
    pub key: String,
    pub name: String,
    pub source: String,
    pub format: FormatId,
    pub scope: Scope,
    pub priority: u8,
    pub activation: Activation,
    pub basis: Basis,
    pub tags: Vec<String>,
    pub because: Vec<Because>,
}

/// A condition that held, with its evidence.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Because {
    pub condition: &'static str,
    pub matched: Vec<String>,
    pub evidence: Vec<SeenPath>,
    /// How many more paths matched, if not all are listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
}

impl Because {
    /// How many paths matched besides the first.
    pub fn further(&self) -> usize {
        self.evidence.len().saturating_sub(1) + self.more
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A path of the evidence, as shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct SeenPath {
    pub path: String,
    pub sources: Vec<Via>,
    /// The name of the root, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

/// A rule that another one overrides.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Overridden {
    pub id: String,
    pub key: String,
    pub source: String,
    pub winner: Named,
    pub decided_by: Step,
}

/// The id and file of a rule.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Named {
    pub id: String,
    pub source: String,
}

/// A rule that the agent can request.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Offered {
    pub id: String,
    pub key: String,
    pub name: String,
    pub description: Option<String>,
    pub globs: Vec<String>,
    pub source: String,
    /// Whether it applies, and is only offered because of the budget.
    #[serde(rename = "overBudget")]
    pub is_over_budget: bool,
}

impl Offered {
    /// The description, or why a rule that applies is only offered; empty if there is neither.
    pub fn note(&self) -> &str {
        if self.is_over_budget { OVER_BUDGET } else { self.description.as_deref().unwrap_or_default() }
    }
}

/// A rule that does not apply.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Inactive {
    pub id: String,
    pub key: String,
    pub source: String,
    pub reason: InactiveReason,
    pub detail: String,
}

impl Inactive {
    /// Makes the entry of a rule that is not there for some reason.
    #[must_use]
    pub fn new(id: &str, key: String, origin: &Origin, reason: InactiveReason, detail: String) -> Inactive {
        let source = origin.display.clone();
        Inactive { id: id.to_owned(), key, source, reason, detail }
    }
}

/// A rule that is switched off.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Disabled {
    pub id: String,
    pub key: String,
    pub source: String,
    pub by: OffBy,
    pub file: Option<String>,
}

/// A rejected file.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct RejectedRule {
    pub id: String,
    pub key: String,
    pub source: String,
    pub diagnostics: Vec<Code>,
}

impl Target {
    fn new(path: Option<String>) -> Target {
        Target {
            path,
            root: None,
            stack: Vec::new(),
            overridden: Vec::new(),
            offered: Vec::new(),
            stream: Vec::new(),
            inactive: Vec::new(),
            disabled: Vec::new(),
            rejected: Vec::new(),
            agents: BTreeMap::new(),
        }
    }

    /// Adds what every agent of a matrix has.
    pub fn add_agents(&mut self, matrix: &Matrix<'_>) {
        let keys: Vec<String> = matrix.rows.iter().map(RuleRow::key).collect();
        for column in &matrix.columns {
            let rule = |((row, key), cell): ((&RuleRow<'_>, &String), &Cell<'_>)| AgentRule {
                id: row.id.to_owned(),
                key: key.clone(),
                source: row.origin.display.clone(),
                state: cell.state,
                by: cell.by,
                because: cell.because.clone(),
            };
            let rules = matrix.rows.iter().zip(&keys).zip(&column.cells).map(rule).collect();
            let target = AgentTarget { wired: column.wired.clone(), tokens: column.tokens, rules };
            self.agents.insert(column.agent.name, target);
        }
    }

    /// Gives each rule the id and key that commands know, where an agent's reading of its file has others.
    pub fn name_as_meant(&mut self, matrix: &Matrix<'_>) {
        let rows = matrix.rows.iter().map(|row| (row.origin.display.as_str(), row));
        let rows: BTreeMap<&str, &RuleRow<'_>> = rows.collect();
        let rename = |id: &mut String, key: &mut String, source: &str| {
            if let Some(row) = rows.get(source) {
                (*id, *key) = (row.id.to_owned(), row.key());
            }
        };
        self.stack.iter_mut().for_each(|rule| rename(&mut rule.id, &mut rule.key, &rule.source));
        self.offered.iter_mut().for_each(|rule| rename(&mut rule.id, &mut rule.key, &rule.source));
        self.inactive.iter_mut().for_each(|rule| rename(&mut rule.id, &mut rule.key, &rule.source));
        self.disabled.iter_mut().for_each(|rule| rename(&mut rule.id, &mut rule.key, &rule.source));
        for rule in &mut self.overridden {
            rename(&mut rule.id, &mut rule.key, &rule.source);
            let Named { id, source } = &mut rule.winner;
            rename(id, &mut String::new(), source);
        }
    }

    fn push(&mut self, verdict: &Verdict<'_>, evidence: &Evidence) {
        let rule = verdict.rule;
        let Named { id, source } = named(rule);
        let key = rule.key();
        match &verdict.state {
            State::Stack | State::Offered => {}
            State::Stream => {
                let is_for_other_files = verdict.is_for_other_files(&evidence.paths);
                self.stream.push(Watching { is_for_other_files, ..watching(rule) });
            }
            State::Inactive(why) => {
                let (reason, detail) = (why.reason, why.detail.clone());
                self.inactive.push(Inactive { id, key, source, reason, detail });
            }
            State::Overridden { winner, by } => {
                self.overridden.push(Overridden { id, key, source, winner: named(winner), decided_by: *by });
            }
            State::Disabled(off) => {
                self.disabled.push(Disabled { id, key, source, by: off.by, file: off.file.clone() });
            }
        }
    }
}

/// Converts an evaluation into the shape that surfaces show.
#[must_use]
pub fn explain(
    path: Option<String>,
    book: &Rulebook,
    evaluation: &Evaluation<'_>,
    evidence: &Evidence,
    roots: &Roots,
) -> Target {
    let mut target = Target::new(path);
    target.stack = evaluation.stack().map(|verdict| applied(verdict, evidence, roots)).collect();
    target.offered = evaluation.offers().into_iter().map(offered).collect();
    evaluation.verdicts.iter().for_each(|verdict| target.push(verdict, evidence));
    target.rejected = book.rejected().iter().map(rejected).collect();
    target
}

/// Converts what one agent has into the same shape: its own rules in its order, then those that are added.
#[must_use]
pub fn explain_for(
    path: Option<String>,
    matrix: &Matrix<'_>,
    column: &AgentColumn<'_>,
    evidence: &Evidence,
    roots: &Roots,
) -> Target {
    let mut target = Target::new(path);
    let mut stack: Vec<(&Verdict<'_>, usize)> = Vec::new();
    for (row, cell) in matrix.rows.iter().zip(&column.cells) {
        match (cell.state, &cell.verdict, row.rejected) {
            (CellState::Native | CellState::Added, Some(verdict), _) => stack.push((verdict, cell.position)),
            (CellState::Rejected, _, Some(file)) => target.rejected.push(rejected(file)),
            (CellState::Offered, Some(verdict), _) => target.offered.push(offered(verdict)),
            (state, Some(verdict), _) if state.is_of(&verdict.state) => target.push(verdict, evidence),
            // The cell has another reason than the verdict.
            (state, ..) => {
                let reason = match state {
                    CellState::Unread => InactiveReason::Unread,
                    CellState::Unknown => InactiveReason::Undocumented,
                    _ => InactiveReason::NotAdded,
                };
                let detail = cell.because.to_string();
                target.inactive.push(Inactive::new(row.id, row.key(), row.origin, reason, detail));
            }
        }
    }
    stack.sort_by_key(|(_, position)| *position);
    target.stack = stack.into_iter().map(|(verdict, _)| applied(verdict, evidence, roots)).collect();
    target.add_agents(matrix);
    target.name_as_meant(matrix);
    target
}

/// Converts an offered rule.
pub fn offered(verdict: &Verdict<'_>) -> Offered {
    let Verdict { rule, is_cut, .. } = *verdict;
    let Named { id, source } = named(rule);
    Offered {
        id,
        key: rule.key(),
        name: rule.name.clone(),
        description: rule.description.clone(),
        globs: rule.globs.clone(),
        source,
        is_over_budget: is_cut,
    }
}

/// Converts a path of the evidence.
pub fn seen_path(evidence: &Evidence, at: usize, roots: &Roots) -> SeenPath {
    let seen = &evidence.paths[at];
    let root = (roots.roots.len() > 1).then(|| roots.roots[seen.root].name.clone());
    SeenPath { path: seen.path.clone(), sources: seen.sources.clone(), root }
}

fn rejected(file: &Rejected) -> RejectedRule {
    RejectedRule {
        id: file.id.clone(),
        key: file.key(),
        source: file.origin.display.clone(),
        diagnostics: file.codes.clone(),
    }
}

fn named(rule: &Rule) -> Named {
    Named { id: rule.id.clone(), source: rule.origin.display.clone() }
}

fn applied(verdict: &Verdict<'_>, evidence: &Evidence, roots: &Roots) -> Applied {
    let rule = verdict.rule;
    let because = |reason: &Reason| Because {
        condition: reason.condition,
        matched: reason.matched.clone(),
        evidence: reason.seen.iter().map(|at| seen_path(evidence, *at, roots)).collect(),
        more: reason.more,
    };
    Applied {
        id: rule.id.clone(),
        key: rule.key(),
        name: rule.name.clone(),
        source: rule.origin.display.clone(),
        format: rule.origin.format.id,
        scope: rule.origin.scope,
        priority: rule.priority,
        activation: rule.activation,
        basis: rule.basis,
        tags: rule.tags.clone(),
        because: verdict.because.iter().map(because).collect(),
    }
}
