//! Searches texts for the conditions of all rules, within their scopes.

use std::collections::{BTreeMap, BTreeSet};

use super::automaton::{Automaton, Matched, Matches, Position};
use super::conditions::{Conditions, WatchedCondition};
use super::fallback::{Fallback, FallbackPattern, Outcome, Window};
use super::file::File;
use super::hit::Hit;
use super::pattern::{Engine, MAX_WHOLE, Pattern, guard};
use super::scope::{Covers, OutputPart, StreamScope};
use super::text_kind::{TEXT_KINDS, TextKind};
use super::trigger::StreamRule;
use crate::evidence::Roots;
use crate::occurrences;

/// The conditions, and the engines that find them.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) conditions: Conditions,
    /// The condition of each pattern of the fallback.
    bounded: Vec<usize>,
    /// What the automaton searches for, and which of these searches each kind of text has.
    searches: Vec<LinearSearch>,
    search_of: [usize; TEXT_KINDS.len()],
    fallback: Fallback,
    pub(super) roots: Roots,
    pub(super) watches_wire: bool,
    /// Rule and condition of the patterns that could not be compiled.
    pub(super) left_out: Vec<(String, String)>,
    /// Conditions for which a search took too many steps.
    gave_up: BTreeSet<usize>,
    /// Compares texts, for the conditions for which that was necessary.
    matches: BTreeMap<usize, Option<Matches>>,
}

/// An automaton, and the target of each of its patterns.
#[derive(Debug)]
struct LinearSearch {
    targets: Vec<Target>,
    automaton: Automaton,
}

/// What a pattern of the automaton finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// A match of this condition.
    Condition(usize),
    /// A possible match of this condition, which the fallback decides.
    Guard(usize),
}

/// A text being watched.
#[derive(Debug)]
pub(super) struct Channel {
    /// The index of its search.
    search: usize,
    at: Position,
    window: Window,
    /// Where a possible match starts that the fallback has not decided yet.
    possible: Option<usize>,
    /// The conditions that have matched.
    pub(super) met: Vec<bool>,
}

/// The maximum number of conditions with look-around: each is searched separately.
const MAX_OTHERS: usize = 500;

