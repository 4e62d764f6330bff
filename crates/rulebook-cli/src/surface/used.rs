//! The agents that an answer is for.

use std::fmt::Write as _;

use rulebook::agent::{Agent, Wiring};
use rulebook_workspace::hosts::{HOSTS, Host};
use rulebook_workspace::{AgentSearch, UsedAgent, Viewpoint, Workspace};

use super::sessions;
use crate::out::{self, DIM, paint, plural};

/// Writes which agents the answer is for, and where the list comes from.
pub(super) fn show_agents(text: &mut String, agents: &[UsedAgent]) {
    let names: Vec<String> =
        agents.iter().map(|used| format!("{} ({})", used.agent.name, out::clean(&used.origin))).collect();
    let _ = match names.as_slice() {
        [] => writeln!(text, "agents: any {}\n", paint(DIM, "(none found; name them in `agents.used`)")),
        names => writeln!(text, "agents: {}\n", names.join(", ")),
    };
}

/// Returns the hosts whose hooks ran Rulebook here and no longer do.
pub(super) fn lost_hosts(workspace: &Workspace) -> Vec<&'static str> {
    let is_lost = |host: &&Host| {
        let agent = Agent::named(host.agent);
        let wired = agent.map(|agent| workspace.wiring(agent, AgentSearch::WorkspaceAndHome));
        host.files.first().is_some_and(|file| file.wiring == Wiring::Hook)
            && wired.is_some_and(|wired| !wired.contains(&Wiring::Hook))
            && sessions::latest(workspace, host.name).is_some()
    };
    HOSTS.iter().filter(is_lost).map(|host| host.name).collect()
}

/// Writes which hosts are no longer wired, and how to wire them again.
pub(super) fn show_lost(text: &mut String, lost: &[&str]) {
    for host in lost {
        let _ = writeln!(
            text,
            "{host} had sessions with Rulebook here, but its hooks no longer run it: `rulebook install {host}`\n"
        );
    }
}

/// Writes which surface a product's name means.
pub(super) fn show_surface(text: &mut String, view: Viewpoint) {
    let (Viewpoint::For(named) | Viewpoint::As(named)) = view else { return };
    if let Some(note) = named.note() {
        let _ = writeln!(text, "{}\n", paint(DIM, note));
    }
}

/// Returns the command that wires an agent, and how many rules it would add.
pub(super) fn install_hint(used: &UsedAgent, count: usize) -> Option<String> {
    let host = Host::of(used.agent).filter(|_| used.wired.is_empty() && count > 0)?;
    Some(format!("`{}` would add {}", host.install_command(), plural(count, "rule")))
}
