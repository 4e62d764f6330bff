//! Operations: health, metrics, the log, recordings, tokens, and an end that waits.

use std::fs;
use std::net::TcpStream;
use std::process::Stdio;

use super::lab::{ANTHROPIC, CHAT, Do, Lab, SSE, WIRES, read_answer, until};

const NO_MAP: (&str, &str) = ("no-map.md", "---\ncondition: new Map\n---\nNo.\n");

#[test]
fn health_and_numbers_are_told() {
    let lab = Lab::new(&[NO_MAP]);
    lab.model.says(&(CHAT.events)("1", &["new Map"], None));
    lab.model.says(&(CHAT.events)("2", &["fine"], None));
    lab.ask(&CHAT, &(CHAT.conversation)(&[("user", "go")]));
    assert_eq!(lab.get("/__rulebook/health").json()["status"], "ok");
    let numbers = lab.get("/__rulebook/metrics").text();
    for line in ["rulebook_interrupts_total 1", "rulebook_matches_total 1", "# TYPE rulebook_streams gauge"] {
        assert!(numbers.contains(line), "{line} in {numbers}");
    }
    assert_eq!(lab.get("/__rulebook/other").status(), 404);
    assert_eq!(lab.model.seen().len(), 2);
}

#[test]
fn the_log_has_neither_secrets_nor_what_was_said() {
    let lab = Lab::new(&[NO_MAP]);
    lab.model.says(&(ANTHROPIC.events)("1", &["an answer"], None));
    lab.post("/v1/messages?key=sesame", &(ANTHROPIC.conversation)(&[("user", "a question")]).to_string());
    lab.get("/v1/models?key=sesame");
    lab.until_logged("/v1/models");
    let log = lab.log();
    assert!(log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{log}");
    for secret in ["sesame", "an answer", "a question"] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn recordings_are_without_secrets_and_can_be_watched_again() {
    let tape = tempfile::tempdir().unwrap();
    let lab = Lab::with(&[NO_MAP], &["--record", tape.path().to_str().unwrap()]);
    // Put together here, so that it is none where this is read.
    let secret = ["ghp_", "q7Rk2mVx9Lp4", "Zt8Yw3Bn6Hd1", "Js5Fc0Ga7Ue2Q9"].concat();
    let pieces: Vec<&str> = secret.as_str().split_inclusive(|_: char| true).collect();
    for (at, wire) in WIRES.iter().enumerate() {
        let said: Vec<&str> =
            ["new Map ", &secret, " x "].into_iter().chain(pieces.clone()).chain([" y"]).collect();
        let arguments = format!("{{\"content\":\"{secret}\"}}");
        let (one, two) = arguments.split_at(20);
        lab.model.says(&(wire.events)("1", &said, Some(&[one, two])));
        lab.model.says(&(wire.events)("2", &["fine"], None));
        lab.ask(wire, &(wire.conversation)(&[("user", &format!("{at} {secret}"))]));
        // A side question, and an answer in one piece.
        let mut side = (wire.conversation)(&[("user", &secret)]);
        side.as_object_mut().unwrap().remove("tools");
        lab.model.tells(&(wire.whole)(&format!("new Map {secret}"), None));
        lab.ask(wire, &side);
    }
    lab.model.tells(&serde_json::json!({ "input_tokens": 3, "key": secret }));
    lab.post("/v1/messages/count_tokens", &format!("{{\"a\":\"{secret}\"}}"));
    until(|| fs::read_dir(tape.path()).unwrap().count() == 4 * 6 + 2, || "files".to_owned());
    for entry in fs::read_dir(tape.path()).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&secret) && !text.contains("sesame"), "{}: {text}", path.display());
        assert!(!heard(&text).contains(&secret), "{}: {text}", path.display());
        let is_answer = |ending: &str| path.to_string_lossy().ends_with(ending);
        if is_answer(".answer.sse") || is_answer(".answer.json") {
            let output = lab.command().args(["stream", "--json"]).arg(&path).output().unwrap();
            let hits = serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["hits"]
                .as_array()
                .unwrap()
                .len();
            assert_eq!(hits, usize::from(text.contains("new Map")), "{text}");
        }
    }
}

/// Every short text of a recording's events, joined.
fn heard(text: &str) -> String {
    fn texts(value: &serde_json::Value, joined: &mut String) {
        match value {
            serde_json::Value::String(text) if text.len() < 30 => joined.push_str(text),
            serde_json::Value::Array(list) => list.iter().for_each(|value| texts(value, joined)),
            serde_json::Value::Object(fields) => {
                ["delta", "content", "text", "choices", "candidates", "parts", "partial_json"]
                    .iter()
                    .filter_map(|key| fields.get(*key))
                    .for_each(|value| texts(value, joined));
            }
            _ => {}
        }
    }
    let mut joined = String::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("data: ")) {
        texts(&serde_json::from_str(line).unwrap_or_default(), &mut joined);
    }
    joined
}

