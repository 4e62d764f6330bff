//! Feeding an answer to a monitor: its streams, and how far each may be shown.

use std::collections::HashMap;

use super::stream_rules::StreamRules;
use crate::evidence::{ToolCall, json};
use crate::stream::{Hit, Monitor, StreamKind};

/// More output than this is not kept for a retry.
const MAX_OUTPUT: usize = 256 << 10;

/// The streams of one answer: texts, thoughts and tool calls. Of several answers that share a monitor, each has a prefix of
/// its own.
#[derive(Debug, Default)]
pub struct Feed {
    prefix: String,
    streams: Vec<FedStream>,
    /// The open ones by their own names: an answer may have very many.
    open: HashMap<String, usize>,
    /// The stream of the last delta: most deltas continue it.
    last: usize,
    output: String,
    has_calls: bool,
    /// Complete calls that were not taken yet.
    calls: Vec<(String, Vec<u8>)>,
}

/// Longer arguments of a call are cut: only its tool is checked against requirements.
const MAX_ARGUMENTS: usize = 32 << 20;

#[derive(Debug)]
struct FedStream {
    /// The tool and its arguments so far, where calls are kept.
    call: Option<(String, Vec<u8>)>,
    /// The answer's prefix and the stream's own name.
    name: String,
    fed: usize,
    /// The offset up to which it was shown although it is not settled.
    released: Option<usize>,
    is_open: bool,
}

/// A piece of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FedPiece {
    /// The stream.
    pub stream: usize,
    /// Its first byte there.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

impl Feed {
    /// An answer before its first byte.
    pub fn new(prefix: String) -> Feed {
        Feed { prefix, ..Feed::default() }
    }

    /// Continues a stream, or opens it. Returns nothing for what no rule watches.
    pub fn feed(
        &mut self,
        monitor: &mut Monitor,
        rules: &StreamRules,
        name: &str,
        kind: &StreamKind,
        bytes: &[u8],
        hits: &mut Vec<Hit>,
    ) -> Option<FedPiece> {
        if *kind == StreamKind::Thinking && !rules.watches_thinking() {
            return None;
        }
        let stream = self.find(name).unwrap_or_else(|| self.open(name));
        let fed = &mut self.streams[stream];
        if let StreamKind::Tool(tool) = kind {
            self.has_calls = true;
            if rules.keeps_calls() {
                let (_, arguments) = fed.call.get_or_insert_with(|| (tool.clone(), Vec::new()));
                let room = MAX_ARGUMENTS.saturating_sub(arguments.len());
                arguments.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
        }
        hits.extend(monitor.feed(&fed.name, kind, bytes));
        let start = fed.fed;
        fed.fed += bytes.len();
        let piece = FedPiece { stream, start, end: fed.fed };
        if rules.keeps_output() && *kind == StreamKind::Text && self.output.len() < MAX_OUTPUT {
            self.output.push_str(&String::from_utf8_lossy(bytes));
        }
        Some(piece)
    }

    /// Ends a stream.
    pub fn finish(&mut self, monitor: &mut Monitor, name: &str, hits: &mut Vec<Hit>) {
        if let Some(stream) = self.find(name) {
            hits.extend(monitor.finish(&self.streams[stream].name));
            self.streams[stream].is_open = false;
            self.open.remove(name);
            self.calls.extend(self.streams[stream].call.take());
        }
    }

    /// Takes the calls that are complete.
    pub fn take_calls(&mut self) -> Vec<ToolCall> {
        let call = |(name, arguments): (String, Vec<u8>)| {
            let input = json::read(&arguments).unwrap_or_else(|_| String::from_utf8_lossy(&arguments).into());
            ToolCall { name, input: Some(input), pending: true, ..ToolCall::default() }
        };
        std::mem::take(&mut self.calls).into_iter().map(call).collect()
    }

    /// Whether a call began.
    pub fn has_calls(&self) -> bool {
        self.has_calls
    }

    /// Ends every open stream.
    pub(crate) fn finish_all(&mut self, monitor: &mut Monitor, hits: &mut Vec<Hit>) {
        for stream in self.streams.iter_mut().filter(|stream| stream.is_open) {
            hits.extend(monitor.finish(&stream.name));
            stream.is_open = false;
            self.calls.extend(stream.call.take());
        }
        self.open.clear();
    }

    /// The offset up to which a stream may be shown.
    pub fn settled(&self, monitor: &mut Monitor, stream: usize) -> usize {
        let FedStream { name, released, is_open, .. } = &self.streams[stream];
        if !is_open {
            return usize::MAX;
        }
        released.unwrap_or(0).max(monitor.settled(name))
    }

    /// How many bytes of its stream arrived since a piece started.
    pub fn fed_since(&self, piece: &FedPiece) -> usize {
        let stream = &self.streams[piece.stream];
        if stream.is_open { stream.fed.saturating_sub(piece.start) } else { 0 }
    }

    /// Lets everything of a stream be shown that arrived so far; returns its name the first time.
    pub fn release(&mut self, stream: usize) -> Option<&str> {
        let FedStream { name, fed, released, .. } = &mut self.streams[stream];
        let is_first = released.replace(*fed).is_none();
        is_first.then_some(name)
    }

    /// The text so far, where a rule keeps it.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// Forgets an answer that was stopped.
    pub fn forget(&mut self, monitor: &mut Monitor) {
        for stream in self.streams.iter_mut().filter(|stream| stream.is_open) {
            monitor.forget(&stream.name);
            stream.is_open = false;
        }
        self.open.clear();
    }

    fn find(&mut self, name: &str) -> Option<usize> {
        let prefix = self.prefix.len();
        let is_it = |stream: &FedStream| stream.is_open && &stream.name[prefix..] == name;
        if !self.streams.get(self.last).is_some_and(is_it) {
            self.last = *self.open.get(name)?;
        }
        Some(self.last)
    }

    fn open(&mut self, name: &str) -> usize {
        let full = format!("{}{name}", self.prefix);
        self.streams.push(FedStream { call: None, name: full, fed: 0, released: None, is_open: true });
        self.last = self.streams.len() - 1;
        self.open.insert(name.to_owned(), self.last);
        self.last
    }
}
