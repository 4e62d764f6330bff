//! The interface from outside: questions and answers as JSON texts.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::fs;

use rulebook_json::{Book, ErrorCode};
use serde_json::{Value, json};
use tempfile::TempDir;

const FILES: &[(&str, &str)] = &[
    ("AGENTS.md", "Two spaces."),
    (".clinerules/web.md", "---\npaths: ['web/**']\n---\nUse React."),
    (".rulebook/rules/no-any.md", "---\ncondition: ': any\\b'\nscope: text\n---\nNo any."),
    ("web/a.tsx", ""),
];

fn workspace() -> (TempDir, Book) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in FILES {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let options = json!({ "roots": [folder.path()], "home": false }).to_string();
    let book = Book::open(&options).unwrap();
    (folder, book)
}

fn read(answer: &str) -> Value {
    serde_json::from_str(answer).unwrap()
}

#[test]
fn an_explanation_is_for_the_agents_that_are_asked_for() {
    let (_folder, book) = workspace();
    let answer = read(&book.explain(r#"{"input": {"paths": ["web/a.tsx"]}, "for": "cline"}"#).unwrap());
    let states = |agent: &str| -> Vec<(String, String)> {
        let rules = answer["targets"][0]["agents"][agent]["rules"].as_array().unwrap();
        let text = |rule: &Value, key: &str| rule[key].as_str().unwrap().to_owned();
        rules.iter().map(|rule| (text(rule, "source"), text(rule, "state"))).collect()
    };
    assert_eq!(answer["for"], "cline");
    assert!(states("cline").contains(&(".clinerules/web.md".to_owned(), "native".to_owned())));
}

#[test]
fn a_prompt_has_the_text_and_the_notice() {
    let (_folder, book) = workspace();
    let answer = read(&book.prompt(r#"{"input": {"message": "fix web/a.tsx"}}"#).unwrap());
    assert_eq!(answer["notice"]["rules"][0]["name"], "web");
    assert!(answer["text"].as_str().unwrap().contains("Use React."));
    let cut = read(&book.prompt(r#"{"input": {"message": "fix web/a.tsx"}, "budget": 1}"#).unwrap());
    assert_eq!(cut["applied"], json!([]));
}

#[test]
fn rules_are_read_by_name() {
    let (_folder, book) = workspace();
    assert_eq!(read(&book.read("rule://web").unwrap())["text"], "Use React.");
    assert_eq!(book.read("rule://nosuch").unwrap_err().code, ErrorCode::UnknownRule);
}

#[test]
fn a_session_delivers_once_and_interrupts() {
    let (_folder, book) = workspace();
    let mut session = book.session("my-agent", "one").unwrap();
    assert_eq!(session.text("early").unwrap_err().code, ErrorCode::NoTurn);
    let turn = read(&session.turn(r#"{"message": "fix web/a.tsx"}"#).unwrap());
    assert!(turn["added"].as_str().unwrap().contains("Use React."));
    let shown = read(&session.text("let a").unwrap());
    assert_eq!((&shown["show"], &shown["retry"]), (&json!("let a"), &Value::Null));
    let stopped = read(&session.text(": any = 1").unwrap());
    assert_eq!(stopped["retry"]["rules"], json!(["no-any"]));
    assert_eq!(read(&session.text("let a: unknown").unwrap())["retry"], Value::Null);
    assert_eq!(read(&session.end().unwrap())["retry"], Value::Null);
    session.sent().unwrap();
    assert_eq!(read(&session.turn(r#"{"message": "and web/b.tsx"}"#).unwrap())["added"], "");
    session.compacted();
    let again = read(&session.turn(r#"{"message": "and web/b.tsx"}"#).unwrap());
    assert!(again["added"].as_str().unwrap().contains("Use React."));
}

#[test]
fn bad_requests_are_errors_with_a_code() {
    let (folder, book) = workspace();
    let code = |answer: Result<String, rulebook_json::JsonError>| answer.unwrap_err().code;
    assert_eq!(code(book.explain("[")), ErrorCode::BadRequest);
    assert_eq!(code(book.explain(r#"{"inputs": {}}"#)), ErrorCode::BadRequest);
    assert_eq!(code(book.explain(r#"{"for": "claude", "as": "claude"}"#)), ErrorCode::BadRequest);
    assert_eq!(code(book.explain(r#"{"for": "nosuch"}"#)), ErrorCode::UnknownAgent);
    assert_eq!(code(book.explain(r#"{"input": {"paths": ["/elsewhere/a"]}}"#)), ErrorCode::OutsideRoot);
    let open = |options: Value| Book::open(&options.to_string()).unwrap_err().code;
    assert_eq!(open(json!({ "roots": ["/nosuch/folder"] })), ErrorCode::CannotOpen);
    let settings = json!({ "roots": [folder.path()], "settings": { "budget": { "tokens": "many" } } });
    assert_eq!(open(settings), ErrorCode::BadRequest);
}

#[test]
fn diagnostics_are_those_of_check() {
    let (folder, book) = workspace();
    fs::write(folder.path().join(".clinerules/dead.md"), "---\npaths: ['nosuch/**']\n---\nNever.").unwrap();
    let found = read(&book.diagnostics().unwrap());
    let codes: Vec<&Value> =
        found["diagnostics"].as_array().unwrap().iter().map(|found| &found["code"]).collect();
    assert!(codes.contains(&&json!("dead-glob")), "{codes:?}");
}
