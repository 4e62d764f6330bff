//! Watching: the conditions of all rules over one text at a time, with the scopes and gates that let a match through.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::automaton::{Automaton, Matched, Position};
use super::fallback::{Fallback, Seen, Window};
use super::gates::File;
use super::monitor::Hit;
use super::pattern::{Engine, MAX_WHOLE, Pattern};
use super::scope::{self, Covers, OutputPart, StreamScope};
use super::trigger::StreamRule;
use crate::condition::Paths;
use crate::evidence::Roots;

/// The conditions, and what finds them.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) conditions: Conditions,
    /// Which condition is each pattern of the automaton, and of the fallback.
    linear: Vec<usize>,
    bounded: Vec<usize>,
    automaton: Automaton,
    fallback: Fallback,
    pub(super) roots: Roots,
    pub(super) watches_wire: bool,
    /// Rule and condition that no automaton could be made of.
    pub(super) left_out: Vec<(String, String)>,
    /// Conditions of which some look took too many steps.
    gave_up: BTreeSet<usize>,
}

/// The conditions of all rules.
#[derive(Debug, Default)]
pub(super) struct Conditions(Vec<Watched>);

/// One condition of one rule.
#[derive(Debug)]
struct Watched {
    rule: String,
    written: String,
    scope: Vec<StreamScope>,
    /// Files a tool call must be about, where the rule says so.
    gate: Option<Arc<Paths>>,
}

/// A text being watched.
#[derive(Debug)]
pub(super) struct Channel {
    at: Position,
    window: Window,
    /// Which conditions were met.
    pub(super) met: Vec<bool>,
}

/// More conditions with look-around than this are not watched for: each is looked at by itself.
const MAX_OTHERS: usize = 500;

/// How much text around a match is shown, on either side.
pub(super) const AROUND: usize = 120;

