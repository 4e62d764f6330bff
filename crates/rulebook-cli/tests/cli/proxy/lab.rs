//! A model's server that does what a test says, a client that sees every byte, and the proxy between them.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// One step of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Do {
    /// These bytes, as they are.
    Write(Vec<u8>),
    /// A piece of a chunked body.
    Chunk(Vec<u8>),
    /// Waits until the test says go.
    Wait,
    /// Waits until the other side is gone, and notes when.
    UntilGone,
    /// Ends the connection in the middle.
    Close,
}

/// What came to the server.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A model's server.
pub(crate) struct Model {
    pub(crate) port: u16,
    answers: Arc<Mutex<VecDeque<Vec<Do>>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    gone: Arc<Mutex<Option<Instant>>>,
    go: mpsc::Sender<()>,
}

impl Model {
    pub(crate) fn new() -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (go, gates) = mpsc::channel();
        let model = Model { port, answers: Arc::default(), seen: Arc::default(), gone: Arc::default(), go };
        let (answers, seen, gone, gates) = (
            Arc::clone(&model.answers),
            Arc::clone(&model.seen),
            Arc::clone(&model.gone),
            Arc::new(Mutex::new(gates)),
        );
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, seen, gone, gates) =
                    (Arc::clone(&answers), Arc::clone(&seen), Arc::clone(&gone), Arc::clone(&gates));
                thread::spawn(move || serve(stream, &answers, &seen, &gone, &gates));
            }
        });
        model
    }

    /// The next request is answered so.
    pub(crate) fn answers(&self, steps: Vec<Do>) -> &Model {
        self.answers.lock().unwrap().push_back(steps);
        self
    }

    /// The next request is answered with these events, each in a chunk of its own.
    pub(crate) fn says(&self, events: &[String]) -> &Model {
        let mut steps = vec![Do::Write(SSE.to_vec())];
        steps.extend(events.iter().map(|event| Do::Chunk(event.clone().into_bytes())));
        steps.push(Do::Chunk(Vec::new()));
        self.answers(steps)
    }

    /// The next request is answered with one value.
    pub(crate) fn tells(&self, value: &Value) -> &Model {
        self.answers(vec![Do::Write(response(
            "200 OK",
            "content-type: application/json\r\n",
            &value.to_string(),
        ))])
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Goes on where an answer waits.
    pub(crate) fn go(&self) {
        self.go.send(()).unwrap();
    }

    pub(crate) fn gone(&self) -> Option<Instant> {
        *self.gone.lock().unwrap()
    }
}

pub(crate) const SSE: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

pub(crate) fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn serve(
    stream: TcpStream,
    answers: &Mutex<VecDeque<Vec<Do>>>,
    seen: &Mutex<Vec<Seen>>,
    gone: &Mutex<Option<Instant>>,
    gates: &Mutex<mpsc::Receiver<()>>,
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    writer.set_nodelay(true).unwrap();
    while let Some((head, body)) = read_message(&mut reader) {
        seen.lock().unwrap().push(Seen { head, body });
        let steps = answers.lock().unwrap().pop_front();
        let steps = steps.unwrap_or_else(|| vec![Do::Write(response("200 OK", "x-Echo: yes\r\n", "plain"))]);
        for step in steps {
            let is_fine = match step {
                Do::Write(bytes) => writer.write_all(&bytes).is_ok(),
                Do::Chunk(bytes) => {
                    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                    chunk.extend(bytes);
                    chunk.extend(b"\r\n");
                    writer.write_all(&chunk).is_ok()
                }
                Do::Wait => gates.lock().unwrap().recv().is_ok(),
                Do::UntilGone => {
                    let _ = reader.read(&mut [0; 1]);
                    *gone.lock().unwrap() = Some(Instant::now());
                    false
                }
                Do::Close => false,
            };
            if !is_fine {
                let _ = writer.shutdown(std::net::Shutdown::Both);
                return;
            }
        }
    }
}

