//! The parts of the report: what is copied as meant, what is not, and what is removed.

use rulebook_workspace::{ExportRow, Outcome};

/// A part of the report.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Exact,
    Lossy,
    Gone,
}

impl Section {
    pub(super) const ALL: [Section; 3] = [Section::Exact, Section::Lossy, Section::Gone];

    pub(super) fn of(row: &ExportRow) -> Section {
        match &row.outcome {
            Outcome::Stale { .. } => Section::Gone,
            Outcome::ListEdited { .. } => Section::Lossy,
            _ if row.loss().is_none() => Section::Exact,
            _ => Section::Lossy,
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Section::Exact => "exact",
            Section::Lossy => "partial, or not copied",
            Section::Gone => "no longer copied",
        }
    }
}
