//! Documents, diagnostics and fixes: what the editor has replaces what is on disk, and the result is that of `check`.

use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Editor;
use super::client::uri;
use crate::sandbox::{Sandbox, texts};

const BROKEN: &str = "---\nglobs: *.ts\nalwaysAply: true\n---\nUse types.\n";

fn sandbox() -> Sandbox {
    Sandbox::new(&[
        ("repo/.cursor/rules/a.mdc", BROKEN),
        ("repo/.cursor/rules/b.mdc", "---\ndescription: B\nglobs: src/**\nalwaysApply: false\n---\nB.\n"),
        ("repo/AGENTS.md", "Be brief.\n"),
        ("repo/src/a.ts", "let x = 1;\n"),
    ])
}

/// Every problem that the server shows: code, file, line and column.
fn shown(editor: &Editor<'_>, sandbox: &Sandbox) -> Vec<String> {
    let root = uri(sandbox, "repo/");
    let mut all = Vec::new();
    for (uri, found) in &editor.shown {
        for found in found.as_array().unwrap() {
            let start = &found["range"]["start"];
            let path = uri.strip_prefix(&root).unwrap_or(uri);
            all.push(format!("{path}:{}:{} {}", start["line"], start["character"], found["code"]));
        }
    }
    all.sort();
    all
}

/// Every problem that `check` reports, at the same places.
fn checked(sandbox: &Sandbox) -> Vec<String> {
    let report = sandbox.json(&["check"]);
    let mut all: Vec<String> = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| {
            let at = |key: &str| found[key].as_u64().unwrap().saturating_sub(1);
            format!("{}:{}:{} {}", found["path"].as_str().unwrap(), at("line"), at("column"), found["code"])
        })
        .collect();
    all.sort();
    all
}

#[test]
fn the_problems_are_those_of_check() {
    let sandbox = sandbox();
    let mut editor = Editor::start(&sandbox);
    editor.settle();
    assert!(!checked(&sandbox).is_empty());
    assert_eq!(shown(&editor, &sandbox), checked(&sandbox));
    editor.stop();
}

#[test]
fn an_unsaved_text_counts_instead_of_the_file() {
    let sandbox = sandbox();
    let mut editor = Editor::start(&sandbox);
    editor.open("repo/.cursor/rules/a.mdc", BROKEN);
    editor.settle();
    let before = editor.codes("repo/.cursor/rules/a.mdc");
    assert!(before.contains(&"unknown-key".to_owned()), "{before:?}");
    let name = json!({ "start": { "line": 2, "character": 0 }, "end": { "line": 2, "character": 10 } });
    editor.change("repo/.cursor/rules/a.mdc", json!([{ "range": name, "text": "alwaysApply" }]));
    editor.settle();
    let after = editor.codes("repo/.cursor/rules/a.mdc");
    assert!(!after.contains(&"unknown-key".to_owned()), "{after:?}");
    editor.close("repo/.cursor/rules/a.mdc");
    editor.settle();
    assert_eq!(editor.codes("repo/.cursor/rules/a.mdc"), before);
    editor.stop();
}

#[test]
fn a_fix_is_an_edit_that_check_would_make() {
    let sandbox = sandbox();
    let path = "repo/.claude/rules/c.md";
    let text = "---\npaths: **/*.ts\n---\nUse types.\n";
    sandbox.write(path, text);
    let mut editor = Editor::start(&sandbox);
    editor.open(path, text);
    editor.settle();
    let actions = editor.at("textDocument/codeAction", path, 1, 9);
    let kinds = texts(&actions, "kind");
    assert!(
        kinds.contains(&"quickfix".to_owned()) && kinds.contains(&"source.fixAll.rulebook".to_owned()),
        "{actions}"
    );
    let all =
        actions.as_array().unwrap().iter().find(|action| action["kind"] == "source.fixAll.rulebook").unwrap();
    let edit = &all["edit"]["changes"][editor.uri(path)][0];
    sandbox.run(&["check", "--fix"]);
    assert_eq!(edit["newText"].as_str().unwrap(), fs::read_to_string(sandbox.path(path)).unwrap());
    editor.stop();
}

