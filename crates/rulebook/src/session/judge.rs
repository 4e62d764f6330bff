//! Judging hits: whether the output is stopped, and what the model is told.

use super::event::{Delivery, Event, INTERRUPT, KNOWN, REMIND};
use super::state::Session;
use super::stream_rules::{StreamRules, WatchedRule, matched, source};
use crate::stream::Hit;
use crate::stream::policy::{self, Action, ClaimId, ContextMode, Downgrade, Policy, TriggerMatch};

/// What hits lead to.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// Nothing new.
    Nothing,
    /// The output continues, and the rules are delivered later.
    Remind {
        /// The names of the rules.
        rules: Vec<String>,
        /// Whether the turn was interrupted as often as allowed.
        is_budget_spent: bool,
    },
    /// The output must be stopped and the model asked again.
    Interrupt(Interrupt),
}

/// An interrupt: the output is stopped, and the model is asked again with its text.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// Requirements have none: their own marks count what they refused.
    claim: Option<ClaimId>,
    context: ContextMode,
    rules: Vec<String>,
    text: String,
    output: String,
    deliveries: Vec<Delivery>,
}

impl Interrupt {
    /// The text for the model: every rule that fired.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of these rules.
    pub fn rules(&self) -> &[String] {
        &self.rules
    }

    /// The deliveries of these rules.
    pub fn deliveries(&self) -> &[Delivery] {
        &self.deliveries
    }

    /// Whether the stopped output stays in the conversation, before the text.
    pub fn keeps_output(&self) -> bool {
        self.context == ContextMode::Keep
    }

    /// Whether requirements stopped the output.
    pub fn is_of_order(&self) -> bool {
        self.claim.is_none()
    }

    /// The interrupt of requirements.
    pub(super) fn of_order(rules: Vec<String>, texts: &[String], context: ContextMode) -> Interrupt {
        let text = policy::join(texts);
        Interrupt { claim: None, context, rules, text, output: String::new(), deliveries: Vec::new() }
    }

    /// The stopped output, where it stays in the conversation.
    pub fn output(&self) -> Option<&str> {
        Some(self.output.as_str()).filter(|output| self.keeps_output() && !output.is_empty())
    }

    pub(super) fn with_output(self, output: &str) -> Interrupt {
        Interrupt { output: output.to_owned(), ..self }
    }
}

/// Stream rules that matched before and did not interrupt.
#[derive(Clone, Debug, Default)]
pub struct Reminders {
    /// The text for the model; empty if nothing is due.
    pub text: String,
    /// What it delivers. Recorded once the text was sent.
    pub deliveries: Vec<Delivery>,
}

impl Session {
    /// Decides what hits lead to; returns the events to record too.
    pub fn judge(&mut self, rules: &StreamRules, hits: &[Hit]) -> (Judgement, Vec<Event>) {
        let words = EventWords { interrupt: INTERRUPT, remind: REMIND };
        let Decided { action, fired, mut events } = decide(&mut self.policy, rules, hits, words);
        let names = fired.iter().map(|rule| rule.name.clone()).collect();
        let judgement = match action {
            Action::Interrupt { claim, context, .. } => {
                let texts: Vec<String> = fired
                    .iter()
                    .map(|rule| {
                        policy::injection(&rule.name, &rule.path, &rule.body, &matched(hits_of(hits, rule)))
                    })
                    .collect();
                let text = policy::join(&texts);
                Judgement::Interrupt(Interrupt {
                    claim: Some(claim),
                    context,
                    rules: names,
                    text,
                    output: String::new(),
                    deliveries: fired.iter().map(|rule| rule.delivery()).collect(),
                })
            }
            Action::RemindLater { why, .. } => {
                Judgement::Remind { rules: names, is_budget_spent: why == Downgrade::Budget }
            }
            Action::Nothing => {
                events = self.let_through(rules, hits);
                Judgement::Nothing
            }
        };
        (judgement, events)
    }

