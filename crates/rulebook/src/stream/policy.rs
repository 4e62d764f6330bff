//! The policy of a turn: what a match in the stream leads to, and which rules the model has been told.
//!
//! A rule that goes out is *claimed* until the host says whether its text was sent (`delivered`) or not (`released`).
//! Only a delivery is remembered, so a turn that dies leaves no trace, and no timer decides anything.

mod inject;
mod modes;
mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use inject::{MatchedText, Triggered, escape_tags, injection, join, reminder};
pub(crate) use inject::{RULE_TAG, attribute, own_tags};
pub use modes::{ContextMode, InterruptMode, OutputSource, RepeatMode, StreamModes};
use state::{Delivery, Moment, Record, Stage, Stop, Version};

/// How often one turn may be interrupted unless a setting says otherwise.
pub const MAX_INTERRUPTS: u32 = 3;

/// Decides what matches lead to. Its serialised form resumes exactly where it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    version: Version,
    max_interrupts: u32,
    now: Moment,
    /// Interrupts of this turn. A release gives none back: the output was stopped all the same, and a model that
    /// fails every retry must come to an end.
    interrupts: u32,
    /// Those of rules that nobody may switch off: others cannot use them up.
    #[serde(default)]
    held_interrupts: u32,
    /// The interrupt of this turn that is not settled yet.
    stop: Option<Stop>,
    /// Only rules that have fired.
    rules: BTreeMap<String, Record>,
    next_claim: u64,
}

/// What the monitor found, as far as the policy cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerMatch {
    /// The rule's name.
    pub rule: String,
    /// The part of the output it stands in.
    pub source: OutputSource,
    /// How the rule acts.
    pub modes: StreamModes,
    /// Whether nobody may switch the rule off.
    pub is_mandatory: bool,
    /// The id of the tool call, for a match in one.
    pub call: Option<String>,
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing that has not been asked for already.
    Nothing,
    /// Stop the output, inject the rules, retry the turn.
    Interrupt {
        /// To be settled by `delivered` or `released`. The id of an interrupt not settled yet comes again when its
        /// output, not stopped so far, matched more: one injection then carries the rules of both.
        claim: ClaimId,
        /// The rules to inject, those of this window first. The rest waited to be told after the turn: the output
        /// they stood in is stopped too, so they go along.
        rules: Vec<String>,
        /// What becomes of the stopped output: discarded if any of the rules that matched says so.
        context: ContextMode,
    },
    /// Let the output go on; `reminders` has the rules after the turn.
    RemindLater {
        /// The rules to be told, in the order of the matches.
        rules: Vec<String>,
        /// Why the output goes on; the gravest reason where rules differ.
        why: Downgrade,
    },
}

/// Why a match did not stop the output. The gravest comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Downgrade {
    /// The rule's mode does not interrupt there.
    Mode,
    /// No turn was under way.
    NoTurn,
    /// The turn had been interrupted as often as it may. The user is to be told.
    Budget,
}

/// A rule to be told after the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reminder {
    /// The rule's name.
    pub rule: String,
    /// Why it did not interrupt.
    pub why: Downgrade,
    /// The part of the output that matched.
    pub source: OutputSource,
    /// The tool call that matched.
    pub call: Option<String>,
}

/// Names rules that are on their way to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClaimId(u64);

/// How a rule reaches the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// The output was stopped and is retried.
    Interrupt,
    /// It is told after the turn.
    Reminder,
}

/// Rules whose text is on its way, neither delivered nor released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim<'p> {
    /// To settle it with.
    pub id: ClaimId,
    /// How they go out.
    pub means: Means,
    /// Their names, sorted.
    pub rules: Vec<&'p str>,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::new(MAX_INTERRUPTS)
    }
}

impl Policy {
    /// A policy that knows of nothing yet.
    pub fn new(max_interrupts: u32) -> Policy {
        Policy {
            version: Version,
            max_interrupts,
            now: Moment::default(),
            interrupts: 0,
            held_interrupts: 0,
            stop: None,
            rules: BTreeMap::new(),
            next_claim: 0,
        }
    }

    /// Sets how often a turn may be interrupted: a setting may have changed when a session is resumed.
    pub fn set_max_interrupts(&mut self, max_interrupts: u32) {
        self.max_interrupts = max_interrupts;
    }

