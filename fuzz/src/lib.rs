//! What several targets share.

use rulebook::format::Format;
use rulebook::source::Source;

/// A rule file of a format.
pub fn rule_file(format: &Format, text: String) -> Source {
    Source::text(format.id, "a.md", text)
}
