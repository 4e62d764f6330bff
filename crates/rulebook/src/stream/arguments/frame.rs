//! Nested objects and arrays.

/// An open object or array.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The length of its own path.
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
}
