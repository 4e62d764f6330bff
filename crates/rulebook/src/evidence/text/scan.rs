//! Splits prose into candidates for paths.
//!
//! A line is split into words at white space and quotation marks, and a word into pieces at punctuation. Every step
//! examines at most [`MAX_PATH`] bytes or consumes what it examines, so that scanning takes linear time.

use super::names::{is_complete, is_host};
use crate::work;

/// The maximum length of a path in bytes.
const MAX_PATH: usize = 300;

/// Text that may be a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'t> {
    pub(super) text: &'t str,
    pub(super) form: Form,
}

/// How the text contains a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A word of the prose, perhaps after an `@`.
    Prose,
    /// Enclosed in quotation marks.
    Quoted,
    /// Enclosed in quotation marks and with spaces.
    Spaced,
    /// Two words of prose that may be one path.
    Joined,
    /// Enclosed in quotation marks after an `@`.
    Mention,
}

impl Candidate<'_> {
    pub(super) fn is_mention(&self) -> bool {
        self.form == Form::Mention || self.text.trim_start_matches(['*', '_']).starts_with('@')
    }
}

/// Receives a candidate and returns whether it is a path.
pub(super) type Take<'a, 't> = dyn FnMut(Candidate<'t>) -> bool + 'a;

/// Quotation marks, opening and closing.
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('<', '>'),
    ('“', '”'),
    ('‘', '’'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
];

const SEPARATORS: &[char] = &[
    ',', ';', '|', '…', '—', '–', '→', '⇒', '•', '，', '。', '、', '；', '：', '！', '？', '（', '）', '【',
    '】', '《', '》', '\u{200b}', '\u{feff}',
];

/// Passes every candidate of `text` to `take`, in order.
pub(super) fn scan<'t>(text: &'t str, take: &mut Take<'_, 't>) {
    for line in text.split('\n') {
        if is_diff_header(line) {
            scan_line(line, &mut |candidate| take(without_diff_prefix(candidate)));
        } else {
            scan_line(line, take);
        }
    }
}

fn is_diff_header(line: &str) -> bool {
    ["diff --git ", "--- a/", "+++ b/"].iter().any(|start| line.trim_start().starts_with(start))
}

fn without_diff_prefix(candidate: Candidate) -> Candidate {
    let text = candidate.text;
    let bare = text.strip_prefix("a/").or_else(|| text.strip_prefix("b/"));
    Candidate { text: bare.unwrap_or(text), ..candidate }
}

fn scan_line<'t>(line: &'t str, take: &mut Take<'_, 't>) {
    let mut at = 0;
    while let Some(first) = line[at..].chars().next() {
        if let Some(spaced) = spaced_quote(line, at)
            && take(spaced)
        {
            at += first.len_utf8() + spaced.text.len();
            continue;
        }
        let word = word(line, at);
        if word.is_empty() {
            at += first.len_utf8();
            continue;
        }
        let end = at + word.len();
        if let Some(joined) = joined(line, at, end)
            && take(joined)
        {
            at += joined.text.len();
            continue;
        }
        // `<br/>` is a tag and not a folder.
        let word = if line[end..].starts_with('>') { word.trim_end_matches('/') } else { word };
        scan_word(word, form(line, at, end), take);
        at = end;
    }
}

/// The text between the quotation mark at `at` and the closing one on the line, if it contains spaces.
fn spaced_quote(line: &str, at: usize) -> Option<Candidate<'_>> {
    let first = line[at..].chars().next()?;
    let &(open, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    if is_apostrophe(line, at) {
        return None;
    }
    let from = at + open.len_utf8();
    let text = &line[from..line.floor_char_boundary(from + MAX_PATH)];
    let length = text.find([open, close]);
    work::count(length.unwrap_or(text.len()));
    let length = length.filter(|&length| text[length..].starts_with(close))?;
    let text = &text[..length];
    let is_spaced = text.contains(char::is_whitespace) && text.trim() == text;
    let is_mixed = text.contains("://")
        || text.contains("www.")
        || text.contains(|c| is_quote(c) && !matches!(c, '\'' | '’'));
    let form = if is_at_sign(&line[..at]) { Form::Mention } else { Form::Spaced };
    (is_spaced && !is_mixed).then_some(Candidate { text, form })
}

