//! The parts of the report: what is copied as meant, what is not, and what is removed.

use rulebook_workspace::{ExportRow, Outcome};

/// A part of the report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Exact,
    Open,
    Lossy,
    Gone,
}

impl Section {
    pub(super) const ALL: [Section; 4] = [Section::Exact, Section::Open, Section::Lossy, Section::Gone];

    pub(super) fn of(row: &ExportRow) -> Section {
        match &row.outcome {
            Outcome::Stale { .. } => Section::Gone,
            Outcome::ListEdited { .. } => Section::Lossy,
            _ if row.loss().is_some() => Section::Lossy,
            outcome if is_open(outcome) => Section::Open,
            _ => Section::Exact,
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Section::Exact => "exact",
            Section::Open => "not documented",
            Section::Lossy => "partial, or not copied",
            Section::Gone => "no longer copied",
        }
    }
}

/// Whether it is not documented if a copy applies to a file that exists.
pub(super) fn is_open(outcome: &Outcome) -> bool {
    let (Outcome::Copied { proof, .. } | Outcome::Read { proof, .. }) = outcome else { return false };
    proof.is_same() && proof.files.unknown.count > 0
}
