//! A model's server whose answers a test decides, a client that sees every byte, and the proxy between them.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::wires::Wire;
use crate::sandbox::{PATIENCE, Sandbox, until};

/// A rule that interrupts.
pub(crate) const NO_MAP: (&str, &str) = ("no-map.md", "---\ncondition: new Map\n---\nNo.\n");

/// One step of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Do {
    /// Writes bytes.
    Write(Vec<u8>),
    /// Writes a chunk of a chunked body.
    Chunk(Vec<u8>),
    /// Waits for the test.
    Wait,
    /// Waits until the other side has closed the connection.
    UntilGone,
    /// Closes the connection.
    Close,
}

/// A request as the server received it.
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
    shared: Arc<Shared>,
    resume: mpsc::Sender<()>,
}

/// What a test and the server's threads share.
struct Shared {
    answers: Mutex<VecDeque<Vec<Do>>>,
    seen: Mutex<Vec<Seen>>,
    is_gone: AtomicBool,
    resumed: Mutex<mpsc::Receiver<()>>,
    /// The folder in `/proc` of the thread that answered last.
    answering: Mutex<Option<PathBuf>>,
}

impl Model {
    pub(crate) fn new() -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (resume, resumed) = mpsc::channel();
        let shared = Arc::new(Shared {
            answers: Mutex::default(),
            seen: Mutex::default(),
            is_gone: AtomicBool::new(false),
            resumed: Mutex::new(resumed),
            answering: Mutex::default(),
        });
        let model = Model { port, shared: Arc::clone(&shared), resume };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(stream));
            }
        });
        model
    }

    /// Answers the next request with these steps.
    pub(crate) fn answers(&self, steps: Vec<Do>) {
        self.shared.answers.lock().unwrap().push_back(steps);
    }

    /// Answers the next request with these events, each in its own chunk.
    pub(crate) fn streams(&self, events: &[String]) {
        let mut steps = begun(events);
        steps.push(Do::Chunk(Vec::new()));
        self.answers(steps);
    }

    /// Answers the next request with one JSON value.
    pub(crate) fn returns(&self, value: &Value) {
        let headers = "content-type: application/json\r\n";
        self.answers(vec![Do::Write(response("200 OK", headers, &value.to_string()))]);
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen().pop().unwrap()
    }

    pub(crate) fn until_asked(&self, times: usize) {
        until(|| self.seen().len() == times, || format!("{times} requests, not {}", self.seen().len()));
    }

    /// Resumes an answer that waits.
    pub(crate) fn resume(&self) {
        self.resume.send(()).unwrap();
    }

    /// Whether the other side closed the connection during an answer.
    pub(crate) fn is_gone(&self) -> bool {
        self.shared.is_gone.load(Ordering::SeqCst)
    }

    pub(crate) fn until_gone(&self) {
        until(|| self.is_gone(), || "the server to notice that the client is gone".to_owned());
    }

    /// The folder in `/proc` of the thread that answered last.
    pub(crate) fn answering(&self) -> PathBuf {
        self.shared.answering.lock().unwrap().clone().unwrap()
    }
}

pub(crate) const SSE: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// The head of a stream and these events, without an end.
pub(crate) fn begun(events: &[String]) -> Vec<Do> {
    let chunks = events.iter().map(|event| Do::Chunk(event.clone().into_bytes()));
    [Do::Write(SSE.to_vec())].into_iter().chain(chunks).collect()
}

pub(crate) fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut writer = stream;
        writer.set_nodelay(true).unwrap();
        while let Some((head, body)) = read_message(&mut reader) {
            let steps = self.answers.lock().unwrap().pop_front();
            let own = fs::read_link("/proc/thread-self").ok();
            *self.answering.lock().unwrap() = own.map(|thread| PathBuf::from("/proc").join(thread));
            self.seen.lock().unwrap().push(Seen { head, body });
            let plain = || vec![Do::Write(response("200 OK", "x-Echo: yes\r\n", "plain"))];
            if !steps.unwrap_or_else(plain).into_iter().all(|step| self.step(step, &mut reader, &mut writer))
            {
                let _ = writer.shutdown(Shutdown::Both);
                return;
            }
        }
    }

    /// Carries out one step; false ends the connection.
    fn step(&self, step: Do, reader: &mut impl BufRead, writer: &mut TcpStream) -> bool {
        match step {
            Do::Write(bytes) => writer.write_all(&bytes).is_ok(),
            Do::Chunk(bytes) => {
                let size = format!("{:x}\r\n", bytes.len());
                writer.write_all(&[size.as_bytes(), &bytes, b"\r\n"].concat()).is_ok()
            }
            Do::Wait => self.resumed.lock().unwrap().recv().is_ok(),
            Do::UntilGone => {
                let _ = reader.read(&mut [0; 1]);
                self.is_gone.store(true, Ordering::SeqCst);
                false
            }
            Do::Close => false,
        }
    }
}

