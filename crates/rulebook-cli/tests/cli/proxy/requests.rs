//! Rules in requests: each is added in its turn, and stays in its place, byte for byte.

use serde_json::{Value, json};

use super::lab::Lab;
use super::wires::{ANTHROPIC, CHAT, GEMINI, RESPONSES, WIRES, Wire};
use crate::sandbox::until;

const RULES: &[(&str, &str)] = &[
    ("always.md", "Always so.\n"),
    ("src.md", "---\npaths: [src/**]\n---\nSource so.\n"),
    ("docs.md", "---\npaths: [docs/**]\n---\nDocs so.\n"),
];

/// The length of the common start of two requests.
fn shared(first: &str, second: &str) -> usize {
    first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count()
}

/// Sends one conversation after the other, and returns the requests that the server received.
fn bodies(lab: &Lab, wire: &Wire, conversations: &[&[(&str, &str)]]) -> Vec<String> {
    for conversation in conversations {
        lab.ask(wire, conversation);
    }
    lab.model.seen().iter().map(|seen| seen.text()).collect()
}

#[test]
fn a_rule_is_added_in_its_turn_and_stays_in_its_place() {
    for wire in &WIRES {
        let lab = Lab::new(RULES);
        let conversation = [
            ("user", "hello"),
            ("call", "src/a.ts"),
            ("result", "src/a.ts"),
            ("assistant", "done"),
            ("user", "see docs/x.md"),
            ("assistant", "yes"),
            ("user", "and"),
        ];
        let bodies = bodies(&lab, wire, &[1, 3, 5, 7].map(|len| &conversation[..len]));
        let has: Vec<Vec<usize>> = bodies
            .iter()
            .map(|body| {
                ["Always so.", "Source so.", "Docs so."]
                    .iter()
                    .map(|text| body.matches(text).count())
                    .collect()
            })
            .collect();
        assert_eq!(has, [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]], "{}: {bodies:#?}", wire.name);
        for pair in bodies.windows(2) {
            serde_json::from_str::<Value>(&pair[1]).unwrap();
            // All of the earlier request but the two brackets at its end.
            let tail = &pair[0][shared(&pair[0], &pair[1])..];
            assert_eq!(tail, "]}", "{}:\n{}\n{}", wire.name, pair[0], pair[1]);
        }
        let order =
            ["src/a.ts", "Source so.", "done", "docs/x.md", "Docs so."].map(|text| bodies[3].find(text));
        assert!(order.is_sorted(), "{}: {}", wire.name, bodies[3]);
    }
}

#[test]
fn everything_else_in_a_request_is_unchanged() {
    let lab = Lab::new(RULES);
    let odd = r#"{ "n" : 1.50e3, "model":"m","u":"\u00e9\/", "tools" :[{"name":"Read"}],"messages" : [ {"role":"user" , "content":"see src/a.ts"} ] }"#;
    lab.post("/v1/messages", odd);
    let seen = lab.model.seen()[0].text();
    let mut rest = seen.as_str();
    for part in [
        r#"{"#,
        r#" "n" : 1.50e3, "model":"m","u":"\u00e9\/", "tools" :[{"name":"Read"}],"messages" : [ {"role":"user" , "content":"#,
        r#""see src/a.ts""#,
        r#"} ] }"#,
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part} in {seen}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_rule_that_the_agent_added_itself_is_not_added() {
    for (at, wire) in WIRES.iter().enumerate() {
        let lab = Lab::new(RULES);
        let own =
            ["<system-reminder>\nContents of x.md:\n\nSource so.\n</system-reminder>", "rule: Source so."];
        lab.ask(wire, &[("user", own[at % 2]), ("assistant", "k"), ("user", "see src/a.ts")]);
        assert_eq!(lab.model.seen()[0].text().matches("Source so.").count(), 1, "{}", wire.name);
    }
}

#[test]
fn system_texts_of_claude_are_recognised_in_every_form() {
    let lab = Lab::new(RULES);
    let ask = |messages: Value| {
        lab.send_json(
            &ANTHROPIC,
            &json!({ "model": "m", "tools": [{ "name": "Read" }], "messages": messages }),
        );
        lab.model.last().text()
    };
    // As a block of the user's message, as its own message, and in the result of a tool.
    let block = json!([{ "role": "user", "content": [{ "type": "text", "text": "<system-reminder>Source so.</system-reminder>" }, { "type": "text", "text": "see src/a.ts" }] }]);
    assert_eq!(ask(block).matches("Source so.").count(), 1);
    let entry = json!([{ "role": "user", "content": "see src/a.ts one" }, { "role": "system", "content": "Source so." }]);
    assert_eq!(ask(entry).matches("Source so.").count(), 1);
    let inside = json!([{ "role": "user", "content": "two" }, { "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "Read", "input": { "file_path": "src/a.ts" } }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": [{ "type": "text", "text": "x\n<system-reminder>\nSource so.\n</system-reminder>" }] }] }]);
    assert_eq!(ask(inside).matches("Source so.").count(), 1);
    let last = json!([{ "role": "user", "content": "see src/a.ts" }, { "role": "system", "content": [{ "type": "text", "text": "reminder" }] }]);
    let seen: Value = serde_json::from_str(&ask(last)).unwrap();
    assert!(seen["messages"][1]["content"][1]["text"].as_str().unwrap().contains("Source so."), "{seen}");
}

