//! How one pattern is matched.

use super::plain::{Last, Plain};
use super::regex::{Literals, Program};

#[derive(Clone, Debug)]
pub(super) enum Plan {
    Plain(Plain),
    Program(Box<(Program, Literals)>),
    /// The expression is invalid. The pattern matches at most its own text.
    Never,
    Always,
}

impl Literals {
    /// Whether `path` starts and ends with them.
    pub(super) fn are_in(&self, path: &str) -> bool {
        // Comparing with the text of an empty `String`, which points nowhere, can take as long as a whole match.
        let starts = self.prefix.is_empty() || path.starts_with(&*self.prefix);
        starts && (self.suffix.is_empty() || path.trim_end_matches('/').ends_with(&*self.suffix))
    }

    pub(super) fn last(&self) -> Last<'_> {
        match self.suffix.rfind(['/', '.']) {
            None => Last::Unknown,
            Some(at) if self.suffix[at..].starts_with('.') => Last::Extension(&self.suffix[at + 1..]),
            Some(at) => Last::Name(&self.suffix[at + 1..]),
        }
    }
}
