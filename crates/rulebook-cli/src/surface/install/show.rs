//! Shows how each file changed, or would change.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::destination::Destination;
use super::file::Change;
use super::hosts::Host;
use super::plan::Task;
use crate::diff::diff;
use crate::out::{self, BOLD, DIM, GREEN, RED, VERSION, paint, plural};

/// The result of a task.
pub(super) struct Outcome<'a> {
    pub(super) host: &'a Host,
    pub(super) task: Task,
    pub(super) destination: &'a Destination,
    pub(super) is_written: bool,
    pub(super) changes: Vec<Change>,
    /// Files that keep our server because another host reads it there.
    pub(super) kept: Vec<(String, &'static Host)>,
    /// What else the user may want to do.
    pub(super) hints: Vec<String>,
}

impl Outcome<'_> {
    pub(super) fn json(&self) -> Json {
        let file = |change: &Change| {
            let is_shared = self.destination.is_shared();
            json!({ "path": change.path.shown, "change": name(change), "shared": is_shared, "diff": diff_of(change) })
        };
        json!({
            "version": VERSION,
            "host": self.host.name,
            "task": self.task.name(),
            "scope": self.destination.scope(),
            "written": self.is_written && !self.changes.is_empty(),
            "files": self.changes.iter().map(file).collect::<Vec<_>>(),
            "notes": self.notes(),
        })
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for change in &self.changes {
            let path = paint(BOLD, out::clean(&change.path.shown));
            let _ = writeln!(text, "{path}  {}", paint(DIM, name(change)));
            for line in diff_of(change).lines() {
                let style = if line.starts_with("  +") { GREEN } else { RED };
                let _ = writeln!(text, "{}", paint(style, line));
            }
        }
        let _ = writeln!(text, "{}: {}", paint(BOLD, self.host.title), self.summary());
        for note in self.notes() {
            let _ = writeln!(text, "  {}: {}", paint(DIM, "note"), out::clean(&note));
        }
        text
    }

    fn summary(&self) -> String {
        let count = plural(self.changes.len(), "file");
        match (self.task, self.changes.is_empty(), self.is_written) {
            (Task::Install, true, _) => "nothing to do, already wired".to_owned(),
            (Task::Uninstall, true, _) => "nothing to do, not wired".to_owned(),
            (_, false, false) => {
                let them = if self.changes.len() == 1 { "it" } else { "them" };
                format!("{count} would change; omit `--dry-run` to write {them}")
            }
            (Task::Install, false, true) => format!("wired, {count} changed"),
            (Task::Uninstall, false, true) => format!("unwired, {count} changed"),
        }
    }

    fn notes(&self) -> Vec<String> {
        let kept = self
            .kept
            .iter()
            .map(|(shown, other)| format!("`{shown}` keeps the MCP server: {} uses it too", other.title));
        let is_new = self.task == Task::Install && !self.changes.is_empty();
        let own =
            Some(self.host.note).filter(|note| is_new && !note.is_empty() && !self.destination.is_personal);
        let shared = self.shared().filter(|_| is_new);
        kept.chain(own.map(str::to_owned)).chain(self.hints.clone()).chain(shared).collect()
    }

    /// Says which files colleagues get too, and how to wire only oneself.
    fn shared(&self) -> Option<String> {
        let files: Vec<String> =
            self.changes.iter().map(|change| format!("`{}`", change.path.shown)).collect();
        let (verb, name) = (if files.len() == 1 { "is" } else { "are" }, self.host.name);
        let alone = match self.host.row().personal.first() {
            Some(path) => format!("; `rulebook install {name} --personal` writes `{path}` instead"),
            None if self.host.row().files.is_empty() => String::new(),
            None => format!("; `rulebook install {name} --user` wires only you"),
        };
        let shared =
            || format!("{} {verb} shared with everyone who uses this repository{alone}", files.join(", "));
        self.destination.is_shared().then(shared)
    }
}

fn name(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "created",
        (_, None) => "removed",
        _ => "changed",
    }
}

fn diff_of(change: &Change) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    diff(&text(&change.before), &text(&change.after))
}
