//! Evaluating: a rulebook and the evidence in, a verdict for every rule out.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::{Serialize, Serializer};

use crate::agent::Conflicts;
use crate::condition::{ConditionResult, Facts, Truth};
use crate::evidence::Evidence;
use crate::format::Bare;
use crate::hidden::visible_line;
use crate::resolve::{Off, Rulebook};
use crate::rule::{Activation, Rule, Step};

/// The verdicts on all rules, in the order of precedence.
#[derive(Clone, Debug)]
pub struct Evaluation<'r> {
    /// One per rule that is not rejected.
    pub verdicts: Vec<Verdict<'r>>,
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
    /// Its agent does not document what it does with such a rule.
    Undocumented,
    /// Nothing in its header can activate it.
    Unreachable,
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
            InactiveReason::Undocumented => "undocumented",
            InactiveReason::Unreachable => "unreachable",
        }
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
    /// The positions of the evidence paths that matched.
    pub seen: Vec<usize>,
}

/// Evaluates every rule.
#[must_use]
pub fn evaluate<'r>(book: &'r Rulebook, evidence: &Evidence) -> Evaluation<'r> {
    let facts = Facts::new(evidence, book.rules().filter_map(|(rule, _)| rule.origin.nest()));
    let candidates: Vec<Candidate<'r>> =
        book.rules().map(|(rule, off)| candidate(rule, off, &facts)).collect();
    let is_here = |rule: &Rule| !facts.below(rule.origin.root, &rule.origin.folder).is_empty();
    Evaluation { verdicts: decide(candidates, book.conflicts(), is_here) }
}

/// A preliminary verdict.
struct Candidate<'r> {
    verdict: Verdict<'r>,
    /// Why its conditions do not hold, if it is only offered for its description. It yields to any rule that applies.
    unmet: Option<WhyNot>,
}

impl Candidate<'_> {
    fn applies(&self) -> bool {
        matches!(self.verdict.state, State::Stack | State::Offered | State::Stream)
    }

    /// Whether it is mandatory and its conditions hold.
    fn is_mandatory(&self) -> bool {
        self.verdict.rule.is_mandatory && self.unmet.is_none()
    }
}

/// Evaluates a rule by itself, without considering others.
fn candidate<'r>(rule: &'r Rule, off: Option<&Off>, facts: &Facts<'_>) -> Candidate<'r> {
    let mut because = Vec::new();
    let mut unmet = None;
    let state = match off {
        Some(off) => State::Disabled(off.clone()),
        None => match judge(rule, facts, &mut because) {
            Ok(state) => state,
            Err(why)
                if rule.is_offered
                    && !matches!(
                        why.reason,
                        InactiveReason::Folder | InactiveReason::Empty | InactiveReason::Manual
                    ) =>
            {
                unmet = Some(why);
                State::Offered
            }
            Err(why) => State::Inactive(why),
        },
    };
    Candidate { verdict: Verdict { rule, state, because }, unmet }
}

/// Returns the state of a rule whose conditions hold, or why they do not.
fn judge<'r>(rule: &'r Rule, facts: &Facts<'_>, because: &mut Vec<Reason>) -> Result<State<'r>, WhyNot> {
    if rule.body.is_empty() {
        return Err(WhyNot::new(InactiveReason::Empty, "the file has no text"));
    }
    let is_always = rule.activation == Activation::Always && rule.conditions.is_empty();
    let is_requested = facts.evidence.requested.iter().any(|name| rule.is_called(name));
    if is_requested && rule.stream.is_none() && !is_always {
        because.push(Reason { condition: "requested", matched: vec![rule.name.clone()], seen: Vec::new() });
        return Ok(State::Stack);
    }
    because.extend(check_folder(rule, facts)?);
    because.extend(check_conditions(rule, facts)?);
    state(rule)
}

