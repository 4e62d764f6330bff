//! The kinds of rules for a path: in context, or why not.

use std::collections::BTreeMap;

use rulebook::matrix::CellState;

use super::super::matrix::{CachedMatrix, CellText, Column};

/// What becomes of a rule for a path; of several agents, the first of these that is true for any of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathKind {
    InContext,
    /// Its conditions do not hold.
    Inactive,
    /// It applies only when mentioned by name.
    Manual,
    /// It is overridden, disabled, rejected, or what happens to it is not documented.
    Suspended,
    Unread,
}

impl PathKind {
    fn of(cell: &CellText) -> PathKind {
        match cell.state {
            CellState::Native | CellState::Added | CellState::Offered | CellState::Stream => {
                PathKind::InContext
            }
            CellState::Inactive if cell.is_manual => PathKind::Manual,
            CellState::Inactive => PathKind::Inactive,
            CellState::Unread => PathKind::Unread,
            CellState::Overridden | CellState::Disabled | CellState::Rejected | CellState::Unknown => {
                PathKind::Suspended
            }
        }
    }

    /// Describes some rules of this kind, after their number.
    pub(super) fn words(self, count: usize, whom: &str) -> String {
        let [is, does, applies] = if count == 1 { ["is", "does", "applies"] } else { ["are", "do", "apply"] };
        match self {
            PathKind::InContext => String::new(),
            PathKind::Inactive => format!("{does} not apply to this path"),
            PathKind::Manual => format!("{applies} only when mentioned by name"),
            PathKind::Suspended => {
                format!("{is} overridden, disabled, rejected, or not documented for {whom}")
            }
            PathKind::Unread => format!("{is} not read by {whom}"),
        }
    }
}

/// Returns the positions of the rules of each kind.
pub(super) fn kinds(matrix: &CachedMatrix, columns: &[&Column]) -> BTreeMap<PathKind, Vec<usize>> {
    let mut kinds = BTreeMap::from([(PathKind::InContext, Vec::new())]);
    for at in 0..matrix.rows.len() {
        let kind = columns.iter().map(|column| PathKind::of(&column.cells[at])).min();
        kinds.entry(kind.unwrap_or(PathKind::Unread)).or_insert_with(Vec::new).push(at);
    }
    // One agent has them in its own order, as `explain --for` shows it; offers follow.
    if let ([column], Some(rows)) = (columns, kinds.get_mut(&PathKind::InContext)) {
        let is_offer = |cell: &CellText| !matches!(cell.state, CellState::Native | CellState::Added);
        rows.sort_by_key(|at| (is_offer(&column.cells[*at]), column.cells[*at].position));
    }
    kinds
}
