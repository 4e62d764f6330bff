//! All conversations: which one a request belongs to, and where each is kept.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use hyper::HeaderMap;
use rulebook::agent::{Agent, Purpose};
use rulebook::session::{EVENT_VERSION, Event, Session, TextHash};
use rulebook_workspace::ledger::{Ledger, PROXY, sweep};
use rulebook_workspace::state;
use tokio::sync::oneshot;

use super::conversation_state::Conversation;
use super::texts::Texts;
use crate::lock::lock;
use crate::surface::wire::{Request, Role};

/// Identifies a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The client's name for the session, or the hash of the conversation's beginning.
    pub(super) session: String,
    pub(super) agent: Option<String>,
    /// The workspace and the first entry: an agent may have several conversations in one session.
    beginning: String,
}

/// Headers that name a session, the most reliable first, and those that name an agent within.
const SESSION: &[&str] = &[
    "x-claude-code-session-id",
    "session-id",
    "session_id",
    "x-session-affinity",
    "x-session-id",
    "agent-session-id",
    "thread-id",
];
const AGENT: &[&str] = &["x-claude-code-agent-id", "x-agent-id"];

impl Key {
    /// The root is part of it: conversations of two workspaces may begin alike.
    pub(super) fn of(headers: &HeaderMap, request: &Request, root: &str) -> Key {
        let named = |names: &[&str]| {
            let mut values = names.iter().filter_map(|name| headers.get(*name)?.to_str().ok());
            values.find(|value| !value.is_empty()).map(str::to_owned)
        };
        let mut entries = request.entries.iter();
        let first = entries.clone().find(|entry| entry.user_text().is_some()).or_else(|| entries.next());
        // Where the provider keeps the conversation, the request does not have its beginning.
        let beginning = first.filter(|_| request.follows.is_none()).map(|entry| entry.anchor().clone());
        let beginning = format!("{root}\n{}", beginning.unwrap_or_default());
        let session = named(SESSION).or_else(|| request.key.clone()).filter(|name| !name.is_empty());
        let session = session.unwrap_or_else(|| TextHash::of(&beginning).to_string());
        Key { session, agent: named(AGENT), beginning }
    }
}

/// Products in user agents that are not named like their agent.
const PRODUCTS: &[(&str, &str)] = &[
    ("charm-crush", "crush"),
    ("claude-cli", "claude"),
    ("claude-code", "claude"),
    ("codex-tui", "codex"),
    ("codex_cli_rs", "codex"),
    ("codex_exec", "codex"),
    ("copilot-cli", "copilot-cli"),
    ("gemini-cli", "gemini"),
    ("geminicli", "gemini"),
    ("githubcopilotchat", "copilot-vscode"),
    ("kilo-code", "kilo"),
    ("qwen-code", "qwen"),
    ("qwencode", "qwen"),
    ("roo-code", "roo"),
    ("roocode", "roo"),
];

/// The agent that sent a request, by the products in its user agent.
pub(super) fn agent(headers: &HeaderMap) -> Option<&'static Agent> {
    let sent = headers.get("user-agent")?.to_str().ok()?.to_lowercase();
    let mut depth = 0_usize;
    // Comments in parentheses name systems and libraries.
    let outside: String = sent
        .chars()
        .map(|char| {
            depth = (depth + usize::from(char == '(')).saturating_sub(usize::from(char == ')'));
            if depth > 0 || char == ')' { ' ' } else { char }
        })
        .collect();
    let product = |token: &str| {
        let name = token.split('/').next().unwrap_or_default();
        // `GeminiCLI-tui` names the surface too.
        let is_it = |product: &str| {
            name.strip_prefix(product).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let name = PRODUCTS.iter().find(|(product, _)| is_it(product)).map_or(name, |(_, agent)| agent);
        Agent::find(name, Purpose::Connect).ok().map(|named| named.agent)
    };
    outside.split_whitespace().find_map(product)
}

