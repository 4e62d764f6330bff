//! The workspaces and the evidence of the spec pages, as cases in the form of `tests/bindings/cases.json`: texts in memory
//! answer as files do. With `RULEBOOK_PAGES=FILE`, writes the cases with their answers, for the tests of the bindings.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly, and reads its pages"
)]

#[allow(dead_code, reason = "shared with the pages' own test")]
#[path = "../../rulebook/tests/page/mod.rs"]
mod page;

use std::fs;
use std::path::Path;

use rulebook_json::Book;
use serde_json::{Value, json};

#[test]
fn texts_in_memory_answer_as_the_files_of_a_page_do() {
    let mut cases: Vec<Value> = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rulebook/tests/spec");
    page::run(&folder, |stage, block| {
        let ("verdicts" | "prompt" | "notice", _) = block.words() else { return None };
        let mut input: Value = serde_json::from_str(&stage.evidence).unwrap();
        // The page's own test assumes this system too.
        input.as_object_mut().unwrap().entry("os").or_insert_with(|| json!("linux"));
        let mut texts = Vec::new();
        collect(&stage.workspace(), "", &mut texts);
        texts.sort_by_key(|file: &Value| file["path"].as_str().map(str::to_owned));
        let request = json!({ "input": input });
        let steps = ["prompt", "explain"].map(|call| json!({ "call": call, "with": [request] }));
        if cases.last().is_none_or(|last| last["texts"] != json!(texts) || last["steps"] != json!(steps)) {
            let answers = answers(&texts, &request.to_string(), &stage.title);
            cases.push(json!({
                "name": stage.title, "texts": texts, "files": [], "settings": {}, "steps": steps, "answers": answers,
            }));
        }
        Some(block.body.clone())
    });
    if let Some(file) = std::env::var_os("RULEBOOK_PAGES") {
        fs::write(file, json!({ "cases": cases }).to_string()).unwrap();
    }
}

/// The text files below a folder. Links and bytes that are not text are left out: a case is JSON.
fn collect(folder: &Path, prefix: &str, found: &mut Vec<Value>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (kind, name) = (entry.file_type().unwrap(), entry.file_name().into_string().unwrap());
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), found);
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            found.push(json!({ "path": path, "text": text }));
        }
    }
}

/// The answers in memory, which are those of the same files on disk.
fn answers(texts: &[Value], request: &str, title: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    for file in texts {
        let path = folder.path().join(file["path"].as_str().unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file["text"].as_str().unwrap()).unwrap();
    }
    let on_disk = Book::open(&json!({ "roots": [folder.path()], "home": false }).to_string()).unwrap();
    let in_memory = Book::of_texts(&json!({ "texts": texts }).to_string()).unwrap();
    let ask = |book: &Book| -> Vec<Value> {
        let answers = [book.prompt(request), book.explain(request)];
        answers.map(|answer| serde_json::from_str(&answer.unwrap()).unwrap()).into()
    };
    let answers = ask(&in_memory);
    assert_eq!(answers, ask(&on_disk), "{title}");
    answers
}
