//! Conversations: which rules stand where in each, put there again in every request that holds that place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use hyper::HeaderMap;
use rulebook::agent::AGENTS;
use rulebook::session::{Delivery, EVENT_VERSION, Event, TextHash};
use rulebook::stream::policy::Policy;
use rulebook_workspace::ledger::{Kept as Recalled, Ledger};
use rulebook_workspace::state;
use serde::{Deserialize, Serialize};

use crate::lock::lock;
use crate::surface::wire::{Anchor, Edit, Request, Role, Wire, apply};

/// What one conversation of an agent has got.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Session {
    /// Of the file.
    pub(super) version: u64,
    /// What stands before the conversation; decided once, so that a prompt cache keeps it.
    pub(super) prefix: Option<String>,
    /// What came on later, and behind which entry.
    pub(super) inserted: Vec<Inserted>,
    /// Texts that stand there, by source.
    pub(super) given: HashMap<String, TextHash>,
    pub(super) policy: Policy,
    /// The user's words that the turn began with, and how many calls were told of.
    pub(super) turn: Option<Anchor>,
    pub(super) calls: usize,
    /// Answers that the provider knows by another name than the client.
    pub(super) aliases: HashMap<String, String>,
    #[serde(skip)]
    pub(super) history: Recalled,
}

/// A text behind an entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Inserted {
    pub(super) behind: Anchor,
    pub(super) text: String,
    /// The sources of the rules in it.
    pub(super) sources: Vec<String>,
}

impl Session {
    /// Puts a text behind an entry for good.
    pub(super) fn insert(&mut self, behind: &Anchor, text: String, given: &[Delivery]) {
        let sources = given.iter().map(|delivery| delivery.source.clone()).collect();
        self.given.extend(given.iter().map(|delivery| (delivery.source.clone(), delivery.hash)));
        self.inserted.push(Inserted { behind: behind.clone(), text, sources });
    }

    /// Forgets what stood behind entries that are gone; whether there were any.
    pub(super) fn drop_gone(&mut self, request: &Request) -> bool {
        let is_there =
            |inserted: &Inserted| request.entries.iter().any(|entry| *entry.anchor() == inserted.behind);
        let (kept, gone): (Vec<_>, Vec<_>) = self.inserted.drain(..).partition(is_there);
        self.inserted = kept;
        for source in gone.iter().flat_map(|inserted| &inserted.sources) {
            self.given.remove(source);
        }
        !gone.is_empty()
    }

    /// What is changed in a request so that everything stands in its place.
    pub(super) fn edits(&self, wire: &Wire, request: &Request) -> Vec<Edit> {
        let mut edits = Vec::new();
        if let Some(prefix) = self.prefix.as_deref().filter(|prefix| !prefix.is_empty()) {
            edits.extend(wire.shapes.put(&request.prefix, &[prefix]));
        }
        for entry in &request.entries {
            let own = self.inserted.iter().filter(|inserted| inserted.behind == *entry.anchor());
            let texts: Vec<&str> = own.map(|inserted| inserted.text.as_str()).collect();
            edits.extend(wire.shapes.put(&entry.slot, &texts));
        }
        if let Some((id, range)) = &request.follows
            && let Some(known) = self.aliases.get(id)
        {
            edits.push(Edit {
                range: range.clone(),
                text: serde_json::Value::from(known.as_str()).to_string(),
            });
        }
        edits
    }

    /// A request with everything in its place; nothing where nothing is changed.
    pub(super) fn compose(&self, wire: &Wire, request: &Request, body: &str) -> Option<String> {
        let edits = self.edits(wire, request);
        (!edits.is_empty()).then(|| apply(body, edits))
    }
}

/// Whose conversation a request is part of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The client's name for the session, or one made of how the conversation began.
    pub(super) session: String,
    pub(super) agent: Option<String>,
    /// How the conversation began: an agent may have several in one session.
    beginning: String,
}

/// Headers that name a session, in the order in which they are believed, and those that name an agent within.
const SESSION: &[&str] = &[
    "x-claude-code-session-id",
    "session-id",
    "session_id",
    "x-session-affinity",
    "x-session-id",
    "thread-id",
];
const AGENT: &[&str] = &["x-claude-code-agent-id", "x-agent-id"];

impl Key {
    /// What is kept of one workspace's conversations is not found from another's, though they begin alike.
    pub(super) fn of(headers: &HeaderMap, request: &Request, root: &str) -> Key {
        let named = |names: &[&str]| {
            let mut values = names.iter().filter_map(|name| headers.get(*name)?.to_str().ok());
            values.find(|value| !value.is_empty()).map(str::to_owned)
        };
        let mut entries = request.entries.iter();
        let spoken = entries.clone().find(|entry| entry.user_text().is_some()).or_else(|| entries.next());
        // Where the provider keeps the conversation, its beginning is not in the request.
        let beginning = spoken.filter(|_| request.follows.is_none()).map(|entry| entry.anchor().clone());
        let beginning = format!("{root}\n{}", beginning.unwrap_or_default());
        let session = named(SESSION).or_else(|| request.key.clone()).filter(|name| !name.is_empty());
        let session = session.unwrap_or_else(|| TextHash::of(&beginning).to_string());
        Key { session, agent: named(AGENT), beginning }
    }
}

