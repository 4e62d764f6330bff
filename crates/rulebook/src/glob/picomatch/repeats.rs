//! Repeated extglobs that picomatch does not translate as repetitions, since its engine would take exponential time.

use super::expression::escape;

pub(super) enum Risk {
    None,
    /// It is read as literal text.
    Literal,
    /// Every branch is a single character: a class is equivalent.
    Class(String),
}

/// Classifies the text between the parentheses of `+(…)` or `*(…)`.
pub(super) fn risk(body: &str) -> Risk {
    let branches: Vec<&str> = branches(body).into_iter().map(trim).collect();
    if branches.len() > 1 {
        let is_wild = |branch: &&str| branch.chars().all(|c| matches!(c, '*' | '?'));
        if branches.iter().any(is_wild) || overlap(&branches) {
            return Risk::Literal;
        }
    }
    let mut letters: Vec<u16> = Vec::new();
    let mut has_stars = false;
    let mut is_class = true;
    for branch in branches {
        if let Some(starred) = starred_letters(branch) {
            has_stars = true;
            letters.extend(starred);
        } else if let Some(letter) = single(branch) {
            letters.push(letter);
        } else if repetition(branch).is_some_and(|(_, _, rest)| rest.is_empty()) {
            return Risk::Literal;
        } else {
            is_class = false;
        }
    }
    match (has_stars, is_class) {
        (false, _) => Risk::None,
        (true, false) => Risk::Literal,
        (true, true) => Risk::Class(starred_class(letters)),
    }
}

fn starred_class(letters: Vec<u16>) -> String {
    let mut unique: Vec<u16> = Vec::new();
    for letter in letters {
        if !unique.contains(&letter) {
            unique.push(letter);
        }
    }
    let escaped = escape(&String::from_utf16_lossy(&unique));
    if unique.len() == 1 { format!("{escaped}*") } else { format!("[{escaped}]*") }
}

/// Whether two branches repeat the same character, such as `a|aa`.
fn overlap(branches: &[&str]) -> bool {
    let mut seen = Vec::new();
    for branch in branches.iter().filter_map(|branch| simple(branch)) {
        let mut units = branch.encode_utf16();
        let Some(first) = units.next() else { continue };
        if units.any(|unit| unit != first) {
            continue;
        }
        if seen.contains(&first) {
            return true;
        }
        seen.push(first);
    }
    false
}

/// The letters of a branch of the form `*(a)*(b)`.
fn starred_letters(branch: &str) -> Option<Vec<u16>> {
    let mut letters = Vec::new();
    let mut rest = branch;
    while !rest.is_empty() {
        let ('*', body, after) = repetition(rest)? else { return None };
        let [inner] = branches(body)[..] else { return None };
        letters.push(single(trim(inner))?);
        rest = after;
    }
    (!letters.is_empty()).then_some(letters)
}

fn single(branch: &str) -> Option<u16> {
    let text = simple(branch)?;
    let mut units = text.encode_utf16();
    units.next().filter(|_| units.next().is_none())
}

/// The text of a branch without wildcards and groups, except for `@(…)` around it.
fn simple(branch: &str) -> Option<String> {
    let mut text = trim(branch);
    while let Some(inner) = text.strip_prefix("@(").and_then(|text| text.strip_suffix(')'))
        && !inner.is_empty()
        && !inner.contains(['\\', '(', ')', '[', ']', '{', '}', '|'])
    {
        text = inner;
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('\n' | '\r' | '\u{2028}' | '\u{2029}')) => plain.extend(['\\', next]),
                Some(next) => plain.push(next),
                None => plain.push('\\'),
            },
            _ if "?*+@!()[]{}".contains(c) => return None,
            _ => plain.push(c),
        }
    }
    Some(plain)
}

/// A leading `+(…)` or `*(…)`: its first character, its body and the rest.
fn repetition(text: &str) -> Option<(char, &str, &str)> {
    let kind = text.chars().next().filter(|c| matches!(c, '+' | '*'))?;
    let inside = text[1..].strip_prefix('(')?;
    let mut depth = 1;
    let close = Unquoted::new(inside).find_map(|(at, c)| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (depth == 0).then_some(at)
    })?;
    Some((kind, &inside[..close], &inside[close + 1..]))
}

/// Splits at the bars outside of groups.
fn branches(body: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, c) in Unquoted::new(body) {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                parts.push(&body[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&body[start..]);
    parts
}

/// Iterates over the characters that are not escaped, quoted or in brackets.
struct Unquoted<'t> {
    chars: std::str::CharIndices<'t>,
    brackets: usize,
    quoted: bool,
}

impl<'t> Unquoted<'t> {
    fn new(text: &'t str) -> Unquoted<'t> {
        Unquoted { chars: text.char_indices(), brackets: 0, quoted: false }
    }
}

impl Iterator for Unquoted<'_> {
    type Item = (usize, char);

    fn next(&mut self) -> Option<(usize, char)> {
        loop {
            let (at, c) = self.chars.next()?;
            match c {
                '\\' => {
                    self.chars.next();
                }
                '"' => self.quoted = !self.quoted,
                _ if self.quoted => {}
                '[' => self.brackets += 1,
                ']' if self.brackets > 0 => self.brackets -= 1,
                _ if self.brackets > 0 => {}
                _ => return Some((at, c)),
            }
        }
    }
}

/// Trims JavaScript's white space.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}')
}
