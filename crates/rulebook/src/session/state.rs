//! The state of a session: the fold of its events.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use serde::{Deserialize, Serialize, Serializer};

use super::event::{Delivery, Event, HostFacts, INTERRUPT, LET_THROUGH, REFUSE, REMIND, REMINDED_BY_RELAY};
use crate::evidence::ToolCall;
use crate::hash::TextHash;
use crate::rule::Rule;
use crate::stream::policy::{OutputSource, Policy};

/// What one conversation with one agent has seen and received.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Session {
    is_started: bool,
    turn: u64,
    message: Option<String>,
    pub(super) calls: Vec<PastCall>,
    /// How many of the calls were made before the last compaction.
    calls_compacted: usize,
    /// Whether nothing but deliveries followed the last compaction.
    is_compacted: bool,
    /// The texts still in the context, by source.
    #[serde(serialize_with = "sorted")]
    delivered: HashMap<String, InContext>,
    /// What the host said last.
    facts: HostFacts,
    /// The keys of the rules that the user pinned.
    pinned: BTreeSet<String>,
    /// The files that the host reported as loaded since the last compaction.
    loaded: BTreeSet<String>,
    /// The stream rules that fired.
    pub(super) policy: Policy,
    /// The stream rules of which a match was let through in this turn, by path.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) let_through: BTreeSet<String>,
    /// What requirements refused, and which were broken.
    pub(super) marks: Vec<Mark>,
    /// The roots of the workspace it is about. Without them, the events of every workspace count.
    #[serde(skip)]
    own: Option<Vec<String>>,
    /// The roots of the workspace that the last events are from.
    #[serde(skip)]
    at: Vec<String>,
}

/// A tool call of this session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PastCall {
    pub(super) name: String,
    pub(super) paths: Vec<String>,
    pub(super) command: Option<String>,
    pub(super) turn: u64,
    pub(super) pending: bool,
    #[serde(default)]
    pub(super) failed: bool,
    /// Whether a rule refused it.
    #[serde(default)]
    pub(super) is_refused: bool,
}

/// A refusal, or a broken requirement, among the calls of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// How many calls were made before it.
    pub(super) at: usize,
    pub(super) turn: u64,
    pub(super) path: String,
    pub(super) nth: usize,
    pub(super) action: String,
    pub(super) call: String,
}

/// A text in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct InContext {
    hash: TextHash,
    is_lost_on_resume: bool,
    /// The turn in which it was delivered last.
    #[serde(default)]
    turn: u64,
}

fn sorted<S: Serializer>(delivered: &HashMap<String, InContext>, serializer: S) -> Result<S::Ok, S::Error> {
    delivered.iter().collect::<BTreeMap<_, _>>().serialize(serializer)
}

impl Session {
    /// Rebuilds a session from its events.
    pub fn of(events: impl IntoIterator<Item = Event>) -> Session {
        let mut session = Session::default();
        events.into_iter().for_each(|event| session.apply(event));
        session
    }

    /// A session about one workspace. An agent may change to another one, whose rules can have the same names: what it does
    /// there, and what those rules stop, says nothing about the rules of this one.
    pub fn about(roots: Vec<String>) -> Session {
        Session { own: Some(roots), ..Session::default() }
    }

    /// Whether the last events are from another workspace, or there are none.
    pub fn is_elsewhere(&self) -> bool {
        self.own.as_ref().is_some_and(|own| *own != self.at)
    }

    /// The next events are from the workspace that this is about.
    pub fn enter(&mut self) {
        if let Some(own) = &self.own {
            self.at.clone_from(own);
        }
    }

    /// Takes in an event.
    pub fn apply(&mut self, event: Event) {
        self.is_started = true;
        let is_local = matches!(
            event,
            Event::Tool { .. } | Event::Sequence { .. } | Event::Interrupted { .. } | Event::Loaded { .. }
        );
        if is_local && self.is_elsewhere() {
            self.is_compacted = false;
            return;
        }
        match event {
            Event::Delivered(Delivery { source, hash, is_lost_on_resume, .. }) => {
                return self.apply_delivery(source, hash, is_lost_on_resume);
            }
            Event::Prompt { message } => {
                if self.turn > 0 {
                    // The turn before is complete, even if no output of it was judged.
                    self.policy.turn_started();
                }
                self.policy.turn_ended();
                self.let_through.clear();
                self.turn += 1;
                self.message = Some(message);
            }
            Event::Tool { name, paths, command, pending, failed } => {
                let turn = self.turn;
                self.calls.push(PastCall { name, paths, command, turn, pending, failed, is_refused: false });
            }
            Event::Sequence { path, nth, action, call, .. } => {
                if action == REFUSE {
                    self.refuse_last();
                }
                self.marks.push(Mark { at: self.calls.len(), turn: self.turn, path, nth, action, call });
            }
            Event::Compacted => {
                self.delivered.clear();
                self.loaded.clear();
                self.policy.compacted();
                self.calls_compacted = self.calls.len();
                self.is_compacted = true;
                return;
            }
            Event::Loaded { source, .. } => drop(self.loaded.insert(source)),
            Event::Undelivered { sources, .. } => {
                for source in &sources {
                    self.delivered.remove(source);
                    self.policy.replay_undelivered(source);
                }
            }
            Event::Resumed => self.delivered.retain(|_, text| !text.is_lost_on_resume),
            Event::Interrupted { path, source, action, interrupts, mandatory_interrupts, .. } => {
                if action == REFUSE {
                    self.refuse_last();
                }
                match action.as_str() {
                    INTERRUPT | REFUSE => {
                        self.policy.replay_interrupt(&path, interrupts, mandatory_interrupts);
                    }
                    REMIND | LET_THROUGH => {
                        self.policy.replay_wait(&path, OutputSource::named(&source).unwrap_or_default());
                    }
                    REMINDED_BY_RELAY => self.policy.replay_reminder(&path),
                    _ => {}
                }
            }
            Event::Facts(facts) => self.facts = facts,
            Event::Pinned { rule, source } => {
                self.delivered.remove(&source);
                self.pinned.insert(rule);
            }
            Event::Unpinned { rule } => drop(self.pinned.remove(&rule)),
            Event::Started { root, more_roots, .. } => {
                self.at = std::iter::once(root).chain(more_roots).collect();
            }
            Event::Refused { .. } | Event::Failed { .. } => {}
        }
        self.is_compacted = false;
    }

