//! A cell of the matrix: what becomes of one rule for one agent.

use super::handling::{Handling, handling, is_left_out, is_undocumented};
use super::reason::{Cause, CellReason, Despite, not_read, off_by, pattern};
use super::row::RuleRow;
use super::subject::Subject;
use crate::diagnostic::Code;
use crate::evaluate::{InactiveReason, State, Verdict};
use crate::format::PlaceKind;
use crate::parse::Rejected;
use crate::render::OVER_BUDGET;
use crate::rule::{Activation, Rule, Step};
use crate::source::Origin;
use crate::stream::trigger::OTHER_FILES;
use crate::words::words;

words! {
    /// What becomes of a rule for an agent.
    CellState {
        /// The agent has it in context by itself.
        Native = "native",
        /// Rulebook adds it.
        Added = "added",
        /// It can be requested.
        Offered = "offered",
        /// It watches the model's output.
        Stream = "stream",
        /// It does not apply to the target.
        Inactive = "inactive",
        /// It is not documented what the agent does with it.
        Unknown = "unknown",
        /// The agent does not read it, and nothing adds it.
        Unread = "unread",
        /// Another rule is used instead.
        Overridden = "overridden",
        /// It is switched off.
        Disabled = "disabled",
        /// Its file is rejected.
        Rejected = "rejected",
    }
}

/// How each state is shown: its symbol and its meaning.
pub const SYMBOLS: [(CellState, &str, &str); 10] = [
    (CellState::Native, "✓", "read by the agent"),
    (CellState::Added, "+", "added by Rulebook"),
    (CellState::Offered, "○", "offered"),
    (CellState::Stream, "»", "watches the output"),
    (CellState::Inactive, "·", "inactive for this path"),
    (CellState::Unread, "–", "not read"),
    (CellState::Unknown, "?", "not documented"),
    (CellState::Overridden, "×", "another rule is used"),
    (CellState::Disabled, "⊘", "disabled"),
    (CellState::Rejected, "!", "rejected"),
];

impl CellState {
    /// The character that shows it.
    pub fn symbol(self) -> &'static str {
        SYMBOLS.iter().find(|(state, ..)| *state == self).map_or("", |(_, symbol, _)| symbol)
    }

    /// Whether it says of a rule that is not in context what a verdict says.
    pub(crate) fn is_of(self, state: &State<'_>) -> bool {
        matches!(
            (self, state),
            (CellState::Stream, State::Stream)
                | (CellState::Inactive, State::Inactive(_))
                | (CellState::Overridden, State::Overridden { .. })
                | (CellState::Disabled, State::Disabled(_))
        )
    }
}

words! {
    /// Who offers a rule, or watches the output for it.
    DoneBy {
        /// The agent itself.
        Agent = "agent",
        /// Rulebook.
        Rulebook = "rulebook",
    }
}

/// What becomes of one rule for one agent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cell<'r> {
    /// The state.
    pub state: CellState,
    /// Who offers the rule or watches for it, for these states.
    pub by: Option<DoneBy>,
    /// Why.
    pub because: CellReason,
    /// The pattern that decided.
    pub pattern: Option<String>,
    /// The state that it would have if the agent were wired, where wiring would bring the rule to it.
    pub if_wired: Option<CellState>,
    /// The rule as it reaches the agent: in its own reading if it reads the file.
    pub rule: Option<&'r Rule>,
    /// The verdict that decided: the agent's own, or Rulebook's.
    pub(crate) verdict: Option<Verdict<'r>>,
    /// The position in the agent's context: its own rules come first.
    pub position: usize,
}

/// Why a state is [`CellState::Stream`].
fn watches(row: &RuleRow<'_>) -> &'static str {
    if row.is_for_other_files { OTHER_FILES } else { "watches the model's output" }
}

/// Why a state is unknown.
const UNDOCUMENTED: &str = "not documented";

fn undocumented(verdict: &Verdict<'_>) -> Cause {
    Cause::other(match &verdict.state {
        State::Inactive(why) => why.detail.as_str(),
        _ => UNDOCUMENTED,
    })
}

/// What the cells of one agent are made from.
pub(super) struct Column<'c, 'r> {
    pub(super) subject: &'c Subject<'c, 'r>,
    /// The verdicts for this agent, in the order of those for any.
    pub(super) verdicts: &'c [Verdict<'r>],
}

