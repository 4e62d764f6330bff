//! Formats of every other agent with rule folders.

use super::designs::{RULEBOOK, TRIGGER};
use crate::condition::FILTERS;
use crate::format::place::{MARKDOWN, MD_AND_MDC, file, folder, located};
use crate::format::{
    ActivationKey, Bare, Base, Broken, Confidence, Config, ConfigEffect, Depth, Everything, Format, FormatId,
    Keys, Lists, Place, PlaceKind, Repeats, SameId, StatedActivation,
};
use crate::frontmatter::Tier;
use crate::glob::{Dialect, Exclusions};

/// What they have in common: Markdown files with headers, read as forgivingly as possible.
pub(super) const OTHER: Format = Format {
    priority: Some(30),
    tier: Some(Tier::Lines),
    broken: Broken::Bare,
    bare: Bare::Always,
    not_always: Some(Bare::OfferedElseManual),
    keys: Keys::Plain,
    same_id: SameId::FirstWins,
    ..RULEBOOK
};

/// Cursor's four kinds of rules, with Cursor's keys.
const LIKE_CURSOR: Format = Format {
    bare: Bare::OfferedElseManual,
    paths_key: "globs",
    unquoted: true,
    confidence: Confidence::Medium,
    ..OTHER
};

/// Files without a header.
pub(crate) const RAW: Format = Format { tier: None, ..OTHER };

pub(crate) const CLAUDE: Format = Format {
    id: FormatId::Claude,
    agent: "Claude Code",
    workspace: &[
        folder(Base::Root, ".claude/rules", MARKDOWN, Depth::Recursive),
        located(Base::Root, "CLAUDE.md", "claude"),
        file(Base::Root, ".claude/CLAUDE.md", "claude@.claude"),
        located(Base::Root, "CLAUDE.local.md", "claude.local"),
    ],
    user: &[
        folder(Base::Home, ".claude/rules", MARKDOWN, Depth::Recursive),
        located(Base::Home, ".claude/CLAUDE.md", "claude"),
        file(Base::System, "etc/claude-code/CLAUDE.md", "claude@system"),
        file(Base::System, "Library/Application Support/ClaudeCode/CLAUDE.md", "claude@system"),
        file(Base::System, "Program Files/ClaudeCode/CLAUDE.md", "claude@system"),
    ],
    lists: Lists::Deep,
    agent_ignores: &["alwaysApply", "description", "globs"],
    repeats: Repeats::Last,
    dialect: Dialect::Claude,
    imports: 4,
    rules_import: true,
    advised: Some(200),
    knowledge: "its documentation of version 2.1.283, and observation",
    ..OTHER
};

pub(crate) const COPILOT: Format = Format {
    id: FormatId::Copilot,
    agent: "Copilot",
    workspace: &[
        folder(Base::Root, ".github/instructions", &["instructions.md"], Depth::Recursive),
        file(Base::Root, ".github/copilot-instructions.md", "copilot-instructions"),
    ],
    user: &[
        folder(Base::Home, ".copilot/instructions", &["instructions.md"], Depth::Recursive),
        file(Base::Home, ".copilot/copilot-instructions.md", "copilot-instructions@~"),
    ],
    configs: &[Config::new(
        ConfigEffect::Folders,
        Base::Top,
        ".vscode/settings.json",
        &["chat.instructionsFilesLocations"],
    )],
    bare: Bare::OfferedElseManual,
    everything: Everything::Any(&["**", "**/*", "*"]),
    paths_key: "applyTo",
    inert: &["excludeAgent", "name"],
    // The last one is an older spelling of the second.
    sets: &[("excludeAgent", &["code-review", "cloud-agent", "coding-agent"])],
    unquoted: true,
    dialect: Dialect::VsCode,
    advised: Some(1_000),
    knowledge: "the source of VS Code and GitHub's documentation; github.com and the CLI use other glob dialects",
    ..OTHER
};

