//! Formats of agents with rules for modes: text, in one folder or file per mode.

use super::designs::instructions;
use super::others::RAW;
use crate::format::place::{MARKDOWN, file, folder};
use crate::format::{Base, Depth, Files, Format, FormatId, Place, PlaceKind, SameId};

/// What Roo does not read in its folders: caches, logs and files of the system. It reads every other file as text.
const NOT_TEXT: &[&str] = &[
    ".DS_Store",
    ".bak",
    ".cache",
    ".crdownload",
    ".db",
    ".dmp",
    ".dump",
    ".eslintcache",
    ".gitkeep",
    ".lock",
    ".log",
    ".old",
    ".part",
    ".partial",
    ".pyc",
    ".pyo",
    ".stackdump",
    ".swo",
    ".swp",
    ".temp",
    ".tmp",
];

pub(crate) const ROO: Format = Format {
    id: FormatId::Roo,
    agent: "Roo Code",
    workspace: &[
        texts(Base::Root, ".roo/rules"),
        modes(Base::Root, ".roo"),
        file(Base::Root, ".roorules", "roorules"),
        // Built-in modes; custom modes have folders.
        mode_file(".roorules-architect", "architect/roorules", "architect"),
        mode_file(".roorules-ask", "ask/roorules", "ask"),
        mode_file(".roorules-code", "code/roorules", "code"),
        mode_file(".roorules-debug", "debug/roorules", "debug"),
        mode_file(".roorules-orchestrator", "orchestrator/roorules", "orchestrator"),
        mode_file(".clinerules-architect", "architect/clinerules", "architect"),
        mode_file(".clinerules-ask", "ask/clinerules", "ask"),
        mode_file(".clinerules-code", "code/clinerules", "code"),
        mode_file(".clinerules-debug", "debug/clinerules", "debug"),
        mode_file(".clinerules-orchestrator", "orchestrator/clinerules", "orchestrator"),
    ],
    user: &[texts(Base::Home, ".roo/rules"), modes(Base::Home, ".roo")],
    same_id: SameId::KeepAll,
    knowledge: "its source",
    ..RAW
};

/// A folder of text files.
pub(crate) const fn texts(base: Base, path: &'static str) -> Place {
    let shape = PlaceKind::Folder { files: Files::AllBut(NOT_TEXT), depth: Depth::Recursive, skip: &[] };
    Place::new(base, path, shape)
}

/// Folders of text files, one for each mode.
pub(crate) const fn modes(base: Base, path: &'static str) -> Place {
    Place::new(base, path, PlaceKind::Modes { prefix: "rules-", files: Files::AllBut(NOT_TEXT) })
}

pub(crate) const fn mode_file(path: &'static str, id: &'static str, mode: &'static str) -> Place {
    file(Base::Root, path, id).in_mode(mode)
}

pub(crate) const KILO: Format = Format {
    id: FormatId::Kilo,
    agent: "Kilo Code",
    workspace: &[
        folder(Base::Root, ".kilo/rules", MARKDOWN, Depth::Flat),
        folder(Base::Root, ".kilocode/rules", MARKDOWN, Depth::Flat),
        modes(Base::Root, ".kilo"),
        modes(Base::Root, ".kilocode"),
        file(Base::Root, ".kilocoderules", "kilocoderules"),
    ],
    user: &[
        folder(Base::Home, ".kilo/rules", MARKDOWN, Depth::Flat),
        file(Base::Config, "kilo/AGENTS.md", "agents@kilo"),
    ],
    configs: &[instructions(Base::Top, "kilo.json"), instructions(Base::Top, "kilo.jsonc")],
    ..ROO
};
