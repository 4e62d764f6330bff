//! Reads a response event by event: which stream each event continues, and what it must wait for before the client gets it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use rulebook::stream::StreamKind;

use super::json::Json;
use super::partial::PartialCall;

/// What happens to one stream of a response: a text, a thought or the arguments of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::surface) enum Step {
    /// More bytes arrived.
    Feed { stream: String, kind: StreamKind, bytes: Vec<u8> },
    /// The stream ended.
    End { stream: String },
}

/// What an event waits for on its way to the client, in addition to its text being settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::surface) enum Waits {
    #[default]
    Nothing,
    /// The event after it: what this one opens would stay empty, or means nothing alone.
    Next,
    /// The end of the response: the client may run the call that this event is part of.
    End,
    /// Nothing: this event is the end.
    Last,
}

/// The streams of one response. Every wire reads its events into it.
#[derive(Default)]
pub(in crate::surface) struct Reader {
    /// Open streams and what they carry.
    pub(super) open: BTreeMap<String, StreamKind>,
    /// The ids of calls, by stream.
    pub(super) calls: BTreeMap<String, String>,
    /// How many messages, or calls, began.
    pub(super) count: usize,
    /// What each open stream carried so far, and what closed ones did: a text that an event repeats is read once.
    carried: BTreeMap<String, String>,
    closed: HashSet<(String, String)>,
    /// The last index of blocks, or of calls, by what contains them.
    indexes: BTreeMap<String, u64>,
    /// Whether a client reads the choice at a position, whatever its index says.
    reads_positions: bool,
    /// The call whose arguments arrive in parts.
    pub(super) partial: Option<PartialCall>,
    /// Whether a field had another type than the wire's own.
    pub(super) has_odd_fields: bool,
}

impl Reader {
    /// Reads the response to a request: one that asks for several choices tells them apart by index, any other reads them by
    /// position.
    pub(in crate::surface) fn of_response(has_choices: bool) -> Reader {
        Reader { reads_positions: !has_choices, ..Reader::default() }
    }

    /// Ends every open stream.
    pub(in crate::surface) fn end(&mut self, steps: &mut Vec<Step>) {
        self.end_partial(steps);
        let open: Vec<String> = self.open.keys().cloned().collect();
        open.iter().for_each(|stream| self.close(stream, steps));
    }

    /// Reads the call whose arguments arrived in parts.
    pub(super) fn end_partial(&mut self, steps: &mut Vec<Step>) {
        let Some((name, arguments)) = self.partial.take().map(PartialCall::finish) else { return };
        self.count += 1;
        let stream = format!("call {}", self.count);
        self.feed_whole(&stream, StreamKind::Tool(name), &arguments.to_string(), steps);
    }

    /// Ends every open stream with the event that ends the response.
    pub(super) fn end_response(&mut self, steps: &mut Vec<Step>) -> Waits {
        self.end(steps);
        Waits::Last
    }

    /// Continues a stream, or opens it; `kind` counts only for one that is not open yet.
    pub(super) fn feed(
        &mut self,
        stream: String,
        kind: StreamKind,
        text: Option<&str>,
        steps: &mut Vec<Step>,
    ) {
        let (kind, is_new) = match self.open.get(&stream) {
            Some(known) => (known.clone(), false),
            None => (self.open.entry(stream.clone()).or_insert(kind).clone(), true),
        };
        let text = text.unwrap_or_default();
        self.carried.entry(stream.clone()).or_default().push_str(text);
        // A call without arguments is one too.
        if !text.is_empty() || is_new && matches!(kind, StreamKind::Tool(_)) {
            steps.push(Step::Feed { stream, kind, bytes: text.as_bytes().to_vec() });
        }
    }

    pub(super) fn close(&mut self, stream: &str, steps: &mut Vec<Step>) {
        if let Some(kind) = self.open.remove(stream) {
            let text = self.carried.remove(stream).unwrap_or_default();
            self.closed.insert((name_of(&kind), text));
            steps.push(Step::End { stream: stream.to_owned() });
        }
    }

