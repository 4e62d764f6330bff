//! Comments in Markdown: not shown to people, read by models.

use std::collections::BTreeSet;
use std::ops::Range;

use super::mark::{self, Mark};
use super::page::{BLANKS, Page, line_at, line_end};
use crate::work;

/// What opens and closes a stretch that a page does not show. The first that fits counts.
const HIDES: [(&str, &str); 5] =
    [(COMMENT, "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", "?>"), ("</ ", ">")];
pub(crate) const COMMENT: &str = "<!--";

/// How many words may stand behind a fence: a language, and some switches.
const MAX_INFO: usize = 4;

/// Comments that say something, outside code: code is shown.
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
    // Of these there is no more end below.
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
        let end = if is_open[kind] { None } else { text[inner..].find(close) };
        work::count(end.unwrap_or(if is_open[kind] { 0 } else { text.len() - inner }));
        is_open[kind] = end.is_none();
        // Without an end, only a comment and what starts a line reach on to that of the text.
        let reaches_on = || open == COMMENT || text[line.start..start].trim_start_matches(BEFORE).is_empty();
        let end = end.map(|to| inner + to + close.len());
        let Some(end) = end.or_else(|| reaches_on().then_some(text.len())) else { continue };
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

/// Whether there is anything in a text that could start a stretch: most texts have nothing.
fn may_hide(text: &str) -> bool {
    work::count(text.len());
    let bytes = text.as_bytes();
    let starts = |at: usize| {
        let next = bytes.get(at + 1);
        if bytes[at] == b'<' { next.is_some_and(|next| b"!?/".contains(next)) } else { next == Some(&b':') }
    };
    const REACH: usize = 200;
    let has_words = |at: usize| {
        let behind = &bytes[at + 3..bytes.len().min(at + 3 + REACH)];
        work::count(behind.len());
        let line = &behind[..memchr::memchr2(b'\n', b'\r', behind).unwrap_or(behind.len())];
        let is_between = |byte: &&u8| !byte.is_ascii_graphic();
        line.len() == REACH || line.iter().filter(is_between).count() >= MAX_INFO
    };
    let is_fence = |at: usize| bytes[at + 1..].starts_with(&[bytes[at]; 2]) && has_words(at);
    memchr::memchr2_iter(b'<', b']', bytes).any(starts)
        || memchr::memchr2_iter(b'`', b'~', bytes).any(is_fence)
}

/// A whole stretch as a mark, if it is one.
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

/// What may stand before something at the start of its block: lists, quotes.
const BEFORE: [char; 18] =
    [' ', '\t', '>', '-', '*', '+', '.', ')', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/// A line that opens fenced code and says more than the code's language: a page shows only the code.
fn info(text: &str, at: usize) -> Option<Range<usize>> {
    let line = line_at(text, at);
    let fence = line.trim_start_matches(BEFORE);
    let sign = fence.chars().next().filter(|sign| ['`', '~'].contains(sign))?;
    let info = fence.trim_start_matches(sign);
    let is_fence = fence.len() - info.len() >= 3 && !(sign == '`' && info.contains('`'));
    let says = info.contains('<') || info.split_whitespace().count() > MAX_INFO;
    (is_fence && says).then(|| at + line.len() - fence.len()..at + line.len())
}

/// The definition of a link that starts on a line and says something beside its address: a page shows none.
fn definition(text: &str, at: usize) -> Option<Range<usize>> {
    const MAX: usize = 1000;
    const MAX_NAME: usize = 4;
    let start = at + line_at(text, at).find(|c| !BEFORE.contains(&c))?;
    let rest = &text[start..];
    let (name, _) = rest.strip_prefix('[')?[..].get(..rest.floor_char_boundary(MAX) - 1)?.split_once(']')?;
    let rest = skip(rest[name.len() + 2..].strip_prefix(':')?);
    let address = match rest.strip_prefix('<') {
        Some(inner) => &rest[..inner.find(['>', '\n']).filter(|end| inner[*end..].starts_with('>'))? + 2],
        None => &rest[..rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len())],
    };
    let behind = &rest[address.len()..];
    let offset = |rest: &str| text.len() - rest.len();
    let is_last = line_at(behind, 0).trim_matches(BLANKS).is_empty();
    let title = title(skip(behind), MAX);
    let says = matches!(address, "#" | "<>")
        || address.contains(BLANKS)
        || name.split_whitespace().count() > MAX_NAME;
    match title {
        _ if address.is_empty() => None,
        Some(title) => Some(start..offset(skip(behind)) + title),
        None => (says && is_last).then(|| start..offset(behind)),
    }
}

/// How long the title is that starts here. One that is too long to look for its end is cut.
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
    let mut ends = memchr::memchr_iter(close, &text.as_bytes()[1..reach]).map(|to| to + 2);
    let end = ends.find(|end| line_at(text, *end).trim_matches(BLANKS).is_empty());
    end.or(is_long.then_some(reach))
}

/// Behind blanks and one line break.
fn skip(text: &str) -> &str {
    let rest = text.trim_start_matches(BLANKS);
    let next = if line_at(rest, 0).is_empty() { &rest[line_end(rest, 0)..] } else { rest };
    next.trim_start_matches(BLANKS)
}

/// A hidden stretch as a page shows it.
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
