//! The agent that sends a request: what it reads by itself, how its client reports errors, and what it tells about its state.

use serde_json::{Value, json};

use super::lab::{Answer, Lab, NO_MAP, post};
use super::wires::{ANTHROPIC, CHAT, GO, WIRES, Wire};

/// Sends a request with a user agent.
fn ask_as(lab: &Lab, agent: &str, wire: &Wire, body: &Value) -> Answer {
    let request = String::from_utf8(post(wire.path, &body.to_string())).unwrap();
    lab.send(request.replacen("\r\n", &format!("\r\nUser-Agent: {agent}\r\n"), 1).as_bytes())
}

#[test]
fn what_an_agent_reads_by_itself_is_not_added() {
    let lab = Lab::new(&[("always.md", "Always so.\n")]);
    lab.sandbox.write("repo/CLAUDE.md", "Claude reads this.\n");
    lab.sandbox.write("repo/GEMINI.md", "Gemini reads this.\n");
    for (agent, wanted) in [
        ("claude-cli/2.1.197 (external, cli)", [1, 0, 0]),
        ("GeminiCLI/0.61.0/m (linux; x64)", [1, 0, 0]),
        ("GeminiCLI-tui/0.61.0/m (linux; x64; terminal)", [1, 0, 0]),
        ("Anthropic/Python 0.71", [1, 1, 1]),
    ] {
        ask_as(&lab, agent, &ANTHROPIC, &(ANTHROPIC.conversation)(&[("user", agent)]));
        let sent = lab.model.last().text();
        let added =
            ["Always so.", "Claude reads this.", "Gemini reads this."].map(|text| sent.matches(text).count());
        assert_eq!(added, wanted, "{agent}: {sent}");
    }
}

#[test]
fn errors_have_the_shape_of_their_wire() {
    let lab = Lab::with(&[NO_MAP], &["--upstream", "http://127.0.0.1:1"]);
    for wire in &WIRES {
        let answer = lab.ask(wire, GO);
        let error = &answer.json()["error"];
        assert!(error["message"].as_str().unwrap().contains("cannot be reached"), "{}", wire.name);
        let shape = match wire.name {
            "anthropic" => answer.json()["type"] == "error" && error["type"] == "api_error",
            "gemini" => error["code"] == 502 && error["status"] == "UNAVAILABLE",
            _ => answer.json().get("type").is_none() && error["type"] == "server_error",
        };
        assert!(shape && answer.status() == 502, "{}: {}", wire.name, answer.text());
    }
}

#[test]
fn a_client_that_never_offers_tools_gets_rules() {
    let lab = Lab::new(&[("always.md", "Always so.\n")]);
    let without_tools = |text: &str| {
        let mut body = (CHAT.conversation)(&[("user", text)]);
        body.as_object_mut().unwrap().remove("tools");
        body
    };
    let has_rule = || lab.model.last().text().contains("Always so.");
    for agent in ["litellm/1.80", "aider/0.86.2"] {
        ask_as(&lab, agent, &CHAT, &without_tools("change it"));
        assert!(has_rule(), "{agent}");
    }
    ask_as(&lab, "codex_cli_rs/0.1", &CHAT, &without_tools("a title"));
    assert!(!has_rule());
    // A client that offers tools asks for a title beside its conversation.
    ask_as(&lab, "other/1.0", &CHAT, &(CHAT.conversation)(GO));
    assert!(has_rule());
    ask_as(&lab, "other/1.0", &CHAT, &without_tools("a title"));
    assert!(!has_rule());
}

#[test]
fn a_client_without_tools_gets_the_rules_of_its_files_and_no_part_of_a_forbidden_answer() {
    let lab = Lab::new(&[("sql.md", "---\npaths: [db/**]\n---\nTables so.\n"), NO_MAP]);
    let files = "I have *added these files to the chat* so you can edit them.\n\ndb/a.sql\n```\nx\n```\n";
    let message = "change it\n\n# *SEARCH/REPLACE block* Rules:\n\n1. The path, like db2/b.sql";
    let mut body = (CHAT.conversation)(&[("user", files), ("assistant", "Ok."), ("user", message)]);
    body["stream"] = json!(true);
    body.as_object_mut().unwrap().remove("tools");
    lab.model.streams(&(CHAT.events)("1", &["db/a.sql\n", "<<<<\n", "m = ", "new M", "ap()"], None));
    lab.model.streams(&(CHAT.events)("2", &["db/a.sql\n", "<<<<\n", "m = {}"], None));
    let answer = ask_as(&lab, "OpenAI/Python 2.20.0", &CHAT, &body);
    assert_eq!((CHAT.received)(&answer.events()).0, "db/a.sql\n<<<<\nm = {}");
    assert_eq!(lab.model.last().text().matches("Tables so.").count(), 1);
}

#[test]
fn the_mode_and_the_open_files_come_from_the_newest_block_of_the_client() {
    let lab = Lab::new(&[
        ("plan.md", "---\nmode: plan\n---\nPlan so.\n"),
        ("src.md", "---\npaths: [src/**]\n---\nSource so.\n"),
    ]);
    let details = |mode: &str| {
        format!(
            "<environment_details>\n# VSCode Open Tabs\nsrc/a.ts\n\n# Current Mode\n{mode} MODE\n</environment_details>"
        )
    };
    let user = |text: &str| json!({ "role": "user", "content": text });
    let ask = |messages: Value| {
        lab.send_json(
            &ANTHROPIC,
            &json!({ "model": "m", "tools": [{ "name": "Read" }], "messages": messages }),
        );
        ["Plan so.", "Source so."].map(|text| lab.model.last().text().contains(text))
    };
    assert_eq!(ask(json!([user(&format!("one\n{}", details("ACT")))])), [false, true]);
    let call = json!({ "role": "assistant", "content": [{ "type": "text", "text": "ok" }] });
    assert_eq!(
        ask(json!([user(&format!("two\n{}", details("ACT"))), call, user(&details("PLAN"))])),
        [true, true]
    );
}

#[test]
fn a_block_that_moves_does_not_start_another_session() {
    let lab = Lab::new(&[("src.md", "---\npaths: [src/**]\n---\nSource so.\n")]);
    let first = |at: u32| format!("<info-msg>\nIt is {at}\n</info-msg>\nsee src/a.ts");
    lab.ask(&CHAT, &[("user", &first(1))]);
    lab.ask(
        &CHAT,
        &[
            ("user", "see src/a.ts"),
            ("assistant", "ok"),
            ("user", &format!("<info-msg>2</info-msg>{}", "go on")),
        ],
    );
    let (first, second) = (lab.model.seen().remove(0).json(), lab.model.last().json());
    assert_eq!(first["messages"][2], second["messages"][2], "{second}");
    assert_eq!(lab.model.last().text().matches("Source so.").count(), 1);
}

#[test]
fn offers_that_the_conversation_lists_already_are_not_listed_again() {
    let lab = Lab::new(&[("db.md", "---\ndescription: How tables are made\n---\nTables so.\n")]);
    lab.ask(&CHAT, GO);
    let sent = lab.model.last().json();
    let system = sent["messages"][0]["content"].as_str().unwrap();
    let (_, offers) = system.split_once("\n\n").unwrap();
    assert_eq!(offers.matches("How tables are made").count(), 1, "{system}");
    // Hooks listed them at the start of the session.
    let first = format!("{offers}\n\nhello");
    for entries in [&[("user", &*first)][..], &[("user", &first), ("assistant", "ok"), ("user", "on")]] {
        lab.ask(&CHAT, entries);
        assert_eq!(lab.model.last().text().matches("How tables are made").count(), 1);
    }
}
