//! The table of hosts: which files wire each one, and what is written into them.

use serde_json::{Map, Value as Json, json};

use super::json::SERVER;
use super::program::Program;
use crate::host::HostId;

/// An agent that runs our hook, our server, or both.
pub(crate) struct Host {
    pub(crate) id: HostId,
    pub(super) title: &'static str,
    /// What shows that it is used, below the workspace.
    pub(super) signs: &'static [&'static str],
    /// What shows that it is used, below home.
    pub(super) home_signs: &'static [&'static str],
    /// Variables that move its folder, each with what it stands for of a path below home.
    pub(super) moved: &'static [(&'static str, &'static str)],
    pub(super) wires: &'static [Wire],
    /// What else there is to do, or to know; empty if nothing.
    pub(super) note: &'static str,
}

/// One file, and what it gets.
pub(super) struct Wire {
    pub(super) role: Role,
    /// The file, below the workspace.
    pub(super) workspace: &'static str,
    /// The file, below home.
    pub(super) user: &'static str,
    pub(super) kind: FileKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Hooks,
    Server,
}

pub(super) enum FileKind {
    /// Entries in the host's JSON.
    Json(fn(&Program) -> Json),
    /// The same, in the file beside it that ends in `.jsonc` if that one is there.
    Jsonc(fn(&Program) -> Json),
    /// A table in the host's TOML.
    Toml,
    /// A file of our own, for a program to load.
    Module(fn(&Program) -> String),
    /// A file of our own, for the host to run.
    Script,
}

impl Host {
    pub(super) fn of(id: HostId) -> &'static Host {
        HOSTS.iter().find(|host| host.id == id).expect("a test compares the tables")
    }
}

/// How long a host waits for an answer, in seconds.
const TIMEOUT: u32 = 10;

pub(crate) const HOSTS: &[Host] = &[
    Host {
        id: HostId::Claude,
        title: "Claude Code",
        signs: &[".claude", "CLAUDE.md"],
        home_signs: &[".claude", ".claude.json"],
        moved: &[("CLAUDE_CONFIG_DIR", ".claude/"), ("CLAUDE_CONFIG_DIR", "")],
        wires: &[
            hooks(".claude/settings.json", ".claude/settings.json", |program| {
                let tools = |event| (event, Some("*"));
                let plain = |event| (event, None);
                let events = [
                    plain("SessionStart"),
                    plain("UserPromptSubmit"),
                    tools("PreToolUse"),
                    tools("PostToolUse"),
                    tools("PostToolUseFailure"),
                    plain("PreCompact"),
                    plain("SubagentStart"),
                ];
                groups(&events, Some(TIMEOUT), program)
            }),
            server(".mcp.json", ".claude.json", FileKind::Json(servers)),
        ],
        note: "Claude Code asks before it first starts a workspace's server",
    },
    Host {
        id: HostId::Cline,
        title: "Cline",
        signs: &[".clinerules"],
        home_signs: &["Documents/Cline", ".cline"],
        moved: &[],
        wires: &[
            script(".clinerules/hooks/TaskStart", "Documents/Cline/Hooks/TaskStart"),
            script(".clinerules/hooks/UserPromptSubmit", "Documents/Cline/Hooks/UserPromptSubmit"),
            script(".clinerules/hooks/PreToolUse", "Documents/Cline/Hooks/PreToolUse"),
            script(".clinerules/hooks/PostToolUse", "Documents/Cline/Hooks/PostToolUse"),
        ],
        note: "switch hooks on in Cline's settings; its servers are kept there too: add `rulebook mcp` by hand",
    },
    Host {
        id: HostId::Codex,
        title: "Codex",
        signs: &[".codex"],
        home_signs: &[".codex"],
        moved: &[("CODEX_HOME", ".codex/")],
        wires: &[
            hooks(".codex/hooks.json", ".codex/hooks.json", |program| {
                let events = [
                    "SessionStart",
                    "UserPromptSubmit",
                    "PreToolUse",
                    "PostToolUse",
                    "PreCompact",
                    "SubagentStart",
                ];
                groups(&events.map(|event| (event, None)), Some(TIMEOUT), program)
            }),
            server(".codex/config.toml", ".codex/config.toml", FileKind::Toml),
        ],
        note: "Codex skips hooks, and says nothing, until you trust the project and then the hooks",
    },
    Host {
        id: HostId::Copilot,
        title: "Copilot's command line",
        signs: &[".github/copilot-instructions.md", ".github/instructions", ".github/hooks"],
        home_signs: &[".copilot"],
        moved: &[("COPILOT_HOME", ".copilot/")],
        wires: &[
            hooks(".github/hooks/rulebook.json", ".copilot/hooks/rulebook.json", |program| {
                let line = &program.line;
                let handler =
                    json!({ "type": "command", "bash": line, "powershell": line, "timeoutSec": TIMEOUT });
                versioned(&["userPromptSubmitted", "preToolUse", "postToolUse", "preCompact"], &handler)
            }),
            server(
                ".mcp.json",
                ".copilot/mcp-config.json",
                FileKind::Json(|program| {
                    // The words that Claude Code, whose file it is too, understands as well.
                    let path = &program.path;
                    named(
                        "mcpServers",
                        &json!({ "type": "stdio", "command": path, "args": ["mcp"], "tools": ["*"] }),
                    )
                }),
            ),
        ],
        note: "Copilot also runs the hooks of `.claude/settings.json`",
    },
    Host {
        id: HostId::Cursor,
        title: "Cursor",
        signs: &[".cursor", ".cursorrules"],
        home_signs: &[".cursor"],
        moved: &[],
        wires: &[
            hooks(".cursor/hooks.json", ".cursor/hooks.json", |program| {
                let handler = json!({ "command": program.line, "timeout": TIMEOUT });
                let events =
                    ["sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "preCompact"];
                versioned(&events, &handler)
            }),
            server(".cursor/mcp.json", ".cursor/mcp.json", FileKind::Json(servers)),
        ],
        note: "",
    },
    Host {
        id: HostId::Gemini,
        title: "Gemini CLI",
        signs: &[".gemini", "GEMINI.md"],
        home_signs: &[".gemini"],
        moved: &[("GEMINI_CLI_HOME", "")],
        wires: &[
            hooks(".gemini/settings.json", ".gemini/settings.json", |program| {
                let events = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "PreCompress"];
                // This host counts in milliseconds.
                groups(&events.map(|event| (event, None)), Some(TIMEOUT * 1000), program)
            }),
            server(".gemini/settings.json", ".gemini/settings.json", FileKind::Json(servers)),
        ],
        note: "Gemini CLI reads a workspace's settings only where you trust the folder",
    },
    Host {
        id: HostId::Opencode,
        title: "opencode",
        signs: &[".opencode", "opencode.json", "opencode.jsonc"],
        home_signs: &[".config/opencode"],
        moved: &[("XDG_CONFIG_HOME", ".config/")],
        wires: &[
            Wire {
                role: Role::Hooks,
                workspace: ".opencode/plugin/rulebook.js",
                user: ".config/opencode/plugin/rulebook.js",
                kind: FileKind::Module(|program| {
                    let path = Json::from(program.path.as_str()).to_string();
                    include_str!("opencode.js").replace("\"rulebook\";", &format!("{path};"))
                }),
            },
            server(
                "opencode.json",
                ".config/opencode/opencode.json",
                FileKind::Jsonc(|program| {
                    let command = [program.path.as_str(), "mcp"];
                    let entry = json!({ "type": "local", "command": command, "enabled": true });
                    // A file without its schema is given one by the host, and would stay behind.
                    json!({ "mcp": { SERVER: entry }, "$schema": "https://opencode.ai/config.json" })
                }),
            ),
        ],
        note: "",
    },
    Host {
        id: HostId::Qwen,
        title: "Qwen Code",
        signs: &[".qwen", "QWEN.md"],
        home_signs: &[".qwen"],
        moved: &[],
        wires: &[
            hooks(".qwen/settings.json", ".qwen/settings.json", |program| {
                let events = [
                    "SessionStart",
                    "UserPromptSubmit",
                    "PreToolUse",
                    "PostToolUse",
                    "PreCompact",
                    "SubagentStart",
                ];
                // Some versions count in seconds, some in milliseconds.
                groups(&events.map(|event| (event, None)), None, program)
            }),
            server(".qwen/settings.json", ".qwen/settings.json", FileKind::Json(servers)),
        ],
        note: "Qwen Code runs a workspace's hooks only where you trust the folder",
    },
];