#[test]
fn cache_marks_stay_and_no_mark_is_added() {
    let lab = Lab::new(RULES);
    let mark = json!({ "type": "ephemeral" });
    let mut body = (ANTHROPIC.conversation)(&[("user", "see src/a.ts")]);
    body["messages"][0]["content"] =
        json!([{ "type": "text", "text": "see src/a.ts", "cache_control": mark }]);
    lab.send_json(&ANTHROPIC, &body);
    // The client moves its mark, and writes the old message as a plain text.
    let mut later =
        (ANTHROPIC.conversation)(&[("user", "see src/a.ts"), ("assistant", "ok"), ("user", "go on")]);
    later["messages"][2]["content"] = json!([{ "type": "text", "text": "go on", "cache_control": mark }]);
    lab.send_json(&ANTHROPIC, &later);
    let seen = lab.model.seen();
    assert!(seen.iter().all(|seen| seen.text().matches("cache_control").count() == 2));
    let rule = |at: usize| seen[at].json()["messages"][0]["content"][1].clone();
    assert_eq!(rule(0), rule(1));
    assert!(rule(0)["text"].as_str().unwrap().contains("Source so."));
    assert_eq!(seen[0].json()["system"], seen[1].json()["system"]);
}

#[test]
fn a_rule_that_a_summary_removed_is_added_again() {
    let lab = Lab::new(RULES);
    lab.ask(&CHAT, &[("user", "hello"), ("call", "src/a.ts"), ("result", "src/a.ts")]);
    let summary = [("user", "hello"), ("assistant", "a summary"), ("user", "go on")];
    lab.ask(&CHAT, &[&summary[..], &[("call", "src/b.ts"), ("result", "src/b.ts")]].concat());
    assert!(lab.model.seen().iter().all(|seen| seen.text().matches("Source so.").count() == 1));
    assert!(lab.ledger("compacted").contains("\"is\":\"delivered\""));
}

#[test]
fn a_conversation_continues_when_the_proxy_restarts() {
    let mut lab = Lab::new(RULES);
    lab.ask(&RESPONSES, &[("user", "see src/a.ts")]);
    lab.conversation();
    lab.start();
    lab.ask(&RESPONSES, &[("user", "see src/a.ts"), ("assistant", "ok"), ("user", "thanks")]);
    let seen = lab.model.seen();
    let (first, second) = (seen[0].text(), seen[1].text());
    assert!(shared(&first, &second) + 4 > first.len(), "{first}\n{second}");
}

