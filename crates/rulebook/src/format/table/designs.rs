//! The formats of the three designs that Rulebook unites.

use crate::format::place::{MARKDOWN, MD_AND_MDC, file, file_with_header, folder};
use crate::format::{
    ActivationKey, Bare, Base, Broken, Confidence, Config, ConfigEffect, Depth, Everything, Files, Format,
    FormatId, Ids, Keys, Lists, Place, PlaceKind, Repeats, SameId, StatedActivation, Top,
};
use crate::frontmatter::Tier;
use crate::glob::{Dialect, Exclusions};

/// Rulebook's own format.
pub(crate) const RULEBOOK: Format = Format {
    id: FormatId::Rulebook,
    order: 0,
    agent: "Rulebook",
    workspace: &[folder(Base::Root, ".rulebook/rules", MD_AND_MDC, Depth::Recursive)],
    user: &[folder(Base::Config, "rulebook/rules", MD_AND_MDC, Depth::Recursive)],
    configs: &[],
    since: None,
    off_words: &[],
    climbs: false,
    user_first: false,
    priority: Some(80),
    tier: Some(Tier::Fenced),
    broken: Broken::Open,
    bare: Bare::OfferedElseAlways,
    not_always: None,
    everything: Everything::Nothing,
    repeats: Repeats::First,
    ids: Ids::Path,
    plain_folders: &[],
    same_id: SameId::FirstOfAll,
    paths_key: "paths",
    lists: Lists::Either,
    keys: Keys::All,
    modes: None,
    aliases: &[],
    inert: &[],
    sets: &[],
    excludes: None,
    agent_ignores: &[],
    unquoted: false,
    offers_scoped: true,
    dialect: Dialect::Picomatch,
    rival: None,
    exclusions: Exclusions::OfDialect,
    top: Top::Blank,
    strips_comments: false,
    scoped: true,
    from_root: false,
    unless: &[],
    needs_folder_name: false,
    imports: 0,
    largest: None,
    rules_import: false,
    limit: None,
    advised: None,
    confidence: Confidence::High,
    knowledge: "this project",
};

pub(crate) const XCSH: Format = Format {
    id: FormatId::Xcsh,
    agent: "xcsh",
    workspace: &[folder(Base::Root, ".xcsh/rules", MD_AND_MDC, Depth::Flat)],
    user: &[folder(Base::Home, ".xcsh/agent/rules", MD_AND_MDC, Depth::Flat)],
    priority: Some(100),
    tier: Some(Tier::Lines),
    broken: Broken::Bare,
    bare: Bare::OfferedElseUnreachable,
    paths_key: "globs",
    knowledge: "its source and its documentation of the rulebook pipeline",
    ..RULEBOOK
};

/// oh-my-pi derives from xcsh and differs in its folders only.
pub(crate) const OMP: Format = Format {
    id: FormatId::Omp,
    agent: "oh-my-pi",
    workspace: &[folder(Base::Root, ".omp/rules", MD_AND_MDC, Depth::Flat)],
    user: &[folder(Base::Home, ".omp/agent/rules", MD_AND_MDC, Depth::Flat)],
    knowledge: "its source",
    ..XCSH
};

pub(crate) const CURSOR: Format = Format {
    id: FormatId::Cursor,
    agent: "Cursor",
    same_id: SameId::FirstWins,
    workspace: &[
        folder(Base::Root, ".cursor/rules", MD_AND_MDC, Depth::Recursive),
        file(Base::Root, ".cursorrules", "cursorrules"),
    ],
    user: &[folder(Base::Home, ".cursor/rules", MD_AND_MDC, Depth::Flat)],
    priority: Some(50),
    tier: Some(Tier::Lines),
    broken: Broken::Bare,
    bare: Bare::OfferedElseManual,
    paths_key: "globs",
    keys: Keys::Paths,
    unquoted: true,
    advised: Some(500),
    knowledge: "its documentation as of August 2026; its glob dialect is not documented",
    ..RULEBOOK
};

/// Windsurf's words for the activation, which other agents adopted.
pub(crate) const TRIGGER: ActivationKey = ActivationKey {
    key: "trigger",
    words: &[
        ("always_on", StatedActivation::Always),
        ("glob", StatedActivation::Glob),
        ("model_decision", StatedActivation::Offered),
        ("manual", StatedActivation::Manual),
    ],
    unsaid: None,
    offered_by: &["description"],
};

