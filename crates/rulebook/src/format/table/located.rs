//! Formats of agents whose instructions are single files, found by where they lie.

use super::others::RAW;
use super::{MARKDOWN, file, folder, located};
use crate::format::{Base, Confidence, Depth, Format};

/// Text without a header, for the folder it lies in.
const LOCATED: Format = Format { priority: Some(20), user: &[], ..RAW };

pub(crate) const CODEX: Format = Format {
    name: "codex",
    agent: "Codex",
    workspace: &[located(Base::Root, "AGENTS.override.md", "agents")],
    user: &[
        file(Base::Home, ".codex/AGENTS.override.md", "agents@codex", true),
        file(Base::Home, ".codex/AGENTS.md", "agents@codex", true),
    ],
    knowledge: "its source",
    ..LOCATED
};

pub(crate) const GOOSE: Format = Format {
    name: "goose",
    agent: "Goose",
    workspace: &[located(Base::Root, ".goosehints", "goosehints")],
    user: &[
        located(Base::Config, "goose/.goosehints", "goosehints"),
        file(Base::Config, "goose/AGENTS.md", "agents@goose", true),
    ],
    imports: 3,
    knowledge: "its source",
    ..LOCATED
};

pub(crate) const GEMINI: Format = Format {
    name: "gemini",
    agent: "Gemini CLI",
    workspace: &[located(Base::Root, "GEMINI.md", "gemini")],
    user: &[located(Base::Home, ".gemini/GEMINI.md", "gemini")],
    imports: 5,
    knowledge: "its source and documentation",
    ..LOCATED
};

pub(crate) const ZED: Format = Format {
    name: "zed",
    agent: "Zed",
    workspace: &[file(Base::Root, ".rules", "rules@zed", true)],
    user: &[file(Base::Config, "zed/AGENTS.md", "agents@zed", true)],
    knowledge: "its documentation",
    ..LOCATED
};

pub(crate) const WARP: Format = Format {
    name: "warp",
    agent: "Warp",
    workspace: &[located(Base::Root, "WARP.md", "warp")],
    knowledge: "its source",
    ..LOCATED
};

pub(crate) const CRUSH: Format = Format {
    name: "crush",
    agent: "Crush",
    workspace: &[
        located(Base::Root, "CRUSH.md", "crush"),
        located(Base::Top, "Crush.md", "crush"),
        located(Base::Top, "crush.md", "crush"),
        located(Base::Root, "CRUSH.local.md", "crush.local"),
    ],
    user: &[located(Base::Config, "crush/CRUSH.md", "crush")],
    knowledge: "its source",
    ..LOCATED
};

pub(crate) const AMP: Format = Format {
    name: "amp",
    agent: "Amp",
    workspace: &[located(Base::Root, "AGENT.md", "agent")],
    user: &[file(Base::Config, "amp/AGENTS.md", "agents@amp", true)],
    imports: 5,
    confidence: Confidence::Medium,
    knowledge: "what other tools write for it",
    ..LOCATED
};

pub(crate) const JUNIE: Format = Format {
    name: "junie",
    agent: "Junie",
    workspace: &[
        file(Base::Root, ".junie/AGENTS.md", "agents@.junie", true),
        file(Base::Root, ".junie/guidelines.md", "junie-guidelines", true),
        folder(Base::Root, ".junie/guidelines", MARKDOWN, Depth::Flat),
    ],
    user: &[file(Base::Home, ".junie/AGENTS.md", "agents@junie", true)],
    imports: 0,
    knowledge: "copies of its documentation",
    ..AMP
};

pub(crate) const FACTORY: Format = Format {
    name: "factory",
    agent: "Factory Droid",
    workspace: &[],
    user: &[file(Base::Home, ".factory/AGENTS.md", "agents@factory", true)],
    ..JUNIE
};

pub(crate) const KIMI: Format = Format {
    name: "kimi",
    agent: "Kimi",
    workspace: &[file(Base::Root, ".kimi-code/AGENTS.md", "agents@.kimi-code", true)],
    user: &[],
    ..JUNIE
};

pub(crate) const ROVO: Format = Format {
    name: "rovo",
    agent: "Rovo Dev",
    workspace: &[file(Base::Root, ".rovodev/AGENTS.md", "agents@.rovodev", true)],
    user: &[],
    ..JUNIE
};

pub(crate) const DEEPAGENTS: Format = Format {
    name: "deepagents",
    agent: "deepagents",
    workspace: &[file(Base::Root, ".deepagents/AGENTS.md", "agents@.deepagents", true)],
    user: &[],
    ..JUNIE
};

pub(crate) const REASONIX: Format = Format {
    name: "reasonix",
    agent: "Reasonix",
    workspace: &[located(Base::Root, "REASONIX.md", "reasonix")],
    user: &[],
    ..JUNIE
};

pub(crate) const HERMES: Format = Format {
    name: "hermes",
    agent: "Hermes",
    workspace: &[
        file(Base::Root, ".hermes.md", "hermes", true),
        file(Base::Root, "HERMES.md", "hermes", true),
    ],
    user: &[],
    ..JUNIE
};

pub(crate) const REPLIT: Format = Format {
    name: "replit",
    agent: "Replit",
    workspace: &[file(Base::Root, "replit.md", "replit", true)],
    user: &[],
    confidence: Confidence::Low,
    knowledge: "a report",
    ..JUNIE
};

pub(crate) const FIREBASE: Format = Format {
    name: "firebase",
    agent: "Firebase Studio",
    workspace: &[file(Base::Root, ".idx/airules.md", "airules", true)],
    ..REPLIT
};

/// The file every agent agrees on.
pub(crate) const AGENTS: Format = Format {
    name: "agents",
    agent: "every agent that reads AGENTS.md",
    workspace: &[
        located(Base::Root, "AGENTS.md", "agents"),
        // Windsurf, Warp, OpenHands and Crush take other cases too; below the root, those are pages of documentation.
        located(Base::Top, "agents.md", "agents"),
        located(Base::Top, "Agents.md", "agents"),
        located(Base::Root, "AGENTS.local.md", "agents.local"),
    ],
    user: &[
        located(Base::Home, ".agents/AGENTS.md", "agents"),
        file(Base::Config, "AGENTS.md", "agents@.config", true),
        file(Base::Config, "opencode/AGENTS.md", "agents@opencode", true),
    ],
    knowledge: "the standard's own page",
    ..LOCATED
};
