//! What the editor shows of rules: hover, completion, hints, navigation, renaming, structure, lenses and commands.

use std::fs;

use serde_json::{Value, json};

use super::Editor;
use crate::sandbox::{Sandbox, stdout, texts};

const WEB: &str = "---\ndescription: Web\nglobs: src/**/*.ts, docs/*.md\nalwaysApply: false\n---\nSee rule://db and rule://style.\n";

fn sandbox() -> Sandbox {
    Sandbox::new(&[
        ("repo/.cursor/rules/web.mdc", WEB),
        ("repo/.rulebook/rules/db.md", "---\nid: db\npaths: [\"db/**\"]\n---\nUse SQL. See rule://web.\n"),
        (
            "repo/.rulebook/rules/no-any.md",
            "---\ncondition: \": any\\\\b\"\nscope: tool:edit\n---\nNo `any`.\n",
        ),
        ("repo/CLAUDE.md", "@AGENTS.md\n"),
        ("repo/AGENTS.md", "Be brief.\n"),
        ("repo/src/a.ts", "let x: any = 1;\n"),
        ("repo/src/b/c.ts", "let y = 2;\n"),
        ("repo/docs/x.md", "X\n"),
        ("repo/rulebook.toml", "[rules]\ndisabled_ids = [\"db\"]\n"),
    ])
}

fn opened<'s>(sandbox: &'s Sandbox, paths: &[&str]) -> Editor<'s> {
    let mut editor = Editor::start(sandbox);
    for path in paths {
        editor.open(path, &fs::read_to_string(sandbox.path(path)).unwrap());
    }
    editor.settle();
    editor
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value}"))
}

const WEB_FILE: &str = "repo/.cursor/rules/web.mdc";

#[test]
fn hover_on_a_glob_shows_the_files_of_every_agent() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[WEB_FILE]);
    let hover = editor.at("textDocument/hover", WEB_FILE, 2, 10);
    let shown = text(&hover["contents"]["value"]);
    assert!(shown.starts_with("`src/**/*.ts` matches **2 files**"), "{shown}");
    assert!(shown.contains("- `src/a.ts`\n- `src/b/c.ts`"), "{shown}");
    assert!(shown.contains("Cursor: 2 files"), "{shown}");
    assert!(shown.contains("Claude Code: does not read this file"), "{shown}");
    assert_eq!(hover["range"]["start"], json!({ "line": 2, "character": 7 }));
    let second = editor.at("textDocument/hover", WEB_FILE, 2, 24);
    assert!(text(&second["contents"]["value"]).starts_with("`docs/*.md` matches **1 file**"), "{second}");
    editor.stop();
}

#[test]
fn hover_on_a_glob_that_does_not_decide_says_what_does() {
    const FILE: &str = "repo/.github/instructions/a.instructions.md";
    let sandbox = sandbox();
    sandbox.write(FILE, "---\napplyTo: \"**\"\n---\nx\n");
    let mut editor = opened(&sandbox, &[FILE]);
    let mut check = |path: &str, header: &str, at: usize, wanted: &str| {
        editor.change(path, json!([{ "text": format!("---\n{header}\n---\nx\n") }]));
        let shown = editor.at("textDocument/hover", path, 1, at);
        let shown = text(&shown["contents"]["value"]).to_owned();
        assert!(shown.starts_with(wanted), "{header}: {shown}");
    };
    check(FILE, "applyTo: \"**\"", 11, "`**` does not decide when the rule applies: it is in every request");
    check(FILE, "applyTo: \"**\"", 2, "`applyTo` (copilot): does not decide when the rule applies");
    let beside = "**/*.ts,**";
    check(FILE, &format!("applyTo: \"{beside}\""), 12, "`**/*.ts` does not decide");
    check(FILE, "applyTo: \"src/\\u0061.ts\"", 12, "`src/a.ts` matches **1 file**");
    editor.stop();
}

