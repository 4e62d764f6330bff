//! VS Code's globs, found at any depth below the folders above the workspace.

use super::error::{GlobError, MAX_ALTERNATIVES};

const SLASH: &str = r"[\/\\]";
const NO_SLASH: &str = r"[^\/\\]";
const GLOBSTAR: &str = "**";

/// The pattern as it is asked of a path relative to the workspace.
///
/// VS Code asks it of the absolute path, whose first folders nobody here knows: a `*` that stands for
/// a folder at the start may stand for one of those. Nothing where a pattern for absolute paths can
/// match none below the workspace.
pub(super) fn relative(pattern: &str) -> Option<String> {
    if pattern.starts_with('/') {
        return None;
    }
    let mut rest = pattern;
    while let Some((_, inner)) = rest.split_once('/').filter(|(folder, _)| is_stars(folder)) {
        rest = inner;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let is_plain = |bare: &&str| bare.split('/').all(|name| !name.is_empty() && name.chars().all(is_name));
    // A slash after plain names is not looked at.
    let rest = rest.strip_suffix('/').filter(is_plain).unwrap_or(rest);
    Some(format!("**/{rest}"))
}

fn is_stars(folder: &str) -> bool {
    !folder.is_empty() && folder.bytes().all(|c| c == b'*')
}

/// The expression for a pattern that [`relative`] has read.
pub(super) fn translate(pattern: &str) -> Result<String, GlobError> {
    if pattern.matches(',').count() >= MAX_ALTERNATIVES {
        return Err(GlobError::TooManyAlternatives);
    }
    Ok(expression(pattern))
}

fn expression(pattern: &str) -> String {
    let segments = split(pattern, '/');
    if segments.iter().all(|segment| *segment == GLOBSTAR) {
        return if segments.is_empty() { String::new() } else { ".*".to_owned() };
    }
    let mut source = String::new();
    for (at, segment) in segments.iter().enumerate() {
        let rest = &segments[at + 1..];
        if *segment != GLOBSTAR {
            source += &segment_expression(segment);
            if !rest.is_empty() && rest != [GLOBSTAR] {
                source += SLASH;
            }
        } else if at == 0 || segments[at - 1] != GLOBSTAR {
            let end = if rest.is_empty() { format!("|{SLASH}{NO_SLASH}+") } else { String::new() };
            source += &format!("(?:{SLASH}|{NO_SLASH}+{SLASH}{end})*?");
        }
    }
    source
}

fn segment_expression(segment: &str) -> String {
    let mut source = String::new();
    let mut list: Option<String> = None;
    let mut class: Option<String> = None;
    for c in segment.chars() {
        if let Some(list) = list.as_mut().filter(|_| c != '}') {
            list.push(c);
            continue;
        }
        if let Some(members) = class.as_mut().filter(|members| c != ']' || members.is_empty()) {
            match c {
                '-' => members.push('-'),
                '!' | '^' if members.is_empty() => members.push('^'),
                '/' => {}
                c => push_escaped(members, c),
            }
            continue;
        }
        match c {
            '{' => list = Some(String::new()),
            '[' => class = Some(String::new()),
            '}' => {
                let list = list.take().unwrap_or_default();
                let branches: Vec<String> = split(&list, ',').into_iter().map(expression).collect();
                source += &format!("(?:{})", branches.join("|"));
            }
            ']' => source += &format!("[{}]", class.take().unwrap_or_default()),
            '?' => source += NO_SLASH,
            '*' => source += &format!("{NO_SLASH}*?"),
            c => push_escaped(&mut source, c),
        }
    }
    source
}

/// Splits outside braces and brackets, neither of which nest; an empty last piece is none.
fn split(text: &str, at: char) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut in_braces, mut in_brackets) = (false, false);
    let mut start = 0;
    for (i, c) in text.char_indices() {
        match c {
            c if c == at && !in_braces && !in_brackets => {
                pieces.push(&text[start..i]);
                start = i + 1;
            }
            '{' | '}' => in_braces = c == '{',
            '[' | ']' => in_brackets = c == '[',
            _ => {}
        }
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}

fn push_escaped(source: &mut String, c: char) {
    if r"\{}*+?|^$.[]()/".contains(c) {
        source.push('\\');
    }
    source.push(c);
}
