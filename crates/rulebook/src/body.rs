//! The body of a rule: a part of its file's text, shared with everyone who holds that text.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use crate::hash::TextHash;

/// The instruction of a rule: Markdown, trimmed, without the header. It reads like a `str`, and a clone copies no text.
#[derive(Clone, Default)]
pub struct Body {
    text: Arc<str>,
    span: Range<usize>,
    /// The hash of the text, computed when it is first needed.
    hash: OnceLock<TextHash>,
}

impl Body {
    /// Takes a part of a text.
    pub(crate) fn part(text: Arc<str>, span: Range<usize>) -> Body {
        debug_assert!(text.get(span.clone()).is_some(), "a part of the text");
        Body { text, span, hash: OnceLock::new() }
    }

    /// Returns the body with the blank lines and the indentation in front of it, which are part of its file.
    pub(crate) fn with_lead(&self) -> &str {
        let before = &self.text[..self.span.start];
        let words = before.trim_end().len();
        let blank = &before[words..];
        // The line break that ends the header.
        let lead = if words == 0 { blank } else { blank.split_once('\n').map_or("", |(_, rest)| rest) };
        &self.text[self.span.start - lead.len()..self.span.end]
    }

    /// Returns the hash of the text. It is computed once.
    pub(crate) fn text_hash(&self) -> TextHash {
        *self.hash.get_or_init(|| TextHash::of(self))
    }

    /// Returns the text of the body.
    pub fn as_str(&self) -> &str {
        &self.text[self.span.clone()]
    }
}

impl Deref for Body {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<String> for Body {
    fn from(text: String) -> Body {
        let span = 0..text.len();
        Body::part(text.into(), span)
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Body {
        Body::part(text.into(), 0..text.len())
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Body) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Body {}

impl PartialEq<str> for Body {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Body {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Hash for Body {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_compared_by_its_text() {
        let part = Body::part("---\n---\nbe kind".into(), 8..15);
        assert_eq!(part, Body::from("be kind"));
        assert_eq!(part, "be kind");
        assert_eq!(format!("{part}"), "be kind");
    }
}
