//! A delta cut in two: what is clean goes, what is in doubt stays, each an event of the shape of the whole.

use bytes::Bytes;
use serde_json::Value;

use super::request::Node;
use super::{Event, Wire};

/// Where the text of a delta stands, and what must not come twice.
pub(in crate::surface) struct Deltas {
    /// The texts of a delta.
    pub(super) texts: &'static [&'static str],
    /// What would be in both parts although it belongs to the whole, or says that there is more than one text.
    pub(super) once: &'static [&'static str],
}

/// An event as it goes to the client, with what it carries.
pub(in crate::surface) type Part = (Bytes, Value);

/// The two parts of a delta and how long the first one's text is: at most `most` bytes, and whole characters. Nothing
/// where it cannot be cut.
pub(in crate::surface) fn cut(
    wire: &Wire,
    event: &Event,
    value: &Value,
    most: usize,
) -> Option<(usize, [Part; 2])> {
    let is_there = |pointer: &&&str| match value.pointer(pointer) {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    };
    let mut texts = wire.deltas.texts.iter().filter(is_there);
    let (pointer, None) = (texts.next()?, texts.next()) else { return None };
    if wire.deltas.once.iter().any(|pointer| is_there(&pointer)) {
        return None;
    }
    let text = value.pointer(pointer)?.as_str()?;
    let at = text.floor_char_boundary(most.min(text.len()));
    if at == 0 || at == text.len() {
        return None;
    }
    let line = event.data_line()?;
    let body = std::str::from_utf8(line).ok()?;
    let string = Node::root(body)?.at(pointer)?.range();
    let offset = line.as_ptr() as usize - event.raw.as_ptr() as usize;
    let (start, end) = (offset + string.start + 1, offset + string.end - 1);
    let middle = start + written(&body[string.start + 1..string.end - 1], at)?;
    let raw = &event.raw;
    let valued = |text: &str| {
        let mut value = value.clone();
        if let Some(said) = value.pointer_mut(pointer) {
            *said = text.into();
        }
        value
    };
    let first = [&raw[..middle], &raw[end..]].concat();
    let rest = [&raw[..start], &raw[middle..]].concat();
    Some((at, [(first.into(), valued(&text[..at])), (rest.into(), valued(&text[at..]))]))
}

/// How many bytes of a text as JSON writes it say this many of it.
fn written(json: &str, said: usize) -> Option<usize> {
    let (mut at, mut count) = (0, 0);
    while count < said {
        let rest = &json[at..];
        let char = rest.chars().next()?;
        let unit = |at: usize| u16::from_str_radix(rest.get(at..at + 4)?, 16).ok();
        let (long, says) = match (char, rest.as_bytes().get(1)) {
            ('\\', Some(b'u')) => match unit(2)? {
                0xd800..=0xdfff => (12, 4),
                unit => (6, char::from_u32(unit.into())?.len_utf8()),
            },
            ('\\', _) => (2, 1),
            _ => (char.len_utf8(), char.len_utf8()),
        };
        (at, count) = (at + long, count + says);
    }
    (count == said && json.is_char_boundary(at)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::super::WIRES;
    use super::*;

    #[track_caller]
    fn check(wire: usize, raw: &'static str, most: usize, wanted: Option<(&str, &str)>) {
        let event = Event { raw: raw.into() };
        let value = event.values().remove(0);
        let parts = cut(&WIRES[wire], &event, &value, most).map(|(_, parts)| parts);
        let shown = parts.as_ref().map(|parts| {
            parts.each_ref().map(|(raw, value)| {
                // What is written is what is said.
                assert_eq!(Event { raw: raw.clone() }.values(), std::slice::from_ref(value));
                String::from_utf8_lossy(raw).into_owned()
            })
        });
        let wanted = wanted.map(|(first, rest)| [first.to_owned(), rest.to_owned()]);
        assert_eq!(shown, wanted);
    }

    #[test]
    fn a_delta_is_cut_between_characters_and_keeps_its_bytes() {
        let of = |text: &str| {
            format!("event: x\r\ndata: {{\"delta\" :{{\"text\": \"{text}\"}},\"n\":1.0}}\r\n\r\n")
        };
        let both = |whole: &str, most: usize, first: &str, rest: &str| {
            let (raw, first, rest) = (of(whole).leak(), of(first), of(rest));
            check(0, raw, most, Some((first.as_str(), rest.as_str())));
        };
        both("clean ne", 6, "clean ", "ne");
        both("\\u00e9\\n\\\"x", 3, "\\u00e9\\n", "\\\"x");
        both("\\ud83d\\ude00x", 4, "\\ud83d\\ude00", "x");
        both("aéb", 3, "aé", "b");
        // In the middle of a character the cut is before it.
        both("aéb", 2, "a", "éb");
        check(0, of("😀x").leak(), 3, None);
        check(0, of("all").leak(), 3, None);
        check(0, of("all").leak(), 0, None);
    }

    #[test]
    fn every_wire_says_where_its_texts_are_and_what_comes_once() {
        check(
            1,
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ab\"},\"logprobs\":null}]}\n\n",
            1,
            Some((
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"logprobs\":null}]}\n\n",
                "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"logprobs\":null}]}\n\n",
            )),
        );
        let two = "data: {\"choices\":[{\"delta\":{\"content\":\"ab\",\"reasoning\":\"cd\"}}]}\n\n";
        check(1, two, 1, None);
        check(
            1,
            "data: {\"choices\":[{\"delta\":{\"content\":\"ab\"},\"logprobs\":{\"content\":[]}}]}\n\n",
            1,
            None,
        );
        check(2, "data: {\"delta\":\"ab\",\"logprobs\":[1]}\n\n", 1, None);
        check(
            2,
            "data:{\"delta\":\"ab\"}\n\n",
            1,
            Some(("data:{\"delta\":\"a\"}\n\n", "data:{\"delta\":\"b\"}\n\n")),
        );
        let signed = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ab\",\"thoughtSignature\":\"s\"}]}}]}\n\n";
        check(3, signed, 1, None);
        // An event over several lines is not cut.
        check(2, "data: {\"delta\":\ndata: \"ab\"}\n\n", 1, None);
    }
}
