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
    /// Other surfaces of the agent that its files wire too.
    pub surfaces: &'static [Surface],
    /// Paths in a workspace that show that the host is used there.
    pub markers: &'static [&'static str],
    /// Paths in the home folder that show that the host is used.
    pub home_markers: &'static [&'static str],
    /// Variables that move the host's folder, each with the part of a path below home that it replaces.
    pub(crate) moved: &'static [(&'static str, &'static str)],
    /// The files that `rulebook install` edits to connect it; none if only the proxy does.
    pub files: &'static [HostFile],
    /// Files that earlier versions of `rulebook install` wrote instead.
    pub former: &'static [HostFile],
    /// Files of a workspace that wire the host for one person, in the syntax of its hooks. They are not committed.
    pub personal: &'static [&'static str],
    /// Folders from which it loads code that runs in the agent, in a workspace and in the home folder.
    pub(crate) code: &'static [(&'static str, &'static str)],
    /// How many characters of context its hooks take at once, if it runs hooks.
    pub context_limit: Option<usize>,
    /// Whether it continues if a hook fails, and blocks the call if it succeeds without an answer.
    pub needs_answer: bool,
    /// Whether it shows the user what a shell prints if the program of a hook is missing.
    pub shows_errors: bool,
}

/// Another surface of an agent, which some files of the host wire too.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Surface {
    /// The name of the agent.
    pub agent: &'static str,
    /// The ways in which the files of a workspace wire it.
    pub in_workspace: &'static [Wiring],
    /// The ways in which the files in the home folder do.
    pub at_home: &'static [Wiring],
}

/// One file of a host.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostFile {
    /// What it wires.
    pub wiring: Wiring,
    /// The path in a workspace, if the host reads such a file there.
    pub workspace: Option<&'static str>,
    /// The path in the home folder, if the host reads such a file there.
    pub user: Option<&'static str>,
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
    /// YAML.
    Yaml,
    /// A file that `rulebook install` writes as a whole.
    Own,
    /// The same, for a host that loads it only if another file lists it.
    Listed,
}

const BASE: Host = Host {
    name: "",
    agent: "",
    surfaces: &[],
    markers: &[],
    home_markers: &[],
    moved: &[],
    files: &[],
    former: &[],
    personal: &[],
    code: &[],
    context_limit: None,
    needs_answer: false,
    shows_errors: false,
};

const ALL: &[Wiring] = &[Wiring::Hook, Wiring::Mcp];

