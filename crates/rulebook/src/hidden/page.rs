//! Which parts of a Markdown page are certainly code. Doubtful parts do not count as code.

use std::ops::Range;

use memchr::{memchr, memchr2};

use crate::work;

/// Tags whose content continues past empty lines.
const RAW: [&str; 4] = ["pre", "script", "style", "textarea"];

/// The state after the lines so far.
#[derive(Default)]
pub(super) struct Page {
    /// In an HTML block, which ends at the next empty line. Fences have no meaning in it.
    is_html: bool,
    /// Inside one of the [`RAW`] tags.
    is_raw: bool,
    /// Something may continue in this paragraph: an unmatched backtick, a tag, a link with a title.
    is_unsure: bool,
    /// The fences are ambiguous, so nothing counts as fenced code any more.
    is_lost: bool,
    /// The end of the last pair of fences.
    fences_end: usize,
    /// Up to where no fence in a block quote is closed.
    open_quotes_end: usize,
    /// The column at which the text of the last list item starts, in this paragraph.
    item: Option<usize>,
    /// The line is certainly text, and a code span in it may continue on the next line.
    is_text: bool,
}

impl Page {
    /// Enters the line that starts at a byte. Returns the end of the fenced code that certainly starts there.
    pub(super) fn enter(&mut self, text: &str, at: usize) -> Option<usize> {
        let line = line_at(text, at);
        if line.trim_matches(BLANKS).is_empty() {
            (self.is_html, self.is_unsure, self.is_text, self.item) = (false, false, false, None);
            return None;
        }
        if at >= self.fences_end
            && let Some(fence) = Fence::open(line)
            && let Some(end) = self.fenced(text, at, &fence)
        {
            return Some(end);
        }
        let (depth, quoted) = quote(line, usize::MAX);
        if depth > 0
            && let Some(end) = self.quoted(text, at, (depth, quoted))
        {
            return Some(end);
        }
        let item = Item::of(line).filter(|item| item.starts_after(self.item));
        // An item, or an empty line of a quote, ends the paragraph before it.
        self.is_unsure &= item.is_none() && (depth == 0 || !quoted.trim_matches(BLANKS).is_empty());
        self.item = item.as_ref().map(|item| item.content).or(self.item);
        let inner = item.map_or(quoted, |item| &line[item.content..]).trim_matches(BLANKS);
        let is_tag = inner.starts_with('<') && !inner.starts_with("<!--");
        self.is_html |= is_tag && !inner.starts_with("<http://") && !inner.starts_with("<https://");
        let blanks = &line[..line.len() - line.trim_start_matches(BLANKS).len()];
        let is_indented = self.item.is_none() && (blanks.len() > 3 || blanks.contains('\t'));
        self.is_text = depth == 0 && !is_indented && is_text(inner);
        None
    }

    /// Finds the end of fenced code in a block quote, each of whose lines has the marks of the quote.
    fn quoted(&mut self, text: &str, at: usize, (depth, quoted): (usize, &str)) -> Option<usize> {
        let is_clear = !self.is_html && !self.is_raw && !self.is_lost && at >= self.open_quotes_end;
        let fence = Fence::open(quoted).filter(|fence| is_clear && fence.is_plain && fence.indent == 0)?;
        let mut next = line_end(text, at);
        while next < text.len() {
            let line = line_at(text, next);
            let (found, inner) = quote(line, depth);
            if found < depth {
                break;
            }
            next = line_end(text, next);
            match fence.close(inner) {
                Some(true) => {
                    self.is_unsure = false;
                    return Some(next);
                }
                Some(false) => break,
                None => {}
            }
        }
        self.open_quotes_end = next;
        None
    }

    /// Finds the end of fenced code. A fence at the margin is not in a list. Any other fence may be, and then a line at
    /// the margin ends it.
    fn fenced(&mut self, text: &str, at: usize, fence: &Fence) -> Option<usize> {
        let mut next = line_end(text, at);
        let mut is_clear = fence.is_plain && !self.is_raw && !self.is_lost;
        while is_clear && next < text.len() {
            let line = line_at(text, next);
            next = line_end(text, next);
            let is_empty = line.trim_matches(BLANKS).is_empty();
            is_clear = if is_empty { !self.is_html } else { fence.indent == 0 || line.starts_with(BLANKS) };
            match fence.close(line) {
                Some(true) if is_clear => {
                    self.fences_end = next;
                    let is_sure = fence.indent == 0 && !self.is_html;
                    self.is_unsure &= !is_sure;
                    return is_sure.then_some(next);
                }
                Some(false) => is_clear = false,
                _ => {}
            }
        }
        self.is_lost = true;
        None
    }

