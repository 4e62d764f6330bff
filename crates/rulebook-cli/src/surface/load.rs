//! How many rules an agent has, and when it has them, as `status`, `coverage` and the page show it.

use rulebook::evaluate::{Evaluation, State, Verdict};
use rulebook::matrix::{AgentColumn, Cell, CellState, DoneBy};
use rulebook::render::{estimate_tokens, render};
use rulebook::rule::Activation;

/// How many rules an agent has, by when it has them.
pub(super) struct Load {
    pub(super) always: usize,
    /// Of the rules that are always loaded, without offers.
    pub(super) tokens: usize,
    pub(super) some_files: usize,
    pub(super) on_request: usize,
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
            tokens: render(meant).tokens,
            some_files: in_state(is_scoped).count(),
            on_request: in_state(|verdict| matches!(verdict.state, State::Offered)).count(),
        }
    }

    pub(super) fn of(column: &AgentColumn<'_>) -> Load {
        let is_loaded = |cell: &&Cell<'_>| matches!(cell.state, CellState::Native | CellState::Added);
        // A rule may be offered by its description and loaded for some files.
        let is_scoped = |cell: &&Cell<'_>| {
            let is_own_offer = cell.state == CellState::Offered && cell.by == Some(DoneBy::Agent);
            (cell.state == CellState::Inactive || is_own_offer)
                && cell.rule.is_some_and(|rule| rule.activation == Activation::When)
                && cell.if_wired.is_none()
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
