//! `ui` and `watch`: the built binary, asked over its socket and read through its pipe.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A workspace with a rule for some files.
fn workspace() -> TempDir {
    let dir = TempDir::new().unwrap();
    for (path, text) in [
        ("repo/.git/HEAD", "ref: refs/heads/main\n"),
        ("repo/.clinerules/web.md", "---\npaths: [\"apps/web/**\"]\n---\nUse React.\n"),
        ("repo/apps/web/a.tsx", ""),
        ("home/.keep", ""),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn rulebook(dir: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rulebook"));
    command.args(args).current_dir(dir.path().join("repo")).env_clear().env("HOME", dir.path().join("home"));
    command
}

fn hook(dir: &TempDir, session: &str, prompt: &str) {
    let mut child =
        rulebook(dir, &["hook", "claude"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let event =
        serde_json::json!({ "session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": prompt });
    child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}

/// A process that goes on until the test is done with it.
struct Running {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(dir: &TempDir, args: &[&str]) -> Running {
        let mut child = rulebook(dir, args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Running { child, lines }
    }

    fn line(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    fn json(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The page, and where it is.
struct Page {
    _running: Running,
    host: String,
    token: String,
}

impl Page {
    fn start(dir: &TempDir) -> Page {
        let mut running = Running::start(dir, &["ui", "--json"]);
        let url = running.json()["url"].as_str().unwrap().to_owned();
        let (host, token) =
            url.strip_prefix("http://").unwrap().trim_end_matches('/').split_once('/').unwrap();
        assert!(host.starts_with("127.0.0.1:"));
        assert_eq!(token.len(), 48);
        Page { host: host.to_owned(), token: token.to_owned(), _running: running }
    }

    /// What comes back for these bytes.
    fn send(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // A server that has heard enough may hang up.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str) -> String {
        self.send(format!("GET /{}/{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.token, self.host).as_bytes())
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn the_page_answers_whoever_has_its_address_and_nobody_else() {
    let dir = workspace();
    let page = Page::start(&dir);
    let (host, token) = (&page.host, &page.token);
    assert_eq!(status(&page.get("rules")), "200");
    let refused = |request: String| {
        let answer = page.send(request.as_bytes());
        assert_eq!((status(&answer), body(&answer)), ("403", "forbidden\n"), "{request}");
        assert!(!answer.contains("web"), "{answer}");
    };
    refused(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    refused(format!("GET /{token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    refused(format!("GET /{}/rules HTTP/1.1\r\nHost: {host}\r\n\r\n", &token[1..]));
    refused(format!("GET /{token}0/rules HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    refused(format!("GET /{token}/rules HTTP/1.1\r\nHost: rebound.example\r\n\r\n"));
    refused(format!("GET /{token}/events HTTP/1.1\r\nHost: rebound.example\r\n\r\n"));
    refused(format!(
        "POST /{token}/toggle HTTP/1.1\r\nHost: {host}\r\nContent-Length: 13\r\n\r\nid=web&to=off"
    ));
}

#[test]
fn a_form_of_the_page_switches_a_rule_and_a_link_does_not() {
    let dir = workspace();
    let page = Page::start(&dir);
    let state = || {
        let output = rulebook(&dir, &["status", "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["rules"][0]["state"].as_str().unwrap().to_owned()
    };
    page.get("toggle?id=web&to=off");
    assert_eq!(state(), "inactive");
    let post = |form: &str| {
        let (host, token, len) = (&page.host, &page.token, form.len());
        let head = format!("POST /{token}/toggle HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n");
        page.send(format!("{head}Content-Length: {len}\r\n\r\n{form}").as_bytes())
    };
    assert_eq!(status(&post("id=nobody&to=off")), "404");
    assert_eq!(state(), "inactive");
    let answer = post("id=web&to=off&back=rules%3Fq%3Dweb");
    assert_eq!(status(&answer), "303");
    assert!(answer.contains("\r\nLocation: rules?q=web\r\n"), "{answer}");
    assert_eq!(state(), "disabled");
    let answer = post("id=web&to=on&back=rules%0d%0aSet-Cookie:+a%3Db");
    assert!(answer.contains("\r\nLocation: rules\r\n") && !answer.contains("Set-Cookie"), "{answer}");
    assert_eq!(state(), "inactive");
}

#[test]
fn no_request_stops_the_page() {
    let dir = workspace();
    let page = Page::start(&dir);
    let (host, token) = (&page.host, &page.token);
    let long = "a".repeat(100_000);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"\r\n\r\n".to_vec(), "400"),
        (b"\xff\xfe\x00\r\n\r\n".to_vec(), "400"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "400"),
        (format!("GET /{long} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes(), "431"),
        (
            format!("POST /{token}/toggle HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n")
                .into_bytes(),
            "400",
        ),
        (
            format!("POST /{token}/toggle HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99999999\r\n\r\n")
                .into_bytes(),
            "413",
        ),
        (
            format!("PUT /{token}/rules HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\r\n")
                .into_bytes(),
            "405",
        ),
    ];
    for (request, wanted) in cases {
        let answer = page.send(&request);
        // A hang-up before everything was sent may swallow the answer.
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
        "rules?page=99999999999999999999",
        "rules?page=0&state=nonsense",
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
    // Clients that say nothing keep nobody waiting.
    let silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(host).unwrap()).collect();
    assert_eq!(status(&page.get("rules")), "200");
    drop(silent);
}

#[test]
fn a_session_is_told_to_those_who_listen() {
    let dir = workspace();
    let page = Page::start(&dir);
    let mut stream = TcpStream::connect(&page.host).unwrap();
    let request = format!("GET /{}/events HTTP/1.1\r\nHost: {}\r\n\r\n", page.token, page.host);
    stream.write_all(request.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    // What there is now is told at once.
    assert!(lines.by_ref().any(|line| line == "event: change"));
    hook(&dir, "s-1", "look at apps/web/a.tsx");
    assert!(lines.any(|line| line == "event: change"));
    assert!(page.get("sessions").contains("s-1"));
    let shown = page.get("session?host=claude&id=s-1");
    assert!(shown.contains("📋 Conditional rules applied: web"), "{shown}");
}

#[test]
fn watch_follows_sessions_line_by_line() {
    let dir = workspace();
    hook(&dir, "before", "hello");
    let mut watching = Running::start(&dir, &["watch", "--past"]);
    assert!(watching.line().starts_with("claude/before session started in "));
    assert_eq!(watching.line(), "claude/before turn 1 hello");
    hook(&dir, "now", "look at apps/web/a.tsx");
    assert!(watching.line().starts_with("claude/now session started"));
    assert_eq!(watching.line(), "claude/now turn 1 look at apps/web/a.tsx");
    assert_eq!(
        watching.line(),
        "claude/now delivered web .clinerules/web.md apps/web/a.tsx matches apps/web/**"
    );
}

#[test]
fn watch_tells_one_session_as_json_and_nothing_of_the_past() {
    let dir = workspace();
    hook(&dir, "one", "hello");
    let mut watching = Running::start(&dir, &["watch", "one", "--json"]);
    // Its first look is behind it when a second session is known not to be shown.
    std::thread::sleep(Duration::from_millis(1500));
    hook(&dir, "other", "hello");
    hook(&dir, "one", "again");
    let line = watching.json();
    assert_eq!((&line["session"], &line["turn"]), (&Value::from("one"), &Value::from(2)));
    assert_eq!(line["fact"], serde_json::json!({ "is": "spoke", "message": "again" }));
}

#[test]
fn watch_ends_when_nobody_reads_it() {
    let dir = workspace();
    let mut child = rulebook(&dir, &["watch"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let ended = child.try_wait().unwrap();
    let _ = child.kill();
    assert!(ended.is_some_and(|status| status.success()));
}
