//! The place in a header where somebody types: the keys around it, and the key or value at it.

use rulebook::parse::explain_inner_keys;

/// Where in a header somebody types.
#[derive(Debug, PartialEq)]
pub(super) struct Cursor<'t> {
    /// The keys of the maps around it.
    pub(super) parents: Vec<&'t str>,
    pub(super) at: At<'t>,
}

/// What is typed there, as far as it is written.
#[derive(Debug, PartialEq)]
pub(super) enum At<'t> {
    Key(&'t str),
    Value { key: &'t str, typed: &'t str },
}

/// A map or a list in brackets.
struct Open<'t> {
    is_list: bool,
    /// The key whose value it is; none for one in a list.
    key: Option<&'t str>,
}

/// The place of an offset in the header; `None` outside of it. A header that is not closed yet ends at the offset.
pub(super) fn in_header(text: &str, offset: usize) -> Option<Cursor<'_>> {
    let mut lines = text[..offset].split('\n');
    lines.next().filter(|line| line.trim_start_matches('\u{feff}').trim_end() == "---")?;
    let lines: Vec<&str> = lines.collect();
    let (line, above) = lines.split_last()?;
    if above.iter().any(|line| line.trim_end() == "---") {
        return None;
    }
    // The keys of the maps that are open, with their columns.
    let mut open: Vec<(usize, &str)> = Vec::new();
    for line in above.iter().filter(|line| !line.trim().is_empty()) {
        let (column, _, rest) = item(line);
        open.retain(|(above, _)| *above < column);
        open.extend(key_and_value(rest).map(|(key, _)| (column, key)));
    }
    let (column, is_item, rest) = item(line);
    open.retain(|(above, _)| *above < column);
    let parents: Vec<&str> = open.into_iter().map(|(_, key)| key).collect();
    let is_open = |text: &str| text.starts_with(['{', '[']);
    Some(match key_and_value(rest) {
        _ if is_open(rest) => in_brackets(rest, parents, None),
        Some((key, value)) if is_open(value.trim_start()) => {
            in_brackets(value.trim_start(), parents, Some(key))
        }
        // The colon of an item is part of a word: `- tool:edit`.
        Some((_, "")) if is_item && !parents.is_empty() && explain_inner_keys(&parents).is_empty() => {
            let (key, above) = parents.split_last().map(|(key, above)| (*key, above.to_vec()))?;
            Cursor { parents: above, at: At::Value { key, typed: rest } }
        }
        Some((key, value)) => {
            let typed = value.rsplit(',').next().unwrap_or(value).trim_start();
            Cursor { parents, at: At::Value { key, typed } }
        }
        None if is_item && explain_inner_keys(&parents).is_empty() => {
            let (key, above) = parents.split_last().map(|(key, above)| (*key, above.to_vec()))?;
            Cursor { parents: above, at: At::Value { key, typed: rest } }
        }
        None => Cursor { parents, at: At::Key(rest) },
    })
}

/// The column of what a line contains, whether it is an item of a list, and the rest of the line.
fn item(line: &str) -> (usize, bool, &str) {
    let mut rest = line.trim_start();
    let mut is_item = false;
    while let Some(after) = rest.strip_prefix('-').filter(|after| after.is_empty() || after.starts_with(' '))
    {
        rest = after.trim_start();
        is_item = true;
    }
    let dash = line.len() - line.trim_start().len();
    // An item may be in the column of its key.
    (if is_item { (line.len() - rest.len()).max(dash + 1) } else { dash }, is_item, rest)
}

/// The key of a line that has one, and what follows.
fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let is_key = !key.is_empty() && !key.contains([' ', '"', '\'', '{', '[']);
    (is_key && (value.is_empty() || value.starts_with([' ', '\r']))).then_some((key, value))
}

