//! Tool calls: the files that a call is about, regardless of how the host names its arguments.

use std::borrow::Cow;

use serde_json::Value;

use super::kind::{ToolKind, plain, without_server};
use super::{ToolCall, json};
use crate::shell::{self, Command, patched_files};

/// Names of arguments that contain paths, in all known hosts.
#[rustfmt::skip]
const PATH_KEYS: &[&str] = &[
    "absolutepath", "dest", "destinationpath", "dir", "directory", "dirpath", "destination", "dst", "file", "filename",
    "filepath", "filepaths", "files", "folder", "newpath", "newuri", "notebookpath", "oldpath", "olduri", "outputfile",
    "outputpath", "path", "pathname", "paths", "relativepath", "relativeworkspacepath", "savepath", "source", "sourcepath",
    "targetdirectory", "targetfile", "targetnotebook", "targetpath", "uri",
];

/// The same for tools that write, if the value has the form of a path.
const WRITER_KEYS: &[&str] = &["from", "location", "out", "output", "target", "to"];

/// Names of arguments that never contain a target of the call.
#[rustfmt::skip]
const OTHER_KEYS: &[&str] = &[
    "content", "contents", "cwd", "description", "explanation", "message", "newstr", "newstring", "newtext", "oldstr",
    "oldstring", "prompt", "query", "regex", "text", "workdir", "workingdirectory",
];

/// Parts of the names of unknown tools that write.
#[rustfmt::skip]
const WRITES: &[&str] = &[
    "append", "copy", "create", "delete", "edit", "erase", "insert", "modify", "move", "overwrite", "patch", "remove", "rename",
    "replace", "save", "symlink", "touch", "trash", "truncate", "unlink", "update", "write",
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
/// Names of arguments with more words for the command.
const ARGUMENT_KEYS: &[&str] = &["args", "arguments"];

/// Tools of known agents that type a text into a program that runs, such as a shell; as [`plain`] names.
#[rustfmt::skip]
const TYPING: &[&str] = &[
    "controlbashprocess", "controlpwshprocess", "interactwithprocess", "sendcommandinput", "sendinput", "sendkeys", "sendtoterminal",
    "writebash", "writeprocess", "writestdin", "writetolongrunningshellcommand",
];
/// Names of their arguments with the text.
const TYPED_KEYS: &[&str] = &["input", "inputtext", "chars", "data", "keys", "stdin", "text"];

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
    let name = without_server(&call.name);
    let moves = || MOVERS.contains(&plain(name).as_str());
    ToolKind::of(name).map_or_else(|| is_named(name, WRITES), |kind| kind.is_write() || moves())
        && !command.is_some_and(|command| READ_COMMANDS.contains(&command))
}

/// The files that a call is about. For a shell command, these are the words that exist as files.
pub(super) fn targets(call: &ToolCall, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut targets = call.paths.clone();
    match &call.input {
        // JSON arguments as text, or a patch.
        Some(Value::String(text)) => match json::read(text.as_bytes()) {
            Ok(input @ Value::Object(_)) => walk(&input, ("", writes(call)), MAX_DEPTH, exists, &mut targets),
            _ => targets.extend(patched_files(text)),
        },
        Some(input) => walk(input, ("", writes(call)), MAX_DEPTH, exists, &mut targets),
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
        // Tools that are not known run what they call a command.
        let may_run = || is_named(&call.name, SHELLS) || !is_named(without_server(&call.name), WRITES);
        let runs = || ToolKind::of(&call.name).map_or_else(may_run, is_shell);
        let input = call.input.as_ref().filter(|_| runs())?;
        let joined = |words: &[Value], by: &str| {
            Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(by))
        };
        let Some(given) = COMMAND_KEYS.iter().find_map(|key| input.get(key).map(|value| (*key, value)))
        else {
            return typed(call, input);
        };
        match given {
            // Several commands, as a list or as JSON text.
            ("commands", Value::Array(commands)) => joined(commands, "\n"),
            ("commands", Value::String(text)) => match json::read(text.as_bytes()) {
                Ok(Value::Array(commands)) => joined(&commands, "\n"),
                _ => Some(text.clone()),
            },
            (_, Value::String(command)) => {
                let more = ARGUMENT_KEYS.iter().find_map(|key| input.get(key)).and_then(Value::as_array);
                let more = more.into_iter().flatten().filter_map(Value::as_str).map(shell::quoted);
                Some(more.fold(command.clone(), |line, word| format!("{line} {word}")))
            }
            (_, Value::Array(words)) => {
                let words: Vec<Cow<'_, str>> =
                    words.iter().filter_map(Value::as_str).map(shell::quoted).collect();
                Some(words.join(" "))
            }
            _ => None,
        }
    })
}

