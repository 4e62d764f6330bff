//! Triggers: what a stream rule watches for, and how it acts on a match.

use std::sync::Arc;

use super::pattern::Pattern;
use super::policy::{ContextMode, InterruptMode, RepeatMode, StreamModes};
use super::scope::StreamScope;
use crate::condition::Paths;

/// A stream rule, as far as a monitor needs it.
#[derive(Clone, Copy, Debug)]
pub struct StreamRule<'r> {
    /// The rule's name.
    pub name: &'r str,
    /// Whether it is mandatory: its conditions are compiled first.
    pub is_mandatory: bool,
    /// What it watches for.
    pub trigger: &'r Trigger,
}

/// What a stream rule watches for, read but not compiled: a process that watches nothing pays nothing.
#[derive(Clone, Debug)]
pub struct Trigger {
    /// Regular expressions, any of which fires.
    pub conditions: Vec<Pattern>,
    /// Which parts of the output are watched; empty means text and tools.
    pub scope: Vec<StreamScope>,
    /// How it interrupts and repeats, where the rule says so.
    pub modes: OwnModes,
    /// Files a tool call must be about, where the rule says so.
    pub gate: Option<Arc<Paths>>,
}

/// The modes a rule sets itself; the rest comes from the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnModes {
    /// Whether a match interrupts.
    pub interrupt: Option<InterruptMode>,
    /// What becomes of the interrupted answer.
    pub context: Option<ContextMode>,
    /// Whether it fires again.
    pub repeat: Option<RepeatMode>,
    /// After how many completed turns.
    pub gap: Option<u32>,
}

impl OwnModes {
    /// The rule's own modes over those of the settings.
    pub fn over(self, base: StreamModes) -> StreamModes {
        StreamModes {
            interrupt: self.interrupt.unwrap_or(base.interrupt),
            context: self.context.unwrap_or(base.context),
            repeat: self.repeat.unwrap_or(base.repeat),
            gap: self.gap.unwrap_or(base.gap),
        }
    }
}
