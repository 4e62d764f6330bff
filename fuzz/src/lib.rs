//! What several targets begin with.

use rulebook::format::{FETCHED, Format};
use rulebook::source::{Origin, Scope, Source};

/// A rule file of a format, as a workspace has it.
pub fn rule_file(format: &'static Format, text: String) -> Source {
    let origin = Origin {
        format,
        place: format.workspace.first().unwrap_or(&FETCHED),
        scope: Scope::Workspace,
        display: "a.md".to_owned(),
        path: "/r/a.md".to_owned(),
        root: 0,
        folder: String::new(),
        inner: "a.md".to_owned(),
    };
    Source { origin, text: Ok(text) }
}
