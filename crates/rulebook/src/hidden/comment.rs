//! Comments in Markdown: rendered pages hide them, and models read them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::mark::{self, Mark};
use super::page::{BLANKS, Page, line_at, line_end};
use crate::work;

/// The delimiters of text that a rendered page hides. The first match counts.
const HIDES: [(&str, &str); 5] =
    [(COMMENT, "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", "?>"), ("</ ", ">")];
const COMMENT: &str = "<!--";

/// How many words may follow a code fence: a language and some options.
const MAX_INFO: usize = 4;

/// Finds hidden comments with content. Code is visible, so comments in code do not count.
pub(crate) fn hidden_comments(text: &str) -> Vec<Range<usize>> {
    if !may_hide(text) {
        return Vec::new();
    }
    let (mut found, mut marks, mut own) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut sort = |span: Range<usize>| match read(&text[span.clone()]) {
        Some(Mark::Known) => {}
        Some(Mark::Own(words)) => {
            own.extend(words);
            marks.push(span);
        }
        None => found.push(span),
    };
    let mut page = Page::default();
    // Delimiters that have no closing one in the rest of the text.
    let mut is_open = [false; HIDES.len()];
    let (mut at, mut line) = (0, 0..0);
    while at < text.len() {
        let starts_line = at == 0 || matches!(text.as_bytes()[at - 1], b'\n' | b'\r');
        if at >= line.end {
            line = at..line_end(text, at);
        }
        let hidden = if starts_line { info(text, at) } else { None };
        if starts_line && let Some(end) = page.enter(text, at) {
            hidden.into_iter().for_each(&mut sort);
            at = end;
            continue;
        }
        let defined = hidden.or_else(|| starts_line.then(|| definition(text, at)).flatten());
        if let Some(span) = defined {
            page.pass(&text[span.clone()]);
            at = span.end;
            sort(span);
            continue;
        }
        let Some(start) = page.tag(&text[at..line.end]).map(|tag| at + tag) else {
            at = line.end;
            continue;
        };
        at = start + 1;
        let opened = HIDES.iter().position(|(open, _)| text[start..].starts_with(open));
        let Some(kind) = opened else { continue };
        let (open, close) = HIDES[kind];
        // `<!-->` is a whole comment.
        let inner = start + open.len().min(2);
        let end = if is_open[kind] { None } else { find(&text[inner..], close) };
        is_open[kind] = end.is_none();
        // Without a closing delimiter, only a comment and markup at the start of a line extend to the end of the text.
        let is_open_ended =
            || open == COMMENT || text[line.start..start].trim_start_matches(BEFORE).is_empty();
        let end = end.map(|to| inner + to + close.len());
        let Some(end) = end.or_else(|| is_open_ended().then_some(text.len())) else { continue };
        page.pass(&text[start..end]);
        at = end;
        sort(start..end);
    }
    if own.len() > mark::MAX_OWN {
        found.append(&mut marks);
        found.sort_unstable_by_key(|span| span.start);
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
    let starts = |at: usize| {
        let next = bytes.get(at + 1);
        if bytes[at] == b'<' { next.is_some_and(|next| b"!?/".contains(next)) } else { next == Some(&b':') }
    };
    const REACH: usize = 200;
    let has_words = |at: usize| {
        let after = &bytes[at + 3..bytes.len().min(at + 3 + REACH)];
        let line = &after[..memchr::memchr2(b'\n', b'\r', after).unwrap_or(after.len())];
        let is_between = |byte: &&u8| !byte.is_ascii_graphic();
        line.len() == REACH || line.iter().filter(is_between).count() >= MAX_INFO
    };
    let is_fence = |at: usize| bytes[at + 1..].starts_with(&[bytes[at]; 2]) && has_words(at);
    memchr::memchr2_iter(b'<', b']', bytes).any(starts)
        || memchr::memchr2_iter(b'`', b'~', bytes).any(is_fence)
}

/// Reads a hidden text as a mark of a tool, if it is one.
fn read(hidden: &str) -> Option<Mark> {
    let title = ["[//]: # (", "[comment]: # ("].iter().find_map(|start| hidden.strip_prefix(start));
    if let Some(title) = title {
        return mark::read(title.trim_end_matches(')'));
    }
    match hidden.strip_prefix(COMMENT) {
        Some(inner) => mark::read(inner.strip_suffix("-->").unwrap_or(if inner == ">" { "" } else { inner })),
        None => hidden.eq_ignore_ascii_case("<!doctype html>").then_some(Mark::Known),
    }
}

/// Characters that may precede the start of a block: lists and quotes.
const BEFORE: [char; 18] =
    [' ', '\t', '>', '-', '*', '+', '.', ')', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/// Finds text after a code fence other than the language: a rendered page shows only the code.
fn info(text: &str, at: usize) -> Option<Range<usize>> {
    let line = line_at(text, at);
    let fence = line.trim_start_matches(BEFORE);
    let mark = fence.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let info = fence.trim_start_matches(mark);
    let is_fence = fence.len() - info.len() >= 3 && !(mark == '`' && info.contains('`'));
    let says = info.contains('<') || info.split_whitespace().count() > MAX_INFO;
    (is_fence && says).then(|| at + line.len() - fence.len()..at + line.len())
}

/// Finds the definition of a link with text other than its address: a rendered page hides definitions.
fn definition(text: &str, at: usize) -> Option<Range<usize>> {
    const MAX: usize = 1000;
    const MAX_NAME: usize = 4;
    let start = at + line_at(text, at).find(|c| !BEFORE.contains(&c))?;
    let rest = &text[start..];
    work::count(rest.len().min(MAX));
    let (name, _) = rest.strip_prefix('[')?[..].get(..rest.floor_char_boundary(MAX) - 1)?.split_once(']')?;
    let rest = skip(rest[name.len() + 2..].strip_prefix(':')?);
    let address = match rest.strip_prefix('<') {
        Some(inner) => &rest[..inner.find(['>', '\n']).filter(|end| inner[*end..].starts_with('>'))? + 2],
        None => &rest[..rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len())],
    };
    let after = &rest[address.len()..];
    let offset = |rest: &str| text.len() - rest.len();
    let is_last = line_at(after, 0).trim_matches(BLANKS).is_empty();
    let title = title(skip(after), MAX);
    let says = matches!(address, "#" | "<>")
        || address.contains(BLANKS)
        || name.split_whitespace().count() > MAX_NAME;
    match title {
        _ if address.is_empty() => None,
        Some(title) => Some(start..offset(skip(after)) + title),
        None => (says && is_last).then(|| start..offset(after)),
    }
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

/// Rewrites hidden text so that a rendered page shows it.
pub(super) fn show(hidden: &str) -> String {
    let shown = hidden.replace('<', "&lt;").replace("-->", "--&gt;");
    let info = shown.trim_start_matches(['`', '~']);
    match shown.as_bytes().first() {
        Some(b'[') => format!("\\{shown}"),
        Some(b'`' | b'~') => format!("{}\n{info}", &shown[..shown.len() - info.len()]),
        _ => shown,
    }
}

#[cfg(test)]
mod tests;
