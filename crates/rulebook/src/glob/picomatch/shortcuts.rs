//! The forms picomatch translates without reading them token by token.

use super::{DOT, GLOBSTAR, NO_DOTS, NO_DOTS_BEYOND, NOT_SLASH, SLASH, SOMETHING, STAR};

/// Patterns that are read as another.
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

/// A common form, alone or followed by extensions; these also allow a trailing slash.
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
        let is_word = !extension.is_empty() && extension.bytes().all(is_word_byte);
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

/// A single segment without groups: every sign stands for itself but `?`, `*` and `\`.
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
        let sign = if escaped { chars[at + 1] } else { c };
        at += usize::from(escaped);
        let count = chars[at..].iter().take_while(|&&next| next == sign).count();
        at += count;
        has_backslash |= sign == '\\';
        write_signs(&mut source, sign, count, escaped);
    }
    Some(if has_backslash { collapse_backslashes(&source) } else { source })
}

fn write_signs(source: &mut String, sign: char, count: usize, escaped: bool) {
    let verbatim = |source: &mut String, count| source.extend(std::iter::repeat_n(sign, count));
    match sign {
        '.' => *source += &DOT.repeat(count),
        '?' | '*' if escaped => {
            source.push('\\');
            source.push(sign);
            match sign {
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

/// Runs of backslashes become one or two: an odd run still escapes what follows.
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

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