#[test]
fn hover_on_a_key_says_what_it_means_to_every_agent() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[WEB_FILE]);
    let hover = editor.at("textDocument/hover", WEB_FILE, 3, 2);
    let shown = text(&hover["contents"]["value"]);
    assert!(shown.starts_with("`alwaysApply` (cursor): does not apply to every request"), "{shown}");
    assert!(
        shown.contains("Cursor: does not apply") && shown.contains("Claude Code: does not read"),
        "{shown}"
    );
    let hover = editor.at("textDocument/hover", WEB_FILE, 5, 8);
    let off = "`.rulebook/rules/db.md`\n\ndisabled by `rules.disabled_ids`";
    assert_eq!(text(&hover["contents"]["value"]), off);
    let hover = editor.at("textDocument/hover", WEB_FILE, 5, 25);
    assert_eq!(text(&hover["contents"]["value"]), "no rule named \\`style\\`");
    assert_eq!(editor.at("textDocument/hover", WEB_FILE, 5, 1), Value::Null);
    editor.stop();
}

#[test]
fn completion_knows_keys_values_globs_and_rules() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[WEB_FILE]);
    let mut complete = |typed: &str| {
        editor.change(WEB_FILE, json!([{ "text": typed }]));
        let line = typed.matches('\n').count();
        let character = typed.rsplit('\n').next().unwrap().len();
        let found = editor.at("textDocument/completion", WEB_FILE, line, character);
        let items = found["items"].as_array().unwrap();
        items.iter().map(|item| text(&item["textEdit"]["newText"]).to_owned()).collect::<Vec<_>>()
    };
    assert!(complete("---\nal").contains(&"alwaysApply: ".to_owned()));
    assert_eq!(complete("---\nalwaysApply: "), ["true", "false"]);
    let globs = complete("---\nglobs: ");
    assert!(globs.contains(&"src/**".to_owned()) && globs.contains(&"**/*.ts".to_owned()), "{globs:?}");
    assert!(complete("---\nglobs: src/").contains(&"src/b/**".to_owned()));
    assert!(!complete("---\nalwaysApply: true\n").contains(&"alwaysApply: ".to_owned()));
    let names = complete("---\nglobs: a\n---\nSee rule://");
    assert!(names.contains(&"web".to_owned()) && names.contains(&"no-any".to_owned()), "{names:?}");
    assert_eq!(complete("plain text "), Vec::<String>::new());
    assert_eq!(complete("@"), ["web.mdc"]);
    assert_eq!(complete("@../../do"), ["../../docs/x.md"]);
    assert_eq!(complete("@.."), Vec::<String>::new());
    assert_eq!(complete("@../../../"), Vec::<String>::new());
    assert_eq!(complete("@./w"), ["./web.mdc"]);
    assert_eq!(complete("@../../src/a"), ["../../src/a.ts"]);
    assert!(!complete("---\n").contains(&"applyTo: ".to_owned()));
    editor.stop();
}

#[test]
fn a_completed_name_reads_the_rule_that_was_chosen() {
    let sandbox = sandbox();
    sandbox.write("repo/.github/instructions/web.instructions.md", "---\napplyTo: \"b/**\"\n---\ny\n");
    sandbox.write("repo/sub/.cursor/rules/web.mdc", "---\nglobs: a b/**\n---\ny\n");
    let mut editor = opened(&sandbox, &["repo/CLAUDE.md"]);
    editor.change("repo/CLAUDE.md", json!([{ "text": "rule://" }]));
    let items = editor.at("textDocument/completion", "repo/CLAUDE.md", 0, 7)["items"].clone();
    let items = items.as_array().unwrap();
    assert_eq!(items.iter().filter(|item| item["detail"].as_str().unwrap().contains("web.")).count(), 3);
    for item in items {
        let name = format!("rule://{}", text(&item["textEdit"]["newText"]));
        editor.change("repo/CLAUDE.md", json!([{ "text": name }]));
        let hover = editor.at("textDocument/hover", "repo/CLAUDE.md", 0, 8);
        let file = format!("`{}`", text(&item["detail"]));
        assert!(text(&hover["contents"]["value"]).starts_with(&file), "{name}: {hover}");
    }
    assert!(items.iter().any(|item| item["textEdit"]["newText"] == "web@copilot"), "{items:?}");
    editor.stop();
}