/// How many conversations are kept in memory.
const MAX_CONVERSATIONS: usize = 1000;

/// How many bytes of different texts they have together.
const MAX_TEXTS: usize = 64 << 20;

/// Old sessions are swept with the first of as many new ones: a sweep looks at hundreds of files, and removes more than these.
const STARTED_PER_SWEEP: usize = 32;

/// The surface's name as a host of sessions.
pub(super) const HOST: &str = PROXY;

/// Waits until something is written.
pub(super) type Written = oneshot::Receiver<()>;

/// What requirements know of each session, by root and name.
type Orders = HashMap<(String, String), Arc<Mutex<Session>>>;

/// The conversations in memory.
#[derive(Default)]
pub(super) struct Conversations {
    open: Mutex<Open>,
    orders: Mutex<Orders>,
    pub(super) texts: Texts,
    /// How many sessions were started on the disk.
    started: AtomicUsize,
}

#[derive(Default)]
struct Open {
    /// Counts the lookups.
    clock: u64,
    known: HashMap<Key, Known>,
}

#[derive(Clone)]
struct Known {
    /// The last lookup.
    used: u64,
    conversation: Arc<Mutex<Conversation>>,
    /// The folder of its file.
    state: Option<PathBuf>,
}

impl Known {
    /// Writes the conversation to its file. Returns whether it can be read from there.
    fn save(&self, key: &Key) -> bool {
        let Some(state) = &self.state else { return false };
        let mut conversation = lock(&self.conversation);
        conversation.version = FILE_VERSION;
        state::save(&file(state, key), MAX_FILE, FILE_VERSION, &*conversation).is_ok()
    }
}

impl Conversations {
    /// What requirements know of a session; read from what was recorded, if it is not in memory.
    pub(super) fn order(
        &self,
        root: &str,
        session: &str,
        recorded: impl FnOnce() -> Session,
    ) -> Arc<Mutex<Session>> {
        let mut orders = lock(&self.orders);
        let key = (root.to_owned(), session.to_owned());
        if let Some(known) = orders.get(&key) {
            return Arc::clone(known);
        }
        if orders.len() >= MAX_CONVERSATIONS {
            orders.retain(|_, order| Arc::strong_count(order) > 1);
        }
        let order = Arc::new(Mutex::new(recorded()));
        orders.insert(key, Arc::clone(&order));
        order
    }

    /// The conversation of a request. A request without answers starts a new one, even if another began the same way, unless
    /// it repeats the last one because a retry failed.
    pub(super) fn find(
        &self,
        key: &Key,
        state: Option<&Path>,
        request: &Request,
    ) -> Arc<Mutex<Conversation>> {
        let mut open = lock(&self.open);
        let Open { clock, known } = &mut *open;
        *clock += 1;
        let has_begun =
            request.follows.is_some() || request.entries.iter().any(|entry| entry.role == Role::Assistant);
        // Where the provider keeps the conversation, it is the session's last one.
        let is_same = |other: &&Key| (&other.session, &other.agent) == (&key.session, &key.agent);
        let last = request.follows.as_ref().and_then(|_| {
            let same = known.iter().filter(|(other, _)| is_same(other));
            same.max_by_key(|(_, known)| known.used).map(|(key, _)| key.clone())
        });
        let key = last.as_ref().unwrap_or(key);
        let continues = |known: &mut Known| has_begun || lock(&known.conversation).is_repeated;
        if let Some(found) = known.get_mut(key).and_then(|found| continues(found).then_some(found)) {
            found.used = *clock;
            return Arc::clone(&found.conversation);
        }
        let kept = state.filter(|_| has_begun);
        let kept = kept.and_then(|state| state::load(&file(state, key), MAX_FILE, FILE_VERSION));
        let mut kept: Conversation = kept.unwrap_or_default();
        kept.share(&self.texts);
        let conversation = Arc::new(Mutex::new(kept));
        let state = state.map(Path::to_owned);
        known.insert(key.clone(), Known { used: *clock, conversation: Arc::clone(&conversation), state });
        while known.len() > MAX_CONVERSATIONS || (known.len() > 1 && self.texts.sweep() > MAX_TEXTS) {
            drop_older_half(known);
        }
        conversation
    }