/// Returns the state of a rule by itself once its conditions hold.
fn state<'r>(rule: &Rule) -> Result<State<'r>, WhyNot> {
    match rule.activation {
        Activation::Stream => Ok(State::Stream),
        Activation::Always | Activation::When => Ok(State::Stack),
        Activation::OnRequest => Ok(State::Offered),
        Activation::Manual => Err(WhyNot::new(InactiveReason::Manual, "applies only when mentioned by name")),
        Activation::Never if rule.origin.format.bare == Bare::Inactive => {
            Err(WhyNot::new(InactiveReason::NoCondition, "has neither `globs` nor `alwaysApply: true`"))
        }
        Activation::Never if rule.origin.format.bare == Bare::Undocumented => Err(WhyNot::new(
            InactiveReason::Undocumented,
            "the agent does not document what it does with such a rule",
        )),
        Activation::Never => {
            Err(WhyNot::new(InactiveReason::Unreachable, "nothing in its header can activate it"))
        }
    }
}

/// Checks that some evidence is below the folder of a nested rule.
fn check_folder(rule: &Rule, facts: &Facts<'_>) -> Result<Option<Reason>, WhyNot> {
    let Some((root, folder)) = rule.origin.nest() else { return Ok(None) };
    match facts.below(root, folder) {
        [] => {
            let folder = visible_line(folder);
            Err(WhyNot::new(InactiveReason::Folder, format!("no evidence path is below `{folder}`")))
        }
        seen => Ok(Some(Reason {
            condition: "folder",
            matched: vec![visible_line(folder).into_owned()],
            seen: seen.to_vec(),
        })),
    }
}

fn check_conditions(rule: &Rule, facts: &Facts<'_>) -> Result<Vec<Reason>, WhyNot> {
    let results: Vec<_> =
        rule.conditions.iter().map(|condition| (condition.key, condition.evaluate(facts))).collect();
    let truth = rule.combine.combine(results.iter().map(|(_, result)| result.truth));
    if truth == Truth::Yes {
        let held = results.into_iter().filter(|(_, result)| result.truth == Truth::Yes);
        return Ok(held
            .map(|(condition, ConditionResult { matched, seen, .. })| Reason {
                condition,
                matched: matched.into_iter().map(shown).collect(),
                seen,
            })
            .collect());
    }
    let failed = results.iter().filter(|(_, result)| result.truth != Truth::Yes);
    let details: Vec<&str> = failed.map(|(_, result)| result.detail.as_str()).collect();
    let decisive = results.iter().find(|(_, result)| result.truth == truth);
    let reason = decisive.map_or(InactiveReason::NoCondition, |(key, _)| InactiveReason::Condition(key));
    Err(WhyNot::new(reason, shown(details.join("; "))))
}

/// Makes hidden characters visible: reasons are delivered too.
fn shown(text: String) -> String {
    match visible_line(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

impl WhyNot {
    fn new(reason: InactiveReason, detail: impl Into<String>) -> WhyNot {
        WhyNot { reason, detail: detail.into() }
    }
}

/// Whether a rule by itself applies to this evidence, or watches the stream.
#[must_use]
pub fn applies(rule: &Rule, evidence: &Evidence) -> bool {
    let state = judge(rule, &Facts::new(evidence, rule.origin.nest()), &mut Vec::new());
    matches!(state, Ok(State::Stack | State::Stream))
}

/// Returns the state of a rule by itself if its conditions hold, or `None` if it never applies.
pub(crate) fn at_best(rule: &Rule) -> Option<State<'_>> {
    state(rule).ok().filter(|_| !rule.body.is_empty())
}

/// Decides among rules whose conditions hold, in order. A rule that is off here is an `enabled: false` nested in a
/// folder of the evidence.
pub(crate) fn settle<'r>(
    rules: impl IntoIterator<Item = (&'r Rule, Option<&'r Off>)>,
    conflicts: Conflicts,
) -> Vec<Verdict<'r>> {
    let candidate = |(rule, off): (&'r Rule, Option<&'r Off>)| {
        let state = match off {
            Some(off) => State::Disabled(off.clone()),
            None => state(rule).unwrap_or_else(State::Inactive),
        };
        Candidate { verdict: Verdict { rule, state, because: Vec::new() }, unmet: None }
    };
    decide(rules.into_iter().map(candidate).collect(), conflicts, |_| true)
}

