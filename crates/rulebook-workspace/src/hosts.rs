//! Hosts: the agents that Rulebook can be wired into, and the files that wire them.

use rulebook::agent::{Agent, Wiring};

/// An agent that runs `rulebook hook`, `rulebook mcp`, or both.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Host {
    /// Its name in `rulebook hook` and `rulebook install`.
    pub name: &'static str,
    /// The name of the agent whose files it reads by itself.
    pub agent: &'static str,
    /// Paths in a workspace that show that the host is used there.
    pub markers: &'static [&'static str],
    /// Paths in the home folder that show that the host is used.
    pub home_markers: &'static [&'static str],
    /// Variables that move the host's folder, each with the part of a path below home that it replaces.
    pub(crate) moved: &'static [(&'static str, &'static str)],
    /// The files that `rulebook install` edits.
    pub files: &'static [HostFile],
    /// Files of a workspace that wire the host for one person, in the syntax of its hooks. They are not committed.
    pub personal: &'static [&'static str],
    /// The name of another host whose hooks in a workspace it runs too.
    pub runs_hooks_of: Option<&'static str>,
}

/// One file of a host.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostFile {
    /// What it wires.
    pub wiring: Wiring,
    /// The path in a workspace.
    pub workspace: &'static str,
    /// The path in the home folder.
    pub user: &'static str,
    /// How it is written.
    pub syntax: Syntax,
}

/// How a file of a host is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON with comments.
    Json,
    /// The same, in the `.jsonc` file of that name if it exists.
    Jsonc,
    /// TOML.
    Toml,
    /// A file that `rulebook install` writes as a whole.
    Own,
}

/// Every host, sorted by name.
pub static HOSTS: &[Host] = &[
    Host {
        name: "claude",
        agent: "claude",
        markers: &[".claude", "CLAUDE.md"],
        home_markers: &[".claude", ".claude.json"],
        moved: &[("CLAUDE_CONFIG_DIR", ".claude/"), ("CLAUDE_CONFIG_DIR", "")],
        files: &[
            hooks(".claude/settings.json", ".claude/settings.json"),
            server(".mcp.json", ".claude.json", Syntax::Json),
        ],
        personal: &[".claude/settings.local.json"],
        runs_hooks_of: None,
    },
    Host {
        name: "cline",
        agent: "cline",
        markers: &[".clinerules"],
        home_markers: &["Documents/Cline", ".cline"],
        moved: &[],
        files: &[
            own(".clinerules/hooks/TaskStart", "Documents/Cline/Hooks/TaskStart"),
            own(".clinerules/hooks/UserPromptSubmit", "Documents/Cline/Hooks/UserPromptSubmit"),
            own(".clinerules/hooks/PreToolUse", "Documents/Cline/Hooks/PreToolUse"),
            own(".clinerules/hooks/PostToolUse", "Documents/Cline/Hooks/PostToolUse"),
        ],
        personal: &[],
        runs_hooks_of: None,
    },
    Host {
        name: "codex",
        agent: "codex",
        markers: &[".codex"],
        home_markers: &[".codex"],
        moved: &[("CODEX_HOME", ".codex/")],
        files: &[
            hooks(".codex/hooks.json", ".codex/hooks.json"),
            server(".codex/config.toml", ".codex/config.toml", Syntax::Toml),
        ],
        personal: &[],
        runs_hooks_of: None,
    },
    Host {
        name: "copilot",
        agent: "copilot-cli",
        markers: &[".github/copilot-instructions.md", ".github/instructions", ".github/hooks"],
        home_markers: &[".copilot"],
        moved: &[("COPILOT_HOME", ".copilot/")],
        files: &[
            hooks(".github/hooks/rulebook.json", ".copilot/hooks/rulebook.json"),
            server(".mcp.json", ".copilot/mcp-config.json", Syntax::Json),
        ],
        personal: &[],
        runs_hooks_of: Some("claude"),
    },
    Host {
        name: "cursor",
        agent: "cursor",
        markers: &[".cursor", ".cursorrules"],
        home_markers: &[".cursor"],
        moved: &[],
        files: &[
            hooks(".cursor/hooks.json", ".cursor/hooks.json"),
            server(".cursor/mcp.json", ".cursor/mcp.json", Syntax::Json),
        ],
        personal: &[],
        runs_hooks_of: None,
    },
    Host {
        name: "gemini",
        agent: "gemini",
        markers: &[".gemini", "GEMINI.md"],
        home_markers: &[".gemini"],
        moved: &[("GEMINI_CLI_HOME", "")],
        files: &[
            hooks(".gemini/settings.json", ".gemini/settings.json"),
            server(".gemini/settings.json", ".gemini/settings.json", Syntax::Json),
        ],
        personal: &[],
        runs_hooks_of: None,
    },
    Host {
        name: "opencode",
        agent: "opencode",
        markers: &[".opencode", "opencode.json", "opencode.jsonc"],
        home_markers: &[".config/opencode"],
        moved: &[("XDG_CONFIG_HOME", ".config/")],
        files: &[
            own(".opencode/plugin/rulebook.js", ".config/opencode/plugin/rulebook.js"),
            server("opencode.json", ".config/opencode/opencode.json", Syntax::Jsonc),
        ],
        personal: &[],
        runs_hooks_of: None,
    },
    Host {
        name: "qwen",
        agent: "qwen",
        markers: &[".qwen", "QWEN.md"],
        home_markers: &[".qwen"],
        moved: &[],
        files: &[
            hooks(".qwen/settings.json", ".qwen/settings.json"),
            server(".qwen/settings.json", ".qwen/settings.json", Syntax::Json),
        ],
        personal: &[],
        runs_hooks_of: None,
    },
];

const fn hooks(workspace: &'static str, user: &'static str) -> HostFile {
    HostFile { wiring: Wiring::Hook, workspace, user, syntax: Syntax::Json }
}

const fn server(workspace: &'static str, user: &'static str, syntax: Syntax) -> HostFile {
    HostFile { wiring: Wiring::Mcp, workspace, user, syntax }
}

const fn own(workspace: &'static str, user: &'static str) -> HostFile {
    HostFile { wiring: Wiring::Hook, workspace, user, syntax: Syntax::Own }
}

/// The variables that move folders of hosts.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&str> = HOSTS.iter().flat_map(|host| host.moved).map(|(name, _)| *name).collect();
    names.dedup();
    names.into_iter()
}

impl Host {
    /// The host of a name.
    pub fn named(name: &str) -> Option<&'static Host> {
        HOSTS.iter().find(|host| host.name == name)
    }

    /// The host that an agent is, if Rulebook can be wired into it.
    pub fn of(agent: &Agent) -> Option<&'static Host> {
        HOSTS.iter().find(|host| host.agent == agent.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_sorted_and_each_is_an_agent_with_hooks_first() {
        assert!(HOSTS.is_sorted_by(|a, b| a.name < b.name));
        for host in HOSTS {
            assert!(Agent::named(host.agent).is_some(), "{}", host.agent);
            assert_eq!(host.files[0].wiring, Wiring::Hook);
        }
    }
}
