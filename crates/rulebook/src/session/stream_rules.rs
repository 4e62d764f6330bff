//! Stream rules as a session needs them: their texts, their modes, and what to say of their matches.

use super::event::{Delivery, Event, RELEASED};
use super::ordered::OrderedRule;
use crate::evidence::Roots;
use crate::requirement::OnUnknown;
use crate::rule::{Body, Rule};
use crate::stream::Hit;
use crate::stream::policy::{ContextMode, MAX_INTERRUPTS, MatchedText, OutputSource, StreamModes};
use crate::stream::scope::StreamScope;

/// How stream rules act, as far as they do not say so themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// When they interrupt and repeat.
    pub modes: StreamModes,
    /// How often one turn may be interrupted.
    pub max_interrupts: u32,
    /// How many bytes of a text are held back while a match in it is possible.
    pub hold_bytes: usize,
    /// How long a text is held back, in milliseconds.
    pub hold_ms: u32,
}

impl Default for StreamLimits {
    fn default() -> StreamLimits {
        StreamLimits {
            modes: StreamModes::default(),
            max_interrupts: MAX_INTERRUPTS,
            hold_bytes: 4096,
            hold_ms: 2000,
        }
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

/// A stream rule: what is needed when it fires.
#[derive(Clone, Debug)]
pub(super) struct WatchedRule {
    pub(super) key: String,
    pub(super) name: String,
    /// Its file, as displayed. Identifies the rule in the policy.
    pub(super) path: String,
    pub(super) body: Body,
    pub(super) modes: StreamModes,
    pub(super) is_mandatory: bool,
}

impl WatchedRule {
    /// The delivery of the rule because of a match.
    pub(super) fn delivery(&self) -> Delivery {
        Delivery {
            rule: self.key.clone(),
            source: self.path.clone(),
            because: "the output matched".to_owned(),
            ..Delivery::of_text("", &self.body)
        }
    }
}

/// Stream rules that are watched together.
#[derive(Clone, Debug, Default)]
pub struct StreamRules {
    rules: Vec<WatchedRule>,
    limits: StreamLimits,
    is_mandatory: bool,
    watches_thinking: bool,
    keeps_output: bool,
    keeps_calls: bool,
    /// The rules with requirements, and the roots that make files of shell lines relative.
    pub(super) ordered: Vec<OrderedRule>,
    pub(super) roots: Roots,
}

impl StreamRules {
    /// Collects the stream rules among these.
    pub fn new<'r>(rules: impl IntoIterator<Item = &'r Rule>, settings: &StreamSettings) -> StreamRules {
        let mut collected = StreamRules::default();
        for rule in rules {
            let Some(trigger) = &rule.stream else { continue };
            let modes = settings.modes_of(rule);
            let own = trigger.conditions.iter().filter_map(|pattern| pattern.scope.as_ref());
            collected.watches_thinking |=
                own.chain(&trigger.scope).any(|scope| matches!(scope, StreamScope::Thinking));
            collected.is_mandatory |= rule.is_mandatory;
            collected.keeps_output |= modes.context == ContextMode::Keep;
            collected.rules.push(WatchedRule {
                key: rule.key(),
                name: rule.address().to_owned(),
                path: rule.origin.display.clone(),
                body: rule.body.clone(),
                modes,
                is_mandatory: rule.is_mandatory,
            });
        }
        collected.limits = *settings.limits(collected.is_mandatory);
        collected
    }

    /// Checks complete calls, and the end of a turn, against the requirements of these rules too.
    pub fn with_order<'r>(self, rules: impl IntoIterator<Item = &'r Rule>, roots: &Roots) -> StreamRules {
        let ordered: Vec<OrderedRule> = rules.into_iter().filter_map(OrderedRule::of).collect();
        StreamRules {
            // What the model says before it stops stays in the conversation.
            keeps_output: self.keeps_output || ordered.iter().any(OrderedRule::is_about_stop),
            keeps_calls: self.keeps_calls || !ordered.is_empty(),
            roots: roots.clone(),
            ordered,
            ..self
        }
    }

    /// Keeps the arguments of calls, for something else that checks them.
    pub fn keeping_calls(self, keeps_calls: bool) -> StreamRules {
        StreamRules { keeps_calls: self.keeps_calls || keeps_calls, ..self }
    }

    /// Whether the arguments of calls are kept until they are complete.
    pub(super) fn keeps_calls(&self) -> bool {
        self.keeps_calls
    }

    /// Whether calls are checked against requirements.
    pub fn has_order(&self) -> bool {
        !self.ordered.is_empty()
    }

    /// Whether the user must be asked where it is not known what a call does.
    pub fn may_ask(&self) -> bool {
        self.ordered.iter().any(|rule| rule.requirements.on_unknown == OnUnknown::Ask)
    }

    /// Whether a mandatory rule is among them.
    pub fn is_mandatory(&self) -> bool {
        self.is_mandatory
    }

    /// Their limits.
    pub fn limits(&self) -> &StreamLimits {
        &self.limits
    }

    /// Whether one of them watches thinking.
    pub(crate) fn watches_thinking(&self) -> bool {
        self.watches_thinking
    }

    /// Whether one of them keeps the output before an interrupt.
    pub fn keeps_output(&self) -> bool {
        self.keeps_output
    }

    /// The rule of a file, as displayed.
    pub(super) fn at(&self, path: &str) -> Option<&WatchedRule> {
        self.rules.iter().find(|rule| rule.path == path)
    }

    /// The event of a text that was held too long: a match stayed possible in it.
    pub fn released(&self) -> Option<Event> {
        let first = self.rules.iter().min_by_key(|rule| &rule.name)?;
        Some(Event::Interrupted {
            rule: first.key.clone(),
            path: first.path.clone(),
            source: OutputSource::Text.name().to_owned(),
            text: String::new(),
            file: None,
            action: RELEASED.to_owned(),
            interrupts: 0,
            mandatory_interrupts: 0,
        })
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
