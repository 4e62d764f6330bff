//! Watching: the conditions of all rules over one text at a time, with the scopes and gates that let a match through.

use super::automaton::{Automaton, Position};
use super::fallback::{Fallback, Window};
use super::monitor::Hit;
use super::pattern::Engine;
use super::scope::{self, Covers, Origin, Scope};
use crate::evidence::Roots;
use crate::glob::{Dialect, Glob};
use crate::rule::Rule;

/// The conditions, and what finds them.
#[derive(Debug)]
pub(super) struct Watch {
    watched: Vec<Watched>,
    /// Position in `watched` of each pattern of the automaton, and of the fallback.
    linear: Vec<usize>,
    bounded: Vec<usize>,
    automaton: Automaton,
    fallback: Fallback,
    pub(super) roots: Roots,
    pub(super) watches_wire: bool,
    /// Rule and condition that no automaton could be made of.
    pub(super) left_out: Vec<(String, String)>,
}

/// One condition of one rule.
#[derive(Debug)]
struct Watched {
    rule: String,
    written: String,
    scope: Vec<Scope>,
    /// Files a tool call must be about, where the rule says so.
    gate: Vec<Glob>,
}

/// A text being watched.
#[derive(Debug)]
pub(super) struct Channel {
    at: Position,
    window: Window,
    /// Which conditions were met.
    fired: Vec<bool>,
}

/// A hit, the condition it is of, and whether it may be told.
pub(super) type Found = (usize, Covers, Hit);

/// How much text around a match is shown, on either side.
pub(super) const AROUND: usize = 120;