pub(crate) const DEVIN: Format = Format {
    id: FormatId::Devin,
    agent: "Devin",
    workspace: &[
        folder(Base::Root, ".devin/rules", MARKDOWN, Depth::Flat),
        file(Base::Root, ".devin/global_rules.md", "devin-global-rules"),
    ],
    user: &[
        folder(Base::Home, ".devin/rules", MARKDOWN, Depth::Flat),
        file(Base::Home, ".devin/global_rules.md", "devin-global-rules@~"),
        file(Base::Config, "devin/AGENTS.md", "agents@devin"),
        folder(Base::System, "etc/devin/rules", MARKDOWN, Depth::Flat),
        folder(Base::System, "Library/Application Support/Devin/rules", MARKDOWN, Depth::Flat),
        folder(Base::System, "ProgramData/Devin/rules", MARKDOWN, Depth::Flat),
    ],
    bare: Bare::OfferedElseAlways,
    paths_key: "globs",
    modes: Some(ActivationKey {
        words: &[
            ("always_on", StatedActivation::Always),
            ("glob", StatedActivation::Glob),
            ("model_decision", StatedActivation::Offered),
            ("agent", StatedActivation::Offered),
            ("manual", StatedActivation::Manual),
        ],
        ..TRIGGER
    }),
    unquoted: true,
    limit: Some(12_000),
    knowledge: "its documentation",
    ..OTHER
};

pub(crate) const ANTIGRAVITY: Format = Format {
    id: FormatId::Antigravity,
    agent: "Antigravity",
    workspace: &[
        folder(Base::Root, ".agents/rules", MARKDOWN, Depth::Flat),
        folder(Base::Root, ".agent/rules", MARKDOWN, Depth::Flat),
    ],
    user: &[],
    bare: Bare::OfferedElseAlways,
    modes: Some(TRIGGER),
    limit: Some(12_000),
    knowledge: "what other tools generate for it",
    ..LIKE_CURSOR
};

pub(crate) const KIRO: Format = Format {
    id: FormatId::Kiro,
    agent: "Kiro",
    workspace: &[folder(Base::Root, ".kiro/steering", MARKDOWN, Depth::Recursive)],
    user: &[folder(Base::Home, ".kiro/steering", MARKDOWN, Depth::Recursive)],
    paths_key: "fileMatchPattern",
    modes: Some(ActivationKey {
        key: "inclusion",
        words: &[
            ("always", StatedActivation::Always),
            ("fileMatch", StatedActivation::Glob),
            ("auto", StatedActivation::Offered),
            ("manual", StatedActivation::Manual),
        ],
        unsaid: None,
        offered_by: &["name", "description"],
    }),
    inert: &["name"],
    agent_ignores: &["alwaysApply"],
    dialect: Dialect::Minimatch,
    knowledge: "its documentation as of September 2026, and its issues",
    ..OTHER
};

pub(crate) const AUGMENT: Format = Format {
    id: FormatId::Augment,
    agent: "Augment",
    workspace: &[
        folder(Base::Root, ".augment/rules", &["md", "mdx"], Depth::Recursive),
        file(Base::Root, ".augment-guidelines", "augment-guidelines"),
        file(Base::Root, ".augment/guidelines.md", "augment-guidelines"),
    ],
    user: &[
        folder(Base::Home, ".augment/rules", &["md", "mdx"], Depth::Recursive),
        file(Base::Home, ".augment/user-guidelines.md", "augment-guidelines@~").within(24_576),
    ],
    modes: Some(ActivationKey {
        key: "type",
        words: &[
            ("always_apply", StatedActivation::Always),
            ("agent_requested", StatedActivation::Offered),
            ("manual", StatedActivation::Manual),
        ],
        unsaid: None,
        offered_by: &["description"],
    }),
    agent_ignores: &["alwaysApply", "globs", "paths"],
    everything: Everything::All(&["**", "**/*", "*"]),
    knowledge: "its documentation",
    ..OTHER
};