/// Every host, sorted by name.
pub static HOSTS: &[Host] = &[
    Host {
        name: "aider",
        agent: "aider",
        markers: &[".aider.conf.yml"],
        home_markers: &[".aider.conf.yml"],
        ..BASE
    },
    Host {
        name: "claude",
        agent: "claude",
        context_limit: Some(9_500),
        markers: &[".claude", "CLAUDE.md"],
        home_markers: &[".claude", ".claude.json"],
        moved: &[("CLAUDE_CONFIG_DIR", ".claude/"), ("CLAUDE_CONFIG_DIR", "")],
        files: &[
            hooks(".claude/settings.json", ".claude/settings.json"),
            server(".mcp.json", ".claude.json"),
        ],
        personal: &[".claude/settings.local.json"],
        ..BASE
    },
    Host {
        name: "cline",
        agent: "cline",
        context_limit: Some(45_000),
        surfaces: &[Surface { agent: "cline-cli", in_workspace: ALL, at_home: ALL }],
        markers: &[".clinerules"],
        home_markers: &["Documents/Cline", ".cline"],
        files: &[
            own(".clinerules/hooks/TaskStart", "Documents/Cline/Hooks/TaskStart"),
            own(".clinerules/hooks/UserPromptSubmit", "Documents/Cline/Hooks/UserPromptSubmit"),
            own(".clinerules/hooks/PreToolUse", "Documents/Cline/Hooks/PreToolUse"),
            own(".clinerules/hooks/PostToolUse", "Documents/Cline/Hooks/PostToolUse"),
            own(".clinerules/hooks/PreCompact", "Documents/Cline/Hooks/PreCompact"),
            HostFile { workspace: None, ..server("", ".cline/data/settings/cline_mcp_settings.json") },
        ],
        code: &[(".clinerules/hooks", "Documents/Cline/Hooks")],
        ..BASE
    },
    Host {
        name: "codex",
        agent: "codex",
        context_limit: Some(9_000),
        markers: &[".codex"],
        home_markers: &[".codex"],
        moved: &[("CODEX_HOME", ".codex/")],
        files: &[
            hooks(".codex/hooks.json", ".codex/hooks.json"),
            HostFile { syntax: Syntax::Toml, ..server(".codex/config.toml", ".codex/config.toml") },
        ],
        ..BASE
    },
    Host {
        name: "continue",
        agent: "continue",
        markers: &[".continue", ".continuerules"],
        home_markers: &[".continue"],
        files: &[HostFile {
            wiring: Wiring::Mcp,
            ..own(".continue/mcpServers/rulebook.yaml", ".continue/mcpServers/rulebook.yaml")
        }],
        ..BASE
    },
    Host {
        name: "copilot",
        agent: "copilot-cli",
        // It reads other files for its MCP servers, and other hooks in the home folder.
        surfaces: &[Surface { agent: "copilot-vscode", in_workspace: &[Wiring::Hook], at_home: &[] }],
        context_limit: Some(50_000),
        markers: &[".github/copilot-instructions.md", ".github/instructions", ".github/hooks"],
        home_markers: &[".copilot"],
        moved: &[("COPILOT_HOME", ".copilot/")],
        files: &[
            hooks(".github/hooks/rulebook.json", ".copilot/hooks/rulebook.json"),
            server(".mcp.json", ".copilot/mcp-config.json"),
        ],
        code: &[(".github/hooks", ".copilot/hooks")],
        ..BASE
    },
    Host {
        name: "cursor",
        agent: "cursor",
        context_limit: Some(9_500),
        needs_answer: true,
        markers: &[".cursor", ".cursorrules"],
        home_markers: &[".cursor"],
        files: &[
            hooks(".cursor/hooks.json", ".cursor/hooks.json"),
            server(".cursor/mcp.json", ".cursor/mcp.json"),
        ],
        ..BASE
    },
    Host {
        name: "gemini",
        agent: "gemini",
        context_limit: Some(30_000),
        shows_errors: true,
        markers: &[".gemini", "GEMINI.md"],
        home_markers: &[".gemini"],
        moved: &[("GEMINI_CLI_HOME", "")],
        files: &[
            hooks(".gemini/settings.json", ".gemini/settings.json"),
            server(".gemini/settings.json", ".gemini/settings.json"),
        ],
        ..BASE
    },
    Host {
        name: "goose",
        agent: "goose",
        markers: &[".goosehints"],
        home_markers: &[".config/goose"],
        moved: &[("XDG_CONFIG_HOME", ".config/")],
        files: &[HostFile {
            workspace: None,
            syntax: Syntax::Yaml,
            ..server("", ".config/goose/config.yaml")
        }],
        ..BASE
    },
    Host {
        name: "kiro",
        agent: "kiro",
        markers: &[".kiro"],
        home_markers: &[".kiro"],
        files: &[server(".kiro/settings/mcp.json", ".kiro/settings/mcp.json")],
        ..BASE
    },
    Host {
        name: "omp",
        agent: "omp",
        context_limit: Some(50_000),
        markers: &[".omp"],
        home_markers: &[".omp"],
        moved: &[("PI_CODING_AGENT_DIR", ".omp/agent/")],
        files: &[
            own(".omp/extensions/rulebook.ts", ".omp/agent/extensions/rulebook.ts"),
            server(".omp/mcp.json", ".omp/agent/mcp.json"),
        ],
        code: &[(".omp/extensions", ".omp/agent/extensions")],
        ..BASE
    },
    Host {
        name: "opencode",
        agent: "opencode",
        context_limit: Some(50_000),
        markers: &[".opencode", "opencode.json", "opencode.jsonc"],
        home_markers: &[".config/opencode"],
        moved: &[("XDG_CONFIG_HOME", ".config/")],
        files: &[
            HostFile {
                syntax: Syntax::Listed,
                ..own(".rulebook/opencode.js", ".config/opencode/.rulebook/opencode.js")
            },
            HostFile { syntax: Syntax::Jsonc, ..hooks("opencode.json", ".config/opencode/opencode.json") },
            HostFile { syntax: Syntax::Jsonc, ..server("opencode.json", ".config/opencode/opencode.json") },
        ],
        former: &[own(".opencode/plugin/rulebook.js", ".config/opencode/plugin/rulebook.js")],
        code: &[
            (".opencode/plugin", ".config/opencode/plugin"),
            (".opencode/plugins", ".config/opencode/plugins"),
            (".opencode/tool", ".config/opencode/tool"),
            (".opencode/tools", ".config/opencode/tools"),
        ],
        ..BASE
    },
    Host {
        name: "pi",
        agent: "pi",
        context_limit: Some(50_000),
        markers: &[".pi"],
        home_markers: &[".pi"],
        moved: &[("PI_CODING_AGENT_DIR", ".pi/agent/")],
        files: &[own(".pi/extensions/rulebook.ts", ".pi/agent/extensions/rulebook.ts")],
        code: &[(".pi/extensions", ".pi/agent/extensions")],
        ..BASE
    },
    Host {
        name: "qwen",
        agent: "qwen",
        context_limit: Some(20_000),
        markers: &[".qwen", "QWEN.md"],
        home_markers: &[".qwen"],
        files: &[
            hooks(".qwen/settings.json", ".qwen/settings.json"),
            server(".qwen/settings.json", ".qwen/settings.json"),
        ],
        ..BASE
    },
    Host {
        name: "xcsh",
        agent: "xcsh",
        context_limit: Some(50_000),
        markers: &[".xcsh"],
        home_markers: &[".xcsh"],
        moved: &[("PI_CODING_AGENT_DIR", ".xcsh/agent/")],
        files: &[
            own(".xcsh/extensions/rulebook.ts", ".xcsh/agent/extensions/rulebook.ts"),
            server(".xcsh/mcp.json", ".xcsh/agent/mcp.json"),
        ],
        code: &[(".xcsh/extensions", ".xcsh/agent/extensions")],
        ..BASE
    },
    Host {
        name: "zed",
        agent: "zed",
        markers: &[".zed"],
        home_markers: &[".config/zed"],
        moved: &[("XDG_CONFIG_HOME", ".config/")],
        files: &[server(".zed/settings.json", ".config/zed/settings.json")],
        ..BASE
    },
];

