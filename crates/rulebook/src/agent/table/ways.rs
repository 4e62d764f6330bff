//! Ways of reading: a format as one agent really takes it.

use crate::format::table::{MARKDOWN, designs, file, folder, located, located as files, others};
use crate::format::{Bare, Base, Broken, Depth, Format, Keys, Lists, Modes, Place, Said, Top};
use crate::frontmatter::Tier;
use crate::glob::Dialect;

/// A format without this project's priorities: what an agent reads it orders by nothing but its own table.
#[allow(clippy::needless_pass_by_value, reason = "called on the rows it makes")]
const fn own(format: Format) -> Format {
    Format { priority: Some(50), ..format }
}

/// One file at the root that is all there is, among others of the same id.
const fn first_of(workspace: &'static [Place]) -> Format {
    own(Format { workspace, user: &[], ..files::AGENTS })
}

// Files found by location, as most agents take them.

pub(super) const AGENTS_MD: Format = first_of(&[located(Base::Root, "AGENTS.md", "agents")]);

/// Below the root, nobody looks for it.
pub(super) const AGENTS_MD_AT_ROOT: Format = first_of(&[located(Base::Top, "AGENTS.md", "agents")]);

/// Wherever it lies, it is for everything.
pub(super) const AGENTS_MD_EVERYWHERE: Format = Format { scoped: false, ..AGENTS_MD };

pub(super) const AGENTS_MD_IN_ANY_CASE: Format = first_of(&[
    located(Base::Root, "AGENTS.md", "agents"),
    located(Base::Root, "agents.md", "agents"),
    located(Base::Root, "Agents.md", "agents"),
]);

pub(super) const AGENTS_AND_LOCAL: Format = first_of(&[
    located(Base::Root, "AGENTS.md", "agents"),
    located(Base::Root, "AGENTS.local.md", "agents.local"),
]);

pub(super) const AGENT_MD: Format =
    own(Format { workspace: &[located(Base::Root, "AGENT.md", "agents")], user: &[], ..files::AMP });

pub(super) const CLAUDE_MD: Format = own(Format {
    workspace: &[
        located(Base::Root, "CLAUDE.md", "claude"),
        file(Base::Root, ".claude/CLAUDE.md", "claude@.claude", true),
        located(Base::Root, "CLAUDE.local.md", "claude.local"),
    ],
    user: &[],
    ..others::CLAUDE
});

/// Taken where there is no AGENTS.md.
pub(super) const AGENT_MD_ELSE: Format = Format { unless: &["AGENTS.md"], ..AGENT_MD };

pub(super) const CLAUDE_MD_AND_OWN: Format =
    Format { user: &[located(Base::Home, ".claude/CLAUDE.md", "claude")], ..CLAUDE_MD };

/// One at the root, as text.
pub(super) const CLAUDE_MD_AT_ROOT: Format =
    Format { workspace: &[located(Base::Top, "CLAUDE.md", "claude")], imports: 0, ..CLAUDE_MD };

pub(super) const GEMINI_MD_AT_ROOT: Format =
    Format { workspace: &[located(Base::Top, "GEMINI.md", "gemini")], user: &[], imports: 0, ..GEMINI };

/// A person's own file alone.
pub(super) const GEMINI_MD_OF_ONE: Format = Format { workspace: &[], imports: 0, ..GEMINI };

/// Taken for an AGENTS.md where there is none.
pub(super) const CLAUDE_AS_AGENTS: Format =
    Format { workspace: &[located(Base::Root, "CLAUDE.md", "agents")], ..CLAUDE_MD };

pub(super) const CODEX: Format = own(files::CODEX);
pub(super) const GOOSE: Format = own(files::GOOSE);
pub(super) const GEMINI: Format = own(files::GEMINI);

/// The same id as the AGENTS.md it is taken for.
pub(super) const WARP: Format = own(Format {
    workspace: &[
        located(Base::Root, "WARP.md", "agents"),
        located(Base::Root, "Warp.md", "agents"),
        located(Base::Root, "warp.md", "agents"),
    ],
    ..files::WARP
});

pub(super) const CRUSH: Format = own(files::CRUSH);

/// Only one of these is read: the first that is there.
pub(super) const ZED: &[Format] = &[
    own(Format { workspace: &[file(Base::Root, ".rules", "rules", true)], ..files::ZED }),
    first_of(&[file(Base::Root, ".cursorrules", "rules", true)]),
    first_of(&[file(Base::Root, ".windsurfrules", "rules", true)]),
    first_of(&[file(Base::Root, ".clinerules", "rules", true)]),
    first_of(&[file(Base::Root, ".github/copilot-instructions.md", "rules", true)]),
    first_of(&[file(Base::Root, "AGENT.md", "rules", true)]),
    first_of(&[file(Base::Root, "AGENTS.md", "rules", true)]),
    first_of(&[file(Base::Root, "CLAUDE.md", "rules", true)]),
    first_of(&[file(Base::Root, "GEMINI.md", "rules", true)]),
];

