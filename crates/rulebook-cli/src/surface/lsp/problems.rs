//! Diagnostics of the engine as an editor shows them. While somebody types, the problems of that file are computed at
//! once, and those that depend on other files are kept from the last check.

use std::collections::HashSet;

use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::fix::diagnose;
use rulebook::source::MAX_SOURCE;
use serde_json::{Value, json};

use super::document::Document;
use super::protocol::{Position, Span};
use super::snapshot::Snapshot;

/// The page that explains the codes, if the project has an address.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The problems of an open document. `checked` are those of the last check.
pub(super) fn of_document(
    snapshot: &Snapshot,
    document: &Document,
    checked: &[&Diagnostic],
) -> Vec<Diagnostic> {
    let before = snapshot.overlay.text(&document.real).unwrap_or(&document.saved);
    let readers = snapshot.readers(document.name(), &document.real);
    // A text that is too large is not read by a check either.
    let readers = readers.filter(|_| document.text.len() as u64 <= MAX_SOURCE);
    // A file that is not saved yet, or was removed, is in no check.
    let is_found = snapshot.is_found(document.name());
    let Some(readers) = readers.filter(|_| *before != document.text || !is_found) else {
        return checked.iter().map(|found| (*found).clone()).collect();
    };
    let mut now = diagnose(&document.text, &readers);
    let then = if is_found { diagnose(before, &readers) } else { Vec::new() };
    let is_checked = |found: &Diagnostic| checked.contains(&found);
    // What the check leaves out of its report stays out.
    let left_out: HashSet<Code> =
        then.iter().filter(|found| !is_checked(found)).map(|found| found.code).collect();
    now.retain(|found| !left_out.contains(&found.code));
    let others = checked.iter().filter(|found| !then.contains(found));
    now.extend(others.filter_map(|found| moved(found, &document.text)));
    now.sort();
    now.dedup();
    now
}

/// A problem at the nearest line that reads as its line did; `None` if no line does.
fn moved(found: &Diagnostic, text: &str) -> Option<Diagnostic> {
    let mut moved = found.clone();
    moved.fix = None;
    if let Some(excerpt) = &found.excerpt {
        let lines = text.lines().enumerate();
        let same = lines.filter(|(_, line)| line[..line.floor_char_boundary(400)] == excerpt.line);
        moved.line = same.map(|(at, _)| at + 1).min_by_key(|line| line.abs_diff(found.line))?;
    }
    Some(moved)
}

/// A diagnostic for the editor.
pub(super) fn shown(found: &Diagnostic, document: Option<&Document>) -> Value {
    let row = found.code.row();
    let mut shown = json!({
        "range": document.map_or_else(|| place(found), |document| place_in(found, document)),
        "severity": match found.severity { Severity::Error => 1, Severity::Warning => 2, Severity::Note => 3 },
        "code": row.name,
        "source": "rulebook",
        "message": format!("{}\nhelp: {}", found.message, found.help),
    });
    if !REPOSITORY.is_empty() {
        let href = format!("{REPOSITORY}/blob/HEAD/docs/diagnostics.md#:~:text={}", row.name);
        shown["codeDescription"] = json!({ "href": href });
    }
    shown
}

/// Where a problem is, by its excerpt. A problem of a whole file is on its first line.
fn place(found: &Diagnostic) -> Span {
    let Some(excerpt) = found.excerpt.as_ref().filter(|_| found.line > 0) else { return Span::default() };
    let units = |count: usize| -> usize {
        let known: usize = excerpt.line.chars().take(count).map(char::len_utf16).sum();
        known + count.saturating_sub(excerpt.line.chars().count())
    };
    let (line, start) = (found.line - 1, found.column.saturating_sub(1));
    let at = |count| Position { line, character: units(count) };
    Span { start: at(start), end: at(start + excerpt.width) }
}

/// Where a problem is in an open document. Diagnostics count lines by `\n`, editors also by `\r`.
pub(super) fn place_in(found: &Diagnostic, document: &Document) -> Span {
    if found.line == 0 {
        return Span::default();
    }
    let text = &*document.text;
    let start: usize = text.split_inclusive('\n').take(found.line - 1).map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or_default();
    let bom = if start == 0 && line.starts_with('\u{feff}') { 1 } else { 0 };
    let skip = found.column.saturating_sub(1) + bom;
    let width = found.excerpt.as_ref().map_or(1, |excerpt| excerpt.width);
    let bytes = |count: usize| line.char_indices().nth(count).map_or(line.len(), |(at, _)| at);
    document.span(start + bytes(skip)..start + bytes(skip + width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_where_its_characters_are() {
        let text = "a: 1\n🦀🦀: é x\n";
        let at = text.find("é x").unwrap();
        let found = Diagnostic::at(Code::UnknownKey, "a.md", text, at..at + 2, "wrong");
        let document = Document::open("file:///a.md".to_owned(), None, text).unwrap();
        let wanted =
            Span { start: Position { line: 1, character: 6 }, end: Position { line: 1, character: 7 } };
        assert_eq!(place(&found), wanted);
        assert_eq!(place_in(&found, &document), wanted);
        let moved = moved(&found, "\n\n\n🦀🦀: é x\n").unwrap();
        assert_eq!((moved.line, moved.column), (4, found.column));
        assert!(super::moved(&found, "other\n").is_none());
    }
}
