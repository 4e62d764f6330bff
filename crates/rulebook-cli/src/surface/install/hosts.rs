//! The table of hosts: what `install` writes into the files that wire each one.

use rulebook::agent::Wiring;
use rulebook_workspace::hosts::{self, HostFile};
use rulebook_workspace::wiring::SERVER;
use serde_json::{Map, Value as Json, json};

use super::program::Program;

/// An agent that runs our hook, our MCP server, or both.
pub(crate) struct Host {
    /// The name in the table of hosts.
    pub(crate) name: &'static str,
    pub(super) title: &'static str,
    hooks: FileKind,
    server: Option<FileKind>,
    /// What the user has to do or know; may be empty.
    pub(super) note: &'static str,
}

/// What is written into a file.
#[derive(Clone, Copy)]
pub(super) enum FileKind {
    /// Entries in the host's JSON.
    Json(fn(&Program) -> Json),
    /// A table in the host's TOML.
    Toml,
    /// A file of our own that the host loads.
    Module(fn(&Program) -> String),
    /// A file of our own that the host runs.
    Script,
}

impl Host {
    pub(super) fn of(row: &hosts::Host) -> &'static Host {
        HOSTS.iter().find(|host| host.name == row.name).expect("a test compares the tables")
    }

    /// Returns the files that wire the host.
    pub(super) fn row(&self) -> &'static hosts::Host {
        hosts::Host::named(self.name).expect("a test compares the tables")
    }

    /// Returns what is written into a file.
    pub(super) fn content(&self, file: &HostFile) -> FileKind {
        match file.wiring {
            Wiring::Mcp => self.server.expect("only hosts with a server have a file for it"),
            _ => self.hooks,
        }
    }
}

/// How long a host waits for a hook, in seconds.
const TIMEOUT: u32 = 10;

/// The events of Claude Code, which other hosts took over.
const CLAUDE_EVENTS: [&str; 6] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "SubagentStart"];

pub(crate) const HOSTS: &[Host] = &[
    Host {
        name: "claude",
        title: "Claude Code",
        hooks: FileKind::Json(|program| {
            let events = [&CLAUDE_EVENTS[..], &["PostToolUseFailure"]].concat();
            groups(&events, Some("*"), Some(TIMEOUT), program)
        }),
        server: Some(FileKind::Json(servers)),
        note: "Claude Code asks before it starts a workspace's MCP server for the first time",
    },
    Host {
        name: "cline",
        title: "Cline",
        hooks: FileKind::Script,
        server: None,
        note: "turn on hooks in Cline's settings, and add the MCP server `rulebook mcp` there",
    },
    Host {
        name: "codex",
        title: "Codex",
        hooks: FileKind::Json(|program| groups(&CLAUDE_EVENTS, None, Some(TIMEOUT), program)),
        server: Some(FileKind::Toml),
        note: "Codex silently skips hooks until you trust the project and then the hooks",
    },
    Host {
        name: "copilot",
        title: "Copilot CLI",
        hooks: FileKind::Json(|program| {
            let [bash, powershell] = ["bash", "powershell"].map(|key| program.line_of(key));
            let handler =
                json!({ "type": "command", "bash": bash, "powershell": powershell, "timeoutSec": TIMEOUT });
            versioned(&["userPromptSubmitted", "preToolUse", "postToolUse", "preCompact"], &handler)
        }),
        server: Some(FileKind::Json(|program| {
            // Claude Code reads the same file and understands these keys too.
            let path = &program.path;
            named("mcpServers", &json!({ "type": "stdio", "command": path, "args": ["mcp"], "tools": ["*"] }))
        })),
        note: "Copilot also runs the hooks in `.claude/settings.json`",
    },
    Host {
        name: "cursor",
        title: "Cursor",
        hooks: FileKind::Json(|program| {
            let handler = json!({ "command": program.line, "timeout": TIMEOUT });
            let events = ["sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "preCompact"];
            versioned(&events, &handler)
        }),
        server: Some(FileKind::Json(servers)),
        note: "",
    },
    Host {
        name: "gemini",
        title: "Gemini CLI",
        hooks: FileKind::Json(|program| {
            let events = ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "PreCompress"];
            // Gemini CLI expects milliseconds.
            groups(&events, None, Some(TIMEOUT * 1000), program)
        }),
        server: Some(FileKind::Json(servers)),
        note: "Gemini CLI reads a workspace's settings only in folders that you trust",
    },
    Host {
        name: "opencode",
        title: "opencode",
        hooks: FileKind::Module(|program| {
            let path = Json::from(program.path.as_str()).to_string();
            include_str!("opencode.js").replace("\"rulebook\";", &format!("{path};"))
        }),
        server: Some(FileKind::Json(|program| {
            let command = [program.path.as_str(), "mcp"];
            let entry = json!({ "type": "local", "command": command, "enabled": true });
            // opencode adds a missing schema, and the file would then remain after `uninstall`.
            json!({ "mcp": { SERVER: entry }, "$schema": "https://opencode.ai/config.json" })
        })),
        note: "",
    },
    Host {
        name: "qwen",
        title: "Qwen Code",
        // Some versions expect the timeout in seconds, others in milliseconds.
        hooks: FileKind::Json(|program| groups(&CLAUDE_EVENTS, None, None, program)),
        server: Some(FileKind::Json(servers)),
        note: "Qwen Code runs a workspace's hooks only in folders that you trust",
    },
];

/// Claude Code's layout: for each event a group of handlers. Events of tools have a matcher where the host needs one.
fn groups(events: &[&str], matcher: Option<&str>, timeout: Option<u32>, program: &Program) -> Json {
    let mut handler = json!({ "type": "command", "command": program.line });
    if let Some(timeout) = timeout {
        handler["timeout"] = timeout.into();
    }
    let group = |event: &str| match matcher.filter(|_| event.contains("Tool")) {
        Some(matcher) => json!([{ "matcher": matcher, "hooks": [handler] }]),
        None => json!([{ "hooks": [handler] }]),
    };
    let events: Map<String, Json> = events.iter().map(|event| ((*event).to_owned(), group(event))).collect();
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