pub(crate) const AMAZON_Q: Format = Format {
    id: FormatId::AmazonQ,
    agent: "Amazon Q",
    workspace: &[
        folder(Base::Root, ".amazonq/rules", MARKDOWN, Depth::Recursive),
        file(Base::Root, "AmazonQ.md", "amazonq"),
    ],
    user: &[],
    knowledge: "its source and documentation",
    ..RAW
};

/// What Cline's newer core reads. It applies everything always.
pub(crate) const CLINE_SDK: Format = Format {
    id: FormatId::ClineSdk,
    agent: "Cline",
    workspace: &[folder(Base::Root, ".cline/rules", &["md", "markdown", "txt"], Depth::Flat)],
    user: &[folder(Base::Home, ".cline/rules", &["md", "markdown", "txt"], Depth::Flat)],
    inert: &["disabled", "name"],
    agent_ignores: &["alwaysApply", "description", "globs", "paths"],
    knowledge: "its source",
    ..OTHER
};

pub(crate) const CONTINUE: Format = Format {
    id: FormatId::Continue,
    agent: "Continue",
    workspace: &[
        folder(Base::Root, ".continue/rules", MARKDOWN, Depth::Recursive),
        file(Base::Root, ".continuerules", "continuerules"),
        Place::new(Base::Root, "rules.md", PlaceKind::Located { id: "rules", is_raw: false })
            .if_used(&[".continue", ".continuerules"]),
    ],
    user: &[folder(Base::Home, ".continue/rules", MARKDOWN, Depth::Recursive)],
    paths_key: "globs",
    aliases: &[("invokable", "called"), ("regex", "content")],
    inert: &["name"],
    dialect: Dialect::Minimatch,
    exclusions: Exclusions::Excluded,
    knowledge: "its source",
    ..OTHER
};

pub(crate) const QWEN: Format = Format {
    id: FormatId::Qwen,
    agent: "Qwen Code",
    workspace: &[
        folder(Base::Root, ".qwen/rules", MARKDOWN, Depth::Recursive),
        located(Base::Root, "QWEN.md", "qwen"),
        file(Base::Root, ".qwen/QWEN.local.md", "qwen.local"),
    ],
    user: &[
        folder(Base::Home, ".qwen/rules", MARKDOWN, Depth::Recursive),
        located(Base::Home, ".qwen/QWEN.md", "qwen"),
    ],
    configs: &[
        Config::new(ConfigEffect::OnlyNames, Base::Top, ".qwen/settings.json", &["context", "fileName"]),
        Config::new(ConfigEffect::OnlyNames, Base::Home, ".qwen/settings.json", &["context", "fileName"]),
    ],
    agent_ignores: &["alwaysApply", "globs"],
    knowledge: "the source of version 0.15.10, and observation",
    ..OTHER
};

/// A rule plugin of opencode.
pub(crate) const OMO: Format = Format {
    id: FormatId::Omo,
    agent: "oh-my-opencode",
    workspace: &[folder(Base::Root, ".omo/rules", MD_AND_MDC, Depth::Recursive)],
    user: &[],
    bare: Bare::OfferedElseAlways,
    aliases: &[("applyTo", "globs"), ("paths", "globs")],
    knowledge: "its source",
    ..LIKE_CURSOR
};

pub(crate) const OPENHANDS: Format = Format {
    id: FormatId::OpenHands,
    agent: "OpenHands",
    workspace: &[
        folder(Base::Root, ".openhands/microagents", MARKDOWN, Depth::Recursive),
        file(Base::Root, ".openhands_instructions", "openhands-instructions"),
    ],
    user: &[],
    aliases: &[("inputs", "called"), ("triggers", "keywords")],
    inert: &["agent", "mcp_tools", "name", "type", "version"],
    agent_ignores: &["alwaysApply", "description", "globs", "paths"],
    knowledge: "its source",
    ..OTHER
};

