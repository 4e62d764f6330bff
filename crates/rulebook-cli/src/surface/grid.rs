//! The matrix as text: one row per rule, one column per agent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anstyle::Style;
use rulebook::matrix::{AgentColumn, Cell, CellState, DoneBy, Matrix, RuleRow};
use rulebook::rule::{Activation, Rule};
use unicode_width::UnicodeWidthStr as _;

use crate::out::{self, BOLD, CYAN, DIM, GREEN, PLAIN, RED, YELLOW, grouped, paint, plural};

/// How each state is shown: its character, the one for terminals without Unicode, its style and its meaning.
pub(super) const SYMBOLS: [(CellState, &str, &str, Style, &str); 10] = [
    (CellState::Native, "✓", "*", GREEN, "read by the agent"),
    (CellState::Added, "+", "+", CYAN, "added by Rulebook"),
    (CellState::Offered, "○", "o", PLAIN, "offered"),
    (CellState::Stream, "»", ">", PLAIN, "watches the output"),
    (CellState::Inactive, "·", ".", DIM, "not for this path"),
    (CellState::Unread, "–", "-", DIM, "not read"),
    (CellState::Unknown, "?", "?", YELLOW, "not documented"),
    (CellState::Overridden, "×", "x", YELLOW, "another rule is used"),
    (CellState::Disabled, "⊘", "0", YELLOW, "disabled"),
    (CellState::Rejected, "!", "!", RED, "rejected"),
];

/// A table of rules and agents.
pub(super) struct Grid {
    /// The name of each column.
    names: Vec<String>,
    rows: Vec<GridRow>,
    tokens: Vec<String>,
    states: BTreeSet<CellState>,
    /// What differs between the surfaces of a product.
    differing: Vec<String>,
    target: GridTarget,
}

/// What a table is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GridTarget {
    /// Some paths.
    Paths,
    /// No path: what is loaded at the start.
    Start,
}

struct GridRow {
    source: String,
    cells: Vec<Shown>,
    note: String,
}

#[derive(Clone, PartialEq, Eq)]
struct Shown {
    state: Option<CellState>,
    text: String,
}

/// The longest text of a cell.
const MAX_CELL: usize = 24;

