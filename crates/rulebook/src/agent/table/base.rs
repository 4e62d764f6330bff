//! What most agents have in common.

use crate::agent::row::{Agent, Arrival, Conflicts, Nested, Order};
use crate::format::{Format, FormatId};

/// An agent that keeps all rules, puts the workspace first and reads nested folders.
pub(super) const BASE: Agent = Agent {
    name: "",
    title: "",
    owns: None,
    formats: &[],
    ignores: None,
    nested: Nested::Read,
    follows_links: false,
    is_for_first_root: false,
    conflicts: Conflicts::KeepAll,
    order: Order::WorkspaceFirst,
    offers_tools: true,
    limit: None,
    path_rules: "",
    arrival: Arrival::Later,
};

/// An agent that is like most in everything but its files.
pub(super) const fn known(own: FormatId, title: &'static str, formats: &'static [Format]) -> Agent {
    Agent { name: own.name(), title, owns: Some(own), formats, ..BASE }
}

/// An agent known only by where its own files are and how they are read.
pub(super) const fn little_known(own: FormatId, title: &'static str, formats: &'static [Format]) -> Agent {
    Agent { nested: Nested::Undocumented, ..known(own, title, formats) }
}
