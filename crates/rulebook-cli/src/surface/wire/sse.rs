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
        self.lines().filter_map(data_of)
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.raw[..];
        std::iter::from_fn(move || {
            let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let line = (!rest.is_empty()).then_some(&rest[..end]);
            rest = rest.get(end + 1..).unwrap_or_default();
            line
        })
    }

    /// Whether some client reads other values in it than [`Event::data`]: one that ends lines where Python's
    /// `str.splitlines` does, that skips a byte order mark or white space before a field or does not, or that reads lines
    /// without `data:` too.
    pub(in crate::surface) fn has_other_readings(&self) -> bool {
        if self.lines().any(is_odd_line) {
            return true;
        }
        let is_value =
            |text: &[u8]| Json::read(text).is_some_and(|value| value.is_object() || value.is_list());
        // Several lines that are one value, of which a line alone is another one.
        if self.data_line().is_none() && self.data().len() == 1 && self.data_lines().any(is_value) {
            return true;
        }
        if !self.raw.iter().any(|byte| matches!(byte, 0x0b | 0x0c | 0x1c..=0x1e | 0x85 | 0xe2)) {
            return false;
        }
        let known = self.data();
        let is_other = |text: &[u8]| !known.iter().any(|known| **known == *text) && is_value(text);
        let lines: Vec<&[u8]> = self.lines().flat_map(split_lines).collect();
        lines.split(|line| line.is_empty()).any(|event| {
            let data: Vec<&[u8]> = event.iter().copied().filter_map(data_of).collect();
            data.iter().any(|line| is_other(line)) || data.len() > 1 && is_other(&data.join(&b'\n'))
        })
    }

    /// Whether it has a name that is not the type of its values: clients skip an event by its name, or read it by its type.
    pub(in crate::surface) fn is_misnamed(&self, values: &[Json<'_>]) -> bool {
        let mut names = self.lines().filter_map(|line| line.strip_prefix(b"event:"));
        names.any(|name| {
            let is_other = |kind: &str| !kind.is_empty() && kind.as_bytes() != name.trim_ascii();
            values.iter().any(|value| is_other(value.text("type")))
        })
    }
}

/// Returns what is after `data:`, if a line begins with it. Some clients skip white space or a byte order mark before it.
fn data_of(line: &[u8]) -> Option<&[u8]> {
    let data = line.strip_prefix(b"data:").or_else(|| without_blank(line).strip_prefix(b"data:"))?;
    Some(data.strip_prefix(b" ").unwrap_or(data))
}

/// Whether clients read a line differently: it begins with a byte order mark, has white space before `data:`, or is, or
/// contains after a line break of Python, a value or data.
fn is_odd_line(line: &[u8]) -> bool {
    let is_read = |part: &[u8]| {
        let part = without_blank(part);
        part.starts_with(b"data:") || matches!(part.first(), Some(b'{' | b'['))
    };
    let is_plain = line.starts_with(b"data:") || line.is_empty();
    !is_plain && (line.starts_with(BYTE_ORDER_MARK) || split_lines(line).any(is_read))
}

/// Returns a line without the white space and byte order marks at its beginning, as JavaScript and Python trim text in UTF-8
/// or Latin-1.
fn without_blank(mut line: &[u8]) -> &[u8] {
    loop {
        let len = match line {
            [b'\t'..=b'\r' | 0x1c..=b' ' | 0x85 | 0xa0, ..] => 1,
            [0xc2..=0xff, ..] => {
                let chunk = line[..line.len().min(4)].utf8_chunks().next();
                let first = chunk.and_then(|chunk| chunk.valid().chars().next());
                match first.filter(|char| char.is_whitespace() || *char == '\u{feff}') {
                    Some(blank) => blank.len_utf8(),
                    None => return line,
                }
            }
            _ => return line,
        };
        line = &line[len..];
    }
}

/// Splits a line where Python's `str.splitlines` does, for text in UTF-8 or Latin-1.
fn split_lines(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let found = (0..line.len()).find_map(|at| Some((at, break_at(&line[at..])?)));
        rest = found.map(|(at, len)| &line[at + len..]);
        Some(found.map_or(line, |(at, _)| &line[..at]))
    })
}

