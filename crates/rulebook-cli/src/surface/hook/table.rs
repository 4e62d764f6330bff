//! The table of hosts.

use serde_json::Value;

use super::event::Host;
use super::{claude, cline, codex, copilot, cursor, gemini, opencode, pi, qwen};

/// Every host, sorted by name.
pub(crate) static HOSTS: &[Host] = &[
    claude::HOST,
    cline::HOST,
    codex::HOST,
    copilot::HOST,
    cursor::HOST,
    gemini::HOST,
    pi::OMP,
    opencode::HOST,
    pi::PI,
    qwen::HOST,
    pi::XCSH,
];

/// A host by another program, and what shows that it sent an event.
type Variant = (&'static str, fn(&Value) -> bool, &'static Host);

/// Hosts whose hooks other programs run too, in their own way.
static VARIANTS: &[Variant] = &[("copilot", copilot::is_from_vscode, &copilot::VSCODE)];

impl Host {
    /// The host as the program that sent an event takes it.
    pub(super) fn sender(&'static self, event: &Value) -> &'static Host {
        let is_it = |(name, sent, _): &&Variant| *name == self.profile.name && sent(event);
        VARIANTS.iter().find(is_it).map_or(self, |(.., variant)| variant)
    }

    /// The host of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Host> {
        HOSTS.iter().find(|host| host.profile.name == name)
    }
}

#[cfg(test)]
mod tests {
    use rulebook::agent::Wiring;

    use super::*;
    use crate::surface::install;

    #[test]
    fn every_host_is_a_known_agent_and_can_be_installed() {
        let rows = rulebook_workspace::hosts::HOSTS.iter();
        assert!(rows.clone().map(|row| row.name).eq(install::HOSTS.iter().map(|host| host.name)));
        let named = HOSTS.iter().map(|host| (host.profile.name, host.agent, Some(host.profile.cap)));
        let has_hooks = |row: &&rulebook_workspace::hosts::Host| {
            row.files.first().is_some_and(|file| file.wiring == Wiring::Hook)
        };
        assert!(rows.filter(has_hooks).map(|row| (row.name, row.agent, row.context_limit)).eq(named));
    }
}
