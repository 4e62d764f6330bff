//! The JSON of commands has every key of its documented shape.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, stdout};

#[test]
fn every_key_of_the_documented_shapes_is_present() {
    let sandbox = workspace();
    let run = |words: &[&str]| -> Value {
        serde_json::from_str(&stdout(&sandbox.command(words).output().unwrap())).unwrap()
    };

    let explained = run(&["explain", "--json", "apps/web/a.tsx"]);
    check("explain", &explained, &explain_shape());
    assert_eq!(explained["for"], "any");
    for agent in ["--for", "--as"] {
        let explained = run(&["explain", "--json", agent, "claude", "apps/web/a.tsx"]);
        check(agent, &explained, &explain_shape_of_one());
        assert_eq!(explained[agent.trim_start_matches('-')], "claude");
    }
    check("status", &run(&["status", "--json"]), &status_shape());
    check("prompt", &run(&["prompt", "--json", "--message", "look at apps/web/a.tsx"]), &prompt_shape());
    check("stream", &run(&["stream", "--json", "reply.txt"]), &stream_shape());
}

/// A workspace with a rule in every state.
pub(crate) fn workspace() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    for (path, text) in [
        ("AGENTS.md", "Run the tests.\n"),
        ("CLAUDE.md", "See @AGENTS.md.\n"),
        (
            ".claude/settings.json",
            r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"rulebook hook claude"}]}]}}"#,
        ),
        (".clinerules/web.md", "---\npaths: [apps/web/**]\n---\nUse components.\n"),
        (".clinerules/api.md", "---\npaths: [apps/api/**]\n---\nCheck the schema.\n"),
        (".clinerules/old.md", "Outdated.\n"),
        (".cursor/rules/db.mdc", "---\ndescription: Tables\nglobs: db/**\n---\nUse plural names.\n"),
        (".cursor/rules/style.mdc", "---\nalwaysApply: true\n---\nTwo spaces.\n"),
        (".rulebook/rules/style.md", "Four spaces.\n"),
        (".rulebook/rules/no-any.md", "---\ncondition: ': any'\n---\nName the type.\n"),
        (".opencode/rules/x.md", "---\npriority: 10\n---\nNo description.\n"),
        ("rulebook.toml", "[rules]\ndisabled_ids = [\"old\"]\n"),
        ("apps/web/a.tsx", "export {}\n"),
        ("reply.txt", "let a: any = 1;\n"),
    ] {
        sandbox.write(&format!("repo/{path}"), text);
    }
    sandbox
}

fn explain_shape() -> Value {
    json!({
        "version": 1, "for": "any", "diagnostics": [diagnostic()],
        "targets": [{
            "path": "",
            "stack": [{
                "id": "", "key": "", "name": "", "source": "", "format": "", "scope": "", "priority": 0,
                "activation": "", "basis": "", "tags": [],
                "because": [{ "condition": "", "matched": [], "evidence": [{ "path": "", "sources": [] }] }],
            }],
            "overridden": [{ "id": "", "key": "", "source": "", "winner": { "id": "", "source": "" }, "decidedBy": "" }],
            "offered": [{ "id": "", "key": "", "description": "", "globs": [], "source": "" }],
            "stream": [{ "id": "", "key": "", "source": "", "condition": [], "scope": [] }],
            "inactive": [{ "id": "", "key": "", "source": "", "reason": "", "detail": "" }],
            "disabled": [{ "id": "", "key": "", "source": "", "by": "" }],
            "rejected": [{ "id": "", "key": "", "source": "", "diagnostics": [] }],
            "agents": { "claude": agent_shape(), "cline": agent_shape(), "cursor": agent_shape() },
        }],
    })
}

/// The same shape; which lists have entries depends on the agent.
fn explain_shape_of_one() -> Value {
    let lists = ["overridden", "offered", "stream", "inactive", "disabled", "rejected"];
    let mut target: serde_json::Map<String, Value> =
        lists.iter().map(|list| ((*list).to_owned(), json!([]))).collect();
    target.insert("path".to_owned(), json!(""));
    target.insert("stack".to_owned(), explain_shape()["targets"][0]["stack"].clone());
    target.insert("agents".to_owned(), json!({ "claude": agent_shape() }));
    json!({ "version": 1, "for": null, "as": null, "targets": [target], "diagnostics": [] })
}

fn agent_shape() -> Value {
    json!({ "wired": [], "tokens": 0, "rules": [{ "id": "", "key": "", "source": "", "state": "", "because": "" }] })
}

fn diagnostic() -> Value {
    json!({ "code": "", "severity": "", "path": "", "line": 0, "column": 0, "message": "", "help": "" })
}

fn status_shape() -> Value {
    json!({
        "version": 1,
        "agents": { "claude": { "wired": [], "alwaysTokens": 0 } },
        "rules": [{
            "key": "", "source": "", "format": "", "scope": "", "activation": "", "basis": "", "state": "",
            "agents": { "claude": "" },
        }],
        "problems": [{ "code": "", "effect": "", "command": "" }],
        "diagnostics": [diagnostic()],
    })
}

fn prompt_shape() -> Value {
    json!({
        "version": 1, "text": "",
        "applied": [{ "name": "", "source": "", "matchedConditions": {} }],
        "notice": { "type": "", "rules": [{ "name": "", "matchedConditions": {} }] },
        "paths": [{ "path": "", "sources": [] }], "pathsCut": 0,
        "offered": [{ "id": "", "key": "", "description": "", "globs": [], "source": "" }],
        "omitted": [], "tokens": 0, "diagnostics": [diagnostic()],
    })
}

fn stream_shape() -> Value {
    json!({
        "version": 1,
        "hits": [{ "rule": "", "condition": "", "scope": "", "start": 0, "end": 0, "line": 0, "text": "" }],
        "diagnostics": [],
    })
}

/// Fails if a key of the shape is missing. A list with an example must have an entry, and all of its entries every key.
#[track_caller]
pub(crate) fn check(place: &str, found: &Value, shape: &Value) {
    match (found, shape) {
        (Value::Object(found), Value::Object(shape)) => {
            for (key, shape) in shape {
                let value = found.get(key).unwrap_or_else(|| panic!("{place} has no `{key}`: {found:?}"));
                check(&format!("{place}.{key}"), value, shape);
            }
        }
        (Value::Array(found), Value::Array(shape)) => {
            assert!(shape.is_empty() || !found.is_empty(), "{place} is empty");
            for shape in shape {
                // Only a rule with conditions has reasons.
                let is_nested = [".because", ".stack", ".applied"].iter().any(|list| place.ends_with(list));
                let has_reasons =
                    |entry: &Value| entry["because"] != json!([]) && entry["matchedConditions"] != json!({});
                let entries = found.iter().filter(|entry| !is_nested || has_reasons(entry));
                // Only in some states it is somebody's doing.
                let is_like = |entry: &&Value| shape.get("by").is_none() || entry["state"] == shape["state"];
                let entries = entries.filter(is_like);
                entries.for_each(|entry| check(place, entry, shape));
            }
        }
        (_, Value::Object(_) | Value::Array(_)) => panic!("{place} is {found}"),
        _ => {}
    }
}
