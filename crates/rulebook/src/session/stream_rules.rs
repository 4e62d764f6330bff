//! Stream rules as a session needs them: their texts, their modes, and what to say of their matches.

use crate::rule::Rule;
use crate::stream::Hit;
use crate::stream::policy::{MAX_INTERRUPTS, MatchedText, OutputSource, StreamModes};

/// How stream rules act, as far as they do not say so themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// When they interrupt and repeat.
    pub modes: StreamModes,
    /// How often one turn may be interrupted.
    pub max_interrupts: u32,
    /// How many bytes of a text are held back while a match in it is possible.
    pub hold_bytes: usize,
}

impl Default for StreamLimits {
    fn default() -> StreamLimits {
        StreamLimits { modes: StreamModes::default(), max_interrupts: MAX_INTERRUPTS, hold_bytes: 4096 }
    }
}

/// The limits of mandatory rules, and of all others: a workspace's settings do not weaken a mandatory rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamSettings {
    /// For mandatory rules.
    pub mandatory: StreamLimits,
    /// For the others.
    pub others: StreamLimits,
}

impl StreamSettings {
    /// The limits where a mandatory rule is, or is not, among those watched.
    pub fn limits(&self, is_mandatory: bool) -> &StreamLimits {
        if is_mandatory { &self.mandatory } else { &self.others }
    }

    /// A rule's modes: its own, else those of the settings.
    pub fn modes_of(&self, rule: &Rule) -> StreamModes {
        let own = rule.stream.as_ref().map(|trigger| trigger.modes).unwrap_or_default();
        own.over(self.limits(rule.is_mandatory).modes)
    }
}

/// The part of the output a hit is in.
pub(super) fn source(hit: &Hit) -> OutputSource {
    hit.scope.source()
}

/// What matched and where, for the model.
pub(super) fn matched<'h>(hits: impl IntoIterator<Item = &'h Hit>) -> Vec<MatchedText> {
    let place = |hit: &Hit| {
        let line = (source(hit) != OutputSource::Tool).then(|| format!("{} line {}", hit.scope, hit.line));
        let tool = hit.tool.as_ref().map(|tool| format!("tool {tool}"));
        let parts = [line, tool, hit.field.clone(), hit.file.clone()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    hits.into_iter().map(|hit| MatchedText { text: hit.text.clone(), place: place(hit) }).collect()
}