#[test]
fn the_words_of_a_when_expression_are_explained() {
    const FILE: &str = "repo/.rulebook/rules/db.md";
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[FILE]);
    let header = "when: paths:src/** AND NOT (mode:plan OR agent:claude)";
    editor.change(FILE, json!([{ "text": format!("---\n{header}\n---\nx\n") }]));
    let mut check = |word: &str, wanted: &str| {
        let at = header.find(word).unwrap();
        let hover = editor.at("textDocument/hover", FILE, 1, at + 1);
        assert!(text(&hover["contents"]["value"]).starts_with(wanted), "{word}: {hover}");
        assert_eq!(hover["range"]["start"], json!({ "line": 1, "character": at }), "{word}");
    };
    check("when", "`when` (rulebook): ");
    check("paths", "`paths` in `when`: holds when ");
    check("src/**", "`src/**` matches **2 files**");
    check("AND", "`AND` in `when`: both hold");
    check("NOT", "`NOT` in `when`: it does not hold");
    check("mode", "`mode` in `when`: holds when ");
    check("plan", "`plan` in `when: mode:`");
    check("OR", "`OR` in `when`: one holds");
    check("claude", "`claude` in `when: agent:`");
    editor.stop();
}

#[test]
fn an_action_names_the_diagnostics_that_are_shown() {
    const FILE: &str = "repo/.claude/rules/t.md";
    let sandbox = sandbox();
    sandbox.write(FILE, "---\npaths: **/*.ts\n---\nx\n");
    let mut editor = opened(&sandbox, &[FILE, "repo/src/a.ts"]);
    let mut check = |path: &str, line: usize, character: usize, titles: &[&str]| {
        let shown = editor.shown[&editor.uri(path)].as_array().unwrap().clone();
        let actions = editor.at("textDocument/codeAction", path, line, character);
        let actions = actions.as_array().unwrap().iter().filter(|action| action["kind"] == "quickfix");
        let actions: Vec<&Value> = actions.collect();
        let starts =
            actions.iter().zip(titles).all(|(action, title)| text(&action["title"]).starts_with(title));
        assert!(starts && actions.len() == titles.len(), "{actions:?}");
        for action in actions {
            let own = action["diagnostics"].as_array().unwrap();
            assert!(!own.is_empty() && own.iter().all(|one| shown.contains(one)), "{action} {shown:?}");
            if let Some(code) = action["command"]["arguments"][0].as_str() {
                let command = json!({ "command": "rulebook.describe", "arguments": [code] });
                let answer = editor.request("workspace/executeCommand", command);
                assert!(text(&answer["text"]).contains("What to do: "), "{answer}");
            }
        }
    };
    check(FILE, 1, 8, &["Fix: ", "What does `unquoted-value` mean?"]);
    check("repo/src/a.ts", 0, 7, &["What does `stream-rule` mean?"]);
    editor.stop();
}

#[test]
fn an_explanation_in_the_editor_is_not_cut() {
    let sandbox = sandbox();
    let path = format!("repo/packages/{}/src/a.ts", "long-name".repeat(6));
    sandbox.write(&path, "x\n");
    let glob = format!("packages/{}/**", "long-name".repeat(6));
    sandbox.write("repo/.claude/rules/long.md", &format!("---\npaths: \"{glob}\"\n---\nx\n"));
    let mut editor = opened(&sandbox, &[&path]);
    let explain = json!({ "command": "rulebook.explain", "arguments": [editor.uri(&path)] });
    let answer = editor.request("workspace/executeCommand", explain);
    assert!(text(&answer["text"]).contains(&format!("✓ {glob}")), "{answer}");
    assert!(!text(&answer["text"]).contains('…'), "{answer}");
    editor.stop();
}

#[test]
fn what_is_below_a_key_is_completed_and_explained() {
    const FILE: &str = "repo/.rulebook/rules/db.md";
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[FILE]);
    let mut proposed = |typed: &str| {
        editor.change(FILE, json!([{ "text": typed }]));
        let line = typed.matches('\n').count();
        let character = typed.rsplit('\n').next().unwrap().len();
        let found = editor.at("textDocument/completion", FILE, line, character);
        let items = found["items"].as_array().unwrap();
        items.iter().map(|item| text(&item["textEdit"]["newText"]).to_owned()).collect::<Vec<_>>()
    };
    let mut check = |typed: &str, wanted: &str| {
        let found = proposed(typed);
        assert!(found.iter().any(|text| text == wanted), "{typed}: {found:?}");
    };
    check("---\nast: {", "language: ");
    check("---\nast: {language: ", "bash");
    check("---\nast:\n  - inside:\n      ", "pattern: ");
    check("---\ncontent: {", "ast: ");
    check("---\nrequires: {do: {", "command: ");
    check("---\nrequires:\n  before: ", "stop");
    check("---\nforbids: {edit: \"src/", "src/b/**");
    check("---\non-unknown: ", "allow");
    check("---\nwhen: \"mode:act AND mode:", "act");
    check("---\nwhen: \"paths:", "src/**");
    check("---\nwhen: \"", "agent:");
    let header = "---\nrequires: {do: {edit: \"src/**\"}, before: stop}\n---\nx";
    editor.change(FILE, json!([{ "text": header }]));
    let hover = |editor: &mut Editor<'_>, character| {
        let shown = editor.at("textDocument/hover", FILE, 1, character);
        text(&shown["contents"]["value"]).to_owned()
    };
    assert_eq!(hover(&mut editor, 12), "`do` in `requires`: what must be done");
    assert_eq!(hover(&mut editor, 18), "`edit` in `requires.do`: a file that is written: a glob");
    assert!(hover(&mut editor, 45).starts_with("`before` in `requires`: what must wait"));
    editor.stop();
}

