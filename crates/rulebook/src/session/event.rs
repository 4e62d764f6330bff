//! Events: what happened in a session, in order. A session is rebuilt from them, and a ledger has one line per event.

use serde::{Deserialize, Serialize};

use super::blocks::ALWAYS;
use crate::evidence::ToolCall;
use crate::hash::TextHash;
use crate::render::estimate_tokens;
use crate::rule::Rule;

/// The actions of [`Event::Interrupted`].
pub(super) const INTERRUPT: &str = "interrupt";
pub(super) const REMIND: &str = "remind";
pub(super) const RELEASED: &str = "released";

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
    },
    /// A rule was delivered to the model.
    Delivered(Delivery),
    /// The context was compacted: what was delivered before may have left it.
    Compacted,
    /// The session was resumed by a host that forgets part of what was delivered.
    Resumed,
    /// A call was refused because of a rule.
    Refused {
        /// The rule's key; its id alone in older records.
        rule: String,
        /// What the call was about: the same call passes the next time.
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
        /// text was held too long and let go.
        action: String,
    },
    /// Rulebook failed; the agent continued.
    Failed {
        /// What failed.
        what: String,
    },
}

impl Event {
    /// The user sent a message; a long one is cut.
    pub fn prompt(message: &str) -> Event {
        Event::Prompt { message: message[..message.floor_char_boundary(MAX_MESSAGE)].to_owned() }
    }

    /// A tool call, with its files relative to their root.
    pub fn tool(call: &ToolCall, paths: Vec<String>) -> Event {
        let (name, command) = (call.name.clone(), call.shell_command());
        Event::Tool { name, paths, command, pending: call.pending }
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
            tokens: estimate_tokens(text),
        }
    }

    /// Whether it is a rule, and not the list of offers.
    pub fn is_rule(&self) -> bool {
        !self.because.is_empty()
    }

    /// Whether the rule applies because of its conditions.
    pub fn is_conditional(&self) -> bool {
        !matches!(self.because.as_str(), "" | ALWAYS)
    }
}
