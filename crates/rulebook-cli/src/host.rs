//! The hosts: agents whose hooks `rulebook hook` answers and whose files `rulebook install` edits.

rulebook::words! {
    /// A host, sorted by name. `rulebook hook` and `rulebook install` take the names.
    HostId {
        Claude = "claude",
        Cline = "cline",
        Codex = "codex",
        Copilot = "copilot",
        Cursor = "cursor",
        Gemini = "gemini",
        Opencode = "opencode",
        Qwen = "qwen",
    }
}