/// A head and a body, whatever tells its length.
fn read_message(reader: &mut impl std::io::BufRead) -> Option<(String, Vec<u8>)> {
    let head = read_head(reader)?;
    let mut body = Vec::new();
    if let Some(len) = header(&head, "content-length") {
        body.resize(len.parse().ok()?, 0);
        reader.read_exact(&mut body).ok()?;
    } else if header(&head, "transfer-encoding").is_some() {
        while let Some(chunk) = read_chunk(reader)? {
            body.extend(chunk);
        }
    }
    Some((head, body))
}

fn read_head(reader: &mut impl std::io::BufRead) -> Option<String> {
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            return Some(head);
        }
        head.push_str(&line);
    }
}

/// The next chunk; the inner nothing is the end.
fn read_chunk(reader: &mut impl std::io::BufRead) -> Option<Option<Vec<u8>>> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let len = usize::from_str_radix(line.trim(), 16).ok()?;
    let mut chunk = vec![0; len + 2];
    reader.read_exact(&mut chunk).ok()?;
    chunk.truncate(len);
    Some((len > 0).then_some(chunk))
}

pub(crate) fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, v)| v.trim())
}

/// A workspace, a model's server, and the proxy between it and a client.
pub(crate) struct Lab {
    pub(crate) model: Model,
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    child: Option<Child>,
    log: Arc<Mutex<String>>,
    pub(crate) args: Vec<String>,
}

impl Lab {
    /// A workspace with these rule files below `.rulebook/rules`.
    pub(crate) fn new(rules: &[(&str, &str)]) -> Lab {
        Lab::with(rules, &[])
    }

    pub(crate) fn with(rules: &[(&str, &str)], args: &[&str]) -> Lab {
        let folder = tempfile::tempdir().unwrap();
        for made in [".git", "home", "src", ".rulebook/rules"] {
            fs::create_dir_all(folder.path().join(made)).unwrap();
        }
        fs::write(folder.path().join("src/a.ts"), "x").unwrap();
        let model = Model::new();
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let mut lab = Lab { model, folder, port: 0, child: None, log: Arc::default(), args };
        rules.iter().for_each(|(name, text)| lab.rule(name, text));
        lab.start();
        lab
    }

    /// Writes a rule file.
    pub(crate) fn rule(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(".rulebook/rules").join(name), text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The proxy as a command, in its own home.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rulebook"));
        let home = self.path().join("home");
        command.current_dir(self.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &home);
        // An authority of the test's own, where it has one.
        let authority = home.join("authority.pem");
        if authority.exists() {
            command.env("SSL_CERT_FILE", authority);
        }
        command.env("XDG_STATE_HOME", home.join("state")).env("XDG_CONFIG_HOME", home.join("config"));
        command
    }

    /// Starts the proxy, or starts it again.
    pub(crate) fn start(&mut self) {
        self.stop();
        let mut child = self
            .command()
            .args(["proxy", "--json", "--upstream", &format!("http://127.0.0.1:{}", self.model.port)])
            .args(&self.args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        self.port = line.trim().rsplit(':').next().unwrap().split('/').next().unwrap().parse().expect(&line);
        let (log, errors) = (Arc::clone(&self.log), child.stderr.take().unwrap());
        thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                log.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        self.child = Some(child);
    }

    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Asks the process to end, as a system does.
    pub(crate) fn terminate(&self) {
        Command::new("kill").arg(self.pid().to_string()).status().unwrap();
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.take().unwrap().wait().unwrap().code()
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log has a text.
    pub(crate) fn until_logged(&self, text: &str) {
        until(|| self.log().contains(text), || format!("{text} in {}", self.log()));
    }

    /// The files of sessions.
    fn state(&self) -> Vec<PathBuf> {
        let folder = self.path().join("home/state/rulebook/sessions/proxy");
        let inside =
            |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        inside(folder).flat_map(inside).collect()
    }

    /// Whether it is written down where a conversation stands.
    pub(crate) fn has_state(&self) -> bool {
        self.conversation().is_some()
    }

    /// The file in which that is written down.
    pub(crate) fn conversation(&self) -> Option<PathBuf> {
        self.state().into_iter().find(|file| file.extension().is_some_and(|ending| ending == "json"))
    }

    /// What the session's ledger says, once it says this.
    pub(crate) fn ledger(&self, text: &str) -> String {
        let read = || {
            let ledgers =
                self.state().into_iter().filter(|file| file.extension().is_some_and(|e| e == "jsonl"));
            ledgers.filter_map(|file| fs::read_to_string(file).ok()).collect::<String>()
        };
        until(|| read().contains(text), || format!("{text} in {}", read()));
        read()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes and reads the answer.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        read_answer(stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes())
    }

    /// Posts JSON as a client with a session does.
    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.send(&post(path, body))
    }

    /// Asks a wire, and leaves the answer to be read.
    pub(crate) fn begin(&self, wire: &Wire, body: &Value) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(&post(wire.path, &body.to_string())).unwrap();
        stream
    }

