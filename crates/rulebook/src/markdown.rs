//! Markdown: the parts of a text outside fenced code.

use crate::work;

/// A run of three or more backticks or tildes.
struct Run {
    start: usize,
    end: usize,
    mark: u8,
    line: usize,
    /// A word follows directly, as in "```ts": the run can open a block but not close one.
    has_info: bool,
}

/// The parts of `text` outside fenced code.
///
/// A fence may open in the middle of a line ("fix this: ```ts"). A fence that closes on the same line is inline code, and an
/// unclosed fence is a typo. Neither hides anything: hiding the rest of the message would lose too much.
pub(crate) fn outside_code(text: &str) -> Vec<&str> {
    let runs = runs(text);
    let closers = longest_closers(&runs);
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(open) = runs.get(at) {
        let closes = |run: &Run| {
            run.mark == open.mark
                && run.end - run.start >= open.end - open.start
                && (run.line == open.line || !run.has_info)
        };
        work::count(1);
        let rest = &runs[at + 1..];
        let is_inline = rest.first().is_some_and(|next| next.line == open.line && closes(next));
        // Searching only if a closing run exists keeps the whole scan linear.
        let is_closed = is_inline || closers[at + 1][kind(open.mark)] >= open.end - open.start;
        let Some(distance) = is_closed.then(|| rest.iter().position(closes)).flatten() else {
            at += 1;
            continue;
        };
        let close = &rest[distance];
        if close.line != open.line {
            parts.push(&text[from..open.start]);
            from = close.end;
        }
        work::count(distance);
        at += distance + 2;
    }
    parts.push(&text[from..]);
    parts
}

fn runs(text: &str) -> Vec<Run> {
    work::count(text.len());
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let (mut at, mut line, mut leads_line) = (0, 0, true);
    while at < bytes.len() {
        let mark = bytes[at];
        let start = at;
        at += 1;
        match mark {
            b'\n' => (line, leads_line) = (line + 1, true),
            // These may precede a fence: indentation, a quotation, a list item.
            b' ' | b'\t' | b'\r' | b'>' | b'-' | b'+' | b'*' | b'.' | b')' | b'0'..=b'9' => {}
            b'`' | b'~' => {
                at += bytes[at..].iter().take_while(|&&byte| byte == mark).count();
                if at - start >= 3 && (mark == b'`' || leads_line) {
                    let has_info =
                        bytes.get(at).is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'{');
                    runs.push(Run { start, end: at, mark, line, has_info });
                }
                leads_line = false;
            }
            _ => leads_line = false,
        }
    }
    runs
}

/// For each position, the longest run after it that can close a block, by kind.
fn longest_closers(runs: &[Run]) -> Vec<[usize; 2]> {
    let mut closers = vec![[0; 2]; runs.len() + 1];
    for (at, run) in runs.iter().enumerate().rev() {
        closers[at] = closers[at + 1];
        if !run.has_info {
            let longest = &mut closers[at][kind(run.mark)];
            *longest = (*longest).max(run.end - run.start);
        }
    }
    closers
}

fn kind(mark: u8) -> usize {
    usize::from(mark == b'~')
}

/// Whether a text has more than punctuation.
pub(crate) fn has_words(text: &str) -> bool {
    text.contains(|c: char| !c.is_whitespace() && !c.is_ascii_punctuation())
}
