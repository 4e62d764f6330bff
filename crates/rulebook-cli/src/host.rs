//! The hosts: agents whose hooks `rulebook hook` answers and whose files `rulebook install` edits.

/// A host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostId {
    Claude,
    Cline,
    Codex,
    Copilot,
    Cursor,
    Gemini,
    Opencode,
    Qwen,
}

impl HostId {
    /// Every host, sorted by name.
    pub(crate) const ALL: [HostId; 8] = [
        HostId::Claude,
        HostId::Cline,
        HostId::Codex,
        HostId::Copilot,
        HostId::Cursor,
        HostId::Gemini,
        HostId::Opencode,
        HostId::Qwen,
    ];

    /// Returns the name that `rulebook hook` and `rulebook install` take.
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
