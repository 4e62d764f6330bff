//! The table of formats, in the order that decides between rules of equal priority and scope.

pub(crate) mod designs;
pub(crate) mod located;
pub(crate) mod modes;
pub(crate) mod others;
pub(crate) mod skills;

use designs::{CLINE, CURSOR, OMP, OPENCODE, REMOTE, RULEBOOK, WINDSURF, XCSH};
use located::{
    AGENTS, AIDER, AMP, CODEX, CRUSH, DEEPAGENTS, FACTORY, FIREBASE, GEMINI, GOOSE, HERMES, JUNIE, KIMI,
    REASONIX, REPLIT, ROVO, WARP, ZED,
};
use modes::{KILO, ROO};
use others::{
    AMAZON_Q, ANTIGRAVITY, AUGMENT, CLAUDE, CLINE_SDK, CODEBUDDY, CODY, CONTINUE, COPILOT, DEVIN, FIREBENDER,
    GROK, JETBRAINS, KIRO, LINGMA, OMO, OPENHANDS, QODER, QWEN, TABNINE, TRAE,
};
use skills::SKILL;

use super::id::FormatId;
use super::place::{Place, PlaceKind};
use super::row::{Format, Keys, formats};

/// Every format: those of the three designs, then every other agent's.
pub static FORMATS: &[Format] = formats![
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
    AIDER,
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
    SKILL,
];

impl FormatId {
    /// Returns its row of the table.
    pub fn row(self) -> &'static Format {
        &FORMATS[self as usize]
    }
}

impl Format {
    /// Returns the format of that name.
    pub fn named(name: &str) -> Option<&'static Format> {
        FormatId::named(name).map(FormatId::row)
    }

    /// Returns the reading of a folder whose files do not follow the format's schema, if it has one.
    pub fn lenient(&self) -> Option<&'static Format> {
        (self.keys == Keys::Strict).then_some(&designs::OPENCODE_LENIENT)
    }

    /// Returns its first rule folder in a workspace.
    pub fn rule_folder(&self) -> Option<&'static Place> {
        self.workspace.iter().find(|place| matches!(place.shape, PlaceKind::Folder { .. }))
    }

    /// Returns the format that a folder is read as: the one whose workspace folder the path ends in, else Rulebook's own.
    pub fn of_folder(path: &str) -> (&'static Format, &'static Place) {
        let ends_in = |place: &&Place| {
            matches!(place.shape, PlaceKind::Folder { .. })
                && (path == place.path || path.ends_with(&format!("/{}", place.path)))
        };
        FORMATS
            .iter()
            .find_map(|format| Some((format, format.workspace.iter().find(ends_in)?)))
            .unwrap_or((&FORMATS[0], &FORMATS[0].workspace[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_its_row() {
        assert_eq!(FORMATS.len(), FormatId::NAMES.len());
        for (name, id) in FormatId::NAMES {
            assert_eq!((id.row().id, id.row().order), (*id, *id as usize), "{name}");
        }
    }

    #[test]
    fn a_folder_is_read_as_the_format_it_ends_in() {
        #[track_caller]
        fn check(path: &str, name: &str) {
            assert_eq!(Format::of_folder(path).0.name(), name, "{path}");
        }
        check("vendor/.cursor/rules", "cursor");
        check("/home/u/team/.clinerules", "cline");
        check(".opencode/rules", "opencode");
        check("team/rules", "rulebook");
        check("x.cursor/rules", "rulebook");
    }
}
