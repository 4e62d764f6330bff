//! References: what a text names that an agent would add to it. In a copy, nothing becomes a reference that was none.

use std::borrow::Cow;
use std::ops::Range;

use crate::agent::AGENTS;
use crate::format::FormatId;
use crate::parse::{imports, imports_in_gemini};
use crate::source::Origin;

/// How the files of a format refer to others, if Rulebook does not follow that.
const MARKS: &[(FormatId, &str)] = &[
    (FormatId::Antigravity, "@"),
    (FormatId::Copilot, "#file:"),
    (FormatId::Cursor, "@"),
    (FormatId::Kiro, "#[[file:"),
];

/// The mark of references in a file.
fn mark(origin: &Origin) -> Option<&'static str> {
    let other = || MARKS.iter().find(|(format, _)| *format == origin.format.id).map(|(_, mark)| *mark);
    if is_followed(origin) { Some("@") } else { other() }
}

/// Whether an agent that reads a file is known to follow its imports. Several agents may read it.
fn is_followed(origin: &Origin) -> bool {
    let follows = |origin: Origin| origin.follows_imports();
    AGENTS.iter().any(|agent| Origin::at(agent.formats, &origin.display).is_some_and(follows))
}

/// Whether references stay what they are in a copy at another place. Where one file may name another, and the other adds it,
/// a name would become an import of a file that is elsewhere.
fn are_kept(from: &Origin, to: &Origin) -> bool {
    mark(from) == mark(to) && (is_followed(from) || !is_followed(to))
}

/// Where the references of a text are: the mark, and what follows it.
fn references(text: &str, origin: &Origin) -> Vec<[Range<usize>; 2]> {
    let has_mark = text.contains('@') || MARKS.iter().any(|(_, mark)| text.contains(mark));
    let Some(mark) = has_mark.then(|| mark(origin)).flatten() else { return Vec::new() };
    if mark != "@" {
        let end = |at: usize| {
            let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | ']' | ')');
            let end = text[at..].find(is_end).map_or(text.len(), |end| at + end);
            if text[end..].starts_with("]]") { end + 2 } else { end }
        };
        return text.match_indices(mark).map(|(at, _)| [at..at + 1, at + 1..end(at + mark.len())]).collect();
    }
    let mut all = [imports(text), imports_in_gemini(text)].concat();
    all.retain(|import| import.is_surely_a_file() || import.path.contains('/'));
    all.sort_by_key(|import| (import.span.start, import.span.end));
    all.dedup_by_key(|import| import.span.start);
    all.into_iter()
        .map(|import| [import.span.start..import.span.start + 1, import.span.start + 1..import.span.end])
        .collect()
}

/// Returns what a text refers to, as written.
#[must_use]
pub fn referred<'t>(text: &'t str, origin: &Origin) -> Vec<&'t str> {
    references(text, origin).into_iter().map(|[mark, rest]| &text[mark.start..rest.end]).collect()
}

/// Returns the text for a copy at another place. What is a reference there, but not where the text is from, is written as code.
pub(super) fn as_text<'t>(text: &'t str, from: &Origin, to: &Origin) -> Cow<'t, str> {
    let mut written = String::new();
    let mut at = 0;
    let all = references(text, to);
    if all.is_empty() || are_kept(from, to) {
        return Cow::Borrowed(text);
    }
    for [mark, rest] in all {
        written.extend([&text[at..mark.end], "`", &text[rest.clone()], "`"]);
        at = rest.end;
    }
    if at == 0 { Cow::Borrowed(text) } else { Cow::Owned(written + &text[at..]) }
}

/// Undoes `as_text` in an edited copy of a text.
#[must_use]
pub fn as_written(copy: &str, text: &str, from: &Origin, to: &Origin) -> String {
    if are_kept(from, to) {
        return copy.to_owned();
    }
    references(text, to).into_iter().fold(copy.to_owned(), |copy, [mark, rest]| {
        let code = format!("{}`{}`", &text[mark.clone()], &text[rest.clone()]);
        copy.replace(&code, &text[mark.start..rest.end])
    })
}
