//! Readings of xcsh and oh-my-pi: paths are shown to the model and have no other effect.

use super::located::first_of;
use super::own::own;
use crate::format::place::{MARKDOWN, MD_AND_MDC, file, file_with_header, folder};
use crate::format::table::{designs, others};
use crate::format::{Bare, Base, Depth, Format, Keys, Top, formats};
use crate::frontmatter::Tier;

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

/// A header that YAML rejects is read line by line, and every value is text.
pub(super) const XCSH: Format =
    own(Format { keys: XCSH_KEYS, inert: SHOWN, tier: Some(Tier::Texts), top: Top::Byte, ..designs::XCSH });

/// The user's files come first.
pub(super) const XCSH_CURSOR: Format = Format {
    id: designs::CURSOR.id,
    workspace: &[folder(Base::Root, ".cursor/rules", MD_AND_MDC, Depth::Flat)],
    user: designs::CURSOR.user,
    user_first: true,
    ..XCSH
};

/// Without `.windsurfrules`. The user's file comes first.
pub(super) const XCSH_WINDSURF: Format = Format {
    id: designs::WINDSURF.id,
    workspace: &[folder(Base::Root, ".windsurf/rules", MARKDOWN, Depth::Flat)],
    user: &[file_with_header(Base::Home, ".codeium/windsurf/memories/global_rules.md", "global_rules")],
    user_first: true,
    ..XCSH
};

/// The nearest `.clinerules` from the root up; a folder without its sub-folders.
pub(super) const XCSH_CLINE: Format = Format {
    id: designs::CLINE.id,
    workspace: &[
        folder(Base::Root, ".clinerules", MARKDOWN, Depth::Flat),
        file_with_header(Base::Root, ".clinerules", "clinerules"),
    ],
    user: &[],
    climbs: true,
    ..XCSH
};

/// Each value of a header that YAML rejects is read by itself.
const OMP: Format = Format {
    id: designs::OMP.id,
    agent: designs::OMP.agent,
    workspace: designs::OMP.workspace,
    user: designs::OMP.user,
    tier: Some(Tier::Lines),
    knowledge: designs::OMP.knowledge,
    ..XCSH
};

/// `.agent/rules` and `.agents/rules`, which other agents share.
const OMP_AGENTS: Format = Format {
    id: others::ANTIGRAVITY.id,
    workspace: &[
        folder(Base::Root, ".agent/rules", MD_AND_MDC, Depth::Flat),
        folder(Base::Root, ".agents/rules", MD_AND_MDC, Depth::Flat),
    ],
    user: &[
        folder(Base::Home, ".agent/rules", MD_AND_MDC, Depth::Flat),
        folder(Base::Home, ".agents/rules", MD_AND_MDC, Depth::Flat),
    ],
    ..OMP
};

/// The user's files of other agents are read only if its settings name their provider.
const OMP_CURSOR: Format = Format { tier: OMP.tier, user: &[], ..XCSH_CURSOR };
const OMP_WINDSURF: Format = Format { tier: OMP.tier, user: &[], ..XCSH_WINDSURF };
const OMP_CLINE: Format = Format { tier: OMP.tier, ..XCSH_CLINE };

/// Listed with a description that it generates, unless it is for everything.
const OMP_COPILOT: Format = Format {
    id: others::COPILOT.id,
    workspace: &[folder(Base::Root, ".github/instructions", &["instructions.md"], Depth::Recursive)],
    user: &[],
    keys: Keys::Own(&["applyTo", "description"]),
    inert: &["applyTo"],
    paths_key: "applyTo",
    everything: others::COPILOT.everything,
    bare: Bare::Listed,
    ..OMP
};

/// Its rules, then the first file in the folder that gives context.
pub(super) const OMP_ALL: &[Format] = formats![
    OMP,
    OMP_AGENTS,
    OMP_CURSOR,
    OMP_WINDSURF,
    OMP_CLINE,
    OMP_COPILOT,
    Format {
        user: &[file(Base::Home, ".omp/agent/AGENTS.md", "agents@.omp")],
        ..first_of(&[file(Base::Root, ".omp/AGENTS.md", "agents")])
    },
    first_of(&[file(Base::Root, ".claude/CLAUDE.md", "agents")]),
    first_of(&[file(Base::Root, ".agent/AGENTS.md", "agents")]),
    first_of(&[file(Base::Root, ".agents/AGENTS.md", "agents")]),
    first_of(&[file(Base::Root, ".gemini/GEMINI.md", "agents")]),
    first_of(&[file(Base::Root, ".github/copilot-instructions.md", "agents")]),
    first_of(&[file(Base::Root, "AGENTS.md", "agents")]),
    first_of(&[file(Base::Root, "CLAUDE.md", "agents")]),
];
