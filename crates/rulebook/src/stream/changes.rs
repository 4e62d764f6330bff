//! What a call changes: the text of each file before and after it.

use serde_json::{Map, Value};

use super::file::File;
use super::notebook::{self, CellEdit, is_notebook};
use crate::evidence::{Roots, ToolCall, ToolKind, is_path_key, json, plain};
use crate::shell;
use crate::syntax::{FileText, MAX_TEXT, Syntax};

/// A file that a call changes.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) file: File,
    pub(super) before: String,
    pub(super) after: String,
    /// Whether the file is longer than what is judged.
    pub(super) is_too_long: bool,
    /// The name that decides the language.
    pub(super) name: String,
    /// Edits of cells, if it is a notebook.
    cells: Vec<CellEdit>,
}

impl Change {
    pub(super) fn new(file: File, before: String, after: String) -> Change {
        let name = file.path.clone();
        Change { file, before, after, is_too_long: false, name, cells: Vec::new() }
    }

    /// The change of a notebook as the change of the code in it.
    pub(super) fn into_code(mut self) -> Change {
        if !is_notebook(&self.name) || self.is_too_long {
            return self;
        }
        let known = if self.before.is_empty() { &self.after } else { &self.before };
        self.name = format!("{}.{}", self.name, notebook::extension(known));
        let is_whole = self.before != self.after;
        for text in [&mut self.before, &mut self.after] {
            *text = if is_whole { notebook::code(text) } else { String::new() };
        }
        for CellEdit { before, after } in self.cells.drain(..) {
            for (text, cell) in [(&mut self.before, before), (&mut self.after, after)] {
                text.push_str(&cell);
                text.push('\n');
            }
        }
        self
    }
}

/// Fields with the text that an edit replaces, the text that replaces it, and the whole text of a file; names as [`plain`]
/// returns them.
pub(super) const OLD: &[&str] =
    &["old", "oldcode", "oldcontent", "oldstr", "oldstring", "oldtext", "search", "targetcontent"];
#[rustfmt::skip]
pub(super) const NEW: &[&str] = &[
    "inserttext", "new", "newcode", "newcontent", "newsource", "newstr", "newstring", "newtext", "replace", "replacement",
    "replacementcontent",
];
const WHOLE: &[&str] = &["code", "codeedit", "content", "contents", "filecontent", "filetext", "text"];

