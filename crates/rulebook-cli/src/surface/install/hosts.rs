//! The table of hosts: what `install` writes into the files that wire each one.

use rulebook::agent::Wiring;
use rulebook_workspace::hosts::{self, HostFile, Syntax};
use rulebook_workspace::wiring::{PLUGIN, SERVER};
use serde_json::{Map, Value as Json, json};

use super::program::Program;

/// An agent that runs our hook, our MCP server, or both.
pub(crate) struct Host {
    /// The name in the table of hosts.
    pub(crate) name: &'static str,
    pub(super) title: &'static str,
    /// The text of the files that we write as a whole.
    own: Option<&'static str>,
    /// Entries in the JSON that runs our hooks.
    hooks: Option<fn(&Program) -> Json>,
    /// Entries in the JSON that lists our server.
    server: Option<fn(&Program) -> Json>,
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
    /// An entry in the host's YAML.
    Yaml,
    /// The whole file: a text that names the program.
    Own(&'static str),
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
        let content = match (file.syntax, file.wiring) {
            (Syntax::Own | Syntax::Listed, _) => self.own.map(FileKind::Own),
            (Syntax::Toml, _) => Some(FileKind::Toml),
            (Syntax::Yaml, _) => Some(FileKind::Yaml),
            (_, Wiring::Mcp) => self.server.map(FileKind::Json),
            _ => self.hooks.map(FileKind::Json),
        };
        content.expect("a test looks at every file of every host")
    }
}

const BASE: Host = Host { name: "", title: "", own: None, hooks: None, server: None, note: "" };

/// How long a host waits for a hook, in seconds.
const TIMEOUT: u32 = 10;

/// The events of Claude Code, which other hosts took over.
const CLAUDE_EVENTS: [&str; 7] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "SubagentStart", "Stop"];

/// Extensions of pi, which oh-my-pi and xcsh took over.
const PI: &str = include_str!("templates/pi.ts");

const EXTENSION: &str = "the extension is loaded when the agent is started in this folder";