const fn hooks(workspace: &'static str, user: &'static str, patch: fn(&Program) -> Json) -> Wire {
    Wire { role: Role::Hooks, workspace, user, kind: FileKind::Json(patch) }
}

const fn server(workspace: &'static str, user: &'static str, kind: FileKind) -> Wire {
    Wire { role: Role::Server, workspace, user, kind }
}

const fn script(workspace: &'static str, user: &'static str) -> Wire {
    Wire { role: Role::Hooks, workspace, user, kind: FileKind::Script }
}

/// Claude's way: for each event a group of handlers, for some tools or for all.
fn groups(events: &[(&str, Option<&str>)], timeout: Option<u32>, program: &Program) -> Json {
    let mut handler = json!({ "type": "command", "command": program.line });
    if let Some(timeout) = timeout {
        handler["timeout"] = timeout.into();
    }
    let group = |matcher: &Option<&str>| match matcher {
        Some(matcher) => json!({ "matcher": matcher, "hooks": [handler] }),
        None => json!({ "hooks": [handler] }),
    };
    let events: Map<String, Json> =
        events.iter().map(|(event, matcher)| ((*event).to_owned(), json!([group(matcher)]))).collect();
    json!({ "hooks": events })
}

/// A handler for each event. The version stands behind the hooks: so it is known to be ours.
fn versioned(events: &[&str], handler: &Json) -> Json {
    let events: Map<String, Json> =
        events.iter().map(|event| ((*event).to_owned(), json!([handler]))).collect();
    json!({ "hooks": events, "version": 1 })
}

/// Our server as most hosts list it.
fn servers(program: &Program) -> Json {
    named("mcpServers", &json!({ "command": program.path, "args": ["mcp"] }))
}

fn named(list: &str, entry: &Json) -> Json {
    json!({ list: { SERVER: entry } })
}
