//! The server: the open documents, the last snapshot, and what the editor shows.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use lsp_server::{Message, Notification, Request, RequestId, Response};
use rulebook::diagnostic::Diagnostic;
use rulebook_workspace::{Overlay, find_root};
use serde_json::{Value, json};

use super::client::Client;
use super::document::Document;
use super::evidence::Evidence;
use super::snapshot::{Job, Snapshot};
use super::watcher::{self, News};
use super::worker::Worker;
use super::{preview, problems};
use crate::args::Args;
use crate::input::current_folder;
use crate::pace::Pace;

/// Everything the server knows.
pub(super) struct Server {
    pub(super) args: Args,
    pub(super) client: Client,
    pub(super) snapshot: Option<Arc<Snapshot>>,
    /// By address.
    pub(super) documents: BTreeMap<String, Document>,
    sender: Sender<Message>,
    pub(super) worker: Worker,
    pub(super) news: Receiver<News>,
    pub(super) evidence: Evidence,
    check: Check,
    /// What the editor shows, by address.
    published: HashMap<String, Value>,
    /// The number of the last request to the editor.
    asked: i32,
    /// The number of the last request for the user's settings.
    configuration: Option<RequestId>,
    /// When the disk was last looked at, for an editor that does not report changes.
    polled: Instant,
}

/// The next check, and whether one is running.
#[derive(Default)]
struct Check {
    /// When it starts.
    due: Option<Instant>,
    walk: bool,
    is_running: bool,
}

/// The disk is looked at by itself at most this often, for changes that the editor does not report.
const POLLING: Pace = Pace { shortest: Duration::from_secs(2), parts: 20 };

/// How long to wait for more changes, at most.
const MAX_PAUSE: Duration = Duration::from_millis(400);

impl Server {
    pub(super) fn new(args: Args, client: Client, sender: Sender<Message>) -> Server {
        let worker = Worker::start(args.lasting());
        let news = watcher::start(client.is_own);
        Server {
            news,
            evidence: Evidence::default(),
            args,
            client,
            snapshot: None,
            documents: BTreeMap::new(),
            sender,
            worker,
            check: Check::default(),
            published: HashMap::new(),
            asked: 0,
            configuration: None,
            polled: Instant::now(),
        }
    }

    pub(super) fn send(&self, message: Message) {
        // An editor that is gone ends the loop.
        let _ = self.sender.send(message);
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    fn ask(&mut self, method: &str, params: Value) -> RequestId {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.send(Request::new(id.clone(), method.to_owned(), params).into());
        id
    }

    /// Asks the editor to report changes on disk and of the settings, if it can.
    pub(super) fn register(&mut self) {
        let files = json!({
            "id": "files", "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": [{ "globPattern": "**/*" }] },
        });
        let settings = json!({
            "id": "settings", "method": "workspace/didChangeConfiguration", "registerOptions": { "section": "rulebook" },
        });
        // Rulebook's own extension reports its settings anyway.
        let has_settings = self.client.reports_settings && !self.client.is_own;
        let wanted = [(self.client.watches, files), (has_settings, settings)];
        let wanted: Vec<Value> =
            wanted.into_iter().filter(|(can, _)| *can).map(|(_, registration)| registration).collect();
        if !wanted.is_empty() {
            self.ask("client/registerCapability", json!({ "registrations": wanted }));
        }
    }

    /// Asks the editor for the user's settings, if it can answer.
    pub(super) fn ask_configuration(&mut self) {
        if self.client.has_settings {
            let items = json!({ "items": [{ "section": "rulebook" }] });
            self.configuration = Some(self.ask("workspace/configuration", items));
        }
    }

    /// Takes what a settings object says.
    pub(super) fn configure(&mut self, settings: &Value) {
        let choices = self.client.choices.read(settings);
        if choices != self.client.choices {
            self.client.choices = choices;
            self.check_soon(Walk::Not);
        }
    }

    /// Takes an answer of the editor. Only that to the last request for settings needs an action.
    pub(super) fn hear_answer(&mut self, answer: &Response) {
        if self.configuration.take_if(|id| *id == answer.id).is_some()
            && let Some(settings) = answer.response_result.as_ref().ok().and_then(|settings| settings.get(0))
        {
            self.configure(settings);
        }
    }

