//! The lines of one side. A line without an end takes only bounded memory.

use std::io::{BufRead, Read as _};

/// The longest message. Messages contain whole files and images.
pub(super) const MAX_MESSAGE: usize = 64 << 20;

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// It is longer than the limit, and was skipped.
    TooLong,
}

/// Reads the next line of at most this many bytes; `None` at the end.
pub(super) fn next(from: &mut impl BufRead, most: usize) -> Option<Line> {
    let mut line = Vec::new();
    let room = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    if from.by_ref().take(room).read_until(b'\n', &mut line).ok()? == 0 {
        return None;
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Some(Line::Whole(line));
    }
    if line.len() <= most {
        return Some(Line::Whole(line));
    }
    drop(line);
    from.skip_until(b'\n').ok()?;
    Some(Line::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let mut text: &[u8] = b"{}\n12345\n123456\n\n1234567890123\nlast";
        let mut lines = Vec::new();
        while let Some(line) = next(&mut text, 5) {
            lines.push(match line {
                Line::Whole(line) => String::from_utf8(line).unwrap(),
                Line::TooLong => "too long".to_owned(),
            });
        }
        assert_eq!(lines, ["{}", "12345", "too long", "", "too long", "last"]);
    }
}
