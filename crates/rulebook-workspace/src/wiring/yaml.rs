//! Block mappings and lists of YAML, found by their lines: enough for the entries of a host's settings.

use std::ops::Range;

/// A top-level key whose value is a block: the lines below it that are indented, or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// The line of the key, without its line end.
    pub key: Range<usize>,
    /// The text after the key on its line: empty, or a comment, or another kind of value.
    pub value: String,
    /// The indentation of its entries; empty if it has none.
    pub indent: String,
    /// The names of its entries, of a list the first lines of its items, each with its lines. A range starts before the line end above the entry and ends before the
    /// entry's own, so that cutting it leaves the lines around it as they are.
    pub entries: Vec<(String, Range<usize>)>,
}

/// Finds a top-level key.
pub fn section(text: &str, name: &str) -> Option<Section> {
    let lines = lines(text);
    let at = lines.iter().position(|line| key_of(&text[line.clone()]) == Some(name))?;
    let key = lines[at].clone();
    let value = text[key.start + name.len() + 1..key.end].trim().to_owned();
    let mut section = Section { value, indent: String::new(), entries: Vec::new(), key: key.clone() };
    let mut end = key.end;
    for line in &lines[at + 1..] {
        let words = &text[line.clone()];
        let (indent, rest) = words.split_at(words.len() - words.trim_start_matches(' ').len());
        if rest.is_empty() || rest.starts_with('#') {
            continue;
        }
        let item = rest.strip_prefix("- ").map(str::trim);
        if indent.is_empty() && item.is_none() {
            break;
        }
        if section.entries.is_empty() {
            indent.clone_into(&mut section.indent);
        }
        match (item.or_else(|| key_of(rest)), section.entries.last_mut()) {
            (Some(name), _) if indent == section.indent => {
                section.entries.push((name.to_owned(), end..line.end));
            }
            (_, Some((_, entry))) => entry.end = line.end,
            (_, None) => {}
        }
        end = line.end;
    }
    Some(section)
}

/// The first document of a text, without a byte order mark before it and without the line that ends it.
pub fn document(text: &str) -> Range<usize> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (mut end, mut has_begun) = (start, false);
    for line in text[start..].split_inclusive('\n') {
        let words = line.trim_end();
        let is = |mark| words.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        if is("...") || (has_begun && is("---")) {
            break;
        }
        has_begun |= !words.is_empty() && !words.starts_with(['#', '%']);
        end += line.len();
    }
    start..end
}

/// The lines of the first document of a text, without their line ends.
fn lines(text: &str) -> Vec<Range<usize>> {
    let document = document(text);
    let mut start = document.start;
    let line = |line: &str| {
        let whole = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        whole
    };
    text[document].split_inclusive('\n').map(line).collect()
}

/// The key at the start of a line.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let is_key = !key.is_empty() && !key.contains([' ', '#', '-', '"', '\'', '{', '[']);
    (is_key && (rest.is_empty() || rest.starts_with(' '))).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_document_counts() {
        #[track_caller]
        fn check(text: &str, want: &str) {
            assert_eq!(&text[document(text)], want, "{text:?}");
        }
        check("", "");
        check("\u{feff}a: 1\n", "a: 1\n");
        check("a: 1\n...\nb: 2\n", "a: 1\n");
        check("# x\n---\na: 1\n--- \nb: 2\n", "# x\n---\na: 1\n");
        check("a: |\n  ...\n", "a: |\n  ...\n");
        assert_eq!(section("a: 1\n...\nb: 2\n", "b"), None);
        assert_eq!(section("\u{feff}b: 2\n", "b").unwrap().key, 3..7);
    }

    #[test]
    fn entries_are_found_with_their_lines() {
        let text = "a: 1\nextensions: # mine\n  one:\n    x: 1\n\n  # two\n  two:\n    - 3\nb:\n  one: 1\n";
        let found = section(text, "extensions").unwrap();
        assert_eq!((found.value.as_str(), found.indent.as_str()), ("# mine", "  "));
        let entries: Vec<(&str, &str)> =
            found.entries.iter().map(|(name, at)| (name.as_str(), &text[at.clone()])).collect();
        assert_eq!(entries, [("one", "\n  one:\n    x: 1"), ("two", "\n\n  # two\n  two:\n    - 3")]);
        assert_eq!(section(text, "one"), None);
        assert_eq!(section("extensions:", "extensions").unwrap().entries, []);
        for indent in ["", "  "] {
            let text = format!("read:\n{indent}- name: a\n{indent}  x: 1\n\n{indent}- b.md # b\nc: 1\n");
            let found = section(&text, "read").unwrap();
            let entries: Vec<(&str, &str)> =
                found.entries.iter().map(|(name, at)| (name.as_str(), &text[at.clone()])).collect();
            let [a, b] = [format!("\n{indent}- name: a\n{indent}  x: 1"), format!("\n\n{indent}- b.md # b")];
            assert_eq!((&*found.indent, entries), (indent, vec![("name: a", &*a), ("b.md # b", &*b)]));
        }
    }
}
