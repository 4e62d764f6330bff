//! Which agent a client is, by the name that it gives in the handshake.

use std::time::{Duration, SystemTime};

use rulebook::agent::{Agent, Wiring};
use rulebook::session::Session;
use rulebook_workspace::hosts::Host;
use rulebook_workspace::{AgentSearch, Workspace};

use crate::surface::session_log;

/// A client that is a known agent.
pub(super) struct KnownClient {
    pub(super) agent: &'static Agent,
    /// The host whose hooks deliver rules to it.
    pub(super) hooks: Option<&'static Host>,
}

impl KnownClient {
    pub(super) fn named(name: &str, workspace: Option<&Workspace>) -> Option<KnownClient> {
        let agent = agent(name)?;
        let wired = workspace.map(|workspace| workspace.wiring(agent, AgentSearch::WorkspaceAndHome));
        let is_hooked = wired.is_some_and(|wired| wired.contains(&Wiring::Hook));
        Some(KnownClient { agent, hooks: Host::of(agent).filter(|_| is_hooked) })
    }

    /// What hooks delivered in the session that the client is in. It does not name its session, so this is known only if a
    /// single one is running here, and was written since the server started. Sub-agents have contexts of their own.
    pub(super) fn session(&self, workspace: &Workspace, started: SystemTime) -> Option<Session> {
        let now = SystemTime::now();
        let is_running = |at: SystemTime| now.duration_since(at).unwrap_or_default() < RUNNING;
        let all = session_log::of_host(workspace, self.hooks?.name);
        let mut running = all.take_while(|session| is_running(session.at));
        let only = running.next().filter(|last| last.at >= started && last.agent.is_none())?;
        running.next().is_none().then(|| only.log.session())
    }
}

/// A session that was written within this time may be running.
const RUNNING: Duration = Duration::from_secs(60 * 60);

/// The starts of clients' names, in lower case, each with its agent.
const CLIENTS: &[(&str, &str)] = &[
    ("claude", "claude"),
    ("cline", "cline"),
    ("codex", "codex"),
    ("continue", "continue"),
    ("copilot-cli", "copilot-cli"),
    ("cursor", "cursor"),
    ("gemini-cli", "gemini"),
    ("goose", "goose"),
    ("kiro", "kiro"),
    ("omp", "omp"),
    ("opencode", "opencode"),
    ("qwen", "qwen"),
    ("visual studio code", "copilot-vscode"),
    ("xcsh", "xcsh"),
    ("zed", "zed"),
];

/// Returns the agent of a client.
fn agent(client: &str) -> Option<&'static Agent> {
    let client = client.to_lowercase();
    let (_, agent) = CLIENTS.iter().find(|(start, _)| client.starts_with(start))?;
    Agent::named(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_recognised_by_their_names() {
        #[track_caller]
        fn check(client: &str, name: Option<&str>) {
            assert_eq!(agent(client).map(|agent| agent.name), name, "{client}");
        }
        check("claude-code", Some("claude"));
        check("codex-mcp-client", Some("codex"));
        check("gemini-cli-mcp-client", Some("gemini"));
        check("qwen-cli-mcp-client-rulebook", Some("qwen"));
        check("Zed", Some("zed"));
        check("inspector", None);
        for (_, name) in CLIENTS {
            assert!(Agent::named(name).is_some(), "{name}");
        }
    }
}