    /// Skips hidden text. Fences in it may still count for some readers.
    pub(super) fn pass(&mut self, hidden: &str) {
        self.is_unsure = true;
        self.is_lost |= hidden.contains("```") || hidden.contains("~~~");
    }

    /// Finds the next `<` of a line outside code spans, or returns where to go on: after the line, or after a code span that
    /// continues below it.
    pub(super) fn tag(&mut self, text: &str, line: Range<usize>) -> Result<usize, usize> {
        let bytes = &text.as_bytes()[..line.end];
        let mut at = line.start;
        while let Some(byte) = bytes.get(at) {
            work::count(1);
            at = match byte {
                b'<' => {
                    self.take_tag(&bytes[at + 1..]);
                    return Ok(at);
                }
                b'`' => self.span(text, at, line.end),
                b']' => self.link(bytes, at),
                b'\\' => {
                    self.is_unsure |= bytes.get(at + 1) == Some(&b'`');
                    at + 1
                }
                _ => at + 1,
            };
        }
        Err(at)
    }

    /// Returns the end of the code span that certainly starts here, or of its backticks. Table cells interrupt spans.
    fn span(&mut self, text: &str, at: usize, line_end: usize) -> usize {
        let bytes = &text.as_bytes()[..line_end];
        let run = run(&bytes[at..], b'`');
        let is_doubtful = self.is_unsure || self.is_html || self.is_raw;
        let own = if is_doubtful { None } else { closing(bytes, at + run, run) };
        let end = match own {
            Some(end) => Some(end).filter(|end| memchr(b'|', &bytes[at..*end]).is_none()),
            None if is_doubtful || !self.is_text => None,
            None => closing_below(text, line_end, run),
        };
        self.is_unsure |= end.is_none();
        end.unwrap_or(at + run)
    }

    /// Returns the end of a plain link address, in which backticks do not start a code span.
    fn link(&mut self, bytes: &[u8], at: usize) -> usize {
        let close = match bytes.get(at + 1) {
            Some(b'(') if !self.is_unsure => b')',
            Some(b'[') if !self.is_unsure => b']',
            _ => return at + 1,
        };
        let is_odd = |byte: &u8| b"`\"'([<\\".contains(byte);
        let end = memchr(close, &bytes[at + 2..]);
        work::count(end.unwrap_or(bytes.len() - at));
        let address = end.map(|end| &bytes[at + 2..at + 2 + end]);
        let address = address.filter(|address| !address.iter().any(is_odd));
        self.is_unsure |= address.is_none();
        at + address.map_or(1, |address| address.len() + 2)
    }

    fn take_tag(&mut self, tag: &[u8]) {
        let is_tag = |byte: &u8| byte.is_ascii_alphabetic() || b"/!?".contains(byte);
        self.is_unsure |= tag.first().is_some_and(is_tag);
        let name = tag.strip_prefix(b"/").unwrap_or(tag);
        let is_named = |raw: &&str| {
            let (start, rest) = name.split_at(raw.len().min(name.len()));
            let ends = rest.first().is_none_or(|byte| *byte == b'>' || byte.is_ascii_whitespace());
            start.eq_ignore_ascii_case(raw.as_bytes()) && ends
        };
        if RAW.iter().any(is_named) {
            self.is_raw = tag.first() != Some(&b'/');
        }
    }
}

/// The start of a list item.
struct Item {
    indent: usize,
    /// The column at which its text starts.
    content: usize,
    /// A bullet, or the number 1: such an item may follow a line of text.
    may_interrupt: bool,
}

impl Item {
    /// Reads the start of an item with text. Text after more than four spaces is code.
    fn of(line: &str) -> Option<Item> {
        let marked = line.trim_start_matches(' ');
        let digits = marked.bytes().take_while(u8::is_ascii_digit).count();
        let rest = match digits {
            0 => marked.strip_prefix(['-', '*', '+'])?,
            1..=9 => marked[digits..].strip_prefix(['.', ')'])?,
            _ => return None,
        };
        let text = rest.trim_start_matches(' ');
        let is_item = (1..=4).contains(&(rest.len() - text.len())) && !text.trim_matches(BLANKS).is_empty();
        is_item.then(|| Item {
            indent: line.len() - marked.len(),
            content: line.len() - text.len(),
            may_interrupt: digits == 0 || &marked[..digits] == "1",
        })
    }

