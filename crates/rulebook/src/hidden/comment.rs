//! Comments in Markdown that instruct the model: rendered pages hide them, and models read them.
//!
//! Most comments are marks of tools and notes to editors. Nothing here changes a text.

use std::ops::Range;

use super::page::{BLANKS, Page, line_at, line_end};
use crate::work;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Tools that read comments.
const TOOLS: &[&str] = &[
    "alex",
    "cspell",
    "doctoc",
    "dprint",
    "eslint",
    "lint",
    "markdownlint",
    "prettier",
    "remark",
    "rumdl",
    "spellchecker",
    "textlint",
    "vale",
];

/// Words of marks that switch a check off for the text after them: `KOREAN-OK: …`, `spell-ignore: …`.
const SWITCHES: &[&str] =
    &["allow", "allowed", "disable", "enable", "exempt", "ignore", "noqa", "off", "ok", "skip", "suppress"];

/// Words that turn a note into an instruction.
const INSTRUCTIONS: &[&str] = &[
    "always",
    "bypass",
    "curl",
    "delete",
    "disregard",
    "execute",
    "exfiltrate",
    "forget",
    "ignore",
    "must",
    "never",
    "obey",
    "override",
    "pretend",
    "reveal",
    "secretly",
    "send",
    "silently",
    "sudo",
    "upload",
    "wget",
];

/// The same in a script without spaces.
const INSTRUCTIONS_WITHOUT_SPACES: &[&str] = &["忽略", "必须", "无视", "禁止", "無視"];

/// Finds comments that instruct the model. Code is visible, so comments in code do not count.
pub(crate) fn hidden_comments(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !may_hide(text) {
        return found;
    }
    let keep = |found: &mut Vec<Range<usize>>, span: Range<usize>| {
        if instructs(&text[span.clone()]) {
            found.push(span);
        }
    };
    let mut page = Page::default();
    let (mut at, mut line) = (0, 0..0);
    while at < text.len() {
        let starts_line = at == 0 || matches!(text.as_bytes()[at - 1], b'\n' | b'\r');
        if at >= line.end {
            line = at..line_end(text, at);
        }
        if starts_line && let Some(end) = page.enter(text, at) {
            at = end;
            continue;
        }
        if starts_line && let Some(span) = definition(text, at) {
            page.pass(&text[span.clone()]);
            at = span.end;
            keep(&mut found, span);
            continue;
        }
        let start = match page.tag(text, at..line.end) {
            Ok(start) => start,
            Err(end) => {
                at = end;
                continue;
            }
        };
        at = start + 1;
        if !text[start..].starts_with(OPEN) {
            continue;
        }
        // `<!-->` is a whole comment. One that is never closed hides the rest of the page.
        let inner = start + 2;
        let Some(close) = find(&text[inner..], CLOSE) else {
            found.push(start..text.len());
            break;
        };
        at = inner + close + CLOSE.len();
        page.pass(&text[start..at]);
        keep(&mut found, start..at);
    }
    found
}

fn find(text: &str, part: &str) -> Option<usize> {
    let found = text.find(part);
    work::count(found.unwrap_or(text.len()));
    found
}

/// Whether a text contains anything that could hide text. Most texts do not.
fn may_hide(text: &str) -> bool {
    work::count(text.len());
    let bytes = text.as_bytes();
    let starts = |at: usize| bytes[at..].starts_with(OPEN.as_bytes()) || bytes[at..].starts_with(b"]:");
    memchr::memchr2_iter(b'<', b']', bytes).any(starts)
}

/// Whether a comment has an instruction among several words and is not for a tool.
fn instructs(comment: &str) -> bool {
    const MIN_WORDS: usize = 2;
    work::count(comment.len());
    let inner = comment.trim_start_matches(OPEN).trim_end_matches(CLOSE);
    let inner = inner.split_once("(").filter(|_| inner.starts_with('[')).map_or(inner, |(_, title)| title);
    let words = || {
        let words = inner.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        words.filter(|word| !word.is_empty())
    };
    let is_tool = words().next().is_some_and(|first| {
        let first = first.to_ascii_lowercase();
        let mut rests = TOOLS.iter().filter_map(|tool| first.strip_prefix(tool));
        rests.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    });
    let is_tool = is_tool || inner.trim_start().split_once(": ").is_some_and(|(mark, _)| is_switch(mark));
    let is_instruction = |word: &str| INSTRUCTIONS.iter().any(|known| word.eq_ignore_ascii_case(known));
    let has_instruction = INSTRUCTIONS_WITHOUT_SPACES.iter().any(|known| inner.contains(known));
    has_instruction || !is_tool && words().nth(MIN_WORDS - 1).is_some() && words().any(is_instruction)
}

/// Whether the start of a comment names a check and switches it off: one word of several parts, as in `KOREAN-OK`.
fn is_switch(mark: &str) -> bool {
    let mut parts = mark.split(['-', '_', ':']);
    let is_one_word = !mark.contains(char::is_whitespace) && mark.contains(['-', '_', ':']);
    is_one_word && parts.any(|part| SWITCHES.iter().any(|known| part.eq_ignore_ascii_case(known)))
}

/// Characters that may precede the start of a block: lists and quotes.
const BEFORE: [char; 18] =
    [' ', '\t', '>', '-', '*', '+', '.', ')', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/// Finds a definition of a link to nowhere, whose title is a comment: `[//]: # (text)`.
fn definition(text: &str, at: usize) -> Option<Range<usize>> {
    const MAX: usize = 1000;
    let start = at + line_at(text, at).find(|c| !BEFORE.contains(&c))?;
    let rest = &text[start..];
    work::count(rest.len().min(MAX));
    let (name, _) = rest.strip_prefix('[')?[..].get(..rest.floor_char_boundary(MAX) - 1)?.split_once(']')?;
    let rest = skip(rest[name.len() + 2..].strip_prefix(':')?);
    let address = ["#", "<>"].into_iter().find(|address| rest.starts_with(address))?;
    let after = skip(&rest[address.len()..]);
    let title = title(after, MAX)?;
    Some(start..text.len() - after.len() + title)
}

/// Returns the length of the title that starts here. A title beyond the maximum is cut.
fn title(text: &str, max: usize) -> Option<usize> {
    let close = match text.as_bytes().first()? {
        b'(' => b')',
        quote @ (b'"' | b'\'') => *quote,
        _ => return None,
    };
    let mut reach = 0;
    while reach < max && !line_at(text, reach).trim_matches(BLANKS).is_empty() {
        reach = line_end(text, reach);
    }
    let (is_long, reach) = (reach > max, text.floor_char_boundary(reach.min(max)));
    work::count(reach);
    let mut ends = memchr::memchr_iter(close, &text.as_bytes()[1..reach]).map(|to| to + 2);
    let end = ends.find(|end| line_at(text, *end).trim_matches(BLANKS).is_empty());
    end.or(is_long.then_some(reach))
}

/// Skips blanks and one line break.
fn skip(text: &str) -> &str {
    let rest = text.trim_start_matches(BLANKS);
    let next = if line_at(rest, 0).is_empty() { &rest[line_end(rest, 0)..] } else { rest };
    next.trim_start_matches(BLANKS)
}

#[cfg(test)]
mod tests;
