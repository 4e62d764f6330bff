//! Hidden text: what models read and people do not see.

mod character;
mod comment;
mod lookalike;
mod page;

use std::borrow::Cow;

pub use character::is_hidden;
pub(crate) use character::{Found, character_name, hidden_characters, is_plain, shown_characters, tagged};
pub(crate) use comment::hidden_comments;
pub(crate) use lookalike::skeleton;

/// Makes hidden characters visible, as `<U+200B>`. Nothing else is changed.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown_characters(text)
}

/// Makes a name safe to show: on one line, with hidden characters visible.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    if text.bytes().fold(true, |printable, byte| printable & matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    // A plain text has no control characters other than those of ASCII.
    if is_plain(text) && !text.bytes().any(|byte| byte.is_ascii_control()) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            line.push_str(&format!("<U+{:04X}>", u32::from(c)));
        } else {
            line.push(c);
        }
    }
    Cow::Owned(shown_characters(&line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_on_one_line() {
        #[track_caller]
        fn check(name: &str, want: &str) {
            assert_eq!(visible_line(name), want);
        }
        check("a\u{2028}b\u{2029}c", "a<U+2028>b<U+2029>c");
        check("a\u{85}b\u{c}c\u{b}d\ne\rf\tg", "a<U+0085>b<U+000C>c<U+000B>d<U+000A>e<U+000D>f<U+0009>g");
        check("\u{1b}[31m", "<U+001B>[31m");
        check("plain — name", "plain — name");
    }
}
