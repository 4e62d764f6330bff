//! Files that rules import: they are parts of rules, and rules of their own for agents that follow imports.

use std::fs;

use serde_json::{Value, json};

use super::Editor;
use crate::sandbox::{Sandbox, texts};

const STYLE: &str = "repo/docs/style.md";
const DEEP: &str = "repo/docs/deep.md";
const WEB: &str = "repo/.claude/rules/w.md";

fn sandbox() -> Sandbox {
    Sandbox::new(&[
        ("repo/CLAUDE.md", "@docs/style.md\n"),
        (STYLE, "See rule://web.\n\n@deep.md\n"),
        (DEEP, "é rule://web and rule://other\n"),
        ("repo/README.md", "About rule://web.\n"),
        (WEB, "---\nid: web\n---\nw\n"),
    ])
}

fn opened<'s>(sandbox: &'s Sandbox, paths: &[&str]) -> Editor<'s> {
    let folders = json!([{ "uri": super::client::uri(sandbox, "repo"), "name": "repo" }]);
    let options = json!({ "extension": true });
    let params = json!({ "workspaceFolders": folders, "capabilities": {}, "initializationOptions": options });
    let mut editor = Editor::start_with(sandbox, params);
    for path in paths {
        editor.open(path, &fs::read_to_string(sandbox.path(path)).unwrap());
    }
    editor.settle();
    editor
}

fn range(line: usize, start: usize, end: usize) -> Value {
    json!({ "start": { "line": line, "character": start }, "end": { "line": line, "character": end } })
}

#[test]
fn a_rule_is_renamed_in_the_files_that_rules_import_and_where_the_user_asked() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[STYLE, "repo/README.md"]);
    let mut renamed = |path: &str, character: usize| {
        let uri = editor.uri(path);
        let position = json!({ "line": 0, "character": character });
        let params = json!({ "textDocument": { "uri": uri }, "position": position, "newName": "site" });
        let edit = editor.request("textDocument/rename", params);
        let changes = edit["changes"].as_object().unwrap().clone();
        let at = |path: &str| changes.get(&editor.uri(path)).map(|edits| edits[0]["range"].clone());
        ([STYLE, DEEP, WEB, "repo/README.md"].map(at), changes.len())
    };
    let [style, deep, web] = [range(0, 11, 14), range(0, 9, 12), range(1, 4, 7)].map(Some);
    assert_eq!(renamed(STYLE, 12), ([style.clone(), deep.clone(), web.clone(), None], 3));
    let readme = Some(range(0, 13, 16));
    assert_eq!(renamed("repo/README.md", 14), ([style, deep, web, readme], 4));
    editor.stop();
}

#[test]
fn references_are_found_in_the_files_that_rules_import() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[STYLE, DEEP, WEB]);
    let places = |found: &Value| -> Vec<(String, Value)> {
        let found = found.as_array().unwrap().iter();
        found.map(|one| (one["uri"].as_str().unwrap().to_owned(), one["range"].clone())).collect()
    };
    let mentions = vec![(editor.uri(DEEP), range(0, 9, 12)), (editor.uri(STYLE), range(0, 11, 14))];
    assert_eq!(places(&editor.at("textDocument/references", WEB, 1, 5)), mentions);
    assert_eq!(places(&editor.at("textDocument/references", STYLE, 0, 8)), mentions);
    // The file itself: who imports it.
    let importers = vec![(editor.uri("repo/CLAUDE.md"), range(0, 0, 14))];
    assert_eq!(places(&editor.at("textDocument/references", STYLE, 1, 0)), importers);
    let importers = vec![(editor.uri(STYLE), range(2, 0, 8))];
    assert_eq!(places(&editor.at("textDocument/references", DEEP, 0, 0)), importers);
    editor.stop();
}

#[test]
fn an_imported_file_has_hovers_completion_and_a_hint() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[STYLE, DEEP]);
    let hover = editor.at("textDocument/hover", STYLE, 0, 8);
    assert_eq!(hover["contents"]["value"], "`.claude/rules/w.md`");
    editor.change(STYLE, json!([{ "text": "rule://" }]));
    let names = editor.at("textDocument/completion", STYLE, 0, 7);
    assert!(texts(&names["items"], "label").contains(&"web".to_owned()), "{names}");
    editor.change(STYLE, json!([{ "text": "@d" }]));
    let files = texts(&editor.at("textDocument/completion", STYLE, 0, 2)["items"], "label").join(" ");
    assert_eq!(files, "deep.md");
    let uri = editor.uri(DEEP);
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let hints =
        editor.request("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": whole }));
    assert_eq!(hints[0]["label"], "imported by CLAUDE.md · Claude Code ✓");
    // It is an ordinary file, too.
    let lenses = editor.at("textDocument/codeLens", DEEP, 0, 0);
    assert!(lenses[0]["command"]["title"].as_str().unwrap().contains("(Claude Code)"), "{lenses}");
    editor.stop();
}

#[test]
fn the_view_lists_the_rules_that_status_lists() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[STYLE]);
    let uri = editor.uri(STYLE);
    let view = editor.request("rulebook/view", json!({ "textDocument": { "uri": uri } }));
    let status: Value =
        serde_json::from_slice(&sandbox.run(&["status", "--json"]).stdout).expect("status prints JSON");
    let sources = texts(&view["rules"], "source");
    assert_eq!(sources, texts(&status["rules"], "source"));
    assert!(sources.contains(&"docs/deep.md".to_owned()), "{sources:?}");
    let deep =
        view["rules"].as_array().unwrap().iter().find(|rule| rule["source"] == "docs/deep.md").unwrap();
    assert_eq!((&deep["uri"], &deep["canSwitch"]), (&json!(editor.uri(DEEP)), &json!(false)));
    assert_eq!(deep["agents"]["claude"]["state"], "native");
    let read = view["rules"].as_array().unwrap().iter();
    let read = read.filter(|rule| rule["agents"]["claude"]["state"] == "native").count();
    assert_eq!(view["agents"][0]["loaded"], read);
    editor.stop();
}