impl Watch {
    pub(super) fn new<'r>(
        rules: impl IntoIterator<Item = StreamRule<'r>>,
        roots: Roots,
    ) -> Result<Watch, String> {
        let (mut watched, mut linear, mut bounded) = (Vec::new(), Vec::new(), Vec::new());
        let (mut patterns, mut others) = (Vec::new(), Vec::new());
        let mut left_out = Vec::new();
        // Those that nobody may switch off come first, and others cannot take their room.
        let mut rules: Vec<StreamRule<'r>> = rules.into_iter().collect();
        rules.sort_by_key(|rule| !rule.is_mandatory);
        let (mut held, mut held_others) = (0, 0);
        for rule in rules {
            let trigger = rule.trigger;
            for pattern in &trigger.conditions {
                match pattern.engine {
                    Engine::Automaton => {
                        linear.push(watched.len());
                        patterns.push(pattern);
                        held += usize::from(rule.is_mandatory);
                    }
                    Engine::Fallback if others.len() >= MAX_OTHERS => {
                        left_out.push((rule.name.to_owned(), pattern.written.clone()));
                        continue;
                    }
                    Engine::Fallback => {
                        bounded.push(watched.len());
                        others.push(pattern.regex.clone());
                        held_others += usize::from(rule.is_mandatory);
                    }
                }
                watched.push(Watched {
                    rule: rule.name.to_owned(),
                    written: pattern.written.clone(),
                    scope: match &pattern.scope {
                        Some(scope) => vec![scope.clone()],
                        None if trigger.scope.is_empty() => scope::default(),
                        None => trigger.scope.clone(),
                    },
                    gate: trigger.gate.clone(),
                });
            }
        }
        let watches_wire =
            watched.iter().flat_map(|w| &w.scope).any(|scope| matches!(scope, StreamScope::Wire(_)));
        let fallback = Fallback::new(&others, held_others)?;
        let automaton = loop {
            let weight: usize = patterns.iter().map(|pattern| pattern.weight).sum();
            let is_light = weight <= MAX_WHOLE;
            let built = if is_light { Automaton::new(&patterns, held) } else { Err(String::new()) };
            let error = match built {
                Ok(automaton) => break automaton,
                Err(error) => error,
            };
            // One pattern must not disarm the others.
            let mut culprits = if is_light { unbuilt(&patterns) } else { Vec::new() };
            if culprits.is_empty() {
                culprits.push(heaviest(&patterns, held).ok_or(error)?);
            }
            for at in culprits.into_iter().rev() {
                held -= usize::from(at < held);
                patterns.remove(at);
                let Watched { rule, written, .. } = &watched[linear.remove(at)];
                left_out.push((rule.clone(), written.clone()));
            }
        };
        let conditions = Conditions(watched);
        let gave_up = BTreeSet::new();
        Ok(Watch { conditions, linear, bounded, automaton, fallback, roots, watches_wire, left_out, gave_up })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.conditions.0.is_empty()
    }

    /// Rule and condition of which some look was given up.
    pub(super) fn gave_up(&self) -> impl Iterator<Item = (&str, &str)> {
        let dropped = self.automaton.dropped().map(|pattern| self.linear[pattern]);
        let watched = self.gave_up.iter().copied().chain(dropped).filter_map(|at| self.conditions.0.get(at));
        watched.map(|watched| (watched.rule.as_str(), watched.written.as_str()))
    }

    /// A text that begins, and which conditions it need not tell of.
    pub(super) fn channel(&mut self, met: Option<Vec<bool>>) -> Channel {
        let met = met.unwrap_or_else(|| vec![false; self.conditions.0.len()]);
        Channel { at: self.automaton.start(), window: self.fallback.start(), met }
    }

    /// Below which offset of a text nothing can be part of a match that is still to be told.
    pub(super) fn settled(&mut self, channel: &mut Channel) -> usize {
        let settled = self.automaton.settled(&mut channel.at);
        if self.bounded.is_empty() { settled } else { settled.min(channel.window.settled()) }
    }

    /// Goes on over prose, which no file gates.
    pub(super) fn prose(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        origin: OutputPart<'_>,
        hits: &mut Vec<Hit>,
    ) {
        self.watch(channel, bytes, &origin, None, &mut |_, _, _, hit| hits.push(hit));
    }

    /// Goes on over a text, or ends it where there are no bytes. Tells of each condition once.
    pub(super) fn watch(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        origin: &OutputPart<'_>,
        file: Option<&File>,
        found: &mut dyn FnMut(&Conditions, usize, Covers, Hit),
    ) {
        let mut rest = bytes.unwrap_or_default();
        loop {
            let Watch { automaton, .. } = self;
            let at = &mut channel.at;
            let matched = if bytes.is_some() { automaton.feed(at, &mut rest) } else { automaton.finish(at) };
            let Some(matched) = matched else { break };
            self.tell(channel, &matched, origin, file, found);
            if rest.is_empty() {
                break;
            }
        }
        if !self.bounded.is_empty() {
            self.look(channel, bytes, origin, file, found);
        }
    }

    /// Tells of the conditions that matched at one place.
    #[cold]
    fn tell(
        &mut self,
        channel: &mut Channel,
        matched: &Matched,
        origin: &OutputPart<'_>,
        file: Option<&File>,
        found: &mut dyn FnMut(&Conditions, usize, Covers, Hit),
    ) {
        let Watch { automaton, conditions, linear, .. } = self;
        let Channel { at, met, .. } = channel;
        for nth in 0.. {
            let Some(pattern) = automaton.pattern(at, matched, nth) else { break };
            let condition = linear[pattern];
            if let Some(covers) = conditions.first(condition, met, origin, file) {
                let spot = automaton.locate(at, pattern, matched.end);
                found(conditions, condition, covers, hit(&conditions.0[condition], *origin, file, &spot));
            }
        }
    }

    /// Looks for the conditions that the automaton cannot find.
    fn look(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        origin: &OutputPart<'_>,
        file: Option<&File>,
        found: &mut dyn FnMut(&Conditions, usize, Covers, Hit),
    ) {
        let Watch { fallback, conditions, bounded, gave_up, .. } = self;
        let Channel { window, met, .. } = channel;
        fallback.watch(window, bytes, |pattern, seen| {
            let condition = bounded[pattern];
            match seen {
                Seen::GaveUp => drop(gave_up.insert(condition)),
                Seen::Match(spot) => {
                    if let Some(covers) = conditions.first(condition, met, origin, file) {
                        found(
                            conditions,
                            condition,
                            covers,
                            hit(&conditions.0[condition], *origin, file, &spot),
                        );
                    }
                }
            }
        });
    }
}

