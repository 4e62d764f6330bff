//! Where two texts differ.

use std::ops::Range;

use tree_sitter::{InputEdit, Point};

/// How much two texts have in common at their beginning and at their end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The bytes before the first that differs.
    start: usize,
    /// The bytes after the last that differs.
    end: usize,
}

impl Difference {
    pub(crate) fn between(before: &str, after: &str) -> Difference {
        // Comparing memory is much faster than comparing bytes.
        let common = |equal: &dyn Fn(usize, usize) -> bool, most: usize| {
            let (mut low, mut high) = (0, most);
            while low < high {
                let middle = low + (high - low).div_ceil(2);
                if equal(low, middle) { low = middle } else { high = middle - 1 }
            }
            low
        };
        let (old, new) = (before.as_bytes(), after.as_bytes());
        let most = old.len().min(new.len());
        let start = common(&|low, high| old[low..high] == new[low..high], most);
        let at_end = |text: &[u8], low: usize, high: usize| text.len() - high..text.len() - low;
        let end =
            common(&|low, high| old[at_end(old, low, high)] == new[at_end(new, low, high)], most - start);
        let is_boundary = |text: &str, at: usize| text.is_char_boundary(at);
        let start = (0..=start).rev().find(|at| is_boundary(before, *at) && is_boundary(after, *at));
        let ends = |at: &usize| is_boundary(before, old.len() - at) && is_boundary(after, new.len() - at);
        Difference { start: start.unwrap_or(0), end: (0..=end).rev().find(ends).unwrap_or(0) }
    }

    /// The same without ranges of the text after.
    pub(crate) fn without(self, ranges: impl Iterator<Item = Range<usize>>, after: &str) -> Difference {
        ranges.fold(self, |known, range| Difference {
            start: known.start.min(range.start),
            end: known.end.min(after.len().saturating_sub(range.end)),
        })
    }

    /// The part of one of the texts that differs.
    pub(crate) fn part(self, text: &str) -> Range<usize> {
        self.start..text.len() - self.end
    }

    /// How many bytes are the same.
    pub(crate) fn same(self) -> usize {
        self.start + self.end
    }

    /// The difference as an edit of the tree of the text before.
    pub(crate) fn edit(self, before: &str, after: &str) -> InputEdit {
        let Difference { start, end } = self;
        let (old_end, new_end) = (before.len() - end, after.len() - end);
        InputEdit {
            start_byte: start,
            old_end_byte: old_end,
            new_end_byte: new_end,
            start_position: point(before, start),
            old_end_position: point(before, old_end),
            new_end_position: point(after, new_end),
        }
    }
}

/// The line and the byte in it of a position.
fn point(text: &str, at: usize) -> Point {
    let above = &text.as_bytes()[..at];
    let line_start = memchr::memrchr(b'\n', above).map_or(0, |newline| newline + 1);
    Point::new(memchr::memchr_iter(b'\n', above).count(), at - line_start)
}
