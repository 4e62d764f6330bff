//! Exporting: copies of rules in the forms of other agents, proven on the tree and recorded.

mod adopt;
mod apply;
mod bystanders;
mod files;
mod lists;
mod notes;
mod pending;
mod place;
mod plan;
mod select;
mod stale;

pub use adopt::{AdoptError, Adopted};
pub use apply::WriteError;
pub use files::{CopyState, ExportRow, Outcome, PlannedFile};
pub use plan::ExportPlan;
pub use select::{Candidate, PlanError, SelectError};

use std::path::PathBuf;

use rulebook::agent::Agent;
use rulebook::export::{Allow, LossPolicy, Target, Tool};

/// What to export, and how.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// Formats and rules to copy.
    pub from: Vec<String>,
    /// The tool whose own folder has them; `None` for rules of agents.
    pub tool: Option<&'static Tool>,
    /// The forms to write.
    pub to: Vec<&'static Target>,
    /// Whether a copy may apply to more than was meant.
    pub allow: Allow,
    /// What happens to rules that a target cannot express; `None`: Rulebook delivers them where it is wired.
    pub loss: Option<LossPolicy>,
    /// Sources whose copies are overwritten although they were edited.
    pub keep: Vec<String>,
    /// The folder to write to instead of the root.
    pub dir: Option<PathBuf>,
    /// Which other copies are removed.
    pub removes: Removes,
    /// Whether nothing is written: then copies whose source is gone count as changes without `sync` too.
    pub check: bool,
}

/// Which copies an export removes beside those that it no longer makes of its rules for its agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removes {
    /// No others.
    Nothing,
    /// Those whose rule is gone.
    Gone,
    /// Every copy that it does not make.
    Others,
}

impl ExportOptions {
    /// Returns the agent whose own reading is copied: one without a format of its own, such as a second surface of a product.
    pub fn reader(&self) -> Option<&'static Agent> {
        select::reader(&self.from).map(|(agent, _)| agent)
    }
}
