//! Blocks: copies of rules inside a file that people write too, such as `AGENTS.md`.

use std::ops::Range;

use super::name::marker;

/// The blocks of a file.
#[derive(Debug)]
pub struct Blocks<'t> {
    text: &'t str,
}

/// Renders the block of a rule.
#[must_use]
pub fn block(source: &str, body: &str) -> String {
    format!("{}\n{}\n{}\n", marker(source), body.trim_end(), end_marker(source))
}

fn end_marker(source: &str) -> String {
    marker(source).replacen("copy of", "end of", 1)
}

impl<'t> Blocks<'t> {
    /// Finds the blocks of a text.
    pub fn of(text: &'t str) -> Blocks<'t> {
        Blocks { text }
    }

    /// Returns where the block of a source is, with the line break that separates it from the text before.
    fn find(&self, source: &str) -> Option<Range<usize>> {
        let (begin, end) = (marker(source) + "\n", end_marker(source) + "\n");
        let is_line = |at: usize| at == 0 || self.text[..at].ends_with('\n');
        let start = self.text.match_indices(&begin).map(|(at, _)| at).find(|at| is_line(*at))?;
        let close =
            self.text[start..].match_indices(&end).map(|(at, _)| start + at).find(|at| is_line(*at))?;
        Some(start..close + end.len())
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
        let start = range.start - usize::from(self.text[..range.start].ends_with('\n'));
        [&self.text[..start], &self.text[range.end..]].concat()
    }
}