impl Watch {
    pub(super) fn new<'r>(rules: impl IntoIterator<Item = StreamRule<'r>>, roots: Roots) -> Watch {
        let (mut watched, mut linear, mut bounded) = (Vec::new(), Vec::new(), Vec::new());
        let (mut others, mut left_out, mut guards) = (Vec::new(), Vec::new(), Vec::new());
        // Mandatory rules come first, so that others cannot use up their limits.
        let mut rules: Vec<StreamRule<'r>> = rules.into_iter().collect();
        rules.sort_by_key(|rule| !rule.is_mandatory);
        let (mut mandatory, mut mandatory_others) = (BTreeSet::new(), 0);
        for rule in rules {
            let trigger = rule.trigger;
            for pattern in &trigger.conditions {
                match pattern.engine {
                    Engine::Automaton => {
                        linear.push((Target::Condition(watched.len()), pattern));
                        mandatory.extend(rule.is_mandatory.then_some(watched.len()));
                    }
                    Engine::Fallback => {
                        let search =
                            FallbackPattern::new(&pattern.regex).ok().filter(|_| others.len() < MAX_OTHERS);
                        let Some(search) = search else {
                            left_out.push((rule.name.to_owned(), pattern.written.clone()));
                            continue;
                        };
                        guards.extend(guard(&pattern.written).map(|guard| (watched.len(), guard)));
                        bounded.push(watched.len());
                        others.push(search);
                        mandatory_others += usize::from(rule.is_mandatory);
                    }
                }
                watched.push(WatchedCondition {
                    rule: rule.name.to_owned(),
                    source: rule.source.to_owned(),
                    written: pattern.written.clone(),
                    regex: pattern.regex.clone(),
                    engine: pattern.engine,
                    scope: match &pattern.scope {
                        Some(scope) => vec![scope.clone()],
                        None => trigger.scopes().into_owned(),
                    },
                    gate: trigger.gate.clone(),
                    other_roots: rule.other_roots.to_vec(),
                });
            }
        }
        let is_wire = |scope: &StreamScope| matches!(scope, StreamScope::Wire(_));
        linear.extend(guards.iter().map(|(condition, guard)| (Target::Guard(*condition), guard)));
        let mut searches: Vec<LinearSearch> = Vec::new();
        let mut wanted: Vec<Vec<Target>> = Vec::new();
        let search_of = TEXT_KINDS.map(|kind| {
            // Only prose is held back.
            let is_searched = |target: Target| match target {
                Target::Condition(condition) => kind.is_in(&watched[condition].scope),
                Target::Guard(condition) => kind != TextKind::Call && kind.is_in(&watched[condition].scope),
            };
            let mut linear: Vec<_> =
                linear.iter().filter(|(target, _)| is_searched(*target)).copied().collect();
            let targets: Vec<Target> = linear.iter().map(|(target, _)| *target).collect();
            if let Some(known) = wanted.iter().position(|known| *known == targets) {
                return known;
            }
            let is_mandatory = |target: &&Target| {
                matches!(target, Target::Condition(condition) if mandatory.contains(condition))
            };
            let mandatory = targets.iter().filter(is_mandatory).count();
            wanted.push(targets);
            let automaton = compile(&mut linear, mandatory, |target: Target| {
                if let Target::Condition(condition) = target {
                    let WatchedCondition { rule, written, .. }: &WatchedCondition = &watched[condition];
                    let omitted = (rule.clone(), written.clone());
                    left_out.extend((!left_out.contains(&omitted)).then_some(omitted));
                }
            });
            let targets = linear.into_iter().map(|(target, _)| target).collect();
            searches.push(LinearSearch { targets, automaton });
            searches.len() - 1
        });
        Watch {
            bounded,
            searches,
            search_of,
            fallback: Fallback::new(others, mandatory_others),
            roots,
            watches_wire: watched.iter().flat_map(|condition| &condition.scope).any(is_wire),
            conditions: Conditions(watched),
            left_out,
            gave_up: BTreeSet::new(),
            matches: BTreeMap::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.conditions.0.is_empty()
    }

    /// Rule and condition of the patterns that exceeded a limit.
    pub(super) fn gave_up(&self) -> impl Iterator<Item = (&str, &str)> {
        let dropped = self.searches.iter().flat_map(|LinearSearch { targets, automaton }| {
            automaton.dropped().filter_map(|pattern| match targets[pattern] {
                Target::Condition(condition) => Some(condition),
                Target::Guard(_) => None,
            })
        });
        let all: BTreeSet<usize> = self.gave_up.iter().copied().chain(dropped).collect();
        let watched = all.into_iter().filter_map(|at| self.conditions.0.get(at));
        watched.map(|watched| (watched.rule.as_str(), watched.written.as_str()))
    }

    /// Starts a text. `met` are the conditions that are reported already.
    pub(super) fn channel(&mut self, part: &OutputPart<'_>, met: Option<Vec<bool>>) -> Channel {
        let met = met.unwrap_or_else(|| vec![false; self.conditions.0.len()]);
        let kind = TextKind::of(part);
        let search = TEXT_KINDS.iter().position(|known| *known == kind).map_or(0, |at| self.search_of[at]);
        let at = self.searches[search].automaton.start();
        Channel { search, at, window: self.fallback.start(), possible: None, met }
    }

    /// Whether a text of a match of a condition occurs more often after a change than before it. If that is not known, it does.
    pub(super) fn adds(&mut self, condition: usize, before: &str, after: &str) -> bool {
        let Some(watched) = self.conditions.0.get(condition) else { return true };
        let both = match watched.engine {
            Engine::Automaton => {
                let matches = self.matches.entry(condition).or_insert_with(|| Matches::new(&watched.regex));
                matches.as_mut().map(|matches| (matches.of(before), matches.of(after)))
            }
            Engine::Fallback => {
                self.bounded.iter().position(|bounded| *bounded == condition).and_then(|at| {
                    let matches = |text| self.fallback.matches(at, text);
                    Some((matches(before)?, matches(after)?))
                })
            }
        };
        both.is_none_or(|(before, after)| !occurrences::added(before, after, |text| *text).is_empty())
    }

    /// The offset of prose below which no future match can start.
    pub(super) fn settled(&mut self, channel: &mut Channel, part: OutputPart<'_>) -> usize {
        let settled = self.searches[channel.search].automaton.settled(&mut channel.at);
        let mut reaching = self.bounded.iter().filter(|condition| {
            !channel.met[**condition] && self.conditions.covers(**condition, part, None) != Covers::No
        });
        if self.bounded.is_empty() || reaching.clone().next().is_none() {
            return settled;
        }
        if reaching.any(|condition| !self.searches[channel.search].is_guarded(*condition)) {
            return settled.min(channel.window.settled());
        }
        let undecided = channel.window.undecided().unwrap_or(usize::MAX);
        settled.min(undecided).min(channel.possible.unwrap_or(usize::MAX))
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
        if self.bounded.is_empty() {
            return self.search_automaton(channel, bytes, part, file, found);
        }
        // The fallback decides about possible matches where it searches, and not where a chunk ends.
        let mut rest = bytes;
        loop {
            let piece = rest.map(|rest| &rest[..channel.window.next_search(rest)]);
            self.search_automaton(channel, piece, part, file, found);
            self.search_fallback(channel, piece, part, file, found);
            if channel.window.has_just_searched() {
                channel.possible = None;
            }
            rest = rest.map(|rest| &rest[piece.map_or(0, <[u8]>::len)..]);
            if rest.is_none_or(<[u8]>::is_empty) {
                break;
            }
        }
    }

    /// Searches for the conditions that the automaton finds.
    fn search_automaton(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        part: &OutputPart<'_>,
        file: Option<&File>,
        found: &mut dyn FnMut(&Conditions, usize, Covers, Hit),
    ) {
        let mut rest = bytes.unwrap_or_default();
        loop {
            let automaton = &mut self.searches[channel.search].automaton;
            let at = &mut channel.at;
            let matched = if bytes.is_some() { automaton.feed(at, &mut rest) } else { automaton.finish(at) };
            let Some(matched) = matched else { break };
            self.report(channel, &matched, part, file, found);
            if rest.is_empty() {
                break;
            }
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
        let Watch { searches, conditions, .. } = self;
        let Channel { search, at, met, possible, .. } = channel;
        let LinearSearch { targets, automaton } = &mut searches[*search];
        let mut guards = Vec::new();
        for nth in 0.. {
            let Some(pattern) = automaton.pattern(at, matched, nth) else { break };
            let condition = match targets[pattern] {
                Target::Condition(condition) => condition,
                Target::Guard(condition) => {
                    guards.extend((!met[condition] && possible.is_none()).then_some(pattern));
                    continue;
                }
            };
            if let Some(covers) = conditions.first(condition, met, part, file) {
                let spot = automaton.locate(at, pattern, matched.end);
                found(conditions, condition, covers, conditions.hit(condition, *part, file, &spot));
            }
        }
        if !guards.is_empty() {
            let start = guards.into_iter().map(|guard| automaton.locate(at, guard, matched.end).start).min();
            // A match that is reported later may have started earlier.
            *possible = start.map(|start| start.min(automaton.settled(at)));
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

impl LinearSearch {
    /// Whether the automaton follows the possible matches of a condition of the fallback.
    fn is_guarded(&self, condition: usize) -> bool {
        let guard = self.targets.iter().position(|target| *target == Target::Guard(condition));
        guard.is_some_and(|guard| !self.automaton.dropped().any(|dropped| dropped == guard))
    }
}

/// Compiles the patterns of conditions. Those that do not compile or are too large are removed and passed to `leave_out`:
/// one pattern must not disable the others.
fn compile(
    conditions: &mut Vec<(Target, &Pattern)>,
    mut mandatory: usize,
    mut leave_out: impl FnMut(Target),
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
