//! What the policy is asked, and what it answers.

use serde::{Deserialize, Serialize};

use super::modes::{ContextMode, OutputSource, StreamModes};

/// A match of the monitor, as the policy needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerMatch {
    /// What identifies the rule.
    pub rule: String,
    /// The part of the output it is in.
    pub source: OutputSource,
    /// How the rule acts.
    pub modes: StreamModes,
    /// Whether the rule is mandatory.
    pub is_mandatory: bool,
    /// The id of the tool call, for a match in one.
    pub call: Option<String>,
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing new.
    Nothing,
    /// Stop the output, inject the rules, retry the turn.
    Interrupt {
        /// Settled by `delivered` or `released`. If the output matches more before it is stopped, the same id is returned
        /// again: one injection then has the rules of both.
        claim: ClaimId,
        /// The rules to inject, those of this window first. The others were waiting for the end of the turn: their output
        /// is stopped too, so they are injected now.
        rules: Vec<String>,
        /// Whether the stopped output stays in the conversation: discarded if any matching rule says so.
        context: ContextMode,
    },
    /// Let the output continue; `reminders` returns the rules after the turn.
    RemindLater {
        /// The rules to deliver, in the order of the matches.
        rules: Vec<String>,
        /// Why the output continues; the most severe reason where rules differ.
        why: Downgrade,
    },
}

/// Why a match did not stop the output. The most severe is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Downgrade {
    /// The rule's mode does not interrupt there.
    Mode,
    /// No turn was in progress.
    NoTurn,
    /// The turn was interrupted as often as allowed. The user is informed.
    Budget,
}

/// A rule to deliver after the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reminder {
    /// What identifies the rule.
    pub rule: String,
    /// Why it did not interrupt.
    pub why: Downgrade,
    /// The part of the output that matched.
    pub source: OutputSource,
    /// The tool call that matched.
    pub call: Option<String>,
}

/// Identifies rules that are on their way to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClaimId(pub(super) u64);

/// How a rule reaches the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// The output was stopped and is retried.
    Interrupt,
    /// It is delivered after the turn.
    Reminder,
}

/// Rules whose text is neither delivered nor released yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim<'p> {
    /// To settle it with.
    pub id: ClaimId,
    /// How they are delivered.
    pub means: Means,
    /// The rules, sorted.
    pub rules: Vec<&'p str>,
}
