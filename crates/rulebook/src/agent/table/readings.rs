//! Readings: formats as each agent actually reads them.

use super::located::{AGENTS_MD, CLAUDE_AS_AGENTS, CLAUDE_MD_AND_OWN};
use super::own::own;
use crate::format::place::{MARKDOWN, MD_AND_MDC, file, file_with_header, folder, located};
use crate::format::table::{designs, modes, others};
use crate::format::{
    ActivationKey, Bare, Base, Broken, Config, ConfigEffect, Depth, Everything, Files, Format, Keys, Lists,
    Place, PlaceKind, Repeats, StatedActivation, Top,
};
use crate::frontmatter::{Program, Tier};
use crate::glob::{Dialect, Exclusions};

// Claude Code.

/// Its settings can exclude files by globs of absolute paths.
const CLAUDE_EXCLUDES: &[Config] = &[
    Config::new(ConfigEffect::Excludes, Base::Top, ".claude/settings.json", &["claudeMdExcludes"]),
    Config::new(ConfigEffect::Excludes, Base::Top, ".claude/settings.local.json", &["claudeMdExcludes"]),
    Config::new(ConfigEffect::Excludes, Base::Home, ".claude/settings.json", &["claudeMdExcludes"]),
];

/// In the order of its context.
pub(super) const CLAUDE: Format = own(Format {
    workspace: &[
        located(Base::Root, "CLAUDE.md", "claude"),
        file(Base::Root, ".claude/CLAUDE.md", "claude@.claude"),
        folder(Base::Root, ".claude/rules", MARKDOWN, Depth::Recursive),
        located(Base::Root, "CLAUDE.local.md", "claude.local"),
    ],
    user: &[
        file(Base::System, "etc/claude-code/CLAUDE.md", "claude@system"),
        file(Base::System, "Library/Application Support/ClaudeCode/CLAUDE.md", "claude@system"),
        file(Base::System, "Program Files/ClaudeCode/CLAUDE.md", "claude@system"),
        located(Base::Home, ".claude/CLAUDE.md", "claude"),
        folder(Base::Home, ".claude/rules", MARKDOWN, Depth::Recursive),
    ],
    lists: Lists::Deep,
    keys: Keys::Own(&["paths"]),
    agent_ignores: &[],
    tier: Some(Tier::Native(Program::ClaudeCode)),
    largest: Some(4 << 20),
    everything: Everything::All(&["**", "**/**", "/**", "{,}"]),
    configs: CLAUDE_EXCLUDES,
    ..others::CLAUDE
});

/// The rules only.
pub(super) const CLAUDE_RULES: Format = Format {
    workspace: &[folder(Base::Root, ".claude/rules", MARKDOWN, Depth::Recursive)],
    user: &[],
    rules_import: false,
    ..CLAUDE
};

/// Read if there is no CLAUDE.md.
pub(super) const CLAUDE_AGENTS: Format = Format {
    unless: &["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"],
    since: Some("2.1.277"),
    configs: CLAUDE_EXCLUDES,
    ..AGENTS_MD
};

/// Read in folders without AGENTS.md.
pub(super) const OPENCODE_CLAUDE: Format = Format { imports: 0, ..CLAUDE_AS_AGENTS };

// Copilot: its three surfaces read one file in three ways.

const COPILOT_KEYS: Keys = Keys::Own(&["applyTo", "description"]);

pub(super) const COPILOT_VSCODE: Format = own(Format {
    keys: COPILOT_KEYS,
    lists: Lists::Text,
    bare: Bare::Listed,
    broken: Broken::Swallow,
    user: &[folder(Base::Home, ".copilot/instructions", &["instructions.md"], Depth::Recursive)],
    ..others::COPILOT
});

pub(super) const COPILOT_GITHUB: Format = own(Format {
    keys: COPILOT_KEYS,
    // It does not document what it does with a list.
    lists: Lists::Text,
    bare: Bare::Undocumented,
    dialect: Dialect::Picomatch,
    exclusions: Exclusions::Undocumented,
    user: &[],
    configs: &[],
    off_words: &[("excludeAgent", "cloud-agent"), ("excludeAgent", "coding-agent")],
    ..others::COPILOT
});

