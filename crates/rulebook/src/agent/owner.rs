//! Owners: the agent that each format belongs to.

use super::row::Agent;
use super::table::AGENTS;
use crate::format::{Format, FormatId};
use crate::frontmatter::Tier;

impl Agent {
    /// Returns the agent that a format belongs to.
    pub fn owner_of(format: FormatId) -> Option<&'static Agent> {
        AGENTS.iter().find(|agent| agent.owns == Some(format))
    }

    /// Whether its reading of invalid headers in its own format was observed.
    pub fn has_known_parser(&self) -> bool {
        let is_known = |way: &Format| Some(way.id) == self.owns && matches!(way.tier, Some(Tier::Native(_)));
        self.formats.iter().any(is_known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_sorted_and_own_one_format_each() {
        assert!(AGENTS.is_sorted_by(|a, b| a.name < b.name));
        for agent in AGENTS {
            let reads_own = |id| agent.formats.iter().any(|format| format.id == id);
            assert!(agent.owns.is_none_or(reads_own), "{} does not read its own format", agent.name);
            assert!(!agent.formats.is_empty());
        }
    }

    #[test]
    fn every_format_with_a_header_has_an_owner() {
        use FormatId::{Omo, Opencode, Remote, Rulebook, Skill};
        for (name, id) in FormatId::NAMES {
            let is_owned =
                Agent::owner_of(*id).is_some() || matches!(id, Rulebook | Remote | Omo | Opencode | Skill);
            assert!(is_owned || id.row().tier.is_none(), "{name}");
        }
    }

    #[test]
    fn formats_of_an_agent_know_their_position() {
        for agent in AGENTS {
            let orders = agent.formats.iter().map(|format| format.order);
            assert!(orders.eq(0..agent.formats.len()), "{}", agent.name);
        }
    }
}