    /// Takes in that the call about to run was refused.
    fn refuse_last(&mut self) {
        if let Some(call) = self.calls.last_mut().filter(|call| call.pending) {
            call.is_refused = true;
        }
    }

    /// Takes in a delivery of which no more is known than what counts.
    pub fn apply_delivery(&mut self, source: String, hash: TextHash, is_lost_on_resume: bool) {
        self.is_started = true;
        self.policy.replay_delivery(&source);
        self.delivered.insert(source, InContext { hash, is_lost_on_resume, turn: self.turn });
    }

    /// Takes in what another session of the same conversation received.
    pub fn adopt(&mut self, other: &Session) {
        let turn = self.turn;
        for (source, text) in &other.delivered {
            self.delivered.entry(source.clone()).or_insert(InContext { turn, ..*text });
        }
    }

    /// Takes in that the texts of some sources left the context.
    pub fn forget<'s>(&mut self, sources: impl IntoIterator<Item = &'s str>) {
        for source in sources {
            self.delivered.remove(source);
        }
        self.policy.compacted();
    }

    /// Whether any event is known.
    pub fn is_started(&self) -> bool {
        self.is_started
    }

    /// The current turn: how many messages the user sent.
    pub fn turn_number(&self) -> u64 {
        self.turn
    }

    /// The user's last message.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Whether the context was compacted and nothing but deliveries followed.
    pub fn is_compacted(&self) -> bool {
        self.is_compacted
    }

    /// The tool calls, oldest first.
    pub fn tools(&self) -> Vec<ToolCall> {
        self.calls.iter().map(PastCall::call).collect()
    }

    /// The files of the calls for which `counts` holds, among those that succeeded since the last compaction.
    pub fn touched(&self, counts: impl Fn(&ToolCall) -> bool) -> Vec<String> {
        let calls = self.calls.iter().skip(self.calls_compacted).filter(|call| !call.pending && !call.failed);
        calls.map(PastCall::call).filter(counts).flat_map(|call| call.paths).collect()
    }

    /// The files that the host reported as loaded since the last compaction, as displayed.
    pub fn loaded(&self) -> impl Iterator<Item = &str> {
        self.loaded.iter().map(String::as_str)
    }

    /// Whether the host reported that it loaded a rule's file.
    pub fn has_loaded(&self, rule: &Rule) -> bool {
        self.loaded.contains(&rule.origin.display)
    }

    /// Whether a text in the context is lost when the session is resumed.
    pub(super) fn loses_on_resume(&self) -> bool {
        self.delivered.values().any(|text| text.is_lost_on_resume)
    }

    /// What the host said last.
    pub fn facts(&self) -> &HostFacts {
        &self.facts
    }

    /// The keys of the rules that the user pinned.
    pub fn pinned(&self) -> impl Iterator<Item = &str> {
        self.pinned.iter().map(String::as_str)
    }

    /// Whether a delivery's text is in the context, and was delivered since the turn from which that counts.
    pub fn has(&self, delivery: &Delivery) -> bool {
        let is_current = |text: &InContext| delivery.since.is_none_or(|turn| turn <= text.turn);
        self.delivered
            .get(&delivery.source)
            .is_some_and(|text| text.hash == delivery.hash && is_current(text))
    }

    /// Whether a rule was delivered in this turn or a later one.
    pub(super) fn has_since(&self, rule: &Rule, turn: u64) -> bool {
        self.delivered.get(&rule.origin.display).is_some_and(|text| turn <= text.turn)
    }

    /// Whether a rule's text is in the context.
    pub fn has_rule(&self, rule: &Rule) -> bool {
        self.delivered.get(&rule.origin.display).is_some_and(|text| text.hash == rule.body.text_hash())
    }
}

impl PastCall {
    pub(super) fn call(&self) -> ToolCall {
        let PastCall { name, paths, command, turn, pending, failed, .. } = self.clone();
        ToolCall { name, paths, command, input: None, turn: Some(turn), pending, failed }
    }
}