    pub(super) fn close_below(&mut self, prefix: &str, steps: &mut Vec<Step>) {
        let ended: Vec<String> = self.open.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
        ended.iter().for_each(|stream| self.close(stream, steps));
    }

    /// Reads a text that arrived whole, unless a stream of its kind carried exactly this text: clients may take either.
    pub(super) fn feed_complete(
        &mut self,
        stream: &str,
        kind: StreamKind,
        text: &str,
        steps: &mut Vec<Step>,
    ) {
        let is_carried = self.open.get(stream).is_some_and(|open| *open == kind)
            && self.carried.get(stream).is_some_and(|carried| carried == text);
        if is_carried || text.is_empty() && !matches!(kind, StreamKind::Tool(_)) {
            return;
        }
        if !self.closed.contains(&(name_of(&kind), text.to_owned())) {
            self.count += 1;
            self.feed_whole(&format!("{stream}/whole {}", self.count), kind, text, steps);
        }
    }

    /// Returns an index as clients understand it: `0`, `-0`, `0.0` and `"0"` are one, and without an index it is the last.
    pub(super) fn index(&mut self, within: &str, index: &Json<'_>) -> u64 {
        let number = self.number(index);
        let last = self.indexes.entry(within.to_owned()).or_default();
        *last = number.unwrap_or(*last);
        *last
    }

    /// The number that an index is, as clients read it.
    fn number(&mut self, index: &Json<'_>) -> Option<u64> {
        let number = match index {
            Json::Number(number) => number.as_f64(),
            Json::Text(text) => text.trim().parse::<f64>().ok(),
            _ => None,
        };
        self.has_odd_fields |= number.is_none() && !index.is_null();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is cut as clients do, and not negative"
        )]
        number.filter(|number| *number > -1.0).map(|number| number as u64)
    }

    /// Returns the number of a choice, from its position in an event and its index.
    pub(super) fn choice(&mut self, position: usize, index: &Json<'_>) -> u64 {
        self.number(index).filter(|_| !self.reads_positions).unwrap_or(position as u64)
    }

    /// Returns the number of a call of a choice: its index, or else that of the call with its id, or of the last one.
    pub(super) fn call_number(&mut self, choice: u64, call: &Json<'_>, place: usize) -> u64 {
        let within = format!("{choice}/call");
        let last = self.indexes.get(&within).copied();
        let id = Some(call.text("id")).filter(|id| !id.is_empty());
        let index = self.number(&call["index"]);
        let known = |id: &str| {
            let prefix = format!("{within} ");
            let mut calls = self.calls.iter().filter(|(_, other)| *other == id);
            calls.find_map(|(stream, _)| stream.strip_prefix(&prefix)?.parse().ok())
        };
        let number = index.unwrap_or_else(|| match id {
            Some(id) => known(id).unwrap_or_else(|| last.map_or(0, |last| last + 1)),
            None => last.unwrap_or(0).max(place as u64),
        });
        self.indexes.insert(within, number);
        number
    }

    /// The stream of a call to the tool of this name.
    pub(super) fn tool(&mut self, name: &Json<'_>) -> StreamKind {
        StreamKind::Tool(self.text(name).map_or_else(|| "unknown".to_owned(), Cow::into_owned))
    }

    /// Feeds and closes a stream that arrived whole.
    pub(super) fn feed_whole(&mut self, stream: &str, kind: StreamKind, text: &str, steps: &mut Vec<Step>) {
        self.feed(stream.to_owned(), kind, Some(text), steps);
        self.close(stream, steps);
    }
}

fn name_of(kind: &StreamKind) -> String {
    match kind {
        StreamKind::Text => "text".to_owned(),
        StreamKind::Thinking => "thinking".to_owned(),
        StreamKind::Tool(tool) => format!("call {tool}"),
    }
}
