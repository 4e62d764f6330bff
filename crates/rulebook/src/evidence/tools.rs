//! Tool calls: the files that a call is about, regardless of how the host names its arguments.

use std::borrow::Cow;

use serde_json::Value;

use super::kind::{ToolKind, plain};
use super::{ToolCall, json};
use crate::shell::{self, Command, patched_files};

/// Names of arguments that contain paths, in all known hosts.
#[rustfmt::skip]
const PATH_KEYS: &[&str] = &[
    "absolutepath", "dir", "directory", "dirpath", "destination", "file", "filename", "filepath", "filepaths",
    "files", "folder", "newpath", "notebookpath", "oldpath", "path", "paths", "relativepath", "relativeworkspacepath",
    "source", "targetdirectory", "targetfile", "targetnotebook", "uri",
];

/// Names of arguments that never contain a target of the call.
#[rustfmt::skip]
const OTHER_KEYS: &[&str] = &[
    "content", "contents", "cwd", "description", "explanation", "message", "newstr", "newstring", "newtext", "oldstr",
    "oldstring", "prompt", "query", "regex", "text", "workdir", "workingdirectory",
];

/// Parts of the names of unknown tools that write.
#[rustfmt::skip]
const WRITES: &[&str] = &[
    "append", "create", "delete", "edit", "insert", "move", "patch", "remove", "rename", "replace", "save", "update",
    "write",
];

/// Tools of known agents that change files and take no text, as [`plain`] names.
const MOVERS: &[&str] = &["copypath", "delete", "deletefile", "deletepath", "movepath"];

/// Parts of the names of unknown tools that run a shell command.
const SHELLS: &[&str] =
    &["bash", "cmd", "command", "exec", "powershell", "process", "run", "shell", "spawn", "terminal", "zsh"];

/// Commands of an editing tool that change nothing.
const READ_COMMANDS: &[&str] = &["list", "open", "read", "view"];

/// Names of arguments that contain shell commands.
const COMMAND_KEYS: &[&str] = &["command", "cmd", "commands"];

const MAX_DEPTH: usize = 6;
const MAX_TARGETS: usize = 2000;
/// The maximum number of words of a shell command that are checked for existence.
const MAX_WORDS: usize = 200;

impl ToolCall {
    /// Whether it writes its targets.
    pub fn is_write(&self) -> bool {
        writes(self)
    }

    /// The shell command it runs, if it runs one.
    pub(crate) fn shell_command(&self) -> Option<String> {
        command(self)
    }
}

/// Whether a call writes its targets.
pub(super) fn writes(call: &ToolCall) -> bool {
    let command = call.input.as_ref().and_then(|input| input.get("command")).and_then(Value::as_str);
    let moves = || MOVERS.contains(&plain(&call.name).as_str());
    ToolKind::of(&call.name).map_or_else(|| is_named(call, WRITES), |kind| kind.is_write() || moves())
        && !command.is_some_and(|command| READ_COMMANDS.contains(&command))
}

/// The files that a call is about. For a shell command, these are the words that exist as files.
pub(super) fn targets(call: &ToolCall, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut targets = call.paths.clone();
    match &call.input {
        // JSON arguments as text, or a patch.
        Some(Value::String(text)) => match json::read(text.as_bytes()) {
            Ok(input @ Value::Object(_)) => walk(&input, "", MAX_DEPTH, exists, &mut targets),
            _ => targets.extend(patched_files(text)),
        },
        Some(input) => walk(input, "", MAX_DEPTH, exists, &mut targets),
        None => {}
    }
    if let Some(command) = command(call) {
        let is_candidate = |word: &String| word.len() <= 300 && !word.starts_with('-');
        targets.extend(
            shell_words(&command)
                .into_iter()
                .filter(is_candidate)
                .take(MAX_WORDS)
                .filter(|word| exists(word)),
        );
    }
    targets.extend(call.command.iter().flat_map(|command| patched_files(command)));
    // Later entries are newer, and the newest are kept.
    targets.drain(..targets.len().saturating_sub(MAX_TARGETS));
    targets
}

