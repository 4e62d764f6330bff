//! The policy: its state over the turns of a session, and its decisions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::action::{Action, Claim, ClaimId, Downgrade, Means, Reminder, TriggerMatch};
use super::modes::{ContextMode, OutputSource, StreamModes};
use super::record::{Clock, LastDelivery, Record, Stage, Stop, Version};

/// How often one turn may be interrupted, unless the settings say otherwise.
pub const MAX_INTERRUPTS: u32 = 3;

/// Decides what matches lead to. A deserialised policy continues exactly where it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    version: Version,
    max_interrupts: u32,
    now: Clock,
    /// Interrupts of this turn. A release gives none back: the output was stopped, and a model that fails every retry must
    /// come to an end.
    interrupts: u32,
    /// Interrupts of mandatory rules, which other rules cannot use up.
    #[serde(default)]
    mandatory_interrupts: u32,
    /// The interrupt of this turn that is not settled yet.
    stop: Option<Stop>,
    /// Only rules that have fired.
    rules: BTreeMap<String, Record>,
    next_claim: u64,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::new(MAX_INTERRUPTS)
    }
}

impl Policy {
    /// A policy before the first turn.
    pub fn new(max_interrupts: u32) -> Policy {
        Policy {
            version: Version,
            max_interrupts,
            now: Clock::default(),
            interrupts: 0,
            mandatory_interrupts: 0,
            stop: None,
            rules: BTreeMap::new(),
            next_claim: 0,
        }
    }

    /// Sets how often a turn may be interrupted: a setting may have changed when a session is resumed.
    pub(crate) fn set_max_interrupts(&mut self, max_interrupts: u32) {
        self.max_interrupts = max_interrupts;
    }

    /// A turn starts. The retry of an interrupted turn is the same turn: during a turn, this does nothing.
    pub fn turn_started(&mut self) {
        if !self.now.is_turn() {
            self.now.start();
            (self.interrupts, self.mandatory_interrupts) = (0, 0);
        }
    }

    /// The turn is over and counts as completed. Claims stay open; without a turn this does nothing.
    pub fn turn_ended(&mut self) {
        self.now.end();
        self.stop = None;
    }

    /// Decides what the matches of one window lead to.
    pub fn decide(&mut self, matches: &[TriggerMatch]) -> Action {
        let armed: Vec<&TriggerMatch> =
            matches.iter().filter(|found| self.is_armed(&found.rule, &found.modes)).collect();
        if armed.is_empty() {
            return Action::Nothing;
        }
        if self.stop.is_some() || armed.iter().any(|found| self.downgrade(found).is_none()) {
            return self.interrupt(&armed);
        }
        self.remind_later(&armed)
    }

    /// The text of the claim was sent. An unknown or settled claim is ignored.
    pub fn delivered(&mut self, claim: ClaimId) {
        let at = self.now;
        self.settle(claim, |means| Some(LastDelivery { at, means, left_context: false }));
    }

    /// The text of the claim was not sent: its rules count as not fired. An unknown or settled claim is ignored.
    pub fn released(&mut self, claim: ClaimId) {
        self.settle(claim, |_| None);
    }

    /// What was delivered so far has left the model's context: `once` rules are armed again.
    pub fn compacted(&mut self) {
        for delivery in self.rules.values_mut().filter_map(|record| record.last.as_mut()) {
            delivery.left_context = true;
        }
    }

    /// Claims the rules to deliver after the turn, sorted. They need no turn of their own: a host that starts one for every
    /// reminder lets the model keep it busy.
    pub fn reminders(&mut self) -> Option<(ClaimId, Vec<Reminder>)> {
        let waiting = self.waiting();
        if waiting.is_empty() {
            return None;
        }
        let id = self.new_claim();
        for reminder in &waiting {
            self.claim(&reminder.rule, id, Means::Reminder);
        }
        Some((id, waiting))
    }

    /// The rules to deliver after the turn, sorted.
    pub fn waiting(&self) -> Vec<Reminder> {
        self.rules.iter().filter_map(|(rule, record)| record.reminder(rule)).collect()
    }

    /// Whether the rule is watched: it is not on its way to the model, and its repeat mode allows it. It stays watched in the
    /// turn of its delivery, so that the retry is checked too.
    pub(crate) fn is_armed(&self, rule: &str, modes: &StreamModes) -> bool {
        self.rules.get(rule).is_none_or(|record| record.is_armed(self.now, modes))
    }

    /// Whether a rule is let through because the model has it: it was delivered, and its repeat mode allows no further stop.
    pub(crate) fn is_known(&self, rule: &str, modes: &StreamModes) -> bool {
        self.rules
            .get(rule)
            .is_some_and(|record| record.stage == Stage::Quiet && !record.is_armed(self.now, modes))
    }