#[test]
fn a_hint_says_how_far_a_rule_reaches() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[WEB_FILE, "repo/AGENTS.md"]);
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let mut hint = |path: &str| {
        let uri = editor.uri(path);
        let hints = editor
            .request("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": whole }));
        let (label, tooltip) = (text(&hints[0]["label"]), text(&hints[0]["tooltip"]));
        // Editors cut the label.
        assert!(tooltip.contains("\n✓ Cursor: ") && tooltip.starts_with(label.split(" · ").next().unwrap()));
        label.to_owned()
    };
    assert_eq!(hint(WEB_FILE), "reaches 3 files · Claude Code – Cursor ✓");
    assert_eq!(hint("repo/AGENTS.md"), "in every request · Claude Code ✓ Cursor ✓");
    editor.stop();
}

#[test]
fn names_and_imports_lead_to_rules_and_back() {
    let sandbox = sandbox();
    sandbox.write("home/.cursor/rules/web.mdc", "---\nalwaysApply: true\n---\nMine.\n");
    let db = "repo/.rulebook/rules/db.md";
    let mut editor = opened(&sandbox, &[WEB_FILE, "repo/CLAUDE.md", db]);
    let mut uris = |method: &str, path: &str, line: usize, character: usize| {
        let found = editor.at(method, path, line, character);
        let found = if found.is_array() { found } else { json!([found]) };
        let root = format!("file://{}/", sandbox.path("").display().to_string().trim_end_matches('/'));
        texts(&found, "uri").iter().map(|uri| uri.trim_start_matches(&root).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(uris("textDocument/definition", "repo/CLAUDE.md", 0, 3), ["repo/AGENTS.md"]);
    assert_eq!(uris("textDocument/definition", WEB_FILE, 5, 8), [db]);
    assert_eq!(uris("textDocument/definition", db, 4, 20), [WEB_FILE, "home/.cursor/rules/web.mdc"]);
    let references = uris("textDocument/references", WEB_FILE, 1, 1);
    assert_eq!(references, ["home/.cursor/rules/web.mdc", db]);
    // A rule that is switched off is mentioned, too.
    assert_eq!(uris("textDocument/references", db, 1, 1), [WEB_FILE]);
    let import = "repo/CLAUDE.md";
    editor.change(import, json!([{ "text": "Be kind.\n\nSee @AGENTS.md\n" }]));
    editor.open("repo/AGENTS.md", "Be brief.\n");
    editor.settle();
    let found = editor.at("textDocument/references", "repo/AGENTS.md", 0, 0);
    let place = json!({ "start": { "line": 2, "character": 4 }, "end": { "line": 2, "character": 14 } });
    assert_eq!(found, json!([{ "uri": editor.uri(import), "range": place }]));
    editor.stop();
}

#[test]
fn a_rule_is_renamed_with_its_references() {
    let sandbox = sandbox();
    let db = "repo/.rulebook/rules/db.md";
    let mut editor = opened(&sandbox, &[db]);
    let uri = editor.uri(db);
    let rename = |name: &str| json!({ "textDocument": { "uri": uri }, "position": { "line": 1, "character": 5 }, "newName": name });
    let edit = editor.request("textDocument/rename", rename("data"));
    let changes = edit["changes"].as_object().unwrap();
    let new: Vec<&str> = changes
        .values()
        .flat_map(|edits| edits.as_array().unwrap())
        .map(|edit| text(&edit["newText"]))
        .collect();
    let wanted = ["data", "data", "\"data\""];
    assert_eq!(new, wanted, "the mention in a rule, the header and the settings; {edit}");
    // What is not a plain word in YAML is in quotes.
    for name in ["#x", "null", "~", "|", "[x", "-", "?", "true", "1", "{x}", "a:b"] {
        let edit = editor.request("textDocument/rename", rename(name));
        let header = edit["changes"][&uri][0]["newText"].clone();
        let header = text(&header).to_owned();
        let plain = header == name;
        assert!(plain && name == "a:b" || header == format!("\"{name}\""), "{name}: {header}");
    }
    for name in ["web", "A b", ""] {
        let id = editor.ask("textDocument/rename", rename(name));
        assert!(editor.answer(id)["error"]["message"].is_string(), "{name}");
    }
    editor.stop();
}

#[test]
fn renaming_switches_no_other_rule_on() {
    let sandbox = sandbox();
    let db = "repo/.rulebook/rules/db.md";
    sandbox.write("repo/.omp/rules/z.md", "---\nid: db\nalwaysApply: true\n---\nOther.\n");
    let check = |settings: &str, wanted: &str| {
        sandbox.write("repo/rulebook.toml", settings);
        let mut editor = opened(&sandbox, &[db]);
        let place = json!({ "line": 1, "character": 5 });
        let uri = editor.uri(db);
        let params = json!({ "textDocument": { "uri": uri }, "position": place, "newName": "data" });
        let edit = editor.request("textDocument/rename", params);
        let edits = edit["changes"][editor.uri("repo/rulebook.toml")].clone();
        let mut text = settings.to_owned();
        for edit in edits.as_array().into_iter().flatten() {
            let at = |end: &str| {
                let line: usize = settings.split_inclusive('\n').take(1).map(str::len).sum();
                assert_eq!(edit["range"][end]["line"], 1);
                line + usize::try_from(edit["range"][end]["character"].as_u64().unwrap()).unwrap()
            };
            text.replace_range(at("start")..at("end"), edit["newText"].as_str().unwrap());
        }
        assert_eq!(text, wanted);
        editor.stop();
    };
    check("[rules]\ndisabled_ids = [\"db\"]\n", "[rules]\ndisabled_ids = [\"db\", \"data\"]\n");
    check("[rules]\ndisabled_ids = ['db@rulebook']\n", "[rules]\ndisabled_ids = ['data@rulebook']\n");
    check(
        "[rules]\ndisabled_ids = [\"db@omp\"] # \"db\"\n",
        "[rules]\ndisabled_ids = [\"db@omp\"] # \"db\"\n",
    );
}

#[test]
fn a_rule_is_renamed_where_its_name_is() {
    let sandbox = sandbox();
    sandbox.write("repo/CLAUDE.md", "Read @.cursor/rules/web.mdc first.\n");
    let folders = json!([{ "uri": super::client::uri(&sandbox, "repo"), "name": "repo" }]);
    let capabilities = json!({ "workspace": { "workspaceEdit": { "resourceOperations": ["rename"] } } });
    let mut editor =
        Editor::start_with(&sandbox, json!({ "workspaceFolders": folders, "capabilities": capabilities }));
    editor.open(WEB_FILE, WEB);
    editor.settle();
    let names = |place: Value| (place["placeholder"].clone(), place["range"]["start"]["character"].clone());
    let here = editor.at("textDocument/prepareRename", WEB_FILE, 1, 2);
    assert_eq!(names(here), (json!("web"), json!(2)));
    let mentioned = editor.at("textDocument/prepareRename", WEB_FILE, 5, 6);
    assert_eq!(names(mentioned), (json!("db"), json!(11)));
    let uri = editor.uri(WEB_FILE);
    let place = |line: usize| json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": 0 }, "newName": "page" });
    for method in ["prepareRename", "rename"] {
        let id = editor.ask(&format!("textDocument/{method}"), place(5));
        assert!(text(&editor.answer(id)["error"]["message"]).starts_with("this is the text of a rule"));
    }
    let edit = editor.request("textDocument/rename", place(1));
    let changes = edit["documentChanges"].as_array().unwrap();
    let imports = changes.iter().find(|change| change["textDocument"]["uri"] == editor.uri("repo/CLAUDE.md"));
    let range = json!({ "start": { "line": 0, "character": 20 }, "end": { "line": 0, "character": 27 } });
    assert_eq!(imports.unwrap()["edits"], json!([{ "range": range, "newText": "page.mdc" }]));
    assert_eq!(changes.last().unwrap()["newUri"], editor.uri("repo/.cursor/rules/page.mdc"));
    editor.stop();
}

#[test]
fn headers_have_a_structure() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &[WEB_FILE]);
    let folds = editor.at("textDocument/foldingRange", WEB_FILE, 0, 0);
    assert_eq!(folds, json!([{ "startLine": 0, "endLine": 4, "kind": "region" }]));
    let tokens = editor.at("textDocument/semanticTokens/full", WEB_FILE, 0, 0);
    let data: Vec<u64> = tokens["data"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert_eq!(data[..10], [1, 0, 11, 0, 0, 0, 13, 3, 1, 0]);
    editor.stop();
}

#[test]
fn a_source_file_shows_which_rules_apply() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &["repo/src/a.ts"]);
    let lenses = editor.at("textDocument/codeLens", "repo/src/a.ts", 0, 0);
    let command = &lenses[0]["command"];
    assert_eq!(text(&command["title"]), "2 rules apply (Claude Code), 2 (Cursor)");
    let answer = editor.request(
        "workspace/executeCommand",
        json!({ "command": command["command"], "arguments": command["arguments"] }),
    );
    assert_eq!(text(&answer["text"]), stdout(&sandbox.run(&["explain", "src/a.ts"])));
    let message = editor.others.iter().find(|message| message["method"] == "window/showMessage").unwrap();
    assert_eq!(message["params"]["message"], answer["text"]);
    let prompt = json!({ "command": "rulebook.prompt", "arguments": [editor.uri("repo/src/a.ts")] });
    let answer = editor.request("workspace/executeCommand", prompt);
    assert_eq!(
        format!("{}\n", text(&answer["text"])),
        stdout(&sandbox.run(&["prompt", "--path", "src/a.ts"]))
    );
    editor.stop();
}

