//! A rule with the text of its file.

use std::borrow::Cow;
use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic, Excerpt};
use crate::hidden::visible;
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
    /// The file, if imports made the body another text than what is written there.
    file: Option<String>,
}

impl<'r> Page<'r> {
    pub(super) fn new(rule: &'r Rule, text: Option<String>) -> Page<'r> {
        let body =
            text.as_ref().and_then(|text| Some(text.trim_end().strip_suffix(rule.body.as_str())?.len()));
        match (text, body) {
            (Some(text), Some(body)) => Page { rule, text: Cow::Owned(text), above: 0, body, file: None },
            (file, _) => {
                let above = rule.body_line - 1;
                Page { rule, text: Cow::Borrowed(&rule.body), above, body: 0, file }
            }
        }
    }

    /// Returns the page as it is written, with its imports.
    pub(super) fn as_written(&self) -> Page<'_> {
        let Page { rule, above, body, .. } = *self;
        match &self.file {
            None => Page { rule, text: Cow::Borrowed(&self.text), above, body, file: None },
            Some(file) => {
                let lines = file.split_inclusive('\n').take(above);
                Page {
                    rule,
                    text: Cow::Borrowed(file),
                    above: 0,
                    body: lines.map(str::len).sum(),
                    file: None,
                }
            }
        }
    }

    pub(super) fn report(&self, code: Code, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let found = Diagnostic::at(code, &self.rule.origin.display, &self.text, span, message);
        match &self.file {
            None => Diagnostic { line: found.line + self.above, ..found },
            Some(file) => self.place(found, file),
        }
    }

    /// Moves a problem to the same line of the file. What is in an imported text only is reported for the whole file.
    fn place(&self, found: Diagnostic, file: &str) -> Diagnostic {
        let line = self.text.lines().nth(found.line - 1).unwrap_or_default();
        let nth = self.text.lines().take(found.line - 1).filter(|other| *other == line).count();
        // In the body, hidden characters are visible.
        let mut same = file.lines().enumerate().skip(self.above).filter(|(_, other)| visible(other) == line);
        match same.nth(nth) {
            Some((at, written)) if written == line => Diagnostic { line: at + 1, ..found },
            Some((at, written)) => {
                let ends = written.char_indices().map(|(end, _)| end);
                let before = ends.take_while(|end| visible(&written[..*end]).chars().count() < found.column);
                let excerpt = found.excerpt.map(|excerpt| Excerpt { line: written.to_owned(), ..excerpt });
                Diagnostic { line: at + 1, column: before.count(), excerpt, ..found }
            }
            None => Diagnostic { line: 0, column: 0, excerpt: None, ..found },
        }
    }

    /// Whether the text is that of the whole file.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.text, Cow::Owned(_))
    }
}