/// It reads both keys in both places.
const COPILOT_CLI_KEYS: Keys = Keys::Own(&["applyTo", "paths", "description"]);

pub(super) const COPILOT_CLI: Format = own(Format {
    keys: COPILOT_CLI_KEYS,
    aliases: &[("paths", "applyTo")],
    excludes: Some(("excludeAgent", &["cloud-agent", "coding-agent"])),
    tier: Some(Tier::Native(Program::CopilotCli)),
    bare: Bare::Always,
    everything: Everything::All(&["**", "**/*", "*"]),
    dialect: Dialect::CopilotCli,
    // Seen in version 1.0.102: it reads them once a file below their folder is viewed.
    from_root: true,
    configs: &[],
    ..others::COPILOT
});

/// The single file, as text.
pub(super) const COPILOT_INSTRUCTIONS: Format = own(Format {
    workspace: &[file(Base::Root, ".github/copilot-instructions.md", "copilot-instructions")],
    user: &[],
    configs: &[],
    ..others::COPILOT
});

/// Claude's rules, read like its own.
pub(super) const CLAUDE_RULES_AS_COPILOT_CLI: Format = Format {
    id: others::CLAUDE.id,
    workspace: CLAUDE_RULES_AS_COPILOT.workspace,
    user: CLAUDE_RULES_AS_COPILOT.user,
    ..COPILOT_CLI
};

/// Copilot reads Claude's rules too, in VS Code's dialect.
pub(super) const CLAUDE_RULES_AS_COPILOT: Format = own(Format {
    workspace: &[folder(Base::Root, ".claude/rules", MARKDOWN, Depth::Recursive)],
    user: &[folder(Base::Home, ".claude/rules", MARKDOWN, Depth::Recursive)],
    keys: Keys::Own(&["paths", "description"]),
    agent_ignores: &[],
    everything: others::COPILOT.everything,
    repeats: Repeats::First,
    dialect: Dialect::VsCode,
    rules_import: false,
    ..others::CLAUDE
});

/// Unless VS Code's settings switch it off.
pub(super) const VSCODE_AGENTS: Format = Format {
    configs: &[Config::new(
        ConfigEffect::Switch,
        Base::Top,
        ".vscode/settings.json",
        &["chat.useAgentsMdFile"],
    )],
    ..AGENTS_MD
};

/// Unless VS Code's settings switch it off.
pub(super) const VSCODE_CLAUDE: Format = Format {
    configs: &[Config::new(
        ConfigEffect::Switch,
        Base::Top,
        ".vscode/settings.json",
        &["chat.useClaudeMdFile"],
    )],
    ..CLAUDE_MD_AND_OWN
};

// Cursor, and agents that read its files.
const CURSOR_KEYS: Keys = Keys::Own(&["alwaysApply", "description", "globs"]);

pub(super) const CURSOR: Format = own(Format {
    workspace: &[
        folder(Base::Root, ".cursor/rules", &["mdc"], Depth::Recursive),
        file(Base::Root, ".cursorrules", "cursorrules"),
    ],
    user: &[],
    keys: CURSOR_KEYS,
    broken: Broken::Reject,
    rival: Some(Dialect::VsCode),
    offers_scoped: false,
    ..designs::CURSOR
});

/// The single file, as text.
pub(super) const CURSORRULES: Format =
    Format { workspace: &[file(Base::Root, ".cursorrules", "cursorrules")], ..CURSOR };

/// Crush reads the files as text, including the header.
pub(super) const CURSOR_RAW: Format = Format { tier: None, bare: Bare::Always, ..CURSOR };

/// Cline removes the header and knows only `paths`, which these files do not have.
pub(super) const CLINE_CURSOR: Format = Format {
    keys: Keys::Own(&["paths"]),
    paths_key: "paths",
    bare: Bare::Always,
    broken: Broken::Open,
    tier: Some(Tier::Yaml),
    ..CURSOR
};

