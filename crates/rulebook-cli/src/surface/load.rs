//! How many rules an agent has, and when it has them, as `status`, `coverage` and the page show it.

use std::collections::HashMap;

use rulebook::evaluate::{Evaluation, State, Verdict};
use rulebook::matrix::{AgentColumn, Cell, CellState, DoneBy};
use rulebook::render::estimate_tokens;
use rulebook::rule::{Activation, Rule};

/// How many rules an agent has, by when it has them.
pub(super) struct Load {
    pub(super) always: usize,
    /// Of the rules that are always loaded, without offers.
    pub(super) tokens: usize,
    pub(super) some_files: usize,
    pub(super) on_request: usize,
}

/// Counts rules. Those of one text that apply in the same cases are one.
fn different<'r>(rules: impl Iterator<Item = &'r Rule>) -> usize {
    let mut by_text: HashMap<&str, Vec<&Rule>> = HashMap::new();
    for rule in rules {
        let same = by_text.entry(&rule.body).or_default();
        if !same.iter().any(|other| other.applies_as(rule)) {
            same.push(rule);
        }
    }
    by_text.values().map(Vec::len).sum()
}

impl Load {
    /// Counts the rules for an agent that reads nothing by itself.
    pub(super) fn meant(meant: &Evaluation<'_>) -> Load {
        let in_state =
            |is: fn(&Verdict<'_>) -> bool| meant.verdicts.iter().filter(move |verdict| is(verdict));
        let is_scoped = |verdict: &Verdict<'_>| {
            matches!(verdict.state, State::Inactive(_)) && verdict.rule.activation == Activation::When
        };
        Load {
            always: meant.stack().count(),
            tokens: meant.stack().map(|verdict| estimate_tokens(&verdict.rule.body)).sum(),
            some_files: different(in_state(is_scoped).map(|verdict| verdict.rule)),
            on_request: in_state(|verdict| matches!(verdict.state, State::Offered)).count(),
        }
    }

    pub(super) fn of(column: &AgentColumn<'_>) -> Load {
        let is_loaded = |cell: &&Cell<'_>| matches!(cell.state, CellState::Native | CellState::Added);
        // A rule may be offered by its description and loaded for some files.
        let is_scoped = |cell: &&Cell<'_>| {
            let is_own_offer = cell.state == CellState::Offered && cell.by == Some(DoneBy::Agent);
            let is_offered_scoped =
                is_own_offer && cell.rule.is_some_and(|rule| rule.activation == Activation::When);
            is_offered_scoped || cell.waiting().is_some()
        };
        let loaded: Vec<&Cell<'_>> = column.cells.iter().filter(is_loaded).collect();
        let bodies = loaded.iter().filter_map(|cell| cell.rule).map(|rule| rule.body.as_str());
        Load {
            always: loaded.len(),
            tokens: bodies.map(estimate_tokens).sum(),
            some_files: column.cells.iter().filter(is_scoped).count(),
            on_request: column.cells.iter().filter(|cell| cell.state == CellState::Offered).count(),
        }
    }
}