/// The length of the line break at the beginning of a text, other than LF and CR.
fn break_at(text: &[u8]) -> Option<usize> {
    match text {
        [0x0b | 0x0c | 0x1c..=0x1e | 0x85, ..] => Some(1),
        [0xc2, 0x85, ..] => Some(2),
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => Some(3),
        _ => None,
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

    /// What some clients skip before a field.
    const BLANKS: [&str; 8] =
        ["\u{feff}", " ", "\t", "\u{b}", "\u{a0}", "\u{3000}", " \u{feff}\u{feff} ", "\u{2003}"];

    #[test]
    fn other_readings_are_noticed() {
        #[track_caller]
        fn check(raw: &str, wanted: bool) {
            assert_eq!(Event { raw: raw.to_owned().into() }.has_other_readings(), wanted, "{raw:?}");
        }
        for end in ["\u{b}", "\u{c}", "\u{1c}", "\u{1d}", "\u{1e}", "\u{85}", "\u{2028}", "\u{2029}"] {
            check(&format!(": x{end}data: {{\"a\":1}}\n\n"), true);
            check(&format!("event: x{end}data: {{\"a\":1}}\n\n"), true);
            check(&format!(": x\ndata: {{}}{end}{end}data: {{\"a\":1}}\n\n"), true);
            check(&format!("data: {{\"a\":\"{end}{end}data: {{}}{end}{end}\"}}\n\n"), true);
            check(&format!(": x{end}data: [\ndata: {{}}]\n\n"), true);
            check(&format!(": x{end}{{\"a\":1}}\n\n"), true);
            // Text of a model: clients that split it read no value.
            check(&format!("data: {{\"a\":\"one{end}two{end}{end}{{}}\"}}\n\n"), false);
            check(&format!(": one{end}two\ndata: {{\"a\":1}}\n\n"), false);
        }
        check("data: {}\n{\"a\":1}\n\n", true);
        for blank in BLANKS {
            check(&format!("{blank}data: {{\"a\":1}}\n\n"), true);
            check(&format!("event: x\n{blank}data: {{\"a\":1}}\n\n"), true);
            check(&format!("data: {{\"a\":1}}\n{blank}data: {{\"a\":1}}\n\n"), true);
            check(&format!("data:\n{blank}{{\"a\":1}}\n\n"), true);
            check(&format!("event: x\ndata:{blank}{{\"a\":1}}\n\n"), false);
        }
        // To clients that decode each line by itself, the mark alone is an empty line.
        check("data: [\n\u{feff}\ndata: 1]\n\n", true);
        check("\u{feff}event: x\ndata: {\"a\":1}\n\n", true);
        check("data: [\ndata: {\"a\":1}\ndata: ]\n\n", true);
        check("event: x\nid: 1\ndata: {\"a\":\ndata: 1}\n\n", false);
        check("data: {\"a\":\"元…é\"}\n\n", false);
    }

    #[test]
    fn an_event_whose_name_is_not_its_type_is_noticed() {
        #[track_caller]
        fn check(raw: &'static str, wanted: bool) {
            let event = Event { raw: raw.into() };
            let data = event.data();
            let values: Vec<Json<'_>> = data.iter().filter_map(|text| Json::read(text)).collect();
            assert_eq!(event.is_misnamed(&values), wanted, "{raw:?}");
        }
        check("event: a\ndata: {\"type\":\"a\"}\n\n", false);
        check("data: {\"type\":\"a\"}\n\n", false);
        check("event: a\ndata: {\"choices\":[]}\n\n", false);
        check("event: ping\ndata: {\"type\":\"a\"}\n\n", true);
        check("event: a\nevent: ping\ndata: {\"type\":\"a\"}\n\n", true);
    }

    #[test]
    fn the_data_of_an_event_is_read_across_its_lines() {
        let values = |raw: &'static str| Event { raw: raw.into() }.values();
        assert_eq!(values("event: x\ndata: {\"a\":\ndata: 1}\n\n"), [serde_json::json!({"a": 1})]);
        for blank in BLANKS {
            let event = Event { raw: format!("event: x\n{blank}data: {{\"a\":1}}\n\n").into() };
            assert_eq!(event.values(), [serde_json::json!({"a": 1})], "{blank:?}");
        }
        assert_eq!(values("data:{\"a\":1}\r\ndata: {\"b\":2}\r\n").len(), 2);
        assert_eq!(values("data: {\"a\":1}").len(), 1);
        assert_eq!(values("data: [DONE]\n\n"), Vec::<Value>::new());
        assert_eq!(values("data: {\"a\n\n"), Vec::<Value>::new());
    }
}
