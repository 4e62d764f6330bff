//! The matrix of rules and agents, detached from the rules so that it can be cached.

use rulebook::agent::{Agent, Wiring};
use rulebook::matrix::{Cell, CellState, DoneBy, Matrix};
use rulebook::render::estimate_tokens;
use rulebook::rule::{Activation, Rule};
use rulebook_workspace::Views;

/// Every rule for every agent, while no path is known.
pub(super) struct CachedMatrix {
    pub(super) rows: Vec<RowSummary>,
    pub(super) columns: Vec<Column>,
}

/// A rule, or a file that is rejected.
pub(super) struct RowSummary {
    pub(super) id: String,
    pub(super) source: String,
    pub(super) tokens: usize,
    /// What the filter searches, in lower case.
    pub(super) text: String,
}

/// One agent.
pub(super) struct Column {
    pub(super) agent: &'static Agent,
    /// What shows that it is used here; empty if it is not.
    pub(super) origin: String,
    pub(super) wired: Vec<Wiring>,
    pub(super) tokens: usize,
    /// One per row.
    pub(super) cells: Vec<CellText>,
}

/// What becomes of one rule for one agent.
#[derive(Clone)]
pub(super) struct CellText {
    pub(super) state: CellState,
    pub(super) by: Option<DoneBy>,
    /// What fits into a cell: the pattern that decides, or a word.
    pub(super) short: String,
    /// Why, in a few words.
    pub(super) because: String,
    /// Whether wiring the agent would bring the rule to it.
    pub(super) would_add: bool,
    /// Whether files or other evidence activate the rule.
    pub(super) is_conditional: bool,
}

impl CachedMatrix {
    pub(super) fn new(views: &Views, matrix: &Matrix<'_>) -> CachedMatrix {
        let rows = matrix.rows.iter().map(|row| {
            let rule = row.rule;
            let mut texts = vec![row.id, &row.origin.display, row.origin.format.id.name()];
            texts.extend(rule.map(|rule| rule.activation.name()));
            texts.extend(rule.and_then(|rule| rule.description.as_deref()));
            texts
                .extend(rule.iter().flat_map(|rule| rule.globs.iter().chain(&rule.tags)).map(String::as_str));
            RowSummary {
                id: row.id.to_owned(),
                source: row.origin.display.clone(),
                tokens: rule.map_or(0, |rule| estimate_tokens(&rule.body)),
                text: texts.join("\n").to_lowercase(),
            }
        });
        let columns = matrix.columns.iter().zip(&views.agents).map(|(column, view)| Column {
            agent: column.agent,
            origin: view.used.origin.clone(),
            wired: column.wired.clone(),
            tokens: column.tokens,
            cells: column.cells.iter().map(CellText::new).collect(),
        });
        CachedMatrix { rows: rows.collect(), columns: columns.collect() }
    }

    pub(super) fn column(&self, agent: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.agent.name == agent)
    }

    /// Returns the columns of the agents used here.
    pub(super) fn used(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.is_used())
    }
}

impl Column {
    pub(super) fn is_used(&self) -> bool {
        !self.origin.is_empty()
    }

    /// How many rules are in every session.
    pub(super) fn loaded(&self) -> usize {
        self.cells.iter().filter(|cell| matches!(cell.state, CellState::Native | CellState::Added)).count()
    }
}

impl CellText {
    fn new(cell: &Cell<'_>) -> CellText {
        let is_conditional = cell.rule.is_some_and(|rule| rule.activation == Activation::When);
        CellText {
            state: cell.state,
            by: cell.by,
            short: short(cell),
            because: cell.because.clone(),
            would_add: cell.would_add,
            is_conditional,
        }
    }
}

fn short(cell: &Cell<'_>) -> String {
    match cell.state {
        CellState::Native | CellState::Added => cell.pattern.clone().unwrap_or_else(|| "always".to_owned()),
        CellState::Offered => "on request".to_owned(),
        CellState::Unread => cell.because.replace('`', ""),
        CellState::Unknown => "not documented".to_owned(),
        CellState::Inactive => cell.rule.map(waits_for).unwrap_or_default(),
        state => state.name().to_owned(),
    }
}

/// What a rule that does not apply waits for.
fn waits_for(rule: &Rule) -> String {
    match rule.globs.as_slice() {
        [glob] => glob.clone(),
        [glob, more @ ..] => format!("{glob} +{}", more.len()),
        [] if !rule.origin.folder.is_empty() => format!("{}/", rule.origin.folder),
        [] if rule.activation == Activation::When => {
            let keys: Vec<&str> = rule.conditions.iter().map(|condition| condition.key).collect();
            keys.join(", ")
        }
        [] => rule.activation.name().to_owned(),
    }
}