    /// A turn begins. The retry of an interrupted one is the same turn: while one is under way, this does nothing.
    pub fn turn_started(&mut self) {
        if !self.now.is_turn() {
            self.now.start();
            (self.interrupts, self.held_interrupts) = (0, 0);
        }
    }

    /// The turn is over and counts as completed. Claims stay open; without a turn this does nothing.
    pub fn turn_ended(&mut self) {
        self.now.end();
        self.stop = None;
    }

    /// Says what everything that matched in one window leads to.
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
        self.settle(claim, |means| Some(Delivery { at, means, left_context: false }));
    }

    /// The text of the claim was never sent: its rules are as if they had not fired. An unknown or settled claim is
    /// ignored.
    pub fn released(&mut self, claim: ClaimId) {
        self.settle(claim, |_| None);
    }

    /// What was delivered so far has left the model's context: `once` rules are armed again.
    pub fn compacted(&mut self) {
        for delivery in self.rules.values_mut().filter_map(|record| record.last.as_mut()) {
            delivery.left_context = true;
        }
    }

    /// Claims the rules to tell after the turn, sorted by name. They ask for no turn of their own: a host that starts
    /// one for every reminder lets the model keep it busy.
    pub fn reminders(&mut self) -> Option<(ClaimId, Vec<Reminder>)> {
        let waiting: Vec<Reminder> =
            self.rules.iter().filter_map(|(rule, record)| record.reminder(rule)).collect();
        if waiting.is_empty() {
            return None;
        }
        let id = self.new_claim();
        for reminder in &waiting {
            self.claim(&reminder.rule, id, Means::Reminder);
        }
        Some((id, waiting))
    }

    /// Whether the rule is watched: it is not on its way to the model, and its repeat mode allows it. In the turn of
    /// its delivery it is watched on, so that the retry is checked too.
    pub fn is_armed(&self, rule: &str, modes: &StreamModes) -> bool {
        self.rules.get(rule).is_none_or(|record| record.is_armed(self.now, modes))
    }

    /// The claims that are open, oldest first: a host that resumes settles them.
    pub fn claims(&self) -> Vec<Claim<'_>> {
        let mut open: BTreeMap<ClaimId, Claim<'_>> = BTreeMap::new();
        for (rule, record) in &self.rules {
            if let Stage::Claimed { claim: id, means } = record.stage {
                open.entry(id).or_insert(Claim { id, means, rules: Vec::new() }).rules.push(rule);
            }
        }
        open.into_values().collect()
    }

    /// How many turns have been completed.
    pub fn completed_turns(&self) -> u64 {
        self.now.completed()
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
        if is_mandatory { self.held_interrupts } else { self.interrupts }
    }

    fn interrupt(&mut self, armed: &[&TriggerMatch]) -> Action {
        let is_mandatory = armed.iter().any(|found| found.is_mandatory && self.downgrade(found).is_none());
        let stop = self.stop.unwrap_or_else(|| {
            let count = if is_mandatory { &mut self.held_interrupts } else { &mut self.interrupts };
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
        let mut gravest = Downgrade::Mode;
        let now = self.now;
        for found in armed {
            let Some(why) = self.downgrade(found) else { continue };
            if !self.record(&found.rule).wait(now, found, why) {
                continue;
            }
            gravest = gravest.max(why);
            if !rules.contains(&found.rule) {
                rules.push(found.rule.clone());
            }
        }
        if rules.is_empty() { Action::Nothing } else { Action::RemindLater { rules, why: gravest } }
    }

    fn record(&mut self, rule: &str) -> &mut Record {
        self.rules.entry(rule.to_owned()).or_default()
    }

    /// Puts a rule on its way; `false` if it was already.
    fn claim(&mut self, rule: &str, claim: ClaimId, means: Means) -> bool {
        let stage = &mut self.record(rule).stage;
        let is_free = !matches!(stage, Stage::Claimed { .. });
        if is_free {
            *stage = Stage::Claimed { claim, means };
        }
        is_free
    }

    fn settle(&mut self, settled: ClaimId, delivery: impl Fn(Means) -> Option<Delivery>) {
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
