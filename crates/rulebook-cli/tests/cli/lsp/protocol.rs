//! What the protocol demands of a server, whatever the editor sends.

use serde_json::{Value, json};

use super::Editor;
use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::new(&[("repo/AGENTS.md", "Be brief.\n")])
}

fn code(answer: &Value) -> Option<i64> {
    answer["error"]["code"].as_i64()
}

#[test]
fn a_body_that_is_no_message_is_answered_and_the_server_goes_on() {
    let sandbox = sandbox();
    let mut editor = Editor::start(&sandbox);
    for (body, wanted) in [("{\"jsonrpc\":", -32700), ("[1, 2]", -32600), ("", -32700)] {
        editor.send_text(body);
        let answer = editor.until(|message| message["id"].is_null() && message.get("error").is_some());
        assert_eq!(code(&answer), Some(wanted), "{body}");
    }
    let id = editor.ask("nonsense", Value::Null);
    assert_eq!(code(&editor.answer(id)), Some(-32601));
    editor.stop();
}

#[test]
fn parameters_that_cannot_be_read_have_their_own_code() {
    let sandbox = sandbox();
    let mut editor = Editor::start(&sandbox);
    for method in ["textDocument/hover", "workspace/executeCommand"] {
        let id = editor.ask(method, json!({ "x": 1 }));
        assert_eq!(code(&editor.answer(id)), Some(-32602), "{method}");
    }
    let id = editor.ask("workspace/executeCommand", json!({ "command": "rulebook.nothing" }));
    assert_eq!(code(&editor.answer(id)), Some(-32803));
    editor.stop();
}

#[test]
fn settings_are_asked_for_if_the_editor_does_not_send_them() {
    let sandbox = Sandbox::new(&[
        ("repo/.rulebook/rules/no-any.md", "---\ncondition: \": any\"\n---\nNo `any`.\n"),
        ("repo/a.ts", "let x: any;\n"),
    ]);
    let folders = json!([{ "uri": super::client::uri(&sandbox, "repo"), "name": "repo" }]);
    let workspace =
        json!({ "configuration": true, "didChangeConfiguration": { "dynamicRegistration": true } });
    let mut editor = Editor::start_with(
        &sandbox,
        json!({ "workspaceFolders": folders, "capabilities": { "workspace": workspace } }),
    );
    editor.settings = json!([{ "preview": false }]);
    editor.open("repo/a.ts", "let x: any;\n");
    editor.settle();
    let methods = |editor: &Editor<'_>, method: &str| {
        editor.others.iter().filter(|message| message["method"] == method).cloned().collect::<Vec<_>>()
    };
    let asked = methods(&editor, "workspace/configuration");
    assert_eq!(asked[0]["params"]["items"], json!([{ "section": "rulebook" }]));
    let registered = methods(&editor, "client/registerCapability");
    assert_eq!(registered[0]["params"]["registrations"][0]["method"], "workspace/didChangeConfiguration");
    while !editor.codes("repo/a.ts").is_empty() {
        editor.until(|message| message["method"] == "rulebook/checked");
    }
    editor.settings = json!([{ "preview": true }]);
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    editor.shows("repo/a.ts");
    assert_eq!(editor.codes("repo/a.ts"), ["stream-rule"]);
    // An editor that has no such section changes nothing.
    editor.settings = json!([null]);
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": {} }));
    editor.at("textDocument/hover", "repo/a.ts", 0, 0);
    editor.stop();
}

#[test]
fn requests_have_an_order() {
    let sandbox = sandbox();
    let mut editor = Editor::connect(&sandbox);
    let early = editor.ask("textDocument/hover", json!({}));
    let answer = editor.answer(early);
    assert_eq!(code(&answer), Some(-32002));
    assert_eq!(answer["error"]["message"], "`textDocument/hover` came before `initialize`");
    editor.request("initialize", json!({ "capabilities": {} }));
    // Before the notification that the editor is ready.
    let known = editor.ask("nonsense", Value::Null);
    assert_eq!(code(&editor.answer(known)), Some(-32601));
    editor.notify("initialized", json!({}));
    let again = editor.ask("initialize", json!({ "capabilities": {} }));
    assert_eq!(code(&editor.answer(again)), Some(-32600));
    editor.request("shutdown", Value::Null);
    let late = editor.ask("textDocument/hover", json!({}));
    assert_eq!(code(&editor.answer(late)), Some(-32600));
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), Some(0));
}

#[test]
fn an_exit_without_shutdown_is_a_failure() {
    let sandbox = sandbox();
    let mut editor = Editor::start(&sandbox);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), Some(1));
    let mut editor = Editor::connect(&sandbox);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(), Some(1));
}

#[test]
fn actions_are_of_the_wanted_kinds() {
    const RULE: &str = "---\ninclusion: filematch\nfileMatchPattern: \"src/**\"\n---\nUse types.\n";
    let sandbox = sandbox();
    let path = "repo/.kiro/steering/a.md";
    sandbox.write(path, RULE);
    let mut editor = Editor::start(&sandbox);
    editor.open(path, RULE);
    editor.settle();
    let uri = editor.uri(path);
    let place = json!({ "line": 1, "character": 12 });
    let mut kinds = |only: Value| {
        let mut context = json!({ "diagnostics": [] });
        if !only.is_null() {
            context["only"] = only;
        }
        let range = json!({ "start": place, "end": place });
        let document = json!({ "uri": uri });
        let found = editor.request(
            "textDocument/codeAction",
            json!({ "textDocument": document, "range": range, "context": context }),
        );
        let kinds =
            found.as_array().unwrap().iter().map(|action| action["kind"].as_str().unwrap().to_owned());
        kinds.collect::<Vec<_>>()
    };
    // One fix of two problems, and what each of them means.
    let all = ["quickfix", "source.fixAll.rulebook", "quickfix", "quickfix"];
    assert_eq!(kinds(Value::Null), all);
    assert_eq!(kinds(json!(["source.fixAll"])), ["source.fixAll.rulebook"]);
    assert_eq!(kinds(json!(["quickfix"])), ["quickfix"; 3]);
    assert_eq!(kinds(json!(["source.organizeImports"])), Vec::<String>::new());
    assert_eq!(kinds(json!(["refactor"])), Vec::<String>::new());
    editor.stop();
}
