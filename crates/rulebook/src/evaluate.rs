//! Evaluating: a rulebook and the evidence in, a verdict for every rule out.

mod audience;
mod conflict;
mod copies;
mod judge;
mod order;
mod verdict;

pub use audience::Audience;
pub(crate) use conflict::overrides;
pub(crate) use copies::Lines;
pub(crate) use judge::CALLED;
pub use verdict::{Evaluation, InactiveReason, Reason, State, Verdict, WhyNot};

use std::collections::{HashMap, HashSet};

use crate::condition::Facts;
use crate::evidence::Evidence;
use crate::format::FormatId;
use crate::resolve::{Off, Policy, Rulebook};
use crate::rule::{Rule, Step};
use conflict::decide;
use judge::{Call, Candidate, candidate, judge, state};
pub(crate) use order::delivery_rank;
use order::native_order;

/// Evaluates every rule for an audience.
#[must_use]
pub fn evaluate<'r>(book: &'r Rulebook, evidence: &Evidence, audience: Audience<'_>) -> Evaluation<'r> {
    Judged::new(book, evidence).decide(evidence, &audience)
}

/// Every rule, judged by itself. Several audiences share it.
#[derive(Clone, Debug)]
pub(crate) struct Judged<'r> {
    book: &'r Rulebook,
    candidates: Vec<Candidate<'r>>,
}

impl<'r> Judged<'r> {
    pub(crate) fn new(book: &'r Rulebook, evidence: &Evidence) -> Judged<'r> {
        let facts = Facts::new(evidence, book.rules().filter_map(|(rule, _)| rule.origin.nest()));
        let mentioned = evidence.mentioned.iter().filter_map(|name| book.mentioned(name));
        let requested = evidence.requested.iter().filter_map(|name| book.requested(name));
        let requested: Vec<&Rule> = requested.chain(mentioned).collect();
        let pinned: Vec<&Rule> = evidence.pinned.iter().filter_map(|name| book.requested(name)).collect();
        let call = |rule: &Rule| {
            let is_among = |rules: &[&Rule]| rules.iter().any(|named| std::ptr::eq(*named, rule));
            match () {
                () if is_among(&requested) => Call::Requested,
                () if is_among(&pinned) => Call::Pinned,
                () => Call::NotRequested,
            }
        };
        let mut rules: Vec<_> = book.rules().enumerate().collect();
        // The texts that all conditions search are limited: those of mandatory rules come first.
        rules.sort_by_key(|(_, (rule, _))| !rule.is_mandatory);
        let judged =
            rules.into_iter().map(|(at, (rule, off))| (at, candidate(rule, off, call(rule), &facts)));
        let mut judged: Vec<(usize, Candidate<'r>)> = judged.collect();
        judged.sort_by_key(|(at, _)| *at);
        let mut candidates: Vec<Candidate<'r>> = judged.into_iter().map(|(_, candidate)| candidate).collect();
        let is_here = |rule: &Rule| !facts.below(rule.origin.root, &rule.origin.folder).is_empty();
        switch_off_nested(&mut candidates, is_here);
        activate_imports(&mut candidates);
        Judged { book, candidates }
    }

    /// Decides which rules override which others, for one audience.
    pub(crate) fn decide(self, evidence: &Evidence, audience: &Audience<'_>) -> Evaluation<'r> {
        let Judged { book, mut candidates } = self;
        decide(&mut candidates, book.policy(), audience, Some(evidence));
        let verdicts: Vec<Verdict<'r>> = candidates.into_iter().map(|candidate| candidate.verdict).collect();
        let is_in_stack = |at: &usize| matches!(verdicts[*at].state, State::Stack);
        let delivery = match book.policy() {
            Policy::Meant(_) => {
                let mut delivery: Vec<usize> = (0..verdicts.len()).filter(is_in_stack).collect();
                delivery.sort_by_cached_key(|at| delivery_rank(verdicts[*at].rule));
                delivery
            }
            Policy::Native(_, arrival) => {
                native_order(&verdicts, arrival).into_iter().filter(is_in_stack).collect()
            }
        };
        Evaluation { verdicts, delivery }
    }
}

/// Whether a rule by itself applies to this evidence, or watches the stream.
#[must_use]
pub fn applies(rule: &Rule, evidence: &Evidence) -> bool {
    let is_requested = evidence.requested.iter().any(|name| rule.is_called(name));
    let call = if is_requested { Call::Requested } else { Call::NotRequested };
    let state = judge(rule, call, &Facts::new(evidence, rule.origin.nest()), &mut Vec::new());
    matches!(state, Ok(State::Stack | State::Stream))
}

/// Whether a rule applies if its conditions hold, even one without text of its own.
pub(crate) fn applies_if_met(rule: &Rule) -> bool {
    matches!(state(rule), Ok(State::Stack))
}

/// Returns the state of a rule by itself if its conditions hold, or `None` if it never applies.
pub(crate) fn at_best(rule: &Rule) -> Option<State<'_>> {
    state(rule).ok().filter(|_| !rule.body.is_empty())
}

/// Decides among rules whose conditions hold, in order. A rule that is off here is an `enabled: false` nested in a
/// folder of the evidence.
pub(crate) fn settle<'r>(
    rules: impl IntoIterator<Item = (&'r Rule, Option<&'r Off>)>,
    policy: Policy,
    audience: &Audience<'_>,
) -> Vec<Verdict<'r>> {
    let candidate = |(rule, off): (&'r Rule, Option<&'r Off>)| {
        let state = match off {
            Some(off) => State::Disabled(off.clone()),
            None => state(rule).unwrap_or_else(State::Inactive),
        };
        Candidate {
            verdict: Verdict {
                rule,
                state,
                because: Vec::new(),
                is_requested: false,
                is_cut: false,
                other_roots: Vec::new(),
            },
            unmet: None,
        }
    };
    let mut candidates: Vec<_> = rules.into_iter().map(candidate).collect();
    switch_off_nested(&mut candidates, |_| true);
    decide(&mut candidates, policy, audience, None);
    candidates.into_iter().map(|candidate| candidate.verdict).collect()
}