/// Whether the innermost bracket is a list whose items have no keys.
fn is_word_list(parents: &[&str], open: &[Open<'_>]) -> bool {
    let keys: Vec<&str> = parents.iter().copied().chain(open.iter().filter_map(|one| one.key)).collect();
    open.last().is_some_and(|last| last.is_list) && explain_inner_keys(&keys).is_empty()
}

/// The place at the end of a text in brackets, which is the value of a key.
fn in_brackets<'t>(text: &'t str, mut parents: Vec<&'t str>, first: Option<&'t str>) -> Cursor<'t> {
    let mut open: Vec<Open<'t>> = Vec::new();
    // The key whose value follows, where the current word starts, and the quote that is open.
    let (mut key, mut start, mut quote) = (first, 0, None);
    for (at, c) in text.char_indices() {
        let is_end = quote == Some(c);
        match c {
            _ if quote.is_some() => quote = quote.filter(|_| !is_end),
            '"' | '\'' => quote = Some(c),
            '{' | '[' => {
                open.push(Open { is_list: c == '[', key: key.take() });
                start = at + 1;
            }
            '}' | ']' => {
                open.pop();
                key = None;
                start = at + 1;
            }
            ',' => {
                key = None;
                start = at + 1;
            }
            // In a list of words, the colon is part of one: `[tool:edit]`.
            ':' if text[at + 1..].is_empty() && is_word_list(&parents, &open) => {}
            ':' if text[at + 1..].is_empty() || text[at + 1..].starts_with(' ') => {
                key = Some(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let typed = text[start..].trim_start();
    let list_of = open.last().filter(|last| last.is_list).and_then(|list| list.key);
    let keys = open.iter().filter_map(|one| one.key).filter(|key| Some(*key) != list_of);
    parents.extend(keys);
    let at = match key.or(list_of) {
        Some(key) => At::Value { key, typed },
        None => At::Key(typed),
    };
    Cursor { parents, at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_in_a_header_is_known() {
        #[track_caller]
        fn check(before: &str, wanted: Option<(&[&str], At<'_>)>) {
            let wanted = wanted.map(|(parents, at)| Cursor { parents: parents.to_vec(), at });
            assert_eq!(in_header(before, before.len()), wanted, "{before:?}");
        }
        let value = |key, typed| Some((&[][..], At::Value { key, typed }));
        let key = |typed| Some((&[][..], At::Key(typed)));
        check("---\n", key(""));
        check("---\nglo", key("glo"));
        check("---\na: 1\nglobs: src/", value("globs", "src/"));
        check("---\nglobs: a, b/", value("globs", "b/"));
        check("---\nglobs: [\"a\", \"b", value("globs", "\"b"));
        check("---\nglobs:\n  - a\n  - \"s", value("globs", "\"s"));
        check("---\nglobs:\n- s", value("globs", "s"));
        check("---\na: 1\n---\nx", None);
        check("x", None);
        check("", None);
        check("---\r\nglo", key("glo"));
        check("---\nast: {", Some((&["ast"], At::Key(""))));
        check("---\nast: {language: ts, pat", Some((&["ast"], At::Key("pat"))));
        check("---\nast: {language: ", Some((&["ast"], At::Value { key: "language", typed: "" })));
        check("---\nast: [{kind: a}, {ki", Some((&["ast"], At::Key("ki"))));
        check("---\nast:\n  language: ts\n  inside:\n    k", Some((&["ast", "inside"], At::Key("k"))));
        check("---\nast:\n  - kind: a\n    ha", Some((&["ast"], At::Key("ha"))));
        check("---\nast:\n  inside:\n    kind: b\n  h", Some((&["ast"], At::Key("h"))));
        check("---\nast:\n  - pat", Some((&["ast"], At::Key("pat"))));
        check("---\nast:\n  inside: b\nglo", key("glo"));
        check(
            "---\nrequires: {do: {edit: \"src/",
            Some((&["requires", "do"], At::Value { key: "edit", typed: "\"src/" })),
        );
        check("---\nrequires: {do: {command: \"a, {b: c\"}, be", Some((&["requires"], At::Key("be"))));
        check("---\nscope: [text, tool:", value("scope", "tool:"));
        check("---\nscope:\n  - tool:", value("scope", "tool:"));
        check("---\nscope:\n  - tool:ed", value("scope", "tool:ed"));
        check("---\nwhen: \"paths:a AND mo", value("when", "\"paths:a AND mo"));
    }
}
