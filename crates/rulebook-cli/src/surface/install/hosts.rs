//! The table of hosts: which files wire each one, and what `install` writes into them.

use serde_json::{Map, Value as Json, json};

use super::program::{Program, SERVER};
use crate::host::HostId;

/// An agent that runs our hook, our MCP server, or both.
pub(crate) struct Host {
    pub(crate) id: HostId,
    pub(super) title: &'static str,
    /// Paths in the workspace that show that the host is used.
    pub(super) markers: &'static [&'static str],
    /// Paths in the home folder that show that the host is used.
    pub(super) home_markers: &'static [&'static str],
    /// Variables that move the host's folder, each with the part of a path below home that it replaces.
    pub(super) moved: &'static [(&'static str, &'static str)],
    pub(super) files: &'static [HostFile],
    /// What the user has to do or know; may be empty.
    pub(super) note: &'static str,
}

/// One file, and what is written into it.
pub(super) struct HostFile {
    pub(super) role: Role,
    /// The path in the workspace.
    pub(super) workspace: &'static str,
    /// The path in the home folder.
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
    /// The same, in the `.jsonc` file of the same name if it exists.
    Jsonc(fn(&Program) -> Json),
    /// A table in the host's TOML.
    Toml,
    /// A file of our own that the host loads.
    Module(fn(&Program) -> String),
    /// A file of our own that the host runs.
    Script,
}

impl Host {
    pub(super) fn of(id: HostId) -> &'static Host {
        HOSTS.iter().find(|host| host.id == id).expect("a test compares the tables")
    }
}

/// How long a host waits for a hook, in seconds.
const TIMEOUT: u32 = 10;

pub(crate) const HOSTS: &[Host] = &[
    Host {
        id: HostId::Claude,
        title: "Claude Code",
        markers: &[".claude", "CLAUDE.md"],
        home_markers: &[".claude", ".claude.json"],
        moved: &[("CLAUDE_CONFIG_DIR", ".claude/"), ("CLAUDE_CONFIG_DIR", "")],
        files: &[
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
        note: "Claude Code asks before it starts a workspace's MCP server for the first time",
    },
    Host {
        id: HostId::Cline,
        title: "Cline",
        markers: &[".clinerules"],
        home_markers: &["Documents/Cline", ".cline"],
        moved: &[],
        files: &[
            script(".clinerules/hooks/TaskStart", "Documents/Cline/Hooks/TaskStart"),
            script(".clinerules/hooks/UserPromptSubmit", "Documents/Cline/Hooks/UserPromptSubmit"),
            script(".clinerules/hooks/PreToolUse", "Documents/Cline/Hooks/PreToolUse"),
            script(".clinerules/hooks/PostToolUse", "Documents/Cline/Hooks/PostToolUse"),
        ],
        note: "turn on hooks in Cline's settings, and add the MCP server `rulebook mcp` there",
    },
    Host {
        id: HostId::Codex,
        title: "Codex",
        markers: &[".codex"],
        home_markers: &[".codex"],
        moved: &[("CODEX_HOME", ".codex/")],
        files: &[
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
        note: "Codex silently skips hooks until you trust the project and then the hooks",
    },
    Host {
        id: HostId::Copilot,
        title: "Copilot CLI",
        markers: &[".github/copilot-instructions.md", ".github/instructions", ".github/hooks"],
        home_markers: &[".copilot"],
        moved: &[("COPILOT_HOME", ".copilot/")],
        files: &[
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
                    // Claude Code reads the same file and understands these keys too.
                    let path = &program.path;
                    named(
                        "mcpServers",
                        &json!({ "type": "stdio", "command": path, "args": ["mcp"], "tools": ["*"] }),
                    )
                }),
            ),
        ],
        note: "Copilot also runs the hooks in `.claude/settings.json`",
    },
    Host {
        id: HostId::Cursor,
        title: "Cursor",
        markers: &[".cursor", ".cursorrules"],
        home_markers: &[".cursor"],
        moved: &[],
        files: &[
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
        markers: &[".gemini", "GEMINI.md"],
        home_markers: &[".gemini"],
        moved: &[("GEMINI_CLI_HOME", "")],
        files: &[
            hooks(".gemini/settings.json", ".gemini/settings.json", |program| {
                let events = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "PreCompress"];
                // Gemini CLI expects milliseconds.
                groups(&events.map(|event| (event, None)), Some(TIMEOUT * 1000), program)
            }),
            server(".gemini/settings.json", ".gemini/settings.json", FileKind::Json(servers)),
        ],
        note: "Gemini CLI reads a workspace's settings only in folders that you trust",
    },
    Host {
        id: HostId::Opencode,
        title: "opencode",
        markers: &[".opencode", "opencode.json", "opencode.jsonc"],
        home_markers: &[".config/opencode"],
        moved: &[("XDG_CONFIG_HOME", ".config/")],
        files: &[
            HostFile {
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
                    // opencode adds a missing schema, and the file would then remain after `uninstall`.
                    json!({ "mcp": { SERVER: entry }, "$schema": "https://opencode.ai/config.json" })
                }),
            ),
        ],
        note: "",
    },
    Host {
        id: HostId::Qwen,
        title: "Qwen Code",
        markers: &[".qwen", "QWEN.md"],
        home_markers: &[".qwen"],
        moved: &[],
        files: &[
            hooks(".qwen/settings.json", ".qwen/settings.json", |program| {
                let events = [
                    "SessionStart",
                    "UserPromptSubmit",
                    "PreToolUse",
                    "PostToolUse",
                    "PreCompact",
                    "SubagentStart",
                ];
                // Some versions expect seconds, others milliseconds.
                groups(&events.map(|event| (event, None)), None, program)
            }),
            server(".qwen/settings.json", ".qwen/settings.json", FileKind::Json(servers)),
        ],
        note: "Qwen Code runs a workspace's hooks only in folders that you trust",
    },
];

const fn hooks(workspace: &'static str, user: &'static str, patch: fn(&Program) -> Json) -> HostFile {
    HostFile { role: Role::Hooks, workspace, user, kind: FileKind::Json(patch) }
}

const fn server(workspace: &'static str, user: &'static str, kind: FileKind) -> HostFile {
    HostFile { role: Role::Server, workspace, user, kind }
}

const fn script(workspace: &'static str, user: &'static str) -> HostFile {
    HostFile { role: Role::Hooks, workspace, user, kind: FileKind::Script }
}

/// Claude Code's layout: for each event a group of handlers, for some tools or for all.
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

/// A handler for each event. The version comes after the hooks, which marks it as ours.
fn versioned(events: &[&str], handler: &Json) -> Json {
    let events: Map<String, Json> =
        events.iter().map(|event| ((*event).to_owned(), json!([handler]))).collect();
    json!({ "hooks": events, "version": 1 })
}

/// Our MCP server as most hosts list it.
fn servers(program: &Program) -> Json {
    named("mcpServers", &json!({ "command": program.path, "args": ["mcp"] }))
}

fn named(list: &str, entry: &Json) -> Json {
    json!({ list: { SERVER: entry } })
}
