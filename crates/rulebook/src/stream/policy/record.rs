//! What the policy remembers: the turns, and for each rule its last delivery and its current stage.

use serde::{Deserialize, Serialize};

use super::action::{ClaimId, Downgrade, Means, Reminder, TriggerMatch};
use super::modes::{ContextMode, OutputSource, RepeatMode, StreamModes};

/// Counts starts and ends of turns: even between turns, odd in a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Clock(u64);

impl Clock {
    pub(super) fn is_turn(self) -> bool {
        self.0 % 2 == 1
    }

    pub(super) fn completed(self) -> u64 {
        self.0 / 2
    }

    pub(super) fn start(&mut self) {
        self.0 |= 1;
    }

    pub(super) fn end(&mut self) {
        self.0 = self.0.saturating_add(self.0 % 2);
    }
}

/// An interrupt that is not settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stop {
    pub(super) claim: ClaimId,
    pub(super) context: ContextMode,
}

/// A rule that has fired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) last: Option<LastDelivery>,
    pub(super) stage: Stage,
}

/// When and how a rule was last delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LastDelivery {
    pub(super) at: Clock,
    pub(super) means: Means,
    pub(super) left_context: bool,
}

/// The stage of a rule on its way to the model. The last delivery is kept separately: a release only resets this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Stage {
    #[default]
    Quiet,
    Waiting {
        why: Downgrade,
        source: OutputSource,
        call: Option<String>,
    },
    Claimed {
        claim: ClaimId,
        means: Means,
    },
}

impl Record {
    pub(super) fn is_armed(&self, now: Clock, modes: &StreamModes) -> bool {
        !matches!(self.stage, Stage::Claimed { .. })
            && self.last.is_none_or(|delivery| delivery.allows(now, modes))
    }

    /// Queues the rule for a reminder; `false` if it is queued already or was delivered.
    pub(super) fn wait(&mut self, now: Clock, found: &TriggerMatch, why: Downgrade) -> bool {
        let is_new = match self.stage {
            Stage::Quiet => !self.last.is_some_and(|delivery| delivery.reminded(now)),
            Stage::Waiting { why: known, .. } => why > known,
            Stage::Claimed { .. } => false,
        };
        if is_new {
            self.stage = Stage::Waiting { why, source: found.source, call: found.call.clone() };
        }
        is_new
    }

    pub(super) fn reminder(&self, rule: &str) -> Option<Reminder> {
        let Stage::Waiting { why, source, call } = &self.stage else { return None };
        Some(Reminder { rule: rule.to_owned(), why: *why, source: *source, call: call.clone() })
    }
}

impl LastDelivery {
    fn allows(&self, now: Clock, modes: &StreamModes) -> bool {
        let is_retried = now.is_turn() && self.at == now;
        let passed = now.completed().saturating_sub(self.at.completed());
        is_retried
            || match modes.repeat {
                RepeatMode::Once => self.left_context,
                RepeatMode::AfterGap => passed >= u64::from(modes.gap),
            }
    }

    /// Whether a reminder of this turn is still in the context: a second one would repeat it.
    fn reminded(&self, now: Clock) -> bool {
        self.at == now && self.means == Means::Reminder && !self.left_context
    }
}

/// The version of the serialised form. Another version is rejected: a guess would fire rules twice or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub(super) struct Version;

const VERSION: u32 = 1;

impl From<Version> for u32 {
    fn from(_: Version) -> u32 {
        VERSION
    }
}

impl TryFrom<u32> for Version {
    type Error = String;

    fn try_from(found: u32) -> Result<Version, String> {
        match found {
            VERSION => Ok(Version),
            _ => Err(format!("stream state has version `{found}`, only `{VERSION}` can be read")),
        }
    }
}
