//! Tool calls: which files a call is about, whatever the host calls its arguments.

use serde_json::Value;

use super::ToolCall;

/// Argument names that hold paths, over all hosts seen.
const PATH_KEYS: &[&str] = &[
    "absolutepath",
    "dir",
    "directory",
    "dirpath",
    "destination",
    "file",
    "filename",
    "filepath",
    "filepaths",
    "files",
    "folder",
    "newpath",
    "notebookpath",
    "oldpath",
    "path",
    "paths",
    "relativepath",
    "relativeworkspacepath",
    "source",
    "targetdirectory",
    "targetfile",
    "uri",
];

/// Argument names whose text is never a target of the call.
const OTHER_KEYS: &[&str] = &[
    "content",
    "contents",
    "cwd",
    "description",
    "explanation",
    "message",
    "newstr",
    "newstring",
    "newtext",
    "oldstr",
    "oldstring",
    "prompt",
    "query",
    "regex",
    "text",
    "workdir",
    "workingdirectory",
];

/// Parts of the names of tools that write.
const WRITES: &[&str] =
    &["append", "create", "edit", "insert", "patch", "replace", "save", "update", "write"];

const MAX_DEPTH: usize = 6;
const MAX_TARGETS: usize = 200;

/// Whether a tool of that name writes its targets.
pub(super) fn writes(name: &str) -> bool {
    let name = name.to_lowercase();
    WRITES.iter().any(|part| name.contains(part))
}

/// Every file a call is about; of a shell command, the words that exist.
pub(super) fn targets(call: &ToolCall, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut targets = call.paths.clone();
    match &call.input {
        Some(Value::String(text)) => targets.extend(patched_files(text)),
        Some(input) => walk(input, "", MAX_DEPTH, exists, &mut targets),
        None => {}
    }
    if let Some(command) = command(call) {
        targets
            .extend(shell_words(&command).into_iter().filter(|word| looks_like_path(word) && exists(word)));
        targets.extend(patched_files(&command));
    }
    targets.truncate(MAX_TARGETS);
    targets
}

/// The shell command of a call, if it is one.
pub(super) fn command(call: &ToolCall) -> Option<String> {
    call.command.clone().or_else(|| {
        let input = call.input.as_ref()?;
        match input.get("command").or_else(|| input.get("cmd"))? {
            Value::String(command) => Some(command.clone()),
            Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
            _ => None,
        }
    })
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
            let plain = key.replace(['_', '-'], "").to_lowercase();
            if PATH_KEYS.contains(&plain.as_str()) {
                targets.extend(Some(text).filter(|text| !text.trim().is_empty()).cloned());
            } else if !OTHER_KEYS.contains(&plain.as_str()) && !matches!(plain.as_str(), "command" | "cmd") {
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

/// The files of a patch: `*** Update File: …` headers, or a unified diff's.
fn patched_files(text: &str) -> Vec<String> {
    const HEADERS: &[&str] = &[
        "*** Add File: ",
        "*** Update File: ",
        "*** Delete File: ",
        "*** Move to: ",
        "+++ ",
        "--- ",
        "rename to ",
    ];
    let mut files = Vec::new();
    for line in text.lines() {
        let Some((header, rest)) =
            HEADERS.iter().find_map(|header| Some((header, line.strip_prefix(header)?)))
        else {
            continue;
        };
        let is_diff = matches!(*header, "+++ " | "--- ");
        let name = if is_diff { rest.split('\t').next().unwrap_or(rest).trim() } else { rest.trim() };
        let prefixed = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
        if is_diff && prefixed.is_none() {
            continue;
        }
        let name = if is_diff { prefixed.unwrap_or(name) } else { name };
        if !name.is_empty() && !files.iter().any(|file| file == name) {
            files.push(name.to_owned());
        }
    }
    files
}

/// The words of a shell command, quotes taken off, operators and redirections left out.
fn shell_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '\\') => word.extend(chars.next()),
            (None, c) if c.is_whitespace() || "|&;<>()=".contains(c) => words.push(std::mem::take(&mut word)),
            _ => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(call: &str, wanted: &[&str]) {
        let call: Value = serde_json::from_str(call).unwrap();
        let input = super::super::Input::from_value(&serde_json::json!({ "tools": [call] }), &mut Vec::new());
        let exists = |path: &str| ["src/a.ts", "docs/a b.md", "Makefile.am"].contains(&path);
        assert_eq!(targets(&input.tools[0], &exists), wanted);
    }

    #[test]
    fn targets_are_found_under_any_name() {
        check(r#"{"name":"read","path":"x/y.ts"}"#, &["x/y.ts"]);
        check(r#"{"name":"read","paths":["a.ts","b.ts"]}"#, &["a.ts", "b.ts"]);
        check(r#"{"name":"Edit","input":{"file_path":"x.ts","old_string":"src/a.ts"}}"#, &["x.ts"]);
        check(
            r#"{"name":"edit","input":{"edits":[{"filePath":"x.ts"},{"filePath":"y.ts"}]}}"#,
            &["x.ts", "y.ts"],
        );
        check(r#"{"name":"mcp__x","input":{"anything":"src/a.ts","other":"no/such.ts"}}"#, &["src/a.ts"]);
    }

    #[test]
    fn a_patch_names_every_file_in_it() {
        check(
            r#"{"name":"apply_patch","input":"*** Begin Patch\n*** Update File: a b.ts\n*** Move to: c.ts\n*** Add File: d.ts\n+x"}"#,
            &["a b.ts", "c.ts", "d.ts"],
        );
        check(
            r#"{"name":"apply_patch","input":{"patchText":"--- a/x.ts\n+++ b/x.ts\t2026\n--- /dev/null\n+++ b/new.ts"}}"#,
            &["x.ts", "new.ts"],
        );
    }

    #[test]
    fn of_a_command_only_what_exists_counts() {
        check(
            r#"{"name":"bash","command":"cat src/a.ts no/such.ts | wc > 'docs/a b.md'"}"#,
            &["src/a.ts", "docs/a b.md"],
        );
        check(r#"{"name":"shell","input":{"command":["cat","Makefile.am"]}}"#, &["Makefile.am"]);
    }
}
