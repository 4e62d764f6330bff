//! The table of formats, in the order that decides between rules of equal priority and scope.

use super::{Bare, Base, Broken, Depth, Format, Ids, Keys, Place, Shape};
use crate::frontmatter::Tier;
use crate::glob::Dialect;

const MARKDOWN: &[&str] = &["md"];
const MD_AND_MDC: &[&str] = &["md", "mdc"];

const fn folder(base: Base, path: &'static str, extensions: &'static [&'static str], depth: Depth) -> Place {
    Place { base, path, shape: Shape::Folder { extensions, depth, skip: &[] } }
}

const fn file(base: Base, path: &'static str, id: &'static str, always: bool) -> Place {
    Place { base, path, shape: Shape::File { id, always } }
}

/// Every format there is.
pub static FORMATS: &[Format] = &[
    Format {
        name: "rulebook",
        agent: "Rulebook",
        workspace: &[folder(Base::Root, ".rulebook/rules", MD_AND_MDC, Depth::Recursive)],
        user: &[folder(Base::Config, "rulebook/rules", MD_AND_MDC, Depth::Recursive)],
        climbs: false,
        priority: Some(80),
        tier: Tier::Fenced,
        broken: Broken::Open,
        bare: Bare::OfferedElseAlways,
        ids: Ids::Path,
        paths_key: "paths",
        keys: Keys::All,
        agent_ignores: &[],
        unquoted: false,
        dialect: Dialect::Picomatch,
    },
    XCSH,
    Format {
        name: "omp",
        agent: "oh-my-pi",
        workspace: &[folder(Base::Root, ".omp/rules", MD_AND_MDC, Depth::Flat)],
        user: &[folder(Base::Home, ".omp/agent/rules", MD_AND_MDC, Depth::Flat)],
        ..XCSH
    },
    Format {
        name: "cursor",
        agent: "Cursor",
        workspace: &[
            folder(Base::Root, ".cursor/rules", MD_AND_MDC, Depth::Recursive),
            file(Base::Root, ".cursorrules", "cursorrules", true),
        ],
        user: &[folder(Base::Home, ".cursor/rules", MD_AND_MDC, Depth::Flat)],
        climbs: false,
        priority: Some(50),
        tier: Tier::Lines,
        broken: Broken::Bare,
        bare: Bare::OfferedElseManual,
        ids: Ids::Path,
        paths_key: "globs",
        keys: Keys::Paths,
        agent_ignores: &[],
        unquoted: true,
        dialect: Dialect::Picomatch,
    },
    Format {
        name: "windsurf",
        agent: "Windsurf",
        workspace: &[
            folder(Base::Root, ".windsurf/rules", MARKDOWN, Depth::Flat),
            file(Base::Root, ".windsurfrules", "windsurfrules", true),
        ],
        user: &[file(Base::Home, ".codeium/windsurf/memories/global_rules.md", "global_rules", false)],
        climbs: false,
        priority: Some(50),
        tier: Tier::Lines,
        broken: Broken::Bare,
        bare: Bare::OfferedElseAlways,
        ids: Ids::Path,
        paths_key: "globs",
        keys: Keys::Trigger,
        agent_ignores: &[],
        unquoted: true,
        dialect: Dialect::Picomatch,
    },
    Format {
        name: "cline",
        agent: "Cline",
        workspace: &[
            Place {
                base: Base::Root,
                path: ".clinerules",
                shape: Shape::Folder {
                    extensions: &["md", "txt"],
                    depth: Depth::Recursive,
                    skip: &["hooks", "workflows"],
                },
            },
            file(Base::Root, ".clinerules", "clinerules", false),
        ],
        user: &[folder(Base::Home, "Documents/Cline/Rules", &["md", "txt"], Depth::Recursive)],
        climbs: true,
        priority: Some(40),
        tier: Tier::Yaml,
        broken: Broken::Open,
        bare: Bare::Always,
        ids: Ids::Path,
        paths_key: "paths",
        keys: Keys::Conditions,
        agent_ignores: &["alwaysApply", "description", "globs"],
        unquoted: false,
        dialect: Dialect::Picomatch,
    },
    Format {
        name: "opencode",
        agent: "opencode",
        workspace: &[folder(Base::Root, ".opencode/rules", MARKDOWN, Depth::Recursive)],
        user: &[folder(Base::Config, "opencode/rules", MARKDOWN, Depth::Recursive)],
        climbs: false,
        priority: None,
        tier: Tier::Yaml,
        broken: Broken::Reject,
        bare: Bare::Inactive,
        ids: Ids::Stem,
        paths_key: "globs",
        keys: Keys::Strict,
        agent_ignores: &[],
        unquoted: false,
        dialect: Dialect::Picomatch,
    },
    Format {
        name: "remote",
        agent: "the remote server",
        workspace: &[],
        user: &[],
        climbs: false,
        priority: Some(60),
        tier: Tier::Yaml,
        broken: Broken::Open,
        bare: Bare::Always,
        ids: Ids::Path,
        paths_key: "paths",
        keys: Keys::Paths,
        agent_ignores: &[],
        unquoted: false,
        dialect: Dialect::Picomatch,
    },
];

/// What oh-my-pi grew from, and differs from in its folders only.
const XCSH: Format = Format {
    name: "xcsh",
    agent: "xcsh",
    workspace: &[folder(Base::Root, ".xcsh/rules", MD_AND_MDC, Depth::Flat)],
    user: &[folder(Base::Home, ".xcsh/agent/rules", MD_AND_MDC, Depth::Flat)],
    climbs: false,
    priority: Some(100),
    tier: Tier::Lines,
    broken: Broken::Bare,
    bare: Bare::OfferedElseUnreachable,
    ids: Ids::Path,
    paths_key: "globs",
    keys: Keys::All,
    agent_ignores: &[],
    unquoted: false,
    dialect: Dialect::Picomatch,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for format in FORMATS {
            assert_eq!(Format::named(format.name), Some(format));
        }
        assert!((1..FORMATS.len()).all(|at| FORMATS[..at].iter().all(|other| other != &FORMATS[at])));
    }

    #[test]
    fn a_folder_is_read_as_the_format_it_ends_in() {
        #[track_caller]
        fn check(path: &str, name: &str) {
            assert_eq!(Format::of_folder(path).0.name, name, "{path}");
        }
        check("vendor/.cursor/rules", "cursor");
        check("/home/u/team/.clinerules", "cline");
        check(".opencode/rules", "opencode");
        check("team/rules", "rulebook");
        check("x.cursor/rules", "rulebook");
    }

    #[test]
    fn an_id_is_the_path_without_its_suffix() {
        #[track_caller]
        fn check(format: &str, place: usize, inner: &str, id: &str) {
            let format = Format::named(format).unwrap();
            assert_eq!(format.id_of(&format.workspace[place], inner), id);
        }
        check("cursor", 0, "Web Rules.mdc", "web-rules");
        check("cursor", 0, "frontend/react.mdc", "frontend/react");
        check("opencode", 0, "frontend/react.md", "react");
        check("cline", 0, "a.instructions.md", "a");
        check("cline", 1, ".clinerules", "clinerules");
    }
}