    /// Asks a wire with a conversation.
    pub(crate) fn ask(&self, wire: &Wire, body: &Value) -> Answer {
        self.post(wire.path, &body.to_string())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reads what comes until there is a text in it.
pub(crate) fn read_until(stream: &mut TcpStream, got: &mut String, text: &str) {
    while !got.contains(text) {
        let mut buffer = [0; 4096];
        let len = stream.read(&mut buffer).unwrap();
        assert!(len > 0, "{text} in {got}");
        got.push_str(&String::from_utf8_lossy(&buffer[..len]));
    }
}

pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Session-Id: s1\r\nAuthorization: Bearer sesame\r\n"
    );
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[track_caller]
pub(crate) fn until(mut holds: impl FnMut() -> bool, told: impl Fn() -> String) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(20), "waited in vain for {}", told());
        thread::sleep(Duration::from_millis(10));
    }
}

/// What a client got.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Whether the body came to its end.
    pub(crate) is_whole: bool,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// What its events carry.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.text()
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
            .collect()
    }
}

pub(crate) fn read_answer(stream: TcpStream) -> Answer {
    let mut reader = BufReader::new(stream);
    let Some(head) = read_head(&mut reader) else {
        return Answer { head: String::new(), body: Vec::new(), is_whole: false };
    };
    let mut body = Vec::new();
    let mut is_whole = true;
    if header(&head, "transfer-encoding").is_some() {
        loop {
            match read_chunk(&mut reader) {
                Some(Some(chunk)) => body.extend(chunk),
                Some(None) => break,
                None => {
                    is_whole = false;
                    break;
                }
            }
        }
    } else {
        let len = header(&head, "content-length").and_then(|len| len.parse().ok()).unwrap_or(0);
        body.resize(len, 0);
        is_whole = reader.read_exact(&mut body).is_ok();
    }
    Answer { head, body, is_whole }
}

/// An id, a text in pieces and a call's arguments in pieces, as the events of an answer.
type Events = fn(&str, &[&str], Option<&[&str]>) -> Vec<String>;

/// How a test speaks a wire.
pub(crate) struct Wire {
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    /// A conversation: `user`, `call`, `result` and `said` entries by turns.
    pub(crate) conversation: fn(&[(&str, &str)]) -> Value,
    /// An answer in events: an id, a thought, a text in pieces, and a call's arguments in pieces.
    pub(crate) events: Events,
    /// An answer whole.
    pub(crate) whole: fn(&str, Option<&str>) -> Value,
    /// The text of the answer a client saw, in events or whole, and its calls' arguments.
    pub(crate) heard: fn(&[Value]) -> (String, Vec<String>),
}

pub(crate) static WIRES: [Wire; 4] = [ANTHROPIC, CHAT, RESPONSES, GEMINI];

fn event(value: &Value) -> String {
    let name = value["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {value}\n\n")
}