impl Conditions {
    /// How a condition covers a piece of output, the first time that it does.
    fn first(
        &self,
        condition: usize,
        met: &mut [bool],
        origin: &OutputPart<'_>,
        file: Option<&File>,
    ) -> Option<Covers> {
        let is_met = &mut met[condition];
        let covers = if *is_met { Covers::No } else { self.covers(condition, *origin, file) };
        *is_met |= covers != Covers::No;
        (covers != Covers::No).then_some(covers)
    }

    /// Whether a condition covers a piece of output, which is for this file.
    pub(super) fn covers(&self, condition: usize, origin: OutputPart<'_>, file: Option<&File>) -> Covers {
        let Some(Watched { scope, gate, .. }) = self.0.get(condition) else { return Covers::No };
        let best = scope.iter().map(|scope| scope.covers(origin, file.map(|file| file.path.as_str()))).max();
        let is_prose = matches!(origin, OutputPart::Text | OutputPart::Thinking);
        let is_open = is_prose
            || gate.as_ref().is_none_or(|gate| file.is_some_and(|file| gate.is_match(file.root, &file.path)));
        match best.unwrap_or(Covers::No) {
            Covers::Yes if !is_open => Covers::IfFile,
            other => other,
        }
    }
}

/// Those that cannot be built even alone.
fn unbuilt(patterns: &[&Pattern]) -> Vec<usize> {
    (0..patterns.len()).filter(|at| Automaton::new(&patterns[*at..=*at], 0).is_err()).collect()
}

/// The heaviest pattern; of the first so many only if there are no others.
fn heaviest(patterns: &[&Pattern], held: usize) -> Option<usize> {
    (0..patterns.len()).max_by_key(|at| (*at >= held, patterns[*at].weight))
}

/// A match as it stood.
pub(super) struct Spot<'t> {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: usize,
    pub(super) text: &'t [u8],
    /// Some text around it, and how much of that stands before it.
    pub(super) around: &'t [u8],
    pub(super) lead: usize,
}

fn hit(watched: &Watched, origin: OutputPart<'_>, file: Option<&File>, spot: &Spot<'_>) -> Hit {
    let (scope, tool, field) = match origin {
        OutputPart::Text => ("text", None, None),
        OutputPart::Thinking => ("thinking", None, None),
        OutputPart::Field { tool, field } => ("tool", Some(tool), Some(field)),
        OutputPart::Wire { tool } => ("wire", Some(tool), None),
    };
    let text = String::from_utf8_lossy(spot.text);
    let lead = spot.lead.min(spot.around.len());
    let line_start = spot.around[..lead].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line_end =
        spot.around[lead..].iter().position(|byte| *byte == b'\n').map_or(spot.around.len(), |at| lead + at);
    Hit {
        rule: watched.rule.clone(),
        condition: watched.written.clone(),
        scope,
        tool: tool.map(str::to_owned),
        field: field.map(str::to_owned),
        file: file.map(|file| file.path.clone()),
        start: spot.start,
        end: spot.end,
        line: spot.line,
        text: text[..text.floor_char_boundary(200)].to_owned(),
        excerpt: String::from_utf8_lossy(&spot.around[line_start..line_end])
            .trim_end_matches('\r')
            .to_owned(),
        lead: String::from_utf8_lossy(&spot.around[line_start..lead.max(line_start)]).len(),
    }
}
