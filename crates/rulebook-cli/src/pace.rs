//! Repeated work that may use only a share of the time.

use std::time::Duration;

/// How often to repeat work, such as reading the rules again to find changes. In a large tree this takes long, so the pause
/// grows with it.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) shortest: Duration,
    /// The work may use one part in this many of the time.
    pub(crate) parts: u32,
}

impl Pace {
    /// Returns the pause after work that took this long.
    pub(crate) fn pause(self, took: Duration) -> Duration {
        self.shortest.max(took.saturating_mul(self.parts))
    }
}