#[test]
fn files_may_vanish_and_appear() {
    let sandbox = sandbox();
    let mut editor = Editor::start(&sandbox);
    let path = "repo/.cursor/rules/a.mdc";
    editor.open(path, BROKEN);
    editor.settle();
    fs::remove_file(sandbox.path(path)).unwrap();
    sandbox.write("repo/.cursor/rules/c.mdc", BROKEN);
    let change = |kind: u64, path: &str| json!({ "uri": uri(&sandbox, path), "type": kind });
    editor.notify(
        "workspace/didChangeWatchedFiles",
        json!({ "changes": [change(3, path), change(1, "repo/.cursor/rules/c.mdc")] }),
    );
    editor.settle();
    assert!(editor.codes("repo/.cursor/rules/c.mdc").contains(&"unknown-key".to_owned()));
    // The editor still has the text: what can be said about it is said.
    editor.change(path, json!([{ "text": "---\nalwaysAply: false\n---\nx\n" }]));
    editor.settle();
    assert!(editor.codes(path).contains(&"unknown-key".to_owned()));
    fs::remove_dir_all(sandbox.path("repo")).unwrap();
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [change(3, "repo/AGENTS.md")] }));
    let id = editor.ask("textDocument/codeAction", json!({ "textDocument": { "uri": uri(&sandbox, path) } }));
    assert!(editor.answer(id).get("error").is_none());
    editor.stop();
}

#[test]
fn a_rule_that_is_not_saved_yet_is_a_rule() {
    let sandbox = sandbox();
    let mut editor = Editor::start(&sandbox);
    editor.open("repo/src/a.ts", "let x = 1;\n");
    editor.settle();
    let lens = |editor: &mut Editor<'_>| {
        let found = editor.at("textDocument/codeLens", "repo/src/a.ts", 0, 0);
        found[0]["command"]["title"].as_str().unwrap().to_owned()
    };
    let before = lens(&mut editor);
    for path in ["repo/.cursor/rules/new.mdc", "repo/src/.cursor/rules/new.mdc"] {
        editor.open(path, "---\nglobs: zzz/**\nalwaysApply: false\n---\nNew.\n");
        editor.settle();
        assert_eq!(editor.codes(path), ["dead-glob"], "{path}");
        editor.change(path, json!([{ "text": "---\nglobs: \"**/*.ts\"\nalwaysApply: false\n---\nNew.\n" }]));
        editor.settle();
        assert_ne!(lens(&mut editor), before, "{path}");
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
        let place = json!({ "textDocument": { "uri": editor.uri(path) }, "range": whole });
        let hints = editor.request("textDocument/inlayHint", place);
        let label = hints[0]["label"].as_str().unwrap();
        assert!(label.contains("Cursor ✓"), "{path}: {label}");
        editor.close(path);
        editor.settle();
        assert_eq!(lens(&mut editor), before, "{path}");
    }
    editor.stop();
}

#[test]
fn settings_and_contents_are_those_of_the_editor() {
    let sandbox = sandbox();
    sandbox.write("repo/.rulebook/rules/z.md", "---\nid: z\ncontent: \"ZEBRA\"\n---\nStripes.\n");
    let mut editor = Editor::start(&sandbox);
    editor.open("repo/src/a.ts", "let x = 1;\n");
    editor.settle();
    let has = |editor: &mut Editor<'_>| {
        let arguments = json!([editor.uri("repo/src/a.ts")]);
        let command = json!({ "command": "rulebook.prompt", "arguments": arguments });
        let answer = editor.request("workspace/executeCommand", command);
        answer["text"].as_str().unwrap().contains("Stripes.")
    };
    assert!(!has(&mut editor));
    editor.change("repo/src/a.ts", json!([{ "text": "ZEBRA\n" }]));
    editor.settle();
    assert!(has(&mut editor));
    editor.open("repo/rulebook.toml", "[rules]\ndisabled_ids = [\"z\"]\n");
    editor.settle();
    assert!(!has(&mut editor));
    editor.change("repo/rulebook.toml", json!([{ "text": "[rules]\nnonsense = 1\n" }]));
    editor.settle();
    assert!(has(&mut editor));
    assert_eq!(editor.codes("repo/rulebook.toml"), ["unknown-setting"]);
    editor.stop();
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_opened_through_a_link_has_one_address() {
    let sandbox = sandbox();
    std::os::unix::fs::symlink(sandbox.path("repo"), sandbox.path("link")).unwrap();
    let folders = json!([{ "uri": uri(&sandbox, "link"), "name": "link" }]);
    let mut editor = Editor::start_with(&sandbox, json!({ "workspaceFolders": folders, "capabilities": {} }));
    editor.settle();
    assert!(editor.codes("link/.cursor/rules/a.mdc").contains(&"unknown-key".to_owned()));
    assert_eq!(editor.codes("repo/.cursor/rules/a.mdc"), Vec::<String>::new());
    let path = "link/.cursor/rules/b.mdc";
    editor.open(path, "See @../../AGENTS.md\n");
    editor.settle();
    let found = editor.at("textDocument/definition", path, 0, 8);
    assert_eq!(found["uri"], editor.uri("link/AGENTS.md"));
    editor.stop();
}

