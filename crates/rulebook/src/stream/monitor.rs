//! The monitor: deltas of the model's output in, matches of stream rules out, each once nothing can undo it.
//!
//! A stream is one block of one message, or one tool call; streams never mix. A tool call's arguments are decoded, and
//! each field, and each file of a patch, is watched by itself. A condition is told once a stream: it has fired.

use std::collections::HashMap;

use serde::Serialize;

use super::automaton::{Automaton, Position};
use super::call::Call;
use super::fallback::{Fallback, Window};
use super::pattern::Engine;
use super::scope::{self, Covers, Origin, Scope};
use crate::evidence::Roots;
use crate::glob::{Dialect, Glob};
use crate::rule::Rule;

/// Watches streams for the conditions of rules.
#[derive(Debug)]
pub struct Monitor {
    watched: Vec<Watched>,
    /// Position in `watched` of each pattern of the automaton, and of the fallback.
    linear: Vec<usize>,
    bounded: Vec<usize>,
    automaton: Automaton,
    fallback: Fallback,
    pub(super) roots: Roots,
    streams: HashMap<String, Stream>,
    watches_wire: bool,
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

/// What a stream carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What the model says.
    Text,
    /// What it thinks.
    Thinking,
    /// The arguments of a call of this tool, as they come over the wire.
    Tool(String),
}

/// A condition that was met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The rule's name.
    pub rule: String,
    /// The condition as its author wrote it.
    pub condition: String,
    /// `text`, `thinking`, `tool` or `wire`.
    pub scope: &'static str,
    /// The tool called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The field of its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The file the text was for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// First byte of the match, in the decoded text.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The line it starts on, counted from 1.
    pub line: usize,
    /// What matched, cut at 200 bytes.
    pub text: String,
    /// The line it stands on, as far as it is known.
    pub excerpt: String,
}

/// One stream.
#[derive(Debug)]
enum Stream {
    Prose { kind: Kind, channel: Channel },
    Call(Box<Call>),
}

/// A text being watched.
#[derive(Debug)]
pub(super) struct Channel {
    at: Position,
    window: Window,
    /// Which conditions were met.
    fired: Vec<bool>,
}