/// Devin reads Cursor's rules too, with Cursor's keys.
pub(super) const DEVIN_CURSOR: Format =
    Format { workspace: &[folder(Base::Root, ".cursor/rules", MD_AND_MDC, Depth::Flat)], ..CURSOR };

/// Cline reads the old single file too.
pub(super) const WINDSURFRULES: Format =
    Format { workspace: &[file(Base::Root, ".windsurfrules", "windsurfrules")], user: &[], ..WINDSURF };

// Windsurf and related agents.

const TRIGGER_KEYS: Keys = Keys::Own(&["description", "globs"]);

pub(super) const WINDSURF: Format = own(Format {
    keys: TRIGGER_KEYS,
    bare: Bare::Undocumented,
    rival: Some(Dialect::VsCode),
    top: Top::Line,
    workspace: &[
        folder(Base::Root, ".windsurf/rules", MARKDOWN, Depth::Flat),
        file(Base::Root, ".windsurfrules", "windsurfrules"),
    ],
    ..designs::WINDSURF
});

pub(super) const WINDSURF_GLOBAL: Format = Format {
    workspace: &[file(Base::Root, ".windsurf/global_rules.md", "windsurf-global-rules")],
    user: &[],
    unless: &[".devin/global_rules.md"],
    ..WINDSURF
};

pub(super) const DEVIN: Format = own(Format {
    keys: TRIGGER_KEYS,
    bare: Bare::Undocumented,
    rival: Some(Dialect::VsCode),
    top: Top::Line,
    ..others::DEVIN
});

/// Sources disagree on the limit of its command line.
pub(super) const DEVIN_CLI: Format = Format { limit: None, ..DEVIN };

pub(super) const ANTIGRAVITY: Format = own(Format {
    keys: TRIGGER_KEYS,
    bare: Bare::Undocumented,
    rival: Some(Dialect::VsCode),
    ..others::ANTIGRAVITY
});

pub(super) const QODER: Format = own(Format {
    keys: TRIGGER_KEYS,
    bare: Bare::Undocumented,
    rival: Some(Dialect::VsCode),
    ..others::QODER
});

pub(super) const LINGMA: Format = Format {
    id: others::LINGMA.id,
    workspace: others::LINGMA.workspace,
    limit: others::LINGMA.limit,
    ..QODER
};

// Cline.

/// It reads every file of the folder, whatever its extension, and looks nowhere above the root.
pub(super) const CLINE: Format = own(Format {
    workspace: &[
        Place::new(
            Base::Root,
            ".clinerules",
            PlaceKind::Folder {
                files: Files::AllBut(&[".DS_Store", "Thumbs.db", "desktop.ini"]),
                depth: Depth::Recursive,
                skip: &["hooks", "skills", "workflows"],
            },
        ),
        file_with_header(Base::Root, ".clinerules", "clinerules"),
    ],
    climbs: false,
    keys: Keys::Own(&["paths"]),
    agent_ignores: &[],
    lists: Lists::ListOrNever,
    exclusions: Exclusions::OneByOne,
    ..designs::CLINE
});

pub(super) const CLINE_SDK: Format = own(Format {
    workspace: &[
        folder(Base::Root, ".clinerules", &["md", "txt"], Depth::Flat),
        folder(Base::Root, ".cline/rules", &["md", "markdown", "txt"], Depth::Flat),
    ],
    keys: Keys::Own(&["enabled"]),
    agent_ignores: &[],
    tier: Some(Tier::Yaml),
    broken: Broken::Reject,
    ..others::CLINE_SDK
});

// The rest.

/// Includes the README by default.
pub(super) const AMAZON_Q: Format = own(Format {
    workspace: &[
        folder(Base::Root, ".amazonq/rules", MARKDOWN, Depth::Recursive),
        file(Base::Root, "AmazonQ.md", "amazonq"),
        file(Base::Root, "README.md", "readme"),
    ],
    ..others::AMAZON_Q
});
pub(super) const KILO: Format = own(modes::KILO);
pub(super) const TABNINE: Format = own(others::TABNINE);
pub(super) const GROK: Format = own(others::GROK);
pub(super) const CODY: Format = own(Format { keys: Keys::Own(&["description"]), ..others::CODY });

