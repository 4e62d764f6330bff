//! The scripted model, spoken to over loopback on every wire.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

struct Model {
    process: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Model {
    fn playing(script: &Value) -> Model {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script.json"), script.to_string()).unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_scripted-model"))
            .args(["--script", "script.json", "--log", "log.jsonl"])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Model { process, port: line.trim().parse().unwrap(), folder }
    }

    /// The whole answer, its head too, to one request on a connection of its own.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let len = body.len();
        let request =
            format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {len}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&unchunked(&answer)).into_owned()
    }

    fn post(&self, path: &str, body: &Value) -> String {
        self.ask("POST", path, "", &body.to_string())
    }

    fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("log.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// An answer without the framing of its parts.
fn unchunked(answer: &[u8]) -> Vec<u8> {
    let at = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(answer.len() - 4) + 4;
    let (head, mut rest) = answer.split_at(at);
    let mut whole = head.to_vec();
    if !String::from_utf8_lossy(head).contains("chunked") {
        whole.extend_from_slice(rest);
        return whole;
    }
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let size = usize::from_str_radix(String::from_utf8_lossy(&rest[..end]).trim(), 16).unwrap();
        whole.extend_from_slice(&rest[end + 1..end + 1 + size]);
        rest = &rest[end + 3 + size..];
    }
    whole
}

/// Every text in the answer's JSON below one of these keys, joined.
fn said(answer: &str, keys: &[&str]) -> String {
    fn gather(value: &Value, keys: &[&str], into: &mut String) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    match value.as_str().filter(|_| keys.contains(&key.as_str())) {
                        Some(text) => into.push_str(text),
                        None => gather(value, keys, into),
                    }
                }
            }
            Value::Array(list) => list.iter().for_each(|value| gather(value, keys, into)),
            _ => {}
        }
    }
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let mut text = String::new();
    for line in body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line)) {
        if let Ok(value) = serde_json::from_str(line) {
            gather(&value, keys, &mut text);
        }
    }
    text
}

const WIRES: &[(&str, &str, &[&str])] = &[
    ("/v1/messages?beta=true", "/v1/messages", &["text", "partial_json"]),
    ("/v1/chat/completions", "/v1/chat/completions", &["content", "arguments"]),
    ("/v1/responses", "/v1/responses", &["delta"]),
    ("/v1beta/models/x:streamGenerateContent?alt=sse", "/v1beta/models/x:generateContent", &["text", "path"]),
];

#[test]
fn a_turn_is_said_on_every_wire_in_any_pieces_and_whole() {
    let turn = |chunk: Value| {
        json!({ "text": "grüße, world", "calls": [{ "name": "read", "arguments": { "path": "a.ts" } }],
            "delta": 3, "chunk": chunk })
    };
    for (streamed, whole, keys) in WIRES {
        let model = Model::playing(&json!([turn(json!(1)), turn(json!(null)), turn(json!(null))]));
        let body = json!({ "model": "m", "stream": true, "tools": [{}] });
        let (small, large) = (model.post(streamed, &body), model.post(streamed, &body));
        let text = said(&small, keys);
        assert!(text.starts_with("grüße, world"), "{streamed}: {text}");
        assert!(text.contains("a.ts"), "{streamed}: {text}");
        assert_eq!(text, said(&large, keys), "{streamed}");
        let body = json!({ "model": "m", "tools": [{}] });
        let answer = model.post(whole, &body);
        assert!(answer.contains("grüße, world") && answer.contains("a.ts"), "{whole}: {answer}");
    }
}

#[test]
fn side_requests_take_no_turn_and_a_turn_may_wait_for_its_request() {
    let model = Model::playing(&json!([{ "when": "later", "text": "third" }, { "text": "first" }]));
    let say = |content: &str, tools: Value| {
        model.post(
            "/v1/messages",
            &json!({ "tools": tools, "messages": [{ "role": "user", "content": content }] }),
        )
    };
    assert!(say("a title, please", json!([])).contains("A title"));
    assert!(say("now", json!([{}])).contains("first"));
    assert!(say("and later", json!([{}])).contains("third"));
    assert!(say("still", json!([{}])).contains("All done."));
    let log = model.log();
    let roles: Vec<(&str, Option<u64>)> =
        log.iter().map(|line| (line["role"].as_str().unwrap(), line["turn"].as_u64())).collect();
    assert_eq!(roles, [("side", None), ("main", Some(1)), ("main", Some(0)), ("main", None)]);
}

#[test]
fn faults_are_played_as_written() {
    let model = Model::playing(&json!([
        { "status": 529 }, { "text": "cut short here", "close": 2 }, { "text": "slow", "stall": { "after": 1, "ms": 30 } },
    ]));
    let body = json!({ "stream": true, "tools": [{}] });
    assert!(model.post("/v1/messages", &body).starts_with("HTTP/1.1 529"));
    let cut = model.post("/v1/messages", &body);
    assert!(cut.contains("content_block_start") && !cut.contains("text_delta"), "{cut}");
    assert!(model.post("/v1/messages", &body).contains("message_stop"));
}

#[test]
fn what_clients_ask_beside_is_answered_and_secrets_are_not_written_down() {
    let model = Model::playing(&json!([]));
    let secret = "authorization: Bearer s3cret\r\nx-api-key: s3cret\r\n";
    let check = |method: &str, path: &str, headers: &str, status: u16| {
        let answer = model.ask(method, path, headers, "");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path}: {answer}");
    };
    check("HEAD", "/", "", 200);
    check("GET", "/v1/models?key=s3cret", secret, 200);
    check("GET", "/v1/responses", "upgrade: websocket\r\n", 426);
    check("POST", "/v1/messages/count_tokens", "", 200);
    check("POST", "/v1beta/models/x:countTokens", "", 200);
    check("GET", "/nowhere", "", 404);
    let log = model.log();
    assert_eq!(log.len(), 6);
    assert!(!format!("{log:?}").contains("s3cret"), "{log:?}");
}
