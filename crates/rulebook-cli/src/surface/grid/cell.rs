//! The cells of the table: a symbol, and the pattern or the word that decides.

use anstyle::Style;
use rulebook::diagnostic::Code;
use rulebook::evaluate::{State, Verdict};
use rulebook::matrix::{AgentColumn, Cause, Cell, CellReason, CellState, Despite, Matrix, RuleRow};
use rulebook::render::OVER_BUDGET;
use rulebook::rule::{Activation, Basis, Rule};
use rulebook::stream::trigger::OTHER_FILES;

use crate::out::{self, CYAN, DIM, GREEN, PLAIN, RED, YELLOW};
use crate::surface::sections::{in_table, overridden_by};

/// What a table is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::surface) enum GridTarget {
    /// Some paths.
    Paths,
    /// The files below a folder.
    Folder,
    /// No path: what is loaded at the start.
    Start,
    /// Every file of the tree.
    Tree,
}

impl GridTarget {
    /// Whether cells show which paths decided, not which ones a rule waits for.
    fn is_paths(self) -> bool {
        matches!(self, GridTarget::Paths | GridTarget::Folder)
    }
}

/// The character of each state for terminals without Unicode, and its style.
const STYLES: [(CellState, &str, Style); 10] = [
    (CellState::Native, "*", GREEN),
    (CellState::Added, "+", CYAN),
    (CellState::Offered, "o", PLAIN),
    (CellState::Stream, ">", PLAIN),
    (CellState::Inactive, ".", DIM),
    (CellState::Unread, "-", DIM),
    (CellState::Unknown, "?", YELLOW),
    (CellState::Overridden, "x", YELLOW),
    (CellState::Disabled, "0", YELLOW),
    (CellState::Rejected, "!", RED),
];

/// The text of a cell whose rule has no condition.
const ALWAYS: &str = "always";

/// The text of a cell whose rule applies only when mentioned by name.
const MANUAL: &str = "manual";

/// The text of a cell whose rule nothing can activate.
const NEVER: &str = "never";

/// The text of a cell whose surfaces have different states.
pub(super) const DIFFERS: &str = "differs";

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Shown {
    /// `None` if the surfaces of a product differ.
    pub(super) state: Option<CellState>,
    pub(super) text: String,
}

impl Shown {
    pub(super) fn new(state: CellState, text: String) -> Shown {
        Shown { state: Some(state), text }
    }

    pub(super) fn differs() -> Shown {
        Shown { state: None, text: DIFFERS.to_owned() }
    }

    pub(super) fn plain(&self) -> String {
        self.cut(usize::MAX)
    }

    /// Returns the symbol and at most this many characters of the text. Without a symbol, the text is not cut.
    pub(super) fn cut(&self, most: usize) -> String {
        let most = if self.state.is_some() { most } else { usize::MAX };
        let text = out::clean(&short(&self.text, most));
        [self.state.map_or("", character), text.as_str()].join(" ").trim().to_owned()
    }

    /// Whether the text says more than the symbol.
    pub(super) fn is_telling(&self) -> bool {
        self.state.is_some() && !["", ALWAYS].contains(&self.text.as_str())
    }

    pub(super) fn style(&self) -> Style {
        self.state.map_or(YELLOW, |state| style(state).2)
    }
}

/// Returns the character of a state on this terminal.
pub(super) fn character(state: CellState) -> &'static str {
    if out::has_unicode() { state.symbol() } else { style(state).1 }
}

fn style(state: CellState) -> &'static (CellState, &'static str, Style) {
    STYLES.iter().find(|(known, ..)| *known == state).expect("every state has a style")
}

/// Returns the character for what is cut.
pub(super) fn ellipsis() -> char {
    if out::has_unicode() { '…' } else { '~' }
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain((most > 0).then(ellipsis)).collect()
}

/// Returns what a cell shows: its symbol, and the pattern that decided.
pub(super) fn shown(cell: &Cell<'_>, target: GridTarget) -> Shown {
    Shown::new(cell.state, cell_text(cell, target))
}

