//! The forms that picomatch translates without tokenizing.

use super::expression::{DOT, GLOBSTAR, NO_DOTS, NO_DOTS_BEYOND, NOT_SLASH, SLASH, SOMETHING, STAR};

/// Replaces patterns that picomatch treats as a shorter one.
pub(super) fn replaced(pattern: &str) -> &str {
    match pattern {
        "***" => "*",
        "**/**" | "**/**/**" => "**",
        _ => pattern,
    }
}

/// The pattern without one leading `./`.
pub(super) fn stripped(pattern: &str) -> &str {
    pattern.strip_prefix("./").unwrap_or(pattern)
}

/// The expression for a common form, alone or followed by extensions; it allows a trailing slash.
pub(super) fn named_form(pattern: &str) -> Option<String> {
    if !pattern.starts_with(['.', '*']) {
        return None;
    }
    let mut base = stripped(replaced(pattern));
    let mut extensions = Vec::new();
    let mut source = loop {
        if let Some(source) = form(base) {
            break source;
        }
        let (front, extension) = base.rsplit_once('.')?;
        let is_word = !extension.is_empty() && extension.chars().all(is_word);
        if !is_word || front.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
            return None;
        }
        extensions.push(extension);
        base = front;
    };
    for extension in extensions.iter().rev() {
        source += DOT;
        source += extension;
    }
    source += SLASH;
    source.push('?');
    Some(source)
}

fn form(base: &str) -> Option<String> {
    let anywhere = || format!("(?:{NO_DOTS_BEYOND}{GLOBSTAR}{SLASH})?");
    Some(match base {
        "*" => format!("{NO_DOTS_BEYOND}{SOMETHING}{STAR}"),
        ".*" => format!("{DOT}{SOMETHING}{STAR}"),
        "*.*" => format!("{NO_DOTS_BEYOND}{STAR}{DOT}{SOMETHING}{STAR}"),
        "*/*" => format!("{NO_DOTS_BEYOND}{STAR}{SLASH}{SOMETHING}{NO_DOTS}{STAR}"),
        "**" => format!("{NO_DOTS_BEYOND}{GLOBSTAR}"),
        "**/*" => format!("{}{NO_DOTS}{SOMETHING}{STAR}", anywhere()),
        "**/*.*" => format!("{}{NO_DOTS}{STAR}{DOT}{SOMETHING}{STAR}", anywhere()),
        "**/.*" => format!("{}{DOT}{SOMETHING}{STAR}", anywhere()),
        _ => return None,
    })
}

/// The expression for a single segment without groups: every character is literal except for `?`, `*` and `\`.
pub(super) fn flat_form(input: &str) -> Option<String> {
    if input.starts_with(['*', '!']) || input.contains(['/', '(', ')', '[', ']', '{', '}', '"']) {
        return None;
    }
    let chars: Vec<char> = input.chars().collect();
    let mut source = String::with_capacity(input.len() * 2);
    let mut has_backslash = false;
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if is_word(c) {
            source.push(c);
            at += 1;
            continue;
        }
        let escaped = c == '\\' && chars.get(at + 1).is_some_and(|&next| !is_word(next));
        let mark = if escaped { chars[at + 1] } else { c };
        at += usize::from(escaped);
        let count = chars[at..].iter().take_while(|&&next| next == mark).count();
        at += count;
        has_backslash |= mark == '\\';
        write_punctuation(&mut source, mark, count, escaped);
    }
    Some(if has_backslash { collapse_backslashes(&source) } else { source })
}

fn write_punctuation(source: &mut String, mark: char, count: usize, escaped: bool) {
    let verbatim = |source: &mut String, count| source.extend(std::iter::repeat_n(mark, count));
    match mark {
        '.' => *source += &DOT.repeat(count),
        '?' | '*' if escaped => {
            source.push('\\');
            source.push(mark);
            match mark {
                '?' => *source += &NOT_SLASH.repeat(count - 1),
                _ if count > 1 => *source += STAR,
                _ => {}
            }
        }
        '?' => *source += &NOT_SLASH.repeat(count),
        '*' => *source += STAR,
        '\\' => verbatim(source, count + usize::from(escaped)),
        _ => {
            source.push('\\');
            verbatim(source, count);
        }
    }
}

/// Shortens runs of backslashes to one or two: an odd run still escapes the next character.
fn collapse_backslashes(source: &str) -> String {
    let mut collapsed = String::with_capacity(source.len());
    let mut run = 0;
    for c in source.chars().chain(['\0']) {
        if c == '\\' {
            run += 1;
            continue;
        }
        if run > 0 {
            collapsed += if run % 2 == 0 { r"\\" } else { r"\" };
            run = 0;
        }
        collapsed.push(c);
    }
    collapsed.pop();
    collapsed
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