const fn hooks(workspace: &'static str, user: &'static str) -> HostFile {
    HostFile { wiring: Wiring::Hook, workspace: Some(workspace), user: Some(user), syntax: Syntax::Json }
}

const fn server(workspace: &'static str, user: &'static str) -> HostFile {
    HostFile { wiring: Wiring::Mcp, ..hooks(workspace, user) }
}

const fn own(workspace: &'static str, user: &'static str) -> HostFile {
    HostFile { syntax: Syntax::Own, ..hooks(workspace, user) }
}

/// The variables that move folders of hosts.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&str> = HOSTS.iter().flat_map(|host| host.moved).map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter()
}

impl Host {
    /// The host of a name.
    pub fn named(name: &str) -> Option<&'static Host> {
        HOSTS.iter().find(|host| host.name == name)
    }

    /// Whether it reads files of a workspace that wire it.
    pub(crate) fn is_wired_in_workspaces(&self) -> bool {
        self.files.iter().any(|file| file.workspace.is_some())
    }

    /// Whether it runs hooks.
    pub fn runs_hooks(&self) -> bool {
        self.files.iter().any(|file| file.wiring == Wiring::Hook)
    }

    /// The command that wires it: in the workspace if that is possible.
    pub fn install_command(&self) -> String {
        if self.files.is_empty() {
            return format!("rulebook proxy -- {}", self.name);
        }
        let flag = if self.is_wired_in_workspaces() { "" } else { " --user" };
        format!("rulebook install {}{flag}", self.name)
    }

    /// The host that an agent is, if Rulebook can be wired into it.
    pub fn of(agent: &Agent) -> Option<&'static Host> {
        HOSTS.iter().find(|host| host.agent == agent.name || host.surface(agent).is_some())
    }

    /// An agent as another surface of its own.
    pub(crate) fn surface(&self, agent: &Agent) -> Option<&'static Surface> {
        self.surfaces.iter().find(|surface| surface.agent == agent.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_sorted_and_each_is_an_agent_with_hooks_first() {
        assert!(HOSTS.is_sorted_by(|a, b| a.name < b.name));
        for host in HOSTS {
            for agent in host.surfaces.iter().map(|surface| surface.agent).chain([host.agent]) {
                assert!(Agent::named(agent).is_some(), "{agent}");
            }
            assert!(host.files.is_sorted_by_key(|file| file.wiring), "{}", host.name);
        }
    }
}
