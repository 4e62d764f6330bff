//! Judging hits: whether the output is stopped, and what the model is told.

use super::event::{Delivery, Event, INTERRUPT, REMIND};
use super::state::Session;
use super::stream_rules::{StreamRules, WatchedRule, matched, source};
use crate::stream::Hit;
use crate::stream::policy::{self, Action, ClaimId, ContextMode, Downgrade, TriggerMatch};

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
    claim: ClaimId,
    context: ContextMode,
    rules: Vec<String>,
    text: String,
    output: String,
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

    /// Whether the stopped output stays in the conversation, before the text.
    pub fn keeps_output(&self) -> bool {
        self.context == ContextMode::Keep
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
        let found: Vec<(&Hit, &WatchedRule)> =
            hits.iter().filter_map(|hit| Some((hit, rules.at(&hit.source)?))).collect();
        if found.is_empty() {
            return (Judgement::Nothing, Vec::new());
        }
        let matches: Vec<TriggerMatch> = found
            .iter()
            .map(|(hit, rule)| TriggerMatch {
                rule: rule.path.clone(),
                source: source(hit),
                modes: rule.modes,
                is_mandatory: rule.is_mandatory,
                call: None,
            })
            .collect();
        self.policy.set_max_interrupts(rules.limits().max_interrupts);
        self.policy.turn_started();
        let action = self.policy.decide(&matches);
        let (paths, word) = match &action {
            Action::Nothing => return (Judgement::Nothing, Vec::new()),
            Action::Interrupt { rules, .. } => (rules, INTERRUPT),
            Action::RemindLater { rules, .. } => (rules, REMIND),
        };
        let fired: Vec<&WatchedRule> = paths.iter().filter_map(|path| rules.at(path)).collect();
        let events = fired
            .iter()
            .flat_map(|rule| hits_of(hits, rule).map(|hit| interrupted(rule, hit, word)))
            .collect();
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
                Judgement::Interrupt(Interrupt { claim, context, rules: names, text, output: String::new() })
            }
            Action::RemindLater { why, .. } => {
                Judgement::Remind { rules: names, is_budget_spent: why == Downgrade::Budget }
            }
            Action::Nothing => Judgement::Nothing,
        };
        (judgement, events)
    }

    /// The text of an interrupt reached the model.
    pub fn interrupt_sent(&mut self, interrupt: &Interrupt) {
        self.policy.delivered(interrupt.claim);
    }

    /// The text of an interrupt did not reach the model: its rules count as not fired.
    pub fn interrupt_dropped(&mut self, interrupt: &Interrupt) {
        self.policy.released(interrupt.claim);
    }

    /// The reminders that are due.
    pub fn reminders(&self, rules: &StreamRules) -> Reminders {
        let waiting = self.policy.waiting();
        let due: Vec<&WatchedRule> = waiting.iter().filter_map(|reminder| rules.at(&reminder.rule)).collect();
        let text = |rule: &&WatchedRule| policy::reminder(&rule.name, &rule.path, &rule.body, &[]);
        let delivery = |rule: &&WatchedRule| Delivery {
            rule: rule.key.clone(),
            source: rule.path.clone(),
            because: "the output matched".to_owned(),
            ..Delivery::of_text("", &rule.body)
        };
        Reminders {
            text: policy::join(&due.iter().map(text).collect::<Vec<_>>()),
            deliveries: due.iter().map(delivery).collect(),
        }
    }
}

fn hits_of<'h>(hits: &'h [Hit], rule: &'h WatchedRule) -> impl Iterator<Item = &'h Hit> {
    hits.iter().filter(|hit| hit.source == rule.path)
}

fn interrupted(rule: &WatchedRule, hit: &Hit, action: &str) -> Event {
    Event::Interrupted {
        rule: rule.key.clone(),
        path: rule.path.clone(),
        source: source(hit).name().to_owned(),
        text: hit.text.clone(),
        file: hit.file.clone(),
        action: action.to_owned(),
    }
}
