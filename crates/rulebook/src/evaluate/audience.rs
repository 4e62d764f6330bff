//! The audience: for whom rules are evaluated.

use std::collections::HashSet;

use crate::agent::Agent;
use crate::format::FormatId;
use crate::resolve::Identity;
use crate::rule::Rule;

/// For whom rules are evaluated: an agent that reads nothing by itself, or one that reads some of the files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audience<'a> {
    agent: Option<(&'a Agent, &'a HashSet<String>)>,
}

impl<'a> Audience<'a> {
    /// Any agent: it reads nothing by itself.
    #[must_use]
    pub fn any() -> Audience<'static> {
        Audience::default()
    }

    /// One agent, with the absolute paths of the files that it reads by itself. Of several copies of a rule, it gets the
    /// one that it reads.
    #[must_use]
    pub fn agent(agent: &'a Agent, reads: &'a HashSet<String>) -> Audience<'a> {
        Audience { agent: Some((agent, reads)) }
    }

    /// Whether the agent reads the rule's file by itself.
    pub(super) fn reads(&self, rule: &Rule) -> bool {
        self.agent.is_some_and(|(_, reads)| reads.contains(&rule.origin.path))
    }

    /// Returns what identifies a rule for it. In the design of xcsh and omp, a name is one rule in all formats.
    pub(super) fn identity(&self) -> Identity {
        match self.agent.and_then(|(agent, _)| agent.owns) {
            Some(FormatId::Xcsh | FormatId::Omp) => Identity::Name,
            _ => Identity::Format,
        }
    }
}
