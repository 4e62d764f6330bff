//! The fragments of expressions that picomatch writes.

pub(super) use super::super::regex::{NO_DOTS, NO_DOTS_BEYOND, NO_LONE_DOT, SOMETHING};

pub(super) const DOT: &str = r"\.";
pub(super) const SLASH: &str = r"\/";
pub(super) const NOT_SLASH: &str = "[^/]";
pub(super) const STAR: &str = "[^/]*?";
pub(super) const GLOBSTAR: &str = r"(?:(?:(?!(?:^|\/)\.{1,2}(?:\/|$)).)*?)";

pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        if is_special(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

pub(super) fn is_special(c: char) -> bool {
    "-*+?.^${}(|)[]".contains(c)
}
