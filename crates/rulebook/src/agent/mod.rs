//! Agents: what each one itself does with the rule files it reads, next to what their author meant.
//!
//! An agent's way is a table of formats of its own: the same reader, resolver and evaluator run over it, with the
//! agent's dialect and its way of failing.

mod compare;
mod size_limits;
mod table;

pub use compare::{Difference, change, compare, report_differences};
pub use size_limits::{Beyond, Total, Unit, report_totals};
pub use table::AGENTS;

use crate::format::Format;

/// An agent, or one surface of it, as it works itself.
#[derive(Debug)]
pub struct Agent {
    /// What it is called in `--as`.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The format that is its own, by name.
    pub owns: Option<&'static str>,
    /// What it reads, in order, and how.
    pub formats: &'static [Format],
    /// Whether files in folders below the root count.
    pub nested: Nested,
    /// What becomes of rules of one id.
    pub conflicts: Conflicts,
    /// Whose rules it puts first.
    pub order: Order,
    /// What it takes of the files of a workspace together, where that is bounded.
    pub total: Option<Total>,
    /// When its rules for paths come on, in a few words.
    pub fires: &'static str,
}

/// Whether an agent reads files in folders below the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nested {
    /// They are read.
    Read,
    /// They are not.
    Unread,
    /// Nobody says; its view has those of the root.
    Undocumented,
}

/// What becomes of rules of one id, or of one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// The first in order wins.
    #[default]
    FirstWins,
    /// All stay.
    KeepAll,
}

/// Whose rules come first in the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The user's, then the workspace's.
    UserFirst,
    /// The workspace's, then the user's.
    WorkspaceFirst,
}

impl Agent {
    /// The agent of that name.
    pub fn named(name: &str) -> Option<&'static Agent> {
        AGENTS.iter().find(|agent| agent.name == name)
    }

    /// The format that says how sure its way is, and where that is known from: its own, or the first it reads.
    pub fn known_by(&self) -> &'static Format {
        self.formats.iter().find(|format| self.owns == Some(format.name)).unwrap_or(&self.formats[0])
    }

    /// The agent a format belongs to.
    pub fn owner_of(format: &Format) -> Option<&'static Agent> {
        AGENTS.iter().find(|agent| agent.owns == Some(format.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::FORMATS;

    #[test]
    fn names_are_unique_sorted_and_own_one_format_each() {
        assert!(AGENTS.is_sorted_by(|a, b| a.name < b.name));
        for agent in AGENTS {
            let owned = agent.owns.map(|name| Format::named(name).expect("a format of that name"));
            let reads_it = |format: &Format| agent.formats.iter().any(|own| own.name == format.name);
            assert!(owned.is_none_or(reads_it), "{} does not read its own", agent.name);
            assert!(!agent.formats.is_empty());
        }
    }

    #[test]
    fn every_format_with_a_header_has_an_owner() {
        let own = ["rulebook", "remote", "omo", "opencode"];
        for format in FORMATS.iter().filter(|format| format.tier.is_some() && !own.contains(&format.name)) {
            assert!(Agent::owner_of(format).is_some(), "{}", format.name);
        }
    }

    #[test]
    fn an_agents_formats_keep_their_order() {
        for agent in AGENTS {
            let orders: Vec<usize> = agent.formats.iter().map(Format::order).collect();
            assert!(orders.is_sorted_by(|a, b| a < b), "{}: {orders:?}", agent.name);
        }
    }
}