pub(crate) const JETBRAINS: Format = Format {
    id: FormatId::JetBrains,
    agent: "JetBrains AI Assistant",
    workspace: &[folder(Base::Root, ".aiassistant/rules", MARKDOWN, Depth::Flat)],
    user: &[],
    bare: Bare::Always,
    paths_key: "patterns",
    modes: Some(ActivationKey {
        key: "apply",
        words: &[
            ("always", StatedActivation::Always),
            ("by file patterns", StatedActivation::Glob),
            ("by model decision", StatedActivation::Offered),
            ("manually", StatedActivation::Manual),
            ("off", StatedActivation::Off),
        ],
        unsaid: None,
        offered_by: &["description"],
    }),
    aliases: &[("instructions", "description")],
    agent_ignores: &["alwaysApply"],
    knowledge: "its documentation and real files",
    ..LIKE_CURSOR
};

pub(crate) const TRAE: Format = Format {
    id: FormatId::Trae,
    agent: "Trae",
    workspace: &[folder(Base::Root, ".trae/rules", MARKDOWN, Depth::Flat)],
    user: &[],
    knowledge: "copies of its documentation",
    ..LIKE_CURSOR
};

pub(crate) const QODER: Format = Format {
    id: FormatId::Qoder,
    agent: "Qoder",
    workspace: &[folder(Base::Root, ".qoder/rules", MARKDOWN, Depth::Flat)],
    user: &[],
    bare: Bare::OfferedElseAlways,
    modes: Some(TRIGGER),
    knowledge: "copies of its documentation",
    ..LIKE_CURSOR
};

pub(crate) const LINGMA: Format = Format {
    id: FormatId::Lingma,
    agent: "Lingma",
    workspace: &[folder(Base::Root, ".lingma/rules", MARKDOWN, Depth::Flat)],
    limit: Some(10_000),
    ..QODER
};

pub(crate) const CODEBUDDY: Format = Format {
    id: FormatId::CodeBuddy,
    agent: "CodeBuddy",
    workspace: &[
        folder(Base::Root, ".codebuddy/rules", MD_AND_MDC, Depth::Recursive),
        located(Base::Root, "CODEBUDDY.md", "codebuddy"),
    ],
    user: &[],
    aliases: &[("paths", "globs")],
    knowledge: "copies of its documentation",
    ..LIKE_CURSOR
};

pub(crate) const FIREBENDER: Format = Format {
    id: FormatId::Firebender,
    agent: "Firebender",
    workspace: &[folder(Base::Root, ".firebender/rules", &["mdc"], Depth::Recursive)],
    user: &[folder(Base::Home, ".firebender/rules", &["mdc"], Depth::Recursive)],
    bare: Bare::OfferedElseAlways,
    dialect: Dialect::VsCode,
    knowledge: "its documentation; its globs match at any depth",
    ..LIKE_CURSOR
};

pub(crate) const TABNINE: Format = Format {
    id: FormatId::Tabnine,
    agent: "Tabnine",
    workspace: &[folder(Base::Root, ".tabnine/guidelines", MARKDOWN, Depth::Flat)],
    user: &[folder(Base::Home, ".tabnine/guidelines", MARKDOWN, Depth::Flat)],
    confidence: Confidence::Medium,
    knowledge: "copies of its documentation",
    ..RAW
};

pub(crate) const GROK: Format = Format {
    id: FormatId::Grok,
    agent: "Grok CLI",
    workspace: &[folder(Base::Root, ".grok/rules", MARKDOWN, Depth::Flat)],
    user: &[],
    ..TABNINE
};

/// Rules selected by regular expressions, which `condition::filters` reads.
pub(crate) const CODY: Format = Format {
    id: FormatId::Cody,
    agent: "Cody",
    workspace: &[folder(Base::Root, ".sourcegraph", &["rule.md"], Depth::Flat)],
    user: &[],
    aliases: FILTERS,
    inert: &["lang", "title"],
    agent_ignores: &["alwaysApply", "globs", "paths"],
    confidence: Confidence::Medium,
    knowledge: "copies of its documentation",
    ..OTHER
};