impl Grid {
    /// Makes a table of a matrix. Several surfaces of one product are one column.
    pub(super) fn new(matrix: &Matrix<'_>, target: GridTarget) -> Grid {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, column) in matrix.columns.iter().enumerate() {
            let product = column.agent.product().filter(|product| {
                let surfaces =
                    matrix.columns.iter().filter(|other| product.surfaces.contains(&other.agent.name));
                surfaces.count() > 1
            });
            groups.entry(product.map_or(column.agent.name, |product| product.name)).or_default().push(at);
        }
        let mut grid = Grid {
            names: groups.keys().map(|name| (*name).to_owned()).collect(),
            rows: Vec::new(),
            tokens: Vec::new(),
            states: BTreeSet::new(),
            differing: Vec::new(),
            target,
        };
        for (at, row) in matrix.rows.iter().enumerate() {
            let cells = groups.values().map(|columns| {
                let shown: Vec<Shown> =
                    columns.iter().map(|column| shown(&matrix.columns[*column].cells[at], target)).collect();
                grid.states.extend(shown.iter().filter_map(|shown| shown.state));
                if shown.iter().all(|other| other == &shown[0]) {
                    return shown[0].clone();
                }
                let each: Vec<String> = columns
                    .iter()
                    .zip(&shown)
                    .map(|(column, shown)| {
                        format!("{} {}", matrix.columns[*column].agent.name, shown.plain())
                    })
                    .collect();
                grid.differing.push(format!("{}: {}", row.origin.display, each.join(", ")));
                Shown { state: None, text: "differs".to_owned() }
            });
            let cells = cells.collect();
            grid.rows.push(GridRow {
                source: row.origin.display.clone(),
                cells,
                note: note(matrix, at, row, target),
            });
        }
        grid.tokens = groups
            .values()
            .map(|columns| {
                let mut tokens: Vec<usize> = columns.iter().map(|at| matrix.columns[*at].tokens).collect();
                tokens.sort_unstable();
                tokens.dedup();
                match tokens.as_slice() {
                    [one] => grouped(*one),
                    many => format!("{}–{}", grouped(many[0]), grouped(many[many.len() - 1])),
                }
            })
            .collect();
        grid
    }

    /// Writes the table with its tokens and its legend.
    pub(super) fn write(&self, text: &mut String) {
        let rows = self.collapsed();
        let first = rows.iter().map(|row| row.source.width()).chain(["tokens".width()]).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.names.len())
            .map(|at| {
                let cells = rows.iter().map(|row| row.cells[at].plain().width());
                cells.chain([self.names[at].width(), self.tokens[at].width()]).max().unwrap_or(0)
            })
            .collect();
        let shown = fitting(first, &widths);
        let hidden = widths.len() - shown;
        let mut line = |first_cell: (Style, &str), cells: Vec<(Style, String)>, last: &str| {
            let last = (!last.is_empty()).then(|| (DIM, out::clean(last)));
            let cells = cells.into_iter().take(shown).chain(last);
            let mut gap = pad(first, first_cell.1);
            let _ = write!(text, "{}", paint(first_cell.0, out::clean(first_cell.1)));
            for ((style, cell), width) in cells.zip(widths.iter().copied().take(shown).chain([0])) {
                if !cell.is_empty() {
                    let _ = write!(text, "{gap}  {}", paint(style, &cell));
                    gap.clear();
                } else {
                    gap.push_str("  ");
                }
                gap.push_str(&pad(width, &cell));
            }
            text.push('\n');
        };
        let more = if hidden > 0 { format!("+{hidden} agents") } else { String::new() };
        line((PLAIN, ""), self.names.iter().map(|name| (BOLD, name.clone())).collect(), &more);
        for row in &rows {
            line(
                (PLAIN, &row.source),
                row.cells.iter().map(|cell| (cell.style(), cell.plain())).collect(),
                &row.note,
            );
        }
        line((DIM, "tokens"), self.tokens.iter().map(|tokens| (DIM, tokens.clone())).collect(), "");
        for differing in &self.differing {
            let _ = writeln!(text, "  {}", paint(DIM, out::clean(differing)));
        }
        let legend: Vec<String> = SYMBOLS
            .iter()
            .filter(|(state, ..)| self.states.contains(state))
            .map(|(state, symbol, ascii, _, meaning)| {
                let is_start = *state == CellState::Inactive && self.target == GridTarget::Start;
                let meaning = if is_start { "for some files" } else { meaning };
                format!("{} {meaning}", if out::has_unicode() { symbol } else { ascii })
            })
            .collect();
        if !legend.is_empty() {
            let _ = writeln!(text, "\n{}", paint(DIM, legend.join("   ")));
        }
    }

    /// Returns the rows; if the table is long, those of a folder that are equal are one.
    fn collapsed(&self) -> Vec<GridRow> {
        /// Shorter tables are shown as they are.
        const LONG: usize = 24;
        let mut groups: Vec<Vec<&GridRow>> = Vec::new();
        let is_long = self.rows.len() > LONG;
        for row in &self.rows {
            let same = |group: &&mut Vec<&GridRow>| {
                folder(&group[0].source) == folder(&row.source) && group[0].cells == row.cells
            };
            match groups.iter_mut().find(same).filter(|_| is_long) {
                Some(group) => group.push(row),
                None => groups.push(vec![row]),
            }
        }
        let shown = |group: Vec<&GridRow>| {
            let (row, count) = (group[0], group.len());
            let is_one_note = group.iter().all(|other| other.note == row.note);
            GridRow {
                source: match count {
                    1 => row.source.clone(),
                    _ => format!("{}/ ({})", folder(&row.source), plural(count, "file")),
                },
                cells: row.cells.clone(),
                note: if is_one_note { row.note.clone() } else { String::new() },
            }
        };
        groups.into_iter().map(shown).collect()
    }
}

impl Shown {
    fn plain(&self) -> String {
        let symbol = self.state.map(|state| {
            let (_, symbol, ascii, ..) = symbol(state);
            if out::has_unicode() { *symbol } else { *ascii }
        });
        let text = out::clean(&self.text);
        [symbol.unwrap_or_default(), text.as_str()].join(" ").trim().to_owned()
    }

