//! The `---` lines around a header.

use std::ops::Range;

/// The end of a header.
pub(super) struct Fence {
    pub(super) header_end: usize,
    pub(super) body_start: usize,
}

/// Where the header starts, if the text starts with a fence. A BOM and blank lines may precede it.
pub(super) fn opening_fence(text: &str) -> Option<usize> {
    let mut at = after_bom(text);
    for line in lines_of(&text[at..]) {
        at += line.len();
        match line.trim_end() {
            "" => {}
            "---" if line.ends_with('\n') => return Some(at),
            _ => return None,
        }
    }
    None
}

/// The first unindented `---` alone on its line. A `---` inside a value is indented or has other text on its line.
pub(super) fn closing_fence(text: &str, header_start: usize) -> Option<Fence> {
    find_line(text, header_start, |line| line.starts_with("---") && line.trim_end() == "---")
        .map(|(start, line)| Fence { header_end: start, body_start: start + line.len() })
}

/// The first `---` followed by text on the same line, probably meant as the closing fence.
pub(super) fn fused_fence(text: &str, header_start: usize) -> Option<Fence> {
    find_line(text, header_start, |line| {
        line.strip_prefix("---").is_some_and(|rest| !rest.starts_with('-') && !rest.trim().is_empty())
    })
    .map(|(start, _)| Fence { header_end: start, body_start: start + 3 })
}

fn find_line(text: &str, from: usize, is_match: impl Fn(&str) -> bool) -> Option<(usize, &str)> {
    let mut at = from;
    for line in lines_of(&text[from..]) {
        if is_match(line) {
            return Some((at, line));
        }
        at += line.len();
    }
    None
}

/// The lines of a text with their line breaks. Faster than `str::split_inclusive` for short lines.
pub(super) fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// The three dashes of the fence whose line ends at `header_start`.
pub(super) fn fence_span(text: &str, header_start: usize) -> Range<usize> {
    let dashes = text[..header_start].rfind("---").expect("the header starts after a fence");
    dashes..dashes + 3
}

/// Where the text starts after a byte order mark.
pub(super) fn after_bom(text: &str) -> usize {
    text.len() - text.trim_start_matches('\u{feff}').len()
}
