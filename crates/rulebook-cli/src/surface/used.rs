//! The agents that an answer is for.

use std::collections::HashSet;
use std::fmt::Write as _;

use rulebook::agent::{Agent, Wiring};
use rulebook::diagnostic::Diagnostic;
use rulebook_workspace::hosts::{HOSTS, Host};
use rulebook_workspace::{AgentSearch, Loaded, UsedAgent, Workspace};

use super::sessions;
use crate::args::Viewpoint;
use crate::out::{self, DIM, paint, plural};

/// Returns the agents that an answer is for; none for any agent.
pub(super) fn agents(workspace: &Workspace, view: Viewpoint, search: AgentSearch) -> Vec<UsedAgent> {
    match view {
        Viewpoint::Used => workspace.agents_used(search),
        Viewpoint::Any => Vec::new(),
        Viewpoint::For(named) => vec![workspace.agent(named.agent, search)],
        Viewpoint::As(named) => {
            let mut used = workspace.agent(named.agent, search);
            used.wired.clear();
            vec![used]
        }
    }
}

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
        host.files[0].wiring == Wiring::Hook
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

/// Returns the diagnostics of the files that an agent reads.
pub(super) fn in_files(diagnostics: &[Diagnostic], native: &Loaded) -> Vec<Diagnostic> {
    let rules = native.book.rules().map(|(rule, _)| rule.origin.display.as_str());
    let rejected = native.book.rejected().iter().map(|rejected| rejected.origin.display.as_str());
    let files: HashSet<&str> = rules.chain(rejected).collect();
    diagnostics.iter().filter(|found| files.contains(found.path.as_str())).cloned().collect()
}

/// Returns the command that wires an agent, and how many rules it would add.
pub(super) fn install_hint(used: &UsedAgent, count: usize) -> Option<String> {
    let host = Host::of(used.agent).filter(|_| used.wired.is_empty() && count > 0)?;
    Some(format!("`{}` would add {}", host.install_command(), plural(count, "rule")))
}
