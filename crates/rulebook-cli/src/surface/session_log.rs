//! The recorded sessions. Of a list only what it shows is kept: there may be very many ledgers.

use std::iter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::hidden::visible_line;
use rulebook::session::{Event, rules_given};
use rulebook_workspace::Workspace;
use rulebook_workspace::ledger::{Log, SessionFile, sessions};
use serde_json::{Value, json};

use crate::args::Args;
use crate::input::open_roots;
use crate::out;

/// A session with the events of its ledger.
pub(super) struct SessionLog {
    pub(super) host: String,
    pub(super) session: String,
    pub(super) agent: Option<String>,
    pub(super) root: String,
    pub(super) more_roots: Vec<String>,
    pub(super) at: SystemTime,
    pub(super) log: Log,
}

impl SessionLog {
    /// The log of a session; nothing if its start is not written yet.
    pub(super) fn of(found: &SessionFile, log: Log) -> Option<SessionLog> {
        let start = log.events().iter().find(|event| matches!(event, Event::Started { .. })).cloned();
        let Some(Event::Started { host, session, agent, root, more_roots, .. }) = start else { return None };
        Some(SessionLog { host, session, agent, root, more_roots, at: found.at, log })
    }

    /// The workspace of the session, if it is another one than this: what was not delivered depends on it.
    pub(super) fn other_workspace(&self, args: &Args, here: &Workspace) -> Option<Workspace> {
        let own = || iter::once(&self.root).chain(&self.more_roots);
        let is_here = own().eq(here.roots.roots.iter().map(|root| &root.path));
        let roots: Vec<PathBuf> = own().map(PathBuf::from).collect();
        let exist = roots.iter().all(|root| root.is_dir());
        (!is_here && exist).then(|| open_roots(args, &roots).ok()).flatten()
    }
}

/// A session without its events.
pub(super) struct Listed {
    pub(super) host: String,
    pub(super) session: String,
    pub(super) agent: Option<String>,
    pub(super) root: String,
    pub(super) more_roots: Vec<String>,
    pub(super) at: SystemTime,
    pub(super) turns: u64,
    /// How many rules were delivered.
    pub(super) given: usize,
    /// The keys of the rules that are pinned.
    pub(super) pinned: Vec<String>,
}

impl Listed {
    pub(super) fn of(from: &SessionLog) -> Listed {
        let SessionLog { host, session, agent, root, more_roots, at, log } = from;
        let has_pinned = log.events().iter().any(|event| matches!(event, Event::Pinned { .. }));
        let pinned = || log.session().pinned().map(str::to_owned).collect();
        Listed {
            host: host.clone(),
            session: session.clone(),
            agent: agent.clone(),
            root: root.clone(),
            more_roots: more_roots.clone(),
            at: *at,
            turns: log.turn(),
            given: given(log),
            pinned: if has_pinned { pinned() } else { Vec::new() },
        }
    }

    pub(super) fn summary(&self) -> Value {
        json!({
            "session": visible_line(&self.session), "host": self.host, "agent": self.agent, "root": self.root,
            "turns": self.turns, "given": self.given, "lastEvent": out::seconds(self.at),
        })
    }
}

/// How many rules were delivered.
pub(super) fn given(log: &Log) -> usize {
    rules_given(log.events())
}

/// Every session, the last written first, and a diagnostic for each ledger that cannot be used.
pub(super) fn all(workspace: &Workspace) -> (Vec<Listed>, Vec<Diagnostic>) {
    list(workspace, |_| true)
}

/// The same for some of the files.
pub(super) fn list(
    workspace: &Workspace,
    is_wanted: impl Fn(&SessionFile) -> bool,
) -> (Vec<Listed>, Vec<Diagnostic>) {
    let (mut listed, mut diagnostics) = (Vec::new(), Vec::new());
    for found in files(workspace).into_iter().filter(is_wanted) {
        let log = read(workspace, &found, &mut diagnostics);
        listed.extend(log.as_ref().map(Listed::of));
    }
    (listed, diagnostics)
}

/// The sessions of a name, or the last one in this workspace, each with its sub-agents.
pub(super) fn find(workspace: &Workspace, wanted: Option<&str>) -> (Vec<SessionLog>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut found = files(workspace);
    let here = &workspace.roots.roots[0].path;
    let is_here = |start: &Event| matches!(start, Event::Started { root, .. } if root == here);
    match wanted {
        Some(wanted) => found.retain(|file| file.is_of(wanted)),
        None => {
            let last = found.iter().find(|file| file.ledger.start().is_some_and(|start| is_here(&start)));
            let folder = last.and_then(|file| file.ledger.file().parent()).map(Path::to_owned);
            found.retain(|file| file.ledger.file().parent() == folder.as_deref());
        }
    }
    let mut logs: Vec<SessionLog> =
        found.iter().filter_map(|file| read(workspace, file, &mut diagnostics)).collect();
    match wanted {
        Some(wanted) => logs.retain(|log| log.session == wanted),
        None => logs.retain(|log| log.root == *here),
    }
    (logs, diagnostics)
}

/// The sessions of a host in this workspace, with those of its sub-agents, the last written first.
pub(super) fn of_host(workspace: &Workspace, host: &str) -> impl Iterator<Item = SessionLog> {
    let here = &workspace.roots.roots[0].path;
    let is_of_host = move |found: &SessionFile| found.ledger.file().iter().any(|part| part == host);
    let found = files(workspace).into_iter().filter(is_of_host);
    logs_of(found, move |root| root == here).filter(move |session| session.host == host)
}

/// The sessions of some roots, the last written first. Each is read when it is needed.
#[cfg(feature = "lsp")]
pub(super) fn of_roots(
    workspace: &Workspace,
    is_root: impl Fn(&str) -> bool,
) -> impl Iterator<Item = SessionLog> {
    logs_of(files(workspace).into_iter(), is_root)
}

fn logs_of(
    found: impl Iterator<Item = SessionFile>,
    is_root: impl Fn(&str) -> bool,
) -> impl Iterator<Item = SessionLog> {
    found.filter_map(move |found| {
        let is_elsewhere = |start: Event| matches!(start, Event::Started { root, .. } if !is_root(&root));
        if found.ledger.start().is_some_and(is_elsewhere) {
            return None;
        }
        SessionLog::of(&found, found.ledger.read().ok()?).filter(|session| is_root(&session.root))
    })
}

fn files(workspace: &Workspace) -> Vec<SessionFile> {
    workspace.state_folder().iter().flat_map(|state| sessions(state)).collect()
}

/// Reads a ledger, or reports why it cannot be used.
fn read(workspace: &Workspace, found: &SessionFile, diagnostics: &mut Vec<Diagnostic>) -> Option<SessionLog> {
    let (log, fault, help) = match found.ledger.read() {
        Ok(log) => {
            let fault = found.ledger.left_alone(log.newer());
            (SessionLog::of(found, log), fault, "use that Rulebook, or remove the file")
        }
        Err(error) => (None, Some(error.to_string()), "remove it"),
    };
    let file = workspace.homes.shown(found.ledger.file());
    diagnostics.extend(fault.map(|fault| Diagnostic::whole(Code::BadState, file, fault).help(help)));
    log
}
