//! Cuts prose into the pieces that may be paths.
//!
//! A line is cut into words at whitespace and quotation marks, a word into pieces at punctuation. Every step
//! looks at most [`MAX_PATH`] bytes around itself or consumes what it looks at, so that no text takes more than
//! linear time.

use super::MAX_PATH;
use super::names::{is_complete, is_host};

/// Text that may be a path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'t> {
    pub(super) text: &'t str,
    pub(super) naming: Naming,
}

/// How the text presents a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// Stands among the words, perhaps behind an `@`.
    Prose,
    /// Is all that a pair of quotation marks holds.
    Quoted,
    /// Quoted, and contains spaces.
    Spaced,
    /// Two words of prose that may be one path.
    Joined,
    /// Quoted behind an `@`.
    Mention,
}

impl Candidate<'_> {
    pub(super) fn is_mention(&self) -> bool {
        self.naming == Naming::Mention || self.text.trim_start_matches(['*', '_']).starts_with('@')
    }
}

/// Receives candidates and says whether it took the one it was given.
pub(super) type Take<'a, 't> = dyn FnMut(Candidate<'t>) -> bool + 'a;

/// The marks that quote, opening and closing.
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

/// Offers every candidate of `text` to `take`, in order.
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
        // `<br/>` closes a tag, it does not name a folder.
        let named = if line[end..].starts_with('>') { word.trim_end_matches('/') } else { word };
        scan_word(named, naming(line, at, end), take);
        at = end;
    }
}

/// The text between the quotation mark at `at` and its partner on the line, if it contains spaces.
fn spaced_quote(line: &str, at: usize) -> Option<Candidate<'_>> {
    let first = line[at..].chars().next()?;
    let &(open, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    if is_apostrophe(line, at) {
        return None;
    }
    let from = at + open.len_utf8();
    let text = &line[from..line.floor_char_boundary(from + MAX_PATH)];
    let length = text.find([open, close]).filter(|&length| text[length..].starts_with(close))?;
    let text = &text[..length];
    let is_spaced = text.contains(char::is_whitespace) && text.trim() == text;
    let is_mixed = text.contains("://")
        || text.contains("www.")
        || text.contains(|c| is_quote(c) && !matches!(c, '\'' | '’'));
    let naming = if is_at_sign(&line[..at]) { Naming::Mention } else { Naming::Spaced };
    (is_spaced && !is_mixed).then_some(Candidate { text, naming })
}

/// The word at `at` together with the next, if the first looks cut short and the second ends in a file.
fn joined(line: &str, at: usize, end: usize) -> Option<Candidate<'_>> {
    let first = &line[at..end];
    let next = word(line, end + usize::from(line[end..].starts_with(' ')));
    let text = line.get(at..end + 1 + next.len()).filter(|text| text.len() <= MAX_PATH)?;
    let is_cut = !next.is_empty() && first.contains(['/', '\\']) && !is_complete(first);
    let is_file = is_complete(next.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']));
    (is_cut && is_file).then_some(Candidate { text, naming: Naming::Joined })
}

/// The longest text at `at` without whitespace and quotation marks.
fn word(line: &str, at: usize) -> &str {
    let is_end = |(offset, c): (usize, char)| {
        c.is_whitespace() || c.is_control() || (is_quote(c) && !is_apostrophe(line, at + offset))
    };
    let rest = &line[at..];
    let length = rest.char_indices().find(|&indexed| is_end(indexed)).map_or(rest.len(), |(end, _)| end);
    &rest[..length]
}

fn naming(line: &str, start: usize, end: usize) -> Naming {
    let before = line[..start].chars().next_back().filter(|&c| is_quote(c));
    let is_closed = line[end..].starts_with(is_quote);
    match before {
        Some(mark) if is_at_sign(&line[..start - mark.len_utf8()]) => Naming::Mention,
        Some(_) if is_closed => Naming::Quoted,
        _ => Naming::Prose,
    }
}

fn is_quote(c: char) -> bool {
    QUOTES.iter().any(|&(open, close)| c == open || c == close)
}

/// `true` for the mark in `what's`, which quotes nothing.
fn is_apostrophe(line: &str, at: usize) -> bool {
    let is_mark = line[at..].starts_with(['\'', '’']);
    let mut after = line[at..].chars().skip(1);
    is_mark && line[..at].ends_with(char::is_alphanumeric) && after.next().is_some_and(char::is_alphanumeric)
}

/// `true` if `before` ends in an `@` that starts a word.
fn is_at_sign(before: &str) -> bool {
    before.strip_suffix('@').is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

/// What a character does to the piece before it.
enum Step {
    /// Belongs to it; go on from there.
    On(usize),
    /// Ends it; the next piece starts there.
    Cut(usize),
    /// Shows that it was no path; the next piece starts there.
    Drop(usize),
}

fn scan_word<'t>(word: &'t str, naming: Naming, take: &mut Take<'_, 't>) {
    let partners = partners(word);
    let (mut start, mut at) = (0, 0);
    while let Some(c) = word[at..].chars().next() {
        let step = step(word, start, at, c, &partners);
        if let Step::Cut(_) = step {
            offer(&word[start..at], naming, take);
        }
        match step {
            Step::On(to) => at = to,
            Step::Cut(to) | Step::Drop(to) => (start, at) = (to, to),
        }
    }
    offer(&word[start..], naming, take);
}

