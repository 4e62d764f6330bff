//! JSON for programs and terminals: hidden characters are escaped, so a name cannot control a terminal, and is still the name.

use std::io;

use rulebook::hidden::{is_hidden, visible};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Writes a value on one line, with its end.
pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(1 << 16);
    value.serialize(&mut Serializer::with_formatter(&mut line, Escaped))?;
    line.push(b'\n');
    Ok(line)
}

/// The compact form, with hidden characters as `\u202e`.
struct Escaped;

impl Formatter for Escaped {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, to: &mut W, text: &str) -> io::Result<()> {
        if is_plain(text) {
            return to.write_all(text.as_bytes());
        }
        let mut written = 0;
        let is_escaped = |(_, c): &(usize, char)| c.is_control() || is_hidden(*c);
        for (at, c) in text.char_indices().filter(is_escaped) {
            to.write_all(&text.as_bytes()[written..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(to, "\\u{unit:04x}")?;
            }
            written = at + c.len_utf8();
        }
        to.write_all(&text.as_bytes()[written..])
    }
}

/// Whether a text has no character that is hidden where it is. Emoji and some scripts need such characters.
fn is_plain(text: &str) -> bool {
    // Without early exit, so that the compiler vectorises it.
    let is_common = text.bytes().fold(true, |common, byte| common & (b' '..=b'~').contains(&byte));
    is_common || !text.chars().any(char::is_control) && *visible(text) == *text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_nothing_else() {
        #[track_caller]
        fn check(text: &str, want: &str) {
            let line = String::from_utf8(line(&text).unwrap()).unwrap();
            assert_eq!(line, format!("\"{want}\"\n"));
            assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
        check("a/é 元 👩\u{200d}💻 ❤\u{fe0f}.md", "a/é 元 👩\u{200d}💻 ❤\u{fe0f}.md");
        check("a\u{9b}31m\u{202e}\u{200b}\u{2028}\u{7f}", "a\\u009b31m\\u202e\\u200b\\u2028\\u007f");
        check("\u{1b}\n\"\\\u{e0041}", "\\u001b\\n\\\"\\\\\\udb40\\udc41");
    }
}