pub(super) const AUGMENT: Format =
    own(Format { keys: Keys::Own(&["description"]), user: &[], ..others::AUGMENT });

/// The user's rules are always on, regardless of their headers.
pub(super) const AUGMENT_OWN: Format =
    own(Format { workspace: &[], keys: Keys::Own(&["description"]), modes: None, ..others::AUGMENT });

/// Of folders below the root, it reads `rules.md` only.
pub(super) const CONTINUE: Format = own(Format {
    workspace: &[
        folder(Base::Top, ".continue/rules", MARKDOWN, Depth::Recursive),
        file(Base::Top, ".continuerules", "continuerules"),
        Place::new(Base::Root, "rules.md", PlaceKind::Located { id: "rules", is_raw: false })
            .if_used(&[".continue", ".continuerules"]),
    ],
    keys: Keys::Own(&["alwaysApply", "content", "description", "globs"]),
    lists: Lists::Whole,
    tier: Some(Tier::Yaml),
    broken: Broken::Open,
    not_always: Some(Bare::Listed),
    ..others::CONTINUE
});

pub(super) const KIRO: Format = own(Format {
    user: &[],
    keys: Keys::Own(&["description", "fileMatchPattern"]),
    lists: Lists::Whole,
    modes: Some(ActivationKey { unsaid: Some(StatedActivation::Always), ..KIRO_MODES }),
    tier: Some(Tier::Yaml),
    broken: Broken::Open,
    top: Top::Line,
    ..others::KIRO
});

/// The user's rules for paths never apply.
pub(super) const KIRO_OWN: Format = Format {
    workspace: &[],
    user: others::KIRO.user,
    modes: Some(ActivationKey {
        words: &[
            ("always", StatedActivation::Always),
            ("fileMatch", StatedActivation::Off),
            ("auto", StatedActivation::Offered),
            ("manual", StatedActivation::Manual),
        ],
        unsaid: Some(StatedActivation::Always),
        ..KIRO_MODES
    }),
    ..KIRO
};

const KIRO_MODES: ActivationKey = match others::KIRO.modes {
    Some(modes) => modes,
    None => designs::TRIGGER,
};

/// It does not read `.qwen/QWEN.local.md`.
pub(super) const QWEN: Format = own(Format {
    workspace: &[
        folder(Base::Root, ".qwen/rules", MARKDOWN, Depth::Recursive),
        located(Base::Root, "QWEN.md", "qwen"),
    ],
    imports: 5,
    keys: Keys::Own(&["description", "paths"]),
    agent_ignores: &[],
    lists: Lists::Whole,
    exclusions: Exclusions::OneByOne,
    tier: Some(Tier::Native(Program::QwenCode)),
    strips_comments: true,
    ..others::QWEN
});

/// With its imports.
pub(super) const QWEN_AGENTS: Format = Format { imports: QWEN.imports, configs: QWEN.configs, ..AGENTS_MD };

pub(super) const OPENHANDS: Format = own(Format {
    keys: Keys::Own(&["keywords"]),
    tier: Some(Tier::Yaml),
    broken: Broken::Reject,
    ..others::OPENHANDS
});

pub(super) const JETBRAINS: Format =
    own(Format { keys: Keys::Own(&["patterns"]), rival: Some(Dialect::VsCode), ..others::JETBRAINS });

pub(super) const TRAE: Format =
    own(Format { keys: CURSOR_KEYS, rival: Some(Dialect::VsCode), ..others::TRAE });

pub(super) const CODEBUDDY: Format =
    own(Format { keys: CURSOR_KEYS, rival: Some(Dialect::VsCode), ..others::CODEBUDDY });

pub(super) const FIREBENDER: Format = own(Format { keys: CURSOR_KEYS, ..others::FIREBENDER });