impl Monitor {
    /// A monitor for the stream rules among these. Roots make the files of tool calls relative.
    pub fn new<'r>(rules: impl IntoIterator<Item = &'r Rule>, roots: Roots) -> Result<Monitor, String> {
        let (mut watched, mut linear, mut bounded) = (Vec::new(), Vec::new(), Vec::new());
        let (mut patterns, mut others) = (Vec::new(), Vec::new());
        for rule in rules {
            let Some(trigger) = &rule.stream else { continue };
            for pattern in &trigger.conditions {
                match pattern.engine {
                    Engine::Automaton => {
                        linear.push(watched.len());
                        patterns.push(pattern.regex.clone());
                    }
                    Engine::Fallback => {
                        bounded.push(watched.len());
                        others.push(pattern.regex.clone());
                    }
                }
                watched.push(Watched {
                    rule: rule.name.clone(),
                    written: pattern.written.clone(),
                    scope: if trigger.scope.is_empty() { scope::default() } else { trigger.scope.clone() },
                    gate: rule
                        .globs
                        .iter()
                        .filter_map(|glob| Glob::new(glob, Dialect::Picomatch).ok())
                        .collect(),
                });
            }
        }
        let watches_wire = watched.iter().flat_map(|w| &w.scope).any(|scope| matches!(scope, Scope::Wire(_)));
        let automaton = Automaton::new(patterns)?;
        let fallback = Fallback::new(&others)?;
        Ok(Monitor {
            watched,
            linear,
            bounded,
            automaton,
            fallback,
            roots,
            streams: HashMap::new(),
            watches_wire,
        })
    }

    /// Whether there is nothing to watch for.
    pub fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// Goes on with a stream, which begins with its first bytes.
    pub fn feed(&mut self, stream: &str, kind: &Kind, bytes: &[u8]) -> Vec<Hit> {
        if self.is_empty() {
            return Vec::new();
        }
        let (name, mut state) =
            self.streams.remove_entry(stream).unwrap_or_else(|| (stream.to_owned(), self.begin(kind)));
        let mut hits = Vec::new();
        match &mut state {
            Stream::Prose { kind, channel } => {
                let origin = if *kind == Kind::Thinking { Origin::Thinking } else { Origin::Text };
                self.watch(channel, Some(bytes), origin, None, &[], &mut hits);
            }
            Stream::Call(call) => self.feed_call(call, bytes, &mut hits),
        }
        self.streams.insert(name, state);
        hits.into_iter().map(|(_, hit)| hit).collect()
    }

    /// Ends a stream: what only its end could decide.
    pub fn finish(&mut self, stream: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        match self.streams.remove(stream) {
            None => {}
            Some(Stream::Prose { kind, mut channel }) => {
                let origin = if kind == Kind::Thinking { Origin::Thinking } else { Origin::Text };
                self.watch(&mut channel, None, origin, None, &[], &mut hits);
            }
            Some(Stream::Call(mut call)) => self.finish_call(&mut call, &mut hits),
        }
        hits.into_iter().map(|(_, hit)| hit).collect()
    }

    /// Forgets a stream that was broken off.
    pub fn forget(&mut self, stream: &str) {
        self.streams.remove(stream);
    }

    fn begin(&mut self, kind: &Kind) -> Stream {
        match kind {
            Kind::Text | Kind::Thinking => Stream::Prose { kind: kind.clone(), channel: self.channel() },
            Kind::Tool(tool) => {
                let wire = self.watches_wire.then(|| self.channel());
                Stream::Call(Box::new(Call::new(tool, wire)))
            }
        }
    }

    pub(super) fn channel(&mut self) -> Channel {
        Channel {
            at: self.automaton.start(),
            window: self.fallback.start(),
            fired: vec![false; self.watched.len()],
        }
    }

    /// Goes on over a text, or ends it where there are no bytes.
    pub(super) fn watch(
        &mut self,
        channel: &mut Channel,
        bytes: Option<&[u8]>,
        origin: Origin<'_>,
        file: Option<&str>,
        files: &[String],
        hits: &mut Vec<(usize, Hit)>,
    ) {
        let Monitor { automaton, fallback, watched, linear, bounded, .. } = self;
        let Channel { at, window, fired } = channel;
        let mut take = |automaton: &mut Automaton, at: &Position, pattern: usize, end: usize| {
            let condition = linear[pattern];
            if fired[condition] || covers(&watched[condition], origin, files) == Covers::No {
                return;
            }
            fired[condition] = true;
            let found = automaton.locate(at, pattern, end);
            let text = at.text(found.start, found.end);
            let place = Spot {
                start: found.start,
                end: found.end,
                line: found.line,
                text,
                around: at.text(found.start.saturating_sub(120), found.end + 120),
                lead: found.start.min(120),
            };
            hits.push((condition, hit(&watched[condition], origin, file, &place)));
        };
        match bytes {
            Some(bytes) => automaton.feed(at, bytes, &mut take),
            None => automaton.finish(at, &mut take),
        }
        fallback.watch(window, bytes, |pattern, spot| {
            let condition = bounded[pattern];
            if !fired[condition] && covers(&watched[condition], origin, files) != Covers::No {
                fired[condition] = true;
                hits.push((condition, hit(&watched[condition], origin, file, &spot)));
            }
        });
    }

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
    let is_open =
        is_prose || watched.gate.is_empty() || watched.gate.iter().any(|glob| scope::any_file(glob, files));
    match best.unwrap_or(Covers::No) {
        Covers::Yes if !is_open => Covers::IfFile,
        other => other,
    }
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
    }
}