#[test]
fn other_machines_need_a_token() {
    let lab = Lab::new(&[]);
    let says = |args: &[&str]| {
        let output = lab.command().arg("proxy").args(args).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, told) = says(&["--listen", "0.0.0.0:0"]);
    assert!(code == Some(2) && told.contains("--allow-remote"), "{told}");
    let (code, told) = says(&["--listen", "0.0.0.0:0", "--allow-remote"]);
    assert!(code == Some(2) && told.contains("--token"), "{told}");
    let (code, told) = says(&["--listen", "0.0.0.0:0", "--allow-remote", "--token", "short"]);
    assert!(code == Some(2) && told.contains("16"), "{told}");
    let token = "abcdefgh-12345678";
    let lab = Lab::with(&[], &["--listen", "0.0.0.0:0", "--allow-remote", "--token", token]);
    assert_eq!(lab.get("/v1/models").status(), 401);
    assert_eq!(lab.get("/__rulebook/metrics").status(), 401);
    assert_eq!(lab.get("/").status(), 401);
    assert_eq!(lab.get(&format!("/{token}/v1/models?a=b")).status(), 200);
    assert_eq!(
        lab.send(
            format!("GET /v1/models HTTP/1.1\r\nhost: x\r\nx-rulebook-token: {token}\r\n\r\n").as_bytes()
        )
        .status(),
        200
    );
    for seen in lab.model.seen() {
        assert!(seen.head.starts_with("GET /v1/models") && !seen.head.contains(token), "{}", seen.head);
    }
}

#[test]
fn answers_come_to_their_end_before_the_server_does() {
    let mut lab = Lab::new(&[NO_MAP]);
    let events = (CHAT.events)("1", &["one ", "two"], None);
    let chunk = |events: &[String]| Do::Chunk(events.concat().into_bytes());
    lab.model.answers(vec![
        Do::Write(SSE.to_vec()),
        chunk(&events[..2]),
        Do::Wait,
        chunk(&events[2..]),
        Do::Chunk(Vec::new()),
    ]);
    let stream = lab.begin(&CHAT, &(CHAT.conversation)(&[("user", "go")]));
    let idle = lab.connect();
    until(|| lab.model.seen().len() == 1, || "the request".to_owned());
    lab.terminate();
    // It has understood once nobody new is let in.
    until(|| TcpStream::connect(("127.0.0.1", lab.port)).is_err(), || "a closed door".to_owned());
    lab.model.go();
    let answer = read_answer(stream);
    assert!(answer.is_whole && answer.text().contains("two"), "{}", answer.text());
    assert_eq!(lab.wait(), Some(0));
    drop(idle);
}

#[test]
fn a_program_runs_behind_it_and_its_end_is_the_end() {
    let lab = Lab::new(&[]);
    let upstream = format!("http://127.0.0.1:{}", lab.model.port);
    let script = "import os,sys,urllib.request; print(urllib.request.urlopen(os.environ['ANTHROPIC_BASE_URL']+'/v1/models').read().decode(), os.environ['OPENAI_BASE_URL'][-3:]); sys.exit(7)";
    let output = lab
        .command()
        .args(["proxy", "--upstream", &upstream, "--", "python3", "-c", script])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()),
        (Some(7), "plain /v1\n"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Where the environment names another server, that is the one.
    let script = "import os,urllib.request; print(urllib.request.urlopen(os.environ['ANTHROPIC_BASE_URL']+'/v1/messages', data=b'{}').read().decode())";
    let output = lab
        .command()
        .env("ANTHROPIC_BASE_URL", &upstream)
        .args(["proxy", "--", "python3", "-c", script])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "plain\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let output = lab.command().args(["proxy", "--", "no-such-program"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn remote_rules_are_fetched_beside_everything_else() {
    let mut lab = Lab::new(&[]);
    let folder = lab.path().join("home/config/rulebook");
    fs::create_dir_all(&folder).unwrap();
    let url = format!("http://127.0.0.1:{}/rules.json", lab.model.port);
    fs::write(folder.join("config.toml"), format!("[[remote]]\nname = \"team\"\nurl = \"{url}\"\n")).unwrap();
    lab.model.tells(
        &serde_json::json!({ "remoteGlobalRules": [{ "name": "far.md", "contents": "From afar.\n" }] }),
    );
    lab.start();
    until(|| lab.model.seen().len() == 1, || "the document".to_owned());
    let is_seen = || {
        lab.ask(&CHAT, &(CHAT.conversation)(&[("user", "go")]));
        lab.model.seen().last().unwrap().text().contains("From afar.")
    };
    until(is_seen, || format!("the rule in {}", lab.model.seen().last().unwrap().text()));
}