/// The word at `at` joined with the next one, if the first is an incomplete path and the second ends in a file name.
fn joined(line: &str, at: usize, end: usize) -> Option<Candidate<'_>> {
    let first = &line[at..end];
    let next = word(line, end + usize::from(line[end..].starts_with(' ')));
    let text = line.get(at..end + 1 + next.len()).filter(|text| text.len() <= MAX_PATH)?;
    let is_incomplete = !next.is_empty() && first.contains(['/', '\\']) && !is_complete(first);
    let is_file = is_complete(next.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']));
    (is_incomplete && is_file).then_some(Candidate { text, form: Form::Joined })
}

/// The text at `at` up to white space or a quotation mark.
fn word(line: &str, at: usize) -> &str {
    let is_end = |(offset, c): (usize, char)| {
        c.is_whitespace() || c.is_control() || (is_quote(c) && !is_apostrophe(line, at + offset))
    };
    let rest = &line[at..];
    let length = rest.char_indices().find(|&indexed| is_end(indexed)).map_or(rest.len(), |(end, _)| end);
    work::count(length + 1);
    &rest[..length]
}

fn form(line: &str, start: usize, end: usize) -> Form {
    let before = line[..start].chars().next_back().filter(|&c| is_quote(c));
    let is_closed = line[end..].starts_with(is_quote);
    match before {
        Some(mark) if is_at_sign(&line[..start - mark.len_utf8()]) => Form::Mention,
        Some(_) if is_closed => Form::Quoted,
        _ => Form::Prose,
    }
}

fn is_quote(c: char) -> bool {
    QUOTES.iter().any(|&(open, close)| c == open || c == close)
}

/// Whether the quotation mark is an apostrophe, as in `what's`.
fn is_apostrophe(line: &str, at: usize) -> bool {
    let is_mark = line[at..].starts_with(['\'', '’']);
    let mut after = line[at..].chars().skip(1);
    is_mark && line[..at].ends_with(char::is_alphanumeric) && after.next().is_some_and(char::is_alphanumeric)
}

/// Whether `before` ends in an `@` that starts a word.
fn is_at_sign(before: &str) -> bool {
    before.strip_suffix('@').is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

/// The effect of a character on the piece before it.
enum Step {
    /// It is part of the piece; continue at this index.
    Continue(usize),
    /// It ends the piece; the next one starts at this index.
    Cut(usize),
    /// The piece is not a path; the next one starts at this index.
    Drop(usize),
}

fn scan_word<'t>(word: &'t str, form: Form, take: &mut Take<'_, 't>) {
    let pairs = bracket_pairs(word);
    let (mut start, mut at) = (0, 0);
    while let Some(c) = word[at..].chars().next() {
        let step = step(word, start, at, c, &pairs);
        if let Step::Cut(_) = step {
            offer(&word[start..at], form, take);
        }
        match step {
            Step::Continue(to) => at = to,
            Step::Cut(to) | Step::Drop(to) => (start, at) = (to, to),
        }
    }
    offer(&word[start..], form, take);
}

fn offer<'t>(piece: &'t str, form: Form, take: &mut Take<'_, 't>) {
    if piece.is_empty() || piece.len() > MAX_PATH {
        return;
    }
    if is_glued(piece) {
        for text in piece.split(is_unspaced).filter(|text| !text.is_empty()) {
            take(Candidate { text, form });
        }
    } else {
        take(Candidate { text: piece, form });
    }
}

fn step(word: &str, start: usize, at: usize, c: char, pairs: &[(usize, usize)]) -> Step {
    work::count(1);
    let piece = &word[start..at];
    let next = at + c.len_utf8();
    let rest = &word[next..];
    let has_slash = |text: &str| {
        work::count(text.len());
        text.contains(is_slash)
    };
    match c {
        'w' if piece.is_empty() && word[at..].starts_with("www.") => Step::Drop(url_end(word, at)),
        ':' if rest.starts_with("//") => Step::Drop(url_end(word, at)),
        ':' if is_drive(piece) && rest.starts_with(is_slash) => Step::Continue(next),
        // A port, or the repository of an SSH address.
        ':' if is_host(piece.rsplit('@').next().unwrap_or(piece)) => Step::Drop(word.len()),
        ':' => Step::Cut(next),
        '#' | '?' if is_complete(piece) || is_line_anchor(&word[at..]) => Step::Cut(suffix_end(word, at)),
        '#' if piece.is_empty() => Step::Cut(next),
        // The name of a flag (`--f=src/a.ts`) or a setting ends here; the folder `data/year=2026` does not.
        '=' if piece.len() > MAX_PATH || is_complete(piece) || !has_slash(piece) => Step::Cut(next),
        '\'' | '’' if is_complete(piece) => Step::Cut(next),
        '(' if is_complete(piece) && !has_slash(piece) && !rest.starts_with(is_digit) => Step::Drop(next),
        '(' | '[' | '{' => match closing(pairs, at) {
            Some(close) if belongs(word, start, at, close) => Step::Continue(close + 1),
            _ => Step::Cut(next),
        },
        ')' | ']' | '}' => Step::Cut(next),
        _ if SEPARATORS.contains(&c) => Step::Cut(next),
        _ => Step::Continue(next),
    }
}

fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\')
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_drive(piece: &str) -> bool {
    let piece = piece.strip_prefix('@').unwrap_or(piece);
    piece.len() == 1 && piece.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Whether the text is like `#L10`, which ends even a name without an extension.
fn is_line_anchor(text: &str) -> bool {
    text.strip_prefix("#L").is_some_and(|line| line.starts_with(is_digit))
}

/// The end of the query or anchor at `at`.
fn suffix_end(word: &str, at: usize) -> usize {
    let is_end = |c: char| matches!(c, ')' | ']' | '}') || SEPARATORS.contains(&c);
    end_at(word, at, is_end)
}

/// The end of the URL at `at`: the bracket that closes one opened before it, or typographic punctuation. A comma, `;` or
/// `|` may be part of it.
fn url_end(word: &str, at: usize) -> usize {
    let mut depth = 0_usize;
    let is_end = |c: char| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => return true,
            ')' | ']' => depth -= 1,
            _ => return !c.is_ascii() && SEPARATORS.contains(&c),
        }
        false
    };
    end_at(word, at, is_end)
}

fn end_at(word: &str, at: usize, is_end: impl FnMut(char) -> bool) -> usize {
    let end = word[at..].find(is_end).map_or(word.len(), |length| at + length);
    work::count(end - at);
    end
}

/// The matching brackets of `word`, sorted by the opening one.
fn bracket_pairs(word: &str) -> Vec<(usize, usize)> {
    work::count(word.len());
    let mut open = Vec::new();
    let mut pairs = Vec::new();
    for (at, byte) in word.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => open.push((at, byte)),
            // In ASCII, the code of a closing bracket is 1 or 2 higher than that of the opening one.
            b')' | b']' | b'}' => {
                if let Some(&(from, bracket)) = open.last()
                    && matches!(byte.wrapping_sub(bracket), 1 | 2)
                {
                    open.pop();
                    pairs.push((from, at));
                }
            }
            _ => {}
        }
    }
    pairs.sort_unstable();
    pairs
}

fn closing(pairs: &[(usize, usize)], open: usize) -> Option<usize> {
    pairs.binary_search_by_key(&open, |&(from, _)| from).ok().map(|found| pairs[found].1)
}

/// Whether the bracketed text is part of a path, as in `app/[slug]/page.tsx` and `src/{a,b}.ts`, and does not enclose or
/// follow one.
fn belongs(word: &str, start: usize, open: usize, close: usize) -> bool {
    let (before, inner, after) = (&word[start..open], &word[open + 1..close], &word[close + 1..]);
    if inner.len() > MAX_PATH || is_complete(before) {
        return false;
    }
    let is_segment_start = before.ends_with(['/', '\\']);
    let continues = after.starts_with(['/', '\\']) || {
        let after = after.strip_prefix('.').unwrap_or(after);
        after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '*' | '{' | '['))
    };
    match word.as_bytes()[open] {
        b'{' => !before.is_empty() || continues,
        _ if inner.contains(['/', '\\']) => false,
        // `load(a.ts).then` is code.
        b'(' if inner.contains('.') => is_segment_start,
        b'(' if before.is_empty() => after.starts_with(['/', '\\']),
        _ => is_segment_start || continues,
    }
}

/// Whether the letter belongs to a script without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Whether such a script is adjacent to Latin text, as in `修改src/a.ts文件`. `文档/说明.md` is a single path.
fn is_glued(piece: &str) -> bool {
    let touches = |(a, b): (char, char)| {
        is_unspaced(a) && b.is_ascii_alphanumeric() || a.is_ascii_alphanumeric() && is_unspaced(b)
    };
    piece.chars().zip(piece.chars().skip(1)).any(touches)
}
