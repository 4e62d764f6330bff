//! Guards: patterns without look-around and back-references that match wherever the original may.
//!
//! The automaton follows a guard, so that text is held back only while the original may match.

use super::engine::Engine;
use super::javascript::LOOKS;
use super::{MAX_FALLBACK, Pattern, read};

/// The maximum number of groups that are copied for back-references.
const MAX_GROUPS: usize = 100;

/// The guard of a pattern; `None` if none is known or if it matches everywhere.
pub(in crate::stream) fn guard(written: &str) -> Option<Pattern> {
    let pattern = read(&relaxed(written)).ok()?;
    (pattern.engine == Engine::Automaton && !pattern.matches_empty).then_some(pattern)
}

/// A pattern without its look-arounds, and with a copy of the group for each back-reference.
fn relaxed(written: &str) -> String {
    let groups = groups(written);
    let copy = |after: &str| {
        let wanted = &after[..reference_len(after)];
        let name = wanted.strip_prefix("k<").map(|name| name.trim_end_matches('>'));
        let number = |at: usize| wanted.parse() == Ok(at + 1);
        let found = groups.iter().enumerate().find(|(at, (known, _))| match name {
            Some(name) => *known == Some(name),
            None => number(*at),
        });
        found.map(|(_, (_, inner))| without(inner, &|_| None))
    };
    without(written, &copy)
}

/// A pattern without its look-arounds, with a copy of what a back-reference repeats, or else with any text.
fn without(written: &str, copy: &dyn Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let mut rest = written;
    let mut is_class = false;
    while let Some(c) = rest.chars().next() {
        let look = LOOKS.iter().find(|look| !is_class && rest.starts_with(**look));
        let len = match c {
            _ if look.is_some() => group_len(rest),
            '\\' if !is_class && is_reference(&rest[1..]) => {
                // The group may not take part in the match: then the reference is empty.
                match copy(&rest[1..]).filter(|copy| text.len() + copy.len() <= MAX_FALLBACK) {
                    Some(copy) => text.push_str(&format!("(?:{copy})?")),
                    None => text.push_str("[^]*"),
                }
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

/// The capturing groups: the name of each, and the pattern in it.
fn groups(written: &str) -> Vec<(Option<&str>, &str)> {
    let (mut groups, mut is_class, mut is_escaped) = (Vec::new(), false, false);
    for (at, c) in written.char_indices() {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        match c {
            _ if was_escaped => {}
            '[' => is_class = true,
            ']' => is_class = false,
            '(' if !is_class && groups.len() < MAX_GROUPS => {
                let inner = &written[at + 1..];
                let name = inner.strip_prefix("?<").filter(|name| !name.starts_with(['=', '!']));
                let (name, inner) = match name.and_then(|name| name.split_once('>')) {
                    Some((name, inner)) => (Some(name), inner),
                    None if inner.starts_with('?') => continue,
                    None => (None, inner),
                };
                groups.push((name, inner_of(inner)));
            }
            _ => {}
        }
    }
    groups
}

/// The text up to the parenthesis that closes the group whose content starts here.
fn inner_of(text: &str) -> &str {
    let (mut depth, mut is_class, mut is_escaped) = (0usize, false, false);
    for (at, c) in text.char_indices() {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        match c {
            _ if was_escaped => {}
            '[' => is_class = true,
            ']' => is_class = false,
            '(' if !is_class => depth += 1,
            ')' if !is_class && depth == 0 => return &text[..at],
            ')' if !is_class => depth -= 1,
            _ => {}
        }
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
    let inner = text.strip_prefix('(').map_or(0, |inner| inner_of(inner).len());
    let end = (inner + 2).min(text.len());
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
        check(r"(\w)\1!", r"(\w)(?:\w)?!");
        check(r"(?<x>a)\k<x>b", "(?<x>a)(?:a)?b");
        check(r"([(])(?:b(c|\)))\2\1", r"([(])(?:b(c|\)))(?:c|\))?(?:[(])?");
        check(r"((a)\2)\1\3", r"((a)(?:a)?)(?:(a)[^]*)?[^]*");
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
