//! Names of copies, and the line that says what a file is a copy of.

use super::target::Target;
use crate::hash::TextHash;
use crate::hidden::is_hidden;
use crate::rule::Rule;

/// What the first line of a copy starts with.
pub(super) const MARKER: &str = "<!-- rulebook: copy of ";

/// Returns the line that says what a text is a copy of.
#[must_use]
pub fn marker(source: &str) -> String {
    // No name may end the comment or the line.
    let is_unsafe = |c: char| c == '>' || c.is_control() || is_hidden(c);
    format!("{MARKER}{} -->", source.replace("--", "-\u{2010}").replace(is_unsafe, "_"))
}

/// Whether a text says that it is a copy of a source.
#[must_use]
pub fn is_marked(text: &str, source: &str) -> bool {
    let marker = marker(source);
    text.lines().any(|line| line == marker)
}

/// Returns a text without the line that says what it is a copy of.
#[must_use]
pub fn without_marker(text: &str) -> &str {
    match text.strip_prefix(MARKER).and_then(|rest| rest.split_once("-->")) {
        Some((source, rest)) if !source.contains('\n') => {
            let rest = rest.strip_prefix('\r').unwrap_or(rest);
            rest.strip_prefix('\n').unwrap_or(rest)
        }
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
    let segments = stem.split('/').map(file_name).collect::<Vec<_>>();
    segments.join(if target.is_recursive() { "/" } else { "-" })
}

/// A name that every file system takes.
fn file_name(name: &str) -> String {
    /// In bytes. Most file systems allow 255, of which endings need some.
    const LONGEST: usize = 180;
    let is_unsafe = |c: char| c.is_control() || is_hidden(c) || "<>:\"|?*\\".contains(c);
    let plain = name.replace(is_unsafe, "-");
    let plain = plain.trim().trim_end_matches('.');
    match plain {
        "" => "rule".to_owned(),
        _ if plain.len() <= LONGEST => plain.to_owned(),
        _ => {
            let kept = (0..=LONGEST).rev().find(|at| plain.is_char_boundary(*at)).unwrap_or(0);
            format!("{}-{:08x}", &plain[..kept], TextHash::of(plain).number() >> 32)
        }
    }
}

/// Returns the names that a copy may have, the best one first: the stem, `stem-format`, `stem-format-2` and so on.
pub fn names<'t>(rule: &Rule, target: &'t Target) -> impl Iterator<Item = String> + use<'t> {
    const MOST: usize = 20;
    let stem = name(rule, target);
    let long = format!("{stem}-{}", rule.origin.format.id);
    let numbered = (2..MOST).map({
        let long = long.clone();
        move |number| format!("{long}-{number}")
    });
    // Some names are those of files that agents find in any folder.
    [stem, long].into_iter().chain(numbered).filter(move |name| target.takes(name))
}
