//! Events: what happened in a session, in order. A session is rebuilt from them, and a ledger has one line per event.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::blocks::ALWAYS;
use crate::evidence::{Input, ToolCall, mode_in, without_generated};
use crate::hash::TextHash;
use crate::render::estimate_tokens;
use crate::rule::Rule;

/// The actions of [`Event::Interrupted`].
pub(super) const INTERRUPT: &str = "interrupt";
pub(super) const REMIND: &str = "remind";
pub(super) const RELEASED: &str = "released";
pub(super) const REFUSE: &str = "refuse";
pub(super) const LET_THROUGH: &str = "let-through";
pub(super) const KNOWN: &str = "known";

/// A [`REMIND`] of a program that relays the conversation: the reminder is that program's to deliver.
pub(super) const REMINDED_BY_RELAY: &str = "reminded-by-relay";

/// The actions of [`Event::Sequence`], with [`REFUSE`].
pub(super) const ASK: &str = "ask";
pub(super) const BROKEN: &str = "broken";

/// The name under which alerts are delivered. A rule's name has no spaces.
const ALERT: &str = "an alert";

/// The version of the events' serialised form.
pub const EVENT_VERSION: u32 = 1;

/// Longer messages are cut: the beginning says what the turn is about.
const MAX_MESSAGE: usize = 8 << 10;

/// One event of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Event {
    /// The session started.
    #[serde(rename = "began")]
    Started {
        /// The version of the events.
        version: u32,
        /// The host.
        host: String,
        /// The host's name for the session.
        session: String,
        /// The sub-agent; the main agent has none.
        agent: Option<String>,
        /// The workspace.
        root: String,
        /// Its other roots.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        more_roots: Vec<String>,
    },
    /// The user sent a message: a turn starts.
    #[serde(rename = "spoke")]
    Prompt {
        /// The message, cut where it is long.
        message: String,
    },
    /// A tool was about to run, or ran.
    Tool {
        /// Its name.
        name: String,
        /// Its files, relative to their root, or absolute if there are several roots.
        paths: Vec<String>,
        /// The shell command, if it runs one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
        /// Whether it is yet to run.
        #[serde(default)]
        pending: bool,
        /// Whether it ran and failed, where the host says so.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
    /// The host named its mode, its model or the open files, and something changed.
    Facts(HostFacts),
    /// The user pinned a rule: it applies until it is unpinned or the session ends.
    Pinned {
        /// The rule's key.
        rule: String,
        /// Its file, as displayed: it is delivered again.
        source: String,
    },
    /// The user unpinned a rule.
    Unpinned {
        /// The rule's key.
        rule: String,
    },
    /// A rule was delivered to the model.
    Delivered(Delivery),
    /// The host loaded one of its own files.
    Loaded {
        /// The file, as displayed.
        source: String,
        /// Why, in the host's words.
        because: String,
    },
    /// An answer did not reach the host: what it delivered is not in the context.
    Undelivered {
        /// The sources of the texts.
        sources: Vec<String>,
        /// How many of them are rules.
        rules: usize,
    },
    /// The context was compacted: what was delivered before may have left it.
    Compacted,
    /// The session was resumed by a host that forgets part of what was delivered.
    Resumed,
    /// A call was refused because of a rule. Only in older records; now an `Interrupted`.
    Refused {
        /// The rule's key; its id alone in older records.
        rule: String,
        /// What the call was about.
        call: String,
    },
    /// A stream rule matched the model's output.
    Interrupted {
        /// The rule's key; its id alone in older records.
        rule: String,
        /// Its file, as displayed.
        path: String,
        /// The part of the output: `text`, `thinking` or `tool`.
        source: String,
        /// What matched.
        text: String,
        /// The file the output was for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// `interrupt`: the output was stopped and retried. `remind`: the rule is delivered after the turn. `released`: the
        /// text was held too long and let go. In hooks: `refuse`: the call was refused. `let-through`: the call ran, and
        /// the rule is delivered after it. `known`: the call ran, and the rule is in the context already.
        action: String,
        /// How often the turn was interrupted so far, this time included.
        #[serde(default, skip_serializing_if = "is_default")]
        interrupts: u32,
        /// How often it was interrupted by mandatory rules.
        #[serde(default, skip_serializing_if = "is_default")]
        mandatory_interrupts: u32,
    },
    /// A requirement refused a call, or was broken by one.
    Sequence {
        /// The rule's key.
        rule: String,
        /// Its file, as displayed.
        path: String,
        /// Which requirement of the rule.
        nth: usize,
        /// `refuse`: the call was refused. `ask`: the user was asked. `broken`: the call ran although it was refused before.
        action: String,
        /// What the call was about; `stop` for the end of a turn.
        call: String,
        /// What is required, for people.
        what: String,
    },
    /// Rulebook failed; the agent continued.
    Failed {
        /// What failed.
        what: String,
    },
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Event {
    /// The user sent a message; a long one is cut, after the blocks that hosts generate: the end of one that is cut would be
    /// missing, and its text taken for the user's.
    pub fn prompt(message: &str) -> Event {
        let cut = |text: &str| text[..text.floor_char_boundary(MAX_MESSAGE)].to_owned();
        let message =
            if message.len() > MAX_MESSAGE { cut(&without_generated(message)) } else { message.to_owned() };
        Event::Prompt { message }
    }

    /// A tool call, with its files relative to their root.
    pub fn tool(call: &ToolCall, paths: Vec<String>) -> Event {
        let (name, command) = (call.name.clone(), call.shell_command());
        Event::Tool { name, paths, command, pending: call.pending, failed: call.failed }
    }

    /// What this event of a program that relays the conversation means for a host's session; `None` if nothing.
    #[must_use]
    pub fn of_relay(mut self) -> Option<Event> {
        let Event::Interrupted { action, .. } = &mut self else { return None };
        if action == REMIND {
            *action = REMINDED_BY_RELAY.to_owned();
        }
        Some(self)
    }

    /// The delivery, if it is one.
    pub fn delivery(&self) -> Option<&Delivery> {
        if let Event::Delivered(delivery) = self { Some(delivery) } else { None }
    }

    /// Takes back deliveries that did not reach the host.
    pub fn undelivered(deliveries: &[Delivery]) -> Event {
        let rules = deliveries.iter().filter(|delivery| delivery.is_given()).count();
        Event::Undelivered {
            sources: deliveries.iter().map(|delivery| delivery.source.clone()).collect(),
            rules,
        }
    }
}

/// How many rules were given to the model. A rule that was given again counts once.
pub fn rules_given<'e>(events: impl IntoIterator<Item = &'e Event>) -> usize {
    let mut given: Vec<(&str, &str)> = Vec::new();
    for event in events {
        match event {
            Event::Delivered(delivery) if delivery.is_given() => {
                given.push((&delivery.rule, &delivery.source));
            }
            Event::Undelivered { rules, .. } => given.truncate(given.len().saturating_sub(*rules)),
            _ => {}
        }
    }
    given.into_iter().collect::<BTreeSet<_>>().len()
}

