//! Verdicts: the one state that each rule ends in, and why.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use crate::evidence::{Evidence, Seen};
use crate::resolve::Off;
use crate::rule::{Rule, Step};
use crate::stream::trigger::StreamRule;

/// The verdicts on all rules.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Evaluation<'r> {
    /// One per rule that is not rejected, in the order of precedence.
    pub verdicts: Vec<Verdict<'r>>,
    /// The positions of the rules that apply, in the order of delivery.
    pub(super) delivery: Vec<usize>,
}

impl<'r> Evaluation<'r> {
    /// Returns the rules that apply, in the order of delivery. Every surface delivers and shows them in this order.
    pub fn stack(&self) -> impl DoubleEndedIterator<Item = &Verdict<'r>> {
        self.delivery.iter().map(|at| &self.verdicts[*at])
    }

    /// Returns the position of each verdict in the order of delivery; the last one for rules that do not apply.
    pub(crate) fn positions(&self) -> Vec<usize> {
        let mut positions = vec![usize::MAX; self.verdicts.len()];
        self.delivery.iter().enumerate().for_each(|(position, at)| positions[*at] = position);
        positions
    }

    /// Returns the positions of the same verdicts, in the order of precedence.
    pub(crate) fn stack_by_rank(&self) -> Vec<usize> {
        let mut positions = self.delivery.clone();
        positions.sort_unstable();
        positions
    }

    /// Offers some of the rules that apply instead of delivering them.
    pub(crate) fn cut(&mut self, positions: impl Iterator<Item = usize>) {
        for at in positions {
            self.verdicts[at].state = State::Offered;
            self.verdicts[at].is_cut = true;
        }
        let verdicts = &self.verdicts;
        self.delivery.retain(|at| !verdicts[*at].is_cut);
    }

    /// Takes rules out of those that are delivered, because the conversation has them, and returns them.
    pub fn withhold(&mut self, is_withheld: impl Fn(&Rule) -> bool) -> Vec<&'r Rule> {
        let rule = |at: usize| self.verdicts[at].rule;
        self.delivery.extract_if(.., |at| is_withheld(rule(*at))).map(rule).collect()
    }
}

impl Evaluation<'_> {
    /// Keeps some of the rules that apply or are offered; the others are left to their agent.
    #[must_use]
    pub fn retain(mut self, is_kept: impl Fn(&Verdict<'_>) -> bool) -> Self {
        for verdict in &mut self.verdicts {
            if matches!(verdict.state, State::Stack | State::Offered) && !is_kept(verdict) {
                let detail = "the agent has it, or nothing is added";
                verdict.state = State::Inactive(WhyNot::new(InactiveReason::NotAdded, detail));
            }
        }
        let verdicts = &self.verdicts;
        self.delivery.retain(|at| matches!(verdicts[*at].state, State::Stack));
        self
    }
}

/// The result of evaluating a rule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// The one state it ends in.
    pub state: State<'r>,
    /// The conditions that held.
    pub because: Vec<Reason>,
    /// Whether the user requested the rule by name in this turn.
    pub is_requested: bool,
    /// Whether it applies, and is only offered because of the budget.
    pub is_cut: bool,
    /// Of a stream rule: the other roots that have a rule of this id and format, which is used for calls about their files.
    pub other_roots: Vec<usize>,
}

impl<'r> Verdict<'r> {
    /// Returns what a monitor needs to watch for the rule, if it is a stream rule.
    pub fn stream_rule(&self) -> Option<StreamRule<'_>> {
        Some(StreamRule { other_roots: &self.other_roots, ..self.rule.stream_rule()? })
    }

    /// Whether it is a stream rule that watches no calls about these files.
    pub(crate) fn is_for_other_files(&self, files: &[Seen]) -> bool {
        let is_watched =
            |file: &Seen| self.stream_rule().is_none_or(|rule| rule.admits(Some(file.root), &file.path));
        !files.is_empty() && !files.iter().any(is_watched)
    }
}

/// The state of a rule.
#[derive(Clone, Debug)]
pub enum State<'r> {
    /// It applies.
    Stack,
    /// The agent can request it.
    Offered,
    /// It watches the model's output.
    Stream,
    /// It does not apply.
    Inactive(WhyNot),
    /// It would apply, but another rule overrides it.
    Overridden {
        /// The other rule.
        winner: &'r Rule,
        /// The step of the order that decided.
        by: Step,
    },
    /// It is switched off.
    Disabled(Off),
}

/// Why a rule does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WhyNot {
    /// The kind of reason.
    pub reason: InactiveReason,
    /// The reason in words.
    pub detail: String,
}

/// The kind of reason why a rule does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InactiveReason {
    /// The condition of this key does not hold.
    Condition(&'static str),
    /// It has no text.
    Empty,
    /// No evidence is below its folder.
    Folder,
    /// It applies only when mentioned by name.
    Manual,
    /// It has none of the conditions that its format needs.
    NoCondition,
    /// It is a skill, and skills are not offered, or no more of them.
    NotOffered,
    /// Its agent does not document what it does with such a rule.
    Undocumented,
    /// Nothing in its header can activate it.
    Unreachable,
    /// The agent does not read its file, and nothing adds it.
    Unread,
    /// It is left to the agent.
    NotAdded,
    /// It is a copy of a rule, and the rule does not apply.
    Copy,
}

impl InactiveReason {
    /// Returns the word in output.
    pub fn name(self) -> &'static str {
        match self {
            InactiveReason::Condition(key) => key,
            InactiveReason::Empty => "empty",
            InactiveReason::Folder => "folder",
            InactiveReason::Manual => "manual",
            InactiveReason::NoCondition => "no-condition",
            InactiveReason::NotOffered => "not-offered",
            InactiveReason::Undocumented => "undocumented",
            InactiveReason::Unreachable => "unreachable",
            InactiveReason::Unread => "unread",
            InactiveReason::NotAdded => "not-added",
            InactiveReason::Copy => "copy",
        }
    }
}

impl WhyNot {
    pub(super) fn new(reason: InactiveReason, detail: impl Into<String>) -> WhyNot {
        WhyNot { reason, detail: detail.into() }
    }
}

impl Serialize for InactiveReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A condition that held.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The key of the condition.
    pub condition: &'static str,
    /// The parts that matched, as written.
    pub matched: Vec<String>,
    /// The positions of the first evidence paths that matched.
    pub seen: Vec<usize>,
    /// How many more matched. A folder may have as many files as there are rules, and both are not multiplied.
    pub more: usize,
}

/// The number of evidence paths that a reason keeps: as many as a host can report.
const MAX_SEEN: usize = 100;

impl Reason {
    pub(crate) fn new(condition: &'static str, matched: Vec<String>) -> Reason {
        Reason { condition, matched, seen: Vec::new(), more: 0 }
    }

    /// Adds the paths that matched: the first ones, and the first one of each further root.
    pub(crate) fn with_paths(self, seen: &[usize], evidence: &Evidence) -> Reason {
        let (first, rest) = seen.split_at(seen.len().min(MAX_SEEN));
        let mut kept = first.to_vec();
        let root = |at: &usize| evidence.paths[*at].root;
        let mut roots: BTreeSet<usize> = first.iter().map(root).collect();
        kept.extend(rest.iter().copied().filter(|at| roots.insert(root(at))));
        Reason { more: seen.len() - kept.len(), seen: kept, ..self }
    }
}