pub(crate) const ANTHROPIC: Wire = Wire {
    name: "anthropic",
    path: "/v1/messages",
    conversation: |entries| {
        let messages: Vec<Value> = entries
            .iter()
            .map(|(kind, text)| match *kind {
                "user" => json!({ "role": "user", "content": text }),
                "said" => json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] }),
                "call" => json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": format!("toolu_{text}"), "name": "Read", "input": { "file_path": text } }] }),
                _ => json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("toolu_{text}"), "content": "x" }] }),
            })
            .collect();
        json!({ "model": "m", "stream": true, "system": [{ "type": "text", "text": "sys", "cache_control": { "type": "ephemeral" } }], "tools": [{ "name": "Read" }], "messages": messages })
    },
    events: |id, texts, call| {
        let mut events = vec![
            json!({ "type": "message_start", "message": { "id": format!("msg_{id}"), "type": "message", "role": "assistant", "content": [], "usage": { "input_tokens": 10, "output_tokens": 1 } } }),
        ];
        let mut index = 0;
        if !texts.is_empty() {
            events.push(json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }));
            events.extend(texts.iter().map(|text| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } })));
            events.push(json!({ "type": "content_block_stop", "index": 0 }));
            index = 1;
        }
        if let Some(pieces) = call {
            events.push(json!({ "type": "content_block_start", "index": index, "content_block": { "type": "tool_use", "id": format!("toolu_{id}"), "name": "write", "input": {} } }));
            events.extend(pieces.iter().map(|piece| json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": piece } })));
            events.push(json!({ "type": "content_block_stop", "index": index }));
        }
        events.push(json!({ "type": "message_delta", "delta": { "stop_reason": if call.is_some() { "tool_use" } else { "end_turn" } }, "usage": { "output_tokens": 5 } }));
        events.push(json!({ "type": "message_stop" }));
        events.iter().map(event).collect()
    },
    whole: |text, call| {
        let mut content = vec![json!({ "type": "text", "text": text })];
        content.extend(call.map(|call| json!({ "type": "tool_use", "id": "toolu_1", "name": "write", "input": serde_json::from_str::<Value>(call).unwrap() })));
        json!({ "id": "msg", "type": "message", "role": "assistant", "content": content, "usage": { "input_tokens": 10, "output_tokens": 5 } })
    },
    heard: |values| {
        let text: String = values.iter().filter_map(|v| v["delta"]["text"].as_str()).collect();
        let mut calls: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
        for value in values {
            if let Some(piece) = value["delta"]["partial_json"].as_str() {
                calls.entry(value["index"].to_string()).or_default().push_str(piece);
            }
        }
        let blocks = || values.iter().flat_map(|value| value["content"].as_array().into_iter().flatten());
        let whole: String = blocks().filter_map(|block| block["text"].as_str()).collect();
        let inputs =
            blocks().filter(|block| block["input"].is_object()).map(|block| block["input"].to_string());
        (text + &whole, calls.into_values().chain(inputs).collect())
    },
};