    /// The open claims, oldest first: a host that resumes settles them.
    pub fn claims(&self) -> Vec<Claim<'_>> {
        let mut open: BTreeMap<ClaimId, Claim<'_>> = BTreeMap::new();
        for (rule, record) in &self.rules {
            if let Stage::Claimed { claim: id, means } = record.stage {
                open.entry(id).or_insert(Claim { id, means, rules: Vec::new() }).rules.push(rule);
            }
        }
        open.into_values().collect()
    }

    /// How often this turn was interrupted, by mandatory rules and by others.
    pub(crate) fn interrupts(&self) -> (u32, u32) {
        (self.mandatory_interrupts, self.interrupts)
    }

    /// Takes in that a rule interrupted this turn, and how often it was interrupted by then, from a record of the session.
    /// Does nothing for a rule in a claim, or if this is known.
    pub(crate) fn replay_interrupt(&mut self, rule: &str, interrupts: u32, mandatory_interrupts: u32) {
        self.turn_started();
        self.interrupts = self.interrupts.max(interrupts);
        self.mandatory_interrupts = self.mandatory_interrupts.max(mandatory_interrupts);
        let delivery = LastDelivery { at: self.now, means: Means::Interrupt, left_context: false };
        let record = self.record(rule);
        if !matches!(record.stage, Stage::Claimed { .. }) {
            record.last = Some(delivery);
        }
    }

    /// Takes in that a rule is to be delivered after this turn, from a record of the session.
    pub(crate) fn replay_wait(&mut self, rule: &str, source: OutputSource) {
        self.turn_started();
        let record = self.record(rule);
        if record.stage == Stage::Quiet {
            record.stage = Stage::Waiting { why: Downgrade::Mode, source, call: None };
        }
    }

    /// Takes in that a rule's text was delivered, from a record of the session.
    pub(crate) fn replay_delivery(&mut self, rule: &str) {
        let at = self.now;
        if let Some(record) = self.rules.get_mut(rule)
            && matches!(record.stage, Stage::Waiting { .. })
        {
            let delivery = LastDelivery { at, means: Means::Reminder, left_context: false };
            *record = Record { last: Some(delivery), stage: Stage::Quiet };
        }
    }

    /// Takes in that another program reminds the model of a rule after this turn, from a record of the session.
    pub(crate) fn replay_reminder(&mut self, rule: &str) {
        self.turn_started();
        let delivery = LastDelivery { at: self.now, means: Means::Reminder, left_context: false };
        let record = self.record(rule);
        if !matches!(record.stage, Stage::Claimed { .. }) {
            *record = Record { last: Some(delivery), stage: Stage::Quiet };
        }
    }

    /// Takes in that a rule's text did not reach the model after all, from a record of the session.
    pub(crate) fn replay_undelivered(&mut self, rule: &str) {
        if let Some(record) = self.rules.get_mut(rule) {
            record.last = None;
        }
        self.rules.retain(|_, record| *record != Record::default());
    }

    /// Why a match cannot stop the output; `None` if it can.
    fn downgrade(&self, found: &TriggerMatch) -> Option<Downgrade> {
        [
            (!found.modes.interrupt.covers(found.source), Downgrade::Mode),
            (!self.now.is_turn(), Downgrade::NoTurn),
            (self.spent(found.is_mandatory) >= self.max_interrupts, Downgrade::Budget),
        ]
        .into_iter()
        .find_map(|(holds, why)| holds.then_some(why))
    }

    fn spent(&self, is_mandatory: bool) -> u32 {
        if is_mandatory { self.mandatory_interrupts } else { self.interrupts }
    }

    fn interrupt(&mut self, armed: &[&TriggerMatch]) -> Action {
        let is_mandatory = armed.iter().any(|found| found.is_mandatory && self.downgrade(found).is_none());
        let stop = self.stop.unwrap_or_else(|| {
            let count = if is_mandatory { &mut self.mandatory_interrupts } else { &mut self.interrupts };
            *count = count.saturating_add(1);
            Stop { claim: self.new_claim(), context: ContextMode::Keep }
        });
        let claim = stop.claim;
        let context = armed.iter().map(|found| found.modes.context).fold(stop.context, ContextMode::max);
        self.stop = Some(Stop { claim, context });
        let waiting = self.rules.iter().filter(|(_, record)| matches!(record.stage, Stage::Waiting { .. }));
        let names: Vec<String> =
            armed.iter().map(|found| &found.rule).chain(waiting.map(|(rule, _)| rule)).cloned().collect();
        let rules = names.into_iter().filter(|rule| self.claim(rule, claim, Means::Interrupt)).collect();
        Action::Interrupt { claim, rules, context }
    }

    fn remind_later(&mut self, armed: &[&TriggerMatch]) -> Action {
        let mut rules: Vec<String> = Vec::new();
        let mut severest = Downgrade::Mode;
        let now = self.now;
        for found in armed {
            let Some(why) = self.downgrade(found) else { continue };
            if !self.record(&found.rule).wait(now, found, why) {
                continue;
            }
            severest = severest.max(why);
            if !rules.contains(&found.rule) {
                rules.push(found.rule.clone());
            }
        }
        if rules.is_empty() { Action::Nothing } else { Action::RemindLater { rules, why: severest } }
    }

    fn record(&mut self, rule: &str) -> &mut Record {
        self.rules.entry(rule.to_owned()).or_default()
    }

    /// Claims a rule; `false` if it is claimed already.
    fn claim(&mut self, rule: &str, claim: ClaimId, means: Means) -> bool {
        let stage = &mut self.record(rule).stage;
        let is_free = !matches!(stage, Stage::Claimed { .. });
        if is_free {
            *stage = Stage::Claimed { claim, means };
        }
        is_free
    }

    fn settle(&mut self, settled: ClaimId, delivery: impl Fn(Means) -> Option<LastDelivery>) {
        for record in self.rules.values_mut() {
            if let Stage::Claimed { claim, means } = record.stage
                && claim == settled
            {
                record.stage = Stage::Quiet;
                record.last = delivery(means).or(record.last);
            }
        }
        self.rules.retain(|_, record| *record != Record::default());
        self.stop = self.stop.filter(|stop| stop.claim != settled);
    }

    fn new_claim(&mut self) -> ClaimId {
        self.next_claim = self.next_claim.wrapping_add(1);
        ClaimId(self.next_claim)
    }
}
