//! Guards: patterns without look-around and back-references that match wherever the original may.
//!
//! The automaton follows a guard, so that text is held back only while the original may match.

use super::engine::Engine;
use super::javascript::LOOKS;
use super::{Pattern, read};

/// The guard of a pattern; `None` if none is known or if it matches everywhere.
pub(in crate::stream) fn guard(written: &str) -> Option<Pattern> {
    let pattern = read(&relaxed(written)).ok()?;
    (pattern.engine == Engine::Automaton && !pattern.matches_empty).then_some(pattern)
}

/// A pattern without its look-arounds, and with any text for its back-references.
fn relaxed(written: &str) -> String {
    let mut text = String::new();
    let mut rest = written;
    let mut is_class = false;
    while let Some(c) = rest.chars().next() {
        let look = LOOKS.iter().find(|look| !is_class && rest.starts_with(**look));
        let len = match c {
            _ if look.is_some() => group_len(rest),
            '\\' if !is_class && is_reference(&rest[1..]) => {
                text.push_str("[^]*");
                1 + reference_len(&rest[1..])
            }
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
        match c {
            _ if look.is_some() => {}
            '\\' if !is_class && is_reference(&rest[1..]) => {}
            _ => text.push_str(&rest[..len]),
        }
        is_class = if c == '[' { true } else { is_class && c != ']' };
        rest = &rest[len..];
    }
    text
}

/// Whether a back-reference follows a backslash.
fn is_reference(after: &str) -> bool {
    after.starts_with("k<") || after.starts_with(|c: char| ('1'..='9').contains(&c))
}

/// The length of a back-reference after its backslash.
fn reference_len(after: &str) -> usize {
    match after.strip_prefix("k<") {
        Some(name) => 2 + name.find('>').map_or(name.len(), |end| end + 1),
        None => after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len(),
    }
}

/// The length of the group at the start of a text, with a count after it.
fn group_len(text: &str) -> usize {
    let (mut depth, mut is_class, mut is_escaped) = (0usize, false, false);
    let end = text.char_indices().find_map(|(at, c)| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        match c {
            _ if was_escaped => {}
            '[' => is_class = true,
            ']' => is_class = false,
            '(' if !is_class => depth += 1,
            ')' if !is_class => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at + 1)
    });
    let end = end.unwrap_or(text.len());
    let count = text[end..].strip_prefix(['*', '+', '?']).map_or(0, |_| 1);
    end + count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_has_no_look_around_and_no_references() {
        #[track_caller]
        fn check(written: &str, wanted: &str) {
            assert_eq!(relaxed(written), wanted);
        }
        check("log(?!ger)", "log");
        check(r"(?<=a(b|[)]))c\)(?=\(d)e", r"c\)e");
        check(r"(\w)\1!", r"(\w)[^]*!");
        check(r"(?<x>a)\k<x>b", "(?<x>a)[^]*b");
        check(r"[(?!a)]\\1", r"[(?!a)]\\1");
        check("(?=a)*b", "b");
    }

    #[test]
    fn a_guard_that_matches_everywhere_is_of_no_use() {
        assert!(guard("log(?!ger)").is_some());
        assert!(guard("(?=foo)").is_none());
        assert!(guard("a*(?!b)").is_none());
    }
}
