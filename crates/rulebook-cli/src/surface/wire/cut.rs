//! Cuts a delta in two: the settled beginning goes to the client, the rest stays; each is an event of the same shape.

use bytes::Bytes;
use rulebook::evidence::json;

use super::json::Json;
use super::node::Node;
use super::sse::Event;

/// Where the events of a wire carry the text of a delta, as JSON pointers.
pub(in crate::surface) struct Deltas {
    /// The texts of a delta.
    pub(super) texts: &'static [&'static str],
    /// What belongs to the whole event and must not be sent twice, or shows that there are several texts.
    pub(super) once: &'static [&'static str],
    /// The number of an event, if events are numbered: one that is cut shifts the later numbers.
    pub(super) number: Option<&'static str>,
}

/// A delta cut in two.
#[derive(Debug)]
pub(in crate::surface) struct Cut {
    /// How long the text of the first part is.
    pub(in crate::surface) len: usize,
    pub(in crate::surface) first: Bytes,
    pub(in crate::surface) rest: Bytes,
    /// Whether later events must be numbered again.
    pub(in crate::surface) is_numbered: bool,
}

/// Cuts a delta after at most `most` bytes of its text, between characters. Returns `None` if it cannot be cut.
pub(in crate::surface) fn cut(deltas: &Deltas, event: &Event, most: usize) -> Option<Cut> {
    let line = event.data_line()?;
    let value = Json::read(line)?;
    let is_present = |pointer: &&&str| value.pointer(pointer).is_some_and(|found| !found.is_empty());
    let mut texts = deltas.texts.iter().filter(is_present);
    let (pointer, None) = (texts.next()?, texts.next()) else { return None };
    if deltas.once.iter().any(|pointer| is_present(&pointer)) {
        return None;
    }
    let text = value.pointer(pointer)?.as_str()?;
    let at = text.floor_char_boundary(most.min(text.len()));
    if at == 0 || at == text.len() {
        return None;
    }
    let body = json::repaired(line);
    let string = Node::root(&body)?.at(pointer)?.range();
    let offset = line.as_ptr() as usize - event.raw.as_ptr() as usize;
    let (start, end) = (offset + string.start + 1, offset + string.end - 1);
    let middle = start + written_len(&body[string.start + 1..string.end - 1], at)?;
    let raw = &event.raw;
    Some(Cut {
        len: at,
        first: [&raw[..middle], &raw[end..]].concat().into(),
        rest: [&raw[..start], &raw[middle..]].concat().into(),
        is_numbered: deltas.number.is_some_and(|pointer| is_present(&&pointer)),
    })
}

/// Returns how many bytes of a string, as JSON writes it, stand for its first `len` bytes.
fn written_len(json: &str, len: usize) -> Option<usize> {
    let (mut at, mut count) = (0, 0);
    while count < len {
        let rest = &json[at..];
        let char = rest.chars().next()?;
        let unit = |at: usize| u16::from_str_radix(rest.get(at..at + 4)?, 16).ok();
        let (written, read) = match (char, rest.as_bytes().get(1)) {
            ('\\', Some(b'u')) => match unit(2)? {
                0xd800..=0xdfff => (12, 4),
                unit => (6, char::from_u32(unit.into())?.len_utf8()),
            },
            ('\\', _) => (2, 1),
            _ => (char.len_utf8(), char.len_utf8()),
        };
        (at, count) = (at + written, count + read);
    }
    (count == len && json.is_char_boundary(at)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::super::WIRES;
    use super::*;

    #[track_caller]
    fn check(wire: usize, raw: &'static str, most: usize, wanted: Option<(&str, &str)>) {
        let event = Event { raw: raw.into() };
        let parts = cut(&WIRES[wire].deltas, &event, most).map(|cut| [cut.first, cut.rest]);
        let shown = parts.map(|parts| {
            parts.map(|raw| {
                assert_eq!(Event { raw: raw.clone() }.values().len(), 1, "it is no JSON any more");
                String::from_utf8_lossy(&raw).into_owned()
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
        // Inside a character the cut moves before it.
        both("aéb", 2, "a", "éb");
        check(0, of("😀x").leak(), 3, None);
        check(0, of("all").leak(), 3, None);
        check(0, of("all").leak(), 0, None);
    }

    #[test]
    fn each_wire_cuts_its_own_text_and_sends_the_rest_once() {
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