/// What a host says about a conversation besides messages and tool calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HostFacts {
    /// The mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The provider of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The open tabs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_tabs: Vec<String>,
    /// The visible editors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visible_editors: Vec<String>,
}

impl HostFacts {
    /// Returns these facts with those of an input over them. Some hosts name the mode in the message.
    pub(super) fn updated(&self, input: &Input) -> HostFacts {
        let newer = |new: &Option<String>, known: &Option<String>| new.clone().or_else(|| known.clone());
        let files = |new: &[String], known: &[String]| if new.is_empty() { known } else { new }.to_vec();
        let mode = input.mode.clone().or_else(|| mode_in(input.message.as_deref()?));
        HostFacts {
            mode: newer(&mode, &self.mode),
            provider: newer(&input.provider, &self.provider),
            model: newer(&input.model, &self.model),
            open_tabs: files(&input.open_tabs, &self.open_tabs),
            visible_editors: files(&input.visible_editors, &self.visible_editors),
        }
    }
}

/// A text delivered to the model: a rule, or the list of offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The rule's key; its id alone in older records.
    pub rule: String,
    /// Its file, as displayed.
    pub source: String,
    /// The hash of its text: a rule whose text changed is delivered again.
    pub hash: TextHash,
    /// Why it applies, in a few words.
    pub because: String,
    /// Whether it was too large, and only its name and description were delivered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offered: bool,
    /// Why a host that reads the file itself did not deliver it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<String>,
    /// Whether the host forgets it when the session is resumed.
    #[serde(default, rename = "passing", skip_serializing_if = "std::ops::Not::not")]
    pub is_lost_on_resume: bool,
    /// The turn before which a delivery of it does not count: the user requested it by name, or it repeats.
    #[serde(default, alias = "requestedIn", skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// Its estimated tokens.
    #[serde(default)]
    pub tokens: usize,
}

impl Delivery {
    /// The delivery of a text that is not a rule.
    pub fn of_text(name: &str, text: &str) -> Delivery {
        Delivery::new(name, name, text, String::new())
    }

    /// The delivery of a rule.
    pub fn of(rule: &Rule, because: String) -> Delivery {
        Delivery::new(&rule.key(), &rule.origin.display, &rule.body, because)
    }

    fn new(rule: &str, source: &str, text: &str, because: String) -> Delivery {
        Delivery {
            rule: rule.to_owned(),
            source: source.to_owned(),
            hash: TextHash::of(text),
            because,
            offered: false,
            missed: None,
            is_lost_on_resume: false,
            since: None,
            tokens: estimate_tokens(text),
        }
    }

    /// An alert for the user, once per session and source.
    pub fn alert(source: String, line: String) -> Delivery {
        Delivery { source, because: line, ..Delivery::of_text(ALERT, "") }
    }

    /// Whether it is an alert.
    pub fn is_alert(&self) -> bool {
        self.rule == ALERT
    }

    /// Whether it is a rule, and not the list of offers or an alert.
    pub fn is_rule(&self) -> bool {
        !self.because.is_empty() && !self.is_alert()
    }

    /// Whether it gave the text of a rule, and not only its name.
    pub fn is_given(&self) -> bool {
        self.is_rule() && !self.offered
    }

    /// Whether the rule applies because of its conditions.
    pub fn is_conditional(&self) -> bool {
        self.is_rule() && self.because != ALWAYS
    }
}
