//! One segment of a plain pattern.

use std::ops::Range;

/// `head*middle{first,second}tail`, where the star and the list may be absent.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) head: Span,
    pub(super) has_star: bool,
    pub(super) middle: Span,
    /// Between the braces.
    pub(super) list: Option<Span>,
    tail: Span,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    start: u16,
    end: u16,
}

impl Span {
    pub(super) fn of<'g>(&self, pattern: &'g str) -> &'g str {
        &pattern[self.start.into()..self.end.into()]
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.end - self.start)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

impl From<Range<usize>> for Span {
    // Patterns have at most 4 KiB.
    fn from(range: Range<usize>) -> Span {
        Span { start: range.start as u16, end: range.end as u16 }
    }
}

impl Name {
    /// A lone `*`.
    pub(super) fn is_any(&self) -> bool {
        self.has_star && self.list.is_none() && self.head.is_empty() && self.middle.is_empty()
    }

    /// `*.ext` or `*.{one,two}`.
    pub(super) fn is_any_with_extension(&self, pattern: &str) -> bool {
        let is_any = self.has_star && self.head.is_empty();
        is_any
            && match self.last(pattern) {
                Last::Extension(extension) => self.list.is_none() && self.middle.len() == extension.len() + 1,
                Last::Extensions(list) => self.middle.len() == 1 && !list.contains('.'),
                Last::Name(_) | Last::Unknown => false,
            }
    }

    pub(super) fn is_match(&self, pattern: &str, name: &str) -> bool {
        if self.is_any() {
            return !name.is_empty();
        }
        let Some(rest) = name.strip_prefix(self.head.of(pattern)) else { return false };
        let Some(list) = self.list else { return self.ends(pattern, rest) };
        let Some(rest) = rest.strip_suffix(self.tail.of(pattern)) else { return false };
        list.of(pattern)
            .split(',')
            .any(|word| rest.strip_suffix(word).is_some_and(|rest| self.ends(pattern, rest)))
    }

    fn ends(&self, pattern: &str, rest: &str) -> bool {
        let middle = self.middle.of(pattern);
        if self.has_star { rest.ends_with(middle) } else { rest == middle }
    }

    pub(super) fn last<'g>(&self, pattern: &'g str) -> Last<'g> {
        let middle = self.middle.of(pattern);
        let Some(list) = self.list else {
            return middle.rsplit_once('.').map_or(Last::Unknown, |(_, end)| Last::Extension(end));
        };
        if let Some((_, end)) = self.tail.of(pattern).rsplit_once('.') {
            return Last::Extension(end);
        }
        let list = list.of(pattern);
        let before = if self.has_star { middle } else { self.head.of(pattern) };
        if self.tail.is_empty() && before.ends_with('.') {
            return Last::Extensions(list);
        }
        Last::Unknown
    }
}

/// What is known about the last segment of every match.
#[derive(Debug)]
pub(in super::super) enum Last<'g> {
    Unknown,
    Name(&'g str),
    Extension(&'g str),
    /// A comma-separated list of words; the extension is the part after the last dot of one of them.
    Extensions(&'g str),
}

/// The extensions in a list of [`Last::Extensions`].
pub(in super::super) fn extensions(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(|word| word.rsplit('.').next().unwrap_or(word))
}

pub(super) enum Segment {
    Literal,
    Globstar,
    Name(Name),
}

/// Reads up to the next slash or the end; `None` if the segment is not plain.
pub(super) fn read_segment(pattern: &str, start: usize) -> Option<(usize, Segment)> {
    let bytes = pattern.as_bytes();
    let len = bytes[start..].iter().position(|&c| !is_literal(c)).unwrap_or(bytes.len() - start);
    let at = start + len;
    match bytes.get(at) {
        None | Some(b'/') => {
            let text = &pattern[start..at];
            (!matches!(text, "" | "." | "..")).then_some((at, Segment::Literal))
        }
        Some(b'*' | b'{') => read_wild(pattern, start, at),
        _ => None,
    }
}

fn read_wild(pattern: &str, start: usize, mut at: usize) -> Option<(usize, Segment)> {
    let bytes = pattern.as_bytes();
    let head = start..at;
    let has_star = bytes[at] == b'*';
    if has_star {
        // `.*` does not match a lone dot, so it is not plain.
        if &pattern[head.clone()] == "." {
            return None;
        }
        at += 1;
        if head.is_empty() && bytes.get(at) == Some(&b'*') {
            let ends = matches!(bytes.get(at + 1), None | Some(b'/'));
            return ends.then_some((at + 1, Segment::Globstar));
        }
    }
    let middle = at..literal_end(bytes, at);
    at = middle.end;
    let mut list = None;
    let mut tail = at..at;
    if bytes.get(at) == Some(&b'{') {
        let inside = at + 1..at + bytes[at..].iter().position(|&c| c == b'}')?;
        if !is_word_list(&pattern[inside.clone()]) {
            return None;
        }
        at = inside.end + 1;
        tail = at..literal_end(bytes, at);
        at = tail.end;
        list = Some(inside.into());
    }
    let name = Name { head: head.into(), has_star, middle: middle.into(), list, tail: tail.into() };
    matches!(bytes.get(at), None | Some(b'/')).then_some((at, Segment::Name(name)))
}

fn literal_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|&c| !is_literal(c)).map_or(bytes.len(), |len| start + len)
}

/// Whether the text is 2 to 100 literals without `..`, which would make a range.
fn is_word_list(text: &str) -> bool {
    let mut commas = 0;
    let mut before = 0;
    for byte in text.bytes() {
        if (byte == b'.' && before == b'.') || (byte != b',' && !is_literal(byte)) {
            return false;
        }
        commas += usize::from(byte == b',');
        before = byte;
    }
    (1..100).contains(&commas)
}

/// Whether the byte is literal everywhere in a pattern.
fn is_literal(byte: u8) -> bool {
    LITERAL[usize::from(byte)]
}

/// A table, because every byte of every pattern is looked up.
const LITERAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = matches!(byte as u8,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80..
            | b'_' | b'-' | b'.' | b' ' | b'@' | b'#' | b'~' | b'%' | b'=' | b'&');
        byte += 1;
    }
    table
};

pub(super) fn is_segment_match(segment: &str, name: &str) -> bool {
    match read_segment(segment, 0) {
        Some((_, Segment::Name(wild))) => wild.is_match(segment, name),
        _ => segment == name,
    }
}