/// The shell command of a call, if it runs one.
pub(super) fn command(call: &ToolCall) -> Option<String> {
    call.command.clone().or_else(|| {
        let is_shell = |kind| kind == ToolKind::Shell;
        let runs = || ToolKind::of(&call.name).map_or_else(|| is_named(call, SHELLS), is_shell);
        let input = call.input.as_ref().filter(|_| runs())?;
        let joined = |words: &[Value], by: &str| {
            Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(by))
        };
        match COMMAND_KEYS.iter().find_map(|key| input.get(key).map(|value| (*key, value)))? {
            // Several commands, as a list or as JSON text.
            ("commands", Value::Array(commands)) => joined(commands, "\n"),
            ("commands", Value::String(text)) => match json::read(text.as_bytes()) {
                Ok(Value::Array(commands)) => joined(&commands, "\n"),
                _ => Some(text.clone()),
            },
            (_, Value::String(command)) => Some(command.clone()),
            (_, Value::Array(words)) => {
                let words: Vec<Cow<'_, str>> =
                    words.iter().filter_map(Value::as_str).map(shell::quoted).collect();
                Some(words.join(" "))
            }
            _ => None,
        }
    })
}

/// Whether the name of an unknown tool contains one of these parts.
fn is_named(call: &ToolCall, parts: &[&str]) -> bool {
    let name = call.name.to_lowercase();
    parts.iter().any(|part| name.contains(part))
}

/// Whether an argument with this name contains shell commands.
pub(crate) fn is_command_key(key: &str) -> bool {
    COMMAND_KEYS.contains(&plain(key).as_str())
}

/// Whether an argument with this name contains a path.
pub(crate) fn is_path_key(key: &str) -> bool {
    PATH_KEYS.contains(&plain(key).as_str())
}

fn walk(value: &Value, key: &str, depth: usize, exists: &dyn Fn(&str) -> bool, targets: &mut Vec<String>) {
    if depth == 0 || targets.len() >= MAX_TARGETS {
        return;
    }
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| walk(value, key, depth - 1, exists, targets));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, key, depth - 1, exists, targets)),
        Value::String(text) => {
            let plain = plain(key);
            if PATH_KEYS.contains(&plain.as_str()) {
                // Some hosts pass lists as JSON text.
                match json::read(text.as_bytes()) {
                    Ok(inner @ (Value::Array(_) | Value::Object(_))) => {
                        walk(&inner, key, depth - 1, exists, targets);
                    }
                    _ => targets.extend(Some(text).filter(|text| !text.trim().is_empty()).cloned()),
                }
            } else if COMMAND_KEYS.contains(&plain.as_str()) {
                targets.extend(patched_files(text));
            } else if !OTHER_KEYS.contains(&plain.as_str()) {
                let patched = patched_files(text);
                if patched.is_empty() && looks_like_path(text) && exists(text) {
                    targets.push(text.clone());
                }
                targets.extend(patched);
            }
        }
        _ => {}
    }
}

fn looks_like_path(text: &str) -> bool {
    text.len() <= 300 && !text.starts_with('-') && text.contains(['/', '.', '\\']) && !text.contains('\n')
}

