//! Searches texts for the conditions of all rules, within their scopes.

use std::collections::BTreeSet;

use super::automaton::{Automaton, Matched, Position};
use super::conditions::{Conditions, WatchedCondition};
use super::fallback::{Fallback, FallbackPattern, Outcome, Window};
use super::file::File;
use super::hit::Hit;
use super::pattern::{Engine, MAX_WHOLE, Pattern};
use super::scope::{Covers, OutputPart, StreamScope};
use super::trigger::StreamRule;
use crate::evidence::Roots;

/// The conditions, and the engines that find them.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) conditions: Conditions,
    /// The condition of each pattern of the automaton and of the fallback.
    linear: Vec<usize>,
    bounded: Vec<usize>,
    automaton: Automaton,
    fallback: Fallback,
    pub(super) roots: Roots,
    pub(super) watches_wire: bool,
    /// Rule and condition of the patterns that could not be compiled.
    pub(super) left_out: Vec<(String, String)>,
    /// Conditions for which a search took too many steps.
    gave_up: BTreeSet<usize>,
}

/// A text being watched.
#[derive(Debug)]
pub(super) struct Channel {
    at: Position,
    window: Window,
    /// The conditions that have matched.
    pub(super) met: Vec<bool>,
}

/// The maximum number of conditions with look-around: each is searched separately.
const MAX_OTHERS: usize = 500;

impl Watch {
    pub(super) fn new<'r>(rules: impl IntoIterator<Item = StreamRule<'r>>, roots: Roots) -> Watch {
        let (mut watched, mut linear, mut bounded) = (Vec::new(), Vec::new(), Vec::new());
        let (mut others, mut left_out) = (Vec::new(), Vec::new());
        // Mandatory rules come first, so that others cannot use up their limits.
        let mut rules: Vec<StreamRule<'r>> = rules.into_iter().collect();
        rules.sort_by_key(|rule| !rule.is_mandatory);
        let (mut mandatory, mut mandatory_others) = (0, 0);
        for rule in rules {
            let trigger = rule.trigger;
            for pattern in &trigger.conditions {
                match pattern.engine {
                    Engine::Automaton => {
                        linear.push((watched.len(), pattern));
                        mandatory += usize::from(rule.is_mandatory);
                    }
                    Engine::Fallback => {
                        let search =
                            FallbackPattern::new(&pattern.regex).ok().filter(|_| others.len() < MAX_OTHERS);
                        let Some(search) = search else {
                            left_out.push((rule.name.to_owned(), pattern.written.clone()));
                            continue;
                        };
                        bounded.push(watched.len());
                        others.push(search);
                        mandatory_others += usize::from(rule.is_mandatory);
                    }
                }
                watched.push(WatchedCondition {
                    rule: rule.name.to_owned(),
                    source: rule.source.to_owned(),
                    written: pattern.written.clone(),
                    scope: match &pattern.scope {
                        Some(scope) => vec![scope.clone()],
                        None => trigger.scopes().into_owned(),
                    },
                    gate: trigger.gate.clone(),
                });
            }
        }
        let is_wire = |scope: &StreamScope| matches!(scope, StreamScope::Wire(_));
        let automaton = compile(&mut linear, mandatory, |condition: usize| {
            let WatchedCondition { rule, written, .. } = &watched[condition];
            left_out.push((rule.clone(), written.clone()));
        });
        Watch {
            linear: linear.into_iter().map(|(condition, _)| condition).collect(),
            bounded,
            automaton,
            fallback: Fallback::new(others, mandatory_others),
            roots,
            watches_wire: watched.iter().flat_map(|condition| &condition.scope).any(is_wire),
            conditions: Conditions(watched),
            left_out,
            gave_up: BTreeSet::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.conditions.0.is_empty()
    }

    /// Rule and condition of the patterns that exceeded a limit.
    pub(super) fn gave_up(&self) -> impl Iterator<Item = (&str, &str)> {
        let dropped = self.automaton.dropped().map(|pattern| self.linear[pattern]);
        let watched = self.gave_up.iter().copied().chain(dropped).filter_map(|at| self.conditions.0.get(at));
        watched.map(|watched| (watched.rule.as_str(), watched.written.as_str()))
    }

    /// Starts a text. `met` are the conditions that are reported already.
    pub(super) fn channel(&mut self, met: Option<Vec<bool>>) -> Channel {
        let met = met.unwrap_or_else(|| vec![false; self.conditions.0.len()]);
        Channel { at: self.automaton.start(), window: self.fallback.start(), met }
    }

    /// The offset below which no future match can start.
    pub(super) fn settled(&mut self, channel: &mut Channel) -> usize {
        let settled = self.automaton.settled(&mut channel.at);
        if self.bounded.is_empty() { settled } else { settled.min(channel.window.settled()) }
    }

    /// Continues with prose, which no file restricts.
    pub(super) fn prose(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        part: OutputPart<'_>,
        hits: &mut Vec<Hit>,
    ) {
        self.watch(channel, bytes, &part, None, &mut |_, _, _, hit| hits.push(hit));
    }

    /// Continues a text, or ends it if there are no bytes. Reports each condition once.
    pub(super) fn watch(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        part: &OutputPart<'_>,
        file: Option<&File>,
        found: &mut dyn FnMut(&Conditions, usize, Covers, Hit),
    ) {
        let mut rest = bytes.unwrap_or_default();
        loop {
            let Watch { automaton, .. } = self;
            let at = &mut channel.at;
            let matched = if bytes.is_some() { automaton.feed(at, &mut rest) } else { automaton.finish(at) };
            let Some(matched) = matched else { break };
            self.report(channel, &matched, part, file, found);
            if rest.is_empty() {
                break;
            }
        }
        if !self.bounded.is_empty() {
            self.search_fallback(channel, bytes, part, file, found);
        }
    }

    /// Reports the conditions that matched at one position.
    #[cold]
    fn report(
        &mut self,
        channel: &mut Channel,
        matched: &Matched,
        part: &OutputPart<'_>,
        file: Option<&File>,
        found: &mut dyn FnMut(&Conditions, usize, Covers, Hit),
    ) {
        let Watch { automaton, conditions, linear, .. } = self;
        let Channel { at, met, .. } = channel;
        for nth in 0.. {
            let Some(pattern) = automaton.pattern(at, matched, nth) else { break };
            let condition = linear[pattern];
            if let Some(covers) = conditions.first(condition, met, part, file) {
                let spot = automaton.locate(at, pattern, matched.end);
                found(conditions, condition, covers, conditions.hit(condition, *part, file, &spot));
            }
        }
    }

    /// Searches for the conditions that the automaton cannot find.
    fn search_fallback(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        part: &OutputPart<'_>,
        file: Option<&File>,
        found: &mut dyn FnMut(&Conditions, usize, Covers, Hit),
    ) {
        let Watch { fallback, conditions, bounded, gave_up, .. } = self;
        let Channel { window, met, .. } = channel;
        fallback.watch(window, bytes, |pattern, outcome| {
            let condition = bounded[pattern];
            match outcome {
                Outcome::GaveUp => drop(gave_up.insert(condition)),
                Outcome::Match(spot) => {
                    if let Some(covers) = conditions.first(condition, met, part, file) {
                        found(conditions, condition, covers, conditions.hit(condition, *part, file, &spot));
                    }
                }
            }
        });
    }
}

