//! The ids of formats.

use crate::words::words;

words! {
    /// Which format a file has. Earlier wins between rules of equal priority and scope.
    FormatId {
        Rulebook = "rulebook",
        Xcsh = "xcsh",
        Omp = "omp",
        Cursor = "cursor",
        Windsurf = "windsurf",
        Cline = "cline",
        Opencode = "opencode",
        Remote = "remote",
        Claude = "claude",
        Copilot = "copilot",
        Devin = "devin",
        Antigravity = "antigravity",
        Kiro = "kiro",
        Augment = "augment",
        AmazonQ = "amazonq",
        ClineSdk = "cline-sdk",
        Continue = "continue",
        Roo = "roo",
        Kilo = "kilo",
        Codex = "codex",
        Goose = "goose",
        Gemini = "gemini",
        Qwen = "qwen",
        Zed = "zed",
        Warp = "warp",
        Omo = "omo",
        Crush = "crush",
        OpenHands = "openhands",
        Amp = "amp",
        JetBrains = "jetbrains",
        Junie = "junie",
        Trae = "trae",
        Qoder = "qoder",
        Lingma = "lingma",
        CodeBuddy = "codebuddy",
        Firebender = "firebender",
        Factory = "factory",
        Aider = "aider",
        Tabnine = "tabnine",
        Grok = "grok",
        Cody = "cody",
        Kimi = "kimi",
        Rovo = "rovo",
        DeepAgents = "deepagents",
        Reasonix = "reasonix",
        Hermes = "hermes",
        Replit = "replit",
        Firebase = "firebase",
        AgentsMd = "agents-md",
        Skill = "skill",
    }
}

impl FormatId {
    /// Splits a key, `id@format`, into the id and the format.
    pub(crate) fn split_key(key: &str) -> Option<(&str, FormatId)> {
        let (id, format) = key.rsplit_once('@')?;
        Some((id, FormatId::named(format)?))
    }
}
