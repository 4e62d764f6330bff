//! Three-valued truth.

/// The certainty of a result. All-of is the minimum, any-of the maximum; only `Yes` activates a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// The evidence contradicts it.
    No,
    /// The evidence is missing.
    Unknown,
    /// The evidence confirms it.
    Yes,
}

impl std::ops::Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        match self {
            Truth::No => Truth::Yes,
            Truth::Unknown => Truth::Unknown,
            Truth::Yes => Truth::No,
        }
    }
}

/// Whether all conditions of a rule must hold, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    /// All must hold.
    All,
    /// One is enough.
    Any,
}

impl MatchMode {
    /// Combines results; no results are a `Yes`.
    pub fn combine(self, truths: impl Iterator<Item = Truth>) -> Truth {
        match self {
            MatchMode::All => truths.min(),
            MatchMode::Any => truths.max(),
        }
        .unwrap_or(Truth::Yes)
    }
}
