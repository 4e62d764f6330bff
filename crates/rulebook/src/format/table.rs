//! The table of formats, in the order that decides between rules of equal priority and scope.

pub(crate) mod designs;
pub(crate) mod located;
pub(crate) mod modes;
pub(crate) mod others;

use designs::{CLINE, CURSOR, OMP, OPENCODE, REMOTE, RULEBOOK, WINDSURF, XCSH};
use located::{
    AGENTS, AMP, CODEX, CRUSH, DEEPAGENTS, FACTORY, FIREBASE, GEMINI, GOOSE, HERMES, JUNIE, KIMI, REASONIX,
    REPLIT, ROVO, WARP, ZED,
};
use modes::{KILO, ROO};
use others::{
    AMAZON_Q, ANTIGRAVITY, AUGMENT, CLAUDE, CLINE_SDK, CODEBUDDY, CODY, CONTINUE, COPILOT, DEVIN, FIREBENDER,
    GROK, JETBRAINS, KIRO, LINGMA, OMO, OPENHANDS, QODER, QWEN, TABNINE, TRAE,
};

use super::{Base, Depth, Format, Place, PlaceKind};

pub(crate) const MARKDOWN: &[&str] = &["md"];
pub(crate) const MD_AND_MDC: &[&str] = &["md", "mdc"];

pub(crate) const fn folder(
    base: Base,
    path: &'static str,
    extensions: &'static [&'static str],
    depth: Depth,
) -> Place {
    Place::new(base, path, PlaceKind::Folder { extensions, depth, skip: &[] })
}

pub(crate) const fn file(base: Base, path: &'static str, id: &'static str, always: bool) -> Place {
    Place::new(base, path, PlaceKind::File { id, always })
}

/// A file found by location, in a folder of the workspace or in the user's own: text without a header.
pub(crate) const fn located(base: Base, path: &'static str, id: &'static str) -> Place {
    Place::new(base, path, PlaceKind::Located { id, is_raw: true })
}

/// Every format there is: those of the three designs, then every other agent's.
pub static FORMATS: &[Format] = &[
    RULEBOOK,
    XCSH,
    OMP,
    CURSOR,
    WINDSURF,
    CLINE,
    OPENCODE,
    REMOTE,
    CLAUDE,
    COPILOT,
    DEVIN,
    ANTIGRAVITY,
    KIRO,
    AUGMENT,
    AMAZON_Q,
    CLINE_SDK,
    CONTINUE,
    ROO,
    KILO,
    CODEX,
    GOOSE,
    GEMINI,
    QWEN,
    ZED,
    WARP,
    OMO,
    CRUSH,
    OPENHANDS,
    AMP,
    JETBRAINS,
    JUNIE,
    TRAE,
    QODER,
    LINGMA,
    CODEBUDDY,
    FIREBENDER,
    FACTORY,
    TABNINE,
    GROK,
    CODY,
    KIMI,
    ROVO,
    DEEPAGENTS,
    REASONIX,
    HERMES,
    REPLIT,
    FIREBASE,
    AGENTS,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Origin;

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
        fn check(format: &str, place: usize, folder: &str, inner: &str, id: &str) {
            let format = Format::named(format).unwrap();
            let place = &format.workspace[place];
            let origin = Origin { place, folder: folder.to_owned(), ..Origin::named(format, inner) };
            assert_eq!(format.id_of(&origin), id);
        }
        check("cursor", 0, "", "Web Rules.mdc", "web-rules");
        check("cursor", 0, "", "frontend/react.mdc", "frontend/react");
        check("opencode", 0, "", "frontend/react.md", "react");
        check("cline", 0, "", "a.instructions.md", "a");
        check("cline", 1, "", ".clinerules", "clinerules");
        check("codebuddy", 0, "", "web/RULE.mdc", "web");
        check("copilot", 0, "", "api/errors.instructions.md", "api/errors");
        check("roo", 1, "", "rules-code/style.md", "code/style");
        check("claude", 1, "", "CLAUDE.md", "claude");
        check("claude", 1, "packages/web", "CLAUDE.md", "claude@packages/web");
    }
}
