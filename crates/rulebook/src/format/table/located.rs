//! Formats of agents with single files, which are found by location.

use super::others::RAW;
use crate::format::place::{MARKDOWN, file, folder, located};
use crate::format::{Base, Confidence, Config, ConfigEffect, Depth, Format, FormatId};

/// Text without a header, which applies to its folder.
const LOCATED: Format = Format { priority: Some(20), user: &[], ..RAW };

pub(crate) const CODEX: Format = Format {
    id: FormatId::Codex,
    agent: "Codex",
    workspace: &[located(Base::Root, "AGENTS.override.md", "agents")],
    user: &[
        file(Base::Home, ".codex/AGENTS.override.md", "agents@codex"),
        file(Base::Home, ".codex/AGENTS.md", "agents@codex"),
    ],
    configs: &[
        Config::new(
            ConfigEffect::Fallbacks,
            Base::Top,
            ".codex/config.toml",
            &["project_doc_fallback_filenames"],
        ),
        Config::new(
            ConfigEffect::Fallbacks,
            Base::Home,
            ".codex/config.toml",
            &["project_doc_fallback_filenames"],
        ),
    ],
    knowledge: "its source",
    ..LOCATED
};

pub(crate) const GOOSE: Format = Format {
    id: FormatId::Goose,
    agent: "Goose",
    workspace: &[located(Base::Root, ".goosehints", "goosehints")],
    user: &[
        located(Base::Config, "goose/.goosehints", "goosehints"),
        file(Base::Config, "goose/AGENTS.md", "agents@goose"),
    ],
    imports: 3,
    knowledge: "its source",
    ..LOCATED
};

pub(crate) const GEMINI: Format = Format {
    id: FormatId::Gemini,
    agent: "Gemini CLI",
    workspace: &[located(Base::Root, "GEMINI.md", "gemini")],
    user: &[located(Base::Home, ".gemini/GEMINI.md", "gemini")],
    configs: &[
        Config::new(ConfigEffect::Names, Base::Top, ".gemini/settings.json", &["context", "fileName"]),
        Config::new(ConfigEffect::Names, Base::Home, ".gemini/settings.json", &["context", "fileName"]),
    ],
    imports: 5,
    knowledge: "its source and documentation",
    ..LOCATED
};

pub(crate) const ZED: Format = Format {
    id: FormatId::Zed,
    agent: "Zed",
    workspace: &[file(Base::Root, ".rules", "rules@zed")],
    user: &[file(Base::Config, "zed/AGENTS.md", "agents@zed")],
    knowledge: "its documentation",
    ..LOCATED
};

pub(crate) const WARP: Format = Format {
    id: FormatId::Warp,
    agent: "Warp",
    workspace: &[located(Base::Root, "WARP.md", "warp")],
    knowledge: "its source",
    ..LOCATED
};

pub(crate) const CRUSH: Format = Format {
    id: FormatId::Crush,
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
    id: FormatId::Amp,
    agent: "Amp",
    workspace: &[located(Base::Root, "AGENT.md", "agent")],
    user: &[file(Base::Config, "amp/AGENTS.md", "agents@amp")],
    imports: 5,
    confidence: Confidence::Medium,
    knowledge: "what other tools generate for it",
    ..LOCATED
};

pub(crate) const JUNIE: Format = Format {
    id: FormatId::Junie,
    agent: "Junie",
    workspace: &[
        file(Base::Root, ".junie/AGENTS.md", "agents@.junie"),
        file(Base::Root, ".junie/guidelines.md", "junie-guidelines"),
        folder(Base::Root, ".junie/guidelines", MARKDOWN, Depth::Flat),
    ],
    user: &[file(Base::Home, ".junie/AGENTS.md", "agents@junie")],
    imports: 0,
    knowledge: "copies of its documentation",
    ..AMP
};

pub(crate) const FACTORY: Format = Format {
    id: FormatId::Factory,
    agent: "Factory Droid",
    workspace: &[],
    user: &[file(Base::Home, ".factory/AGENTS.md", "agents@factory")],
    ..JUNIE
};

/// It reads only files that its settings or the user name.
pub(crate) const AIDER: Format = Format {
    id: FormatId::Aider,
    agent: "Aider",
    workspace: &[],
    user: &[],
    configs: &[
        Config::new(ConfigEffect::Files, Base::Top, ".aider.conf.yml", &["read"]),
        Config::new(ConfigEffect::Files, Base::Home, ".aider.conf.yml", &["read"]),
    ],
    confidence: Confidence::High,
    knowledge: "its documentation",
    ..JUNIE
};

pub(crate) const KIMI: Format = Format {
    id: FormatId::Kimi,
    agent: "Kimi",
    workspace: &[file(Base::Root, ".kimi-code/AGENTS.md", "agents@.kimi-code")],
    user: &[],
    ..JUNIE
};

pub(crate) const ROVO: Format = Format {
    id: FormatId::Rovo,
    agent: "Rovo Dev",
    workspace: &[file(Base::Root, ".rovodev/AGENTS.md", "agents@.rovodev")],
    user: &[],
    ..JUNIE
};

pub(crate) const DEEPAGENTS: Format = Format {
    id: FormatId::DeepAgents,
    agent: "deepagents",
    workspace: &[file(Base::Root, ".deepagents/AGENTS.md", "agents@.deepagents")],
    user: &[],
    ..JUNIE
};

pub(crate) const REASONIX: Format = Format {
    id: FormatId::Reasonix,
    agent: "Reasonix",
    workspace: &[located(Base::Root, "REASONIX.md", "reasonix")],
    user: &[],
    ..JUNIE
};

pub(crate) const HERMES: Format = Format {
    id: FormatId::Hermes,
    agent: "Hermes",
    workspace: &[file(Base::Root, ".hermes.md", "hermes"), file(Base::Root, "HERMES.md", "hermes")],
    user: &[],
    ..JUNIE
};

pub(crate) const REPLIT: Format = Format {
    id: FormatId::Replit,
    agent: "Replit",
    workspace: &[file(Base::Top, "replit.md", "replit").if_used(&[".replit", "replit.nix"])],
    user: &[],
    confidence: Confidence::Low,
    knowledge: "a report",
    ..JUNIE
};

pub(crate) const FIREBASE: Format = Format {
    id: FormatId::Firebase,
    agent: "Firebase Studio",
    workspace: &[file(Base::Root, ".idx/airules.md", "airules")],
    ..REPLIT
};

/// The file that most agents read.
pub(crate) const AGENTS: Format = Format {
    id: FormatId::AgentsMd,
    agent: "every agent that reads AGENTS.md",
    workspace: &[
        located(Base::Root, "AGENTS.md", "agents"),
        // Windsurf, Warp, OpenHands and Crush accept other cases. Below the root, those are usually documentation.
        located(Base::Top, "agents.md", "agents"),
        located(Base::Top, "Agents.md", "agents"),
        located(Base::Root, "AGENTS.local.md", "agents.local"),
    ],
    user: &[
        located(Base::Home, ".agents/AGENTS.md", "agents"),
        file(Base::Config, "AGENTS.md", "agents@.config"),
        file(Base::Config, "opencode/AGENTS.md", "agents@opencode"),
    ],
    knowledge: "the standard's own page",
    ..LOCATED
};