fn offer<'t>(piece: &'t str, naming: Naming, take: &mut Take<'_, 't>) {
    if piece.is_empty() || piece.len() > MAX_PATH {
        return;
    }
    if is_glued(piece) {
        for text in piece.split(is_unspaced).filter(|text| !text.is_empty()) {
            take(Candidate { text, naming });
        }
    } else {
        take(Candidate { text: piece, naming });
    }
}

fn step(word: &str, start: usize, at: usize, c: char, partners: &[(usize, usize)]) -> Step {
    let piece = &word[start..at];
    let next = at + c.len_utf8();
    let rest = &word[next..];
    let is_slash = |c| matches!(c, '/' | '\\');
    match c {
        'w' if piece.is_empty() && word[at..].starts_with("www.") => Step::Drop(url_end(word, at)),
        ':' if rest.starts_with("//") => Step::Drop(url_end(word, at)),
        ':' if is_drive(piece) && rest.starts_with(is_slash) => Step::On(next),
        // A port or the repository of an SSH address follows.
        ':' if is_host(piece.rsplit('@').next().unwrap_or(piece)) => Step::Drop(word.len()),
        ':' => Step::Cut(next),
        '#' | '?' if is_complete(piece) || is_line_anchor(&word[at..]) => Step::Cut(annex_end(word, at)),
        '#' if piece.is_empty() => Step::Cut(next),
        // A flag (`--f=src/a.ts`) or a setting ends here; the folder `data/year=2026` does not.
        '=' if piece.len() > MAX_PATH || is_complete(piece) || !piece.contains(is_slash) => Step::Cut(next),
        '\'' | '’' if is_complete(piece) => Step::Cut(next),
        '(' if is_complete(piece) && !piece.contains(is_slash) && !rest.starts_with(is_digit) => {
            Step::Drop(next)
        }
        '(' | '[' | '{' => match partner(partners, at) {
            Some(close) if belongs(word, start, at, close) => Step::On(close + 1),
            _ => Step::Cut(next),
        },
        ')' | ']' | '}' => Step::Cut(next),
        _ if SEPARATORS.contains(&c) => Step::Cut(next),
        _ => Step::On(next),
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_drive(piece: &str) -> bool {
    let piece = piece.strip_prefix('@').unwrap_or(piece);
    piece.len() == 1 && piece.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// `true` for `#L10`, which ends even a name without an extension.
fn is_line_anchor(text: &str) -> bool {
    text.strip_prefix("#L").is_some_and(|line| line.starts_with(is_digit))
}

/// Where the query or the anchor at `at` ends.
fn annex_end(word: &str, at: usize) -> usize {
    let is_end = |c: char| matches!(c, ')' | ']' | '}') || SEPARATORS.contains(&c);
    word[at..].find(is_end).map_or(word.len(), |length| at + length)
}

/// Where the URL at `at` ends: at a bracket that was open before it, or at typographic punctuation.
/// A comma, `;` or `|` may be part of it.
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
    word[at..].find(is_end).map_or(word.len(), |length| at + length)
}

/// The brackets of `word` that open and close, by their opening place.
fn partners(word: &str) -> Vec<(usize, usize)> {
    let mut open = Vec::new();
    let mut partners = Vec::new();
    for (at, byte) in word.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => open.push((at, byte)),
            // In ASCII the closing bracket follows the opening one by one place or two.
            b')' | b']' | b'}' => {
                if let Some(&(from, bracket)) = open.last()
                    && matches!(byte.wrapping_sub(bracket), 1 | 2)
                {
                    open.pop();
                    partners.push((from, at));
                }
            }
            _ => {}
        }
    }
    partners.sort_unstable();
    partners
}

fn partner(partners: &[(usize, usize)], open: usize) -> Option<usize> {
    partners.binary_search_by_key(&open, |&(from, _)| from).ok().map(|found| partners[found].1)
}

/// `true` if the bracketed text is part of the path, as in `app/[slug]/page.tsx` and `src/{a,b}.ts`,
/// and does not surround one or follow it.
fn belongs(word: &str, start: usize, open: usize, close: usize) -> bool {
    let (before, inner, after) = (&word[start..open], &word[open + 1..close], &word[close + 1..]);
    if inner.len() > MAX_PATH || is_complete(before) {
        return false;
    }
    let is_segment_start = before.ends_with(['/', '\\']);
    let goes_on = after.starts_with(['/', '\\']) || {
        let after = after.strip_prefix('.').unwrap_or(after);
        after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '*' | '{' | '['))
    };
    match word.as_bytes()[open] {
        b'{' => !before.is_empty() || goes_on,
        _ if inner.contains(['/', '\\']) => false,
        // `load(a.ts).then` is code.
        b'(' if inner.contains('.') => is_segment_start,
        b'(' if before.is_empty() => after.starts_with(['/', '\\']),
        _ => is_segment_start || goes_on,
    }
}

/// `true` for a letter of a script that puts no space between a path and the words around it.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// `true` if such a script touches Latin text, as in `修改src/a.ts文件`; `文档/说明.md` is a path of its own.
fn is_glued(piece: &str) -> bool {
    let touches = |(a, b): (char, char)| {
        is_unspaced(a) && b.is_ascii_alphanumeric() || a.is_ascii_alphanumeric() && is_unspaced(b)
    };
    piece.chars().zip(piece.chars().skip(1)).any(touches)
}
