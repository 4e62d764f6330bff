//! What the extension asks for: its view, the sessions of agents, and the notices of its commands.

use serde_json::{Value, json};

use super::Editor;
use crate::sandbox::Sandbox;

fn extension(sandbox: &Sandbox) -> Editor<'_> {
    let folders = json!([{ "uri": super::client::uri(sandbox, "repo"), "name": "repo" }]);
    let options = json!({ "extension": true });
    let params = json!({ "workspaceFolders": folders, "capabilities": {}, "initializationOptions": options });
    let mut editor = Editor::start_with(sandbox, params);
    editor.settle();
    editor
}

fn view(editor: &mut Editor<'_>) -> Value {
    let uri = editor.uri("repo/a/x.ts");
    editor.request("rulebook/view", json!({ "textDocument": { "uri": uri } }))
}

#[test]
fn every_problem_has_the_file_that_its_diagnostics_are_shown_in() {
    let sandbox = Sandbox::new(&[
        ("repo/.opencode/rules/x.md", "---\npriority: 10\n---\nx\n"),
        ("repo/.claude/rules/t.md", "---\npaths: **/*.ts\n---\nx\n"),
        ("repo/rulebook.toml", "[rules]\ndisabled_ids = [\"zz\"]\nfoo = 1\n"),
        ("repo/a/x.ts", "\n"),
    ]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", sandbox.path("repo/.claude/rules/d.md")).unwrap();
    let mut editor = extension(&sandbox);
    let problems = view(&mut editor)["problems"].clone();
    let problems = problems.as_array().unwrap();
    assert!(problems.len() > 3, "{problems:?}");
    for problem in problems {
        let uri = problem["uri"].as_str().unwrap_or_else(|| panic!("{problem}"));
        let shown = editor.shown.get(uri).and_then(Value::as_array).unwrap_or_else(|| panic!("{problem}"));
        assert!(shown.iter().any(|found| found["code"] == problem["code"]), "{problem}");
        let severity = match problem["severity"].as_str() {
            Some("error") => 1,
            Some("warning") => 2,
            _ => 3,
        };
        assert!(shown.iter().any(|found| found["severity"] == severity), "{problem}");
    }
    editor.stop();
}

#[test]
fn a_session_says_what_is_pinned_in_it() {
    let sandbox = Sandbox::new(&[
        ("repo/.cursor/rules/web.mdc", "---\nglobs: a/**\n---\nx\n"),
        ("repo/CLAUDE.md", "x\n"),
        ("repo/a/x.ts", "\n"),
    ]);
    let mut editor = extension(&sandbox);
    sandbox.hook("claude", &sandbox.prompt_event("s1", "go on"));
    let mut pinned = || {
        let uri = editor.uri("repo/a/x.ts");
        let sessions = editor.request("rulebook/sessions", json!({ "textDocument": { "uri": uri } }));
        (sessions[0]["pinned"].clone(), sessions[0]["isRunning"].clone())
    };
    assert_eq!(pinned(), (json!([]), json!(true)));
    sandbox.run(&["pin", "web"]);
    assert_eq!(pinned(), (json!(["web@cursor"]), json!(true)));
    sandbox.run(&["unpin", "web"]);
    assert_eq!(pinned(), (json!([]), json!(true)));
    editor.stop();
}

#[test]
fn a_switch_is_reported_in_one_line() {
    let sandbox = Sandbox::new(&[
        ("repo/.cursor/rules/web.mdc", "---\nglobs: a/**\n---\nx\n"),
        ("repo/.rulebook/rules/own.md", "x\n"),
        ("repo/a/x.ts", "\n"),
    ]);
    let mut editor = extension(&sandbox);
    let mut check = |name: &str, notice: &str, warns: bool| {
        let command = json!({ "command": "rulebook.disable", "arguments": [name] });
        let answer = editor.request("workspace/executeCommand", command);
        assert_eq!((&answer["notice"], &answer["warns"]), (&json!(notice), &json!(warns)));
    };
    let cursor =
        "web is disabled: Rulebook no longer adds it (1 rule file); these agents still read it: Cursor";
    check("web", cursor, true);
    check("own", "own is disabled: Rulebook no longer adds it (1 rule file)", false);
    editor.stop();
}
