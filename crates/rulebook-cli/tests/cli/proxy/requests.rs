//! Rules in requests: the right ones on the right turn, and from then on in the same place, byte for byte.

use serde_json::{Value, json};

use super::lab::{ANTHROPIC, CHAT, GEMINI, Lab, RESPONSES, WIRES, Wire};

const RULES: &[(&str, &str)] = &[
    ("always.md", "Always so.\n"),
    ("src.md", "---\npaths: [src/**]\n---\nSource so.\n"),
    ("docs.md", "---\npaths: [docs/**]\n---\nDocs so.\n"),
];

/// How much of the conversation two requests have in common from its start on.
fn shared(first: &str, second: &str) -> usize {
    first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count()
}

/// Sends one conversation after the other; returns what the server saw.
fn bodies(lab: &Lab, wire: &Wire, conversations: &[&[(&str, &str)]]) -> Vec<String> {
    for conversation in conversations {
        lab.ask(wire, &(wire.conversation)(conversation));
    }
    lab.model.seen().iter().map(|seen| seen.text()).collect()
}

#[test]
fn rules_come_on_with_the_turn_and_stay_where_they_came_on() {
    for wire in &WIRES {
        let lab = Lab::new(RULES);
        let bodies = bodies(
            &lab,
            wire,
            &[
                &[("user", "hello")],
                &[("user", "hello"), ("call", "src/a.ts"), ("result", "src/a.ts")],
                &[
                    ("user", "hello"),
                    ("call", "src/a.ts"),
                    ("result", "src/a.ts"),
                    ("said", "done"),
                    ("user", "see docs/x.md"),
                ],
                &[
                    ("user", "hello"),
                    ("call", "src/a.ts"),
                    ("result", "src/a.ts"),
                    ("said", "done"),
                    ("user", "see docs/x.md"),
                    ("said", "yes"),
                    ("user", "and"),
                ],
            ],
        );
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
            // All of the former conversation but the two brackets that close it.
            let tail = &pair[0][shared(&pair[0], &pair[1])..];
            assert_eq!(tail, "]}", "{}:\n{}\n{}", wire.name, pair[0], pair[1]);
        }
        let order = |body: &str| {
            [
                body.find("src/a.ts"),
                body.find("Source so."),
                body.find("done"),
                body.find("docs/x.md"),
                body.find("Docs so."),
            ]
        };
        assert!(order(&bodies[3]).is_sorted(), "{}: {}", wire.name, bodies[3]);
    }
}

