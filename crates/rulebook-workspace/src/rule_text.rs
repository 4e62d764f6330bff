//! The text of one rule, as data that commands, MCP and bindings share.

use std::borrow::Cow;

use rulebook::diagnostic::Diagnostic;
use rulebook::id::rule_uri;
use rulebook::rule::Rule;
use serde::Serialize;

use crate::explain::JSON_VERSION;

/// The MIME type of a rule's text.
pub const MARKDOWN: &str = "text/markdown";

/// The JSON of a rule's text.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleText<'a> {
    version: u32,
    uri: String,
    id: &'a str,
    key: String,
    name: &'a str,
    source: &'a str,
    mime_type: &'static str,
    text: Cow<'a, str>,
    others: Vec<OtherRule<'a>>,
    diagnostics: &'a [Diagnostic],
}

/// Another rule that the name fits.
#[derive(Debug, Serialize)]
struct OtherRule<'a> {
    id: &'a str,
    key: String,
    source: &'a str,
}

impl<'a> RuleText<'a> {
    /// The text of a rule, beside others that the requested name fits.
    #[must_use]
    pub fn new(rule: &'a Rule, others: &[&'a Rule], diagnostics: &'a [Diagnostic]) -> RuleText<'a> {
        let other =
            |rule: &&'a Rule| OtherRule { id: &rule.id, key: rule.key(), source: &rule.origin.display };
        RuleText {
            version: JSON_VERSION,
            uri: rule_uri(rule.address()),
            id: &rule.id,
            key: rule.key(),
            name: &rule.name,
            source: &rule.origin.display,
            mime_type: MARKDOWN,
            text: rule.readable(),
            others: others.iter().map(other).collect(),
            diagnostics,
        }
    }
}