    /// Drops the conversations that nobody uses now, after they are written. One that continues is read again. Requests
    /// find theirs meanwhile.
    pub(super) fn rest(&self) {
        let unused = |known: &Known, owners| Arc::strong_count(&known.conversation) == owners;
        let all = lock(&self.open).known.clone();
        // It belongs to two maps now.
        for (key, known) in all.into_iter().filter(|(_, known)| unused(known, 2)) {
            if !known.save(&key) {
                continue;
            }
            let mut open = lock(&self.open);
            if open.known.get(&key).is_some_and(|now| now.used == known.used && unused(now, 2)) {
                open.known.remove(&key);
            }
        }
        lock(&self.open).known.shrink_to_fit();
        self.texts.sweep();
    }

    /// Records events in the session's ledger, and the conversation in its file. Returns what the user should know.
    pub(super) fn record(
        &self,
        state: &Path,
        key: &Key,
        root: &str,
        conversation: &mut Conversation,
        events: &[Event],
    ) -> io::Result<Vec<String>> {
        let mut faults = Vec::new();
        let start = Event::Started {
            version: EVENT_VERSION,
            host: HOST.to_owned(),
            session: key.session.clone(),
            agent: key.agent.clone(),
            root: root.to_owned(),
            more_roots: Vec::new(),
        };
        let ledger = ledger(state, key);
        if !ledger.file().exists()
            && self.started.fetch_add(1, Ordering::Relaxed).is_multiple_of(STARTED_PER_SWEEP)
        {
            sweep(state, SystemTime::now());
        }
        if let Some(fault) = ledger.append(&start, events)?
            && !std::mem::replace(&mut conversation.is_left_alone, true)
        {
            faults.push(fault);
        }
        // Without additions and requirements there is nothing to find again.
        if (!conversation.is_bare() || conversation.has_order) && !events.is_empty() {
            conversation.version = FILE_VERSION;
            let kept = state::save(&file(state, key), MAX_FILE, FILE_VERSION, conversation)?;
            faults.extend(kept.map(|kept| format!("`{}` {}", kept.path, kept.message)));
        }
        Ok(faults)
    }
}

/// Drops the conversations that were not used for longest. One that continues is read from its file again.
fn drop_older_half(known: &mut HashMap<Key, Known>) {
    let mut used: Vec<u64> = known.values().map(|known| known.used).collect();
    used.sort_unstable();
    let middle = used[used.len() / 2];
    known.retain(|_, known| known.used >= middle);
}

fn ledger(state: &Path, key: &Key) -> Ledger {
    Ledger::of(state, HOST, &key.session, key.agent.as_deref())
}

/// The file of a conversation, beside the ledger of its session.
fn file(state: &Path, key: &Key) -> PathBuf {
    ledger(state, key).file().with_extension(format!("{}.json", TextHash::of(&key.beginning)))
}