    /// The roots of the workspace: of the arguments, of the editor's folders, or else of the first open file.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        if !self.args.root.is_empty() {
            return self.args.root.clone();
        }
        let folders = self.client.folders.iter().filter(|folder| folder.is_dir());
        let mut roots: Vec<PathBuf> = folders.map(|folder| find_root(folder).to_owned()).collect();
        if roots.is_empty() {
            let parent = self.documents.values().find_map(|document| document.real.parent());
            let folder = parent.filter(|folder| folder.is_dir()).map(PathBuf::from);
            let folder = folder.or_else(|| current_folder().ok().filter(|_| !self.documents.is_empty()));
            roots.extend(folder.map(|folder| find_root(&folder).to_owned()));
        }
        roots
    }

    /// An open document, and the snapshot.
    pub(super) fn open(&self, uri: &str) -> Option<(&Document, &Snapshot)> {
        Some((self.documents.get(uri)?, self.snapshot.as_deref()?))
    }

    /// Plans a check: soon if the last one was fast, later if it was slow, so that typing does not cost all the time.
    pub(super) fn check_soon(&mut self, walk: Walk) {
        let pause = self.snapshot.as_ref().map_or(Duration::ZERO, |last| last.took.min(MAX_PAUSE));
        self.check.due = Some(Instant::now() + pause);
        self.check.walk |= walk == Walk::Again;
    }

    /// Whether the first check is not finished yet.
    pub(super) fn is_starting(&self) -> bool {
        self.snapshot.is_none() && (self.check.is_running || self.check.due.is_some())
    }

    /// How long nothing needs to be done.
    pub(super) fn pause(&self) -> Duration {
        const LONGEST: Duration = Duration::from_secs(1);
        let due = self.check.due.filter(|_| !self.check.is_running);
        due.map_or(LONGEST, |due| due.saturating_duration_since(Instant::now()).min(LONGEST))
    }

    /// Does what is due.
    pub(super) fn tick(&mut self) {
        let pace = POLLING.pause(self.snapshot.as_ref().map_or(Duration::ZERO, |last| last.took));
        let is_idle = self.check.due.is_none() && !self.check.is_running && self.snapshot.is_some();
        if is_idle && !self.client.watches && self.polled.elapsed() > pace {
            self.polled = Instant::now();
            self.check_soon(Walk::Again);
        }
        if !self.check.is_running && self.check.due.is_some_and(|due| due <= Instant::now()) {
            let roots = self.roots();
            let walk = std::mem::take(&mut self.check.walk);
            self.check.due = None;
            if roots.is_empty() {
                return;
            }
            self.check.is_running = true;
            let texts = self.documents.values();
            let texts = texts.map(|open| (open.real.clone(), Arc::clone(&open.text), open.is_new));
            let open = self.documents.values();
            let open = open.map(|open| (open.name().to_owned(), open.uri.clone())).collect();
            let view = self.client.is_own;
            self.worker.check(Job { roots, overlay: Overlay::new(texts), open, walk, view });
        }
        match self.snapshot.clone() {
            Some(snapshot) if self.client.choices.evidence => self.evidence.write(&snapshot, &self.documents),
            Some(_) => self.evidence.remove(),
            None => {}
        }
    }

    pub(super) fn accept(&mut self, result: Result<Arc<Snapshot>, String>) {
        self.check.is_running = false;
        match result {
            Ok(snapshot) => self.snapshot = Some(snapshot),
            Err(error) => self.notify("window/logMessage", json!({ "type": 1, "message": error })),
        }
        self.publish();
        let is_settled = self.check.due.is_none();
        self.notify("rulebook/checked", json!({ "settled": is_settled }));
        if is_settled {
            for what in self.client.refreshes.clone() {
                self.ask(&format!("workspace/{what}/refresh"), Value::Null);
            }
        }
    }

    /// The problems of an open document, as it is now.
    pub(super) fn problems_of(&self, document: &Document) -> Vec<Diagnostic> {
        let Some(snapshot) = &self.snapshot else { return Vec::new() };
        let all = snapshot.diagnostics();
        let checked = all.get(&snapshot.named(document.name())).map_or(&[][..], Vec::as_slice);
        problems::of_document(snapshot, document, checked)
    }

    /// Shows the problems of every file.
    fn publish(&mut self) {
        let Some(snapshot) = self.snapshot.clone() else { return };
        let mut all = snapshot.diagnostics();
        let mut now: HashMap<String, (Option<i64>, Value)> = HashMap::new();
        for document in self.documents.values() {
            let checked = all.remove(&snapshot.named(document.name())).unwrap_or_default();
            now.insert(document.uri.clone(), (document.version, self.shown(&snapshot, document, &checked)));
        }
        for (path, found) in all {
            let shown = found.iter().map(|found| problems::shown(found, None)).collect();
            now.entry(snapshot.uris.of(&path)).or_insert((None, shown));
        }
        let gone: Vec<String> =
            self.published.keys().filter(|uri| !now.contains_key(*uri)).cloned().collect();
        for uri in gone {
            self.publish_one(uri, None, Value::Array(Vec::new()));
        }
        for (uri, (version, shown)) in now {
            self.publish_one(uri, version, shown);
        }
    }

    /// Shows the problems of one document, at once.
    pub(super) fn publish_document(&mut self, uri: &str) {
        let Some((document, snapshot)) = self.open(uri) else { return };
        let all = snapshot.diagnostics();
        let checked = all.get(&snapshot.named(document.name())).map_or(&[][..], Vec::as_slice);
        let (version, shown) = (document.version, self.shown(snapshot, document, checked));
        self.publish_one(uri.to_owned(), version, shown);
    }

    fn shown(&self, snapshot: &Snapshot, document: &Document, checked: &[&Diagnostic]) -> Value {
        let found = problems::of_document(snapshot, document, checked);
        let shown = found.iter().map(|found| problems::shown(found, Some(document)));
        let preview = self.client.choices.preview.then(|| preview::hints(snapshot, document));
        shown.chain(preview.into_iter().flatten()).collect()
    }

    fn publish_one(&mut self, uri: String, version: Option<i64>, shown: Value) {
        let is_empty = shown.as_array().is_some_and(Vec::is_empty);
        let known = self.published.get(&uri);
        if known == Some(&shown) || known.is_none() && is_empty {
            return;
        }
        let mut params = json!({ "uri": uri, "diagnostics": shown });
        if let Some(version) = version {
            params["version"] = version.into();
        }
        self.notify("textDocument/publishDiagnostics", params);
        if is_empty {
            self.published.remove(&uri)
        } else {
            self.published.insert(uri, shown)
        };
    }
}

/// Whether files may have appeared or vanished.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    Again,
    Not,
}
