//! Shows what was done with each file, or would be.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::file::Change;
use super::hosts::Host;
use super::target::Target;
use super::{Task, diff};
use crate::out::{self, BOLD, DIM, GREEN, RED, VERSION, paint, plural};

/// What came of a task.
pub(super) struct Outcome<'a> {
    pub(super) host: &'a Host,
    pub(super) task: Task,
    pub(super) place: &'a Target,
    pub(super) is_written: bool,
    pub(super) changes: Vec<Change>,
    /// Files that keep our server, each for another host.
    pub(super) kept: Vec<(String, &'static Host)>,
}

impl Outcome<'_> {
    pub(super) fn json(&self) -> Json {
        let file = |change: &Change| json!({ "path": change.spot.shown, "change": name(change), "diff": diff_of(change) });
        json!({
            "version": VERSION,
            "host": self.host.id.name(),
            "task": if self.task == Task::Install { "install" } else { "uninstall" },
            "scope": if self.place.is_user { "user" } else { "workspace" },
            "written": self.is_written && !self.changes.is_empty(),
            "files": self.changes.iter().map(file).collect::<Vec<_>>(),
            "notes": self.notes(),
        })
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for change in &self.changes {
            let path = paint(BOLD, out::clean(&change.spot.shown));
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
            (Task::Install, true, _) => "nothing to do: it is wired already".to_owned(),
            (Task::Uninstall, true, _) => "nothing to do: it is not wired".to_owned(),
            (_, false, false) => format!("{count} would change; leave out `--print` to do it"),
            (Task::Install, false, true) => format!("wired, {count} changed"),
            (Task::Uninstall, false, true) => format!("no longer wired, {count} changed"),
        }
    }

    fn notes(&self) -> Vec<String> {
        let kept = self
            .kept
            .iter()
            .map(|(shown, other)| format!("`{shown}` keeps its server: {} is wired here too", other.title));
        let is_new = self.task == Task::Install && !self.changes.is_empty();
        let own = Some(self.host.note).filter(|note| is_new && !note.is_empty());
        kept.chain(own.map(str::to_owned)).collect()
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
    diff::diff(&text(&change.before), &text(&change.after))
}