#[test]
fn a_changed_rule_is_added() {
    let lab = Lab::new(RULES);
    lab.ask(&GEMINI, &[("user", "see src/a.ts")]);
    lab.rule("src.md", "---\npaths: [src/**]\n---\nSource changed.\n");
    lab.rule("more.md", "More so.\n");
    let is_added = || {
        lab.ask(&GEMINI, &[("user", "see src/a.ts"), ("assistant", "ok"), ("user", "and src/b.ts")]);
        let text = lab.model.last().text();
        text.contains("Source changed.") && text.contains("More so.")
    };
    until(is_added, || "the changed rules".to_owned());
    let (first, last) = (lab.model.seen().remove(0), lab.model.last());
    for text in ["Always so.", "Source so.", "Source changed.", "More so."] {
        assert_eq!(last.text().matches(text).count(), 1, "{text} in {}", last.text());
    }
    // What precedes the conversation stays, so that it remains in a prompt cache.
    assert_eq!(first.json()["systemInstruction"], last.json()["systemInstruction"]);
}

#[test]
fn rules_over_the_budget_are_listed_once() {
    let large = "Much so. ".repeat(200);
    let rules = [("always.md", large.as_str()), ("src.md", &format!("---\npaths: [src/**]\n---\n{large}so"))];
    for wire in &WIRES {
        let lab = Lab::with(&rules, &["--set", "budget.tokens=200"]);
        let conversation = [
            ("user", "see src/a.ts"),
            ("assistant", "ok"),
            ("user", "and src/b.ts"),
            ("assistant", "ok"),
            ("user", "more"),
        ];
        let bodies = bodies(&lab, wire, &[1, 3, 5].map(|len| &conversation[..len]));
        for body in &bodies {
            let listed = ["- always", "- src (src/**)"].map(|line| body.matches(line).count());
            assert_eq!(listed, [1, 1], "{}: {body}", wire.name);
        }
    }
}

#[test]
fn agents_of_one_session_have_their_own_rules() {
    let counts = |lab: &Lab| {
        let seen = lab.model.seen();
        seen.iter().map(|seen| seen.text().matches("Source so.").count()).collect::<Vec<_>>()
    };
    let lab = Lab::new(RULES);
    for (agent, text) in [("main", "see src/a.ts"), ("other", "hello")] {
        let body =
            (ANTHROPIC.conversation)(&[("user", text), ("assistant", "ok"), ("user", "go on")]).to_string();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-claude-code-session-id: one\r\nx-claude-code-agent-id: {agent}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        lab.send(head.as_bytes());
    }
    assert_eq!(counts(&lab), [0, 0]);
    let lab = Lab::new(RULES);
    lab.ask(&CHAT, &[("user", "one src/a.ts")]);
    lab.ask(&CHAT, &[("user", "two")]);
    assert_eq!(counts(&lab), [1, 0]);
}

#[test]
fn conversations_of_two_workspaces_that_begin_alike_are_separate() {
    let mut lab = Lab::new(RULES);
    let conversation: &[(&str, &str)] = &[("user", "hello"), ("assistant", "ok"), ("user", "more")];
    lab.ask(&ANTHROPIC, conversation);
    let first = lab.model.last().text();
    assert!(first.contains("Always so."), "{first}");
    lab.ledger("always");
    lab.sandbox.write("other/.clinerules/other.md", "Otherwise.");
    lab.args = vec!["--root".to_owned(), lab.sandbox.path("other").display().to_string()];
    lab.start();
    lab.ask(&ANTHROPIC, conversation);
    let second = lab.model.last().text();
    assert!(second.contains("Otherwise.") && !second.contains("Always so."), "{second}");
}

#[test]
fn the_budget_of_a_workspace_does_not_cut_mandatory_rules() {
    let mut lab = Lab::new(&[]);
    let rule = json!({ "name": "safety", "contents": "Never push to main.", "alwaysEnabled": true });
    lab.sandbox.write("rules.json", &json!({ "remoteGlobalRules": [rule] }).to_string());
    lab.sandbox.remotes(&[("acme", "rules.json")]);
    assert!(lab.sandbox.run(&["remote", "sync"]).status.success());
    for tokens in [0, 1, 20] {
        lab.sandbox.write("repo/rulebook.toml", &format!("budget.tokens = {tokens}\n"));
        lab.start();
        // A message that quotes the rule does not count as the rule.
        lab.ask(&ANTHROPIC, &[("user", &format!("hello {tokens}, void: Never push to main. "))]);
        let seen = lab.model.last().text();
        assert_eq!(seen.matches("Never push to main.").count(), 2, "{seen}");
    }
}
