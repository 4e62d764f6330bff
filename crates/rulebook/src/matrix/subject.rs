//! The agents that a matrix is for.

use super::native::NativeReading;
use crate::agent::{AddPolicy, Agent, Wiring};

/// An agent, and what it reads by itself.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'v, 'r> {
    /// The agent.
    pub agent: &'static Agent,
    /// The name that `agent` conditions match.
    pub name: &'v str,
    /// What it reads by itself, for the same evidence.
    pub native: &'v NativeReading<'r>,
    /// How it is connected to Rulebook.
    pub wired: &'v [Wiring],
    /// What may be added for it.
    pub add: &'v AddPolicy,
    /// The root and the folder in it where the agent was started, if it was not the root.
    pub started_in: Option<(usize, &'v str)>,
}

impl Subject<'_, '_> {
    /// Whether Rulebook can add to its context.
    pub fn is_hooked(&self) -> bool {
        self.wired.iter().any(|wired| matches!(wired, Wiring::Hook | Wiring::Proxy))
    }
}
