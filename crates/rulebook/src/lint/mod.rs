//! Lints: what is wrong with a rulebook although each of its files can be read. Rules in, diagnostics out.

mod always;
mod body;
mod forged;
mod id;
mod secret;
mod size_limits;
mod summary;

pub use secret::{secrets, without_secrets};
pub use size_limits::over_limit;
pub use summary::{AlwaysCost, Summary};

use std::borrow::Cow;
use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic};
use crate::resolve::Rulebook;
use crate::rule::Rule;

/// What the lints have told so far.
type Told = Vec<Diagnostic>;

/// Lints that compare rules, given those that are not switched off, in their order.
const COMPARING: &[fn(&[&Rule], &mut Told)] = &[id::lint, body::lint, size_limits::lint];

/// Lints that read one rule's file.
const READING: &[fn(&Page<'_>, &mut Told)] = &[always::lint, forged::lint, secret::lint];

/// Runs every lint; sorted by place. `text_of` gives the text of a rule's file, where there is one: problems of the
/// header are then located, else they are problems of the file as a whole.
pub fn lint(book: &Rulebook, text_of: &dyn Fn(&Rule) -> Option<String>) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    let enabled: Vec<&Rule> = book
        .rules()
        .filter(|(rule, off)| off.is_none() && !rule.body.is_empty())
        .map(|(rule, _)| rule)
        .collect();
    COMPARING.iter().for_each(|lint| lint(&enabled, &mut told));
    // What is switched off is still in the file.
    for (rule, _) in book.rules() {
        let page = Page::new(rule, text_of(rule));
        READING.iter().for_each(|lint| lint(&page, &mut told));
    }
    told.sort();
    told
}

/// A rule with the text it was read from.
struct Page<'r> {
    rule: &'r Rule,
    /// The whole file; the body alone where the file is not at hand, or says something else by now.
    text: Cow<'r, str>,
    /// How many lines of the file stand above the text.
    above: usize,
    /// Where the body starts in the text.
    body: usize,
}

impl<'r> Page<'r> {
    fn new(rule: &'r Rule, text: Option<String>) -> Page<'r> {
        let whole = text.and_then(|text| {
            let body = text.trim_end().strip_suffix(rule.body.as_str())?.len();
            Some((text, body))
        });
        match whole {
            Some((text, body)) => Page { rule, text: Cow::Owned(text), above: 0, body },
            None => Page { rule, text: Cow::Borrowed(&rule.body), above: rule.body_line - 1, body: 0 },
        }
    }

    fn tell(&self, code: Code, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let told = Diagnostic::at(code, &self.rule.origin.display, &self.text, span, message);
        Diagnostic { line: told.line + self.above, ..told }
    }

    /// A problem of a value in the header, as written there.
    fn report_value(&self, code: Code, value: &str, message: impl Into<String>) -> Diagnostic {
        match self.text[..self.body].find(value) {
            Some(at) => self.tell(code, at..at + value.len(), message),
            None => Diagnostic::whole(code, &self.rule.origin.display, message),
        }
    }
}

#[cfg(test)]
mod tests;
