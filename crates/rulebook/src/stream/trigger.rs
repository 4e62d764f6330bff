//! Triggers: what a stream rule watches for, and how it acts on a match.

use std::borrow::Cow;
use std::sync::Arc;

use super::pattern::Pattern;
use super::policy::{ContextMode, InterruptMode, RepeatMode, StreamModes};
use super::scope::{self, StreamScope};
use super::syntax::SyntaxTrigger;
use crate::condition::Paths;

/// A stream rule, as far as a monitor needs it.
#[derive(Clone, Copy, Debug)]
pub struct StreamRule<'r> {
    /// The rule's name.
    pub name: &'r str,
    /// Its file, as displayed.
    pub source: &'r str,
    /// Whether it is mandatory: its conditions are compiled first.
    pub is_mandatory: bool,
    /// What it watches for.
    pub trigger: &'r Trigger,
}

/// What a stream rule watches for. It is not compiled, so that processes that watch no stream do not pay for it.
#[derive(Clone, Debug, Default)]
pub struct Trigger {
    /// Regular expressions; any match fires. Empty if none of them, or no scope, is valid: then the rule is inactive.
    pub conditions: Vec<Pattern>,
    /// Patterns on the syntax tree of what a call writes; any match fires.
    pub syntax: Vec<SyntaxTrigger>,
    /// The parts of the output to watch; empty means text and tools.
    pub scope: Vec<StreamScope>,
    /// How it interrupts and repeats, if the rule sets it.
    pub modes: OwnModes,
    /// The files that a tool call must be about, if the rule restricts them.
    pub gate: Option<Arc<Paths>>,
}

impl Trigger {
    /// The parts of the output that it watches.
    pub fn scopes(&self) -> Cow<'_, [StreamScope]> {
        if self.scope.is_empty() { Cow::Owned(scope::default()) } else { Cow::Borrowed(&self.scope) }
    }

    /// Whether it may watch an argument of this tool.
    pub(crate) fn may_watch_tool(&self, tool: &str) -> bool {
        if !self.syntax.is_empty() {
            return true;
        }
        let own = self.conditions.iter().filter_map(|pattern| pattern.scope.as_ref());
        self.scopes().iter().chain(own).any(|scope| scope.may_cover_tool(tool))
    }

    /// Whether nothing can fire it.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.syntax.is_empty()
    }

    /// Whether its globs admit a file.
    pub fn admits(&self, root: usize, path: &str) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate.is_match(Some(root), path))
    }
}

/// The modes that a rule sets itself; the others come from the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnModes {
    /// Whether a match interrupts.
    pub interrupt: Option<InterruptMode>,
    /// Whether the interrupted answer stays in the conversation.
    pub context: Option<ContextMode>,
    /// Whether it fires again.
    pub repeat: Option<RepeatMode>,
    /// The number of completed turns before it fires again.
    pub gap: Option<u32>,
}

impl OwnModes {
    /// The modes of the rule, with those of the settings as defaults.
    pub fn over(self, base: StreamModes) -> StreamModes {
        StreamModes {
            interrupt: self.interrupt.unwrap_or(base.interrupt),
            context: self.context.unwrap_or(base.context),
            repeat: self.repeat.unwrap_or(base.repeat),
            gap: self.gap.unwrap_or(base.gap),
        }
    }
}
