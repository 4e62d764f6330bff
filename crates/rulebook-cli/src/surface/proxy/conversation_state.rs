//! A conversation: where rules were added to it. Every later request gets them in the same places.

use std::collections::VecDeque;

use rulebook::session::{Delivery, Event, Session, carried};
use serde::{Deserialize, Serialize};

use super::texts::{Text, Texts};
use crate::surface::wire::{Anchor, Edit, Request, Wire, apply};

/// One conversation of an agent.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Conversation {
    /// The version of the file it is kept in.
    pub(super) version: u64,
    pub(super) session: Session,
    /// What precedes the conversation; decided once, so that a prompt cache keeps it.
    pub(super) prefix: Option<Text>,
    /// What was added later.
    inserted: VecDeque<Inserted>,
    /// The user's message that started the turn, and how many calls were reported.
    pub(super) turn: Option<Anchor>,
    pub(super) calls: usize,
    /// The id of the last of them, where calls have ids.
    pub(super) last_call: Option<String>,
    /// Whether requirements followed it: then its calls must be known after a restart.
    pub(super) has_order: bool,
    /// Responses that the provider knows by another name than the client.
    renamed: VecDeque<(String, String)>,
    /// What requests brought that did not reach the model yet.
    #[serde(skip)]
    pub(super) unsent: Unsent,
    /// Whether the last request was not answered, because a retry failed: if it arrives again, it starts no other conversation.
    #[serde(skip)]
    pub(super) is_repeated: bool,
    /// Whether the user was informed that a newer Rulebook keeps the ledger.
    #[serde(skip)]
    pub(super) is_left_alone: bool,
}

/// What requests brought that failed or are on their way.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    pub(super) events: Vec<Event>,
    /// The deliveries among them, without reminders.
    pub(super) added: Vec<Delivery>,
}

/// A text after an entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Inserted {
    #[serde(rename = "behind")]
    after: Anchor,
    text: Text,
    /// The sources of the rules in it.
    sources: Vec<String>,
}

/// How many texts and names one conversation keeps: where the provider keeps the conversation, its requests do not show which
/// of them are still needed.
const MAX_INSERTED: usize = 4096;
const MAX_ALIASES: usize = 256;

/// Adds an item, and drops the oldest if there are too many.
fn push<T>(items: &mut VecDeque<T>, most: usize, item: T) {
    items.push_back(item);
    items.drain(..items.len().saturating_sub(most));
}

impl Conversation {
    /// Adds a text after an entry for good.
    pub(super) fn insert(&mut self, after: &Anchor, text: Text, deliveries: &[Delivery]) {
        let sources = deliveries.iter().map(|delivery| delivery.source.clone()).collect();
        push(&mut self.inserted, MAX_INSERTED, Inserted { after: after.clone(), text, sources });
    }

    /// Before anything is added: takes in that hooks of the client listed the offers in the conversation already.
    pub(super) fn note_offers(&mut self, request: &Request) {
        if self.prefix.is_none() {
            let listed = request.texts().flat_map(|text| carried(text, std::iter::empty(), false));
            listed.for_each(|offers| self.session.apply(Event::Delivered(offers)));
        }
    }

    /// Takes back the last such text.
    pub(super) fn withdraw(&mut self, text: &str) {
        if let Some(at) = self.inserted.iter().rposition(|inserted| &*inserted.text == text) {
            self.inserted.remove(at);
        }
    }

    /// Takes in that the provider knows a response by another name than the client.
    pub(super) fn alias(&mut self, client: &str, provider: &str) {
        self.renamed.retain(|(known, _)| known != client);
        push(&mut self.renamed, MAX_ALIASES, (client.to_owned(), provider.to_owned()));
    }

    /// Shares its texts with other conversations.
    pub(super) fn share(&mut self, texts: &Texts) {
        for text in self.prefix.iter_mut().chain(self.inserted.iter_mut().map(|inserted| &mut inserted.text))
        {
            *text = texts.share(text);
        }
    }

    /// Forgets what was added after entries that the request no longer has. Returns whether there was anything.
    pub(super) fn forget_gone(&mut self, request: &Request) -> bool {
        let exists =
            |inserted: &Inserted| request.entries.iter().any(|entry| *entry.anchor() == inserted.after);
        let (kept, gone): (VecDeque<_>, VecDeque<_>) = self.inserted.drain(..).partition(exists);
        self.inserted = kept;
        if gone.is_empty() {
            return false;
        }
        self.session.forget(gone.iter().flat_map(|inserted| &inserted.sources).map(String::as_str));
        true
    }

    /// How many of the calls with these ids were reported. A client that shortens a conversation keeps the last ones; of those
    /// that it keeps, all count again if it is not known which are new.
    pub(super) fn known_calls(&self, ids: &[&str]) -> usize {
        let last = self.last_call.as_deref().and_then(|last| ids.iter().rposition(|id| *id == last));
        match last {
            Some(last) => last + 1,
            None if self.calls <= ids.len() => self.calls,
            None => 0,
        }
    }

    /// Whether nothing was added.
    pub(super) fn is_bare(&self) -> bool {
        self.inserted.is_empty() && self.prefix.as_ref().is_none_or(|prefix| prefix.is_empty())
    }

    /// The edits of a request that add everything in its place. A retry writes the text `except` elsewhere.
    pub(super) fn edits(&self, wire: &Wire, request: &Request, except: Option<&str>) -> Vec<Edit> {
        let mut edits = Vec::new();
        if let Some(prefix) = self.prefix.as_deref().filter(|prefix| !prefix.is_empty()) {
            edits.extend(wire.shapes.put(&request.prefix, &[prefix]));
        }
        for entry in &request.entries {
            let own = self.inserted.iter().filter(|inserted| inserted.after == *entry.anchor());
            let texts = own.map(|inserted| &*inserted.text).filter(|text| except != Some(text));
            edits.extend(wire.shapes.put(&entry.slot, &texts.collect::<Vec<_>>()));
        }
        if let Some((id, range)) = &request.follows
            && let Some((_, known)) = self.renamed.iter().find(|(client, _)| client == id)
        {
            edits.push(Edit {
                range: range.clone(),
                text: serde_json::Value::from(known.as_str()).to_string(),
            });
        }
        edits
    }

    /// The request with everything in its place; nothing if nothing changes.
    pub(super) fn compose(&self, wire: &Wire, request: &Request, body: &[u8]) -> Option<Vec<u8>> {
        let edits = self.edits(wire, request, None);
        (!edits.is_empty()).then(|| apply(body, edits))
    }
}
