//! Requirements and syntax triggers in streams: decided when the call is complete, before the client gets it.

use super::lab::Lab;
use super::wires::{GO, WIRES};

/// A call of the tool that writes, in two pieces.
fn write(path: &str, text: &str) -> [String; 2] {
    let call = serde_json::json!({ "path": path, "content": text }).to_string();
    let (start, end) = call.split_at(call.len() / 2);
    [start.to_owned(), end.to_owned()]
}

/// Lets the model answer with one call after the other, and asks once. Returns the calls that the client gets, the answer,
/// and how often the model was asked.
fn calls_of(
    rule: &str,
    before: &[(&str, &str)],
    answers: &[(&str, &str)],
) -> Vec<(Vec<String>, String, usize)> {
    let run = |wire| {
        let lab = Lab::new(&[("rule.md", rule)]);
        for (at, (path, text)) in answers.iter().enumerate() {
            let pieces = write(path, text);
            lab.model.streams(&(wire.events)(
                &at.to_string(),
                &[],
                Some(&pieces.each_ref().map(String::as_str)),
            ));
        }
        let answer = lab.ask(wire, &[GO, before].concat());
        ((wire.received)(&answer.events()).1, answer.text(), lab.model.seen().len())
    };
    WIRES.iter().map(run).collect()
}

#[test]
fn a_call_that_a_rule_forbids_is_requested_again() {
    let rule = "---\nforbids: {edit: \"db/**\"}\n---\nLeave the database.\n";
    for (calls, _, asked) in calls_of(rule, &[], &[("db/a.sql", "x"), ("src/a.sql", "x")]) {
        assert_eq!((calls, asked), (vec![write("src/a.sql", "x").concat()], 2));
    }
    for (calls, answer, asked) in calls_of(rule, &[], &[("db/a.sql", "x"); 5]) {
        assert!(answer.contains("the model insists on a call that rule@rulebook refuses"), "{answer}");
        assert_eq!((calls, asked), (Vec::new(), 4));
    }
}

#[test]
fn what_must_come_first_is_refused_once_and_known_from_the_conversation() {
    let rule =
        "---\nrequires: {do: {read: \"docs/api.md\"}, before: {edit: \"api/**\"}}\n---\nRead the contract.\n";
    for (calls, _, asked) in calls_of(rule, &[], &[("api/a", "x"), ("api/a", "x")]) {
        assert_eq!((calls.len(), asked), (1, 2));
    }
    let read = [("call", "docs/api.md"), ("result", "docs/api.md")];
    for (calls, _, asked) in calls_of(rule, &read, &[("api/a", "x")]) {
        assert_eq!((calls.len(), asked), (1, 1));
    }
}

#[test]
fn syntax_triggers_judge_complete_calls() {
    let rule = "---\nast: {language: ts, pattern: \"new Map($$$)\"}\n---\nUse a plain object.\n";
    for (calls, _, asked) in calls_of(rule, &[], &[("a.ts", "x = new Map([1])"), ("a.ts", "x = {}")]) {
        assert_eq!((calls, asked), (vec![write("a.ts", "x = {}").concat()], 2));
    }
    for (calls, _, asked) in calls_of(rule, &[], &[("a.ts", "// new Map()")]) {
        assert_eq!((calls.len(), asked), (1, 1));
    }
}