#[test]
fn a_request_that_is_cancelled_is_answered_as_such() {
    let sandbox = sandbox();
    let mut editor = Editor::start(&sandbox);
    let ids: Vec<i64> = (0..50)
        .map(|_| editor.ask("textDocument/codeAction", json!({ "textDocument": { "uri": "file:///none" } })))
        .collect();
    for id in &ids {
        editor.notify("$/cancelRequest", json!({ "id": id }));
    }
    let answers: Vec<Value> = ids.iter().map(|id| editor.answer(*id)).collect();
    // Each is answered once: with a result, or as cancelled.
    let is_cancelled = |answer: &&Value| answer["error"]["code"] == -32800;
    assert!(answers.iter().all(|answer| answer.get("result").is_some() || is_cancelled(&answer)));
    // The first check takes longer than the editor to write.
    assert!(answers.iter().any(|answer| is_cancelled(&answer)));
    editor.stop();
}

#[test]
fn several_roots_are_one_workspace() {
    let sandbox = sandbox();
    sandbox.write("other/.git/HEAD", "ref: refs/heads/main\n");
    sandbox.write("other/.cursor/rules/x.mdc", BROKEN);
    let folder = |name: &str| json!({ "uri": uri(&sandbox, name), "name": name });
    let params = json!({ "workspaceFolders": [folder("repo"), folder("other")], "capabilities": {} });
    let mut editor = Editor::start_with(&sandbox, params);
    editor.settle();
    assert!(editor.codes("other/.cursor/rules/x.mdc").contains(&"unknown-key".to_owned()));
    assert!(editor.codes("repo/.cursor/rules/a.mdc").contains(&"unknown-key".to_owned()));
    let event = json!({ "added": [], "removed": [folder("other")] });
    editor.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    editor.settle();
    assert_eq!(editor.codes("other/.cursor/rules/x.mdc"), Vec::<String>::new());
    editor.stop();
}

#[test]
fn what_is_not_protocol_is_reported_and_ignored() {
    let sandbox = sandbox();
    let mut editor = Editor::start(&sandbox);
    editor.settle();
    editor.notify("textDocument/didOpen", json!({ "textDocument": 3 }));
    editor.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": "file:///none" }, "contentChanges": [] }),
    );
    editor.notify("textDocument/didOpen", json!({ "textDocument": { "uri": "untitled:1", "text": "x" } }));
    editor.notify("nonsense", json!([1]));
    let id = editor.ask("textDocument/codeAction", json!("nonsense"));
    assert!(editor.answer(id)["error"]["message"].as_str().unwrap().contains("not as the protocol says"));
    let id = editor.ask("nonsense", Value::Null);
    assert_eq!(editor.answer(id)["error"]["code"], -32601);
    let logged = editor.others.iter().filter(|message| message["method"] == "window/logMessage").count();
    assert_eq!(logged, 2);
    editor.stop();
}

