//! The table of rules and agents: one line per rule, one column per agent.

use std::collections::HashMap;

use maud::{Markup, html};
use rulebook::diagnostic::Severity;
use rulebook::matrix::{CellState, DoneBy, SYMBOLS};

use super::super::rows::{Row, RuleState};
use super::cache::CachedRules;
use super::links::Links;
use super::matrix::{CellText, Column, RowSummary};
use super::problems::class;
use super::text::{Text, capital, grouped, pattern, shortened, ticks, when};

/// How many agents have a column; the others are counted.
pub(super) const MAX_COLUMNS: usize = 10;

/// With more columns than this, agents have their short names.
const MAX_TITLES: usize = 4;

/// Returns the symbols of the terminal: each state with its symbol and its meaning.
pub(super) fn symbols() -> impl Iterator<Item = (CellState, &'static str, &'static str)> {
    SYMBOLS.iter().map(|(state, symbol, meaning)| match state {
        // A page without a path is not about this path.
        CellState::Inactive => (*state, *symbol, "inactive until its conditions hold"),
        _ => (*state, *symbol, *meaning),
    })
}

/// What every row needs.
pub(super) struct TableView<'v> {
    pub(super) rules: &'v CachedRules,
    pub(super) columns: Vec<&'v Column>,
    pub(super) delivered: &'v HashMap<String, u64>,
    pub(super) worst: &'v HashMap<&'v str, Severity>,
    pub(super) links: Links<'v>,
    /// The address to return to after a switch.
    pub(super) back: String,
    /// The address of the list with this row open, or with none.
    pub(super) open: &'v dyn Fn(&str) -> String,
    /// The rule whose row is open, with its details.
    pub(super) opened: Option<(&'v str, Markup)>,
}

impl TableView<'_> {
    /// One agent is shown with its reasons.
    fn is_single(&self) -> bool {
        self.columns.len() == 1
    }

    fn shown(&self) -> &[&Column] {
        &self.columns[..self.columns.len().min(MAX_COLUMNS)]
    }

    pub(super) fn table(&self, rows: &[(usize, &RowSummary)]) -> Markup {
        let has_deliveries = !self.delivered.is_empty();
        let more = self.columns.len() - self.shown().len();
        html! {
            table class=(format!("matrix of-{}", self.shown().len())) data-rows="" {
                thead { tr {
                    th scope="col" .rule-column { "Rule" span .always-label { "always loaded: rules · tokens" } }
                    @for column in self.shown() { th scope="col" .agent { (head(column, &self.links.for_agent(column.name), self.shown().len())) } }
                    @if self.is_single() { th scope="col" .why-column { "Why" } }
                    @if more > 0 { (more_head(self.others())) }
                    th scope="col" .number .tokens-column { "Tokens" }
                    @if has_deliveries { th scope="col" .delivered-column { "Last delivered" } }
                    th scope="col" .switch-column { "Enabled for me" }
                } }
                tbody { @for (at, row) in rows { (self.row(*at, row, more, has_deliveries)) } }
            }
        }
    }

    /// The agents without a column.
    fn others(&self) -> &[&Column] {
        &self.columns[self.shown().len()..]
    }

    fn row(&self, at: usize, row: &RowSummary, more: usize, has_deliveries: bool) -> Markup {
        let opened = self.opened.as_ref().filter(|(source, _)| *source == row.source);
        let width = 3
            + self.shown().len()
            + usize::from(self.is_single())
            + usize::from(more > 0)
            + usize::from(has_deliveries);
        html! {
            tr .opened[opened.is_some()] id=[opened.map(|_| "open")] {
                th scope="row" {
                    div .rule-cell {
                        (marker(self.worst.get(row.source.as_str()).copied()))
                        a .file data-open="" href=((self.open)(&row.source)) aria-expanded=(opened.is_some()) title=(Text(&row.source)) { (shortened(&row.source)) }
                    }
                }
                @for column in self.shown() { td .agent { (cell(&column.cells[at])) } }
                @if self.is_single() { td .why-cell { (why(&self.columns[0].cells[at])) } }
                @if more > 0 { td .more-column { (super::table::more(self.others(), at)) } }
                td .number { (grouped(row.tokens)) }
                @if has_deliveries { td .delivered { (last_delivered(self.delivered.get(&row.source))) } }
                td .switch-cell { @if let Some(row) = self.rules.row(&row.source) { (switch(self.rules, row, &self.back, "")) } }
            }
            @if let Some((_, details)) = opened { tr .panel { td colspan=(width) { (details) } } }
        }
    }
}

/// The head of the column that counts the other agents.
pub(super) fn more_head(others: &[&Column]) -> Markup {
    let names: Vec<&str> = others.iter().map(|column| column.title).collect();
    let title = format!("{}: choose one above to see it", names.join(", "));
    html! { th scope="col" .more-column title=(Text(&title)) { "+" (others.len()) } }
}

/// How many of the agents without a column have a rule.
pub(super) fn more(others: &[&Column], at: usize) -> Markup {
    let has = |column: &&&Column| matches!(column.cells[at].state, CellState::Native | CellState::Added);
    let count = others.iter().filter(has).count();
    html! { @if count > 0 { span title=(format!("{} of {} more agents have it", count, others.len())) { "✓" (count) } } }
}

