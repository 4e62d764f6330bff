//! Requirements, the guard and syntax triggers in streams: decided when a call is complete, before the client gets it.

use serde_json::{Value, json};

use super::lab::Lab;
use super::wires::{GO, WIRES, Wire};
use crate::sandbox::stdout;

/// A call of the tool that writes, in two pieces.
fn write(path: &str, text: &str) -> [String; 2] {
    let call = json!({ "path": path, "content": text }).to_string();
    let (start, end) = call.split_at(call.len() / 2);
    [start.to_owned(), end.to_owned()]
}

/// What the client gets: the text, the arguments of the calls, the whole answer, and how often the model was asked.
struct Got {
    text: String,
    calls: Vec<String>,
    whole: String,
    asked: usize,
}

/// Lets the model write one file after the other, or only talk (an empty path), and asks once.
fn ask(lab: &Lab, wire: &Wire, entries: &[(&str, &str)], answers: &[(&str, &str)]) -> Got {
    let before = lab.model.seen().len();
    for (at, (path, text)) in answers.iter().enumerate() {
        let pieces = write(path, text);
        let id = format!("{before}-{at}");
        lab.model.streams(&match path.is_empty() {
            true => (wire.events)(&id, &[text], None),
            false => (wire.events)(&id, &[], Some(&pieces.each_ref().map(String::as_str))),
        });
    }
    let answer = lab.ask(wire, &[GO, entries].concat());
    let (text, calls) = (wire.received)(&answer.events());
    Got { text, calls, whole: answer.text(), asked: lab.model.seen().len() - before }
}

/// The same in a new lab, for each wire.
fn on_all_wires(rule: &str, entries: &[(&str, &str)], answers: &[(&str, &str)], check: impl Fn(Got, &Lab)) {
    for wire in &WIRES {
        let lab = Lab::new(&[("rule.md", rule)]);
        check(ask(&lab, wire, entries, answers), &lab);
    }
}

