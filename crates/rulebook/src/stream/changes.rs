//! What a call changes: the text of each file before and after it.

use serde_json::Value;

use super::file::File;
use super::syntax::Syntax;
use crate::evidence::{Roots, ToolKind, is_command_key, is_path_key, json, plain};
use crate::shell;

/// A file that a call changes.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) file: File,
    pub(super) before: String,
    pub(super) after: String,
}

/// Fields with the text that an edit replaces, the text that replaces it, and the whole text of a file; names as [`plain`]
/// returns them.
const OLD: &[&str] =
    &["old", "oldcode", "oldcontent", "oldstr", "oldstring", "oldtext", "search", "targetcontent"];
#[rustfmt::skip]
const NEW: &[&str] = &[
    "inserttext", "new", "newcode", "newcontent", "newsource", "newstr", "newstring", "newtext", "replace", "replacement",
    "replacementcontent",
];
const WHOLE: &[&str] = &["code", "codeedit", "content", "contents", "filecontent", "filetext", "text"];

const MAX_DEPTH: usize = 6;
/// The maximum number of files of one call that are judged.
const MAX_FILES: usize = 200;

/// Collects what a call changes.
pub(super) struct Changes<'c> {
    tool: &'c str,
    roots: &'c Roots,
    syntax: &'c dyn Syntax,
    /// Whether a file is of interest: others are not read.
    wants: &'c dyn Fn(&File) -> bool,
    found: Vec<Change>,
}

impl<'c> Changes<'c> {
    /// Returns what a call changes, from its arguments as received.
    pub(super) fn of(
        tool: &'c str,
        wire: &str,
        roots: &'c Roots,
        syntax: &'c dyn Syntax,
        wants: &'c dyn Fn(&File) -> bool,
    ) -> Vec<Change> {
        let mut changes = Changes { tool, roots, syntax, wants, found: Vec::new() };
        match json::read(wire.as_bytes()) {
            Ok(Value::String(text)) => changes.text(&text),
            Ok(value) => changes.value(&value, None, MAX_DEPTH),
            Err(_) => changes.text(wire),
        }
        changes.found
    }

    /// Text without a field: a patch, or a shell command.
    fn text(&mut self, text: &str) {
        if ToolKind::of(self.tool) == Some(ToolKind::Shell) { self.command(text) } else { self.patch(text) }
    }

    fn value(&mut self, value: &Value, path: Option<&str>, depth: usize) {
        let Value::Object(map) = value else {
            if let (Value::Array(items), 1..) = (value, depth) {
                items.iter().for_each(|item| self.value(item, path, depth - 1));
            }
            return;
        };
        let own = map.iter().find(|(key, _)| is_path_key(key)).and_then(|(_, value)| value.as_str());
        let path = own.or(path);
        let field = |keys: &[&str]| {
            map.iter()
                .find(|(key, _)| keys.contains(&plain(key).as_str()))
                .and_then(|(_, value)| value.as_str())
        };
        let is_all = map.iter().any(|(key, value)| plain(key) == "replaceall" && *value == Value::Bool(true));
        match (path, field(OLD), field(NEW), field(WHOLE)) {
            (Some(path), Some(old), Some(new), _) => self.replace(path, old, new, is_all),
            (Some(path), None, Some(new), _) => self.replace(path, "", new, false),
            (Some(path), None, None, Some(whole)) => self.write(path, whole),
            _ => {}
        }
        for (key, value) in map {
            match value {
                Value::String(text) if is_command_key(key) => self.text(text),
                Value::String(text) if is_patch(text) => self.patch(text),
                Value::Array(_) | Value::Object(_) if depth > 0 => self.value(value, path, depth - 1),
                _ => {}
            }
        }
    }

    /// The change of a file, as far as it is known.
    fn change(&mut self, path: &str) -> Option<&mut Change> {
        let file = File::new(self.roots, path);
        if let Some(at) = self.found.iter().position(|change| change.file == file) {
            return self.found.get_mut(at);
        }
        if self.found.len() >= MAX_FILES || !(self.wants)(&file) {
            return None;
        }
        let before = file.root.and_then(|root| self.syntax.read(root, &file.path)).unwrap_or_default();
        self.found.push(Change { file, after: before.clone(), before });
        self.found.last_mut()
    }

    fn write(&mut self, path: &str, text: &str) {
        if let Some(change) = self.change(path) {
            text.clone_into(&mut change.after);
        }
    }

    /// Replaces a part of a file. If the part is not found, both are taken as pieces of the file.
    fn replace(&mut self, path: &str, old: &str, new: &str, is_all: bool) {
        let Some(change) = self.change(path) else { return };
        if !old.is_empty() && change.after.contains(old) {
            change.after =
                if is_all { change.after.replace(old, new) } else { change.after.replacen(old, new, 1) };
            return;
        }
        for (text, piece) in [(&mut change.before, old), (&mut change.after, new)] {
            text.push('\n');
            text.push_str(piece);
        }
    }

    /// A patch: an `apply_patch` envelope, or a unified diff.
    fn patch(&mut self, text: &str) {
        let mut file: Option<String> = None;
        let (mut old, mut new) = (String::new(), String::new());
        let mut is_whole = false;
        let lines = text.lines().chain(["@@"]);
        for line in lines {
            let named = ["*** Update File: ", "*** Add File: ", "+++ ", "*** Move to: "]
                .iter()
                .find_map(|header| Some((*header, line.strip_prefix(header)?)));
            if named.is_some()
                || line.starts_with("@@")
                || line.starts_with("*** ")
                || line.starts_with("--- ")
            {
                if let Some(file) = file.as_deref().filter(|_| !old.is_empty() || !new.is_empty()) {
                    if is_whole { self.write(file, &new) } else { self.replace(file, &old, &new, false) }
                }
                (old, new) = (String::new(), String::new());
                if let Some((header, name)) = named {
                    let name = name.split('\t').next().unwrap_or(name).trim();
                    file =
                        Some(name.strip_prefix("b/").filter(|_| header == "+++ ").unwrap_or(name).to_owned());
                    is_whole = header == "*** Add File: ";
                }
                continue;
            }
            let (mark, rest) = line.split_at(line.len().min(1));
            for (text, is_part) in [(&mut old, mark != "+"), (&mut new, mark != "-")] {
                if is_part && (matches!(mark, " " | "+" | "-") || line.is_empty()) {
                    text.push_str(rest);
                    text.push('\n');
                }
            }
        }
    }

    /// A shell command: the here-documents that it writes to files.
    fn command(&mut self, command: &str) {
        if !command.contains("<<") {
            return;
        }
        for (document, file) in shell::documents(command) {
            let Some(body) = document.body else { continue };
            match file {
                _ if is_patch(&body) => self.patch(&body),
                Some(file) => self.write(&file, &body),
                None => {}
            }
        }
    }
}

fn is_patch(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with("*** Begin Patch") || start.starts_with("--- ") || start.starts_with("diff --git ")
}
