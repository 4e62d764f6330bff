//! Objects and arrays within each other.

use super::State;

/// An object or array that is open.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// How much of the path is its own.
    pub(super) base: usize,
    pub(super) inside: Inside,
}

#[derive(Clone, Debug)]
pub(super) enum Inside {
    Object,
    Array { index: usize },
}

impl Frame {
    pub(super) fn object(base: usize) -> Frame {
        Frame { base, inside: Inside::Object }
    }

    pub(super) fn array(base: usize) -> Frame {
        Frame { base, inside: Inside::Array { index: 0 } }
    }

    pub(super) fn bracket(&self) -> u8 {
        match self.inside {
            Inside::Object => b'}',
            Inside::Array { .. } => b']',
        }
    }

    /// What must follow a comma.
    pub(super) fn next(&self) -> State {
        match self.inside {
            Inside::Object => State::Key,
            Inside::Array { .. } => State::Value,
        }
    }
}
