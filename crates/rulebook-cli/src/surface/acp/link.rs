//! The link of a session to both sides: its messages in order, and the mode that they set.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use super::message::{Message, Prose, Side};
use super::relay::Relay;

/// What a session is sent.
pub(super) enum Mail {
    Message(Side, Message),
    /// Dropped when everything before it was handled.
    Sync(#[expect(dead_code, reason = "that it is dropped is the answer")] Sender<()>),
}

/// A session as both sides know it.
pub(super) struct Link {
    pub(super) relay: Arc<Relay>,
    /// The name that the agent gave it.
    pub(super) id: String,
    pub(super) mode: Option<String>,
    /// The modes that the client asked for, by the ids of its requests.
    pub(super) wanted: BTreeMap<String, String>,
    pub(super) inbox: Receiver<Mail>,
}

impl Link {
    /// Waits for a message; there is none after the program has ended.
    pub(super) fn next(&self) -> Option<(Side, Message)> {
        loop {
            if let Mail::Message(side, message) = self.inbox.recv().ok()? {
                return Some((side, message));
            }
        }
    }

    /// Sends a message on, and notes the mode.
    pub(super) fn pass(&mut self, side: Side, message: &Message) {
        let params = message.params();
        match (side, message.method(), message.id()) {
            (Side::Client, Some("session/set_mode"), Some(id)) => {
                let mode = params["modeId"].as_str().map(str::to_owned);
                self.wanted.extend(mode.map(|mode| (id.to_string(), mode)));
            }
            (Side::Agent, Some("session/update"), _) => {
                let mode = params["update"]["currentModeId"].as_str().map(str::to_owned);
                self.mode = mode.or_else(|| self.mode.take());
            }
            (Side::Agent, None, Some(id)) => {
                let mode = self.wanted.remove(&id.to_string());
                self.mode = mode.filter(|_| message.json["error"].is_null()).or_else(|| self.mode.take());
            }
            _ => {}
        }
        self.relay.pass(side, message);
    }

    /// Shows a line to the user. It is no part of the answer, so it is a thought.
    pub(super) fn inform(&self, text: &str) {
        self.relay.send_client(&Prose::Thought.chunk(&self.id, &format!("{text}\n")));
    }
}