#[test]
fn a_hostile_workspace_does_not_stop_the_server() {
    let bomb = format!("---\nglobs: {}\nx: {}\n---\n\u{202e}x\n", "{a,b}".repeat(400), "[".repeat(2000));
    let sandbox = Sandbox::new(&[
        ("repo/.cursor/rules/bomb.mdc", &bomb),
        ("repo/.cursor/rules/folder.mdc/x", ""),
        ("repo/.cursor/rules/new\nline.mdc", "---\nglobs: a\n---\nx\n"),
        ("repo/AGENTS.md", "@AGENTS.md @../../../etc/passwd\n"),
        ("outside/secret.md", "the secret\n"),
    ]);
    let rules = sandbox.path("repo/.cursor/rules");
    std::os::unix::fs::symlink(sandbox.path("outside/secret.md"), rules.join("link.mdc")).unwrap();
    fs::write(rules.join("bytes.mdc"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(rules.join("fifo.mdc")).status().unwrap().success());
    let mut editor = Editor::start(&sandbox);
    let path = "repo/.cursor/rules/bomb.mdc";
    editor.open(path, &bomb);
    editor.open("repo/.cursor/rules/huge.mdc", &"x\n".repeat(1 << 20));
    editor.settle();
    assert!(shown(&editor, &sandbox).iter().any(|found| found.contains("link.mdc")));
    for method in [
        "hover",
        "completion",
        "definition",
        "references",
        "foldingRange",
        "semanticTokens/full",
        "codeAction",
        "codeLens",
        "inlayHint",
    ] {
        for (line, character) in [(0, 0), (1, 20), (2, 500), (4, 1), (usize::MAX, usize::MAX)] {
            let answer = editor.at(&format!("textDocument/{method}"), path, line, character);
            assert!(!answer.to_string().contains("the secret"));
        }
    }
    editor.change(path, json!([{ "range": { "start": { "line": 9, "character": 9 }, "end": { "line": 0, "character": 0 } }, "text": "🦀" }]));
    editor.settle();
    editor.stop();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any edits in parts, the server shows what a new one shows for the same text.
    #[test]
    fn edits_in_parts_equal_a_fresh_start(
        edits in prop::collection::vec((0usize..6, 0usize..14, 0usize..6, 0usize..14, "(\n|[a-z*:🦀 ]{1,4}|globs: \\*\\.ts\n|---\n)"), 1..12),
    ) {
        let sandbox = sandbox();
        let path = "repo/.cursor/rules/a.mdc";
        let mut editor = Editor::start(&sandbox);
        editor.open(path, BROKEN);
        editor.settle();
        let mut document = Text(BROKEN.to_owned());
        for (line, character, to_line, to_character, text) in edits {
            let (start, end) = ((line, character).min((to_line, to_character)), (line, character).max((to_line, to_character)));
            document.replace(start, end, &text);
            let at = |(line, character): (usize, usize)| json!({ "line": line, "character": character });
            editor.change(path, json!([{ "range": { "start": at(start), "end": at(end) }, "text": text }]));
        }
        editor.settle();
        let mut fresh = Editor::start(&sandbox);
        fresh.open(path, &document.0);
        fresh.settle();
        prop_assert_eq!(shown(&editor, &sandbox), shown(&fresh, &sandbox), "{:?}", document.0);
    }
}

/// The editor's own idea of its text: lines of UTF-16 units.
struct Text(String);

impl Text {
    fn replace(&mut self, start: (usize, usize), end: (usize, usize), text: &str) {
        let offset = |(line, character): (usize, usize)| {
            let mut lines = self.0.split_inclusive('\n').chain(self.0.ends_with('\n').then_some(""));
            let before: usize = lines.by_ref().take(line).map(str::len).sum();
            let Some(line) = lines.next() else { return self.0.len() };
            let mut units = 0;
            let line = line.trim_end_matches('\n');
            let inside = line.char_indices().find(|(_, c)| {
                units += c.len_utf16();
                units > character
            });
            before + inside.map_or(line.len(), |(at, _)| at)
        };
        let (start, end) = (offset(start), offset(end));
        self.0.replace_range(start..end.max(start), text);
    }
}