/// Decides among the rules. `is_here` says whether some evidence is in the folder of a nested rule.
fn decide<'r>(
    mut candidates: Vec<Candidate<'r>>,
    conflicts: Conflicts,
    is_here: impl Fn(&Rule) -> bool,
) -> Vec<Verdict<'r>> {
    switch_off_nested(&mut candidates, is_here);
    if conflicts == Conflicts::FirstWins {
        override_ids(&mut candidates);
        override_duplicates(&mut candidates);
    }
    candidates.into_iter().map(|candidate| candidate.verdict).collect()
}

/// Applies `enabled: false` of nested folders, which switches off the rules of that id there.
fn switch_off_nested(candidates: &mut [Candidate<'_>], is_here: impl Fn(&Rule) -> bool) {
    let mut switched_off: HashMap<&str, &Rule> = HashMap::new();
    for Candidate { verdict, .. } in candidates {
        let Verdict { rule, state, .. } = verdict;
        if let Some(other) = switched_off.get(rule.id.as_str())
            && !matches!(state, State::Disabled(_))
            && !rule.is_mandatory
        {
            *state = State::Disabled(other.switched_off_here());
        }
        if !rule.enabled && !rule.origin.folder.is_empty() && is_here(rule) {
            switched_off.entry(&rule.id).or_insert(rule);
        }
    }
}

/// Selects one winner per id: the first in order that applies. Offered rules yield to those that apply, and both yield
/// to mandatory rules.
fn override_ids(candidates: &mut [Candidate<'_>]) {
    let mut winners: HashMap<&str, usize> = HashMap::with_capacity(candidates.len());
    let passes: [fn(&Candidate<'_>) -> bool; 3] =
        [|candidate| candidate.is_mandatory(), |candidate| candidate.unmet.is_none(), |_| true];
    for is_candidate in passes {
        for (at, candidate) in candidates.iter().enumerate() {
            if candidate.applies() && is_candidate(candidate) {
                winners.entry(&candidate.verdict.rule.id).or_insert(at);
            }
        }
    }
    for at in 0..candidates.len() {
        let winner = winners.get(candidates[at].verdict.rule.id.as_str()).copied();
        let yields = candidates[at].applies() && !candidates[at].is_mandatory();
        let Some(winner) = winner.filter(|winner| *winner != at && yields) else { continue };
        let winner_rule = candidates[winner].verdict.rule;
        let Candidate { verdict, unmet } = &mut candidates[at];
        verdict.state = match unmet.take() {
            Some(why) if at < winner => State::Inactive(why),
            _ if at < winner && winner_rule.is_mandatory => {
                State::Overridden { winner: winner_rule, by: Step::Enabled }
            }
            _ => State::Overridden {
                winner: winner_rule,
                by: winner_rule.rank().decided_by(&verdict.rule.rank()),
            },
        };
    }
}

/// Delivers equal texts once and does not offer them in addition. A mandatory rule is preferred.
fn override_duplicates<'r>(candidates: &mut [Candidate<'r>]) {
    // By length first: texts of different length need no comparison.
    let mut delivered: BTreeMap<(usize, &'r str), &'r Rule> = BTreeMap::new();
    let passes: [fn(&Candidate<'r>) -> bool; 3] = [
        |candidate| matches!(candidate.verdict.state, State::Stack) && candidate.is_mandatory(),
        |candidate| matches!(candidate.verdict.state, State::Stack),
        |candidate| matches!(candidate.verdict.state, State::Offered),
    ];
    for is_candidate in passes {
        for Candidate { verdict, .. } in candidates.iter_mut().filter(|candidate| is_candidate(candidate)) {
            let body = verdict.rule.body.as_str();
            let winner = *delivered.entry((body.len(), body)).or_insert(verdict.rule);
            if !std::ptr::eq(winner, verdict.rule) {
                verdict.state = State::Overridden { winner, by: Step::Duplicate };
            }
        }
    }
}
