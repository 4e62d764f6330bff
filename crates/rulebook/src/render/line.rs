//! The lines of a prompt that are not a rule's text: its header, and the offers.

use std::borrow::Cow;

use crate::format::FormatId;
use crate::rule::Rule;
use crate::stream::policy::escape_tags;

/// Returns the line above a rule's text: its file, or the name of a remote entry.
pub fn header(rule: &Rule) -> &str {
    if rule.origin.format.id == FormatId::Remote { &rule.name } else { &rule.origin.display }
}

/// The heading of the offers.
pub(super) const OFFERS: &str = "# Rules\nRead rule://<name> when working in a matching domain.";

/// Its second line, which identifies it.
pub(crate) const OFFERS_LINE: &str = "Read rule://<name> when working in a matching domain.";

/// Returns the offer of a rule on one line: `- name (glob, glob): description`. Reading that name returns this rule.
pub(crate) fn offer_line(rule: &Rule) -> String {
    let mut line = format!("- {}", rule.address());
    if !rule.globs.is_empty() {
        line.push_str(&format!(" ({})", one_line(&rule.globs.join(", "))));
    }
    if let Some(description) = &rule.description {
        line.push_str(": ");
        line.push_str(&one_line(description));
    }
    match escape_tags(&line) {
        Cow::Borrowed(_) => line,
        Cow::Owned(escaped) => escaped,
    }
}

fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
