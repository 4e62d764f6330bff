//! Splits a comma-separated list of patterns.

use std::ops::Range;

/// Splits at the commas outside braces, brackets and parentheses.
///
/// Pieces are trimmed and empty ones dropped; each has its byte range in `text`. A closing character without its opening
/// one is ordinary text. The rest after an unclosed opening character is one piece.
pub fn split_list(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut pieces = Vec::new();
    let mut closers: Vec<char> = Vec::new();
    let mut escaped = false;
    let mut start = 0;
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match c {
            '\\' => escaped = true,
            ',' if closers.is_empty() => {
                pieces.extend(trimmed(text, start..at));
                start = at + 1;
            }
            '{' => closers.push('}'),
            '[' => closers.push(']'),
            '(' => closers.push(')'),
            _ if closers.last() == Some(&c) => {
                closers.pop();
            }
            _ => {}
        }
    }
    pieces.extend(trimmed(text, start..text.len()));
    pieces
}

/// Splits at the commas outside braces only, as Claude Code does. Pieces are trimmed and empty ones dropped.
pub(crate) fn split_outside_braces(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let pieces = text.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    pieces.map(str::trim).filter(|piece| !piece.is_empty()).collect()
}

fn trimmed(text: &str, range: Range<usize>) -> Option<(Range<usize>, &str)> {
    let piece = text[range.clone()].trim_start();
    let start = range.end - piece.len();
    let piece = piece.trim_end();
    (!piece.is_empty()).then(|| (start..start + piece.len(), piece))
}

#[cfg(test)]
mod tests {
    use super::{split_list, split_outside_braces};

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let pieces = split_list(text);
        assert_eq!(pieces.iter().map(|(_, piece)| *piece).collect::<Vec<_>>(), want);
        for (range, piece) in pieces {
            assert_eq!(&text[range], piece);
        }
    }

    #[test]
    fn commas_split_outside_groups_only() {
        check("", &[]);
        check(" , ,", &[]);
        check("a", &["a"]);
        check(" a.ts , b/** ", &["a.ts", "b/**"]);
        check("*.{ts,tsx},b", &["*.{ts,tsx}", "b"]);
        check("[a,b],@(c,d),e", &["[a,b]", "@(c,d)", "e"]);
        check("{a,(b,c}),d", &["{a,(b,c}),d"]);
        check("a},b", &["a}", "b"]);
        check("{a,b", &["{a,b"]);
        check(r"\{a,b", &[r"\{a", "b"]);
        check("é , ü", &["é", "ü"]);
    }

    #[test]
    fn claude_splits_in_brackets_and_after_escapes() {
        assert_eq!(split_outside_braces(r" {a,b}.ts ,[c,d],\{e,f}"), ["{a,b}.ts", "[c", "d]", r"\{e,f}"]);
    }
}