/// The text that a call types, as lines. Names of keys (`{enter}`) end a line, and what keys such as Ctrl-C send is left out.
fn typed(call: &ToolCall, input: &Value) -> Option<String> {
    let is_typing = TYPING.contains(&plain(without_server(&call.name)).as_str());
    let given = |(key, _): &(&String, &Value)| TYPED_KEYS.contains(&plain(key).as_str());
    let text = input.as_object().filter(|_| is_typing)?.iter().find(given)?.1.as_str()?;
    let is_key = |key: &str| {
        !key.is_empty()
            && key.len() <= 12
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-".contains(&byte))
    };
    let mut parts = text.split('{');
    let mut lines = parts.next()?.to_owned();
    for part in parts {
        match part.split_once('}').filter(|(key, _)| is_key(key)) {
            Some((_, rest)) => lines.extend(["\n", rest]),
            None => lines.extend(["{", part]),
        }
    }
    lines = lines.replace('\r', "\n");
    lines.retain(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    Some(lines).filter(|lines| !lines.trim().is_empty())
}

/// Whether the name of an unknown tool contains one of these parts.
fn is_named(name: &str, parts: &[&str]) -> bool {
    let name = name.to_lowercase();
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

fn walk(
    value: &Value,
    (key, is_write): (&str, bool),
    depth: usize,
    exists: &dyn Fn(&str) -> bool,
    targets: &mut Vec<String>,
) {
    if depth == 0 || targets.len() >= MAX_TARGETS {
        return;
    }
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| walk(value, (key, is_write), depth - 1, exists, targets));
        }
        Value::Array(items) => {
            items.iter().for_each(|item| walk(item, (key, is_write), depth - 1, exists, targets));
        }
        Value::String(text) => {
            let plain = plain(key);
            let is_writer_key = || is_write && WRITER_KEYS.contains(&plain.as_str()) && looks_like_path(text);
            if PATH_KEYS.contains(&plain.as_str()) || is_writer_key() {
                // Some hosts pass lists as JSON text.
                match json::read(text.as_bytes()) {
                    Ok(inner @ (Value::Array(_) | Value::Object(_))) => {
                        walk(&inner, (key, is_write), depth - 1, exists, targets);
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
    fn tools_that_run_commands_and_change_files_are_known() {
        #[track_caller]
        fn check(name: &str, input: &str, wanted: Option<&str>, is_write: bool) {
            let input = Some(serde_json::from_str(input).unwrap());
            let call = ToolCall { name: name.to_owned(), input, ..ToolCall::default() };
            assert_eq!((call.shell_command().as_deref(), call.is_write()), (wanted, is_write), "{name}");
        }
        check("Monitor", r#"{"command":"git push","description":"x"}"#, Some("git push"), false);
        check("mcp__jobs__watch", r#"{"command":"git push"}"#, Some("git push"), false);
        check("mcp__x__text_edit", r#"{"command":"create","path":"a"}"#, None, true);
        check("write_bash", r#"{"shellId":"1","input":"git push{enter}"}"#, Some("git push\n"), false);
        check("write_stdin", r#"{"session_id":1,"chars":"git push\n"}"#, Some("git push\n"), false);
        check("write_stdin", r#"{"session_id":1,"chars":"\u0003"}"#, None, false);
        check("bash", r#"{"command":"tee","args":["a b"]}"#, Some("tee 'a b'"), false);
        check("SlashCommand", r#"{"command":"/x"}"#, None, false);
        for name in [
            "mcp__fs__delete_file",
            "mcp__fs__move_file",
            "mcp__fs__copy_file",
            "mcp__fs__remove",
            "delete_file",
        ] {
            check(name, r#"{"path":"a"}"#, None, true);
        }
        check("mcp__text-editor__get_text", r#"{"path":"a"}"#, None, false);
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
        check(r#"{"name":"mcp__fs__rename","input":{"from":"x.ts","to":"y.ts"}}"#, &["x.ts", "y.ts"]);
        check(r#"{"name":"send_mail","input":{"from":"x.ts","to":"y.ts"}}"#, &[]);
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
