//! Exporting: writes a rule in another agent's form, and proves that the agent treats it as it was meant.
//!
//! A [`Target`] says how an agent expresses each kind of rule. [`draft`] renders a rule, reads the result back as the agent
//! does, and compares the two on paths that the patterns match or almost match. [`Prover`] compares them on the files of a
//! tree. Nothing here knows the disk.

mod block;
mod brackets;
mod draft;
mod loss;
mod name;
mod near;
mod proof;
mod references;
mod render;
mod table;
mod tally;
mod target;
mod tools;
mod translate;

pub use block::{Blocks, block, outside_blocks};
pub use draft::{Draft, compare_readings, draft, draft_shared, reread};
pub use loss::{Loss, LossPolicy};
pub use name::{is_marked, marker, name, names, without_marker};
pub use proof::{Allow, Meant, Proof, Prover};
pub use references::{as_written, referred};
pub use render::{body, index, with_breaks};
pub use table::TARGETS;
pub use tally::{Finding, Tally};
pub use target::{Form, Holder, Kind, Line, ListStyle, Target};
pub use tools::{TOOLS, Tool};

use crate::evaluate::Lines;

/// Whether two texts share most of their lines.
#[must_use]
pub fn are_copies(one: &str, other: &str) -> bool {
    Lines::of(one).is_copy_of(&Lines::of(other))
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
