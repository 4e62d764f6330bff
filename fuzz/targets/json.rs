//! Texts of a workspace as JSON, then requests, one per line, each a name and its argument: answers are JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook_json::Book;
use serde_json::Value;

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let Ok(book) = Book::of_texts(lines.next().unwrap_or_default()) else { return };
    let mut session = book.session("agent", "one").ok();
    for line in lines.take(20) {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let answer = match (name, &mut session) {
            ("explain", _) => book.explain(rest),
            ("prompt", _) => book.prompt(rest),
            ("read", _) => book.read(rest),
            ("file", _) => book.file(rest),
            ("check", _) => book.diagnostics(),
            ("turn", Some(session)) => session.turn(rest),
            ("text", Some(session)) => session.text(rest),
            ("think", Some(session)) => session.thinking(rest),
            ("tool", Some(session)) => {
                let (tool, delta) = rest.split_once(' ').unwrap_or((rest, ""));
                session.tool("1", tool, delta)
            }
            ("end", Some(session)) => session.end(),
            ("sent", Some(session)) => session.sent().map(|()| "null".to_owned()),
            _ => continue,
        };
        if let Ok(answer) = answer {
            serde_json::from_str::<Value>(&answer).expect("answers are JSON");
        }
    }
});
