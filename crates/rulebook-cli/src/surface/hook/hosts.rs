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
    use crate::host::HostId;
    use crate::surface::install;

    #[test]
    fn every_host_is_a_known_agent_and_can_be_installed() {
        let (names, ids): (Vec<&str>, Vec<HostId>) = HostId::NAMES.iter().copied().unzip();
        assert!(names.is_sorted());
        assert_eq!(names, HOSTS.iter().map(|host| host.profile.name).collect::<Vec<_>>());
        assert_eq!(ids, install::HOSTS.iter().map(|host| host.id).collect::<Vec<_>>());
        let rows = rulebook_workspace::hosts::HOSTS.iter();
        let named = HOSTS.iter().map(|host| (host.profile.name, host.agent));
        assert!(rows.map(|row| (row.name, row.agent)).eq(named));
    }
}
