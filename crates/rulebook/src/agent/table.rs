//! The table of agents: what each one reads, and how.

mod base;
mod limits;
mod located;
mod own;
mod pipeline;
mod readings;
mod skills;

use super::row::{Agent, Arrival, Conflicts, Ignored, Nested, Order};
use crate::format::{FormatId, formats};
use base::{BASE, known, little_known};
use limits::{AUGMENT_LIMIT, CODEX_LIMIT, QODER_LIMIT};
use located::{
    AGENT_MD, AGENT_MD_AT_ROOT_ELSE, AGENT_MD_ELSE, AGENTS_AND_LOCAL, AGENTS_LOCAL, AGENTS_MD,
    AGENTS_MD_AND_OWN, AGENTS_MD_AT_ROOT, AGENTS_MD_EVERYWHERE, AGENTS_MD_IN_ANY_CASE, AGENTS_OVERRIDE,
    AIDER, AMP_AGENTS, CLAUDE_AS_AGENTS, CLAUDE_MD, CLAUDE_MD_AND_OWN, CLAUDE_MD_AT_ROOT,
    CLAUDE_MD_AT_ROOT_ELSE, CODEX, COPILOT_AGENTS, CRUSH, CRUSH_AGENTS, DEEPAGENTS, FACTORY, FIREBASE,
    GEMINI, GEMINI_AS_TEXT, GEMINI_MD_AT_ROOT, GEMINI_MD_OF_ONE, GOOSE, HERMES, JUNIE, KIMI, OPENCODE_AGENTS,
    OPENCODE_CLAUDE_OF_ONE, OPENCODE_NAMED, REASONIX, REPLIT, ROO, ROVO, WARP, WARP_AGENTS, ZED,
};
use pipeline::{OMP_ALL, XCSH, XCSH_CLINE, XCSH_CURSOR, XCSH_WINDSURF};
use readings::{
    AMAZON_Q, ANTIGRAVITY, AUGMENT, AUGMENT_OWN, CLAUDE, CLAUDE_AGENTS, CLAUDE_RULES,
    CLAUDE_RULES_AS_COPILOT, CLAUDE_RULES_AS_COPILOT_CLI, CLINE, CLINE_CURSOR, CLINE_SDK, CODEBUDDY, CODY,
    CONTINUE, COPILOT_CLI, COPILOT_GITHUB, COPILOT_INSTRUCTIONS, COPILOT_VSCODE, CURSOR, CURSOR_RAW,
    CURSORRULES, DEVIN, DEVIN_CLI, DEVIN_CURSOR, FIREBENDER, GROK, JETBRAINS, KILO, KIRO, KIRO_OWN, LINGMA,
    OPENCODE_CLAUDE, OPENHANDS, QODER, QWEN, QWEN_AGENTS, TABNINE, TRAE, VSCODE_AGENTS, VSCODE_CLAUDE,
    WINDSURF, WINDSURF_GLOBAL, WINDSURFRULES,
};
use skills::{
    AMP_SKILLS, ANTIGRAVITY_SKILLS, CLAUDE_SKILLS, CLINE_SKILLS, CODEX_SKILLS, COPILOT_GITHUB_SKILLS,
    COPILOT_SKILLS, CURSOR_SKILLS, DEVIN_SKILLS, FACTORY_SKILLS, GEMINI_SKILLS, GOOSE_SKILLS, KILO_SKILLS,
    KIRO_SKILLS, OPENCODE_SKILLS, PI_SKILLS, QWEN_SKILLS, WINDSURF_SKILLS, with_any_name,
};

