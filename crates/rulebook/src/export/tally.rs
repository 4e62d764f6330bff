//! Tallies: on which paths a rule and its copy do the same, and on which not.

use serde::Serialize;

/// How a rule and its copy compare on some paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tally {
    /// How many paths were compared.
    pub total: usize,
    /// The copy applies, but was not meant to.
    pub wider: Finding,
    /// The copy does not apply, but was meant to.
    pub narrower: Finding,
    /// The agent does not document whether the copy applies.
    pub unknown: Finding,
    /// They differ only because one of them ignores letter case.
    pub letter_case: Finding,
}

/// Paths with the same result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// How many.
    pub count: usize,
    /// The first one.
    pub example: Option<String>,
}

/// The order of examples: hidden paths last, and before them those with capital letters.
fn order(path: &str) -> (bool, bool, &str) {
    let is_hidden = path.starts_with('.') || path.contains("/.");
    (is_hidden, path.contains(char::is_uppercase), path)
}

impl Finding {
    pub(super) fn add(&mut self, path: &str) {
        self.count += 1;
        if self.example.as_deref().is_none_or(|first| order(path) < order(first)) {
            self.example = Some(path.to_owned());
        }
    }

    fn merge(&mut self, other: Finding) {
        self.count += other.count;
        self.example = match (self.example.take(), other.example) {
            (Some(one), Some(other)) => Some(if order(&one) <= order(&other) { one } else { other }),
            (one, other) => one.or(other),
        };
    }
}

impl Tally {
    /// How many paths have the same result.
    pub fn same(&self) -> usize {
        let others = [&self.wider, &self.narrower, &self.unknown, &self.letter_case];
        self.total - others.iter().map(|finding| finding.count).sum::<usize>()
    }

    /// Adds the result of other paths.
    pub fn merge(&mut self, other: Tally) {
        self.total += other.total;
        self.wider.merge(other.wider);
        self.narrower.merge(other.narrower);
        self.unknown.merge(other.unknown);
        self.letter_case.merge(other.letter_case);
    }
}