impl<'r> Cell<'r> {
    fn new(state: CellState, because: impl Into<CellReason>, rule: Option<&'r Rule>) -> Cell<'r> {
        Cell {
            state,
            by: None,
            because: because.into(),
            pattern: None,
            if_wired: None,
            rule,
            verdict: None,
            position: usize::MAX,
        }
    }

    /// The rule that is used instead of this one, and the step that decided.
    pub fn overridden_by(&self) -> Option<(&'r Rule, Step)> {
        match self.verdict.as_ref().filter(|_| self.state == CellState::Overridden)?.state {
            State::Overridden { winner, by } => Some((winner, by)),
            _ => None,
        }
    }

    /// Whether the rule applies, and is only offered because of the budget.
    pub fn is_over_budget(&self) -> bool {
        let by_rulebook = self.state == CellState::Offered && self.by == Some(DoneBy::Rulebook);
        by_rulebook && self.verdict.as_ref().is_some_and(|verdict| verdict.is_cut)
    }

    /// The rule that applies in other cases, as the agent reads it: it waits for its conditions.
    pub fn waiting(&self) -> Option<&'r Rule> {
        let verdict = self.verdict.as_ref().filter(|_| self.state == CellState::Inactive)?;
        let waits =
            matches!(verdict.state, State::Inactive(_)) && verdict.rule.activation == Activation::When;
        // Nothing is left of a file that only imports rules.
        (waits && !verdict.rule.body.is_empty()).then_some(verdict.rule)
    }

    /// Whether the agent applies the rule only when it is mentioned by name.
    pub fn is_manual(&self) -> bool {
        let verdict = self.verdict.as_ref().filter(|verdict| matches!(verdict.state, State::Inactive(_)));
        let rule = verdict.map(|verdict| verdict.rule).or(self.rule);
        rule.is_some_and(|rule| rule.activation == Activation::Manual)
    }

    fn by_rulebook(self) -> Cell<'r> {
        Cell { by: Some(DoneBy::Rulebook), ..self }
    }
}

