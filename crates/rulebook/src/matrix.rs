//! The matrix: every rule for every agent, and why.
//!
//! What an agent does by itself comes first. [`NativeReading`] is its own reading of the files; what Rulebook adds is what the
//! authors meant without that. [`handling`] decides it for one rule, for the matrix and for every delivery alike.

mod cell;
mod handling;
mod native;
mod reason;
mod row;
mod subject;

pub use cell::{Cell, CellState, DoneBy, SYMBOLS};
pub use handling::{Handling, handling, handlings};
pub use native::NativeReading;
pub use reason::{Cause, CellReason, Despite};
pub use row::RuleRow;
pub use subject::Subject;

use foldhash::{HashMap, HashMapExt as _};

use crate::agent::{Agent, Wiring};
use crate::evaluate::{Audience, Evaluation, Judged, State, Verdict, delivery_rank, evaluate};
use crate::evidence::Evidence;
use crate::render::{Budget, estimate_tokens, offer_line};
use crate::resolve::Rulebook;
use crate::rule::Rule;
use cell::Column;
use row::rows;

/// Every rule for every agent, for one target.
#[derive(Debug)]
#[non_exhaustive]
pub struct Matrix<'r> {
    /// The rules in the order of delivery, then those that are overridden, disabled and rejected.
    pub rows: Vec<RuleRow<'r>>,
    /// One per agent.
    pub columns: Vec<AgentColumn<'r>>,
    /// The verdicts for an agent that reads nothing by itself.
    pub meant: Evaluation<'r>,
}

impl<'r> Matrix<'r> {
    /// Returns the positions of the rows in an order that no switch changes: rules as they would be delivered, then files
    /// that are rejected.
    pub fn fixed_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_cached_key(|at| {
            let rule = self.rows[*at].rule;
            (rule.is_none(), rule.map(delivery_rank))
        });
        order
    }

    /// Returns the verdict on a row for an agent that reads nothing by itself; none for a file that is rejected, or that only
    /// an agent reads.
    pub fn meant_for(&self, row: &RuleRow<'r>) -> Option<&Verdict<'r>> {
        row.verdict.map(|at| &self.meant.verdicts[at])
    }
}

/// One agent.
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentColumn<'r> {
    /// The agent.
    pub agent: &'static Agent,
    /// How it is connected to Rulebook.
    pub wired: Vec<Wiring>,
    /// One per row.
    pub cells: Vec<Cell<'r>>,
    /// The estimated tokens of what it has in context: its own rules, added rules and offers.
    pub tokens: usize,
}

/// Evaluates every rule for every agent. The budget cuts what Rulebook adds, or would add if the agent were wired.
#[must_use]
pub fn matrix<'r>(
    book: &'r Rulebook,
    evidence: &Evidence,
    subjects: &[Subject<'_, 'r>],
    budget: Budget,
) -> Matrix<'r> {
    let judged = Judged::new(book, evidence);
    let meant = judged.clone().decide(evidence, &Audience::any()).within(budget, |_| true);
    let natives = subjects.iter().map(|subject| subject.native);
    let rows = rows(book, &meant, natives, &evidence.paths);
    // What a rule does by itself is the same for every agent, unless it depends on the agent.
    let is_for_agents = |rule: &Rule| rule.conditions.iter().any(|one| one.path_expression().names("agent"));
    let is_shared = evidence.agent.is_some() || !book.rules().any(|(rule, _)| is_for_agents(rule));
    let column = |subject: &Subject<'_, 'r>| {
        let own = match is_shared {
            true => {
                let reads = subject.native.loaded_paths();
                let audience = Audience::agent(subject.agent, &reads);
                added_within(judged.clone().decide(evidence, &audience), budget, Some(subject))
            }
            false => evaluate_for(book, evidence, Some(subject), budget),
        };
        column(&rows, subject, &own)
    };
    let columns = subjects.iter().map(column).collect();
    Matrix { rows, columns, meant }
}

/// Evaluates every rule for one agent, with what it reads by itself; without one, for any. The budget cuts what Rulebook
/// adds.
#[must_use]
pub fn evaluate_for<'r>(
    book: &'r Rulebook,
    evidence: &Evidence,
    subject: Option<&Subject<'_, '_>>,
    budget: Budget,
) -> Evaluation<'r> {
    let evaluation = match subject {
        None => evaluate(book, evidence, Audience::any()),
        Some(Subject { agent, name, native, .. }) => {
            let reads = native.loaded_paths();
            let audience = Audience::agent(agent, &reads);
            match evidence.agent {
                Some(_) => evaluate(book, evidence, audience),
                None => {
                    let evidence = Evidence { agent: Some((*name).to_owned()), ..evidence.clone() };
                    evaluate(book, &evidence, audience)
                }
            }
        }
    };
    added_within(evaluation, budget, subject)
}

/// Cuts what exceeds the budget of the rules that Rulebook adds for an agent.
fn added_within<'r>(
    evaluation: Evaluation<'r>,
    budget: Budget,
    subject: Option<&Subject<'_, '_>>,
) -> Evaluation<'r> {
    evaluation
        .within(budget, |verdict| subject.is_none_or(|subject| handling(verdict, subject).is_by_rulebook()))
}

fn column<'r>(rows: &[RuleRow<'r>], subject: &Subject<'_, 'r>, own: &Evaluation<'r>) -> AgentColumn<'r> {
    let column = Column { subject, verdicts: &own.verdicts };
    let cells: Vec<Cell<'r>> = rows.iter().map(|row| column.cell(row)).collect();
    AgentColumn { agent: subject.agent, wired: subject.wired.to_vec(), tokens: tokens(rows, &cells), cells }
}

/// Estimates the tokens of what an agent that reads nothing by itself has in context: rules, and offers of others. They are
/// counted as for other agents, without the headings of a prompt.
#[must_use]
pub fn tokens_for_any(evaluation: &Evaluation<'_>) -> usize {
    let one = |verdict: &Verdict<'_>| match verdict.state {
        State::Stack => estimate_tokens(&verdict.rule.body),
        State::Offered => estimate_tokens(&offer_line(verdict.rule)),
        _ => 0,
    };
    evaluation.verdicts.iter().map(one).sum()
}

/// Estimates the tokens of what an agent has in context. A file that is imported several times counts once.
fn tokens(rows: &[RuleRow<'_>], cells: &[Cell<'_>]) -> usize {
    let mut counted: HashMap<&str, usize> = HashMap::new();
    for (row, cell) in rows.iter().zip(cells) {
        let Some(rule) = cell.rule else { continue };
        let tokens = match cell.state {
            CellState::Native | CellState::Added => estimate_tokens(&rule.body),
            CellState::Offered => estimate_tokens(&offer_line(rule)),
            _ => continue,
        };
        counted.entry(&row.origin.path).or_insert(tokens);
    }
    counted.values().sum()
}