/// The agent a client is, by how it calls itself.
pub(super) fn agent(headers: &HeaderMap) -> Option<&'static str> {
    let said = headers.get("user-agent")?.to_str().ok()?.to_lowercase();
    AGENTS.iter().map(|agent| agent.name).find(|name| said.contains(name))
}

/// More conversations than this are not kept in memory.
const MAX_SESSIONS: usize = 1000;

/// The name of the surface as a host of sessions.
pub(super) const HOST: &str = "proxy";

/// All conversations.
#[derive(Default)]
pub(super) struct Sessions {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// How often one was looked for.
    clock: u64,
    known: HashMap<Key, Kept>,
}

struct Kept {
    /// When it was looked for last.
    used: u64,
    session: Arc<Mutex<Session>>,
}

impl Sessions {
    /// The conversation of a request. One that has just begun is new, whatever began the same way before.
    pub(super) fn find(&self, key: &Key, state: Option<&Path>, request: &Request) -> Arc<Mutex<Session>> {
        let mut open = lock(&self.open);
        let Open { clock, known } = &mut *open;
        *clock += 1;
        let has_begun =
            request.follows.is_some() || request.entries.iter().any(|entry| entry.role == Role::Assistant);
        // Where the provider keeps the conversation, it is the one that was spoken in last.
        let is_same = |other: &&Key| (&other.session, &other.agent) == (&key.session, &key.agent);
        let last = request.follows.as_ref().and_then(|_| {
            let same = known.iter().filter(|(other, _)| is_same(other));
            same.max_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone())
        });
        let key = last.as_ref().unwrap_or(key);
        if let Some(kept) = known.get_mut(key).filter(|_| has_begun) {
            kept.used = *clock;
            return Arc::clone(&kept.session);
        }
        let session = if has_begun { state.and_then(|state| read(state, key)) } else { None };
        let session = Arc::new(Mutex::new(session.unwrap_or_default()));
        known.insert(key.clone(), Kept { used: *clock, session: Arc::clone(&session) });
        if known.len() > MAX_SESSIONS {
            let oldest = known.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone());
            oldest.map(|key| known.remove(&key));
        }
        session
    }
}

/// The ledger of a conversation's session.
pub(super) fn ledger(state: &Path, key: &Key) -> Ledger {
    Ledger::of(state, HOST, &key.session, key.agent.as_deref())
}

/// Where a conversation is kept when the server is not there.
fn file(state: &Path, key: &Key) -> PathBuf {
    let beginning = TextHash::of(&key.beginning);
    ledger(state, key).file().with_extension(format!("{beginning}.json"))
}

/// The version of that file, and the most bytes that are read of it.
const FILE_VERSION: u64 = 1;
const MAX_FILE: usize = 64 << 20;

/// What is known of a conversation. A file that cannot be read is told, and kept aside, when the next one is written.
fn read(folder: &Path, key: &Key) -> Option<Session> {
    state::recall(&file(folder, key), MAX_FILE, FILE_VERSION)
}

/// Writes down what happened, and where the conversation stands; returns what is to be told of what was there.
pub(super) fn record(
    folder: &Path,
    key: &Key,
    root: &str,
    session: &mut Session,
    facts: Vec<Event>,
) -> std::io::Result<Vec<String>> {
    let mut told = Vec::new();
    let ledger = ledger(folder, key);
    if !session.history.session.is_started() {
        session.history = ledger.recall()?;
        told.extend(ledger.left_alone(session.history.newer()));
    }
    let began = (!session.history.session.is_started()).then(|| Event::Started {
        version: EVENT_VERSION,
        host: HOST.to_owned(),
        session: key.session.clone(),
        agent: key.agent.clone(),
        root: root.to_owned(),
    });
    let facts: Vec<Event> = began.into_iter().chain(facts).collect();
    if facts.is_empty() {
        return Ok(told);
    }
    ledger.record(&mut session.history, facts, Vec::new())?;
    // With nothing in its place there is nothing to find again.
    let is_bare = session.inserted.is_empty() && session.prefix.as_ref().is_none_or(String::is_empty);
    if !is_bare {
        session.version = FILE_VERSION;
        let kept = state::keep(&file(folder, key), MAX_FILE, FILE_VERSION, session)?;
        told.extend(kept.map(|kept| format!("`{}` {}", kept.path, kept.message)));
    }
    Ok(told)
}
