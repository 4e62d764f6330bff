//! Operations: health, metrics, the log, recordings, tokens, and an end that waits.

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use super::lab::{Do, Lab, NO_MAP, begun, read_answer, values};
use super::wires::{ANTHROPIC, CHAT, GO, WIRES};
use crate::sandbox::{document, remote, stderr, stdout, until};

#[test]
fn health_and_metrics_are_served() {
    let lab = Lab::new(&[NO_MAP]);
    lab.model.streams(&(CHAT.events)("1", &["new Map"], None));
    lab.model.streams(&(CHAT.events)("2", &["fine"], None));
    lab.ask(&CHAT, GO);
    assert_eq!(lab.get("/__rulebook/health").json()["status"], "ok");
    let metrics = lab.get("/__rulebook/metrics").text();
    for line in ["rulebook_interrupts_total 1", "rulebook_matches_total 1", "# TYPE rulebook_streams gauge"] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    assert_eq!(lab.get("/__rulebook/other").status(), 404);
    assert_eq!(lab.model.seen().len(), 2);
}

#[test]
fn the_log_contains_neither_secrets_nor_messages() {
    let lab = Lab::new(&[NO_MAP]);
    lab.model.streams(&(ANTHROPIC.events)("1", &["an answer"], None));
    lab.post("/v1/messages?key=sesame", &(ANTHROPIC.conversation)(&[("user", "a question")]).to_string());
    lab.get("/v1/models?key=sesame");
    lab.until_logged("/v1/models");
    let log = lab.log();
    assert!(log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
    for secret in ["sesame", "an answer", "a question"] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn recordings_contain_no_secrets_and_can_be_watched_again() {
    let tape = tempfile::tempdir().unwrap();
    let lab = Lab::with(&[NO_MAP], &["--record", tape.path().to_str().unwrap()]);
    // Assembled here, so that secret scanners do not report this file.
    let secret = ["ghp_", "q7Rk2mVx9Lp4", "Zt8Yw3Bn6Hd1", "Js5Fc0Ga7Ue2Q9"].concat();
    let pieces: Vec<&str> = secret.as_str().split_inclusive(|_: char| true).collect();
    for (at, wire) in WIRES.iter().enumerate() {
        let text: Vec<&str> =
            ["new Map ", &secret, " x "].into_iter().chain(pieces.clone()).chain([" y"]).collect();
        let arguments = format!("{{\"content\":\"{secret}\"}}");
        let (one, two) = arguments.split_at(20);
        lab.model.streams(&(wire.events)("1", &text, Some(&[one, two])));
        lab.model.streams(&(wire.events)("2", &["fine"], None));
        lab.ask(wire, &[("user", &format!("{at} {secret}"))]);
        // A request without tools, and an answer as one value.
        let mut side = (wire.conversation)(&[("user", &secret)]);
        side.as_object_mut().unwrap().remove("tools");
        lab.model.returns(&(wire.whole)(&format!("new Map {secret}"), None));
        lab.send_json(wire, &side);
    }
    lab.model.returns(&json!({ "input_tokens": 3, "key": secret }));
    lab.post("/v1/messages/count_tokens", &format!("{{\"a\":\"{secret}\"}}"));
    let recorded = || -> Vec<(PathBuf, String)> {
        let paths = fs::read_dir(tape.path()).unwrap().map(|entry| entry.unwrap().path());
        paths.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
    };
    let is_whole = |text: &str| text.ends_with("\n\n") || serde_json::from_str::<Value>(text).is_ok();
    let is_done = || {
        let files = recorded();
        files.len() == 4 * 6 + 2 && files.iter().all(|(_, text)| is_whole(text))
    };
    until(is_done, || format!("all files among {:?}", recorded()));
    for (path, text) in recorded() {
        assert!(!text.contains(&secret) && !text.contains("sesame"), "{}: {text}", path.display());
        assert!(!joined(&text).contains(&secret), "{}: {text}", path.display());
        let path = path.to_str().unwrap();
        if path.ends_with(".answer.sse") || path.ends_with(".answer.json") {
            let hits = lab.sandbox.json(&["stream", path])["hits"].as_array().unwrap().len();
            assert_eq!(hits, usize::from(text.contains("new Map")), "{text}");
        }
    }
}

/// Every short text in the events of a recording, joined.
fn joined(text: &str) -> String {
    fn texts(value: &Value, joined: &mut String) {
        match value {
            Value::String(text) if text.len() < 30 => joined.push_str(text),
            Value::Array(list) => list.iter().for_each(|value| texts(value, joined)),
            Value::Object(fields) => {
                ["delta", "content", "text", "choices", "candidates", "parts", "partial_json"]
                    .iter()
                    .filter_map(|key| fields.get(*key))
                    .for_each(|value| texts(value, joined));
            }
            _ => {}
        }
    }
    let mut joined = String::new();
    values(text).iter().for_each(|value| texts(value, &mut joined));
    joined
}

#[test]
fn other_machines_need_a_token() {
    let lab = Lab::new(&[]);
    let check = |words: &[&str], want: &str| {
        let output = lab.sandbox.run(&[&["proxy", "--listen", "0.0.0.0:0"], words].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(want), "{output:?}");
    };
    check(&[], "--allow-remote");
    check(&["--allow-remote"], "--token");
    check(&["--allow-remote", "--token", "short"], "16");
    let token = "abcdefgh-12345678";
    let lab = Lab::with(&[], &["--listen", "0.0.0.0:0", "--allow-remote", "--token", token]);
    assert_eq!(lab.get("/v1/models").status(), 401);
    assert_eq!(lab.get("/__rulebook/metrics").status(), 401);
    assert_eq!(lab.get("/").status(), 401);
    for wire in &WIRES {
        let error = lab.ask(wire, GO).json();
        let kind = match wire.name {
            "gemini" => &error["error"]["status"],
            _ => &error["error"]["type"],
        };
        let wanted = match wire.name {
            "anthropic" => "authentication_error",
            "gemini" => "UNAUTHENTICATED",
            _ => "invalid_request_error",
        };
        assert_eq!((kind, error["type"] == "error"), (&json!(wanted), wire.name == "anthropic"), "{error}");
    }
    assert_eq!(lab.get(&format!("/{token}/v1/models?a=b")).status(), 200);
    let with_header =
        format!("GET /v1/models HTTP/1.1\r\nhost: localhost\r\nx-rulebook-token: {token}\r\n\r\n");
    assert_eq!(lab.send(with_header.as_bytes()).status(), 200);
    let both = format!(
        "GET /{token}/{token}/v1/models HTTP/1.1\r\nhost: x\r\nreferer: http://x/{token}/\r\nx-rulebook-token: {token}\r\n\r\n"
    );
    assert_eq!(lab.send(both.as_bytes()).status(), 200);
    // Of a client whose base URL ends in `/`, or that sends the header too.
    for header in ["", &format!("x-rulebook-token: {token}\r\n")] {
        let twice = format!("GET //{token}/v1/models HTTP/1.1\r\nhost: x\r\n{header}\r\n");
        assert_eq!(lab.send(twice.as_bytes()).status(), 200);
    }
    // Repeated, it is removed wherever it is.
    for path in [format!("/{token}/v1/models/{token}?x={token}&y={token}"), format!("/v1/models?{token}")] {
        let repeated = format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-rulebook-token: {token}\r\n\r\n");
        assert_eq!(lab.send(repeated.as_bytes()).status(), 200);
    }
    let wrong = format!("GET /{token}/v1/models HTTP/1.1\r\nhost: x\r\nx-rulebook-token: wrong\r\n\r\n");
    assert_eq!(lab.send(wrong.as_bytes()).status(), 401);
    assert!(!lab.log().contains(token), "{}", lab.log());
    for seen in lab.model.seen() {
        assert!(seen.head.starts_with("GET /v1/models") && !seen.head.contains(token), "{}", seen.head);
    }
}

#[test]
fn without_a_token_only_local_clients_are_served() {
    let lab = Lab::new(&[]);
    let ask = |target: &str, headers: &str| {
        lab.send(format!("GET {target} HTTP/1.1\r\n{headers}\r\n").as_bytes()).status()
    };
    for headers in [
        "host: 127.0.0.1:1\r\n",
        "host: [::1]:8090\r\n",
        "host: LOCALHOST\r\norigin: http://localhost:3000\r\n",
        "host: localhost\r\nsec-fetch-site: none\r\n",
    ] {
        assert_eq!(ask("/v1/models", headers), 200, "{headers}");
    }
    for (target, headers) in [
        ("/v1/models", "host: rebound.example\r\n"),
        ("/__rulebook/metrics", "host: rebound.example:8090\r\n"),
        ("http://rebound.example/v1/models", "host: localhost\r\n"),
        ("/v1/models", "host: localhost\r\norigin: https://evil.example\r\n"),
        ("/v1/models", "host: localhost\r\norigin: null\r\n"),
        ("/v1/models", "host: localhost.evil.example\r\n"),
        ("/v1/models", "host: evil.example@127.0.0.1\r\n"),
        ("http://evil.example@localhost/v1/models", "host: localhost\r\n"),
        ("/v1/models", "host: localhost\r\nsec-fetch-site: cross-site\r\n"),
        ("/v1/models", "host: localhost\r\nsec-fetch-site: same-site\r\n"),
    ] {
        assert_eq!(ask(target, headers), 403, "{target} {headers}");
    }
    let refused = lab.send(b"POST /v1/messages HTTP/1.1\r\nhost: rebound.example\r\n\r\n");
    assert_eq!(refused.json()["error"]["type"], "permission_error");
    assert_eq!(lab.model.seen().len(), 4);
}

#[test]
fn the_server_ends_after_its_answers() {
    let mut lab = Lab::new(&[NO_MAP]);
    let mut steps = begun(&(CHAT.events)("1", &["one ", "two"], None));
    steps.insert(3, Do::Wait);
    steps.push(Do::Chunk(Vec::new()));
    lab.model.answers(steps);
    let stream = lab.begin(&CHAT, GO);
    let idle = lab.connect();
    lab.model.until_asked(1);
    lab.terminate();
    // It has received the signal once it accepts no more connections.
    until(|| TcpStream::connect(("127.0.0.1", lab.port)).is_err(), || "a refused connection".to_owned());
    lab.model.resume();
    let answer = read_answer(stream);
    assert!(answer.is_whole && answer.text().contains("two"), "{}", answer.text());
    assert_eq!(lab.wait(), Some(0));
    drop(idle);
}

/// A script that sends a request to the proxy and prints the last line of the answer.
const CLIENT: &str = r#"
    at=${ANTHROPIC_BASE_URL#http://}
    exec 3<>"/dev/tcp/${at%:*}/${at#*:}"
    printf 'POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}' >&3
    echo "$(tail -n 1 <&3) ${OPENAI_BASE_URL##*/}"
    exit 7"#;

#[test]
fn a_program_runs_behind_the_proxy_and_ends_it() {
    let lab = Lab::new(&[]);
    let upstream = format!("http://127.0.0.1:{}", lab.model.port);
    let program = ["--", "bash", "-c", CLIENT];
    let check = |output: Output| {
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(7), "plain v1\n"), "{output:?}");
    };
    check(lab.command(&["proxy", "--upstream", &upstream]).args(program).output().unwrap());
    // Without the argument, the server that the environment names.
    check(lab.command(&["proxy"]).args(program).env("ANTHROPIC_BASE_URL", &upstream).output().unwrap());
    assert_eq!(lab.model.seen().len(), 2);
    let output = lab.command(&["proxy", "--", "bash", "-c", "exit 3"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("`bash` sent no requests through the proxy"), "{output:?}");
    let output = lab.command(&["proxy", "--", "no-such-program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn remote_rules_are_fetched_in_the_background() {
    let mut lab = Lab::new(&[]);
    lab.sandbox.settings(&remote("team", &format!("http://127.0.0.1:{}/rules.json", lab.model.port)));
    lab.model.returns(&serde_json::from_str(&document(&[("far.md", "From afar.\n")])).unwrap());
    lab.start();
    lab.model.until_asked(1);
    let is_delivered = || {
        lab.ask(&CHAT, GO);
        lab.model.last().text().contains("From afar.")
    };
    until(is_delivered, || format!("the rule in {}", lab.model.last().text()));
}