/// A rule that overrides another one, or is overridden by it, where both apply.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rival<'r> {
    /// The other rule.
    pub rule: &'r Rule,
    /// Whether it is the one that is used.
    pub wins: bool,
    /// What decides.
    pub by: Step,
}

/// Returns the enabled rules that override a rule, or that it overrides, where both apply; in order.
pub fn rivals<'r>(book: &'r Rulebook, rule: &'r Rule) -> impl Iterator<Item = Rival<'r>> {
    let is_candidate = move |other: &&Rule| {
        other.origin.path != rule.origin.path
            && (other.id == rule.id || !rule.body.is_empty() && other.body == rule.body)
    };
    let others = book.rules().filter(|(_, off)| off.is_none()).map(|(other, _)| other).filter(is_candidate);
    others.filter_map(move |other| {
        let mut pair = [rule, other];
        pair.sort_by_key(|rule| rule.rank());
        settle(pair.map(|rule| (rule, None)), book.policy(), &Audience::any()).into_iter().find_map(
            |verdict| match verdict.state {
                State::Overridden { winner, by } => {
                    Some(Rival { rule: other, wins: std::ptr::eq(winner, other), by })
                }
                _ => None,
            },
        )
    })
}

/// Activates the rules that others import: they apply whenever the importing file does.
fn activate_imports(candidates: &mut [Candidate<'_>]) {
    let is_on = |Candidate { verdict, .. }: &Candidate<'_>| match &verdict.state {
        State::Stack => true,
        State::Inactive(why) => why.reason == InactiveReason::Empty,
        _ => false,
    };
    let imports = |candidate: &Candidate<'_>| !candidate.verdict.rule.imports.is_empty();
    let mut queue: Vec<usize> =
        (0..candidates.len()).filter(|at| imports(&candidates[*at]) && is_on(&candidates[*at])).collect();
    if queue.is_empty() {
        return;
    }
    let mut by_path: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        by_path.entry(&candidate.verdict.rule.origin.path).or_default().push(at);
    }
    let mut seen: HashSet<usize> = queue.iter().copied().collect();
    while let Some(at) = queue.pop() {
        let importer = candidates[at].verdict.rule;
        let imported =
            importer.imports.iter().filter_map(|import| by_path.get(import.path.as_str())).flatten();
        for at in imported.filter(|at| seen.insert(**at)) {
            let Candidate { verdict, unmet } = &mut candidates[*at];
            if verdict.rule.stream.is_some() || matches!(verdict.state, State::Disabled(_)) {
                continue;
            }
            if matches!(verdict.state, State::Inactive(_) | State::Offered) && !verdict.rule.body.is_empty() {
                let matched = vec![importer.origin.display.clone()];
                verdict.because = vec![Reason::new("import", matched)];
                verdict.state = State::Stack;
                *unmet = None;
            }
            queue.push(*at);
        }
    }
}

/// Applies `enabled: false` of nested folders, which switches off the rules of that id and format there.
fn switch_off_nested(candidates: &mut [Candidate<'_>], is_here: impl Fn(&Rule) -> bool) {
    let mut switched_off: HashMap<(&str, FormatId), &Rule> = HashMap::new();
    for Candidate { verdict, .. } in candidates {
        let Verdict { rule, state, .. } = verdict;
        if let Some(other) = switched_off.get(&(rule.id.as_str(), rule.origin.format.id))
            && !matches!(state, State::Disabled(_))
            && !rule.is_mandatory
        {
            *state = State::Disabled(other.switched_off_here());
        }
        if !rule.enabled && !rule.origin.folder.is_empty() && is_here(rule) {
            switched_off.entry((&rule.id, rule.origin.format.id)).or_insert(rule);
        }
    }
}

#[cfg(test)]
mod tests;
