//! The table of agents: what each one reads, by its own keys, dialect and way of failing.

mod ways;

use super::{Agent, Conflicts, Order};
use ways::{
    AGENT_MD, AGENT_MD_ELSE, AGENTS_AND_LOCAL, AGENTS_MD, AGENTS_MD_AT_ROOT, AGENTS_MD_EVERYWHERE,
    AGENTS_MD_IN_ANY_CASE, AMAZON_Q, ANTIGRAVITY, AUGMENT, AUGMENT_OWN, CLAUDE, CLAUDE_AGENTS,
    CLAUDE_AS_AGENTS, CLAUDE_MD, CLAUDE_MD_AND_OWN, CLAUDE_MD_AT_ROOT, CLAUDE_RULES_AS_COPILOT, CLINE,
    CLINE_CURSOR, CLINE_SDK, CODEBUDDY, CODEX, CONTINUE, COPILOT_CLI, COPILOT_GITHUB, COPILOT_INSTRUCTIONS,
    COPILOT_VSCODE, CRUSH, CURSOR, CURSOR_RAW, CURSORRULES, DEVIN, FIREBENDER, GEMINI, GEMINI_MD_AT_ROOT,
    GEMINI_MD_OF_ONE, GOOSE, JETBRAINS, JUNIE, KILO, KIRO, OMP, OPENCODE_CLAUDE, OPENHANDS, QODER, QWEN, ROO,
    TRAE, WARP, WINDSURF, WINDSURFRULES, XCSH, XCSH_CLINE, XCSH_CURSOR, XCSH_WINDSURF, ZED,
};

/// An agent that keeps everything it reads, workspace first, and looks into folders.
const BASE: Agent = Agent {
    name: "",
    title: "",
    owns: None,
    formats: &[],
    nested: true,
    conflicts: Conflicts::KeepAll,
    order: Order::WorkspaceFirst,
    fires: "",
};

