//! Playing: which wire a request is on, whether it is the conversation itself, and its answer in the pieces asked for.

use std::io;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Model;
use crate::http::{Connection, Request};
use crate::script::Turn;
use crate::wire::{Event, Said, WIRES, Wire};

/// Answers one request.
pub(crate) fn answer(model: &Model, connection: &mut Connection, request: &Request) -> io::Result<()> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    let wire = WIRES.iter().find(|wire| request.method == "POST" && (wire.is_for)(request.path()));
    let Some(wire) = wire else {
        model.log.write(request, &body, "other", None);
        let (status, answer) = other(request);
        // A question for the head alone gets nothing behind it.
        let answer = if request.method == "HEAD" { String::new() } else { answer.to_string() };
        return connection.answer(status, "application/json", answer.as_bytes());
    };
    // Titles and the like come without tools, and are no part of the script, unless a turn is for them.
    let has_tools = has_tools(&body);
    let (at, turn) = model.script.next(&String::from_utf8_lossy(&request.body), has_tools);
    model.log.write(request, &body, if has_tools || at.is_some() { "main" } else { "side" }, at);
    say(connection, wire, request, &body, &turn)
}

fn has_tools(body: &Value) -> bool {
    body.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty())
}

/// What is asked beside conversations.
fn other(request: &Request) -> (u16, Value) {
    let path = request.path();
    let is_upgrade = request.header("upgrade").is_some_and(|to| to.eq_ignore_ascii_case("websocket"));
    match () {
        () if is_upgrade => (426, json!({ "error": { "message": "there are no websockets here" } })),
        () if path.ends_with("/count_tokens") => (200, json!({ "input_tokens": 1000 })),
        () if path.ends_with(":countTokens") => (200, json!({ "totalTokens": 1000 })),
        () if path.ends_with("/models") => {
            let model = json!({ "id": "scripted", "object": "model", "type": "model", "created": 1, "owned_by": "scripted",
                "name": "models/scripted", "display_name": "scripted" });
            (200, json!({ "object": "list", "data": [model], "models": [model], "has_more": false }))
        }
        () if request.method == "HEAD" || path == "/" => (200, json!({})),
        () => (404, json!({ "error": { "type": "not_found", "message": format!("nothing at {path}") } })),
    }
}

fn say(
    connection: &mut Connection,
    wire: &Wire,
    request: &Request,
    body: &Value,
    turn: &Turn,
) -> io::Result<()> {
    if let Some(status) = turn.status {
        let error = json!({ "type": "error", "error": { "type": "scripted", "code": status, "message": "a scripted error" } });
        return connection.answer(status, "application/json", error.to_string().as_bytes());
    }
    let said = Said::new(body, turn);
    if !(wire.streams)(request.path(), body) {
        sleep(Duration::from_millis(turn.delay));
        if turn.close.is_some() {
            return Err(connection.close());
        }
        return connection.answer(200, "application/json", (wire.whole)(&said).to_string().as_bytes());
    }
    connection.begin_stream()?;
    for (at, event) in (wire.events)(&said).iter().enumerate() {
        if turn.close == Some(at) {
            return Err(connection.close());
        }
        if let Some(stall) = turn.stall.filter(|stall| stall.after == at) {
            sleep(Duration::from_millis(stall.ms));
        }
        send(connection, turn, event)?;
    }
    connection.end_stream()
}

/// One event, in pieces of the size asked for.
fn send(connection: &mut Connection, turn: &Turn, event: &Event) -> io::Result<()> {
    let bytes = event.to_string().into_bytes();
    for piece in bytes.chunks(turn.chunk.unwrap_or(bytes.len()).max(1)) {
        connection.part(piece)?;
        sleep(Duration::from_millis(turn.delay));
    }
    Ok(())
}
