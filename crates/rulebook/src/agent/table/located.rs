//! Readings of files found by location, and of single files of which the first counts.

use super::own::own;
use super::skills::ROO_SKILLS;
use crate::format::place::{MARKDOWN, file, folder, located};
use crate::format::table::modes::{self as of_modes, mode_file, modes, texts};
use crate::format::table::{designs, located as files, others};
use crate::format::{Base, Depth, Format, Place, formats};

/// One of several files of the same id, of which the agent reads the first.
pub(super) const fn first_of(workspace: &'static [Place]) -> Format {
    own(Format { workspace, user: &[], ..files::AGENTS })
}

// Files found by location, as most agents read them.

pub(super) const AGENTS_MD: Format = first_of(&[located(Base::Root, "AGENTS.md", "agents")]);

/// At the root only.
pub(super) const AGENTS_MD_AT_ROOT: Format = first_of(&[located(Base::Top, "AGENTS.md", "agents")]);

/// With the user's file for all agents.
pub(super) const AGENTS_MD_AND_OWN: Format =
    Format { user: &[located(Base::Home, ".agents/AGENTS.md", "agents")], ..AGENTS_MD };

/// With its imports.
pub(super) const COPILOT_AGENTS: Format = Format { imports: others::CLAUDE.imports, ..AGENTS_MD };

/// A nested file applies to everything too.
pub(super) const AGENTS_MD_EVERYWHERE: Format = Format { scoped: false, ..AGENTS_MD };

pub(super) const AGENTS_MD_IN_ANY_CASE: Format = first_of(&[
    located(Base::Root, "AGENTS.md", "agents"),
    located(Base::Root, "agents.md", "agents"),
    located(Base::Root, "Agents.md", "agents"),
]);

/// With the user's file for all agents.
pub(super) const WARP_AGENTS: Format = Format { user: AGENTS_MD_AND_OWN.user, ..AGENTS_MD_IN_ANY_CASE };

pub(super) const CRUSH_AGENTS: Format =
    Format { user: &[file(Base::Config, "AGENTS.md", "agents@.config")], ..AGENTS_MD_IN_ANY_CASE };

pub(super) const OPENCODE_AGENTS: Format =
    Format { user: &[file(Base::Config, "opencode/AGENTS.md", "agents@opencode")], ..AGENTS_MD };

/// With Amp's own user files.
pub(super) const AMP_AGENTS: Format = Format {
    user: &[
        file(Base::Config, "amp/AGENTS.md", "agents@amp"),
        file(Base::Config, "AGENTS.md", "agents@.config"),
    ],
    ..AGENTS_MD
};

pub(super) const AGENTS_LOCAL: Format = first_of(&[located(Base::Root, "AGENTS.local.md", "agents.local")]);

pub(super) const AGENTS_AND_LOCAL: Format = first_of(&[
    located(Base::Root, "AGENTS.md", "agents"),
    located(Base::Root, "AGENTS.local.md", "agents.local"),
]);

pub(super) const AGENT_MD: Format =
    own(Format { workspace: &[located(Base::Root, "AGENT.md", "agents")], user: &[], ..files::AMP });

pub(super) const CLAUDE_MD: Format = own(Format {
    workspace: &[
        located(Base::Root, "CLAUDE.md", "claude"),
        file(Base::Root, ".claude/CLAUDE.md", "claude@.claude"),
        located(Base::Root, "CLAUDE.local.md", "claude.local"),
    ],
    user: &[],
    ..others::CLAUDE
});

/// Read if there is no AGENTS.md.
pub(super) const AGENT_MD_ELSE: Format = Format { unless: &["AGENTS.md"], ..AGENT_MD };

/// At the root, if there is no AGENTS.md.
pub(super) const AGENT_MD_AT_ROOT_ELSE: Format =
    Format { workspace: &[located(Base::Top, "AGENT.md", "agents")], ..AGENT_MD_ELSE };

pub(super) const CLAUDE_MD_AND_OWN: Format =
    Format { user: &[located(Base::Home, ".claude/CLAUDE.md", "claude")], ..CLAUDE_MD };

/// At the root only, without imports.
pub(super) const CLAUDE_MD_AT_ROOT: Format =
    Format { workspace: &[located(Base::Top, "CLAUDE.md", "claude")], imports: 0, ..CLAUDE_MD };

/// At the root, if there is neither AGENTS.md nor AGENT.md.
pub(super) const CLAUDE_MD_AT_ROOT_ELSE: Format =
    Format { unless: &["AGENTS.md", "AGENT.md"], ..CLAUDE_MD_AT_ROOT };

pub(super) const GEMINI_MD_AT_ROOT: Format = Format {
    workspace: &[located(Base::Top, "GEMINI.md", "gemini")],
    user: &[],
    imports: 0,
    configs: &[],
    ..GEMINI
};

/// Without its imports.
pub(super) const GEMINI_AS_TEXT: Format = Format { imports: 0, configs: &[], ..GEMINI };

/// The user's file only.
pub(super) const GEMINI_MD_OF_ONE: Format = Format { workspace: &[], imports: 0, configs: &[], ..GEMINI };

/// The user's file for Claude Code, read if there is none for opencode.
pub(super) const OPENCODE_CLAUDE_OF_ONE: Format = Format {
    workspace: &[],
    user: &[located(Base::Home, ".claude/CLAUDE.md", "claude")],
    imports: 0,
    unless: &["~/.config/opencode/AGENTS.md"],
    ..CLAUDE_MD
};

/// Read instead of a missing AGENTS.md.
pub(super) const CLAUDE_AS_AGENTS: Format =
    Format { workspace: &[located(Base::Root, "CLAUDE.md", "agents")], ..CLAUDE_MD };

