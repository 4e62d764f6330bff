//! Lines that look like a header in a file without one.

use super::header::Problem;
use crate::diagnostic::{Code, shown};

/// Keys that make a line look like part of a header.
const KEYS: &[&str] =
    &["alwaysApply", "applyTo", "description", "fileMatchPattern", "globs", "inclusion", "paths", "trigger"];

/// The number of lines outside comments that are examined, and of all lines.
const LINES: usize = 9;
const MAX_LINES: usize = 64;

/// Finds the first line that looks like part of a header. Blank lines, comments, titles and other kinds of fences may
/// precede it.
pub(super) fn find(text: &str, start: usize) -> Option<Problem> {
    let mut at = start;
    let mut is_comment = false;
    let mut left = LINES;
    for line in text[start..].split_inclusive('\n').take(MAX_LINES) {
        let found = at + (line.len() - line.trim_start().len());
        at += line.len();
        let line = line.trim();
        is_comment |= line.starts_with("<!--");
        if is_comment {
            is_comment = !line.contains("-->");
            continue;
        }
        left -= 1;
        if left == 0 {
            break;
        }
        if is_key(line) || line.starts_with("---\\n") {
            let message = match text[start..].trim_start().lines().next() {
                Some(first) if first.starts_with("---") && first.trim_end() != "---" => format!(
                    "this looks like a header but is read as text: the first line is `{}`, not `---` alone",
                    shown(first)
                ),
                _ => "this looks like a header but is read as text: the file does not start with `---`"
                    .to_owned(),
            };
            return Some(Problem::new(Code::StrayHeader, found..found + line.len(), message));
        }
        if !may_precede(line) {
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

fn may_precede(line: &str) -> bool {
    line.is_empty() || ["#", "+++", "---", "<!--", "```", "{"].iter().any(|start| line.starts_with(start))
}
