//! Reports text that is hidden in a rule file.

use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic, Severity, report_first, shown};
use crate::hidden::{Found, character_name, hidden_characters, hidden_comments, is_plain, tagged};

/// Reports what is hidden in a file: characters that have no use where they are, and comments that instruct the model.
/// The body is a page by itself: nothing in the header makes code of it.
pub(super) fn report_hidden(text: &str, body_start: usize, display: &str) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if !is_plain(text) {
        let mut end = 0;
        let lines = text.split_inclusive('\n').filter_map(|line| {
            end += line.len();
            let start = end - line.len();
            let found = hidden_characters(line, start == 0);
            (!found.is_empty()).then_some((start, found))
        });
        report_first(lines, |(start, found)| report_line(text, display, start, &found), &mut diagnostics);
    }
    if !is_rendered(display) {
        return diagnostics;
    }
    let shift = |span: Range<usize>| span.start + body_start..span.end + body_start;
    let in_body = hidden_comments(&text[body_start..]).into_iter().map(shift);
    let comments = hidden_comments(&text[..body_start]).into_iter().chain(in_body);
    let report = |span: Range<usize>| report_comment(&text[span.clone()], text, span, display);
    report_first(comments, report, &mut diagnostics);
    diagnostics
}

/// Whether people may read the rendered text of a file, in which comments are not visible. Some agents read rules of any
/// kind, such as XML.
fn is_rendered(display: &str) -> bool {
    let name = display.rsplit('/').next().unwrap_or(display);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_none_or(|extension| !["json", "toml", "xml", "yaml", "yml"].contains(&extension.as_str()))
}

/// Reports what is hidden in a key or value that the file writes with escapes. `span` is the value's place in the file.
pub(super) fn report_escaped(
    value: &str,
    text: &str,
    span: Range<usize>,
    display: &str,
) -> Option<Diagnostic> {
    let written = text.get(span.clone()).unwrap_or_default();
    let found = hidden_characters(value, false);
    if !found.is_empty() {
        let message = format!("the value has {}", list(&found));
        let diagnostic = Diagnostic::at(Code::HiddenText, display, text, span, message);
        let is_escaped = hidden_characters(written, false).is_empty();
        return is_escaped.then(|| diagnostic.severity(severity(&found)));
    }
    let comment = hidden_comments(value).into_iter().next()?;
    let is_escaped = hidden_comments(written).is_empty();
    is_escaped.then(|| report_comment(&value[comment], text, span, display))
}

fn report_line(text: &str, display: &str, start: usize, found: &Found) -> Diagnostic {
    let first = found.first().map_or(0, |(at, _)| *at);
    let last = found.last().map_or(0, |(at, c)| at + c.len_utf8());
    let message = format!("this line has {}", list(found));
    Diagnostic::at(Code::HiddenText, display, text, start + first..start + last, message)
        .severity(severity(found))
}

fn report_comment(comment: &str, text: &str, span: Range<usize>, display: &str) -> Diagnostic {
    let inner = comment.trim_start_matches("<!--").trim_end_matches("-->");
    let words: Vec<&str> = inner.split_whitespace().take(12).collect();
    let message = format!("hidden comment: `{}`", shown(&words.join(" ")));
    Diagnostic::at(Code::HiddenComment, display, text, span, message)
}

/// Reversed text and text spelled in tag characters is hidden on purpose; the rest may come from copying.
fn severity(found: &Found) -> Severity {
    let is_trick =
        |c: &char| tagged(*c).is_some() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if found.iter().any(|(_, c)| is_trick(c)) { Severity::Error } else { Severity::Warning }
}

/// How many kinds of characters a message names.
const MAX_NAMES: usize = 4;

/// Lists characters: `2 hidden characters: U+200B ZERO WIDTH SPACE, …`, and the text that tags spell.
fn list(found: &Found) -> String {
    let chars = || found.iter().map(|(_, c)| *c);
    let mut kinds: Vec<char> = Vec::new();
    for c in chars() {
        if kinds.iter().all(|kind| character_name(*kind) != character_name(c)) {
            kinds.push(c);
        }
    }
    let named = |c: &char| format!("U+{:04X} {}", u32::from(*c), character_name(*c).unwrap_or_default());
    let names: Vec<String> = kinds.iter().take(MAX_NAMES).map(named).collect();
    let more = if kinds.len() > MAX_NAMES { ", …" } else { "" };
    let plural = if found.len() == 1 { "" } else { "s" };
    let spelled: String = chars().filter_map(tagged).collect();
    let spelled =
        if spelled.trim().is_empty() { String::new() } else { format!(", spelling `{}`", shown(&spelled)) };
    format!("{} hidden character{plural}: {}{more}{spelled}", found.len(), names.join(", "))
}

#[cfg(test)]
mod tests;
