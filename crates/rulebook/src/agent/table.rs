//! The table of agents: what each one reads, by its own keys, dialect and way of failing.

mod located;
mod ways;

use super::size_limits::is_agents_md;
use super::{Agent, Beyond, Conflicts, Nested, Order, Total, Unit};
use crate::format::Format;
use located::{
    AGENT_MD, AGENT_MD_ELSE, AGENTS_AND_LOCAL, AGENTS_LOCAL, AGENTS_MD, AGENTS_MD_AND_OWN, AGENTS_MD_AT_ROOT,
    AGENTS_MD_EVERYWHERE, AGENTS_MD_IN_ANY_CASE, AGENTS_OVERRIDE, AMP_AGENTS, CLAUDE_AS_AGENTS, CLAUDE_MD,
    CLAUDE_MD_AND_OWN, CLAUDE_MD_AT_ROOT, CODEX, COPILOT_AGENTS, CRUSH, CRUSH_AGENTS, DEEPAGENTS, FACTORY,
    FIREBASE, GEMINI, GEMINI_AS_TEXT, GEMINI_MD_AT_ROOT, GEMINI_MD_OF_ONE, GOOSE, HERMES, JUNIE, KIMI,
    OPENCODE_AGENTS, OPENCODE_CLAUDE_OF_ONE, REASONIX, REPLIT, ROO, ROVO, WARP, WARP_AGENTS, ZED,
};
use ways::{
    AMAZON_Q, ANTIGRAVITY, AUGMENT, AUGMENT_OWN, CLAUDE, CLAUDE_AGENTS, CLAUDE_RULES,
    CLAUDE_RULES_AS_COPILOT, CLINE, CLINE_CURSOR, CLINE_SDK, CODEBUDDY, CODY, CONTINUE, COPILOT_CLI,
    COPILOT_GITHUB, COPILOT_INSTRUCTIONS, COPILOT_VSCODE, CURSOR, CURSOR_RAW, CURSORRULES, DEVIN, DEVIN_CLI,
    DEVIN_CURSOR, FIREBENDER, GROK, JETBRAINS, KILO, KIRO, KIRO_OWN, LINGMA, OMP, OPENCODE_CLAUDE, OPENHANDS,
    QODER, QWEN, TABNINE, TRAE, WINDSURF, WINDSURF_GLOBAL, WINDSURFRULES, XCSH, XCSH_CLINE, XCSH_CURSOR,
    XCSH_WINDSURF,
};

/// An agent that keeps everything it reads, workspace first, and looks into folders.
const BASE: Agent = Agent {
    name: "",
    title: "",
    owns: None,
    formats: &[],
    nested: Nested::Read,
    conflicts: Conflicts::KeepAll,
    order: Order::WorkspaceFirst,
    total: None,
    fires: "",
};

/// An agent of which no more is known than where its own files lie and how they are read.
const fn little_known(name: &'static str, title: &'static str, formats: &'static [Format]) -> Agent {
    Agent { name, title, owns: Some(name), formats, nested: Nested::Undocumented, ..BASE }
}