impl<'r> Column<'_, 'r> {
    /// Returns the cell of a row. What the agent does by itself comes first.
    pub(super) fn cell(&self, row: &RuleRow<'r>) -> Cell<'r> {
        let cell = self.decide(row);
        let verdict = cell.verdict.or_else(|| row.verdict.map(|at| self.verdicts[at].clone()));
        Cell { verdict, ..cell }
    }

    fn decide(&self, row: &RuleRow<'r>) -> Cell<'r> {
        let own = self.subject.native.verdict(&row.origin.path);
        let meant = row.verdict.map(|at| &self.verdicts[at]);
        if let Some(own) = own
            && let Some(cell) = self.native(own, row, meant)
        {
            return cell;
        }
        let Some(meant) = meant else {
            if own.is_some() {
                return self.not_applied(own, row);
            }
            // A rejected file, or one that only other agents read.
            let own = self.subject.native.rejected(&row.origin.path);
            let is_rejected = own.is_some() || self.is_wired();
            if let Some(cell) = own.and_then(|own| self.beyond_limits(own)) {
                return cell;
            }
            return match row.rejected {
                Some(rejected) if is_rejected => {
                    let codes: Vec<&str> = rejected.codes.iter().map(|code| code.row().name).collect();
                    Cell::new(CellState::Rejected, Cause::Other(codes.join(", ")), row.rule)
                }
                _ => Cell::new(CellState::Unread, not_read(self.subject, row.origin, row.rule), row.rule),
            };
        };
        let new = |state, because: &str| Cell::new(state, Cause::other(because), row.rule);
        match &meant.state {
            State::Stack | State::Offered => self.brought(meant, own),
            _ if own.is_some() => self.not_applied(own, row),
            State::Stream | State::Inactive(_) if is_undocumented(self.subject.agent, meant.rule) => {
                new(CellState::Unknown, UNDOCUMENTED)
            }
            State::Inactive(_) if let Some(own) = self.subject.native.same_when(meant.rule) => {
                Cell::new(CellState::Unread, Cause::same_text(own), row.rule)
            }
            State::Overridden { winner, by: Step::Duplicate }
                if !self.is_wired() && self.subject.native.verdict(&winner.origin.path).is_some() =>
            {
                Cell::new(CellState::Unread, Cause::same_text(winner), row.rule)
            }
            State::Overridden { winner, by: Step::Copy } if !self.is_wired() => {
                let because = Cause::CopyOf(winner.origin.display.clone());
                Cell::new(CellState::Unread, because, row.rule)
            }
            state if !self.is_wired() => Cell {
                if_wired: self.later(state, meant.rule),
                ..Cell::new(CellState::Unread, not_read(self.subject, row.origin, row.rule), row.rule)
            },
            State::Stream if self.subject.is_hooked() => new(CellState::Stream, watches(row)).by_rulebook(),
            State::Stream => new(CellState::Unread, "stream rules need hooks"),
            State::Inactive(why) => new(CellState::Inactive, &why.detail),
            State::Overridden { winner, by } => {
                new(CellState::Overridden, &format!("by {} ({by})", winner.origin.display))
            }
            State::Disabled(off) => new(CellState::Disabled, &off_by(off)),
        }
    }

    /// Returns the cell of a file that the agent may read, although Rulebook does not: its text is not known.
    fn beyond_limits(&self, file: &Rejected) -> Option<Cell<'r>> {
        let Origin { format, place, .. } = &file.origin;
        let because = match file.codes.as_slice() {
            [Code::OutsideRoot] if self.subject.agent.follows_links => match place.shape {
                PlaceKind::Located { .. } => {
                    let because = CellReason { despite: Some(Despite::NotFollowed), ..Cause::Always.into() };
                    return Some(Cell::new(CellState::Native, because, None));
                }
                _ => "it follows the link, which Rulebook does not read",
            },
            [Code::OutsideRoot] => "not documented for links that leave the root",
            [Code::TooLarge] if format.largest.is_none() => "not documented for a file of this size",
            _ => return None,
        };
        Some(Cell::new(CellState::Unknown, Cause::other(because), None))
    }

    /// Returns the cell of a rule that the agent has in context, offers or watches for by itself.
    fn native(&self, own: &Verdict<'r>, row: &RuleRow<'r>, meant: Option<&Verdict<'r>>) -> Option<Cell<'r>> {
        let (state, by) = match &own.state {
            State::Stack => (CellState::Native, None),
            State::Stream => (CellState::Stream, Some(DoneBy::Agent)),
            State::Inactive(why) if why.reason == InactiveReason::Undocumented => (CellState::Unknown, None),
            State::Offered if !self.is_added(meant) => (CellState::Offered, Some(DoneBy::Agent)),
            _ => return None,
        };
        let cause = match (state, &own.rule.origin.imported_by) {
            (CellState::Unknown, _) => undocumented(own),
            (CellState::Native, Some(importer)) => Cause::Imported(importer.clone()),
            (CellState::Native, None) => Cause::applies(own),
            (CellState::Stream, _) if row.is_for_other_files => Cause::other(OTHER_FILES),
            _ => Cause::Plain,
        };
        // Switching a rule off here does not keep the agent from reading its file.
        let despite = match (meant.map(|meant| &meant.state), row.rejected) {
            (Some(State::Overridden { winner, .. }), _) => Some(Despite::Used(winner.origin.display.clone())),
            (Some(State::Disabled(off)), _) => Some(Despite::Disabled(off_by(off))),
            (_, Some(_)) => Some(Despite::Rejected),
            _ => None,
        };
        let since = own.rule.origin.format.since.filter(|_| state == CellState::Native);
        let because = CellReason { cause, since, despite };
        let position = self.subject.native.position(&row.origin.path);
        let cell = Cell::new(state, because, Some(own.rule));
        Some(Cell { by, pattern: pattern(own), verdict: Some(own.clone()), position, ..cell })
    }

    /// Returns the cell of a rule that applies or is offered as meant, and that the agent does not bring by itself.
    fn brought(&self, meant: &Verdict<'r>, own: Option<&Verdict<'r>>) -> Cell<'r> {
        let rule = Some(meant.rule);
        let is_offer = matches!(meant.state, State::Offered);
        let because = match meant.state {
            _ if meant.is_cut => Cause::other(OVER_BUDGET),
            State::Offered => Cause::Plain,
            _ => Cause::applies(meant),
        };
        let if_wired = if is_offer { CellState::Offered } else { CellState::Added };
        let new = |state, because| Cell { pattern: pattern(meant), ..Cell::new(state, because, rule) };
        let by_own = |cell: Cell<'r>| Cell { verdict: own.cloned(), ..cell };
        match handling(meant, self.subject) {
            Handling::Native | Handling::NativeAlways => {
                new(CellState::Native, Cause::other("read in the folder where it is started"))
            }
            Handling::Unknown => new(CellState::Unknown, Cause::other(UNDOCUMENTED)),
            Handling::NotAdded(why) if own.is_some() => by_own(new(CellState::Overridden, why)),
            Handling::NotAdded(why) => new(CellState::Unread, why),
            _ if self.subject.is_hooked() && !is_offer => new(CellState::Added, because),
            _ if self.is_wired() => new(CellState::Offered, because).by_rulebook(),
            Handling::Unread => {
                let because = not_read(self.subject, &meant.rule.origin, rule);
                Cell { if_wired: Some(if_wired), ..new(CellState::Unread, because) }
            }
            Handling::NotApplied(why) => {
                Cell { if_wired: Some(if_wired), ..by_own(new(CellState::Inactive, Cause::other(why))) }
            }
        }
    }

    /// Returns the cell of a rule that the agent reads, and that neither it nor its author applies here.
    fn not_applied(&self, own: Option<&Verdict<'r>>, row: &RuleRow<'r>) -> Cell<'r> {
        let cell = match own.map(|own| (&own.state, own.rule)) {
            Some((State::Inactive(why), rule)) => {
                Cell::new(CellState::Inactive, Cause::other(&why.detail), Some(rule))
            }
            Some((State::Overridden { winner, .. }, rule)) => {
                let because = Cause::Other(format!("by {}", winner.origin.display));
                Cell::new(CellState::Overridden, because, Some(rule))
            }
            Some((State::Disabled(off), rule)) => {
                Cell::new(CellState::Disabled, Cause::other(off_by(off)), Some(rule))
            }
            _ => Cell::new(CellState::Inactive, Cause::Plain, row.rule),
        };
        Cell { verdict: own.cloned(), ..cell }
    }

    /// Returns what wiring would make of a rule that does not apply now: it waits for its conditions, or watches.
    fn later(&self, meant: &State<'_>, rule: &Rule) -> Option<CellState> {
        // The agent has a copy in context, which Rulebook uses for it.
        let is_there = || self.subject.native.copy_in_context(rule).is_some();
        let waits = rule.activation == Activation::When && !is_left_out(rule, self.subject) && !is_there();
        match meant {
            State::Stream => Some(CellState::Stream),
            State::Inactive(_) => (waits && !rule.body.is_empty()).then_some(CellState::Inactive),
            _ => None,
        }
    }

    /// Whether Rulebook adds a rule, as it is meant, to what the agent has in context.
    fn is_added(&self, meant: Option<&Verdict<'r>>) -> bool {
        let applied = meant.filter(|meant| matches!(meant.state, State::Stack) && self.subject.is_hooked());
        applied.is_some_and(|meant| matches!(handling(meant, self.subject), Handling::NotApplied(_)))
    }

    fn is_wired(&self) -> bool {
        !self.subject.wired.is_empty()
    }
}
