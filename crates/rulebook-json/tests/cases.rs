//! The table of calls that every binding runs, on the disk and on texts in memory: both give the answers of the table.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::fs;
use std::path::Path;

use rulebook_json::{Book, JsonError, Session};
use serde_json::{Value, json};

const CASES: &str = include_str!("../../../tests/bindings/cases.json");
const ANSWERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/bindings/answers.json");

#[test]
fn texts_in_memory_and_files_on_disk_give_the_answers_of_the_table() {
    let table: Value = serde_json::from_str(CASES).unwrap();
    let mut answers = Vec::new();
    for case in table["cases"].as_array().unwrap() {
        let in_memory = run(&of_texts(case), case);
        let folder = tempfile::tempdir().unwrap();
        let on_disk = run(&on_disk(case, folder.path()), case);
        let name = &case["name"];
        for (at, (memory, disk)) in in_memory.iter().zip(&on_disk).enumerate() {
            assert_eq!(memory, disk, "{name}, step {at}: {}", case["steps"][at]);
        }
        answers.push(json!({ "name": name, "answers": in_memory }));
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(ANSWERS, serde_json::to_string_pretty(&answers).unwrap() + "\n").unwrap();
    }
    // Compared as values: a build of the whole workspace keeps the order of keys, a build of this crate alone sorts them.
    let expected: Value = serde_json::from_str(&fs::read_to_string(ANSWERS).unwrap()).unwrap();
    assert_eq!(expected, Value::Array(answers), "UPDATE=1 rewrites the answers");
}

fn of_texts(case: &Value) -> Book {
    let options = json!({ "texts": case["texts"], "files": case["files"], "settings": case["settings"] });
    Book::of_texts(&options.to_string()).unwrap()
}

fn on_disk(case: &Value, folder: &Path) -> Book {
    let texts = case["texts"].as_array().unwrap().iter();
    let texts = texts.map(|file| (file["path"].as_str().unwrap(), file["text"].as_str().unwrap()));
    let files = case["files"].as_array().unwrap().iter().map(|path| (path.as_str().unwrap(), ""));
    for (path, text) in texts.chain(files) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let options = json!({ "roots": [folder], "home": false, "settings": case["settings"] });
    Book::open(&options.to_string()).unwrap()
}

/// The answers of the steps of a case.
fn run(book: &Book, case: &Value) -> Vec<Value> {
    let mut session: Option<Session> = None;
    let mut answers = Vec::new();
    for step in case["steps"].as_array().unwrap() {
        let with: Vec<String> = step["with"].as_array().unwrap().iter().map(argument).collect();
        let with: Vec<&str> = with.iter().map(String::as_str).collect();
        let nothing = |()| "null".to_owned();
        let (method, of_session) = match step["call"].as_str().unwrap().split_once('.') {
            Some((_, method)) => (method, session.as_mut()),
            None => (step["call"].as_str().unwrap(), None),
        };
        let answer = match (method, with.as_slice(), of_session) {
            ("explain", [request], _) => book.explain(request),
            ("prompt", [request], _) => book.prompt(request),
            ("read", [name], _) => book.read(name),
            ("file", [path], _) => book.file(path),
            ("diagnostics", [], _) => book.diagnostics(),
            ("session", [agent, id], _) => book.session(agent, id).map(|opened| {
                session = Some(opened);
                "null".to_owned()
            }),
            ("turn", [input], Some(session)) => session.turn(input),
            ("text", [delta], Some(session)) => session.text(delta),
            ("thinking", [delta], Some(session)) => session.thinking(delta),
            ("tool", [id, name, delta], Some(session)) => session.tool(id, name, delta),
            ("end", [], Some(session)) => session.end(),
            ("sent", [], Some(session)) => session.sent().map(nothing),
            ("compacted", [], Some(session)) => {
                session.compacted();
                Ok("null".to_owned())
            }
            _ => panic!("unknown step {step}"),
        };
        answers.push(read(answer));
    }
    answers
}

/// A text as it is, a request as JSON.
fn argument(argument: &Value) -> String {
    argument.as_str().map_or_else(|| argument.to_string(), str::to_owned)
}

fn read(answer: Result<String, JsonError>) -> Value {
    match answer {
        Ok(answer) => serde_json::from_str(&answer).unwrap(),
        Err(error) => json!({ "error": error.code.name() }),
    }
}