/// Fields that say after which line a text is inserted, and fields that say that every occurrence is replaced.
const LINE: &[&str] = &["insertline"];
const ALL: &[&str] = &["allowmultiple", "replaceall"];

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
            Ok(value) => {
                changes.value(&value, None, MAX_DEPTH);
                let call = ToolCall { name: tool.to_owned(), input: Some(value), ..ToolCall::default() };
                call.shell_command().iter().for_each(|command| changes.command(command));
            }
            Err(_) => changes.text(wire),
        }
        changes.found.into_iter().map(Change::into_code).collect()
    }

    /// Text without a field: a patch, or a shell command.
    fn text(&mut self, text: &str) {
        if ToolKind::of(self.tool) == Some(ToolKind::Shell) {
            self.command(text);
        } else {
            self.patch(text, None, "");
        }
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
        let given = |keys: &[&str]| {
            map.iter().find(|(key, _)| keys.contains(&plain(key).as_str())).map(|(_, value)| value)
        };
        let field = |keys: &[&str]| given(keys).and_then(Value::as_str);
        let is_all = given(ALL).is_some_and(|value| *value == Value::Bool(true))
            || given(&["expectedreplacements"]).and_then(Value::as_u64).is_some_and(|count| count > 1);
        let line = given(LINE).and_then(Value::as_u64);
        match (path, field(OLD), field(NEW), field(WHOLE)) {
            (Some(path), Some(old), Some(new), _) => self.replace(path, old, new, is_all),
            (Some(path), None, Some(new), _) if is_notebook(path) => self.edit_cell(path, map, new),
            (Some(path), None, Some(new), _) => self.insert(path, new, line),
            (Some(path), None, None, Some(whole)) => self.write(path, whole),
            _ => {}
        }
        for (key, value) in map {
            match value {
                Value::String(text)
                    if is_patch(text) && !(path.is_some() && WHOLE.contains(&plain(key).as_str())) =>
                {
                    self.patch(text, path, "");
                }
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
        let read = |root| self.syntax.read(root, &file.path, MAX_TEXT);
        let text = file.root.map_or(FileText::Absent, read);
        let is_too_long = text == FileText::TooLong;
        let before = if let FileText::Text(text) = text { text } else { String::new() };
        self.found.push(Change { is_too_long, ..Change::new(file, before.clone(), before) });
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
        if is_notebook(path) {
            return change.cells.push(CellEdit { before: old.to_owned(), after: new.to_owned() });
        }
        for (text, piece) in [(&mut change.before, old), (&mut change.after, new)] {
            text.push('\n');
            text.push_str(piece);
        }
    }

    /// Replaces, inserts or removes a cell of a notebook.
    fn edit_cell(&mut self, path: &str, arguments: &Map<String, Value>, new: &str) {
        let Some(change) = self.change(path) else { return };
        let edit = notebook::cell_edit(&change.before, arguments, new);
        change.cells.push(edit);
    }

    /// Inserts a text after a line, or at the end.
    fn insert(&mut self, path: &str, new: &str, line: Option<u64>) {
        let Some(change) = self.change(path) else { return };
        let lines = line.and_then(|line| usize::try_from(line).ok()).unwrap_or(usize::MAX);
        let at: usize = change.after.split_inclusive('\n').take(lines).map(str::len).sum();
        let text = &mut change.after;
        let start = if at > 0 && !text[..at].ends_with('\n') { "\n" } else { "" };
        let end = if new.ends_with('\n') || at == text.len() { "" } else { "\n" };
        text.insert_str(at, &format!("{start}{new}{end}"));
    }

    /// A patch: an `apply_patch` envelope, a unified diff, or SEARCH/REPLACE blocks. Its files are relative to a folder.
    fn patch(&mut self, text: &str, path: Option<&str>, folder: &str) {
        let within = |name: &str| {
            if folder.is_empty() || name.starts_with('/') {
                name.to_owned()
            } else {
                format!("{folder}/{name}")
            }
        };
        let mut hunk = Hunk { file: path.map(within), ..Hunk::default() };
        let mut side = None;
        let mut last = "";
        for line in text.lines().chain(["@@"]) {
            let marker = BLOCKS.iter().find(|(marker, _)| line.trim_end() == *marker);
            if let Some((_, next)) = marker.filter(|(_, next)| side.is_some() || *next == Some(Side::Old)) {
                side = *next;
                if side.is_none() {
                    self.apply(&mut hunk);
                }
            } else if let Some(side) = side {
                let text = if side == Side::Old { &mut hunk.old } else { &mut hunk.new };
                text.push_str(line);
                text.push('\n');
                // Some agents write the line of the block first.
                if side == Side::Old && line == "-------" && text.starts_with(":start_line:") {
                    text.clear();
                }
            } else {
                self.patch_line(line, last, &mut hunk, &within);
            }
            last = line;
        }
        self.apply(&mut hunk);
    }

    /// A line of an envelope or a unified diff.
    fn patch_line(&mut self, line: &str, last: &str, hunk: &mut Hunk, within: &dyn Fn(&str) -> String) {
        // An added line may start with `++`, and a removed one with `--`.
        let is_named = |header: &str| header != "+++ " || last.starts_with("--- ");
        let named = HEADERS.iter().find_map(|header| Some((*header, line.strip_prefix(header)?)));
        let named = named.filter(|(header, _)| is_named(header));
        if let Some((header, name)) = named {
            self.apply(hunk);
            let name = name.split('\t').next().unwrap_or(name).trim();
            hunk.file = Some(within(name.strip_prefix("b/").filter(|_| header == "+++ ").unwrap_or(name)));
            hunk.is_whole = header == "*** Add File: ";
            return;
        }
        if line.starts_with("@@") || line.starts_with("*** ") || line.starts_with("diff --git ") {
            return self.apply(hunk);
        }
        let (mark, rest) = line.split_at(line.len().min(1));
        for (text, is_part) in [(&mut hunk.old, mark != "+"), (&mut hunk.new, mark != "-")] {
            if is_part && (matches!(mark, " " | "+" | "-") || line.is_empty()) {
                text.push_str(rest);
                text.push('\n');
            }
        }
    }

    /// Applies a part of a patch.
    fn apply(&mut self, hunk: &mut Hunk) {
        let (old, new) = (std::mem::take(&mut hunk.old), std::mem::take(&mut hunk.new));
        let Some(file) = hunk.file.as_deref().filter(|_| !old.is_empty() || !new.is_empty()) else { return };
        if hunk.is_whole { self.write(file, &new) } else { self.replace(file, &old, &new, false) }
    }

    /// A shell command: the texts that it writes to files.
    fn command(&mut self, command: &str) {
        if !command.contains(['<', '>']) && !command.contains("tee") && !command.contains("***") {
            return;
        }
        for written in shell::written_texts(command) {
            if is_patch(&written.text) {
                self.patch(&written.text, None, &written.folder);
            }
            match written.file {
                None => {}
                Some(file) if written.is_append => self.insert(&file, &written.text, None),
                Some(file) => self.write(&file, &written.text),
            }
        }
    }
}

/// A part of a patch: lines of one file.
#[derive(Default)]
struct Hunk {
    file: Option<String>,
    old: String,
    new: String,
    /// Whether it is a whole file.
    is_whole: bool,
}

/// What the lines of a SEARCH/REPLACE block belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
}

/// The lines that start the parts of a block, and the one that ends it.
const BLOCKS: &[(&str, Option<Side>)] = &[
    ("<<<<<<< SEARCH", Some(Side::Old)),
    ("------- SEARCH", Some(Side::Old)),
    ("=======", Some(Side::New)),
    (">>>>>>> REPLACE", None),
    ("+++++++ REPLACE", None),
];

/// The starts of lines that name the file of what follows.
const HEADERS: &[&str] = &["*** Update File: ", "*** Add File: ", "+++ ", "*** Move to: "];

/// The starts of patches.
const OPENINGS: &[&str] =
    &["*** Begin Patch", "--- ", "diff --git ", "@@ ", "@@\n", "<<<<<<< SEARCH", "------- SEARCH"];

fn is_patch(text: &str) -> bool {
    let start = text.trim_start();
    OPENINGS.iter().any(|opening| start.starts_with(opening))
}

#[cfg(test)]
mod tests;
