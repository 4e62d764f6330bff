//! What changes for one agent.

use rulebook::agent::Agent;
use rulebook::change::Change;

/// What changes for one agent, or for any.
pub(super) struct AgentChanges<'r> {
    /// `None` if no agent is known to be used here.
    pub(super) agent: Option<&'static Agent>,
    /// The tokens that are always in context, before and after.
    pub(super) always: (usize, usize),
    pub(super) changes: Vec<Change<'r>>,
}

impl AgentChanges<'_> {
    /// The name of the agent, as commands take it.
    pub(super) fn name(&self) -> &'static str {
        self.agent.map_or("any", |agent| agent.name)
    }
}