    /// The events of hits that stop nothing because the model has their rules; one per rule and turn.
    fn let_through(&mut self, rules: &StreamRules, hits: &[Hit]) -> Vec<Event> {
        let mut events = Vec::new();
        for (rule, hit) in hits.iter().filter_map(|hit| Some((rules.at(&hit.source)?, hit))) {
            if self.policy.is_known(&rule.path, &rule.modes) && self.let_through.insert(rule.path.clone()) {
                events.push(interrupted(rule, hit, KNOWN, &self.policy));
            }
        }
        events
    }

    /// The text of an interrupt reached the model; returns the events to record.
    pub fn interrupt_sent(&mut self, interrupt: &Interrupt) -> Vec<Event> {
        interrupt.claim.into_iter().for_each(|claim| self.policy.delivered(claim));
        let new = interrupt.deliveries.iter().filter(|delivery| !self.has(delivery));
        new.cloned().map(Event::Delivered).collect()
    }

    /// The text of an interrupt did not reach the model: its rules count as not fired.
    pub fn interrupt_dropped(&mut self, interrupt: &Interrupt) {
        interrupt.claim.into_iter().for_each(|claim| self.policy.released(claim));
    }

    /// The reminders that are due.
    pub fn reminders(&self, rules: &StreamRules) -> Reminders {
        let waiting = self.policy.waiting();
        let due: Vec<&WatchedRule> = waiting.iter().filter_map(|reminder| rules.at(&reminder.rule)).collect();
        let text = |rule: &&WatchedRule| policy::reminder(&rule.name, &rule.path, &rule.body, &[]);
        Reminders {
            text: policy::join(&due.iter().map(text).collect::<Vec<_>>()),
            deliveries: due.iter().map(|rule| rule.delivery()).collect(),
        }
    }
}

/// What the policy decides about hits.
pub(super) struct Decided<'r> {
    pub(super) action: Action,
    /// The rules that the action concerns.
    pub(super) fired: Vec<&'r WatchedRule>,
    pub(super) events: Vec<Event>,
}

/// The actions of the recorded events.
#[derive(Clone, Copy)]
pub(super) struct EventWords {
    pub(super) interrupt: &'static str,
    pub(super) remind: &'static str,
}

/// Decides what hits lead to in a turn.
pub(super) fn decide<'r>(
    policy: &mut Policy,
    rules: &'r StreamRules,
    hits: &[Hit],
    words: EventWords,
) -> Decided<'r> {
    let found = hits.iter().filter_map(|hit| Some((hit, rules.at(&hit.source)?)));
    let matches: Vec<TriggerMatch> = found
        .map(|(hit, rule)| TriggerMatch {
            rule: rule.path.clone(),
            source: source(hit),
            modes: rule.modes,
            is_mandatory: rule.is_mandatory,
            call: None,
        })
        .collect();
    let nothing = || Decided { action: Action::Nothing, fired: Vec::new(), events: Vec::new() };
    if matches.is_empty() {
        return nothing();
    }
    policy.set_max_interrupts(rules.limits().max_interrupts);
    policy.turn_started();
    let action = policy.decide(&matches);
    let (paths, word) = match &action {
        Action::Nothing => return nothing(),
        Action::Interrupt { rules, .. } => (rules, words.interrupt),
        Action::RemindLater { rules, .. } => (rules, words.remind),
    };
    let fired: Vec<&WatchedRule> = paths.iter().filter_map(|path| rules.at(path)).collect();
    let of_rule = |rule: &&'r WatchedRule| {
        hits_of(hits, rule).map(|hit| interrupted(rule, hit, word, policy)).collect::<Vec<_>>()
    };
    let events = fired.iter().flat_map(of_rule).collect();
    Decided { action, fired, events }
}

pub(super) fn hits_of<'h>(hits: &'h [Hit], rule: &'h WatchedRule) -> impl Iterator<Item = &'h Hit> {
    hits.iter().filter(|hit| hit.source == rule.path)
}

pub(super) fn interrupted(rule: &WatchedRule, hit: &Hit, action: &str, policy: &Policy) -> Event {
    let (mandatory_interrupts, interrupts) = policy.interrupts();
    Event::Interrupted {
        rule: rule.key.clone(),
        path: rule.path.clone(),
        source: source(hit).name().to_owned(),
        text: hit.text.clone(),
        file: hit.file.clone(),
        action: action.to_owned(),
        interrupts,
        mandatory_interrupts,
    }
}
