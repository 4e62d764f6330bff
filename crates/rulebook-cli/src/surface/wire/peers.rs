//! Compares what is read with what clients read: damaged messages of every wire, with the answers of Node and Python.

use rulebook::evidence::json;
use serde_json::Value;

use super::Json;

/// Each line: the letters of the texts in a message, or `-` if neither Node nor Python reads it, and the message.
/// Written by `scripts/json.mjs`.
const PEERS: &str = include_str!("../../../tests/json/peers.tsv");

fn texts<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| texts(item, found)),
        _ => {}
    }
}

/// A value in the form of the answers.
fn answer(value: Option<&Value>) -> String {
    let Some(value) = value else { return "-".to_owned() };
    let mut found = Vec::new();
    texts(value, &mut found);
    let letters = |text: &&str| text.chars().filter(char::is_ascii_alphabetic).collect::<String>();
    let mut found: Vec<String> = found.iter().map(letters).collect();
    found.sort();
    format!("={}", found.join(","))
}

#[test]
fn messages_are_read_as_node_and_python_read_them() {
    let mut read = 0;
    for line in PEERS.lines() {
        let (wanted, message) = line.split_once('\t').unwrap();
        let message: String = serde_json::from_str(message).unwrap();
        let bytes: Vec<u8> = message.chars().map(|c| u8::try_from(c).unwrap()).collect();
        let event = Json::read(&bytes).as_ref().map(Value::from);
        assert_eq!(answer(event.as_ref()), wanted, "an event: {message}");
        // Hooks and requests are read by the other form of the same reader.
        assert_eq!(answer(json::read(&bytes).ok().as_ref()), wanted, "a hook or a request: {message}");
        read += usize::from(wanted != "-");
    }
    assert!(read > 500, "{read} messages are JSON");
}
