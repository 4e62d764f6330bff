//! The matrix of rules and agents, detached from the rules so that it can be cached.

use rulebook::agent::{Agent, Product, Purpose, Wiring};
use rulebook::matrix::{Cause, Cell, CellState, DoneBy, Matrix};
use rulebook::render::estimate_tokens;
use rulebook::rule::Activation;
use rulebook_workspace::Views;

use super::super::grid::{GridTarget, cell_text};
use super::super::load::Load;
use super::text::{counted, grouped};

/// Every rule for every agent, while no path is known.
pub(super) struct CachedMatrix {
    pub(super) rows: Vec<RowSummary>,
    pub(super) columns: Vec<Column>,
    /// The agents used here; the surfaces of one product are one column.
    pub(super) products: Vec<Column>,
}

/// A rule, or a file that is rejected.
pub(super) struct RowSummary {
    pub(super) id: String,
    pub(super) source: String,
    pub(super) tokens: usize,
    /// What the filter searches, in lower case.
    pub(super) text: String,
}

/// One agent, or the surfaces of a product.
#[derive(Clone)]
pub(super) struct Column {
    /// The agent, or the first surface.
    pub(super) agent: &'static Agent,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// What shows that it is used here; empty if it is not.
    pub(super) origin: String,
    pub(super) wired: Vec<Wiring>,
    /// How many rules are in every session.
    pub(super) loaded: Counts,
    /// How many rules are offered.
    pub(super) offers: Counts,
    /// The tokens of the rules that are in every session, or of what is in context for a path, with offers.
    pub(super) tokens: Counts,
    /// One per row.
    pub(super) cells: Vec<CellText>,
}

/// A number; of several surfaces, the least and the most.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    least: usize,
    pub(super) most: usize,
}

impl Counts {
    fn new(count: usize) -> Counts {
        Counts { least: count, most: count }
    }

    fn join(self, other: Counts) -> Counts {
        Counts { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    /// The number, or the range: `4–5`.
    pub(super) fn figure(self) -> String {
        match self.least == self.most {
            true => grouped(self.most),
            false => format!("{}–{}", grouped(self.least), grouped(self.most)),
        }
    }

    /// The number with its noun.
    pub(super) fn counted(self, noun: &str) -> String {
        match self.least == self.most {
            true => counted(self.most, noun),
            false => format!("{} {noun}s", self.figure()),
        }
    }
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
    /// The position in the agent's context.
    pub(super) position: usize,
    /// Whether wiring the agent would bring the rule to it.
    pub(super) would_add: bool,
    /// Whether files or other evidence activate the rule.
    pub(super) is_conditional: bool,
    /// Whether the rule applies only when mentioned by name.
    pub(super) is_manual: bool,
    /// Whether the surfaces of the product treat the rule differently; `because` lists them.
    pub(super) is_mixed: bool,
}

impl CachedMatrix {
    /// The rows are in an order that no switch changes.
    pub(super) fn new(views: &Views, matrix: &Matrix<'_>, target: GridTarget) -> CachedMatrix {
        let order = matrix.fixed_order();
        let rows = order.iter().map(|at| {
            let row = &matrix.rows[*at];
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
        let columns = matrix.columns.iter().zip(&views.agents).map(|(column, view)| {
            let load = Load::of(column);
            Column {
                agent: column.agent,
                name: column.agent.name,
                title: column.agent.title,
                origin: view.used.origin.clone(),
                wired: column.wired.clone(),
                loaded: Counts::new(load.always),
                offers: Counts::new(load.on_request),
                tokens: Counts::new(if target == GridTarget::Start { load.tokens } else { column.tokens }),
                cells: order
                    .iter()
                    .map(|at| CellText::new(&column.cells[*at], &column.wired, target))
                    .collect(),
            }
        });
        let columns: Vec<Column> = columns.collect();
        CachedMatrix { rows: rows.collect(), products: products(&columns), columns }
    }

    /// Returns the column of an agent by one of its names; of a product, that of the surface that commands choose.
    pub(super) fn column(&self, agent: &str) -> Option<&Column> {
        let named = Agent::find(agent, Purpose::View).ok()?;
        self.columns.iter().find(|column| column.agent.name == named.agent.name)
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
}

/// Joins the surfaces of each product.
fn products(columns: &[Column]) -> Vec<Column> {
    let mut products: Vec<Column> = Vec::new();
    for column in columns.iter().filter(|column| column.is_used()) {
        let product = column.agent.product();
        let joined = products.iter_mut().find(|other| {
            product.is_some_and(|product| other.agent.product().is_some_and(|own| own.name == product.name))
        });
        match (joined, product) {
            (Some(joined), Some(product)) => joined.join(column, product),
            _ => products.push(column.clone()),
        }
    }
    products
}

impl Column {
    fn join(&mut self, other: &Column, product: &'static Product) {
        let own = self.name;
        (self.name, self.title) = (product.name, product.title);
        self.loaded = self.loaded.join(other.loaded);
        self.offers = self.offers.join(other.offers);
        self.tokens = self.tokens.join(other.tokens);
        for (cell, other_cell) in self.cells.iter_mut().zip(&other.cells) {
            if !cell.is_mixed && (cell.state, &cell.short) == (other_cell.state, &other_cell.short) {
                continue;
            }
            let first = if cell.is_mixed { cell.because.clone() } else { cell.named(own) };
            cell.because = format!("{first}; {}", other_cell.named(other.name));
            cell.short = "differs".to_owned();
            cell.is_mixed = true;
        }
    }
}

impl CellText {
    fn new(cell: &Cell<'_>, wired: &[Wiring], target: GridTarget) -> CellText {
        let is_conditional = cell.rule.is_some_and(|rule| rule.activation == Activation::When);
        CellText {
            state: cell.state,
            by: cell.by,
            short: short(cell, wired, target),
            because: cell.because.to_string(),
            would_add: cell.if_wired.is_some(),
            is_conditional: is_conditional || cell.waiting().is_some(),
            is_manual: cell.is_manual(),
            position: cell.position,
            is_mixed: false,
        }
    }

    /// Describes the cell of one surface.
    fn named(&self, agent: &str) -> String {
        format!("{agent}: {}", [self.state.name(), &self.short].join(" ").trim_end())
    }
}

/// What fits into a cell: as in the terminal, and a word where the symbol has none there.
fn short(cell: &Cell<'_>, wired: &[Wiring], target: GridTarget) -> String {
    let text = match target {
        // What a rule waits for says why it is not there.
        GridTarget::Paths if cell.state == CellState::Inactive => cell_text(cell, GridTarget::Start),
        _ => cell_text(cell, target),
    };
    match cell.state {
        CellState::Offered if text.is_empty() => "offered".to_owned(),
        // Why nothing is added for an agent that is not wired is no news.
        CellState::Unread if wired.is_empty() && !matches!(cell.because.cause, Cause::Reads(_)) => {
            String::new()
        }
        CellState::Unread => cell.because.to_string().replace('`', ""),
        CellState::Unknown => String::new(),
        CellState::Native | CellState::Added | CellState::Inactive | CellState::Offered => text,
        state => state.name().to_owned(),
    }
}