pub(super) const CODEX: Format = own(files::CODEX);
/// Without the user's file.
pub(super) const AGENTS_OVERRIDE: Format = Format { user: &[], configs: &[], ..CODEX };
pub(super) const FACTORY: Format = own(files::FACTORY);
pub(super) const AIDER: Format = own(files::AIDER);

/// The files that its settings name.
pub(super) const OPENCODE_NAMED: Format = own(Format {
    id: designs::OPENCODE.id,
    agent: designs::OPENCODE.agent,
    workspace: &[],
    user: &[],
    configs: designs::OPENCODE.configs,
    ..others::RAW
});
pub(super) const KIMI: Format = own(files::KIMI);
pub(super) const ROVO: Format = own(files::ROVO);
pub(super) const DEEPAGENTS: Format = own(files::DEEPAGENTS);
pub(super) const REASONIX: Format = own(files::REASONIX);
pub(super) const REPLIT: Format = own(files::REPLIT);
pub(super) const FIREBASE: Format = own(files::FIREBASE);
pub(super) const GOOSE: Format = own(files::GOOSE);
pub(super) const GEMINI: Format = own(files::GEMINI);

/// With the id of the AGENTS.md that it replaces.
pub(super) const WARP: Format = own(Format {
    workspace: &[
        located(Base::Root, "WARP.md", "agents"),
        located(Base::Root, "Warp.md", "agents"),
        located(Base::Root, "warp.md", "agents"),
    ],
    ..files::WARP
});

pub(super) const CRUSH: Format = own(files::CRUSH);

/// Only the first of these that exists is read.
pub(super) const ZED: &[Format] = formats![
    own(Format { workspace: &[file(Base::Root, ".rules", "rules")], ..files::ZED }),
    first_of(&[file(Base::Root, ".cursorrules", "rules")]),
    first_of(&[file(Base::Root, ".windsurfrules", "rules")]),
    first_of(&[file(Base::Root, ".clinerules", "rules")]),
    first_of(&[file(Base::Root, ".github/copilot-instructions.md", "rules")]),
    first_of(&[file(Base::Root, "AGENT.md", "rules")]),
    first_of(&[file(Base::Root, "AGENTS.md", "rules")]),
    first_of(&[file(Base::Root, "CLAUDE.md", "rules")]),
    first_of(&[file(Base::Root, "GEMINI.md", "rules")]),
];

/// Only the first of these that exists is read.
pub(super) const JUNIE: &[Format] = formats![
    own(Format { workspace: &[file(Base::Root, ".junie/AGENTS.md", "guidelines")], ..files::JUNIE }),
    first_of(&[file(Base::Root, "AGENTS.md", "guidelines")]),
    first_of(&[file(Base::Root, ".junie/guidelines.md", "guidelines")]),
    Format {
        unless: &[".junie/AGENTS.md", "AGENTS.md", ".junie/guidelines.md"],
        ..first_of(&[folder(Base::Root, ".junie/guidelines", MARKDOWN, Depth::Flat)])
    },
];

/// Only the first of these that exists is read.
pub(super) const HERMES: &[Format] = formats![
    own(Format {
        workspace: &[file(Base::Root, ".hermes.md", "rules"), file(Base::Root, "HERMES.md", "rules"),],
        ..files::HERMES
    }),
    first_of(&[file(Base::Root, "AGENTS.md", "rules")]),
    first_of(&[file(Base::Root, "CLAUDE.md", "rules")]),
    first_of(&[file(Base::Root, ".cursorrules", "rules")]),
];

/// Roo's folders, its old files, each if there is no newer one, and files at the root.
pub(super) const ROO: &[Format] = formats![
    own(Format { workspace: &[texts(Base::Root, ".roo/rules"), modes(Base::Root, ".roo")], ..of_modes::ROO }),
    roo_else(&[file(Base::Root, ".roorules", "roorules")], &[".roo/rules"]),
    roo_else(&[file(Base::Root, ".clinerules", "clinerules")], &[".roo/rules", ".roorules"]),
    roo_else(&[mode_file(".roorules-architect", "architect", "architect")], &[".roo/rules-architect"]),
    roo_else(&[mode_file(".roorules-ask", "ask", "ask")], &[".roo/rules-ask"]),
    roo_else(&[mode_file(".roorules-code", "code", "code")], &[".roo/rules-code"]),
    roo_else(&[mode_file(".roorules-debug", "debug", "debug")], &[".roo/rules-debug"]),
    roo_else(
        &[mode_file(".roorules-orchestrator", "orchestrator", "orchestrator")],
        &[".roo/rules-orchestrator"],
    ),
    roo_else(
        &[mode_file(".clinerules-architect", "architect", "architect")],
        &[".roo/rules-architect", ".roorules-architect"],
    ),
    roo_else(&[mode_file(".clinerules-ask", "ask", "ask")], &[".roo/rules-ask", ".roorules-ask"]),
    roo_else(&[mode_file(".clinerules-code", "code", "code")], &[".roo/rules-code", ".roorules-code"]),
    roo_else(&[mode_file(".clinerules-debug", "debug", "debug")], &[".roo/rules-debug", ".roorules-debug"]),
    roo_else(
        &[mode_file(".clinerules-orchestrator", "orchestrator", "orchestrator")],
        &[".roo/rules-orchestrator", ".roorules-orchestrator"],
    ),
    AGENTS_AND_LOCAL,
    AGENT_MD_ELSE,
    ROO_SKILLS,
];

const fn roo_else(workspace: &'static [Place], unless: &'static [&'static str]) -> Format {
    own(Format { workspace, user: &[], unless, ..of_modes::ROO })
}