/// The head of an agent's column: how many rules and tokens it has in context.
pub(super) fn head(column: &Column, address: &str, columns: usize) -> Markup {
    let wired: Vec<&str> = column.wired.iter().map(|wired| wired.name()).collect();
    let wired =
        if wired.is_empty() { "not wired".to_owned() } else { format!("wired: {}", wired.join(", ")) };
    let because = if column.is_used() { column.origin.as_str() } else { "not used here" };
    let words =
        format!("{} in context, about {}", column.loaded.counted("rule"), column.tokens.counted("token"));
    html! {
        a href=(address) title=(Text(&format!("{}: {words} ({because}; {wired})", column.title))) {
            (if columns > MAX_TITLES { column.name } else { column.title })
            span .always { span aria-hidden="true" { span .figure { (column.loaded.figure()) } span .between { " · " } span .figure { (column.tokens.figure()) } } span .hidden { (words) } }
        }
    }
}

/// A cell: its symbol, and a pattern or a word. The reason is in the tooltip.
pub(super) fn cell(cell: &CellText) -> Markup {
    if cell.is_mixed {
        return html! { span .cell .mixed title=(Text(&cell.because)) { (Text(&cell.short)) } };
    }
    let (symbol, meaning) = meaning(cell);
    let because = if cell.because.is_empty() {
        capital(&meaning)
    } else {
        format!("{}: {}", capital(&meaning), cell.because)
    };
    html! {
        span class=(format!("cell {}", cell.state.name())) title=(Text(&because)) {
            span .symbol aria-hidden="true" { (symbol) } span .hidden { (meaning) " " } (pattern(&cell.short))
        }
    }
}

/// The reason in words, unless the cell shows it.
pub(super) fn why(cell: &CellText) -> Markup {
    // What a rule waits for is in its cell.
    let is_waiting = cell.state == CellState::Inactive && cell.is_conditional && !cell.short.is_empty();
    html! { @if cell.because != cell.short && !is_waiting { (ticks(&cell.because)) } }
}

/// The symbol of a state, and what it means.
pub(super) fn meaning(cell: &CellText) -> (&'static str, String) {
    let row = symbols().find(|row| row.0 == cell.state);
    let (symbol, meaning) = row.map_or(("?", "unknown"), |row| (row.1, row.2));
    match (cell.state, cell.by) {
        (CellState::Offered | CellState::Stream, Some(DoneBy::Rulebook)) => {
            (symbol, format!("{meaning}, by Rulebook"))
        }
        (CellState::Offered | CellState::Stream, Some(DoneBy::Agent)) => {
            (symbol, format!("{meaning}, by the agent"))
        }
        _ => (symbol, meaning.to_owned()),
    }
}

/// What the symbols mean, for those that occur in the cells of some agents. `shown` are the columns of the table.
pub(super) fn legend(columns: &[&Column], shown: &[&Column]) -> Markup {
    let differs = shown.iter().any(|column| column.cells.iter().any(|cell| cell.is_mixed));
    let occurs =
        |state: CellState| columns.iter().any(|column| column.cells.iter().any(|cell| cell.state == state));
    html! {
        ul .legend aria-label="Symbols" {
            @for (state, symbol, meaning) in symbols().filter(|row| occurs(row.0)) {
                li class=(state.name()) { span .symbol { (symbol) } (meaning) }
            }
            @if differs { li .mixed { "differs" ": the agents of this product differ; point at a cell to see how" } }
        }
    }
}

/// The mark of a rule with problems.
pub(super) fn marker(worst: Option<Severity>) -> Markup {
    html! {
        @match worst {
            Some(severity) => span class=(format!("marker {}", class(severity))) title=(format!("has a problem: {}", severity.name())) {
                span aria-hidden="true" { "!" } span .hidden { (severity.name()) " " }
            },
            None => span .marker {},
        }
    }
}

fn last_delivered(at: Option<&u64>) -> Markup {
    html! { @match at { Some(0) => "in a session", Some(at) => (when(*at)), None => span .never { "never" } } }
}

/// The user's own switch. It is disabled if something else turned the rule off.
pub(super) fn switch(rules: &CachedRules, row: &Row, back: &str, label: &str) -> Markup {
    let is_on = row.state != RuleState::Disabled;
    let is_own = rules.is_switchable(row) && row.state != RuleState::Rejected;
    html! {
        form .switch-line method="post" action="toggle" {
            input type="hidden" name="id" value=(row.key);
            input type="hidden" name="to" value=(if is_on { "off" } else { "on" });
            input type="hidden" name="back" value=(back);
            span aria-hidden="true" { (label) }
            button .switch type="submit" role="switch" aria-checked=(is_on && row.state != RuleState::Rejected) disabled[!is_own]
                aria-label=(Text(&format!("{}: enabled for me", row.id))) title=(if is_own { "Enabled for me: your own switch. A disabled rule is inactive, regardless of its conditions." } else { "Not disabled by you" }) {}
        }
    }
}