/// Returns the text of a cell: the pattern that decided, or a word.
pub(in crate::surface) fn cell_text(cell: &Cell<'_>, target: GridTarget) -> String {
    if cell.is_over_budget() {
        return OVER_BUDGET.to_owned();
    }
    match cell.state {
        CellState::Inactive if cell.is_manual() => MANUAL.to_owned(),
        // The rule applies here as it is meant: what the agent waits for instead says why it does not.
        CellState::Inactive if cell.if_wired.is_some() => {
            cell.waiting().map_or_else(|| NEVER.to_owned(), waits_for)
        }
        CellState::Inactive if !target.is_paths() => {
            cell.waiting().or(cell.rule).map(waits_for).unwrap_or_default()
        }
        CellState::Offered if !target.is_paths() => cell.rule.map(waits_for).unwrap_or_default(),
        CellState::Native | CellState::Added => match (&cell.because.cause, &cell.pattern) {
            (Cause::Imported(importer), _) => format!("via {importer}"),
            (_, Some(pattern)) => pattern.clone(),
            (Cause::Holds(reasons), None) => reasons.first().cloned().unwrap_or_default(),
            (cause, None) => cause.to_string(),
        },
        _ => String::new(),
    }
}

/// Returns what a rule is for any agent, and why where the cell does not say it.
pub(super) fn shown_for_any(
    row: &RuleRow<'_>,
    verdict: Option<&Verdict<'_>>,
    target: GridTarget,
) -> (Shown, String) {
    let Some(verdict) = verdict else {
        return (Shown::new(CellState::Rejected, String::new()), rejected(row));
    };
    let waits = || if !target.is_paths() { waits_for(verdict.rule) } else { String::new() };
    match &verdict.state {
        State::Stack => {
            let mut matched = verdict.because.iter().filter_map(|reason| {
                let end = if reason.condition == "folder" { "/" } else { "" };
                reason.matched.first().map(|first| format!("{first}{end}"))
            });
            let text = matched.next_back().unwrap_or_else(|| ALWAYS.to_owned());
            (Shown::new(CellState::Native, text), doubtful(row))
        }
        State::Offered if verdict.is_cut => {
            (Shown::new(CellState::Offered, OVER_BUDGET.to_owned()), String::new())
        }
        State::Offered => (Shown::new(CellState::Offered, waits()), String::new()),
        State::Stream => {
            let note = if row.is_for_other_files { OTHER_FILES } else { "" };
            (Shown::new(CellState::Stream, String::new()), note.to_owned())
        }
        State::Inactive(why) => {
            let waits = waits();
            let note =
                if ["", NEVER].contains(&waits.as_str()) { in_table(&why.detail) } else { String::new() };
            (Shown::new(CellState::Inactive, waits), note)
        }
        State::Overridden { winner, by } => {
            (Shown::new(CellState::Overridden, String::new()), overridden_by(&winner.origin.display, *by))
        }
        State::Disabled(off) => (Shown::new(CellState::Disabled, String::new()), format!("by `{}`", off.by)),
    }
}

fn is_manual(rule: &Rule) -> bool {
    rule.activation == Activation::Manual
}

/// Returns what a rule waits for: its first pattern, its folder or what another condition wants.
fn waits_for(rule: &Rule) -> String {
    match rule.globs.as_slice() {
        _ if is_manual(rule) => MANUAL.to_owned(),
        _ if rule.activation == Activation::Never => NEVER.to_owned(),
        [glob] => glob.clone(),
        [glob, more @ ..] => format!("{glob} +{}", more.len()),
        [] if !rule.origin.folder.is_empty() => format!("{}/", rule.origin.folder),
        [] => {
            let condition = rule.conditions.first();
            let words = condition.map(|condition| [&[condition.key], condition.wanted().as_slice()].concat());
            words.unwrap_or_default().join(" ")
        }
    }
}