/// A head and a body, regardless of how its length is given.
fn read_message(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
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

fn read_head(reader: &mut impl BufRead) -> Option<String> {
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

/// The next chunk; `Some(None)` is the end of the body.
fn read_chunk(reader: &mut impl BufRead) -> Option<Option<Vec<u8>>> {
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
    pub(crate) sandbox: Sandbox,
    pub(crate) port: u16,
    child: Option<Child>,
    log: Arc<Mutex<String>>,
    pub(crate) args: Vec<String>,
}

impl Lab {
    /// Starts the proxy in a workspace with these files in `.rulebook/rules`.
    pub(crate) fn new(rules: &[(&str, &str)]) -> Lab {
        Lab::with(rules, &[])
    }

    pub(crate) fn with(rules: &[(&str, &str)], args: &[&str]) -> Lab {
        let sandbox = Sandbox::new(&[("repo/src/a.ts", "x")]);
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let mut lab = Lab { model: Model::new(), sandbox, port: 0, child: None, log: Arc::default(), args };
        rules.iter().for_each(|(name, text)| lab.rule(name, text));
        lab.start();
        lab
    }

    /// Writes a rule file.
    pub(crate) fn rule(&self, name: &str, text: &str) {
        self.sandbox.write(&format!("repo/.rulebook/rules/{name}"), text);
    }

    /// The command, with the programs of the system and the authority of the test, if it has one.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.sandbox.command(words);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let authority = self.sandbox.path("authority.pem");
        if authority.exists() {
            command.env("SSL_CERT_FILE", authority);
        }
        command
    }

    /// Starts the proxy, or restarts it. It holds doubtful text for days, unless the arguments say otherwise: how fast the
    /// machine is does not matter.
    pub(crate) fn start(&mut self) {
        self.stop();
        let mut child = self
            .command(&["proxy", "--json", "--set", "stream.hold_ms=4000000000", "--upstream"])
            .arg(format!("http://127.0.0.1:{}", self.model.port))
            .args(&self.args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        self.port =
            line.trim().rsplit(':').next().unwrap().split(['/', '"']).next().unwrap().parse().expect(&line);
        let (log, errors) = (Arc::clone(&self.log), child.stderr.take().unwrap());
        thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                log.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        self.child = Some(child);
    }

    fn stop(&mut self) {
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
        kill_process(Pid::from_child(self.child.as_ref().unwrap()), Signal::TERM).unwrap();
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.take().unwrap().wait().unwrap().code()
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log contains a text.
    pub(crate) fn until_logged(&self, text: &str) {
        until(|| self.log().contains(text), || format!("{text} in {}", self.log()));
    }

    /// The files of the sessions that end so.
    fn state(&self, ending: &str) -> Vec<PathBuf> {
        let inside =
            |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let files = inside(self.sandbox.state("sessions/proxy")).flat_map(inside);
        files.filter(|file| file.extension().is_some_and(|extension| extension == ending)).collect()
    }

    /// The file with the state of the conversation, once it is written.
    pub(crate) fn conversation(&self) -> PathBuf {
        until(|| !self.state("json").is_empty(), || "the state of the conversation".to_owned());
        self.state("json").remove(0)
    }

    /// The ledgers, once they contain a text.
    pub(crate) fn ledger(&self, text: &str) -> String {
        let read = || {
            self.state("jsonl").iter().filter_map(|file| fs::read_to_string(file).ok()).collect::<String>()
        };
        until(|| read().contains(text), || format!("{text} in {}", read()));
        read()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and reads the answer.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        read_answer(stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes())
    }

    /// Posts JSON as a client in a session does.
    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.send(&post(path, body))
    }

    /// Sends a conversation, and leaves the answer to be read.
    pub(crate) fn begin(&self, wire: &Wire, entries: &[(&str, &str)]) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(&post(wire.path, &(wire.conversation)(entries).to_string())).unwrap();
        stream
    }

    /// Sends a conversation.
    pub(crate) fn ask(&self, wire: &Wire, entries: &[(&str, &str)]) -> Answer {
        self.send_json(wire, &(wire.conversation)(entries))
    }

    /// Sends a request.
    pub(crate) fn send_json(&self, wire: &Wire, body: &Value) -> Answer {
        self.post(wire.path, &body.to_string())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reads until the bytes read so far contain a text.
pub(crate) fn read_until(stream: &mut TcpStream, read: &mut Vec<u8>, text: &str) {
    while !read.windows(text.len()).any(|window| window == text.as_bytes()) {
        let mut buffer = [0; 4096];
        let len = stream.read(&mut buffer).unwrap();
        assert!(len > 0, "{text} in {}", String::from_utf8_lossy(read));
        read.extend_from_slice(&buffer[..len]);
    }
}

pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Session-Id: s1\r\nAuthorization: Bearer sesame\r\n"
    );
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// The JSON values in the events of a stream.
pub(crate) fn values(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
}

/// An answer as the client received it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The chunks of the body, if it has any.
    pub(crate) chunks: Vec<Vec<u8>>,
    /// Whether the body is complete.
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

    pub(crate) fn events(&self) -> Vec<Value> {
        values(&self.text())
    }
}

pub(crate) fn read_answer(stream: TcpStream) -> Answer {
    let mut reader = BufReader::new(stream);
    let Some(head) = read_head(&mut reader) else {
        return Answer { head: String::new(), body: Vec::new(), chunks: Vec::new(), is_whole: false };
    };
    let (mut body, mut chunks) = (Vec::new(), Vec::new());
    let is_whole = if header(&head, "transfer-encoding").is_some() {
        loop {
            match read_chunk(&mut reader) {
                Some(Some(chunk)) => {
                    body.extend_from_slice(&chunk);
                    chunks.push(chunk);
                }
                end => break end.is_some(),
            }
        }
    } else {
        let len = header(&head, "content-length").and_then(|len| len.parse().ok()).unwrap_or(0);
        body.resize(len, 0);
        reader.read_exact(&mut body).is_ok()
    };
    Answer { head, body, chunks, is_whole }
}
