//! `ui` and `watch`: the page over its socket, and the lines through a pipe.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::sandbox::{PATIENCE, Sandbox, until};

/// A workspace with a rule for some files.
fn sandbox() -> Sandbox {
    Sandbox::new(&[
        ("repo/.clinerules/web.md", "---\npaths: [\"apps/web/**\"]\n---\nUse React.\n"),
        ("repo/apps/web/a.tsx", ""),
    ])
}

impl Sandbox {
    /// The user sends a message in a session.
    fn prompts(&self, session: &str, prompt: &str) {
        assert!(self.hook("claude", &self.prompt_event(session, prompt)).status.success());
    }
}

/// A command that runs until the test is done with it, and its lines.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(sandbox: &Sandbox, words: &[&str]) -> Running {
        let mut child = sandbox.command(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let printed = BufReader::new(child.stdout.take().unwrap()).lines();
        let (send, lines) = channel();
        thread::spawn(move || printed.map_while(Result::ok).try_for_each(|line| send.send(line)));
        Running { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The running page and its address.
struct Page {
    _running: Running,
    host: String,
    token: String,
}

impl Page {
    fn start(sandbox: &Sandbox) -> Page {
        let running = Running::start(sandbox, &["ui", "--json"]);
        let started: Value = serde_json::from_str(&running.line()).unwrap();
        let url = started["url"].as_str().unwrap();
        let (host, token) =
            url.strip_prefix("http://").unwrap().trim_end_matches('/').split_once('/').unwrap();
        assert!(host.starts_with("127.0.0.1:"));
        assert_eq!(token.len(), 48);
        Page { host: host.to_owned(), token: token.to_owned(), _running: running }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and returns the answer.
    fn send(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str) -> String {
        self.send(self.request(path).as_bytes())
    }

    fn request(&self, path: &str) -> String {
        format!("GET /{}/{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.token, self.host)
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn the_page_answers_only_requests_with_its_token_and_host() {
    let sandbox = sandbox();
    let page = Page::start(&sandbox);
    let (host, token) = (&page.host, &page.token);
    assert_eq!(status(&page.get("agents")), "200");
    let refused = |request: String| {
        let answer = page.send(request.as_bytes());
        assert_eq!((status(&answer), body(&answer)), ("403", "forbidden\n"), "{request}");
        assert!(!answer.contains("web"), "{answer}");
    };
    refused(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    refused(format!("GET /{token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    refused(format!("GET /{}/agents HTTP/1.1\r\nHost: {host}\r\n\r\n", &token[1..]));
    refused(format!("GET /{token}0/agents HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    refused(format!("GET /{token}/agents HTTP/1.1\r\nHost: rebound.example\r\n\r\n"));
    refused(format!("GET /{token}/events HTTP/1.1\r\nHost: rebound.example\r\n\r\n"));
    refused(format!(
        "POST /{token}/toggle HTTP/1.1\r\nHost: {host}\r\nContent-Length: 13\r\n\r\nid=web&to=off"
    ));
    // Nothing after the head is waited for.
    refused(format!("POST /x/toggle HTTP/1.1\r\nHost: {host}\r\nContent-Length: 13\r\n\r\n"));
}

/// Workspaces with problems of several kinds: each a list of files.
const TROUBLED: [&[(&str, &str)]; 5] = [
    &[("repo/a.ts", "")],
    &[("repo/.clinerules/web.md", "---\npaths: [\"apps/web/**\"]\n---\nUse React.\n")],
    &[
        ("repo/.cursor/rules/a.md", "Not read."),
        ("repo/.cursor/rules/b.mdc", "---\nglobs: **/*.ts\nalwaysApply: true\n---\nSee [x](missing.md).\n"),
        ("repo/.claude/rules/c.md", "---\nglobs: src/**\n---\nText.\n"),
        ("repo/CLAUDE.md", "@AGENTS.md\n"),
    ],
    &[
        ("repo/.opencode/rules/a.md", "---\npriority: 5\n---\nStrict.\n"),
        ("repo/.opencode/rules/b.md", "No header.\n"),
        ("repo/.windsurf/rules/sub/c.md", "---\ntrigger: glob\n---\nDeep.\n"),
        ("repo/AGENTS.md", "One.\n"),
        ("repo/packages/a/AGENTS.md", "One.\n"),
    ],
    &[
        ("repo/.clinerules/broken.md", "---\npaths: [\n---\nBroken.\n"),
        ("repo/.rulebook/rules/style.md", "---\nid: style\nnosuch: 1\n---\nA\nB\nC\nD\n"),
        ("repo/.cursor/rules/style.mdc", "---\nalwaysApply: true\n---\nA\nB\nC\nE\n"),
        ("repo/rulebook.toml", "trust = \"requier\"\n"),
    ],
];

#[test]
fn status_check_and_the_page_report_the_same_problems() {
    for files in TROUBLED {
        let sandbox = Sandbox::new(files);
        let json = |command: &str| -> Value {
            serde_json::from_slice(&sandbox.run(&[command, "--json"]).stdout).unwrap()
        };
        let (status, check) = (json("status"), json("check"));
        assert_eq!(status["diagnostics"], check["diagnostics"], "{files:?}");
        let count = check["diagnostics"].as_array().unwrap().len();
        let text = |command: &str| String::from_utf8(sandbox.run(&[command]).stdout).unwrap();
        let counted = |text: String, before: &str, end: &str| -> Option<String> {
            let counts = text.lines().filter_map(|line| line.split_once(before));
            counts.filter(|(_, rest)| rest.contains(end)).map(|(count, _)| count.to_owned()).next()
        };
        let in_status = counted(text("status"), "; ", "run `rulebook check`");
        let in_check = counted(text("check"), " in ", "rule file").filter(|count| count != "no problems");
        assert_eq!(in_status, in_check, "{files:?}");
        let problems = Page::start(&sandbox).get("problems");
        let wanted = match count {
            0 => "No problems.".to_owned(),
            1 => "1 problem of 1 kind".to_owned(),
            count => format!("{count} problems of "),
        };
        assert!(problems.contains(&wanted), "{wanted}: {}", body(&problems));
        assert_eq!(problems.matches("class=\"place\"").count(), count, "{files:?}");
    }
}

#[test]
fn a_form_of_the_page_toggles_a_rule_and_a_link_does_not() {
    let sandbox = sandbox();
    let page = Page::start(&sandbox);
    let state = || sandbox.json(&["status"])["rules"][0]["state"].as_str().unwrap().to_owned();
    page.get("toggle?id=web&to=off");
    assert_eq!(state(), "inactive");
    let post = |form: &str| {
        let (host, token, len) = (&page.host, &page.token, form.len());
        let head = format!("POST /{token}/toggle HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n");
        page.send(format!("{head}Content-Length: {len}\r\n\r\n{form}").as_bytes())
    };
    assert_eq!(status(&post("id=nobody&to=off")), "404");
    assert_eq!(state(), "inactive");
    let answer = post("id=web&to=off&back=agents%3Fq%3Dweb");
    assert_eq!(status(&answer), "303");
    assert!(answer.contains("\r\nLocation: agents?q=web\r\n"), "{answer}");
    assert_eq!(state(), "disabled");
    let answer = post("id=web&to=on&back=agents%0d%0aSet-Cookie:+a%3Db");
    assert!(answer.contains("\r\nLocation: agents\r\n") && !answer.contains("Set-Cookie"), "{answer}");
    assert_eq!(state(), "inactive");
}

#[test]
fn no_request_ends_the_server() {
    let sandbox = sandbox();
    let page = Page::start(&sandbox);
    let (host, token) = (&page.host, &page.token);
    let long = "a".repeat(100_000);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"\r\n\r\n".to_vec(), "400"),
        (b"\xff\xfe\x00\r\n\r\n".to_vec(), "400"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "400"),
        (format!("GET /{long} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(), "431"),
        (
            format!("POST /{token}/toggle HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: -1\r\n\r\n")
                .into_bytes(),
            "400",
        ),
        (
            format!("POST /{token}/toggle HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 99999999\r\n\r\n")
                .into_bytes(),
            "413",
        ),
        (
            format!("PUT /{token}/agents HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\r\n")
                .into_bytes(),
            "405",
        ),
    ];
    for (request, wanted) in cases {
        let answer = page.send(&request);
        // A connection that is closed before everything was sent may lose the answer.
        assert!(
            [wanted, "none"].contains(&status(&answer)),
            "{:?}: {answer}",
            String::from_utf8_lossy(&request[..20.min(request.len())])
        );
    }
    let odd = [
        "rule",
        "rule?source=../../etc/passwd",
        "session?host=..&id=..%2F..%2F..",
        "session?host=%00&id=%ff",
        "map?folder=%2F%2F..",
        "agents?page=99999999999999999999",
        "agents?page=0&state=nonsense",
        "agents?for=nobody&open=..%2F..%2Fetc%2Fpasswd",
        "problems?code=nonsense",
        "fix?source=..%2F..%2Fetc%2Fpasswd&code=%00",
        "path?path=%00",
        "path?path=..%2F..",
        "files.json?q=%5C",
        "nowhere",
    ];
    for path in odd {
        let answer = page.get(path);
        assert!(["200", "404"].contains(&status(&answer)), "{path}: {}", status(&answer));
        assert!(!answer.contains("root:"), "{path}");
    }
    assert_eq!(status(&page.get("explain.json?path=%2Felsewhere")), "400");
    // Clients that send nothing keep no other client waiting.
    let silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(host).unwrap()).collect();
    assert_eq!(status(&page.get("agents")), "200");
    drop(silent);
}

#[test]
fn a_listening_page_is_notified_of_a_session() {
    let sandbox = sandbox();
    let page = Page::start(&sandbox);
    let mut stream = page.connect();
    stream.write_all(page.request("events").as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    // The current version is sent at once.
    assert!(lines.by_ref().any(|line| line == "event: change"));
    sandbox.prompts("s-1", "look at apps/web/a.tsx");
    assert!(lines.any(|line| line == "event: change"));
    until(|| page.get("sessions").contains("s-1"), || "the session in the list".to_owned());
    let shown = page.get("session?host=claude&id=s-1");
    assert!(shown.contains("📋 Conditional rules applied: web"), "{shown}");
}

#[test]
fn watch_follows_sessions_line_by_line() {
    let sandbox = sandbox();
    sandbox.prompts("before", "hello");
    let watching = Running::start(&sandbox, &["watch", "--past"]);
    assert!(watching.line().starts_with("claude/before session started in "));
    assert_eq!(watching.line(), "claude/before turn 1 hello");
    sandbox.prompts("now", "look at apps/web/a.tsx");
    assert!(watching.line().starts_with("claude/now session started"));
    assert_eq!(watching.line(), "claude/now turn 1 look at apps/web/a.tsx");
    assert_eq!(
        watching.line(),
        "claude/now delivered web (.clinerules/web.md): apps/web/a.tsx matches apps/web/**"
    );
}

#[test]
fn watch_shows_one_session_as_json_from_now_on() {
    let sandbox = sandbox();
    sandbox.prompts("one", "turn 1");
    let watching = Running::start(&sandbox, &["watch", "one", "--json"]);
    // The first turn that it shows depends on when it has started.
    let mut turn = 1;
    let mut line = loop {
        turn += 1;
        sandbox.prompts("other", "hello");
        sandbox.prompts("one", &format!("turn {turn}"));
        if let Ok(line) = watching.lines.try_recv() {
            break line;
        }
    };
    sandbox.prompts("one", "the last");
    let mut shown = 2..=turn + 1;
    while !line.contains("the last") {
        let fact: Value = serde_json::from_str(&line).unwrap();
        let turn = fact["turn"].as_u64().unwrap();
        assert!(shown.contains(&turn), "{line}");
        shown = turn + 1..=*shown.end();
        assert_eq!(fact["session"], "one");
        assert_eq!(fact["fact"], json!({ "is": "spoke", "message": format!("turn {turn}") }));
        line = watching.line();
    }
}

#[test]
fn watch_ends_when_its_output_is_closed() {
    // Its folder must exist until the command has ended.
    let sandbox = sandbox();
    let mut child = sandbox.command(&["watch"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    until(|| child.try_wait().unwrap().is_some(), || "its end".to_owned());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_link_that_leads_out_of_the_workspace_is_not_shown() {
    let sandbox = sandbox();
    let secret = sandbox.path("secret.md");
    std::fs::write(&secret, "TOP SECRET").unwrap();
    std::os::unix::fs::symlink(&secret, sandbox.path("repo/.clinerules/out.md")).unwrap();
    let page = Page::start(&sandbox);
    let answer = page.get("rule?source=.clinerules%2Fout.md");
    assert_eq!(status(&answer), "200");
    assert!(answer.contains("outside the workspace") && !answer.contains("TOP SECRET"), "{answer}");
    assert!(page.get("rule?source=.clinerules%2Fweb.md").contains("Use React."));
}
