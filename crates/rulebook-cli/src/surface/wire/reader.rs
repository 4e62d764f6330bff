//! Reads a response event by event: which stream each event continues, and what it must wait for before the client gets it.

use std::collections::BTreeMap;

use rulebook::stream::StreamKind;

use super::json::Json;

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
}

impl Reader {
    /// Ends every open stream.
    pub(in crate::surface) fn end(&mut self, steps: &mut Vec<Step>) {
        for stream in std::mem::take(&mut self.open).into_keys() {
            steps.push(Step::End { stream });
        }
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
        // A call without arguments is one too.
        if !text.is_empty() || is_new && matches!(kind, StreamKind::Tool(_)) {
            steps.push(Step::Feed { stream, kind, bytes: text.as_bytes().to_vec() });
        }
    }

    pub(super) fn close(&mut self, stream: &str, steps: &mut Vec<Step>) {
        if self.open.remove(stream).is_some() {
            steps.push(Step::End { stream: stream.to_owned() });
        }
    }

    pub(super) fn close_below(&mut self, prefix: &str, steps: &mut Vec<Step>) {
        let ended: Vec<String> = self.open.keys().filter(|key| key.starts_with(prefix)).cloned().collect();
        ended.iter().for_each(|stream| self.close(stream, steps));
    }

    /// Feeds and closes a stream that arrived whole.
    pub(super) fn feed_whole(&mut self, stream: &str, kind: StreamKind, text: &str, steps: &mut Vec<Step>) {
        self.feed(stream.to_owned(), kind, Some(text), steps);
        self.close(stream, steps);
    }
}

/// The stream of a call to the tool of this name.
pub(super) fn tool(name: &Json<'_>) -> StreamKind {
    StreamKind::Tool(name.as_str().unwrap_or("unknown").to_owned())
}
