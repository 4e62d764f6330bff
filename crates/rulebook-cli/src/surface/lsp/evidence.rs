//! Evidence: what is open in the editor, written for the sessions of agents in the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use rulebook_workspace::{EditorFiles, EditorSnapshot};
use serde::Deserialize;

use super::document::Document;
use super::protocol::path_of;
use super::snapshot::Snapshot;

/// What was written last.
#[derive(Default)]
pub(super) struct Evidence {
    /// What the extension reported; other editors report only which documents are open.
    reported: Option<Reported>,
    written: Option<(EditorFiles, Instant)>,
    snapshot: Option<EditorSnapshot>,
}

/// The addresses of the files that are open and visible.
#[derive(Debug, Deserialize)]
pub(super) struct Reported {
    #[serde(default)]
    tabs: Vec<String>,
    #[serde(default)]
    visible: Vec<String>,
}

impl Evidence {
    pub(super) fn report(&mut self, reported: Reported) {
        self.reported = Some(reported);
    }

    /// Removes what was written: the editor ends, or the user does not want it.
    pub(super) fn remove(&mut self) {
        if let Some(snapshot) = self.snapshot.take() {
            snapshot.remove();
        }
        self.written = None;
    }

    /// Writes what is open now, if that changed or was written long ago.
    pub(super) fn write(&mut self, current: &Snapshot, documents: &BTreeMap<String, Document>) {
        let paths = |uris: &[String]| -> BTreeSet<String> {
            let paths = uris.iter().filter_map(|uri| path_of(uri));
            let inside = paths.filter(|path| current.located(path).is_some());
            inside.map(|path| current.named(&path)).collect()
        };
        let open: Vec<String> = documents.keys().cloned().collect();
        let edited = documents.values().filter(|document| document.is_edited());
        let edited: Vec<String> = edited.map(|document| document.uri.clone()).collect();
        let (mut visible, tabs) = match &self.reported {
            Some(reported) => (paths(&reported.visible), paths(&reported.tabs)),
            None => (BTreeSet::new(), paths(&open)),
        };
        // What the user is changing is in front of the user.
        visible.extend(paths(&edited));
        let now = EditorFiles { visible: visible.into_iter().collect(), tabs: tabs.into_iter().collect() };
        let is_known =
            |(files, at): &(EditorFiles, Instant)| *files == now && at.elapsed() < EditorSnapshot::REPEAT;
        if self.written.as_ref().is_some_and(is_known) {
            return;
        }
        // Roots may have changed since.
        if self.written.as_ref().is_none_or(|(files, _)| *files != now) {
            self.remove();
        }
        let snapshot = current.workspace.editor_snapshot(&std::process::id().to_string());
        // Without it, rules that wait for open files do not apply; the next change tries again.
        let _ = snapshot.write(&now);
        self.snapshot = Some(snapshot);
        self.written = Some((now, Instant::now()));
    }
}