/// Only one of these is read: the first that is there.
pub(super) const JUNIE: &[Format] = &[
    own(Format { workspace: &[file(Base::Root, ".junie/AGENTS.md", "guidelines", true)], ..files::JUNIE }),
    first_of(&[file(Base::Root, "AGENTS.md", "guidelines", true)]),
    first_of(&[file(Base::Root, ".junie/guidelines.md", "guidelines", true)]),
];

// Claude Code.

pub(super) const CLAUDE: Format = own(Format {
    lists: Lists::Deep,
    keys: Keys::Own(&["paths"]),
    agent_ignores: &[],
    tier: Some(Tier::Values),
    broken: Broken::Open,
    top: Top::Byte,
    ..others::CLAUDE
});

/// Where there is no CLAUDE.md, from version 2.1.277 on.
pub(super) const CLAUDE_AGENTS: Format =
    Format { unless: &["CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"], ..AGENTS_MD };

pub(super) const OPENCODE_CLAUDE: Format = Format {
    workspace: &[located(Base::Root, "CLAUDE.md", "claude")],
    imports: 0,
    unless: &["AGENTS.md"],
    ..CLAUDE_MD
};

// Copilot, whose three surfaces read one file in three ways.

const COPILOT_KEYS: Keys = Keys::Own(&["applyTo", "description"]);

pub(super) const COPILOT_VSCODE: Format =
    own(Format { keys: COPILOT_KEYS, lists: Lists::Text, bare: Bare::Listed, ..others::COPILOT });

pub(super) const COPILOT_GITHUB: Format = own(Format {
    keys: COPILOT_KEYS,
    bare: Bare::Undocumented,
    dialect: Dialect::Picomatch,
    user: &[],
    ..others::COPILOT
});

pub(super) const COPILOT_CLI: Format = own(Format {
    keys: COPILOT_KEYS,
    tier: Some(Tier::Values),
    broken: Broken::Open,
    top: Top::Line,
    bare: Bare::Always,
    dialect: Dialect::CopilotCli,
    ..others::COPILOT
});

/// The one file, as text.
pub(super) const COPILOT_INSTRUCTIONS: Format = own(Format {
    workspace: &[file(Base::Root, ".github/copilot-instructions.md", "copilot-instructions", true)],
    user: &[],
    ..others::COPILOT
});

/// Copilot takes Claude's rules along, in VS Code's dialect.
pub(super) const CLAUDE_RULES_AS_COPILOT: Format = own(Format {
    workspace: &[folder(Base::Root, ".claude/rules", MARKDOWN, Depth::Recursive)],
    user: &[folder(Base::Home, ".claude/rules", MARKDOWN, Depth::Recursive)],
    keys: Keys::Own(&["paths", "description"]),
    agent_ignores: &[],
    dialect: Dialect::VsCode,
    ..others::CLAUDE
});

// Cursor, and those who read its files.

const CURSOR_KEYS: Keys = Keys::Own(&["alwaysApply", "description", "globs"]);

pub(super) const CURSOR: Format = own(Format {
    workspace: &[
        folder(Base::Root, ".cursor/rules", &["mdc"], Depth::Recursive),
        file(Base::Root, ".cursorrules", "cursorrules", true),
    ],
    user: &[],
    keys: CURSOR_KEYS,
    broken: Broken::Reject,
    rival: Some(Dialect::VsCode),
    ..designs::CURSOR
});

/// The one file, as text.
pub(super) const CURSORRULES: Format =
    Format { workspace: &[file(Base::Root, ".cursorrules", "cursorrules", true)], ..CURSOR };

/// Crush pastes the files, header and all.
pub(super) const CURSOR_RAW: Format = Format { tier: None, bare: Bare::Always, ..CURSOR };

/// Cline takes off the header and looks at `paths` alone, without any path to look for.
pub(super) const CLINE_CURSOR: Format = Format {
    keys: Keys::Own(&["paths"]),
    paths_key: "paths",
    bare: Bare::Always,
    broken: Broken::Open,
    tier: Some(Tier::Yaml),
    ..CURSOR
};

/// Cline takes the old single file along.
pub(super) const WINDSURFRULES: Format =
    Format { workspace: &[file(Base::Root, ".windsurfrules", "windsurfrules", true)], user: &[], ..WINDSURF };

