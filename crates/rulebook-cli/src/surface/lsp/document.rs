//! A document that is open in the editor: its text, changed in parts, and the positions in it.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::protocol::{Change, Position, Span, path_of, real};

/// A document, as the editor has it.
#[derive(Debug)]
pub(super) struct Document {
    /// As the editor writes it.
    pub(super) uri: String,
    /// As the editor names it.
    pub(super) path: PathBuf,
    /// The canonical path.
    pub(super) real: PathBuf,
    pub(super) version: Option<i64>,
    pub(super) text: Arc<str>,
    /// The text when it was opened or last saved.
    pub(super) saved: Arc<str>,
    /// Whether the file did not exist when it was opened, and was not saved since.
    pub(super) is_new: bool,
    lines: Lines,
}

impl Document {
    /// Opens a document; `None` if it is not a file.
    pub(super) fn open(uri: String, version: Option<i64>, text: &str) -> Option<Document> {
        let path = path_of(&uri)?;
        let text: Arc<str> = text.into();
        let real = real(&path);
        let is_new = !real.exists();
        Some(Document {
            uri,
            path,
            real,
            is_new,
            version,
            saved: Arc::clone(&text),
            lines: Lines::of(&text),
            text,
        })
    }

    /// Applies changes, one after the other. Positions outside the text count as its nearest end.
    pub(super) fn apply(&mut self, changes: &[Change]) {
        let mut parts: Vec<Cow<'_, str>> = split(&self.text).map(Cow::Borrowed).collect();
        for change in changes {
            match change.range {
                None => parts = split(&change.text).map(Cow::Borrowed).collect(),
                Some(range) => replace(&mut parts, range, &change.text),
            }
        }
        let text = parts.concat().into();
        self.text = text;
        self.lines = Lines::of(&self.text);
    }

    pub(super) fn offset(&self, at: Position) -> usize {
        self.lines.offset(&self.text, at)
    }

    pub(super) fn span(&self, range: Range<usize>) -> Span {
        self.lines.span(&self.text, range)
    }

    /// Whether the editor has a text that is not saved.
    pub(super) fn is_edited(&self) -> bool {
        self.text != self.saved
    }

    pub(super) fn name(&self) -> &Path {
        &self.path
    }
}

/// The lines of a text, each with its end. The last one has none, and may be empty.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let starts = Lines::of(text).0;
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &text[start..end])
}

/// Replaces a range of a text that is split into lines. The cost depends on the lines that the range touches.
fn replace(lines: &mut Vec<Cow<'_, str>>, range: Span, text: &str) {
    let last = lines.len() - 1;
    let place = |at: Position| match lines.get(at.line) {
        Some(line) => (at.line, column(line, at.character)),
        None => (last, lines[last].len()),
    };
    let (mut first, start) = place(range.start);
    let (last, end) = place(range.end).max((first, start));
    let mut new = [&lines[first][..start], text, &lines[last][end..]].concat();
    // `\r` and `\n` that meet are one end.
    if new.starts_with('\n') && first > 0 && lines[first - 1].ends_with('\r') {
        first -= 1;
        new.insert_str(0, &lines[first]);
    }
    let mut new: Vec<_> = split(&new).map(|line| Cow::Owned(line.to_owned())).collect();
    if last + 1 < lines.len() {
        // The end of the new text is the start of the next line.
        new.pop();
    }
    lines.splice(first..=last, new);
}

/// The byte of a position in a line. Inside a character, its start; after the end of the line, that end.
fn column(line: &str, character: usize) -> usize {
    let line = line.trim_end_matches(['\r', '\n']);
    let mut units = 0;
    for (offset, c) in line.char_indices() {
        units += c.len_utf16();
        if units > character {
            return offset;
        }
    }
    line.len()
}

/// Where the lines of a text start.
#[derive(Clone, Debug)]
pub(super) struct Lines(Vec<usize>);

impl Lines {
    /// Lines end with `\n`, `\r\n` or `\r`.
    pub(super) fn of(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        Lines([0].into_iter().chain(ends.map(|(at, _)| at + 1)).collect())
    }

    /// The byte of a position.
    pub(super) fn offset(&self, text: &str, at: Position) -> usize {
        let Some(&start) = self.0.get(at.line) else { return text.len() };
        let end = self.0.get(at.line + 1).copied().unwrap_or(text.len());
        start + column(&text[start..end], at.character)
    }

    pub(super) fn position(&self, text: &str, offset: usize) -> Position {
        let offset = text.floor_char_boundary(offset);
        let line = self.0.partition_point(|start| *start <= offset) - 1;
        let character = text[self.0[line]..offset].chars().map(char::len_utf16).sum();
        Position { line, character }
    }

    pub(super) fn span(&self, text: &str, range: Range<usize>) -> Span {
        Span { start: self.position(text, range.start), end: self.position(text, range.end) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(line: usize, character: usize) -> Position {
        Position { line, character }
    }

    #[test]
    fn positions_count_utf_16_units() {
        #[track_caller]
        fn check(text: &str, position: Position, offset: usize) {
            let lines = Lines::of(text);
            assert_eq!(lines.offset(text, position), offset, "{text:?} {position:?}");
            assert_eq!(lines.position(text, offset), position, "{text:?} {offset}");
        }
        check("aé🦀b\nx", at(0, 2), 3);
        check("aé🦀b\nx", at(0, 4), 7);
        check("aé🦀b\nx", at(1, 1), 10);
        check("a\r\nb\rc", at(1, 0), 3);
        check("a\r\nb\rc", at(2, 1), 6);
        check("", at(0, 0), 0);
        let lines = Lines::of("🦀a\r\nb");
        assert_eq!(lines.offset("🦀a\r\nb", at(0, 1)), 0, "inside a pair");
        assert_eq!(lines.offset("🦀a\r\nb", at(0, 99)), 5, "after the end of the line");
        assert_eq!(lines.offset("🦀a\r\nb", at(99, 0)), 8, "after the end of the text");
    }

    proptest! {
        /// Any changes, in parts, give the text that the editor has.
        #[test]
        fn changes_in_parts_equal_changes_of_the_whole(
            start in "[a🦀é\r\n-]{0,12}",
            edits in prop::collection::vec((0usize..14, 0usize..14, "[x🦀\r\n]{0,4}"), 0..8),
        ) {
            let mut document = Document::open("file:///a.md".to_owned(), None, &start).unwrap();
            let mut all_at_once = Document::open("file:///a.md".to_owned(), None, &start).unwrap();
            let mut changes = Vec::new();
            let mut text = start;
            for (one, other, new) in edits {
                let bound = |at: usize| {
                    let at = text.floor_char_boundary(at.min(text.len()));
                    // Between `\r` and `\n` is no position.
                    at - usize::from(text[..at].ends_with('\r') && text[at..].starts_with('\n'))
                };
                let (low, high) = (bound(one.min(other)), bound(one.max(other)));
                let range = Some(Lines::of(&text).span(&text, low..high));
                text.replace_range(low..high, &new);
                let change = Change { range, text: new };
                document.apply(std::slice::from_ref(&change));
                prop_assert_eq!(&*document.text, &text);
                changes.push(change);
            }
            all_at_once.apply(&changes);
            prop_assert_eq!(&*all_at_once.text, &text);
            prop_assert_eq!(all_at_once.lines.0, document.lines.0);
        }
    }
}
