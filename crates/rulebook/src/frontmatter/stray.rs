//! Lines that look like a header where none is read.

use super::Problem;
use crate::diagnostic::Code;

/// Keys by which a line is taken for one of a header.
const KEYS: &[&str] =
    &["alwaysApply", "applyTo", "description", "fileMatchPattern", "globs", "inclusion", "paths", "trigger"];

/// How many lines may stand before it.
const LINES: usize = 8;

/// The first key of what looks like a header, in a text that has none. Before it stand blank lines, comments, titles,
/// or fences of other kinds.
pub(super) fn find(text: &str, start: usize) -> Option<Problem> {
    let mut at = start;
    for line in text[start..].split_inclusive('\n').take(LINES) {
        let found = at + (line.len() - line.trim_start().len());
        at += line.len();
        let line = line.trim();
        if is_key(line) || line.starts_with("---\\n") {
            let message = "this looks like a header, and is text: the file does not open with `---`";
            return Some(Problem::new(Code::StrayHeader, found..found + line.len(), message));
        }
        if !may_stand_before(line) {
            return None;
        }
    }
    None
}

fn is_key(line: &str) -> bool {
    let key = line.split([':', '=']).next().unwrap_or_default();
    key.len() < line.len()
        && KEYS.contains(&key.trim_matches(|c: char| c.is_whitespace() || "{\"'".contains(c)))
}

fn may_stand_before(line: &str) -> bool {
    line.is_empty() || ["#", "+++", "---", "<!--", "```", "{"].iter().any(|start| line.starts_with(start))
}