const FILE_VERSION: u64 = 2;
const MAX_FILE: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::wire::WIRES;

    #[track_caller]
    fn check(sent: &str, wanted: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert("user-agent", sent.parse().unwrap());
        assert_eq!(agent(&headers).map(|agent| agent.name), wanted, "{sent}");
    }

    #[test]
    fn an_agent_is_a_whole_product_of_the_user_agent() {
        check("claude-cli/2.1.197 (external, cli)", Some("claude"));
        check("codex_cli_rs/0.98.0 (Debian 12; x86_64) xterm", Some("codex"));
        check("opencode/1.2.3 ai-sdk/provider-utils/4.0", Some("opencode"));
        check("GeminiCLI/0.61.0/gemini-3-pro (linux; x64)", Some("gemini"));
        check("copilot/1.0.102 (client/cli linux)", Some("copilot-cli"));
        check("pi/0.9", Some("pi"));
        check("Anthropic/Python 0.71.0", None);
        check("OpenAI/JS 5.0 (continue, pi)", None);
        check("python-httpx/0.28", None);
    }

    #[test]
    fn conversations_of_one_session_use_bounded_memory() {
        let conversations = Conversations::default();
        let ask = |text: &str, prefix: &str| {
            let body = serde_json::json!({ "messages": [{ "role": "user", "content": text }], "metadata": { "user_id": "one" } });
            let request = WIRES[0].request("/v1/messages", body.to_string().as_bytes()).unwrap();
            let key = Key::of(&HeaderMap::new(), &request, "/repo");
            let conversation = conversations.find(&key, None, &request);
            lock(&conversation).prefix = Some(conversations.texts.share(prefix));
        };
        let rules = "r".repeat(1 << 12);
        (0..600).for_each(|number| ask(&number.to_string(), &rules));
        assert_eq!((lock(&conversations.open).known.len(), conversations.texts.sweep()), (600, 1 << 12));
        (600..2000).for_each(|number| ask(&number.to_string(), &rules));
        assert!(lock(&conversations.open).known.len() <= MAX_CONVERSATIONS);
        // Each with another text: the oldest go.
        let large = "l".repeat(16 << 20);
        (0..8).for_each(|number| ask(&format!("other {number}"), &format!("{number}{large}")));
        assert!(conversations.texts.sweep() <= MAX_TEXTS + (17 << 20));
    }

    #[test]
    fn conversations_that_rest_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let conversations = Conversations::default();
        let body = serde_json::json!({ "messages": [{ "role": "user", "content": "a" }, { "role": "assistant", "content": "b" }] });
        let request = WIRES[0].request("/v1/messages", body.to_string().as_bytes()).unwrap();
        let key = Key::of(&HeaderMap::new(), &request, "/repo");
        let find = |state: Option<&Path>| conversations.find(&key, state, &request);
        let conversation = find(Some(folder.path()));
        lock(&conversation).prefix = Some(conversations.texts.share("rules"));
        conversations.rest();
        assert_eq!(lock(&conversations.open).known.len(), 1, "it is in use");
        drop(conversation);
        conversations.rest();
        assert_eq!((lock(&conversations.open).known.len(), conversations.texts.sweep()), (0, 0));
        assert_eq!(lock(&find(Some(folder.path()))).prefix.as_deref(), Some("rules"));
        // Without a folder, the memory is all there is.
        lock(&conversations.open).known.clear();
        drop(find(None));
        conversations.rest();
        assert_eq!(lock(&conversations.open).known.len(), 1);
    }

    #[test]
    fn old_sessions_are_swept_with_the_first_of_many_new_ones() {
        let folder = tempfile::tempdir().unwrap();
        let conversations = Conversations::default();
        let start = |name: usize| {
            let key = Key { session: format!("new-{name}"), agent: None, beginning: String::new() };
            let mut conversation = Conversation::default();
            conversations
                .record(folder.path(), &key, "/w", &mut conversation, &[Event::prompt("a")])
                .unwrap();
        };
        let old = folder.path().join("sessions/codex/old");
        let add_old = || {
            std::fs::create_dir_all(&old).unwrap();
            let at = SystemTime::now() - std::time::Duration::from_secs(40 * 24 * 60 * 60);
            std::fs::File::create(old.join("main.jsonl")).unwrap().set_modified(at).unwrap();
        };
        add_old();
        start(0);
        assert!(!old.exists());
        add_old();
        (0..STARTED_PER_SWEEP).for_each(&start);
        assert!(old.exists());
        start(STARTED_PER_SWEEP);
        assert!(!old.exists());
    }
}
