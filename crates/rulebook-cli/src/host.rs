//! The hosts: agents whose hooks `rulebook hook` answers and whose files `rulebook install` edits.

use clap::ValueEnum;

/// A host. Its name is what `rulebook hook` and `rulebook install` take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HostId {
    #[value(alias = "claude-code")]
    Claude,
    Cline,
    Codex,
    #[value(alias = "copilot-cli")]
    Copilot,
    Cursor,
    #[value(alias = "gemini-cli")]
    Gemini,
    Opencode,
    #[value(alias = "qwen-code")]
    Qwen,
}

impl HostId {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            HostId::Claude => "claude",
            HostId::Cline => "cline",
            HostId::Codex => "codex",
            HostId::Copilot => "copilot",
            HostId::Cursor => "cursor",
            HostId::Gemini => "gemini",
            HostId::Opencode => "opencode",
            HostId::Qwen => "qwen",
        }
    }
}