    fn style(&self) -> Style {
        self.state.map_or(YELLOW, |state| symbol(state).3)
    }
}

fn symbol(state: CellState) -> &'static (CellState, &'static str, &'static str, Style, &'static str) {
    SYMBOLS.iter().find(|(known, ..)| *known == state).expect("every state has a symbol")
}

/// Returns what a cell shows: its symbol, and the pattern that decided.
fn shown(cell: &Cell<'_>, target: GridTarget) -> Shown {
    let text = match cell.state {
        CellState::Inactive if cell.would_add => "never".to_owned(),
        CellState::Inactive if target == GridTarget::Start => cell.rule.map(waits_for).unwrap_or_default(),
        CellState::Native if cell.because.starts_with("imported") => "imported".to_owned(),
        CellState::Native | CellState::Added => cell
            .pattern
            .clone()
            .unwrap_or_else(|| cell.because.split(';').next().unwrap_or_default().to_owned()),
        _ => String::new(),
    };
    Shown { state: Some(cell.state), text: short(&text) }
}

/// Returns the first pattern of a rule, or its folder.
fn waits_for(rule: &Rule) -> String {
    let folder = || (!rule.origin.folder.is_empty()).then(|| format!("{}/", rule.origin.folder));
    rule.globs.first().cloned().or_else(folder).unwrap_or_default()
}

/// Describes why a rule is there or not, where its cells do not say it.
fn note(matrix: &Matrix<'_>, at: usize, row: &RuleRow<'_>, target: GridTarget) -> String {
    let mut cells = matrix.columns.iter().map(|column| (column, &column.cells[at]));
    let needs_note = |(column, cell): &(&AgentColumn<'_>, &Cell<'_>)| match cell.state {
        CellState::Native | CellState::Added => {
            cell.because.contains(';') || cell.because.starts_with("imported")
        }
        CellState::Offered => false,
        // Why nothing is added for an agent that is not wired is no news.
        CellState::Unread if column.wired.is_empty() => cell.because.starts_with("reads"),
        CellState::Inactive if target == GridTarget::Start && !cell.would_add => {
            cell.rule.is_some_and(|rule| waits_for(rule).is_empty()) && !cell.because.is_empty()
        }
        _ => !cell.because.is_empty(),
    };
    let is_doubtful =
        row.rule.is_some_and(|rule| rule.basis.is_doubtful() && rule.activation == Activation::Always);
    if let Some(rejected) = row.rejected {
        let codes: Vec<&str> = rejected.codes.iter().map(|code| code.row().name).collect();
        return format!("rejected: {}", codes.join(", "));
    }
    match cells.find(needs_note) {
        Some((column, cell)) if matches!(cell.state, CellState::Unread | CellState::Unknown) => {
            format!("{}: {}", column.agent.name, cell.because)
        }
        Some((_, cell)) => cell.because.strip_prefix("always; ").unwrap_or(&cell.because).to_owned(),
        None if is_doubtful => "always on because the header could not be read".to_owned(),
        None => String::new(),
    }
}

/// Returns how many columns fit the terminal.
fn fitting(first: usize, widths: &[usize]) -> usize {
    let Some(limit) = out::width() else { return widths.len() };
    let mut used = first;
    let fit = widths.iter().take_while(|width| {
        used += 2 + **width;
        used + 12 <= limit
    });
    fit.count().max(1).min(widths.len())
}

fn short(text: &str) -> String {
    if text.chars().count() <= MAX_CELL {
        return text.to_owned();
    }
    text.chars().take(MAX_CELL - 1).chain(['…']).collect()
}

fn pad(width: usize, text: &str) -> String {
    " ".repeat(width.saturating_sub(text.width()))
}

fn folder(source: &str) -> &str {
    source.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Describes how many rules wiring an agent would add.
pub(super) fn would_add(cells: &[Cell<'_>]) -> usize {
    cells.iter().filter(|cell| cell.would_add && cell.by != Some(DoneBy::Agent)).count()
}