#[test]
fn a_stream_rule_shows_where_it_fires() {
    let sandbox = sandbox();
    let mut editor = opened(&sandbox, &["repo/src/a.ts"]);
    let hits = |editor: &Editor<'_>| {
        let shown = editor.shown.get(&editor.uri("repo/src/a.ts")).and_then(Value::as_array).cloned();
        let starts = shown.unwrap_or_default();
        starts.iter().map(|found| found["range"]["start"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(hits(&editor), [json!({ "line": 0, "character": 5 })]);
    editor.change("repo/src/a.ts", json!([{ "text": "x: any\ny: any\nz: anything\n" }]));
    editor.shows("repo/src/a.ts");
    let wanted = [0, 1].map(|line| json!({ "line": line, "character": 1 }));
    assert_eq!(hits(&editor), wanted);
    editor.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "rulebook": { "preview": false } } }),
    );
    editor.settle();
    assert_eq!(hits(&editor), Vec::<Value>::new());
    editor.stop();
}

#[test]
fn a_syntax_rule_shows_every_node_that_it_matches() {
    let sandbox = sandbox();
    let rule = "---\nast: {language: ts, pattern: \"console.log($$$)\"}\nglobs: \"src/**\"\n---\nNo logs.\n";
    sandbox.write("repo/.rulebook/rules/log.md", rule);
    let path = "repo/src/b/c.ts";
    let mut editor = opened(&sandbox, &[path]);
    let text = "/* 🦀 */console.log(1)\nfunction f() {\n  console.log(`a\n`)\n}\n// console.log(2)\n";
    editor.change(path, json!([{ "text": text }]));
    let found = editor.shows(path);
    let ranges: Vec<Value> = found.as_array().unwrap().iter().map(|one| one["range"].clone()).collect();
    let range = |line: usize, start: usize, to: usize, end: usize| json!({ "start": { "line": line, "character": start }, "end": { "line": to, "character": end } });
    assert_eq!(ranges, [range(0, 8, 0, 22), range(2, 2, 3, 2)], "{found}");
    let message = found[0]["message"].as_str().unwrap();
    assert!(message.contains("`log`") && message.contains("`console.log($$$)`"), "{message}");
    editor.stop();
}

