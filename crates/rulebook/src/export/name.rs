//! Names of copies, and the line that says what a file is a copy of.

use super::target::Target;
use crate::rule::Rule;

/// What the first line of a copy starts with.
const MARKER: &str = "<!-- rulebook: copy of ";

/// Returns the line that says what a text is a copy of.
#[must_use]
pub fn marker(source: &str) -> String {
    // No name may end the comment.
    format!("{MARKER}{} -->", source.replace("--", "-\u{2010}").replace(['\n', '\r', '>'], "_"))
}

/// Returns a text without the line that says what it is a copy of.
#[must_use]
pub fn without_marker(text: &str) -> &str {
    match text.strip_prefix(MARKER).and_then(|rest| rest.split_once("-->")) {
        Some((source, rest)) if !source.contains('\n') => rest.trim_start(),
        _ => text,
    }
}

/// Endings that are not part of a name; longer ones first.
const ENDINGS: &[&str] =
    &["/RULE.mdc", "/RULE.md", ".instructions.md", ".rule.md", ".markdown", ".mdc", ".mdx", ".md", ".txt"];

/// Returns the name of a rule's copy: the stem of its file. Where the target reads no sub-folders, they become part of it.
#[must_use]
pub fn name(rule: &Rule, target: &Target) -> String {
    let inner = rule.origin.inner.as_str();
    let stem = ENDINGS.iter().find_map(|ending| inner.strip_suffix(ending)).unwrap_or(inner);
    let stem = stem.trim_matches(['.', '/']);
    let stem = if stem.is_empty() { "rule" } else { stem };
    if target.is_recursive() { stem.to_owned() } else { stem.replace('/', "-") }
}

/// Returns the name of a copy if its name is taken: `stem-format`.
#[must_use]
pub fn fallback_name(rule: &Rule, target: &Target) -> String {
    format!("{}-{}", name(rule, target), rule.origin.format.id)
}
