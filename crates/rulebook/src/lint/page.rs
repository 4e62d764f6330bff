//! A rule with the text of its file.

use std::borrow::Cow;
use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic};
use crate::rule::Rule;

/// A rule and the text that it was read from.
pub(super) struct Page<'r> {
    pub(super) rule: &'r Rule,
    /// The whole file, or the body alone if the file is not available or has changed.
    pub(super) text: Cow<'r, str>,
    /// How many lines of the file precede the text.
    above: usize,
    /// Where the body starts in the text.
    pub(super) body: usize,
}

impl<'r> Page<'r> {
    pub(super) fn new(rule: &'r Rule, text: Option<String>) -> Page<'r> {
        let whole = text.and_then(|text| {
            let body = text.trim_end().strip_suffix(rule.body.as_str())?.len();
            Some((text, body))
        });
        match whole {
            Some((text, body)) => Page { rule, text: Cow::Owned(text), above: 0, body },
            None => Page { rule, text: Cow::Borrowed(&rule.body), above: rule.body_line - 1, body: 0 },
        }
    }

    pub(super) fn report(&self, code: Code, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let found = Diagnostic::at(code, &self.rule.origin.display, &self.text, span, message);
        Diagnostic { line: found.line + self.above, ..found }
    }

    /// Whether the text is that of the whole file.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.text, Cow::Owned(_))
    }
}
