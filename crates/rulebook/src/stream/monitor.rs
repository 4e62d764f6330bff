//! The monitor: deltas of the model's output in, matches of stream rules out, each once nothing can undo it.
//!
//! A stream is one block of one message, or one tool call; streams never mix. A tool call's arguments are decoded, and
//! each field, and each file of a patch, is watched by itself. A condition is told once a stream: it has fired.

use std::collections::HashMap;

use serde::Serialize;

use super::call::Call;
use super::scope::OutputPart;
use super::trigger::StreamRule;
use super::watch::{Channel, Watch};
use crate::evidence::Roots;

/// Watches streams for the conditions of rules.
#[derive(Debug)]
pub struct Monitor {
    watch: Watch,
    streams: Streams,
}

/// What a stream carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamKind {
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
    /// The file the text is for, where a patch says so or the file let the hit through.
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
    /// Where in the excerpt the match starts, in bytes.
    #[serde(skip)]
    pub lead: usize,
}

/// One stream.
#[derive(Debug)]
enum Stream {
    Prose { kind: StreamKind, channel: Box<Channel> },
    Call(Box<Call>),
}

/// Streams by name. Deltas of one come in a row: the last one is found without looking.
#[derive(Debug, Default)]
struct Streams {
    slots: Vec<Option<(String, Stream)>>,
    names: HashMap<String, usize>,
    last: usize,
}

impl Streams {
    fn find(&mut self, name: &str) -> Option<usize> {
        let is_last = matches!(self.slots.get(self.last), Some(Some((other, _))) if other == name);
        if !is_last {
            self.last = *self.names.get(name)?;
        }
        Some(self.last)
    }

    fn add(&mut self, name: &str, stream: Stream) -> usize {
        let free = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if free == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[free] = Some((name.to_owned(), stream));
        self.names.insert(name.to_owned(), free);
        self.last = free;
        free
    }

    fn take(&mut self, name: &str) -> Option<Stream> {
        let slot = self.names.remove(name)?;
        self.slots[slot].take().map(|(_, stream)| stream)
    }
}

impl Monitor {
    /// A monitor for these stream rules. Roots make the files of tool calls relative.
    pub fn new<'r>(rules: impl IntoIterator<Item = StreamRule<'r>>, roots: Roots) -> Result<Monitor, String> {
        Ok(Monitor { watch: Watch::new(rules, roots)?, streams: Streams::default() })
    }

    /// Whether there is nothing to watch for.
    pub fn is_empty(&self) -> bool {
        self.watch.is_empty()
    }

    /// Rule and condition of those that could not be compiled, and so are not watched for.
    pub fn left_out(&self) -> &[(String, String)] {
        &self.watch.left_out
    }

    /// Rule and condition of those with look-around that took too many steps on some text, and so may have missed a match.
    pub fn gave_up(&self) -> impl Iterator<Item = (&str, &str)> {
        self.watch.gave_up()
    }

    /// Goes on with a stream, which begins with its first bytes.
    pub fn feed(&mut self, stream: &str, kind: &StreamKind, bytes: &[u8]) -> Vec<Hit> {
        if self.is_empty() {
            return Vec::new();
        }
        let slot = match self.streams.find(stream) {
            Some(slot) => slot,
            None => self.streams.add(stream, begin(kind, &mut self.watch)),
        };
        let mut hits = Vec::new();
        match &mut self.streams.slots[slot] {
            Some((_, Stream::Prose { kind, channel })) => {
                self.watch.prose(channel, Some(bytes), origin(kind), &mut hits);
            }
            Some((_, Stream::Call(call))) => call.feed(&mut self.watch, bytes, &mut hits),
            None => {}
        }
        hits
    }

    /// Below which offset of a text nothing can be part of a hit that is still to come: what may be shown. Conditions with
    /// look-around are looked at line by line, and a match of theirs may begin in a line before. Of a tool call nothing
    /// is settled before its end.
    pub fn settled(&mut self, stream: &str) -> usize {
        let Some(slot) = self.streams.find(stream) else { return usize::MAX };
        match &mut self.streams.slots[slot] {
            Some((_, Stream::Prose { channel, .. })) => self.watch.settled(channel),
            Some((_, Stream::Call(_))) => 0,
            None => usize::MAX,
        }
    }

    /// Ends a stream: what only its end could decide.
    pub fn finish(&mut self, stream: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        match self.streams.take(stream) {
            None => {}
            Some(Stream::Prose { kind, mut channel }) => {
                self.watch.prose(&mut channel, None, origin(&kind), &mut hits);
            }
            Some(Stream::Call(mut call)) => call.finish(&mut self.watch, &mut hits),
        }
        hits
    }

    /// Forgets a stream that was broken off.
    pub fn forget(&mut self, stream: &str) {
        self.streams.take(stream);
    }
}

fn begin(kind: &StreamKind, watch: &mut Watch) -> Stream {
    match kind {
        StreamKind::Text | StreamKind::Thinking => {
            Stream::Prose { kind: kind.clone(), channel: Box::new(watch.channel(None)) }
        }
        StreamKind::Tool(tool) => {
            let wire = watch.watches_wire.then(|| watch.channel(None));
            Stream::Call(Box::new(Call::new(tool, wire)))
        }
    }
}

fn origin(kind: &StreamKind) -> OutputPart<'static> {
    if *kind == StreamKind::Thinking { OutputPart::Thinking } else { OutputPart::Text }
}
