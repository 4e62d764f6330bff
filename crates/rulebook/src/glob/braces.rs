//! Brace expansion as in bash, for the dialects that expand before matching.

use super::error::{GlobError, MAX_ALTERNATIVES, MAX_DEPTH};

/// The maximum number of bytes copied during expansion.
const MAX_BYTES: usize = 4 << 20;
/// How often a text like `{a},b}` may be rewritten.
const MAX_REWRITES: usize = 1000;

// Placeholders for escaped characters during expansion.
const BACKSLASH: char = '\u{fdd0}';
const OPEN: char = '\u{fdd1}';
const CLOSE: char = '\u{fdd2}';
const COMMA: char = '\u{fdd3}';
const DOT: char = '\u{fdd4}';
const PLACEHOLDERS: [(char, char); 5] =
    [('\\', BACKSLASH), ('{', OPEN), ('}', CLOSE), (',', COMMA), ('.', DOT)];

/// Expands `pattern` in the same order as brace-expansion 5 (npm).
pub(super) fn expand(pattern: &str) -> Result<Vec<String>, GlobError> {
    if !has_group(pattern) {
        return Ok(vec![pattern.to_owned()]);
    }
    let (head, rest) = match pattern.strip_prefix("{}") {
        Some(rest) => (format!("{OPEN}{CLOSE}"), rest),
        None => (String::new(), pattern),
    };
    let text = head + &with_placeholders(rest);
    let expanded = Expansion { copied: 0 }.expand(&text, 0, true)?;
    Ok(expanded.into_iter().map(|text| without_placeholders(&text)).collect())
}

/// Whether a `{` and a `}` are on one line with no other `{` between them.
fn has_group(pattern: &str) -> bool {
    pattern.split('{').skip(1).any(|piece| {
        let line = piece.split(['\n', '\r', '\u{2028}', '\u{2029}']).next();
        line.is_some_and(|line| line.contains('}'))
    })
}

fn with_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = (c == '\\').then(|| chars.peek()).flatten();
        match escaped.and_then(|next| PLACEHOLDERS.iter().find(|row| row.0 == *next)) {
            Some(row) => {
                chars.next();
                out.push(row.1);
            }
            None => out.push(c),
        }
    }
    out
}

fn without_placeholders(text: &str) -> String {
    let real = |c| PLACEHOLDERS.iter().find(|row| row.1 == c).map_or(c, |row| row.0);
    text.chars().map(real).collect()
}

struct Expansion {
    copied: usize,
}

impl Expansion {
    fn expand(&mut self, text: &str, depth: usize, mut is_top: bool) -> Result<Vec<String>, GlobError> {
        if depth > MAX_DEPTH {
            return Err(GlobError::TooDeep);
        }
        let mut text = text.to_owned();
        let mut found = vec![String::new()];
        let mut rewrites = 0;
        let mut drops_empty = None;
        loop {
            let Some((open, close)) = balanced(&text) else {
                return self.combine(&found, &text, &[String::new()], drops_empty == Some(true));
            };
            let (before, body, after) = (&text[..open], &text[open + 1..close], &text[close + 1..]);
            let is_last = after.is_empty();
            let values;
            if before.ends_with('$') {
                values = vec![format!("{{{body}}}")];
                drops_empty = drops_empty.or(Some(false));
            } else if let Some(sequence) = sequence(body) {
                values = sequence?;
                drops_empty = drops_empty.or(Some(false));
            } else if body.contains(',') {
                drops_empty = drops_empty.or(Some(is_top));
                values = self.list(body, depth)?;
            } else {
                if rewrites < MAX_REWRITES && may_close_later(after) {
                    // `{a},b}` is a list whose first word contains a brace.
                    rewrites += 1;
                    is_top = true;
                    text = format!("{before}{{{body}{CLOSE}{after}");
                    continue;
                }
                return self.combine(&found, &text, &[String::new()], drops_empty == Some(true));
            }
            found = self.combine(&found, before, &values, drops_empty == Some(true) && is_last)?;
            if is_last {
                return Ok(found);
            }
            text = after.to_owned();
        }
    }

    fn list(&mut self, body: &str, depth: usize) -> Result<Vec<String>, GlobError> {
        let mut words: Vec<String> = words(body);
        if let [only] = words.as_slice() {
            let inner = self.expand(only, depth + 1, false)?;
            words = inner.iter().map(|word| format!("{{{word}}}")).collect();
            if words.len() == 1 {
                return Ok(words);
            }
        }
        let mut values = Vec::new();
        for word in words {
            values.extend(self.expand(&word, depth + 1, false)?);
            if values.len() > MAX_ALTERNATIVES {
                return Err(GlobError::TooManyAlternatives);
            }
        }
        Ok(values)
    }

