//! Server-sent events: a stream of bytes in any chunks taken apart, every byte of it kept.

use bytes::{Buf as _, Bytes, BytesMut};
use serde_json::Value;

use super::{Reader, Step, WIRES};

/// Takes a stream apart.
#[derive(Default)]
pub(in crate::surface) struct Events {
    buffer: BytesMut,
    /// Where the line begins that is being looked at, and how far it was.
    line: usize,
    looked: usize,
}

/// One event as it came, with the empty line behind it.
#[derive(Clone, Debug)]
pub(in crate::surface) struct Event {
    pub(in crate::surface) raw: Bytes,
}

impl Events {
    /// Takes in some bytes.
    pub(in crate::surface) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// How much of an event that has not ended is kept.
    pub(in crate::surface) fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// What is left when the stream has ended: an event that lacks its end, or nothing.
    pub(in crate::surface) fn rest(&mut self) -> Option<Event> {
        (self.line, self.looked) = (0, 0);
        (!self.buffer.is_empty()).then(|| Event { raw: self.buffer.split().freeze() })
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        loop {
            let found = self.buffer[self.looked..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let Some(found) = found else {
                self.looked = self.buffer.len();
                return None;
            };
            let end = self.looked + found;
            let is_return = self.buffer[end] == b'\r';
            // A line break may be cut in two.
            if is_return && end + 1 == self.buffer.len() {
                self.looked = end;
                return None;
            }
            let next = end + 1 + usize::from(is_return && self.buffer[end + 1] == b'\n');
            let is_empty = end == self.line;
            (self.line, self.looked) = (next, next);
            if is_empty {
                (self.line, self.looked) = (0, 0);
                return Some(Event { raw: self.buffer.split_to(next).freeze() });
            }
        }
    }
}

impl Event {
    /// An event of ours, with the name its `type` gives it.
    pub(in crate::surface) fn of(data: &Value) -> Event {
        let name = data["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
        Event { raw: format!("{name}data: {data}\n\n").into() }
    }

    /// The events of a whole stream.
    pub(in crate::surface) fn all(bytes: &[u8]) -> Vec<Event> {
        let mut events = Events::default();
        events.push(bytes);
        let mut all: Vec<Event> = events.by_ref().collect();
        all.extend(events.rest());
        all
    }

    pub(in crate::surface) fn text(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// What it carries, as far as that is JSON. A log that left the empty lines out has several in what looks like one.
    pub(in crate::surface) fn values(&self) -> Vec<Value> {
        let mut values = Vec::new();
        let mut data: Option<Vec<u8>> = None;
        for line in self.lines() {
            let Some(value) = line.strip_prefix(b"data:") else { continue };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            let joined = match data.take() {
                None => value.to_vec(),
                Some(before) => match serde_json::from_slice(&before) {
                    Ok(event) => {
                        values.push(event);
                        value.to_vec()
                    }
                    Err(_) => [&before, b"\n".as_slice(), value].concat(),
                },
            };
            data = Some(joined);
        }
        values.extend(data.and_then(|data| serde_json::from_slice::<Value>(&data).ok()));
        values
    }

    /// What stands behind `data:`, where that is one line.
    pub(super) fn data_line(&self) -> Option<&[u8]> {
        let mut lines = self.lines().filter_map(|line| line.strip_prefix(b"data:"));
        lines.next().filter(|_| lines.next().is_none())
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let raw = self.raw.strip_prefix(MARK).unwrap_or(&self.raw);
        raw.split(|byte| matches!(byte, b'\n' | b'\r'))
    }
}

/// A stream may begin with one.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The fields an event may have.
const FIELDS: &[&str] = &["data:", "event:", "id:", "retry:", ":"];

/// The steps of a recording, in events or whole; nothing where it is none: a text may begin like one, but has no event
/// that can be read.
pub(in crate::surface) fn steps(bytes: &[u8]) -> Option<Vec<Step>> {
    in_events(bytes).or_else(|| whole(bytes))
}

fn whole(bytes: &[u8]) -> Option<Vec<Step>> {
    let answer: Value = serde_json::from_slice(bytes).ok()?;
    let steps = WIRES.iter().map(|wire| {
        let mut steps = Vec::new();
        (wire.whole)(&answer, &mut Reader::default(), &mut steps);
        steps
    });
    steps.into_iter().find(|steps| !steps.is_empty())
}

fn in_events(mut bytes: &[u8]) -> Option<Vec<Step>> {
    if bytes.starts_with(MARK) {
        bytes.advance(MARK.len());
    }
    let is_field = |line: &&[u8]| FIELDS.iter().any(|field| line.starts_with(field.as_bytes()));
    let mut lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.find(|line| !line.trim_ascii().is_empty()).filter(is_field)?;
    let (mut reader, mut steps, mut count) = (Reader::default(), Vec::new(), 0);
    for value in Event::all(bytes).iter().flat_map(Event::values) {
        count += usize::from(value.is_object());
        reader.read(&value, &mut steps);
    }
    reader.end(&mut steps);
    (count > 0).then_some(steps)
}

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
                events.push(chunk);
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
    fn what_an_event_carries_is_read_over_its_lines() {
        let values = |raw: &'static str| Event { raw: raw.into() }.values();
        assert_eq!(values("\u{feff}event: x\ndata: {\"a\":\ndata: 1}\n\n"), [serde_json::json!({"a": 1})]);
        assert_eq!(values("data:{\"a\":1}\r\ndata: {\"b\":2}\r\n").len(), 2);
        assert_eq!(values("data: [DONE]\n\n"), Vec::<Value>::new());
        assert_eq!(values("data: {\"a\n\n"), Vec::<Value>::new());
    }
}
