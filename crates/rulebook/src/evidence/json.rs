//! Reads JSON that a strict parser rejects because of small defects.
//!
//! A lone surrogate, as in a string that was cut inside an emoji, becomes U+FFFD. A byte order mark is skipped. A number
//! out of range becomes `null`. A value nested too deeply becomes a string with its source text.

use serde_json::Value;

/// The maximum depth of values; the strict parser allows 127.
const MAX_DEPTH: usize = 120;

/// Reads JSON, repaired if necessary.
///
/// # Errors
/// Returns the error for the original text if the repaired text is invalid too.
pub fn read(bytes: &[u8]) -> serde_json::Result<Value> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let strict = serde_json::from_slice(bytes);
    strict
        .or_else(|error| serde_json::from_str(&repaired(&String::from_utf8_lossy(bytes))).map_err(|_| error))
}

fn repaired(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut depth) = (text, 0_usize);
    while let Some(first) = rest.chars().next() {
        let (token, after) = rest.split_at(match first {
            '"' => string_end(rest),
            '-' | '0'..='9' => rest.find(|c: char| !is_number(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        });
        rest = after;
        let before = depth;
        match first {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let is_deep = before.max(depth) > MAX_DEPTH;
        let is_edge = is_deep && before.min(depth) == MAX_DEPTH;
        if is_edge && before < depth {
            out.push('"');
        }
        match first {
            _ if is_deep => quote(token, &mut out),
            '"' => write_string(token, &mut out),
            '-' | '0'..='9' if token.parse().is_ok_and(f64::is_infinite) => out.push_str("null"),
            _ => out.push_str(token),
        }
        if is_edge && before > depth {
            out.push('"');
        }
    }
    out
}

fn is_number(c: char) -> bool {
    matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')
}

/// The end of the string that starts here.
fn string_end(text: &str) -> usize {
    let mut escaped = true;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 1)
}

/// Writes text as part of a string.
fn quote(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push(' '),
            c => out.push(c),
        }
    }
}

/// Writes a string, with U+FFFD for lone surrogates.
fn write_string(string: &str, out: &mut String) {
    let mut rest = string;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (text, length) = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(Half::High), Some(Half::Low)) => (&escape[..12], 12),
            (Some(_), _) => ("\\ufffd", 6),
            (None, _) => {
                let length = escape.chars().take(2).map(char::len_utf8).sum();
                (&escape[..length], length)
            }
        };
        out.push_str(text);
        rest = &escape[length..];
    }
    out.push_str(rest);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// The kind of surrogate that is escaped here, as in `\ud83d`.
fn surrogate(text: &str) -> Option<Half> {
    let digits =
        text.strip_prefix("\\u")?.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    match u32::from_str_radix(digits, 16).ok()? {
        0xd800..0xdc00 => Some(Half::High),
        0xdc00..0xe000 => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(text: &str, want: impl Into<Option<Value>>) {
        assert_eq!(read(text.as_bytes()).ok(), want.into(), "{}", &text[..text.len().min(80)]);
    }

    #[test]
    fn small_defects_are_repaired() {
        check("\u{feff}{\"a\": 1}", json!({"a": 1}));
        check(r#"{"a": "x\ud83d"}"#, json!({"a": "x\u{fffd}"}));
        check(
            r#"{"a\uDE00b": "\uD83D\uD83D\uDE00\\ud83d\"\ude00"}"#,
            json!({"a\u{fffd}b": "\u{fffd}😀\\ud83d\"\u{fffd}"}),
        );
        check(r#"["\ud83d\ude00", "\ud83dx", "\ud8"]"#, None);
        check(
            r#"["\ud83d\ude00", "\ud83dx", 1e999, -1e999, 1e9, "1e999"]"#,
            json!(["😀", "\u{fffd}x", null, null, 1e9, "1e999"]),
        );
    }

    #[test]
    fn a_value_nested_too_deeply_becomes_text() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        check(&deep(MAX_DEPTH), serde_json::from_str(&deep(MAX_DEPTH)).ok());
        check(
            &format!(r#"{{"a": {}, "b": 1e999}}"#, deep(MAX_DEPTH)),
            serde_json::from_str(&format!(
                r#"{{"a": {}"[]"{}, "b": null}}"#,
                "[".repeat(119),
                "]".repeat(119)
            ))
            .ok(),
        );
        for levels in [130, 100_000] {
            let text = format!(r#"{{"a": {}, "b": "new Map"}}"#, deep(levels));
            assert_eq!(read(text.as_bytes()).unwrap()["b"], "new Map");
            let text = format!(
                r#"{{"a": {}1{}, "b": "new Map"}}"#,
                r#"{"x": ["y", "#.repeat(levels),
                "]}".repeat(levels)
            );
            let read = read(text.as_bytes()).unwrap();
            assert_eq!(read["b"], "new Map");
            // A trigger still finds the text.
            assert!(read.to_string().contains("y"));
        }
    }

    #[test]
    fn invalid_json_is_rejected() {
        for text in [
            "",
            "{",
            "[1,",
            "\"\\",
            "\"\\u",
            "\"\\ud83",
            "]]",
            "{\"a\": 1e999",
            "nul",
            "\u{feff}\u{feff}1",
            "é\\",
        ] {
            check(text, None);
        }
    }
}