/// The files that a shell command names: its words, and the targets of its redirections.
fn shell_words(command: &str) -> Vec<String> {
    let commands = shell::parse(command).commands;
    let files = commands.iter().flat_map(Command::files).filter(|one| one.file.as_known().is_some());
    files.map(|one| one.file.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(call: &str, wanted: &[&str]) {
        let call: Value = serde_json::from_str(call).unwrap();
        let input = super::super::Input::from_value(&serde_json::json!({ "tools": [call] }), &mut Vec::new());
        let exists = |path: &str| {
            ["src/a.ts", "docs/a b.md", "Makefile.am", "LICENSE", "my dir", "view"].contains(&path)
        };
        assert_eq!(targets(&input.tools[0], &exists), wanted);
    }

    #[test]
    fn targets_are_found_under_any_argument_name() {
        check(r#"{"name":"read","path":"x/y.ts"}"#, &["x/y.ts"]);
        check(r#"{"name":"read","paths":["a.ts","b.ts"]}"#, &["a.ts", "b.ts"]);
        check(r#"{"name":"Edit","input":{"file_path":"x.ts","old_string":"src/a.ts"}}"#, &["x.ts"]);
        check(
            r#"{"name":"edit","input":{"edits":[{"filePath":"x.ts"},{"filePath":"y.ts"}]}}"#,
            &["x.ts", "y.ts"],
        );
        check(r#"{"name":"read_files","input":{"files":"[{\"path\":\"x.ts\"}]"}}"#, &["x.ts"]);
        check(r#"{"name":"read","input":{"path":"[id].ts"}}"#, &["[id].ts"]);
        check(r#"{"name":"mcp__x","input":{"anything":"src/a.ts","other":"no/such.ts"}}"#, &["src/a.ts"]);
    }

    #[test]
    fn every_file_of_a_patch_is_a_target() {
        check(
            r#"{"name":"apply_patch","input":"*** Begin Patch\n*** Update File: a b.ts\n*** Move to: c.ts\n*** Add File: d.ts\n+x"}"#,
            &["a b.ts", "c.ts", "d.ts"],
        );
        check(
            r#"{"name":"apply_patch","input":{"patchText":"--- a/x.ts\n+++ b/x.ts\t2026\n--- /dev/null\n+++ b/new.ts"}}"#,
            &["x.ts", "new.ts"],
        );
        check(
            r#"{"name":"patch","input":{"diff":"--- src/a.ts\n+++ src/a.ts\n@@ -1 +1 @@\n--- not a header\n"}}"#,
            &["src/a.ts"],
        );
        check(r#"{"name":"edit","input":"{\"file_path\": \"wire.ts\"}"}"#, &["wire.ts"]);
        check(
            r#"{"name":"apply_patch","input":{"command":"*** Begin Patch\n*** Update File: a.ts\n@@\n*** Add File: b.ts\n+x"}}"#,
            &["a.ts", "b.ts"],
        );
        check(
            r#"{"name":"bash","input":{"command":"apply_patch <<'E'\n*** Update File: a.ts\nE"}}"#,
            &["a.ts"],
        );
        check(r#"{"name":"bash","command":"apply_patch <<'E'\n*** Update File: a.ts\nE"}"#, &["a.ts"]);
    }

    #[test]
    fn the_newest_files_of_a_large_patch_are_kept() {
        let headers: Vec<String> =
            (0..100_000).map(|at| format!("*** Update File: {}.ts\n", at / 2)).collect();
        let call = ToolCall { input: Some(headers.concat().into()), ..ToolCall::default() };
        let found = targets(&call, &|_| false);
        assert_eq!((found.len(), found[0].as_str(), found[1999].as_str()), (2000, "48000.ts", "49999.ts"));
    }

    #[test]
    fn only_existing_words_of_a_command_are_targets() {
        check(
            r#"{"name":"bash","command":"cat src/a.ts no/such.ts | wc > 'docs/a b.md'"}"#,
            &["src/a.ts", "docs/a b.md"],
        );
        check(r#"{"name":"shell","input":{"command":["cat","Makefile.am"]}}"#, &["Makefile.am"]);
        check(
            r#"{"name":"run_commands","input":{"commands":["cat src/a.ts","cat LICENSE"]}}"#,
            &["src/a.ts", "LICENSE"],
        );
        check(r#"{"name":"run_commands","input":{"commands":"[\"cat src/a.ts\"]"}}"#, &["src/a.ts"]);
        check(r#"{"name":"bash","command":"cat LICENSE -x; ls my\\ dir"}"#, &["LICENSE", "my dir"]);
        check(
            r#"{"name":"str_replace_based_edit_tool","input":{"command":"view","path":"x.ts"}}"#,
            &["x.ts"],
        );
    }
}