pub(crate) const CHAT: Wire = Wire {
    name: "openai-chat",
    path: "/v1/chat/completions",
    conversation: |entries| {
        let mut messages = vec![json!({ "role": "system", "content": "sys" })];
        messages.extend(entries.iter().map(|(kind, text)| match *kind {
            "user" => json!({ "role": "user", "content": text }),
            "said" => json!({ "role": "assistant", "content": text }),
            "call" => json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": format!("call_{text}"), "type": "function", "function": { "name": "read", "arguments": json!({ "path": text }).to_string() } }] }),
            _ => json!({ "role": "tool", "tool_call_id": format!("call_{text}"), "content": "x" }),
        }));
        json!({ "model": "m", "stream": true, "tools": [{ "type": "function", "function": { "name": "read" } }], "messages": messages })
    },
    events: |id, texts, call| {
        let chunk = |delta: Value, finish: Option<&str>| json!({ "id": format!("chatcmpl-{id}"), "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
        let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
        events.extend(texts.iter().map(|text| chunk(json!({ "content": text }), None)));
        if let Some(pieces) = call {
            events.push(chunk(json!({ "tool_calls": [{ "index": 0, "id": format!("call_{id}"), "type": "function", "function": { "name": "write", "arguments": "" } }] }), None));
            events.extend(pieces.iter().map(|piece| {
                chunk(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": piece } }] }), None)
            }));
        }
        events.push(chunk(json!({}), Some(if call.is_some() { "tool_calls" } else { "stop" })));
        let mut usage = chunk(json!({}), None);
        usage["choices"] = json!([]);
        usage["usage"] = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
        events.push(usage);
        let mut events: Vec<String> = events.iter().map(event).collect();
        events.push("data: [DONE]\n\n".to_owned());
        events
    },
    whole: |text, call| {
        let calls = call.map(|call| json!([{ "id": "call_1", "type": "function", "function": { "name": "write", "arguments": call } }]));
        json!({ "id": "chatcmpl", "choices": [{ "index": 0, "message": { "role": "assistant", "content": text, "tool_calls": calls }, "finish_reason": "stop" }], "usage": { "prompt_tokens": 10, "completion_tokens": 5 } })
    },
    heard: |values| {
        let deltas =
            || values.iter().flat_map(|value| ["delta", "message"].map(|key| &value["choices"][0][key]));
        let text: String = deltas().filter_map(|delta| delta["content"].as_str()).collect();
        let pieces = deltas().filter_map(|delta| delta["tool_calls"][0]["function"]["arguments"].as_str());
        let call: String = pieces.collect();
        (text, if call.is_empty() { Vec::new() } else { vec![call] })
    },
};

pub(crate) const RESPONSES: Wire = Wire {
    name: "openai-responses",
    path: "/v1/responses",
    conversation: |entries| {
        let items: Vec<Value> = entries
            .iter()
            .map(|(kind, text)| match *kind {
                "user" => json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] }),
                "said" => json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
                "call" => json!({ "type": "function_call", "call_id": format!("call_{text}"), "name": "read", "arguments": json!({ "path": text }).to_string() }),
                _ => json!({ "type": "function_call_output", "call_id": format!("call_{text}"), "output": "x" }),
            })
            .collect();
        json!({ "model": "m", "stream": true, "store": false, "instructions": "sys", "tools": [{ "type": "function", "name": "read" }], "input": items })
    },
    events: |id, texts, call| {
        let response = |output: &[Value], usage: Value| json!({ "id": format!("resp_{id}"), "object": "response", "output": output, "usage": usage });
        let mut events = vec![json!({ "type": "response.created", "response": response(&[], Value::Null) })];
        let mut output = Vec::new();
        if !texts.is_empty() {
            let whole = texts.concat();
            let part = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
            let item = |content: Value| json!({ "type": "message", "id": format!("msg_{id}"), "role": "assistant", "content": content });
            let about = |mut value: Value| {
                value["item_id"] = json!(format!("msg_{id}"));
                value["output_index"] = json!(0);
                value["content_index"] = json!(0);
                value
            };
            events.push(
                json!({ "type": "response.output_item.added", "output_index": 0, "item": item(json!([])) }),
            );
            events.push(about(json!({ "type": "response.content_part.added", "part": part("") })));
            events.extend(
                texts
                    .iter()
                    .map(|text| about(json!({ "type": "response.output_text.delta", "delta": text }))),
            );
            events.push(about(json!({ "type": "response.output_text.done", "text": whole })));
            events.push(about(json!({ "type": "response.content_part.done", "part": part(&whole) })));
            output.push(item(json!([part(&whole)])));
            events.push(json!({ "type": "response.output_item.done", "output_index": 0, "item": output[0] }));
        }
        if let Some(pieces) = call {
            let index = output.len();
            let item = |arguments: &str| json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"), "name": "write", "arguments": arguments });
            events.push(
                json!({ "type": "response.output_item.added", "output_index": index, "item": item("") }),
            );
            events.extend(pieces.iter().map(|piece| json!({ "type": "response.function_call_arguments.delta", "item_id": format!("fc_{id}"), "output_index": index, "delta": piece })));
            events.push(json!({ "type": "response.function_call_arguments.done", "item_id": format!("fc_{id}"), "output_index": index, "arguments": pieces.concat() }));
            output.push(item(&pieces.concat()));
            events.push(
                json!({ "type": "response.output_item.done", "output_index": index, "item": output[index] }),
            );
        }
        events.push(json!({ "type": "response.completed", "response": response(&output, json!({ "input_tokens": 10, "output_tokens": 5 })) }));
        for (number, event) in events.iter_mut().enumerate() {
            event["sequence_number"] = json!(number);
        }
        events.iter().map(event).collect()
    },
    whole: |text, call| {
        let mut output = vec![
            json!({ "type": "message", "id": "msg", "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
        ];
        output.extend(call.map(|call| json!({ "type": "function_call", "id": "fc", "call_id": "call_1", "name": "write", "arguments": call })));
        json!({ "id": "resp", "object": "response", "output": output, "usage": { "input_tokens": 10, "output_tokens": 5 } })
    },
    heard: |values| {
        let of = |kind: &str| {
            values
                .iter()
                .filter(move |value| value["type"] == kind)
                .map(|value| value["delta"].as_str().unwrap_or_default())
                .collect::<String>()
        };
        let call = of("response.function_call_arguments.delta");
        let items = || values.iter().flat_map(|value| value["output"].as_array().into_iter().flatten());
        let whole: String = items().filter_map(|item| item["content"][0]["text"].as_str()).collect();
        let calls = items().filter_map(|item| item["arguments"].as_str().map(str::to_owned));
        let streamed = (!call.is_empty()).then_some(call);
        (of("response.output_text.delta") + &whole, streamed.into_iter().chain(calls).collect())
    },
};

pub(crate) const GEMINI: Wire = Wire {
    name: "gemini",
    path: "/v1beta/models/g:streamGenerateContent?alt=sse",
    conversation: |entries| {
        let contents: Vec<Value> = entries
            .iter()
            .map(|(kind, text)| match *kind {
                "user" => json!({ "role": "user", "parts": [{ "text": text }] }),
                "said" => json!({ "role": "model", "parts": [{ "text": text }] }),
                "call" => json!({ "role": "model", "parts": [{ "functionCall": { "id": format!("f_{text}"), "name": "read_file", "args": { "file_path": text } } }] }),
                _ => json!({ "role": "user", "parts": [{ "functionResponse": { "id": format!("f_{text}"), "name": "read_file", "response": { "output": "x" } } }] }),
            })
            .collect();
        json!({ "systemInstruction": { "parts": [{ "text": "sys" }] }, "tools": [{ "functionDeclarations": [] }], "contents": contents })
    },
    events: |id, texts, call| {
        let answer = |parts: Value, finish: Option<&str>| {
            let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
            if let Some(finish) = finish {
                candidate["finishReason"] = json!(finish);
            }
            json!({ "candidates": [candidate], "responseId": id, "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5 } })
        };
        let mut events: Vec<Value> =
            texts.iter().map(|text| answer(json!([{ "text": text }]), None)).collect();
        events.extend(call.map(|call| {
            let args: Value = serde_json::from_str(&call.concat()).unwrap();
            answer(
                json!([{ "functionCall": { "name": "write", "args": args }, "thoughtSignature": "c2ln" }]),
                None,
            )
        }));
        events.push(answer(json!([{ "text": "" }]), Some("STOP")));
        events.iter().map(event).collect()
    },
    whole: |text, call| {
        let mut parts = vec![json!({ "text": text })];
        parts.extend(call.map(|call| json!({ "functionCall": { "name": "write", "args": serde_json::from_str::<Value>(call).unwrap() } })));
        json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP" }], "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5 } })
    },
    heard: |values| {
        let parts = || {
            values
                .iter()
                .flat_map(|value| value["candidates"][0]["content"]["parts"].as_array().into_iter().flatten())
        };
        let text: String = parts().filter_map(|part| part["text"].as_str()).collect();
        (
            text,
            parts()
                .filter(|part| part["functionCall"].is_object())
                .map(|part| part["functionCall"]["args"].to_string())
                .collect(),
        )
    },
};