#[test]
fn switching_a_rule_off_changes_what_is_shown_and_what_explain_says() {
    let sandbox = sandbox();
    let folders = json!([{ "uri": super::client::uri(&sandbox, "repo"), "name": "repo" }]);
    let options = json!({ "extension": true });
    let mut editor = Editor::start_with(
        &sandbox,
        json!({ "workspaceFolders": folders, "capabilities": {}, "initializationOptions": options }),
    );
    editor.settle();
    let state = |editor: &mut Editor<'_>| {
        let uri = editor.uri("repo/src/a.ts");
        let view = editor.request("rulebook/view", json!({ "textDocument": { "uri": uri } }));
        let rules = view["rules"].as_array().unwrap();
        let web = rules.iter().find(|rule| rule["id"] == "web").unwrap();
        (text(&web["state"]).to_owned(), web["canSwitch"] == true, web["isOff"] == true)
    };
    assert_eq!(state(&mut editor), ("offered".to_owned(), true, false));
    let command = |name: &str| json!({ "command": name, "arguments": ["web@cursor"] });
    let answer = editor.request("workspace/executeCommand", command("rulebook.disable"));
    let answer = text(&answer["text"]);
    assert!(
        answer.starts_with("web@cursor is disabled: Rulebook no longer adds it (1 rule file)"),
        "{answer}"
    );
    assert!(answer.contains("these agents still read") && answer.contains("Cursor"), "{answer}");
    editor.settle();
    assert_eq!(state(&mut editor), ("disabled".to_owned(), true, true));
    assert!(stdout(&sandbox.run(&["explain", "src/a.ts", "--for", "any"])).contains("disabled"));
    // From outside, too: nobody reports this change to the editor.
    sandbox.run(&["enable", "web"]);
    while state(&mut editor) != ("offered".to_owned(), true, false) {
        editor.until(|message| message["method"] == "rulebook/checked");
    }
    let pin = editor.ask("workspace/executeCommand", command("rulebook.pin"));
    assert!(text(&editor.answer(pin)["error"]["message"]).contains("no session is running"));
    // A session of an agent appears.
    let event = sandbox.prompt_event("s1", "look at src/a.ts");
    sandbox.hook("claude", &event);
    editor.until(|message| message["method"] == "rulebook/sessionsChanged");
    let uri = editor.uri("repo/src/a.ts");
    let sessions = editor.request("rulebook/sessions", json!({ "textDocument": { "uri": uri } }));
    assert_eq!((text(&sessions[0]["host"]), text(&sessions[0]["session"])), ("claude", "s1"));
    let events = texts(&sessions[0]["events"], "text");
    assert!(events.iter().any(|event| event.starts_with("delivered")), "{events:?}");
    let mut delivered =
        sessions[0]["events"].as_array().unwrap().iter().filter(|event| event["source"].is_string());
    let web = delivered.find(|event| event["source"] == ".cursor/rules/web.mdc").unwrap();
    assert_eq!((web["uri"].clone(), web["kind"].clone()), (editor.uri(WEB_FILE).into(), json!("delivered")));
    assert_eq!(text(&sessions[0]["title"]), "Claude Code");
    assert_eq!(sessions[0]["events"][0]["message"], "look at src/a.ts");
    editor.request("workspace/executeCommand", command("rulebook.pin"));
    editor.stop();
}

#[test]
fn open_files_are_evidence_for_the_sessions_of_agents() {
    let sandbox = sandbox();
    let delivered = |session: &str| {
        let output = sandbox.hook("claude", &sandbox.prompt_event(session, "go on"));
        stdout(&output).contains(".cursor/rules/web.mdc")
    };
    assert!(!delivered("before"));
    let mut editor = opened(&sandbox, &["repo/src/a.ts"]);
    // The answer comes after what is open was written.
    editor.at("textDocument/codeLens", "repo/src/a.ts", 0, 0);
    assert!(delivered("open"));
    let uris = json!({ "tabs": [], "visible": [] });
    editor.notify("rulebook/editors", uris);
    editor.close("repo/src/a.ts");
    editor.settle();
    assert!(!delivered("closed"));
    let visible = editor.uri("repo/src/a.ts");
    editor.notify("rulebook/editors", json!({ "tabs": [visible], "visible": [visible] }));
    editor.at("textDocument/codeLens", "repo/src/a.ts", 0, 0);
    assert!(delivered("visible"));
    editor.stop();
    assert!(!delivered("after"));
    assert!(fs::read_dir(sandbox.state("editors")).unwrap().next().is_none());
}
