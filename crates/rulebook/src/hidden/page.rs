//! Which parts of a Markdown page are certainly code. Doubtful parts do not count as code.

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
}

impl Page {
    /// Enters the line that starts at a byte. Returns the end of the fenced code that certainly starts there.
    pub(super) fn enter(&mut self, text: &str, at: usize) -> Option<usize> {
        let line = line_at(text, at);
        let inner = line.trim_matches(BLANKS);
        if inner.is_empty() {
            (self.is_html, self.is_unsure) = (false, false);
            return None;
        }
        if at >= self.fences_end
            && let Some(fence) = Fence::open(line)
            && let Some(end) = self.fenced(text, at, &fence)
        {
            return Some(end);
        }
        let is_tag = inner.starts_with('<') && !inner.starts_with("<!--");
        self.is_html |= is_tag && !inner.starts_with("<http://") && !inner.starts_with("<https://");
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

    /// Finds the next `<` of a line outside code spans.
    pub(super) fn tag(&mut self, line: &str) -> Option<usize> {
        let bytes = line.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            work::count(1);
            at = match byte {
                b'<' => {
                    self.take_tag(&bytes[at + 1..]);
                    return Some(at);
                }
                b'`' => self.span(bytes, at),
                b']' => self.link(bytes, at),
                b'\\' => {
                    self.is_unsure |= bytes.get(at + 1) == Some(&b'`');
                    at + 1
                }
                _ => at + 1,
            };
        }
        None
    }

    /// Returns the end of the code span that certainly starts here, or of its backticks. Table cells interrupt spans.
    fn span(&mut self, bytes: &[u8], at: usize) -> usize {
        let run = run(&bytes[at..], b'`');
        let is_doubtful = self.is_unsure || self.is_html || self.is_raw;
        let end = if is_doubtful { None } else { closing(bytes, at + run, run) };
        let end = end.filter(|end| memchr(b'|', &bytes[at..*end]).is_none());
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
