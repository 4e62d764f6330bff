//! VS Code's globs, which match absolute paths.

use super::error::{GlobError, MAX_ALTERNATIVES};

const SLASH: &str = r"[\/\\]";
const NO_SLASH: &str = r"[^\/\\]";
const GLOBSTAR: &str = "**";

/// Rewrites a pattern so that it matches paths relative to the workspace.
///
/// VS Code matches the absolute path. Its first folders are unknown here, and a leading `*` segment may match one of them.
/// `None` if the pattern is for absolute paths and cannot match below the workspace.
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
    // A slash after plain names is ignored.
    let rest = rest.strip_suffix('/').filter(is_plain).unwrap_or(rest);
    Some(format!("**/{rest}"))
}

fn is_stars(folder: &str) -> bool {
    !folder.is_empty() && folder.bytes().all(|c| c == b'*')
}

/// The expression for a result of [`relative`].
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

/// Splits outside braces and brackets, which do not nest, and drops an empty last piece.
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
