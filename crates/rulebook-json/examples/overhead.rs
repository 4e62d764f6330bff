//! The Rust side of `bench/bindings`: the time of one question and of one delta, with the JSON of request and answer.
//!
//! `overhead ROOT QUESTIONS DELTAS` prints `{"prompt": MICROSECONDS, "explain": MICROSECONDS, "delta": MICROSECONDS}`, each
//! the median. ROOT is a folder, or a file with texts for a book in memory.

#![allow(clippy::unwrap_used, reason = "a program for measuring may fail loudly")]

use std::time::Instant;

use rulebook_json::Book;
use serde_json::{Value, json};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (questions, deltas): (usize, usize) = (words[1].parse().unwrap(), words[2].parse().unwrap());
    let book = match std::fs::read_to_string(&words[0]) {
        Ok(texts) => Book::of_texts(&format!(r#"{{"texts": {texts}}}"#)).unwrap(),
        Err(_) => Book::open(&json!({ "roots": [words[0]], "home": false }).to_string()).unwrap(),
    };
    let request = json!({ "input": { "message": "fix src/part7/a.ts" } });
    let read = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    let prompt = median(questions, || read(book.prompt(&request.to_string()).unwrap()));
    let explain = median(questions, || read(book.explain(&request.to_string()).unwrap()));
    let mut session = book.session("bench", "one").unwrap();
    session.turn(r#"{"message": "fix src/part7/a.ts"}"#).unwrap();
    session.begin().unwrap();
    let delta = median(deltas / 100, || {
        (0..100).map(|_| read(session.text("some text of the answer ").unwrap())).next_back()
    }) / 100.0;
    println!("{}", json!({ "prompt": prompt, "explain": explain, "delta": delta }));
}

/// The median time of a call in microseconds, after a tenth of the calls as warm-up.
fn median<T>(times: usize, mut call: impl FnMut() -> T) -> f64 {
    for _ in 0..times / 10 {
        call();
    }
    let mut found: Vec<f64> = (0..times)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(call());
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    found.sort_by(f64::total_cmp);
    found[times / 2]
}