    /// Whether it certainly starts an item after the last one of its paragraph. Deeper lines may be text of that item.
    fn starts_after(&self, last: Option<usize>) -> bool {
        let is_nested = last.is_some_and(|content| (content..content + 4).contains(&self.indent));
        let is_next = self.indent < 4 && last.is_some_and(|content| self.indent < content);
        is_next || self.may_interrupt && (self.indent < 4 || is_nested)
    }
}

/// Removes the marks of a block quote from a line, up to a depth. Returns how many there were.
fn quote(line: &str, depth: usize) -> (usize, &str) {
    let (mut count, mut rest) = (0, line);
    while count < depth {
        let inner = rest.trim_start_matches(' ');
        let Some(inner) = inner.strip_prefix('>').filter(|_| rest.len() - inner.len() < 4) else { break };
        (count, rest) = (count + 1, inner.strip_prefix(' ').unwrap_or(inner));
    }
    (count, rest)
}

/// Whether a line starts like plain text, and not like a heading, table, quote, list or tag.
fn is_text(line: &str) -> bool {
    let text = line.trim_start_matches(BLANKS);
    let text = text.strip_prefix("**").unwrap_or(text);
    let is_fence = text.starts_with("```");
    let is_word = |c: char| c.is_alphabetic() || "(\"'`".contains(c);
    text.starts_with(is_word) && !is_fence && memchr(b'|', text.as_bytes()).is_none()
}

/// A line that opens fenced code.
struct Fence {
    mark: u8,
    count: usize,
    indent: usize,
    /// Only spaces precede it.
    is_plain: bool,
}

impl Fence {
    /// Reads a fence. Four columns in, it is indented code or in a list, and ends before the next line at the margin.
    fn open(line: &str) -> Option<Fence> {
        let fence = line.trim_start();
        let (indent, blanks) = (line.len() - fence.len(), line.len() - line.trim_start_matches(BLANKS).len());
        let mark = *fence.as_bytes().first().filter(|mark| b"`~".contains(mark))?;
        let count = run(fence.as_bytes(), mark);
        let is_span = mark == b'`' && fence[count..].contains('`');
        let is_deep = indent == blanks && (indent > 3 || line[..indent].contains('\t'));
        let is_plain = indent == blanks;
        (count >= 3 && !is_span && !is_deep).then_some(Fence { mark, count, indent, is_plain })
    }

    /// Whether a line closes it; `Some(false)` if readers disagree.
    fn close(&self, line: &str) -> Option<bool> {
        let fence = line.trim_start();
        let indent = line.len() - fence.len();
        let count = run(fence.as_bytes(), self.mark);
        let rest = &fence[count..];
        let is_close = count >= self.count && rest.trim().is_empty();
        let is_plain = line[..indent].trim_matches(' ').is_empty();
        let is_deep = is_plain && indent > 3 || !is_plain && line[..indent].trim_matches(BLANKS).is_empty();
        (is_close && !is_deep).then(|| is_plain && rest.trim_matches(BLANKS).is_empty())
    }
}

pub(super) const BLANKS: [char; 2] = [' ', '\t'];

/// Returns the start of the next line. A lone carriage return ends a line too.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let end = memchr2(b'\n', b'\r', &bytes[at..]).map_or(text.len(), |to| at + to);
    work::count(end - at + 1);
    if end == text.len() {
        return end;
    }
    end + if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 }
}

pub(super) fn line_at(text: &str, at: usize) -> &str {
    text[at..line_end(text, at)].trim_end_matches(['\n', '\r'])
}

fn run(bytes: &[u8], mark: u8) -> usize {
    let length = bytes.iter().take_while(|byte| **byte == mark).count();
    work::count(length + 1);
    length
}

/// Finds the end of the code span that continues on the next lines, as long as they are certainly text of the same paragraph.
fn closing_below(text: &str, from: usize, count: usize) -> Option<usize> {
    const MAX_LINES: usize = 8;
    let mut at = from;
    for _ in 0..MAX_LINES {
        if !is_text(line_at(text, at)) {
            return None;
        }
        let end = line_end(text, at);
        if let Some(found) = closing(&text.as_bytes()[..end], at, count) {
            return Some(found);
        }
        at = end;
    }
    None
}

/// Finds the end of the run of backticks that closes a code span.
fn closing(bytes: &[u8], mut at: usize, count: usize) -> Option<usize> {
    // Otherwise a line of backticks would be read once for each of them.
    const MAX_SPAN: usize = 1000;
    let limit = bytes.len().min(at + MAX_SPAN);
    while at < limit {
        let found = run(&bytes[at..], b'`');
        if found == count {
            return Some(at + found);
        }
        at += found.max(1);
    }
    None
}
