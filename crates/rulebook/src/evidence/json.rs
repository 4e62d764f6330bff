//! Reads JSON that other programs send: everything that Node's `JSON.parse` or Python's `json.loads` reads.
//!
//! A lone surrogate, as in a string that was cut inside an emoji, becomes U+FFFD. A byte order mark is skipped. A number
//! out of range becomes `null`, and `NaN` becomes 0. Invalid UTF-8 becomes a replacement character. A value nested too
//! deeply becomes a string with its source text.

use memchr::memchr2;
use serde_json::Value;

/// The maximum depth of values; the strict parser allows 127.
const MAX_DEPTH: usize = 120;

/// Reads JSON, repaired if necessary.
///
/// # Errors
/// Returns the error for the original text if the repaired text is invalid too.
pub fn read(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).or_else(|error| serde_json::from_str(&repaired(bytes)).map_err(|_| error))
}

/// Returns the JSON as a strict parser reads it. Every value keeps its position: the result has the same length.
pub fn repaired(bytes: &[u8]) -> String {
    let mut text = valid_text(bytes);
    if text.starts_with('\u{feff}') {
        text.replace_range(..3, "   ");
    }
    let mut json = text.into_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(&first) = json.get(at) {
        let start = at;
        at = match first {
            b'"' => string_end(&json, start),
            b'-' | b'0'..=b'9' | b'N' | b'I' => word_end(&json, start),
            _ => start + 1,
        };
        let token = &mut json[start..at];
        depth += usize::from(matches!(first, b'[' | b'{'));
        let is_deep = depth > MAX_DEPTH;
        match first {
            b'"' => {
                replace_lone_surrogates(token);
                if is_deep && let [open, .., close] = token {
                    (*open, *close) = (b'\'', b'\'');
                }
            }
            b'[' | b'{' | b']' | b'}' if depth == MAX_DEPTH + 1 => token[0] = b'"',
            b'\n' | b'\r' | b'\t' if is_deep => token[0] = b' ',
            b'-' | b'0'..=b'9' | b'N' | b'I' if !is_deep => replace_number(token),
            _ => {}
        }
        depth = depth.saturating_sub(usize::from(matches!(first, b']' | b'}')));
    }
    String::from_utf8(json).unwrap_or_default()
}

/// Returns valid text of the same length: each invalid sequence becomes a character that is as long.
fn valid_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.push_str(["", "?", "\u{bf}", "\u{fffd}"][chunk.invalid().len().min(3)]);
    }
    text
}

/// Returns the end of the string that starts here.
fn string_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = json.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if json[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    json.len()
}

/// Returns the end of the number that starts here, or of `NaN` and `Infinity`.
fn word_end(json: &[u8], start: usize) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    start + json[start..].iter().take_while(|byte| is_part(byte)).count()
}

/// Replaces what JavaScript and Python read as a number that is not finite.
fn replace_number(token: &mut [u8]) {
    let is_word = matches!(&*token, b"NaN" | b"Infinity" | b"-Infinity");
    let is_infinite = || {
        let is_number =
            token.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let number = std::str::from_utf8(token).ok().filter(|_| is_number);
        number.and_then(|text| text.parse().ok()).is_some_and(f64::is_infinite)
    };
    if is_word || is_infinite() {
        let value: &[u8] = if token.len() < 4 { b"0" } else { b"null" };
        token.fill(b' ');
        token[..value.len()].copy_from_slice(value);
    }
}

/// Writes U+FFFD for lone surrogates in a string.
fn replace_lone_surrogates(string: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = string.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += found;
        at += match (surrogate(&string[at..]), string.get(at + 6..).and_then(surrogate)) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                string[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            (None, _) => 2,
        };
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// The kind of surrogate that is escaped here, as in `\ud83d`.
fn surrogate(text: &[u8]) -> Option<Half> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
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
        assert_eq!(repaired(text.as_bytes()).len(), text.len());
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
        check(
            r#"{"a": NaN, "b": [Infinity,-Infinity], "NaN": "NaN"}"#,
            json!({"a": 0, "b": [null, null], "NaN": "NaN"}),
        );
        let invalid = read(b"\"a\xffb\xe2\x82c\xf0\x9f\x98d\xed\xa0\x80\"").unwrap();
        assert_eq!(invalid, "a?b\u{bf}c\u{fffd}d???");
    }

    #[test]
    fn a_value_nested_too_deeply_becomes_text() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        check(&deep(MAX_DEPTH), serde_json::from_str(&deep(MAX_DEPTH)).ok());
        check(
            &format!(r#"{{"a": {}, "b": 1e999}}"#, deep(MAX_DEPTH)),
            serde_json::from_str(&format!(r#"{{"a": {}""{}, "b": null}}"#, "[".repeat(119), "]".repeat(119)))
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
            let value = read(text.as_bytes()).unwrap();
            assert_eq!(value["b"], "new Map");
            // A trigger still finds the text, with its escapes decoded.
            assert!(value.to_string().contains("y"));
            let text = format!("{}\n\"f(\\\"x\\\")\"{}", "[".repeat(levels), "]".repeat(levels));
            assert!(read(text.as_bytes()).unwrap().to_string().contains(r#"f(\"x\")"#));
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
            "-NaN",
            "nan",
            "{} x",
            "[1] [2]",
        ] {
            check(text, None);
        }
    }
}
