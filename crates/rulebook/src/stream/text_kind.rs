//! The kinds of text that scopes tell apart.

use super::scope::{OutputPart, StreamScope};

/// The kinds of text. Only the conditions that can reach a kind are searched for in it, so that no other holds it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Text,
    Thinking,
    Call,
}

pub(super) const TEXT_KINDS: [TextKind; 3] = [TextKind::Text, TextKind::Thinking, TextKind::Call];

impl TextKind {
    pub(super) fn of(part: &OutputPart<'_>) -> TextKind {
        match part {
            OutputPart::Text => TextKind::Text,
            OutputPart::Thinking => TextKind::Thinking,
            OutputPart::Field { .. } | OutputPart::Wire { .. } => TextKind::Call,
        }
    }

    /// Whether one of these scopes covers texts of this kind.
    pub(super) fn is_in(self, scopes: &[StreamScope]) -> bool {
        scopes.iter().any(|scope| match scope {
            StreamScope::Text => self == TextKind::Text,
            StreamScope::Thinking => self == TextKind::Thinking,
            StreamScope::Tool(_) | StreamScope::Wire(_) => self == TextKind::Call,
        })
    }
}