/// Every agent, sorted by name.
pub static AGENTS: &[Agent] = &[
    Agent { offers_tools: false, ..little_known(FormatId::Aider, "Aider", formats![AIDER]) },
    Agent {
        name: "amazonq",
        title: "Amazon Q",
        owns: Some(FormatId::AmazonQ),
        formats: formats![AMAZON_Q, AGENTS_MD],
        nested: Nested::Unread,
        ..BASE
    },
    Agent {
        name: "amp",
        title: "Amp",
        formats: formats![AMP_AGENTS, AGENT_MD, CLAUDE_AS_AGENTS, AMP_SKILLS],
        conflicts: Conflicts::FirstWins,
        path_rules: "for a folder, once a file below it is read",
        ..BASE
    },
    Agent {
        name: "antigravity",
        title: "Antigravity",
        owns: Some(FormatId::Antigravity),
        formats: formats![ANTIGRAVITY, AGENTS_MD, GEMINI_MD_OF_ONE, ANTIGRAVITY_SKILLS],
        nested: Nested::Undocumented,
        ..BASE
    },
    Agent {
        name: "augment",
        title: "Augment",
        owns: Some(FormatId::Augment),
        formats: formats![CLAUDE_MD, AGENTS_MD, AUGMENT, AUGMENT_OWN],
        nested: Nested::Located,
        limit: Some(AUGMENT_LIMIT),
        ..BASE
    },
    Agent {
        name: "claude",
        title: "Claude Code",
        owns: Some(FormatId::Claude),
        formats: formats![CLAUDE, CLAUDE_AGENTS, CLAUDE_SKILLS],
        follows_links: true,
        order: Order::UserFirst,
        path_rules: "when a matching file is read or mentioned, but not when one is written",
        arrival: Arrival::NestedFirst,
        ..BASE
    },
    Agent {
        name: "cline",
        title: "Cline in VS Code",
        owns: Some(FormatId::Cline),
        formats: formats![CLINE, CLINE_CURSOR, WINDSURFRULES, AGENTS_MD_AND_OWN, CLINE_SKILLS],
        nested: Nested::Unread,
        is_for_first_root: true,
        path_rules: "for paths in the message, open tabs and files that it edits",
        arrival: Arrival::AtStart,
        ..BASE
    },
    Agent {
        name: "cline-cli",
        title: "Cline CLI",
        owns: Some(FormatId::ClineSdk),
        formats: formats![CLINE_SDK, AGENTS_MD_AND_OWN, with_any_name(&CLINE_SKILLS)],
        nested: Nested::Unread,
        is_for_first_root: true,
        path_rules: "never: it ignores paths",
        ..BASE
    },
    little_known(FormatId::CodeBuddy, "CodeBuddy", formats![CODEBUDDY]),
    Agent {
        name: "codex",
        title: "Codex",
        owns: Some(FormatId::Codex),
        formats: formats![CODEX, AGENTS_MD, CODEX_SKILLS],
        nested: Nested::Unread,
        is_for_first_root: false,
        conflicts: Conflicts::FirstWins,
        order: Order::UserFirst,
        limit: Some(CODEX_LIMIT),
        path_rules: "at the start, from the root down to the folder where it is started",
        ..BASE
    },
    known(FormatId::Cody, "Cody", formats![CODY]),
    Agent {
        name: "continue",
        title: "Continue",
        owns: Some(FormatId::Continue),
        formats: formats![CONTINUE, AGENTS_MD_AT_ROOT, AGENT_MD_AT_ROOT_ELSE, CLAUDE_MD_AT_ROOT_ELSE],
        path_rules: "for files attached to the message",
        arrival: Arrival::AtStart,
        ..BASE
    },
    Agent {
        name: "copilot-cli",
        title: "Copilot CLI",
        formats: formats![
            COPILOT_CLI,
            CLAUDE_RULES_AS_COPILOT_CLI,
            COPILOT_AGENTS,
            CLAUDE_MD,
            GEMINI_AS_TEXT,
            COPILOT_SKILLS
        ],
        path_rules: "after a matching file is viewed",
        arrival: Arrival::NestedLast,
        ..BASE
    },
    Agent {
        name: "copilot-github",
        title: "Copilot on github.com",
        formats: formats![
            COPILOT_GITHUB,
            AGENTS_MD,
            CLAUDE_MD_AT_ROOT,
            GEMINI_MD_AT_ROOT,
            COPILOT_GITHUB_SKILLS
        ],
        nested: Nested::Located,
        ..BASE
    },
    Agent {
        name: "copilot-vscode",
        title: "Copilot in VS Code",
        owns: Some(FormatId::Copilot),
        formats: formats![
            COPILOT_VSCODE,
            CLAUDE_RULES_AS_COPILOT,
            VSCODE_AGENTS,
            VSCODE_CLAUDE,
            COPILOT_SKILLS
        ],
        nested: Nested::Unread,
        path_rules: "when a matching file is attached to the request; otherwise the rule is offered to the model",
        ..BASE
    },
    Agent {
        name: "crush",
        title: "Crush",
        owns: Some(FormatId::Crush),
        formats: formats![
            COPILOT_INSTRUCTIONS,
            CURSOR_RAW,
            CLAUDE_MD,
            GEMINI_MD_AT_ROOT,
            CRUSH,
            CRUSH_AGENTS
        ],
        nested: Nested::Unread,
        ..BASE
    },
    Agent {
        name: "cursor",
        title: "Cursor",
        owns: Some(FormatId::Cursor),
        formats: formats![CURSOR, AGENTS_MD, CURSOR_SKILLS],
        path_rules: "when a matching file is in context; which reads and writes count is not documented",
        ..BASE
    },
    Agent {
        name: "cursor-cli",
        title: "Cursor CLI",
        formats: formats![CURSOR, AGENTS_MD_AT_ROOT, CLAUDE_MD_AT_ROOT, with_any_name(&CURSOR_SKILLS)],
        path_rules: "when a matching file is in context; which reads and writes count is not documented",
        ..BASE
    },
    little_known(FormatId::DeepAgents, "deepagents", formats![DEEPAGENTS]),
    Agent {
        name: "devin",
        title: "Devin CLI",
        owns: Some(FormatId::Devin),
        formats: formats![
            DEVIN_CLI,
            WINDSURF_GLOBAL,
            WINDSURF,
            DEVIN_CURSOR,
            CLAUDE_RULES,
            AGENTS_AND_LOCAL,
            AGENT_MD,
            CLAUDE_MD_AND_OWN,
            DEVIN_SKILLS
        ],
        path_rules: "when a matching file is read or edited",
        ..BASE
    },
    known(FormatId::Factory, "Factory Droid", formats![FACTORY, AGENTS_MD, FACTORY_SKILLS]),
    little_known(FormatId::Firebase, "Firebase Studio", formats![FIREBASE]),
    little_known(FormatId::Firebender, "Firebender", formats![FIREBENDER]),
    Agent {
        name: "gemini",
        title: "Gemini CLI",
        owns: Some(FormatId::Gemini),
        formats: formats![GEMINI, GEMINI_SKILLS],
        order: Order::UserFirst,
        path_rules: "for a folder, once a file below it is read or written",
        ..BASE
    },
    Agent {
        name: "goose",
        title: "Goose",
        owns: Some(FormatId::Goose),
        formats: formats![GOOSE, AGENTS_MD_AND_OWN, GOOSE_SKILLS],
        order: Order::UserFirst,
        path_rules: "for a folder, once a tool call names a path below it",
        ..BASE
    },
    little_known(FormatId::Grok, "Grok CLI", formats![GROK]),
    Agent {
        name: "hermes",
        title: "Hermes",
        owns: Some(FormatId::Hermes),
        formats: HERMES,
        nested: Nested::Undocumented,
        conflicts: Conflicts::FirstWins,
        ..BASE
    },
    little_known(FormatId::JetBrains, "JetBrains AI Assistant", formats![JETBRAINS]),
    Agent { name: "jules", title: "Jules", formats: formats![AGENTS_MD], ..BASE },
    Agent {
        name: "junie",
        title: "Junie",
        owns: Some(FormatId::Junie),
        formats: JUNIE,
        nested: Nested::Unread,
        conflicts: Conflicts::FirstWins,
        ..BASE
    },
    Agent {
        name: "kilo",
        title: "Kilo Code",
        owns: Some(FormatId::Kilo),
        formats: formats![KILO, AGENTS_MD, AGENT_MD_ELSE, KILO_SKILLS],
        nested: Nested::Located,
        ..BASE
    },
    little_known(FormatId::Kimi, "Kimi", formats![KIMI]),
    Agent {
        name: "kiro",
        title: "Kiro",
        owns: Some(FormatId::Kiro),
        formats: formats![KIRO, KIRO_OWN, AGENTS_MD_EVERYWHERE, KIRO_SKILLS],
        nested: Nested::Located,
        path_rules: "when a matching file is part of the conversation",
        ..BASE
    },
    little_known(FormatId::Lingma, "Lingma", formats![LINGMA]),
    Agent {
        name: "omp",
        title: "oh-my-pi",
        owns: Some(FormatId::Omp),
        formats: OMP_ALL,
        nested: Nested::Unread,
        conflicts: Conflicts::FirstWins,
        order: Order::ByFormat,
        path_rules: "never: the paths are shown to the model, which can request the rule",
        ..BASE
    },
    Agent {
        name: "opencode",
        title: "opencode",
        formats: formats![
            OPENCODE_AGENTS,
            OPENCODE_CLAUDE,
            OPENCODE_CLAUDE_OF_ONE,
            OPENCODE_NAMED,
            OPENCODE_SKILLS
        ],
        ignores: Some(Ignored {
            format: FormatId::Opencode,
            reads: "`AGENTS.md` and the files that `instructions` in opencode.json names",
            remedy: "add `.opencode/rules/**/*.md` to `instructions` in opencode.json, or run `rulebook install opencode`",
        }),
        conflicts: Conflicts::FirstWins,
        path_rules: "for a folder, once a file below it is read",
        ..BASE
    },
    Agent {
        name: "openhands",
        title: "OpenHands",
        owns: Some(FormatId::OpenHands),
        formats: formats![OPENHANDS, CURSORRULES, AGENTS_MD_IN_ANY_CASE, AGENT_MD],
        nested: Nested::Unread,
        ..BASE
    },
    Agent {
        name: "pi",
        title: "Pi",
        formats: formats![AGENTS_OVERRIDE, AGENTS_MD, CLAUDE_AS_AGENTS, PI_SKILLS],
        nested: Nested::Undocumented,
        conflicts: Conflicts::FirstWins,
        ..BASE
    },
    Agent {
        name: "qoder",
        title: "Qoder",
        owns: Some(FormatId::Qoder),
        formats: formats![QODER, AGENTS_MD],
        nested: Nested::Undocumented,
        limit: Some(QODER_LIMIT),
        ..BASE
    },
    Agent {
        name: "qwen",
        title: "Qwen Code",
        owns: Some(FormatId::Qwen),
        formats: formats![QWEN, QWEN_AGENTS, QWEN_SKILLS],
        nested: Nested::Unread,
        order: Order::UserFirst,
        path_rules: "once per session, when a matching file is read or edited",
        ..BASE
    },
    known(FormatId::Reasonix, "Reasonix", formats![REASONIX]),
    little_known(FormatId::Replit, "Replit", formats![REPLIT]),
    Agent {
        name: "roo",
        title: "Roo Code",
        owns: Some(FormatId::Roo),
        formats: ROO,
        nested: Nested::Unread,
        order: Order::UserFirst,
        ..BASE
    },
    little_known(FormatId::Rovo, "Rovo Dev", formats![ROVO, AGENTS_LOCAL]),
    little_known(FormatId::Tabnine, "Tabnine", formats![TABNINE]),
    little_known(FormatId::Trae, "Trae", formats![TRAE]),
    Agent {
        name: "warp",
        title: "Warp",
        owns: Some(FormatId::Warp),
        formats: formats![WARP, WARP_AGENTS],
        conflicts: Conflicts::FirstWins,
        path_rules: "for a folder, when the agent works on files below it",
        ..BASE
    },
    Agent {
        name: "windsurf",
        title: "Windsurf",
        owns: Some(FormatId::Windsurf),
        formats: formats![DEVIN, WINDSURF, AGENTS_MD_IN_ANY_CASE, WINDSURF_SKILLS],
        path_rules: "when a matching file is read or edited",
        ..BASE
    },
    Agent {
        name: "xcsh",
        title: "xcsh",
        owns: Some(FormatId::Xcsh),
        formats: formats![XCSH, XCSH_CURSOR, XCSH_WINDSURF, XCSH_CLINE],
        nested: Nested::Unread,
        conflicts: Conflicts::FirstWins,
        order: Order::ByFormat,
        path_rules: "never: the paths are shown to the model, which can request the rule",
        ..BASE
    },
    Agent {
        name: "zed",
        title: "Zed",
        owns: Some(FormatId::Zed),
        formats: ZED,
        nested: Nested::Unread,
        conflicts: Conflicts::FirstWins,
        ..BASE
    },
];
