//! The table of hosts.

use super::event::Host;
use super::{claude, cline, codex, copilot, cursor, gemini, opencode, qwen};

/// Every host, sorted by name.
pub(crate) static HOSTS: &[Host] = &[
    claude::HOST,
    cline::HOST,
    codex::HOST,
    copilot::HOST,
    cursor::HOST,
    gemini::HOST,
    opencode::HOST,
    qwen::HOST,
];

impl Host {
    /// The host of a name.
    pub(crate) fn named(name: &str) -> Option<&'static Host> {
        HOSTS.iter().find(|host| host.profile.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::install;

    #[test]
    fn every_host_is_a_known_agent_and_can_be_installed() {
        let rows = rulebook_workspace::hosts::HOSTS.iter();
        assert!(rows.clone().map(|row| row.name).eq(install::HOSTS.iter().map(|host| host.name)));
        let named = HOSTS.iter().map(|host| (host.profile.name, host.agent));
        assert!(rows.map(|row| (row.name, row.agent)).eq(named));
    }
}