/// Compiles the patterns of conditions. Those that do not compile or are too large are removed and passed to `leave_out`:
/// one pattern must not disable the others.
fn compile(
    conditions: &mut Vec<(usize, &Pattern)>,
    mut mandatory: usize,
    mut leave_out: impl FnMut(usize),
) -> Automaton {
    loop {
        let patterns: Vec<&Pattern> = conditions.iter().map(|(_, pattern)| *pattern).collect();
        let is_light = patterns.iter().map(|pattern| pattern.weight).sum::<usize>() <= MAX_WHOLE;
        let built = if is_light { Automaton::new(&patterns, mandatory) } else { None };
        if let Some(automaton) = built {
            return automaton;
        }
        let fails = |at: &usize| is_light && Automaton::new(&patterns[*at..=*at], 0).is_none();
        let mut culprits: Vec<usize> = (0..patterns.len()).filter(fails).collect();
        if culprits.is_empty() {
            // The heaviest one, and a mandatory one only if there are no others. Mandatory patterns come first.
            let weight = |at: &usize| (*at >= mandatory, patterns[*at].weight);
            culprits.push((0..patterns.len()).max_by_key(weight).expect("without patterns it compiles"));
        }
        for at in culprits.into_iter().rev() {
            mandatory -= usize::from(at < mandatory);
            leave_out(conditions.remove(at).0);
        }
    }
}