impl Watch {
    pub(super) fn new<'r>(rules: impl IntoIterator<Item = &'r Rule>, roots: Roots) -> Result<Watch, String> {
        let (mut watched, mut linear, mut bounded) = (Vec::new(), Vec::new(), Vec::new());
        let (mut patterns, mut others) = (Vec::new(), Vec::new());
        for rule in rules {
            let Some(trigger) = &rule.stream else { continue };
            for pattern in &trigger.conditions {
                let (places, regexes) = match pattern.engine {
                    Engine::Automaton => (&mut linear, &mut patterns),
                    Engine::Fallback => (&mut bounded, &mut others),
                };
                places.push(watched.len());
                regexes.push(pattern.regex.clone());
                let gate = rule.globs.iter().filter_map(|glob| Glob::new(glob, Dialect::Picomatch).ok());
                watched.push(Watched {
                    rule: rule.name.clone(),
                    written: pattern.written.clone(),
                    scope: match &pattern.scope {
                        Some(scope) => vec![scope.clone()],
                        None if trigger.scope.is_empty() => scope::default(),
                        None => trigger.scope.clone(),
                    },
                    gate: gate.collect(),
                });
            }
        }
        let watches_wire = watched.iter().flat_map(|w| &w.scope).any(|scope| matches!(scope, Scope::Wire(_)));
        let (mut linear, mut patterns) = (linear, patterns);
        let mut left_out = Vec::new();
        let automaton = match Automaton::new(patterns.clone()) {
            Ok(automaton) => automaton,
            // One pattern must not disarm the others.
            Err(_) => {
                let fine: Vec<bool> =
                    patterns.iter().map(|regex| Automaton::new(vec![regex.clone()]).is_ok()).collect();
                let mut keep = fine.iter();
                left_out.extend(linear.iter().zip(&fine).filter(|(_, fine)| !**fine).map(|(at, _)| *at));
                linear.retain(|_| *keep.next().unwrap_or(&false));
                let mut keep = fine.iter();
                patterns.retain(|_| *keep.next().unwrap_or(&false));
                Automaton::new(patterns)?
            }
        };
        let fallback = Fallback::new(&others)?;
        let left_out = left_out
            .into_iter()
            .map(|at: usize| (watched[at].rule.clone(), watched[at].written.clone()))
            .collect();
        Ok(Watch { watched, linear, bounded, automaton, fallback, roots, watches_wire, left_out })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    pub(super) fn channel(&mut self) -> Channel {
        let fired = vec![false; self.watched.len()];
        Channel { at: self.automaton.start(), window: self.fallback.start(), fired }
    }

    /// Goes on over prose, which no file gates.
    pub(super) fn prose(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        origin: Origin<'_>,
        hits: &mut Vec<Hit>,
    ) {
        self.watch(channel, bytes, origin, None, &[], &mut |(_, _, hit)| hits.push(hit));
    }

    /// Goes on over a text, or ends it where there are no bytes.
    pub(super) fn watch(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        origin: Origin<'_>,
        file: Option<&str>,
        files: &[String],
        found: &mut dyn FnMut(Found),
    ) {
        let Watch { automaton, fallback, watched, linear, bounded, .. } = self;
        let Channel { at, window, fired } = channel;
        let mut take = |automaton: &mut Automaton, at: &Position, pattern: usize, end: usize| {
            let condition = linear[pattern];
            let covered =
                if fired[condition] { Covers::No } else { covers(&watched[condition], origin, files) };
            if covered == Covers::No {
                return;
            }
            fired[condition] = true;
            let spot = automaton.locate(at, pattern, end);
            found((condition, covered, hit(&watched[condition], origin, file, &spot)));
        };
        match bytes {
            Some(bytes) => automaton.feed(at, bytes, &mut take),
            None => automaton.finish(at, &mut take),
        }
        if bounded.is_empty() {
            return;
        }
        fallback.watch(window, bytes, |pattern, spot| {
            let condition = bounded[pattern];
            let covered =
                if fired[condition] { Covers::No } else { covers(&watched[condition], origin, files) };
            if covered != Covers::No {
                fired[condition] = true;
                found((condition, covered, hit(&watched[condition], origin, file, &spot)));
            }
        });
    }

    /// Whether a condition is covered by what is known of a call.
    pub(super) fn covers(&self, condition: usize, origin: Origin<'_>, files: &[String]) -> Covers {
        covers(&self.watched[condition], origin, files)
    }
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

fn covers(watched: &Watched, origin: Origin<'_>, files: &[String]) -> Covers {
    let best =
        watched.scope.iter().map(|scope| scope.covers(origin, files)).max_by_key(|covers| *covers as u8);
    let is_prose = matches!(origin, Origin::Text | Origin::Thinking);
    let is_open = is_prose || watched.gate.is_empty() || files.iter().any(|file| passes(&watched.gate, file));
    match best.unwrap_or(Covers::No) {
        Covers::Yes if !is_open => Covers::IfFile,
        other => other,
    }
}

/// Whether a file matches some glob of a gate and none that excludes; only exclusions let the rest through.
fn passes(gate: &[Glob], file: &String) -> bool {
    let (exclude, include): (Vec<&Glob>, Vec<&Glob>) = gate.iter().partition(|glob| glob.is_negated());
    let is_in =
        include.is_empty() || include.iter().any(|glob| scope::any_file(glob, std::slice::from_ref(file)));
    is_in && !exclude.iter().any(|glob| glob.matches_ignoring_negation(file))
}

fn hit(watched: &Watched, origin: Origin<'_>, file: Option<&str>, spot: &Spot<'_>) -> Hit {
    let (scope, tool, field) = match origin {
        Origin::Text => ("text", None, None),
        Origin::Thinking => ("thinking", None, None),
        Origin::Field { tool, field } => ("tool", Some(tool), Some(field)),
        Origin::Wire { tool } => ("wire", Some(tool), None),
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
        file: file.map(str::to_owned),
        start: spot.start,
        end: spot.end,
        line: spot.line,
        text: text[..text.floor_char_boundary(200)].to_owned(),
        excerpt: String::from_utf8_lossy(&spot.around[line_start..line_end]).into_owned(),
        lead: String::from_utf8_lossy(&spot.around[line_start..lead.max(line_start)]).len(),
    }
}