/// The requirements of the session, as `explain --session` shows them.
fn states(lab: &Lab) -> Vec<(String, String)> {
    let explained = lab.sandbox.json(&["explain", "--session", "s1"]);
    let states = explained["sessions"][0]["requirements"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    states.iter().map(|state| (text(&state["state"]), text(&state["by"]))).collect()
}

const READ_FIRST: &str =
    "---\nrequires: {do: {read: \"docs/api.md\"}, before: {edit: \"api/**\"}}\n---\nRead the contract.\n";

#[test]
fn a_call_that_a_rule_forbids_is_requested_again() {
    let rule = "---\nforbids: {edit: \"db/**\"}\n---\nLeave the database.\n";
    on_all_wires(rule, &[], &[("db/a.sql", "x"), ("src/a.sql", "x")], |got, lab| {
        assert_eq!((got.calls, got.asked), (vec![write("src/a.sql", "x").concat()], 2));
        assert!(lab.model.last().text().contains("Leave the database."));
    });
    on_all_wires(rule, &[], &[("db/a.sql", "x"); 5], |got, _| {
        let why = "rule@rulebook refuses this call, and the model made it 4 times";
        assert!(got.whole.contains(why), "{}", got.whole);
        assert_eq!((got.calls, got.asked), (Vec::new(), 4));
    });
}

#[test]
fn what_must_come_first_is_refused_once_and_known_from_the_conversation() {
    on_all_wires(READ_FIRST, &[], &[("api/a", "x"), ("api/a", "x")], |got, lab| {
        assert_eq!((got.calls.len(), got.asked), (1, 2));
        lab.ledger("broken");
        assert_eq!(states(lab), [("broken".to_owned(), "api/a".to_owned())]);
        lab.until_logged("violates the rule `rule`");
    });
    let read = [("call", "docs/api.md"), ("result", "docs/api.md")];
    on_all_wires(READ_FIRST, &read, &[("api/a", "x")], |got, lab| {
        assert_eq!((got.calls.len(), got.asked), (1, 1));
        lab.ledger("docs/api.md");
        assert_eq!(states(lab)[0].0, "met");
    });
    // A call that failed does not count.
    let failed = [("call", "docs/api.md"), ("failed", "docs/api.md")];
    on_all_wires(READ_FIRST, &failed, &[("api/a", "x"), ("src/a", "x")], |got, _| assert_eq!(got.asked, 2));
}

#[test]
fn calls_made_in_parallel_do_not_precede_each_other() {
    let rule = "---\nrequires: {do: {read: \"b\"}, after: {read: \"a\"}, before: {edit: \"api/**\"}}\n---\nRead b.\n";
    let in_turn = [("call", "a"), ("result", "a"), ("call", "b"), ("result", "b")];
    on_all_wires(rule, &in_turn, &[("api/a", "x")], |got, _| assert_eq!(got.asked, 1));
    let parallel = [("call", "a"), ("call", "b"), ("result", "a"), ("result", "b")];
    on_all_wires(rule, &parallel, &[("api/a", "x"), ("src/a", "x")], |got, _| assert_eq!(got.asked, 2));
}

#[test]
fn a_requirement_refuses_once_per_due_period_across_requests() {
    for wire in &WIRES {
        let lab = Lab::new(&[(
            "rule.md",
            "---\nrequires: {do: {read: \"b\"}, after: {read: \"a\"}, before: {edit: \"api/**\"}}\n---\nRead b.\n",
        )]);
        let mut entries = vec![("call", "a"), ("result", "a")];
        let asked =
            |entries: &[(&str, &str)], answers: &[(&str, &str)]| ask(&lab, wire, entries, answers).asked;
        assert_eq!(asked(&entries, &[("api/a", "x"), ("src/a", "x")]), 2, "{}", wire.name);
        // The same period.
        entries.extend([("call", "src/a"), ("result", "src/a")]);
        assert_eq!(asked(&entries, &[("api/a", "x")]), 1, "{}", wire.name);
        entries.extend([("call", "api/a"), ("result", "api/a"), ("call", "b"), ("result", "b")]);
        assert_eq!(asked(&entries, &[("api/a", "x")]), 1, "{}", wire.name);
        // Another one: even if the client shortened the conversation.
        let entries = [("user", "summary"), ("call", "a"), ("result", "a")];
        let entries = if wire.name == "gemini" { &entries[1..] } else { &entries[..] };
        assert_eq!(asked(entries, &[("api/a", "x"), ("src/a", "x")]), 2, "{}", wire.name);
    }
}

#[test]
fn a_turn_does_not_end_before_what_is_required() {
    let rule = "---\nrequires: {do: {read: \"report\"}, after: {read: \"a\"}, before: stop}\n---\nRead the report.\n";
    let entries = [("call", "a"), ("result", "a")];
    on_all_wires(rule, &entries, &[("", "Done."), ("report", "x")], |got, lab| {
        assert_eq!((got.calls.len(), got.asked), (1, 2), "{}", got.whole);
        assert!(got.text.starts_with("Done."), "{}", got.text);
        // The model knows what it said.
        let again = lab.model.last().text();
        assert!(again.find("Done.") < again.rfind("Read the report."), "{again}");
    });
    on_all_wires(rule, &entries, &[("", "Done."), ("", "Really.")], |got, lab| {
        assert_eq!(got.asked, 2);
        assert!(got.text.contains("Really."), "{}", got.text);
        lab.ledger("broken");
        assert_eq!(states(lab), [("broken".to_owned(), "stop".to_owned())]);
    });
    on_all_wires(rule, &[], &[("", "Done.")], |got, _| assert_eq!(got.asked, 1));
}

#[test]
fn a_call_without_arguments_is_checked() {
    let rule = "---\nforbids: {tool: \"write\"}\n---\nDo not write.\n";
    for wire in WIRES.iter().filter(|wire| wire.name != "gemini") {
        let lab = Lab::new(&[("rule.md", rule)]);
        lab.model.streams(&(wire.events)("1", &[], Some(&[])));
        lab.model.streams(&(wire.events)("2", &["Fine."], None));
        lab.ask(wire, GO);
        assert_eq!(lab.model.seen().len(), 2, "{}", wire.name);
    }
}

#[test]
fn whole_answers_are_checked_too() {
    for wire in &WIRES {
        let lab = Lab::new(&[("rule.md", READ_FIRST)]);
        for path in ["api/a", "src/a"] {
            lab.model.returns(&(wire.whole)("", Some(&write(path, "x").concat())));
        }
        let answer = lab.ask(wire, GO);
        assert!(answer.text().contains("src/a") && !answer.text().contains("api/a"), "{}", answer.text());
    }
}

#[test]
fn the_guard_stops_calls_before_the_client_gets_them() {
    for wire in &WIRES {
        let mut lab = Lab::new(&[]);
        assert!(lab.sandbox.run(&["guard", "on"]).status.success());
        lab.start();
        let got = ask(&lab, wire, &[], &[(".rulebook/rules/a.md", "x"), ("src/a", "x")]);
        assert_eq!((got.calls, got.asked), (vec![write("src/a", "x").concat()], 2), "{}", wire.name);
        assert!(lab.model.last().text().contains("Rulebook's guard is on"));
    }
}

#[test]
fn hooks_and_proxy_of_one_session_refuse_once_together() {
    for wire in &WIRES {
        let lab = Lab::new(&[("rule.md", READ_FIRST)]);
        let hook = |moment: &str, path: &str| {
            let event = json!({ "session_id": "s1", "hook_event_name": moment, "cwd": lab.sandbox.path("repo"),
                "tool_name": "write", "tool_input": { "path": path, "content": "x" }, "tool_response": {} });
            stdout(&lab.sandbox.hook("claude", &event))
        };
        assert_eq!(ask(&lab, wire, &[], &[("api/a", "x"), ("api/a", "x")]).asked, 2, "{}", wire.name);
        // The proxy refused it once: the hook lets it run, and does not count it again.
        let answer = hook("PreToolUse", "api/a");
        assert!(!answer.contains("deny") && !answer.contains("violates"), "{}: {answer}", wire.name);
        hook("PostToolUse", "api/a");
        let explained = lab.sandbox.json(&["explain", "--session", "s1"]);
        let sessions = explained["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), 2);
        for session in sessions {
            let state = &session["requirements"][0];
            assert_eq!((&state["state"], &state["refusals"]), (&json!("broken"), &json!(1)), "{session}");
        }
        let broken = |session: &Value| {
            session["facts"].as_array().unwrap().iter().filter(|fact| fact["action"] == "broken").count()
        };
        assert_eq!(sessions.iter().map(broken).sum::<usize>(), 1);
    }
}

#[test]
fn a_restarted_proxy_knows_what_was_refused() {
    let mut lab = Lab::new(&[("rule.md", READ_FIRST)]);
    let wire = &WIRES[0];
    assert_eq!(ask(&lab, wire, &[], &[("api/a", "x"), ("src/a", "x")]).asked, 2);
    lab.ledger("refuse");
    lab.start();
    let entries = [("call", "src/a"), ("result", "src/a")];
    assert_eq!(ask(&lab, wire, &entries, &[("api/a", "x")]).asked, 1);
}

#[test]
fn sub_agents_share_the_state_of_their_session() {
    let lab = Lab::new(&[("rule.md", READ_FIRST)]);
    let wire = &WIRES[0];
    let ask = |agent: &str, entries: &[(&str, &str)], answers: &[&str]| {
        let before = lab.model.seen().len();
        for path in answers {
            let pieces = write(path, "x");
            lab.model.streams(&(wire.events)(path, &[], Some(&pieces.each_ref().map(String::as_str))));
        }
        let body = (wire.conversation)(&[&[("user", agent)], entries].concat()).to_string();
        lab.send(format!("POST {} HTTP/1.1\r\nhost: localhost\r\nx-session-id: s1\r\nx-agent-id: {agent}\r\ncontent-length: {}\r\n\r\n{body}", wire.path, body.len()).as_bytes());
        lab.model.seen().len() - before
    };
    assert_eq!(ask("one", &[], &["api/a", "src/a"]), 2);
    // The other agent was not refused yet, but the session was.
    assert_eq!(ask("two", &[], &["api/b"]), 1);
    // What one agent read, the session read: nothing is broken any more.
    assert_eq!(ask("one", &[("call", "docs/api.md"), ("result", "docs/api.md")], &["src/a"]), 1);
    assert_eq!(ask("three", &[], &["api/c"]), 1);
    lab.ledger("api/b");
    assert_eq!(lab.ledger("docs/api.md").matches("\"broken\"").count(), 1);
}

#[test]
fn questions_are_left_to_hooks_that_can_ask() {
    let wire = &WIRES[0];
    let mut lab = Lab::new(&[]);
    assert!(lab.sandbox.run(&["guard", "on"]).status.success());
    let ask = |lab: &Lab, paths: &[&str]| {
        let before = lab.model.seen().len();
        for path in paths {
            let pieces = write(path, "x");
            lab.model.streams(&(wire.events)(path, &[], Some(&pieces.each_ref().map(String::as_str))));
        }
        let body = (wire.conversation)(GO).to_string();
        lab.send(format!("POST {} HTTP/1.1\r\nhost: localhost\r\nuser-agent: claude-cli/2.1.197\r\ncontent-length: {}\r\n\r\n{body}", wire.path, body.len()).as_bytes());
        lab.model.seen().len() - before
    };
    lab.start();
    assert_eq!(ask(&lab, &["AGENTS.md", "src/a"]), 2);
    assert!(lab.sandbox.run(&["install", "claude"]).status.success());
    lab.start();
    assert_eq!(ask(&lab, &["AGENTS.md"]), 1);
    assert!(lab.sandbox.run(&["guard", "on", "--refuse"]).status.success());
    lab.start();
    assert_eq!(ask(&lab, &["AGENTS.md", "src/a"]), 2);
}

/// A call reaches the hooks of the client only after the proxy let it through.
#[test]
fn hooks_know_what_the_proxy_stopped() {
    let rule = "---\ncondition: FORBIDDEN\nscope: tool\n---\nNever.\n";
    on_all_wires(rule, &[], &[("a", "FORBIDDEN"); 4], |got, lab| {
        assert_eq!((got.calls.len(), got.asked), (1, 4));
        let hook = |session: &str, event: &str, content: &str| {
            let input = json!({ "file_path": "a", "content": content });
            let event = json!({ "session_id": session, "hook_event_name": event, "cwd": lab.sandbox.path("repo"), "tool_name": "Write", "tool_input": input });
            stdout(&lab.sandbox.hook("claude", &event))
        };
        let ledger = lab.ledger("remind");
        assert_eq!(hook("s1", "PreToolUse", "FORBIDDEN"), "", "{ledger}");
        assert_eq!(hook("s1", "PostToolUse", "FORBIDDEN"), "");
        assert!(hook("s2", "PreToolUse", "FORBIDDEN").contains("Never."));
        let shown = stdout(&lab.sandbox.run(&["explain", "--session", "s1"]));
        assert!(shown.contains("the rule is in the context already"), "{shown}");
    });
}

#[test]
fn syntax_triggers_judge_complete_calls() {
    let rule = "---\nast: {language: ts, pattern: \"new Map($$$)\"}\n---\nUse a plain object.\n";
    on_all_wires(rule, &[], &[("a.ts", "x = new Map([1])"), ("a.ts", "x = {}")], |got, _| {
        assert_eq!((got.calls, got.asked), (vec![write("a.ts", "x = {}").concat()], 2));
    });
    on_all_wires(rule, &[], &[("a.ts", "// new Map()")], |got, _| {
        assert_eq!((got.calls.len(), got.asked), (1, 1));
    });
}
