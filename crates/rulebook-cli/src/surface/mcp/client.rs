//! Which agent a client is, by the name that it gives in the handshake.

use rulebook::agent::Agent;

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
pub(super) fn agent(client: &str) -> Option<&'static Agent> {
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