#[test]
fn everything_else_in_a_request_stays_as_it_was() {
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
fn what_the_agent_carries_itself_is_not_added() {
    for (at, wire) in WIRES.iter().enumerate() {
        let lab = Lab::new(RULES);
        let said =
            ["<system-reminder>\nContents of x.md:\n\nSource so.\n</system-reminder>", "rule: Source so."]
                [at % 2];
        lab.ask(wire, &(wire.conversation)(&[("user", said), ("said", "k"), ("user", "see src/a.ts")]));
        assert_eq!(lab.model.seen()[0].text().matches("Source so.").count(), 1, "{}", wire.name);
    }
}

#[test]
fn the_shapes_of_claudes_system_texts_are_understood() {
    let lab = Lab::new(RULES);
    let ask = |messages: Value| {
        lab.ask(&ANTHROPIC, &json!({ "model": "m", "tools": [{ "name": "Read" }], "messages": messages }));
        lab.model.seen().last().unwrap().text()
    };
    // As blocks of the user's, as entries of its own, and inside a tool's result.
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
fn cache_marks_stay_and_none_is_added() {
    let lab = Lab::new(RULES);
    let mark = json!({ "type": "ephemeral" });
    let mut body = (ANTHROPIC.conversation)(&[("user", "see src/a.ts")]);
    body["messages"][0]["content"] =
        json!([{ "type": "text", "text": "see src/a.ts", "cache_control": mark }]);
    lab.ask(&ANTHROPIC, &body);
    // The client moves its mark on, and writes the old entry as a text again.
    let mut later = (ANTHROPIC.conversation)(&[("user", "see src/a.ts"), ("said", "ok"), ("user", "go on")]);
    later["messages"][2]["content"] = json!([{ "type": "text", "text": "go on", "cache_control": mark }]);
    lab.ask(&ANTHROPIC, &later);
    let seen = lab.model.seen();
    assert!(seen.iter().all(|seen| seen.text().matches("cache_control").count() == 2));
    let rule = |at: usize| seen[at].json()["messages"][0]["content"][1].clone();
    assert_eq!(rule(0), rule(1));
    assert!(rule(0)["text"].as_str().unwrap().contains("Source so."));
    assert_eq!(seen[0].json()["system"], seen[1].json()["system"]);
}

#[test]
fn a_rule_that_left_the_conversation_is_given_again() {
    let lab = Lab::new(RULES);
    let long: &[(&str, &str)] = &[("user", "hello"), ("call", "src/a.ts"), ("result", "src/a.ts")];
    lab.ask(&CHAT, &(CHAT.conversation)(long));
    lab.ask(
        &CHAT,
        &(CHAT.conversation)(&[
            ("user", "hello"),
            ("said", "a summary"),
            ("user", "go on"),
            ("call", "src/b.ts"),
            ("result", "src/b.ts"),
        ]),
    );
    assert!(lab.model.seen().iter().all(|seen| seen.text().matches("Source so.").count() == 1));
    assert!(lab.ledger("compacted").contains("\"is\":\"delivered\""));
}

#[test]
fn a_conversation_goes_on_where_it_was_when_the_server_starts_again() {
    let mut lab = Lab::new(RULES);
    let first: &[(&str, &str)] = &[("user", "see src/a.ts")];
    let second: &[(&str, &str)] = &[("user", "see src/a.ts"), ("said", "ok"), ("user", "thanks")];
    lab.ask(&RESPONSES, &(RESPONSES.conversation)(first));
    // It is written down beside the answer.
    super::lab::until(|| lab.has_state(), || "the conversation's state".to_owned());
    lab.start();
    lab.ask(&RESPONSES, &(RESPONSES.conversation)(second));
    let seen = lab.model.seen();
    assert!(
        shared(&seen[0].text(), &seen[1].text()) + 4 > seen[0].body.len(),
        "{}\n{}",
        seen[0].text(),
        seen[1].text()
    );
}

#[test]
fn rules_that_change_are_seen() {
    let lab = Lab::new(RULES);
    lab.ask(&GEMINI, &(GEMINI.conversation)(&[("user", "see src/a.ts")]));
    lab.rule("src.md", "---\npaths: [src/**]\n---\nSource anew.\n");
    lab.rule("more.md", "More so.\n");
    let next = (GEMINI.conversation)(&[("user", "see src/a.ts"), ("said", "ok"), ("user", "and src/b.ts")]);
    let is_seen = || {
        lab.ask(&GEMINI, &next);
        lab.model.seen().last().unwrap().text().contains("Source anew.")
    };
    super::lab::until(is_seen, || "the change".to_owned());
    let seen = lab.model.seen();
    let last = seen.last().unwrap().text();
    for text in ["Always so.", "Source so.", "Source anew.", "More so."] {
        assert_eq!(last.matches(text).count(), 1, "{text} in {last}");
    }
    // What stands before the conversation stays, so that a prompt cache keeps it.
    assert_eq!(seen[0].json()["systemInstruction"], seen.last().unwrap().json()["systemInstruction"]);
}

#[test]
fn what_has_no_room_is_listed_once() {
    let large = "Much so. ".repeat(200);
    let rules = [("always.md", large.as_str()), ("src.md", &format!("---\npaths: [src/**]\n---\n{large}so"))];
    for wire in &WIRES {
        let lab = Lab::with(&rules, &["--set", "budget.tokens=200"]);
        let bodies = bodies(
            &lab,
            wire,
            &[
                &[("user", "see src/a.ts")],
                &[("user", "see src/a.ts"), ("said", "ok"), ("user", "and src/b.ts")],
                &[
                    ("user", "see src/a.ts"),
                    ("said", "ok"),
                    ("user", "and src/b.ts"),
                    ("said", "ok"),
                    ("user", "more"),
                ],
            ],
        );
        for body in &bodies {
            let listed = ["- always", "- src (src/**)"].map(|line| body.matches(line).count());
            assert_eq!(listed, [1, 1], "{}: {body}", wire.name);
        }
    }
}

#[test]
fn agents_of_one_session_are_apart() {
    let lab = Lab::new(RULES);
    let ask = |agent: &str, text: &str| {
        let body = (ANTHROPIC.conversation)(&[("user", text), ("said", "ok"), ("user", "go on")]).to_string();
        let head = format!(
            "POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-claude-code-session-id: one\r\nx-claude-code-agent-id: {agent}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        lab.send(head.as_bytes());
    };
    ask("main", "see src/a.ts");
    ask("other", "hello");
    assert_eq!(
        lab.model.seen().iter().map(|seen| seen.text().matches("Source so.").count()).collect::<Vec<_>>(),
        [0, 0]
    );
    let lab = Lab::new(RULES);
    lab.ask(&CHAT, &(CHAT.conversation)(&[("user", "one src/a.ts")]));
    lab.ask(&CHAT, &(CHAT.conversation)(&[("user", "two")]));
    assert_eq!(
        lab.model.seen().iter().map(|seen| seen.text().matches("Source so.").count()).collect::<Vec<_>>(),
        [1, 0]
    );
}

#[test]
fn conversations_of_two_workspaces_that_begin_alike_are_apart() {
    let mut lab = Lab::new(RULES);
    let conversation: &[(&str, &str)] = &[("user", "hello"), ("said", "ok"), ("user", "more")];
    let first = bodies(&lab, &ANTHROPIC, &[conversation]);
    assert!(first[0].contains("Always so."), "{}", first[0]);
    lab.ledger("always");
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(other.path().join(".clinerules")).unwrap();
    std::fs::write(other.path().join(".clinerules/other.md"), "Otherwise.").unwrap();
    lab.args = vec!["--root".to_owned(), other.path().display().to_string()];
    lab.start();
    let second = bodies(&lab, &ANTHROPIC, &[conversation]);
    assert!(second[1].contains("Otherwise.") && !second[1].contains("Always so."), "{}", second[1]);
}

#[test]
fn no_budget_of_a_workspace_cuts_what_nobody_may_switch_off() {
    let mut lab = Lab::new(&[]);
    let document = lab.path().join("rules.json");
    let rule = json!({ "name": "safety", "contents": "Never push to main.", "alwaysEnabled": true });
    std::fs::write(&document, json!({ "remoteGlobalRules": [rule] }).to_string()).unwrap();
    let settings = lab.path().join("home/config/rulebook");
    std::fs::create_dir_all(&settings).unwrap();
    let remote = format!("[[remote]]\nname = \"acme\"\nurl = \"{}\"\n", document.display());
    std::fs::write(settings.join("config.toml"), remote).unwrap();
    assert!(lab.command().args(["remote", "sync"]).output().unwrap().status.success());
    for tokens in [0, 1, 20] {
        std::fs::write(lab.path().join("rulebook.toml"), format!("budget.tokens = {tokens}\n")).unwrap();
        lab.start();
        // Nor is it taken for said because somebody quotes it.
        let quoted = format!("hello {tokens}, void: Never push to main. ");
        let bodies = bodies(&lab, &ANTHROPIC, &[&[("user", &quoted)]]);
        assert_eq!(bodies.last().unwrap().matches("Never push to main.").count(), 2, "{bodies:?}");
    }
}
