//! Readings of skills: which folders each agent reads.

use super::own::own;
use crate::format::place::skills;
use crate::format::table::skills::SKILL;
use crate::format::{Base, Confidence, Format, Keys, Place};
use crate::glob::Dialect;

/// An agent that lists skills by their names and descriptions.
const fn listed(workspace: &'static [Place], user: &'static [Place]) -> Format {
    own(Format { workspace, user, keys: Keys::Own(&["description"]), ..SKILL })
}

/// An agent that also applies a skill to the files that its `paths` match.
const fn with_paths(workspace: &'static [Place], user: &'static [Place]) -> Format {
    own(Format { workspace, user, dialect: Dialect::Picomatch, ..SKILL })
}

/// An agent that lists only skills whose name is that of their folder.
const fn named_like_folders(format: &Format) -> Format {
    Format { needs_folder_name: true, ..*format }
}

/// The same folders, for an agent that lists skills of any name.
pub(super) const fn with_any_name(format: &Format) -> Format {
    Format { needs_folder_name: false, ..*format }
}

/// An agent whose folders are known from what other tools generate for it.
const fn reported(workspace: &'static [Place], user: &'static [Place]) -> Format {
    Format {
        confidence: Confidence::Medium,
        knowledge: "what other tools generate for it",
        ..listed(workspace, user)
    }
}

const AGENTS: Place = skills(Base::Root, ".agents/skills");
const CLAUDE: Place = skills(Base::Root, ".claude/skills");
const AGENTS_OF_ONE: Place = skills(Base::Home, ".agents/skills");
const CLAUDE_OF_ONE: Place = skills(Base::Home, ".claude/skills");

pub(super) const CLAUDE_SKILLS: Format = listed(&[CLAUDE], &[CLAUDE_OF_ONE]);

pub(super) const CODEX_SKILLS: Format = listed(
    &[AGENTS, skills(Base::Root, ".codex/skills")],
    &[AGENTS_OF_ONE, skills(Base::Home, ".codex/skills")],
);

pub(super) const COPILOT_SKILLS: Format = named_like_folders(&listed(
    &[skills(Base::Root, ".github/skills"), CLAUDE, AGENTS],
    &[skills(Base::Home, ".copilot/skills"), CLAUDE_OF_ONE, AGENTS_OF_ONE],
));

/// Without the user's folders.
pub(super) const COPILOT_GITHUB_SKILLS: Format = with_any_name(&Format { user: &[], ..COPILOT_SKILLS });

pub(super) const CURSOR_SKILLS: Format = named_like_folders(&with_paths(
    &[skills(Base::Root, ".cursor/skills"), AGENTS, CLAUDE, skills(Base::Root, ".codex/skills")],
    &[
        skills(Base::Home, ".cursor/skills"),
        AGENTS_OF_ONE,
        CLAUDE_OF_ONE,
        skills(Base::Home, ".codex/skills"),
    ],
));

pub(super) const GEMINI_SKILLS: Format = listed(
    &[skills(Base::Root, ".gemini/skills"), AGENTS],
    &[skills(Base::Home, ".gemini/skills"), AGENTS_OF_ONE],
);

pub(super) const OPENCODE_SKILLS: Format = named_like_folders(&listed(
    &[skills(Base::Root, ".opencode/skills"), skills(Base::Root, ".opencode/skill"), CLAUDE, AGENTS],
    &[skills(Base::Config, "opencode/skills"), CLAUDE_OF_ONE, AGENTS_OF_ONE],
));

pub(super) const QWEN_SKILLS: Format =
    with_paths(&[skills(Base::Root, ".qwen/skills")], &[skills(Base::Home, ".qwen/skills")]);

pub(super) const GOOSE_SKILLS: Format = listed(
    &[skills(Base::Root, ".goose/skills"), CLAUDE, AGENTS],
    &[skills(Base::Config, "goose/skills"), CLAUDE_OF_ONE, AGENTS_OF_ONE],
);

pub(super) const AMP_SKILLS: Format = reported(
    &[AGENTS, CLAUDE],
    &[skills(Base::Config, "agents/skills"), skills(Base::Config, "amp/skills"), CLAUDE_OF_ONE],
);

pub(super) const CLINE_SKILLS: Format = named_like_folders(&listed(
    &[skills(Base::Root, ".cline/skills"), skills(Base::Root, ".clinerules/skills"), CLAUDE],
    &[skills(Base::Home, ".cline/skills")],
));

pub(super) const ROO_SKILLS: Format =
    listed(&[skills(Base::Root, ".roo/skills"), AGENTS], &[skills(Base::Home, ".roo/skills"), AGENTS_OF_ONE]);

pub(super) const KILO_SKILLS: Format = reported(
    &[skills(Base::Root, ".kilo/skills"), skills(Base::Root, ".kilocode/skills")],
    &[skills(Base::Home, ".kilocode/skills")],
);

pub(super) const WINDSURF_SKILLS: Format = reported(
    &[skills(Base::Root, ".windsurf/skills"), AGENTS],
    &[skills(Base::Home, ".codeium/windsurf/skills")],
);

pub(super) const DEVIN_SKILLS: Format =
    reported(&[skills(Base::Root, ".devin/skills"), skills(Base::Root, ".windsurf/skills"), AGENTS], &[]);

pub(super) const ANTIGRAVITY_SKILLS: Format = reported(
    &[AGENTS, skills(Base::Root, ".agent/skills")],
    &[skills(Base::Home, ".gemini/antigravity/skills")],
);

pub(super) const FACTORY_SKILLS: Format =
    reported(&[skills(Base::Root, ".factory/skills")], &[skills(Base::Home, ".factory/skills")]);

pub(super) const KIRO_SKILLS: Format =
    reported(&[skills(Base::Root, ".kiro/skills")], &[skills(Base::Home, ".kiro/skills")]);

pub(super) const PI_SKILLS: Format = reported(
    &[skills(Base::Root, ".pi/skills"), AGENTS],
    &[skills(Base::Home, ".pi/agent/skills"), AGENTS_OF_ONE],
);