pub(crate) const WINDSURF: Format = Format {
    id: FormatId::Windsurf,
    agent: "Windsurf",
    same_id: SameId::FirstWins,
    workspace: &[
        folder(Base::Root, ".windsurf/rules", MARKDOWN, Depth::Flat),
        file(Base::Root, ".windsurfrules", "windsurfrules"),
        // Devin's command line reads it if there is no `.devin/global_rules.md`.
        file(Base::Root, ".windsurf/global_rules.md", "windsurf-global-rules"),
    ],
    user: &[
        file_with_header(Base::Home, ".codeium/windsurf/memories/global_rules.md", "global_rules")
            .within(6_000),
        folder(Base::System, "etc/windsurf/rules", MARKDOWN, Depth::Flat),
        folder(Base::System, "Library/Application Support/Windsurf/rules", MARKDOWN, Depth::Flat),
        folder(Base::System, "ProgramData/Windsurf/rules", MARKDOWN, Depth::Flat),
    ],
    bare: Bare::OfferedElseAlways,
    modes: Some(TRIGGER),
    limit: Some(12_000),
    advised: None,
    knowledge: "its documentation; its glob dialect is not documented",
    ..CURSOR
};

pub(crate) const CLINE: Format = Format {
    id: FormatId::Cline,
    agent: "Cline",
    // `rulebook install cline --move-rules` moves rules there, and they keep their names.
    plain_folders: &["conditional"],
    same_id: SameId::KeepAll,
    workspace: &[
        Place::new(
            Base::Root,
            ".clinerules",
            PlaceKind::Folder {
                files: Files::Ending(&["md", "txt"]),
                depth: Depth::Recursive,
                skip: &["hooks", "skills", "workflows"],
            },
        ),
        file_with_header(Base::Root, ".clinerules", "clinerules"),
    ],
    user: &[
        folder(Base::Home, "Documents/Cline/Rules", &["md", "txt"], Depth::Recursive),
        folder(Base::Home, "Cline/Rules", &["md", "txt"], Depth::Recursive),
    ],
    climbs: true,
    priority: Some(40),
    tier: Some(Tier::Yaml),
    bare: Bare::Always,
    lists: Lists::List,
    keys: Keys::Conditions,
    agent_ignores: &["alwaysApply", "description", "globs"],
    knowledge: "its source and documentation",
    ..RULEBOOK
};

/// The key of opencode and its descendants that lists more files to read.
pub(crate) const fn instructions(base: Base, path: &'static str) -> Config {
    Config::new(ConfigEffect::Files, base, path, &["instructions"])
}

pub(crate) const OPENCODE: Format = Format {
    id: FormatId::Opencode,
    agent: "opencode",
    same_id: SameId::FirstWins,
    workspace: &[folder(Base::Root, ".opencode/rules", MARKDOWN, Depth::Recursive)],
    user: &[folder(Base::Config, "opencode/rules", MARKDOWN, Depth::Recursive)],
    priority: None,
    tier: Some(Tier::Yaml),
    broken: Broken::Reject,
    bare: Bare::Inactive,
    ids: Ids::Stem,
    paths_key: "globs",
    keys: Keys::Strict,
    configs: &[
        instructions(Base::Top, "opencode.json"),
        instructions(Base::Top, "opencode.jsonc"),
        instructions(Base::Top, ".opencode/opencode.json"),
        instructions(Base::Top, ".opencode/opencode.jsonc"),
        instructions(Base::Config, "opencode/opencode.json"),
        instructions(Base::Config, "opencode/opencode.jsonc"),
    ],
    knowledge: "the design of its strict rules",
    ..RULEBOOK
};

/// The same folder without the schema: most repositories keep plain Markdown there.
pub(crate) static OPENCODE_LENIENT: Format = Format {
    order: FormatId::Opencode as usize,
    priority: Some(30),
    tier: Some(Tier::Fenced),
    broken: Broken::Open,
    bare: Bare::Always,
    not_always: Some(Bare::Manual),
    keys: Keys::Plain,
    aliases: &[("priority", "priority")],
    knowledge: "files of public repositories",
    ..OPENCODE
};

pub(crate) const REMOTE: Format = Format {
    id: FormatId::Remote,
    agent: "the remote server",
    same_id: SameId::FirstWins,
    workspace: &[],
    user: &[],
    priority: Some(60),
    tier: Some(Tier::Yaml),
    bare: Bare::Always,
    keys: Keys::Paths,
    aliases: &[("alwaysEnabled", "alwaysEnabled")],
    ..RULEBOOK
};