/// Describes why a rule is there or not, where its cells do not say it.
pub(super) fn note(matrix: &Matrix<'_>, at: usize, row: &RuleRow<'_>, target: GridTarget) -> String {
    let mut cells = matrix.columns.iter().map(|column| (column, &column.cells[at]));
    let needs_note = |(column, cell): &(&AgentColumn<'_>, &Cell<'_>)| match cell.state {
        // Without wiring, Rulebook uses nothing.
        CellState::Native
            if column.wired.is_empty() && matches!(cell.because.despite, Some(Despite::Used(_))) =>
        {
            false
        }
        CellState::Native | CellState::Added => says_more(&cell.because),
        CellState::Offered => false,
        // Why nothing is added for an agent that is not wired is no news.
        CellState::Unread if column.wired.is_empty() => {
            matches!(cell.because.cause, Cause::ReadInstead(..) | Cause::Reads(_) | Cause::SameText(_))
        }
        CellState::Inactive
            if !target.is_paths() && (cell.if_wired.is_none() || cell.waiting().is_some()) =>
        {
            let waiting = cell.waiting().or(cell.rule);
            waiting.is_some_and(|rule| ["", NEVER].contains(&waits_for(rule).as_str()))
                && !cell.because.is_empty()
        }
        CellState::Inactive if cell.is_manual() => false,
        _ => !cell.because.is_empty(),
    };
    if row.rejected.is_some() {
        let is_read = |cell: &Cell<'_>| matches!(cell.state, CellState::Native | CellState::Unknown);
        let is_read = matrix.columns.iter().any(|column| is_read(&column.cells[at]));
        let note = rejected(row);
        return if is_read { note.replacen("rejected:", "rejected by Rulebook:", 1) } else { note };
    }
    match cells.find(needs_note) {
        Some((_, cell)) if matches!(cell.state, CellState::Unread | CellState::Unknown) => {
            match &cell.because.cause {
                Cause::Reads(files) => {
                    format!("not read: {} only {files}", reading(&alike(matrix, at, cell)))
                }
                _ => format!("{}: {}", alike(matrix, at, cell).join(", "), cell.because),
            }
        }
        Some((_, cell)) if let Some((winner, step)) = cell.overridden_by() => {
            format!("{}: {}", alike(matrix, at, cell).join(", "), overridden_by(&winner.origin.display, step))
        }
        Some((column, cell)) => match without_always(&cell.because) {
            version if cell.because.since.is_some() => format!("{} {version}", column.agent.name),
            reason if cell.state == CellState::Inactive => {
                let is_other = |other: &Cell<'_>| {
                    other.state != CellState::Unread
                        && (other.state, &other.because) != (cell.state, &cell.because)
                };
                let others = matrix.columns.iter().any(|column| is_other(&column.cells[at]));
                let names = others.then(|| format!("{}: ", alike(matrix, at, cell).join(", ")));
                names.unwrap_or_default() + &in_table(&reason)
            }
            reason => in_table(&reason),
        },
        None => doubtful(row),
    }
}

/// Whether a reason says more than the symbol and the first condition do.
fn says_more(because: &CellReason) -> bool {
    let has_more = matches!(&because.cause, Cause::Holds(reasons) if reasons.len() > 1);
    has_more || because.since.is_some() || because.despite.is_some()
}

/// Describes a reason, without `always` if there is more to say.
fn without_always(because: &CellReason) -> String {
    let mut because = because.clone();
    if because.cause == Cause::Always {
        because.cause = Cause::Plain;
    }
    because.to_string()
}

/// Returns the agents that have the same state for the same reason as one cell of a row.
fn alike<'m>(matrix: &Matrix<'m>, at: usize, cell: &Cell<'_>) -> Vec<&'m str> {
    let is_same = |column: &&AgentColumn<'_>| {
        let other = &column.cells[at];
        (other.state, &other.because) == (cell.state, &cell.because)
    };
    matrix.columns.iter().filter(is_same).map(|column| column.agent.name).collect()
}

fn reading(names: &[&str]) -> String {
    match names {
        [one] => format!("{one} reads"),
        [first @ .., last] => format!("{} and {last} read", first.join(", ")),
        [] => String::new(),
    }
}

fn rejected(row: &RuleRow<'_>) -> String {
    let codes: Vec<Code> = row.rejected.into_iter().flat_map(|rejected| &rejected.codes).copied().collect();
    match codes.as_slice() {
        [Code::Untrusted] => "not trusted".to_owned(),
        codes => {
            let names: Vec<&str> = codes.iter().map(|code| code.row().name).collect();
            format!("rejected: {}", names.join(", "))
        }
    }
}

fn doubtful(row: &RuleRow<'_>) -> String {
    let is_fail_open =
        row.rule.is_some_and(|rule| rule.basis == Basis::FailOpen && rule.activation == Activation::Always);
    if is_fail_open { "always on because its header is invalid".to_owned() } else { String::new() }
}
