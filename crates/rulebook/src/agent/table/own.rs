//! What all readings of an agent have in common.

use crate::format::Format;

/// A format as an agent reads it, without Rulebook's priorities: its own table decides the order.
#[allow(clippy::needless_pass_by_value, reason = "called on the rows it makes")]
pub(super) const fn own(format: Format) -> Format {
    Format { priority: Some(50), ..format }
}
