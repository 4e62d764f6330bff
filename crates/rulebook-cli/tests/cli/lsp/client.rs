//! An editor: a client of `rulebook lsp` that keeps what the server shows.

#![allow(clippy::needless_pass_by_value, reason = "values are written where they are used")]

use std::collections::BTreeMap;
use std::io::{BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::sandbox::{PATIENCE, Sandbox};

/// A running server and the editor's side of the conversation.
pub(crate) struct Editor<'s> {
    sandbox: &'s Sandbox,
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    next: i64,
    versions: BTreeMap<String, i64>,
    /// What the server shows, by address.
    pub(crate) shown: BTreeMap<String, Value>,
    /// What the editor answers if the server asks for settings.
    pub(crate) settings: Value,
    /// Every other notification and request of the server.
    pub(crate) others: Vec<Value>,
}

impl<'s> Editor<'s> {
    /// Starts the server in the workspace, with the folder `repo` open.
    pub(crate) fn start(sandbox: &'s Sandbox) -> Editor<'s> {
        let folders = json!([{ "uri": uri(sandbox, "repo"), "name": "repo" }]);
        Editor::start_with(sandbox, json!({ "workspaceFolders": folders, "capabilities": {} }))
    }

    pub(crate) fn start_with(sandbox: &'s Sandbox, params: Value) -> Editor<'s> {
        let mut editor = Editor::connect(sandbox);
        let answer = editor.request("initialize", params);
        assert_eq!(answer["serverInfo"]["name"], "rulebook");
        editor.notify("initialized", json!({}));
        editor
    }

    /// Starts the server, and sends nothing.
    pub(crate) fn connect(sandbox: &'s Sandbox) -> Editor<'s> {
        let mut command = sandbox.command(&["lsp", "--stdio"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            while let Some(message) = read(&mut stdout) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take().unwrap();
        Editor {
            sandbox,
            child,
            stdin,
            messages,
            next: 0,
            versions: BTreeMap::new(),
            shown: BTreeMap::new(),
            settings: Value::Null,
            others: Vec::new(),
        }
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        uri(self.sandbox, path)
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        write!(self.stdin, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.stdin.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for its answer; returns its number.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The whole answer to a request.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: i64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// A request about a place in a file.
    #[track_caller]
    pub(crate) fn at(&mut self, method: &str, path: &str, line: usize, character: usize) -> Value {
        let uri = self.uri(path);
        let position = json!({ "line": line, "character": character });
        let range = json!({ "start": position, "end": position });
        let document = json!({ "uri": uri });
        self.request(method, json!({ "textDocument": document, "position": position, "range": range, "context": { "diagnostics": [] } }))
    }

    /// Waits for a message, and takes note of the others.
    #[track_caller]
    pub(crate) fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("the server answers");
            if message["method"] == "textDocument/publishDiagnostics" {
                let params = &message["params"];
                self.shown.insert(params["uri"].as_str().unwrap().to_owned(), params["diagnostics"].clone());
            } else if message.get("method").is_some() {
                self.others.push(message.clone());
                if message.get("id").is_some() {
                    let is_about_settings = message["method"] == "workspace/configuration";
                    let answer = if is_about_settings { self.settings.clone() } else { Value::Null };
                    self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
                }
            }
            if is_wanted(&message) {
                return message;
            }
        }
    }

    /// Waits until the server has checked the last change.
    #[track_caller]
    pub(crate) fn settle(&mut self) {
        // Messages are handled in order: after this answer, the change is known.
        let id = self.ask("rulebook/ping", Value::Null);
        self.answer(id);
        self.until(|message| message["method"] == "rulebook/checked" && message["params"]["settled"] == true);
    }

    /// Waits until the server shows the problems of a file again.
    #[track_caller]
    pub(crate) fn shows(&mut self, path: &str) -> Value {
        let uri = self.uri(path);
        let is_it = |message: &Value| {
            message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri
        };
        self.until(is_it)["params"]["diagnostics"].clone()
    }

    pub(crate) fn open(&mut self, path: &str, text: &str) {
        let uri = self.uri(path);
        self.versions.insert(uri.clone(), 1);
        let document = json!({ "uri": uri, "languageId": "markdown", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, path: &str, changes: Value) {
        let uri = self.uri(path);
        let version = self.versions.entry(uri.clone()).or_default();
        *version += 1;
        let document = json!({ "uri": uri, "version": version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    pub(crate) fn close(&mut self, path: &str) {
        let uri = self.uri(path);
        self.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }

    /// The codes that the server shows for a file, sorted.
    pub(crate) fn codes(&self, path: &str) -> Vec<String> {
        let shown = self.shown.get(&self.uri(path)).and_then(Value::as_array);
        let mut codes: Vec<String> =
            shown.into_iter().flatten().map(|found| found["code"].as_str().unwrap().to_owned()).collect();
        codes.sort();
        codes
    }

    /// Waits until the server has ended.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Ends the server as an editor does.
    pub(crate) fn stop(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Editor<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn uri(sandbox: &Sandbox, path: &str) -> String {
    format!("file://{}", sandbox.path(path).display())
}

fn read(stdout: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let mut bytes = vec![0; length?];
    stdout.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}