pub(crate) const HOSTS: &[Host] = &[
    Host {
        name: "aider",
        title: "Aider",
        note: "Aider runs no hooks and no MCP servers: it reads the rules that always apply. Start it with `rulebook proxy -- aider` for the \
            others",
        ..BASE
    },
    Host {
        name: "claude",
        title: "Claude Code",
        hooks: Some(|program| {
            let events = [&CLAUDE_EVENTS[..], &["PostToolUseFailure", "InstructionsLoaded"]].concat();
            groups(&events, Some("*"), &handler(program, Some(TIMEOUT)))
        }),
        server: Some(servers),
        note: "Claude Code asks before it starts a workspace's MCP server for the first time",
        ..BASE
    },
    Host {
        name: "cline",
        title: "Cline",
        own: Some(include_str!("templates/hook.sh")),
        server: Some(servers),
        note: "turn on hooks in Cline's settings; Cline CLI reads MCP servers only from your own settings, which \
            `rulebook install cline --user` edits",
        ..BASE
    },
    Host {
        name: "codex",
        title: "Codex",
        hooks: Some(|program| groups(&CLAUDE_EVENTS, None, &handler(program, Some(TIMEOUT)))),
        note: "Codex ignores hooks, without saying so, until you trust the project and the hooks",
        ..BASE
    },
    Host {
        name: "continue",
        title: "Continue",
        own: Some(include_str!("templates/continue.yaml")),
        note: "Continue has no hooks; its model requests rules from the MCP server. Continue CLI ignores this file; use \
            `rulebook proxy --listen` with it",
        ..BASE
    },
    Host {
        name: "copilot",
        title: "Copilot CLI",
        hooks: Some(|program| {
            let [bash, powershell] = ["bash", "powershell"].map(|key| program.line_of(key));
            let handler =
                json!({ "type": "command", "bash": bash, "powershell": powershell, "timeoutSec": TIMEOUT });
            versioned(&["userPromptSubmitted", "preToolUse", "postToolUse", "preCompact"], &handler)
        }),
        server: Some(|program| {
            // Claude Code reads the same file and understands these keys too.
            let path = &program.path;
            named("mcpServers", &json!({ "type": "stdio", "command": path, "args": ["mcp"], "tools": ["*"] }))
        }),
        note: "Copilot also runs the hooks in `.claude/settings.json`; Rulebook's hooks there do nothing in Copilot",
        ..BASE
    },
    Host {
        name: "cursor",
        title: "Cursor",
        hooks: Some(|program| {
            let handler = json!({ "command": program.line, "timeout": TIMEOUT });
            let events = ["sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "preCompact"];
            versioned(&events, &handler)
        }),
        server: Some(servers),
        ..BASE
    },
    Host {
        name: "gemini",
        title: "Gemini CLI",
        hooks: Some(|program| {
            let events =
                ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "PreCompress"];
            // Gemini CLI expects milliseconds. The variable is for `sh`; PowerShell has it already.
            let mut handler = handler(program, Some(TIMEOUT * 1000));
            handler["env"] = json!({ "null": "/dev/null" });
            groups(&events, None, &handler)
        }),
        server: Some(servers),
        note: "Gemini CLI reads a workspace's settings only in folders that you trust",
        ..BASE
    },
    Host {
        name: "goose",
        title: "Goose",
        note: "Goose's hooks cannot add context; its model requests rules from the MCP server",
        ..BASE
    },
    Host {
        name: "kiro",
        title: "Kiro",
        server: Some(servers),
        note: "Kiro's hooks cannot add context; its model requests rules from the MCP server",
        ..BASE
    },
    Host { name: "omp", title: "oh-my-pi", own: Some(PI), server: Some(servers), note: EXTENSION, ..BASE },
    Host {
        name: "opencode",
        title: "opencode",
        own: Some(include_str!("templates/opencode.js")),
        hooks: Some(|_| schema(json!({ "plugin": [PLUGIN] }))),
        server: Some(|program| {
            let command = [program.path.as_str(), "mcp"];
            let entry = json!({ "type": "local", "command": command, "enabled": true });
            schema(named("mcp", &entry))
        }),
        ..BASE
    },
    Host { name: "pi", title: "Pi", own: Some(PI), note: EXTENSION, ..BASE },
    Host {
        name: "qwen",
        title: "Qwen Code",
        // Some versions expect the timeout in seconds, others in milliseconds.
        hooks: Some(|program| groups(&CLAUDE_EVENTS, None, &handler(program, None))),
        server: Some(servers),
        note: "Qwen Code runs a workspace's hooks only in folders that you trust",
        ..BASE
    },
    Host { name: "xcsh", title: "xcsh", own: Some(PI), server: Some(servers), note: EXTENSION, ..BASE },
    Host {
        name: "zed",
        title: "Zed",
        server: Some(|program| {
            let path = &program.path;
            named("context_servers", &json!({ "source": "custom", "command": path, "args": ["mcp"] }))
        }),
        note: "Zed has no hooks; its model requests rules from the MCP server",
        ..BASE
    },
];

/// A handler in Claude Code's layout.
fn handler(program: &Program, timeout: Option<u32>) -> Json {
    let mut handler = json!({ "type": "command", "command": program.line });
    if let Some(timeout) = timeout {
        handler["timeout"] = timeout.into();
    }
    handler
}

/// Claude Code's layout: for each event a group of handlers. Events of tools have a matcher where the host needs one.
fn groups(events: &[&str], matcher: Option<&str>, handler: &Json) -> Json {
    let group = |event: &str| match matcher.filter(|_| event.contains("Tool")) {
        Some(matcher) => json!([{ "matcher": matcher, "hooks": [handler] }]),
        None => json!([{ "hooks": [handler] }]),
    };
    let events: Map<String, Json> = events.iter().map(|event| ((*event).to_owned(), group(event))).collect();
    json!({ "hooks": events })
}

/// opencode adds a missing schema, and the file would then remain after `uninstall`.
fn schema(mut patch: Json) -> Json {
    patch["$schema"] = "https://opencode.ai/config.json".into();
    patch
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_every_host_has_a_content() {
        for host in HOSTS {
            let files = host.row().files.iter().chain(host.row().former);
            files.for_each(|file| {
                host.content(file);
            });
        }
    }
}
