//! Tool calls as the protocol reports them: a kind, locations, differences, and the agent's own arguments.

use std::collections::BTreeMap;

use rulebook::evidence::ToolCall;
use serde_json::{Value, json};

/// One tool call, as far as it is known.
#[derive(Default)]
pub(super) struct Call {
    kind: String,
    title: String,
    /// The agent's own arguments.
    input: Value,
    paths: Vec<String>,
    /// What it writes, by file.
    written: BTreeMap<String, String>,
    /// The arguments that were watched last.
    watched: String,
    /// How often they changed.
    versions: usize,
    /// Whether the last message about it says what it does.
    is_proposed: bool,
    has_failed: bool,
    /// Whether it was stopped, or not watched because the turn was being stopped.
    pub(super) is_held: bool,
    /// Whether the client knows of it.
    pub(super) is_shown: bool,
}

impl Call {
    /// Says that the call is about to run.
    pub(super) fn propose(&mut self) {
        self.is_proposed = true;
    }

    /// Adds what an update says. Updates repeat only what changed.
    pub(super) fn update(&mut self, update: &Value) {
        self.is_proposed |=
            update["rawInput"].is_object() || update["content"].is_array() || update["title"].is_string();
        if let Some(status) = update["status"].as_str() {
            self.has_failed = status == "failed";
        }
        if let Some(kind) = update["kind"].as_str() {
            kind.clone_into(&mut self.kind);
        }
        if let Some(title) = update["title"].as_str() {
            title.clone_into(&mut self.title);
        }
        if update["rawInput"].is_object() {
            self.input = update["rawInput"].clone();
        }
        let content = update["content"].as_array().into_iter().flatten();
        for difference in content.filter(|content| content["type"] == "diff") {
            let Some(path) = difference["path"].as_str() else { continue };
            let new = difference["newText"].as_str().unwrap_or_default();
            let old = difference["oldText"].as_str().unwrap_or_default();
            self.written.insert(path.to_owned(), added_lines(old, new));
        }
        let locations = update["locations"].as_array().into_iter().flatten();
        let places = locations.filter_map(|location| location["path"].as_str());
        let files: Vec<String> = places.map(str::to_owned).chain(self.written.keys().cloned()).collect();
        for file in files {
            if !self.paths.contains(&file) {
                self.paths.push(file);
            }
        }
    }

    /// The name of a tool of its kind. The protocol does not name tools.
    pub(super) fn name(&self) -> &str {
        match self.kind.as_str() {
            "execute" => "bash",
            kind @ ("edit" | "read" | "search" | "delete" | "fetch" | "think") => kind,
            "move" => "move_path",
            _ => &self.title,
        }
    }

    /// The command of a call that runs one: the agent's own argument, or the title.
    fn command(&self) -> Option<String> {
        if self.kind != "execute" {
            return None;
        }
        match &self.input["command"] {
            Value::String(command) => Some(command.clone()),
            Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
            _ => Some(self.title.clone()).filter(|title| !title.is_empty()),
        }
    }

    fn arguments(&self) -> Option<Value> {
        if !self.written.is_empty() {
            let edit = |(path, text): (&String, &String)| json!({ "path": path, "new_string": text });
            return Some(json!({ "edits": self.written.iter().map(edit).collect::<Vec<_>>() }));
        }
        match self.command() {
            Some(command) => Some(json!({ "command": command })),
            None => self.input.is_object().then(|| self.input.clone()),
        }
    }

    /// Returns what has to be watched: a number for this version of the arguments, and the arguments. Nothing if they are
    /// not new, unless a call that was stopped is proposed again.
    pub(super) fn watchable(&mut self) -> Option<(usize, String)> {
        let is_proposed = std::mem::take(&mut self.is_proposed);
        let arguments = self.arguments()?.to_string();
        if arguments == self.watched && !(self.is_held && is_proposed) {
            return None;
        }
        self.watched.clone_from(&arguments);
        self.versions += 1;
        Some((self.versions, arguments))
    }

    /// Whether it shows what it writes to a file, and may write it.
    pub(super) fn shows(&self, path: &str) -> bool {
        !self.is_held && self.written.contains_key(path)
    }

    /// The call as evidence.
    pub(super) fn evidence(&self) -> ToolCall {
        ToolCall {
            name: self.name().to_owned(),
            paths: self.paths.clone(),
            command: self.command(),
            input: Some(self.input.clone()).filter(Value::is_object),
            failed: self.has_failed,
            ..ToolCall::default()
        }
    }
}

/// Returns the lines that only the new text has. A difference may show whole files, and only what is written counts.
fn added_lines(old: &str, new: &str) -> String {
    let mut before: BTreeMap<&str, usize> = BTreeMap::new();
    for line in old.lines() {
        *before.entry(line).or_default() += 1;
    }
    let is_new = |line: &&str| match before.get_mut(*line).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            false
        }
        None => true,
    };
    new.lines().filter(is_new).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(updates: &[Value], name: &str, arguments: Option<&Value>) {
        let mut call = Call::default();
        updates.iter().for_each(|update| call.update(update));
        assert_eq!((call.name(), call.arguments().as_ref()), (name, arguments));
        let is_new = call.watchable().is_some();
        assert_eq!((is_new, call.watchable().is_some()), (arguments.is_some(), false));
    }

    #[test]
    fn a_call_is_known_by_its_kind_and_what_it_writes() {
        let diff = |old: &Value, new: &str| {
            let text = json!({ "type": "diff", "path": "/w/a.ts", "oldText": old, "newText": new });
            json!({ "content": [text] })
        };
        let edit = json!({ "kind": "edit", "title": "a.ts", "rawInput": { "old_string": "x" } });
        let written = |text: &str| json!({ "edits": [{ "path": "/w/a.ts", "new_string": text }] });
        check(&[edit.clone(), diff(&json!("a\nany\n"), "a\nany\nb\n")], "edit", Some(&written("b")));
        check(&[edit.clone(), diff(&Value::Null, "a\n")], "edit", Some(&written("a")));
        check(&[edit], "edit", Some(&json!({ "old_string": "x" })));
        let list = json!({ "command": "ls -l" });
        check(&[json!({ "kind": "execute", "title": "ls -l" })], "bash", Some(&list));
        let run = json!({ "kind": "execute", "title": "List", "rawInput": { "command": ["ls", "-l"] } });
        check(&[run], "bash", Some(&list));
        check(&[json!({ "kind": "other", "title": "ask" })], "ask", None);
        let mut call = Call::default();
        for (status, has_failed) in [("in_progress", false), ("failed", true), ("completed", false)] {
            call.update(&json!({ "status": status }));
            assert_eq!(call.evidence().failed, has_failed);
        }
        check(&[json!(3), json!({ "kind": 3, "content": 7, "locations": {} })], "", None);
    }
}
