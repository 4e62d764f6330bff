//! Blocks: copies of rules inside a file that people write too, such as `AGENTS.md`.

use std::borrow::Cow;
use std::ops::Range;

use super::name::{MARKER, marker};

/// The blocks of a file.
#[derive(Debug)]
pub struct Blocks<'t> {
    text: &'t str,
}

/// Returns where a line is in a text, with its line break of either kind.
fn line_of(text: &str, line: &str, from: usize) -> Option<Range<usize>> {
    let is_whole = |at: usize| {
        let rest = text[at + line.len()..].trim_start_matches('\r');
        (at == 0 || text[..at].ends_with('\n')) && rest.starts_with('\n')
    };
    let start = text[from..].match_indices(line).map(|(at, _)| from + at).find(|at| is_whole(*at))?;
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at + 1);
    Some(start..end)
}

/// The text before a block, without the line break that was added with it, unless people wrote more after it since: the line
/// break then ends the line before.
fn before_block<'t>(text: &'t str, block: &Range<usize>) -> &'t str {
    let (before, after) = (&text[..block.start], &text[block.end..]);
    let without = before.strip_suffix('\n').unwrap_or(before);
    let is_ended = without.is_empty() || without.trim_end_matches('\r').ends_with('\n');
    let is_followed = !after.is_empty() && !after.starts_with(['\n', '\r']);
    if is_followed && !is_ended { before } else { without }
}

/// Renders the block of a rule.
#[must_use]
pub fn block(source: &str, body: &str) -> String {
    format!("{}\n{}\n{}\n", marker(source), body.trim_end(), end_marker(source))
}

/// Returns a text without its blocks: what people wrote.
#[must_use]
pub fn outside_blocks(text: &str) -> Cow<'_, str> {
    let mut outside = Cow::Borrowed(text);
    let mut from = 0;
    while let Some(at) = outside[from..].find(MARKER).map(|at| from + at) {
        let line = outside[at..].lines().next().unwrap_or_default();
        let is_line = at == 0 || outside[..at].ends_with('\n');
        let end = line.replacen(MARKER, END, 1);
        let close = (outside[at..].match_indices(&end).map(|(end, _)| at + end))
            .find(|end| outside[..*end].ends_with('\n'));
        from = match close.filter(|_| is_line) {
            Some(close) => {
                let rest = close + end.len();
                let rest = rest + usize::from(outside[rest..].starts_with('\n'));
                let before = before_block(&outside, &(at..rest)).len();
                outside = [&outside[..before], &outside[rest..]].concat().into();
                before
            }
            None => at + MARKER.len(),
        };
    }
    outside
}

/// Whether a text can be the body of a block: no line of it looks like the begin or the end of one.
pub(super) fn fits_in_block(body: &str) -> bool {
    !body.lines().any(|line| line.starts_with(MARKER) || line.starts_with(END))
}

const END: &str = "<!-- rulebook: end of ";

fn end_marker(source: &str) -> String {
    marker(source).replacen(MARKER, END, 1)
}

impl<'t> Blocks<'t> {
    /// Finds the blocks of a text.
    pub fn of(text: &'t str) -> Blocks<'t> {
        Blocks { text }
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.text.lines().filter(|line| line.starts_with(END)).count()
    }

    /// Returns where the block of a source is, with the line break that separates it from the text before.
    fn find(&self, source: &str) -> Option<Range<usize>> {
        let start = line_of(self.text, &marker(source), 0)?.start;
        let end = line_of(self.text, &end_marker(source), start)?.end;
        Some(start..end)
    }

    /// Returns the block of a source.
    pub fn get(&self, source: &str) -> Option<&'t str> {
        self.find(source).map(|range| &self.text[range])
    }

    /// Returns the text with the block of a source, in its place if it has one, else at the end.
    #[must_use]
    pub fn with(&self, source: &str, block: &str) -> String {
        match self.find(source) {
            Some(range) => [&self.text[..range.start], block, &self.text[range.end..]].concat(),
            None if self.text.is_empty() => block.to_owned(),
            // One line break, whether or not the text ends with one: so it is known what to remove.
            None => [self.text, "\n", block].concat(),
        }
    }

    /// Returns the text without the block of a source: what it was before the block was added.
    #[must_use]
    pub fn without(&self, source: &str) -> String {
        let Some(range) = self.find(source) else { return self.text.to_owned() };
        [before_block(self.text, &range), &self.text[range.end..]].concat()
    }
}
