//! Server-sent events: splits a byte stream that arrives in arbitrary chunks and keeps every byte.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use memchr::memchr2;
use serde_json::Value;

use super::json::Json;

/// Splits a stream into events.
#[derive(Default)]
pub(in crate::surface) struct Events {
    /// What arrived last: complete events are slices of it.
    chunk: Bytes,
    /// An event that earlier chunks began, and what arrived since. Empty while `chunk` is not.
    rest: BytesMut,
    /// Where the current line begins, and how far it was searched.
    line: usize,
    searched: usize,
}

/// One event as it arrived, with the empty line after it.
#[derive(Clone, Debug)]
pub(in crate::surface) struct Event {
    pub(in crate::surface) raw: Bytes,
}

impl Events {
    /// Adds bytes that arrived.
    pub(in crate::surface) fn push(&mut self, bytes: Bytes) {
        if self.rest.is_empty() {
            self.chunk = bytes;
        } else {
            self.rest.extend_from_slice(&bytes);
        }
    }

    /// Returns how many bytes wait for the end of their event.
    pub(in crate::surface) fn pending(&self) -> usize {
        self.chunk.len() + self.rest.len()
    }

    /// Returns what is left when the stream has ended: an event without its end, if any.
    pub(in crate::surface) fn rest(&mut self) -> Option<Event> {
        (self.line, self.searched) = (0, 0);
        (!self.rest.is_empty()).then(|| Event { raw: self.rest.split().freeze() })
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let is_whole = self.rest.is_empty();
        let bytes: &[u8] = if is_whole { &self.chunk } else { &self.rest };
        let end = event_end(bytes, &mut self.line, &mut self.searched);
        match end {
            Some(end) => {
                (self.line, self.searched) = (0, 0);
                let raw = if is_whole { self.chunk.split_to(end) } else { self.rest.split_to(end).freeze() };
                Some(Event { raw })
            }
            None => {
                if is_whole {
                    self.rest.extend_from_slice(&std::mem::take(&mut self.chunk));
                }
                None
            }
        }
    }
}

/// Returns where the first event ends, after its empty line. Continues a search that found no end before.
fn event_end(bytes: &[u8], line: &mut usize, searched: &mut usize) -> Option<usize> {
    loop {
        let Some(found) = memchr2(b'\n', b'\r', &bytes[*searched..]) else {
            *searched = bytes.len();
            return None;
        };
        let end = *searched + found;
        let is_return = bytes[end] == b'\r';
        // The other half of a line break may be in the next chunk.
        if is_return && end + 1 == bytes.len() {
            *searched = end;
            return None;
        }
        let next = end + 1 + usize::from(is_return && bytes[end + 1] == b'\n');
        let is_empty = end == *line;
        (*line, *searched) = (next, next);
        if is_empty {
            return Some(next);
        }
    }
}

impl Event {
    /// Creates an event with this data, named by its `type`.
    pub(in crate::surface) fn of(data: &Value) -> Event {
        let name = data["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
        Event { raw: format!("{name}data: {data}\n\n").into() }
    }

    /// Splits a complete stream.
    pub(in crate::surface) fn all(bytes: &[u8]) -> Vec<Event> {
        let mut events = Events::default();
        events.push(Bytes::copy_from_slice(bytes));
        let mut all: Vec<Event> = events.by_ref().collect();
        all.extend(events.rest());
        all
    }

    /// Returns the texts it carries, each of which should be JSON. A log without empty lines has several in what looks like
    /// one event.
    pub(in crate::surface) fn data(&self) -> Vec<Cow<'_, [u8]>> {
        if let Some(line) = self.data_line() {
            return vec![Cow::Borrowed(line)];
        }
        let lines: Vec<&[u8]> = self.data_lines().collect();
        if lines.is_empty() {
            return Vec::new();
        }
        let joined = lines.join(&b'\n');
        let is_json = |text: &[u8]| Json::read(text).is_some();
        if is_json(&joined) || !lines.iter().any(|line| is_json(line)) {
            return vec![Cow::Owned(joined)];
        }
        lines.into_iter().map(Cow::Borrowed).collect()
    }

    /// Returns the values it carries, to be changed.
    pub(in crate::surface) fn values(&self) -> Vec<Value> {
        self.data().iter().filter_map(|text| Json::read(text).as_ref().map(Value::from)).collect()
    }

    /// Returns the line after `data:`, if there is exactly one.
    pub(super) fn data_line(&self) -> Option<&[u8]> {
        let mut lines = self.data_lines();
        lines.next().filter(|_| lines.next().is_none())
    }

    fn data_lines(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.raw);
        let lines = std::iter::from_fn(move || {
            let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let line = (!rest.is_empty()).then_some(&rest[..end]);
            rest = rest.get(end + 1..).unwrap_or_default();
            line
        });
        let data = lines.filter_map(|line| line.strip_prefix(b"data:"));
        data.map(|line| line.strip_prefix(b" ").unwrap_or(line))
    }
}

/// A stream may begin with it.
pub(in crate::surface) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stream: &str, wanted: &[&str]) {
        for size in 1..=stream.len().max(1) {
            let mut events = Events::default();
            let mut seen: Vec<String> = Vec::new();
            let shown = |event: Event| String::from_utf8_lossy(&event.raw).into_owned();
            for chunk in stream.as_bytes().chunks(size) {
                events.push(Bytes::copy_from_slice(chunk));
                seen.extend(events.by_ref().map(shown));
            }
            seen.extend(events.rest().map(shown));
            assert_eq!(seen, wanted, "in chunks of {size}");
        }
    }

    #[test]
    fn events_end_at_an_empty_line_and_keep_every_byte() {
        check("data: 1\n\ndata: 2\n\n", &["data: 1\n\n", "data: 2\n\n"]);
        check("event: a\r\ndata: é\r\n\r\n: c\r\n\r\n", &["event: a\r\ndata: é\r\n\r\n", ": c\r\n\r\n"]);
        check("data: 1\r\rdata: 2", &["data: 1\r\r", "data: 2"]);
        check("data: 1\n\r\n\n\ndata", &["data: 1\n\r\n", "\n", "\n", "data"]);
        check("", &[]);
    }

    #[test]
    fn the_data_of_an_event_is_read_across_its_lines() {
        let values = |raw: &'static str| Event { raw: raw.into() }.values();
        assert_eq!(values("\u{feff}event: x\ndata: {\"a\":\ndata: 1}\n\n"), [serde_json::json!({"a": 1})]);
        assert_eq!(values("data:{\"a\":1}\r\ndata: {\"b\":2}\r\n").len(), 2);
        assert_eq!(values("data: {\"a\":1}").len(), 1);
        assert_eq!(values("data: [DONE]\n\n"), Vec::<Value>::new());
        assert_eq!(values("data: {\"a\n\n"), Vec::<Value>::new());
    }
}
