//! Why a host's file cannot be edited, and where.

#[derive(Debug)]
pub(super) struct Fault {
    /// The offset in bytes.
    pub(super) at: usize,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Fault {
        Fault { at, message: message.into() }
    }

    /// Another server has the name of ours.
    pub(super) fn other_server(at: usize) -> Fault {
        Fault::new(at, "another server is named `rulebook`; give that one another name")
    }

    /// Returns the fault's `line:column`.
    pub(super) fn position(&self, text: &str) -> String {
        let before = &text[..text.floor_char_boundary(self.at)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{line}:{column}")
    }
}