// Windsurf and its kin.

const TRIGGER_KEYS: Keys = Keys::Own(&["description", "globs"]);

pub(super) const WINDSURF: Format = own(Format {
    keys: TRIGGER_KEYS,
    bare: Bare::Undocumented,
    rival: Some(Dialect::VsCode),
    top: Top::Line,
    ..designs::WINDSURF
});

pub(super) const DEVIN: Format = own(Format {
    keys: TRIGGER_KEYS,
    bare: Bare::Undocumented,
    rival: Some(Dialect::VsCode),
    top: Top::Line,
    ..others::DEVIN
});

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

// Cline.

pub(super) const CLINE: Format = own(Format {
    keys: Keys::Own(&["paths"]),
    agent_ignores: &[],
    lists: Lists::ListOrNever,
    ..designs::CLINE
});

pub(super) const CLINE_SDK: Format = own(Format {
    workspace: &[
        folder(Base::Root, ".clinerules", &["md", "markdown", "txt"], Depth::Flat),
        folder(Base::Root, ".cline/rules", &["md", "markdown", "txt"], Depth::Flat),
    ],
    keys: Keys::Own(&["enabled"]),
    agent_ignores: &[],
    tier: Some(Tier::Yaml),
    broken: Broken::Reject,
    ..others::CLINE_SDK
});

// xcsh and oh-my-pi: paths are shown to the model, not asked.

const XCSH_KEYS: Keys = Keys::Own(&[
    "alwaysApply",
    "condition",
    "contextMode",
    "description",
    "interruptMode",
    "name",
    "repeatGap",
    "repeatMode",
    "scope",
    "ttsrTrigger",
    "ttsr_trigger",
]);
const SHOWN: &[&str] = &["globs"];

pub(super) const XCSH: Format = own(Format { keys: XCSH_KEYS, inert: SHOWN, ..designs::XCSH });
pub(super) const OMP: Format = own(Format { keys: XCSH_KEYS, inert: SHOWN, ..designs::OMP });
pub(super) const XCSH_CURSOR: Format = Format {
    name: designs::CURSOR.name,
    workspace: &[folder(Base::Root, ".cursor/rules", &["md", "mdc"], Depth::Flat)],
    user: designs::CURSOR.user,
    ..XCSH
};
pub(super) const XCSH_WINDSURF: Format = Format {
    name: designs::WINDSURF.name,
    workspace: designs::WINDSURF.workspace,
    user: designs::WINDSURF.user,
    ..XCSH
};
pub(super) const XCSH_CLINE: Format = Format {
    name: designs::CLINE.name,
    workspace: designs::CLINE.workspace,
    user: designs::CLINE.user,
    ..XCSH
};

// The rest.

/// The README comes along by default.
pub(super) const AMAZON_Q: Format = own(Format {
    workspace: &[
        folder(Base::Root, ".amazonq/rules", MARKDOWN, Depth::Recursive),
        file(Base::Root, "AmazonQ.md", "amazonq", true),
        file(Base::Root, "README.md", "readme", true),
    ],
    ..others::AMAZON_Q
});
pub(super) const ROO: Format = own(others::ROO);
pub(super) const KILO: Format = own(others::KILO);

pub(super) const AUGMENT: Format =
    own(Format { keys: Keys::Own(&["description"]), user: &[], ..others::AUGMENT });

/// A person's own rules are always on, whatever they say.
pub(super) const AUGMENT_OWN: Format =
    own(Format { workspace: &[], keys: Keys::Own(&["description"]), modes: None, ..others::AUGMENT });

pub(super) const CONTINUE: Format = own(Format {
    keys: Keys::Own(&["alwaysApply", "content", "description", "globs"]),
    lists: Lists::Whole,
    tier: Some(Tier::Yaml),
    broken: Broken::Open,
    ..others::CONTINUE
});

pub(super) const KIRO: Format = own(Format {
    keys: Keys::Own(&["description", "fileMatchPattern"]),
    lists: Lists::Whole,
    modes: Some(Modes { unsaid: Some(Said::Always), ..KIRO_MODES }),
    tier: Some(Tier::Yaml),
    broken: Broken::Open,
    top: Top::Line,
    ..others::KIRO
});

const KIRO_MODES: Modes = match others::KIRO.modes {
    Some(modes) => modes,
    None => designs::TRIGGER,
};

pub(super) const QWEN: Format = own(Format {
    keys: Keys::Own(&["description", "paths"]),
    agent_ignores: &[],
    lists: Lists::Whole,
    tier: Some(Tier::Yaml),
    broken: Broken::Open,
    top: Top::Line,
    ..others::QWEN
});

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