    fn combine(
        &mut self,
        heads: &[String],
        middle: &str,
        tails: &[String],
        drops_empty: bool,
    ) -> Result<Vec<String>, GlobError> {
        let mut out = Vec::with_capacity(heads.len());
        for head in heads {
            for tail in tails {
                let whole = [head, middle, tail].concat();
                self.copied += whole.len();
                if out.len() == MAX_ALTERNATIVES {
                    return Err(GlobError::TooManyAlternatives);
                }
                if self.copied > MAX_BYTES {
                    return Err(GlobError::TooLarge);
                }
                if !(drops_empty && whole.is_empty()) {
                    out.push(whole);
                }
            }
        }
        Ok(out)
    }
}

/// The first outermost pair of braces; if an opening brace is never closed, the first pair inside it.
fn balanced(text: &str) -> Option<(usize, usize)> {
    let mut opened: Vec<usize> = Vec::new();
    let mut best: Option<(usize, usize)> = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => opened.push(at),
            b'}' if opened.len() == 1 => return Some((opened[0], at)),
            b'}' => {
                let Some(open) = opened.pop() else { continue };
                if best.is_none_or(|best| open < best.0) {
                    best = Some((open, at));
                }
            }
            _ => {}
        }
    }
    best
}

/// Splits a list at the commas outside inner braces.
fn words(body: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut rest = body;
    loop {
        let pair = balanced(rest);
        let plain = pair.map_or(rest, |(open, _)| &rest[..open]);
        for (at, piece) in plain.split(',').enumerate() {
            if at > 0 {
                words.push(String::new());
            }
            words.last_mut().expect("never empty").push_str(piece);
        }
        let Some((open, close)) = pair else { return words };
        words.last_mut().expect("never empty").push_str(&rest[open..=close]);
        rest = &rest[close + 1..];
        if rest.is_empty() {
            return words;
        }
    }
}

/// Whether a comma that is not followed by another comma precedes a `}` on the same line.
fn may_close_later(text: &str) -> bool {
    text.split(['\n', '\r', '\u{2028}', '\u{2029}']).any(|line| {
        let Some(end) = line.rfind('}') else { return false };
        let bytes = line.as_bytes();
        (0..end).any(|at| bytes[at] == b',' && bytes[at + 1] != b',')
    })
}

/// The members of `1..5` or `a..e`, optionally with a step.
fn sequence(body: &str) -> Option<Result<Vec<String>, GlobError>> {
    let ends: Vec<&str> = body.split("..").collect();
    let ([from, to] | [from, to, _]) = ends.as_slice() else { return None };
    let step = ends.get(2).map_or(Some(1), |step| number(step))?;
    let step = step.unsigned_abs().max(1);
    if let (Some(low), Some(high)) = (number(from), number(to)) {
        let is_padded = ends.iter().any(|end| {
            let digits = end.strip_prefix('-').unwrap_or(end).as_bytes();
            digits.len() > 1 && digits[0] == b'0'
        });
        let width = if is_padded { from.len().max(to.len()) } else { 0 };
        return Some(members(low, high, step).map(|all| all.map(|n| format!("{n:0width$}")).collect()));
    }
    let letter = |end: &str| match end.as_bytes() {
        [c] if c.is_ascii_alphabetic() => Some(i64::from(*c)),
        _ => None,
    };
    let (low, high) = (letter(from)?, letter(to)?);
    let show = |n: i64| match u8::try_from(n) {
        Ok(b'\\') | Err(_) => String::new(),
        Ok(c) => char::from(c).to_string(),
    };
    Some(members(low, high, step).map(|all| all.map(show).collect()))
}

fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    // JavaScript's integers are exact up to this value.
    let value = digits.bytes().fold(0_i64, |sum, c| (sum * 10 + i64::from(c - b'0')).min(1 << 53));
    Some(if digits.len() < text.len() { -value } else { value })
}

fn members(low: i64, high: i64, step: u64) -> Result<impl Iterator<Item = i64>, GlobError> {
    let count = low.abs_diff(high) / step + 1;
    if count > MAX_ALTERNATIVES as u64 {
        return Err(GlobError::TooManyAlternatives);
    }
    let step = step as i64 * if high < low { -1 } else { 1 };
    Ok((0..count as i64).map(move |at| low + at * step))
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[track_caller]
    fn check(pattern: &str, want: &[&str]) {
        assert_eq!(expand(pattern).unwrap(), want, "{pattern}");
    }

    #[test]
    fn braces_expand_as_in_bash() {
        check("a{b,c{d,e}}f", &["abf", "acdf", "acef"]);
        check("a{b}c", &["a{b}c"]);
        check("{{a,b}}", &["{a}", "{b}"]);
        check("{1..3}", &["1", "2", "3"]);
        check("{01..3}", &["01", "02", "03"]);
        check("{-1..1}", &["-1", "0", "1"]);
        check("{c..a..2}", &["c", "a"]);
        check("${a,b}", &["${a,b}"]);
        check("{a},b}", &["a}", "b"]);
        check("{},a}b", &["{},a}b"]);
        check(r"{a\,b,c}", &["a,b", "c"]);
        check("{a,b", &["{a,b"]);
        check("{,a}", &["a"]);
        check("x{,a}", &["x", "xa"]);
    }
}
