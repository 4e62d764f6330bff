//! Formats of agents with rules for modes: text, in one folder or file per mode.

use super::others::RAW;
use crate::format::place::{MARKDOWN, file, folder};
use crate::format::{Base, Depth, Format, FormatId, Place, PlaceKind};

/// Roo reads any text file; these are the usual extensions.
pub(crate) const TEXT: &[&str] = &["md", "markdown", "mdc", "txt"];

pub(crate) const ROO: Format = Format {
    id: FormatId::Roo,
    agent: "Roo Code",
    workspace: &[
        folder(Base::Root, ".roo/rules", TEXT, Depth::Recursive),
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
    user: &[folder(Base::Home, ".roo/rules", TEXT, Depth::Recursive), modes(Base::Home, ".roo")],
    knowledge: "its source",
    ..RAW
};

pub(crate) const fn modes(base: Base, path: &'static str) -> Place {
    Place::new(base, path, PlaceKind::Modes { prefix: "rules-", extensions: TEXT })
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
    ..ROO
};