/// Every agent whose way of reading is known; sorted by name.
pub static AGENTS: &[Agent] = &[
    Agent {
        name: "amazonq",
        title: "Amazon Q",
        owns: Some("amazonq"),
        formats: &[AMAZON_Q, AGENTS_MD],
        nested: false,
        ..BASE
    },
    Agent {
        name: "amp",
        title: "Amp",
        formats: &[AGENTS_MD, AGENT_MD, CLAUDE_AS_AGENTS],
        conflicts: Conflicts::FirstWins,
        fires: "for a folder, once a file below it was read",
        ..BASE
    },
    Agent {
        name: "antigravity",
        title: "Antigravity",
        owns: Some("antigravity"),
        formats: &[ANTIGRAVITY, AGENTS_MD, GEMINI_MD_OF_ONE],
        nested: false,
        ..BASE
    },
    Agent {
        name: "augment",
        title: "Augment",
        owns: Some("augment"),
        formats: &[CLAUDE_MD, AGENTS_MD, AUGMENT, AUGMENT_OWN],
        ..BASE
    },
    Agent {
        name: "claude",
        title: "Claude Code",
        owns: Some("claude"),
        formats: &[CLAUDE, CLAUDE_AGENTS],
        order: Order::UserFirst,
        fires: "when a matching file is read or mentioned; not when one is written",
        ..BASE
    },
    Agent {
        name: "cline",
        title: "Cline in VS Code",
        owns: Some("cline"),
        formats: &[CLINE, CLINE_CURSOR, WINDSURFRULES, AGENTS_MD],
        fires: "for paths in the message, in open tabs, and those it edits",
        ..BASE
    },
    Agent {
        name: "cline-sdk",
        title: "Cline's command line and its newer core",
        owns: Some("cline-sdk"),
        formats: &[CLINE_SDK, AGENTS_MD],
        nested: false,
        fires: "never: it does not look at paths",
        ..BASE
    },
    Agent {
        name: "codebuddy",
        title: "CodeBuddy",
        owns: Some("codebuddy"),
        formats: &[CODEBUDDY],
        nested: false,
        ..BASE
    },
    Agent {
        name: "codex",
        title: "Codex",
        owns: Some("codex"),
        formats: &[CODEX, AGENTS_MD],
        nested: false,
        conflicts: Conflicts::FirstWins,
        order: Order::UserFirst,
        fires: "at the start, from the root down to where it was started",
    },
    Agent {
        name: "continue",
        title: "Continue",
        owns: Some("continue"),
        formats: &[CONTINUE, AGENTS_MD_AT_ROOT],
        fires: "for files attached to the message",
        ..BASE
    },
    Agent {
        name: "copilot-cli",
        title: "Copilot's command line",
        formats: &[COPILOT_CLI, CLAUDE_RULES_AS_COPILOT, AGENTS_MD, CLAUDE_MD, GEMINI],
        fires: "after a matching file was viewed",
        ..BASE
    },
    Agent {
        name: "copilot-github",
        title: "Copilot on github.com",
        formats: &[COPILOT_GITHUB, AGENTS_MD, CLAUDE_MD_AT_ROOT, GEMINI_MD_AT_ROOT],
        ..BASE
    },
    Agent {
        name: "copilot-vscode",
        title: "Copilot in VS Code",
        owns: Some("copilot"),
        formats: &[COPILOT_VSCODE, CLAUDE_RULES_AS_COPILOT, AGENTS_MD, CLAUDE_MD_AND_OWN],
        nested: false,
        fires: "when a matching file is attached to the request; otherwise the file is listed to the model",
        ..BASE
    },
    Agent {
        name: "crush",
        title: "Crush",
        owns: Some("crush"),
        formats: &[
            COPILOT_INSTRUCTIONS,
            CURSOR_RAW,
            CLAUDE_MD,
            GEMINI_MD_AT_ROOT,
            CRUSH,
            AGENTS_MD_IN_ANY_CASE,
        ],
        nested: false,
        ..BASE
    },
    Agent {
        name: "cursor",
        title: "Cursor",
        owns: Some("cursor"),
        formats: &[CURSOR, AGENTS_MD],
        fires: "when a matching file is in context; which reads and writes count is documented nowhere",
        ..BASE
    },
    Agent {
        name: "devin",
        title: "Devin",
        owns: Some("devin"),
        formats: &[DEVIN, WINDSURF, AGENTS_AND_LOCAL, AGENT_MD, CLAUDE_MD_AND_OWN],
        fires: "when a matching file is read or edited",
        ..BASE
    },
    Agent {
        name: "firebender",
        title: "Firebender",
        owns: Some("firebender"),
        formats: &[FIREBENDER],
        nested: false,
        ..BASE
    },
    Agent {
        name: "gemini",
        title: "Gemini CLI",
        owns: Some("gemini"),
        formats: &[GEMINI],
        order: Order::UserFirst,
        fires: "for a folder, once a file below it was read or written",
        ..BASE
    },
    Agent {
        name: "goose",
        title: "Goose",
        owns: Some("goose"),
        formats: &[GOOSE, AGENTS_MD],
        order: Order::UserFirst,
        fires: "for a folder, once a tool call named a path below it",
        ..BASE
    },
    Agent {
        name: "jetbrains",
        title: "JetBrains AI Assistant",
        owns: Some("jetbrains"),
        formats: &[JETBRAINS],
        nested: false,
        ..BASE
    },
    Agent {
        name: "junie",
        title: "Junie",
        owns: Some("junie"),
        formats: JUNIE,
        nested: false,
        conflicts: Conflicts::FirstWins,
        ..BASE
    },
    Agent {
        name: "kilo",
        title: "Kilo Code",
        owns: Some("kilo"),
        formats: &[KILO, AGENTS_MD, AGENT_MD_ELSE],
        ..BASE
    },
    Agent {
        name: "kiro",
        title: "Kiro",
        owns: Some("kiro"),
        formats: &[KIRO, AGENTS_MD_EVERYWHERE],
        fires: "when a matching file is part of the conversation",
        ..BASE
    },
    Agent {
        name: "omp",
        title: "oh-my-pi",
        owns: Some("omp"),
        formats: &[OMP, XCSH_CURSOR, XCSH_WINDSURF, XCSH_CLINE],
        nested: false,
        conflicts: Conflicts::FirstWins,
        fires: "never: the paths are shown to the model, which may ask for the rule",
        ..BASE
    },
    Agent {
        name: "opencode",
        title: "opencode",
        formats: &[AGENTS_MD, OPENCODE_CLAUDE],
        fires: "for a folder, once a file below it was read",
        ..BASE
    },
    Agent {
        name: "openhands",
        title: "OpenHands",
        owns: Some("openhands"),
        formats: &[OPENHANDS, CURSORRULES, AGENTS_MD_IN_ANY_CASE, AGENT_MD],
        nested: false,
        ..BASE
    },
    Agent {
        name: "qoder",
        title: "Qoder",
        owns: Some("qoder"),
        formats: &[QODER, AGENTS_MD],
        nested: false,
        ..BASE
    },
    Agent {
        name: "qwen",
        title: "Qwen Code",
        owns: Some("qwen"),
        formats: &[QWEN, AGENTS_MD],
        nested: false,
        order: Order::UserFirst,
        fires: "once a session, when a matching file is read or edited",
        ..BASE
    },
    Agent {
        name: "roo",
        title: "Roo Code",
        owns: Some("roo"),
        formats: &[ROO, AGENTS_AND_LOCAL, AGENT_MD_ELSE],
        nested: false,
        order: Order::UserFirst,
        ..BASE
    },
    Agent { name: "trae", title: "Trae", owns: Some("trae"), formats: &[TRAE], nested: false, ..BASE },
    Agent {
        name: "warp",
        title: "Warp",
        owns: Some("warp"),
        formats: &[WARP, AGENTS_MD_IN_ANY_CASE],
        conflicts: Conflicts::FirstWins,
        fires: "for a folder, when work is done below it",
        ..BASE
    },
    Agent {
        name: "windsurf",
        title: "Windsurf",
        owns: Some("windsurf"),
        formats: &[DEVIN, WINDSURF, AGENTS_MD_IN_ANY_CASE],
        fires: "when a matching file is read or edited",
        ..BASE
    },
    Agent {
        name: "xcsh",
        title: "xcsh",
        owns: Some("xcsh"),
        formats: &[XCSH, XCSH_CURSOR, XCSH_WINDSURF, XCSH_CLINE],
        nested: false,
        conflicts: Conflicts::FirstWins,
        fires: "never: the paths are shown to the model, which may ask for the rule",
        ..BASE
    },
    Agent {
        name: "zed",
        title: "Zed",
        owns: Some("zed"),
        formats: ZED,
        nested: false,
        conflicts: Conflicts::FirstWins,
        ..BASE
    },
];
