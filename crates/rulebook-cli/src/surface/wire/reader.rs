//! Reads answers: which stream an event goes on with, and what must be known before it may go to the client.

use std::collections::BTreeMap;

use rulebook::stream::StreamKind;
use serde_json::Value;

use super::{anthropic, gemini, openai_chat, openai_responses};

/// What happens to one stream of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::surface) enum Step {
    /// Some bytes came.
    Feed { stream: String, kind: StreamKind, bytes: Vec<u8> },
    /// It ended.
    End { stream: String },
}

/// What an event waits for on its way to the client, besides that its text is settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::surface) enum Waits {
    /// Nothing.
    #[default]
    Nothing,
    /// The event behind it: what it opens would be left empty, or what it says means nothing alone.
    Next,
    /// The end of the answer: a call that is part of it may be carried out.
    End,
    /// It is the end.
    Last,
}

/// Reads events of any wire; an answer has one.
#[derive(Default)]
pub(in crate::surface) struct Reader {
    /// Streams that are open, with what they carry.
    pub(super) open: BTreeMap<String, StreamKind>,
    /// The ids of calls, where they have any.
    pub(super) calls: BTreeMap<String, String>,
    pub(super) messages: usize,
}

impl Reader {
    /// What an event does.
    pub(in crate::surface) fn read(&mut self, event: &Value, steps: &mut Vec<Step>) -> Waits {
        match event["type"].as_str() {
            Some(kind) if kind.starts_with("response.") => openai_responses::read(self, kind, event, steps),
            Some(kind) => anthropic::read(self, kind, event, steps),
            None if event["choices"].is_array() => openai_chat::read(self, event, steps),
            None if event["candidates"].is_array() => gemini::read(self, event, steps),
            None if event["error"].is_object() => {
                self.end(steps);
                Waits::Last
            }
            None => Waits::Nothing,
        }
    }

    /// Ends what is still open.
    pub(in crate::surface) fn end(&mut self, steps: &mut Vec<Step>) {
        for stream in std::mem::take(&mut self.open).into_keys() {
            steps.push(Step::End { stream });
        }
    }

    pub(super) fn feed(
        &mut self,
        stream: String,
        kind: StreamKind,
        text: Option<&str>,
        steps: &mut Vec<Step>,
    ) {
        let kind = match self.open.get(&stream) {
            Some(known) => known.clone(),
            None => self.open.entry(stream.clone()).or_insert(kind).clone(),
        };
        if let Some(text) = text.filter(|text| !text.is_empty()) {
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

    /// A whole stream at once.
    pub(super) fn whole(&mut self, stream: &str, kind: StreamKind, text: &str, steps: &mut Vec<Step>) {
        self.feed(stream.to_owned(), kind, Some(text), steps);
        self.close(stream, steps);
    }
}

/// The call of a tool.
pub(super) fn tool(name: &Value) -> StreamKind {
    StreamKind::Tool(name.as_str().unwrap_or("unknown").to_owned())
}