/// Every agent whose way of reading is known; sorted by name.
pub static AGENTS: &[Agent] = &[
    Agent {
        name: "amazonq",
        title: "Amazon Q",
        owns: Some("amazonq"),
        formats: &[AMAZON_Q, AGENTS_MD],
        nested: Nested::Unread,
        ..BASE
    },
    Agent {
        name: "amp",
        title: "Amp",
        formats: &[AMP_AGENTS, AGENT_MD, CLAUDE_AS_AGENTS],
        conflicts: Conflicts::FirstWins,
        fires: "for a folder, once a file below it was read",
        ..BASE
    },
    Agent {
        name: "antigravity",
        title: "Antigravity",
        owns: Some("antigravity"),
        formats: &[ANTIGRAVITY, AGENTS_MD, GEMINI_MD_OF_ONE],
        nested: Nested::Undocumented,
        ..BASE
    },
    Agent {
        name: "augment",
        title: "Augment",
        owns: Some("augment"),
        formats: &[CLAUDE_MD, AGENTS_MD, AUGMENT, AUGMENT_OWN],
        total: Some(Total {
            limit: 49_512,
            unit: Unit::Characters,
            counts: |rule| rule.origin.format.name == "augment",
            beyond: Beyond::LeftOut("manual rules are left out first, guidelines last"),
        }),
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
        formats: &[CLINE, CLINE_CURSOR, WINDSURFRULES, AGENTS_MD_AND_OWN],
        nested: Nested::Unread,
        fires: "for paths in the message, in open tabs, and those it edits",
        ..BASE
    },
    Agent {
        name: "cline-sdk",
        title: "Cline's command line and its newer core",
        owns: Some("cline-sdk"),
        formats: &[CLINE_SDK, AGENTS_MD_AND_OWN],
        nested: Nested::Unread,
        fires: "never: it does not look at paths",
        ..BASE
    },
    little_known("codebuddy", "CodeBuddy", &[CODEBUDDY]),
    Agent {
        name: "codex",
        title: "Codex",
        owns: Some("codex"),
        formats: &[CODEX, AGENTS_MD],
        nested: Nested::Unread,
        conflicts: Conflicts::FirstWins,
        order: Order::UserFirst,
        total: Some(Total { limit: 32 << 10, unit: Unit::Bytes, counts: is_agents_md, beyond: Beyond::Cut }),
        fires: "at the start, from the root down to where it was started",
    },
    Agent { name: "cody", title: "Cody", owns: Some("cody"), formats: &[CODY], ..BASE },
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
        formats: &[COPILOT_CLI, CLAUDE_RULES_AS_COPILOT, COPILOT_AGENTS, CLAUDE_MD, GEMINI_AS_TEXT],
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
        nested: Nested::Unread,
        fires: "when a matching file is attached to the request; otherwise the file is listed to the model",
        ..BASE
    },
    Agent {
        name: "crush",
        title: "Crush",
        owns: Some("crush"),
        formats: &[COPILOT_INSTRUCTIONS, CURSOR_RAW, CLAUDE_MD, GEMINI_MD_AT_ROOT, CRUSH, CRUSH_AGENTS],
        nested: Nested::Unread,
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
        name: "cursor-cli",
        title: "Cursor's command line",
        formats: &[CURSOR, AGENTS_MD_AT_ROOT, CLAUDE_MD_AT_ROOT],
        fires: "when a matching file is in context; which reads and writes count is documented nowhere",
        ..BASE
    },
    little_known("deepagents", "deepagents", &[DEEPAGENTS]),
    Agent {
        name: "devin",
        title: "Devin's command line",
        owns: Some("devin"),
        formats: &[
            DEVIN_CLI,
            WINDSURF_GLOBAL,
            WINDSURF,
            DEVIN_CURSOR,
            CLAUDE_RULES,
            AGENTS_AND_LOCAL,
            AGENT_MD,
            CLAUDE_MD_AND_OWN,
        ],
        fires: "when a matching file is read or edited",
        ..BASE
    },
    Agent {
        name: "factory",
        title: "Factory Droid",
        owns: Some("factory"),
        formats: &[FACTORY, AGENTS_MD],
        ..BASE
    },
    little_known("firebase", "Firebase Studio", &[FIREBASE]),
    little_known("firebender", "Firebender", &[FIREBENDER]),
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
        formats: &[GOOSE, AGENTS_MD_AND_OWN],
        order: Order::UserFirst,
        fires: "for a folder, once a tool call named a path below it",
        ..BASE
    },
    little_known("grok", "Grok CLI", &[GROK]),
    Agent {
        name: "hermes",
        title: "Hermes",
        owns: Some("hermes"),
        formats: HERMES,
        nested: Nested::Undocumented,
        conflicts: Conflicts::FirstWins,
        ..BASE
    },
    little_known("jetbrains", "JetBrains AI Assistant", &[JETBRAINS]),
    Agent { name: "jules", title: "Jules", formats: &[AGENTS_MD], ..BASE },
    Agent {
        name: "junie",
        title: "Junie",
        owns: Some("junie"),
        formats: JUNIE,
        nested: Nested::Unread,
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
    little_known("kimi", "Kimi", &[KIMI]),
    Agent {
        name: "kiro",
        title: "Kiro",
        owns: Some("kiro"),
        formats: &[KIRO, KIRO_OWN, AGENTS_MD_EVERYWHERE],
        fires: "when a matching file is part of the conversation",
        ..BASE
    },
    little_known("lingma", "Lingma", &[LINGMA]),
    Agent {
        name: "omp",
        title: "oh-my-pi",
        owns: Some("omp"),
        formats: &[OMP, XCSH_CURSOR, XCSH_WINDSURF, XCSH_CLINE],
        nested: Nested::Unread,
        conflicts: Conflicts::FirstWins,
        fires: "never: the paths are shown to the model, which may ask for the rule",
        ..BASE
    },
    Agent {
        name: "opencode",
        title: "opencode",
        formats: &[OPENCODE_AGENTS, OPENCODE_CLAUDE, OPENCODE_CLAUDE_OF_ONE],
        fires: "for a folder, once a file below it was read",
        ..BASE
    },
    Agent {
        name: "openhands",
        title: "OpenHands",
        owns: Some("openhands"),
        formats: &[OPENHANDS, CURSORRULES, AGENTS_MD_IN_ANY_CASE, AGENT_MD],
        nested: Nested::Unread,
        ..BASE
    },
    Agent {
        name: "pi",
        title: "Pi",
        formats: &[AGENTS_OVERRIDE, AGENTS_MD, CLAUDE_AS_AGENTS],
        nested: Nested::Undocumented,
        conflicts: Conflicts::FirstWins,
        ..BASE
    },
    Agent {
        name: "qoder",
        title: "Qoder",
        owns: Some("qoder"),
        formats: &[QODER, AGENTS_MD],
        nested: Nested::Undocumented,
        total: Some(Total {
            limit: 100_000,
            unit: Unit::Characters,
            counts: |rule| rule.origin.format.name == "qoder",
            beyond: Beyond::Cut,
        }),
        ..BASE
    },
    Agent {
        name: "qwen",
        title: "Qwen Code",
        owns: Some("qwen"),
        formats: &[QWEN, AGENTS_MD],
        nested: Nested::Unread,
        order: Order::UserFirst,
        fires: "once a session, when a matching file is read or edited",
        ..BASE
    },
    Agent { name: "reasonix", title: "Reasonix", owns: Some("reasonix"), formats: &[REASONIX], ..BASE },
    little_known("replit", "Replit", &[REPLIT]),
    Agent {
        name: "roo",
        title: "Roo Code",
        owns: Some("roo"),
        formats: ROO,
        nested: Nested::Unread,
        order: Order::UserFirst,
        ..BASE
    },
    little_known("rovo", "Rovo Dev", &[ROVO, AGENTS_LOCAL]),
    little_known("tabnine", "Tabnine", &[TABNINE]),
    little_known("trae", "Trae", &[TRAE]),
    Agent {
        name: "warp",
        title: "Warp",
        owns: Some("warp"),
        formats: &[WARP, WARP_AGENTS],
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
        nested: Nested::Unread,
        conflicts: Conflicts::FirstWins,
        fires: "never: the paths are shown to the model, which may ask for the rule",
        ..BASE
    },
    Agent {
        name: "zed",
        title: "Zed",
        owns: Some("zed"),
        formats: ZED,
        nested: Nested::Unread,
        conflicts: Conflicts::FirstWins,
        ..BASE
    },
];
