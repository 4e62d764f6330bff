//! The agents that an answer is for.

use std::collections::HashSet;
use std::fmt::Write as _;

use rulebook::diagnostic::Diagnostic;
use rulebook_workspace::{AgentSearch, Loaded, UsedAgent, Workspace, hosts};

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
    let host = hosts::Host::of(used.agent).filter(|_| used.wired.is_empty() && count > 0)?;
    Some(format!("`{}` would add {}", host.install_command(), plural(count, "rule")))
}
