//! Faults of the model's server, of the client, and of the proxy's own state.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use super::lab::{Answer, Do, Lab, NO_MAP, begun, post, read_until, response};
use super::wires::{ANTHROPIC, CHAT, GO, WIRES, Wire};
use crate::sandbox::until;

#[test]
fn a_server_that_dies_in_an_answer_breaks_the_answer_off() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        let events = (wire.events)("1", &["one ", "ne"], Some(&["{\"content\":1}"]));
        let mut steps = begun(&events[..3]);
        steps.push(Do::Close);
        lab.model.answers(steps);
        let answer = lab.ask(wire, GO);
        assert!(!answer.is_whole, "{}", wire.name);
        assert_eq!(answer.text(), events[..3].concat(), "{}", wire.name);
    }
}

#[test]
fn garbage_passes_unchanged() {
    let lab = Lab::new(&[NO_MAP]);
    let garbage: Vec<u8> = (0..2000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut steps = begun(&[]);
    steps.push(Do::Chunk(garbage.clone()));
    steps.push(Do::Chunk(b"\n\ndata: {\"type\":3}\n\ndata".to_vec()));
    steps.push(Do::Chunk(Vec::new()));
    lab.model.answers(steps);
    let answer = lab.ask(&ANTHROPIC, GO);
    assert!(answer.is_whole && answer.body.starts_with(&garbage) && answer.body.ends_with(b"\n\ndata"));
    let odd = [
        "[]",
        "7",
        "{\"messages\":[]}",
        "{\"messages\":[1,{}],\"tools\":[1]}",
        "{\"tools\":[1],\"messages\":[{\"role\":\"user\",\"content\":{\"a\":1}}]}",
        "{",
        "\u{feff}{}",
        "null",
    ];
    for wire in &WIRES {
        for body in odd {
            lab.post(wire.path, body);
            assert_eq!(lab.model.last().text(), body, "{}", wire.name);
        }
    }
}

#[test]
fn an_answer_without_its_last_events_passes_unchanged() {
    let lab = Lab::new(&[NO_MAP]);
    let events = (ANTHROPIC.events)("1", &["one ", "ne"], None);
    lab.model.streams(&events[..4]);
    let answer = lab.ask(&ANTHROPIC, GO);
    assert_eq!((answer.text(), answer.is_whole), (events[..4].concat(), true));
}

#[test]
fn a_repeated_request_that_fails_is_reported_in_the_answer() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.streams(&(wire.events)("1", &["clean. ", "new Map"], None));
        lab.model.answers(vec![Do::Write(response(
            "529 Overloaded",
            "content-type: application/json\r\n",
            "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}",
        ))]);
        let answer = lab.ask(wire, GO);
        assert!(
            answer.text().contains("busy") && !answer.text().contains("new Map"),
            "{}: {}",
            wire.name,
            answer.text()
        );
        check_error(wire, &answer);
        // The rule was not delivered, so it fires again.
        lab.model.streams(&(wire.events)("3", &["new Map"], None));
        lab.model.streams(&(wire.events)("4", &["fine"], None));
        let answer = lab.ask(wire, GO);
        let text = (wire.received)(&answer.events()).0;
        assert!(text.ends_with("fine") && !text.contains("new"), "{}: {text}", wire.name);
    }
}

/// Checks that the clients of a wire read the error in an answer.
#[track_caller]
fn check_error(wire: &Wire, answer: &Answer) {
    let values = answer.events();
    let of = |kind: &str| values.iter().find(|value| value["type"] == kind).unwrap().clone();
    match wire.name {
        "anthropic" => assert_eq!(of("error")["error"]["message"], "busy"),
        "openai-responses" => {
            let (error, failed) = (of("error"), of("response.failed"));
            assert_eq!(
                (&error["message"], &failed["response"]["error"]["message"]),
                (&json!("busy"), &json!("busy"))
            );
            assert_eq!(failed["response"]["id"], "resp_1");
            let number = |event: &Value| event["sequence_number"].as_u64().unwrap();
            assert_eq!(number(&failed), number(&error) + 1);
        }
        // Google's SDK for Node reads an error only if it is a chunk by itself.
        "gemini" => assert!(
            answer.chunks.iter().any(|chunk| serde_json::from_slice::<Value>(chunk)
                .is_ok_and(|error| error["error"]["message"] == "busy")),
            "{answer:?}"
        ),
        _ => assert_eq!(values.last().unwrap()["error"]["message"], "busy"),
    }
}

#[test]
fn a_turn_gets_through_although_every_repeated_request_is_rejected() {
    for wire in &WIRES {
        for is_stream in [true, false] {
            let lab = Lab::new(&[NO_MAP]);
            let bad = || match is_stream {
                true => lab.model.streams(&(wire.events)("1", &["new Map"], None)),
                false => lab.model.returns(&(wire.whole)("new Map", None)),
            };
            for _ in 0..3 {
                bad();
                lab.model.answers(vec![Do::Write(response(
                    "400 Bad Request",
                    "content-type: application/json\r\n",
                    "{\"error\":{\"message\":\"no prefill\"}}",
                ))]);
                let answer = lab.ask(wire, GO).text();
                assert!(answer.contains("no prefill") && !answer.contains("Map"), "{}: {answer}", wire.name);
                let seen = lab.model.seen();
                let has_rule = |at: usize| seen[at].text().contains("system-interrupt");
                assert!(
                    !has_rule(seen.len() - 2) && has_rule(seen.len() - 1),
                    "what was rejected is sent again"
                );
            }
            bad();
            let answer = lab.ask(wire, GO).text();
            assert!(answer.contains("new Map"), "{}: {answer}", wire.name);
            assert_eq!(lab.model.seen().len(), 7);
            lab.until_logged("interrupted as often as allowed");
        }
    }
}

#[test]
fn an_unreachable_server_is_reported() {
    let lab = Lab::with(&[NO_MAP], &["--upstream", "http://127.0.0.1:1"]);
    let answer = lab.ask(&CHAT, GO);
    assert_eq!(answer.status(), 502);
    assert!(answer.text().contains("cannot be reached"), "{}", answer.text());
    lab.until_logged("unreachable");
}

#[test]
fn rules_of_a_request_that_failed_count_once_it_reaches_the_model() {
    let lab = Lab::new(&[("always.md", "Always so.\n")]);
    let sessions = || lab.sandbox.json(&["sessions"])["sessions"].as_array().unwrap().clone();
    let refused = response("503 Overloaded", "content-type: application/json\r\n", "{}");
    lab.model.answers(vec![Do::Write(refused)]);
    assert_eq!(lab.ask(&CHAT, GO).status(), 503);
    assert!(lab.model.last().text().contains("Always so."));
    assert_eq!(sessions(), Vec::<Value>::new());
    lab.model.streams(&(CHAT.events)("1", &["ok"], None));
    lab.ask(&CHAT, GO).events();
    assert!(lab.model.last().text().contains("Always so."));
    lab.ledger("delivered");
    let shown = sessions();
    assert_eq!((&shown[0]["turns"], &shown[0]["given"]), (&json!(1), &json!(1)), "{shown:?}");
}

#[test]
fn a_client_that_leaves_ends_the_request_to_the_server() {
    for rules in [&[NO_MAP][..], &[]] {
        let lab = Lab::new(rules);
        let mut steps = begun(&(ANTHROPIC.events)("1", &["one "], None)[..3]);
        steps.push(Do::UntilGone);
        lab.model.answers(steps);
        let mut stream = lab.begin(&ANTHROPIC, GO);
        read_until(&mut stream, &mut Vec::new(), "one ");
        drop(stream);
        lab.model.until_gone();
    }
}

#[test]
fn a_client_that_leaves_is_noticed_before_any_byte_of_the_answer() {
    let waits = |first: &[u8]| vec![Do::Write(first.to_vec()), Do::UntilGone];
    for wire in &WIRES {
        // Before the head, in an answer that is one value, and before the head of a second answer.
        let json = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";
        let mut again = begun(&(wire.events)("1", &["new Map"], None));
        again.push(Do::Chunk(Vec::new()));
        for answers in [vec![waits(b"")], vec![waits(json)], vec![again, waits(b"")]] {
            let lab = Lab::new(&[NO_MAP]);
            let requests = answers.len();
            answers.into_iter().for_each(|steps| lab.model.answers(steps));
            let stream = lab.begin(wire, GO);
            lab.model.until_asked(requests);
            drop(stream);
            lab.model.until_gone();
        }
    }
}

#[test]
fn a_server_that_stalls_does_not_block_others() {
    let lab = Lab::new(&[NO_MAP]);
    let mut steps = begun(&(ANTHROPIC.events)("1", &["one "], None)[..3]);
    steps.push(Do::UntilGone);
    lab.model.answers(steps);
    let stalled = lab.begin(&ANTHROPIC, GO);
    lab.model.until_asked(1);
    lab.model.streams(&(ANTHROPIC.events)("2", &["two"], None));
    assert!(lab.ask(&ANTHROPIC, &[("user", "other")]).text().contains("two"));
    assert!(!lab.model.is_gone());
    drop(stalled);
}

/// An error in the middle of an answer, as each wire writes it.
fn error(wire: &Wire) -> String {
    let busy = "{\"type\":\"overloaded_error\",\"message\":\"busy\"}";
    match wire.name {
        "anthropic" => format!("event: error\ndata: {{\"type\":\"error\",\"error\":{busy}}}\n\n"),
        "openai-responses" => {
            "event: error\ndata: {\"type\":\"error\",\"sequence_number\":9,\"message\":\"busy\"}\n\n"
                .to_owned()
        }
        _ => format!("data: {{\"error\":{busy}}}\n\n"),
    }
}

#[test]
fn an_error_after_the_head_passes_unchanged() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        let request = post(wire.path, &(wire.conversation)(GO).to_string());
        let events = (wire.events)("1", &["one "], Some(&["{\"content\":", "1}"]));
        // After some text, and in the middle of a call.
        for sent in [2, events.len() - 2] {
            let mut steps = begun(&events[..sent]);
            steps.push(Do::Chunk(error(wire).into_bytes()));
            // Then the end, a closed connection, or the head of another answer where a chunk should begin.
            for last in [
                Do::Chunk(Vec::new()),
                Do::Close,
                Do::Write(b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n".to_vec()),
            ] {
                let steps: Vec<Do> = steps.iter().cloned().chain([last, Do::Close]).collect();
                super::passing::same(&lab, &request, &steps);
            }
        }
    }
}

#[test]
fn an_error_does_not_wait_for_the_end_of_the_answer() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        let events = (wire.events)("1", &["one "], Some(&["{\"content\":1}"]));
        let mut steps = begun(&events[..events.len() - 2]);
        steps.push(Do::Chunk(error(wire).into_bytes()));
        steps.push(Do::UntilGone);
        lab.model.answers(steps);
        let mut stream = lab.begin(wire, GO);
        read_until(&mut stream, &mut Vec::new(), "busy");
    }
}

/// The memory in use, in KiB, and the number of open files.
fn usage(lab: &Lab) -> (u64, usize) {
    let status = fs::read_to_string(format!("/proc/{}/status", lab.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let files = fs::read_dir(format!("/proc/{}/fd", lab.pid())).unwrap().count();
    (line.trim().trim_end_matches(" kB").parse().unwrap(), files)
}

/// Whether the server's thread and then the proxy can do no more: the thread that answers sleeps, and no thread of the proxy
/// ran from before that was looked up until after.
fn is_stuck(lab: &Lab) -> bool {
    let sleeping = |thread: &Path| {
        let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
        let field = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_owned()
        };
        field("State:")
            .contains('S')
            .then(|| [field("voluntary_ctxt_switches:"), field("nonvoluntary_ctxt_switches:")])
    };
    let proxy = || {
        let threads = fs::read_dir(format!("/proc/{}/task", lab.pid())).unwrap();
        threads.map(|thread| sleeping(&thread.unwrap().path())).collect::<Option<Vec<_>>>()
    };
    let before = proxy();
    before.is_some() && sleeping(&lab.model.answering()).is_some() && proxy() == before
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_does_not_read_costs_little_memory() {
    let lab = Lab::new(&[NO_MAP]);
    let text = "x".repeat(10_000);
    let texts: Vec<&str> = (0..5000).map(|_| text.as_str()).collect();
    lab.model.streams(&(CHAT.events)("1", &texts, None));
    let before = usage(&lab).0;
    let mut stream = lab.begin(&CHAT, GO);
    read_until(&mut stream, &mut Vec::new(), "x");
    // The server has 50 MB to send; the system's buffers hold a few.
    until(|| is_stuck(&lab), || "the server to be held up".to_owned());
    let grown = usage(&lab).0.saturating_sub(before);
    assert!(grown < 16 << 10, "{grown} KiB");
    let mut end = Vec::new();
    while !end.ends_with(b"0\r\n\r\n") {
        let mut buffer = vec![0; 1 << 16];
        let len = stream.read(&mut buffer).unwrap();
        assert!(len > 0);
        end.extend_from_slice(&buffer[..len]);
        end.drain(..end.len().saturating_sub(100));
    }
}

/// Waits for a line of the metrics. The connection that asks for them is counted, too.
#[track_caller]
fn until_counted(lab: &Lab, line: &str) {
    let metrics = || lab.get("/__rulebook/metrics").text();
    until(|| metrics().lines().any(|found| found == line), || format!("{line} in {}", metrics()));
}

#[cfg(target_os = "linux")]
#[test]
fn closed_connections_leave_no_open_files() {
    let lab = Lab::new(&[NO_MAP]);
    lab.get("/v1/models");
    until_counted(&lab, "rulebook_connections 1");
    let (_, files) = usage(&lab);
    let idle: Vec<_> = (0..400).map(|_| lab.connect()).collect();
    until_counted(&lab, "rulebook_connections 401");
    assert_eq!(lab.get("/__rulebook/health").status(), 200);
    drop(idle);
    for number in 0..50 {
        lab.model.streams(&(CHAT.events)("1", &["new Map"], None));
        lab.model.streams(&(CHAT.events)("2", &["fine"], None));
        lab.ask(&CHAT, &[("user", &format!("go {number}"))]);
    }
    until_counted(&lab, "rulebook_connections 1");
    until_counted(&lab, "rulebook_streams 0");
    until(|| usage(&lab).1 <= files, || format!("{} files, {files} before", usage(&lab).1));
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn idle_connections_cost_little_memory_and_it_is_returned() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const MANY: u64 = 2000;
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let lab = Lab::new(&[NO_MAP]);
    until_counted(&lab, "rulebook_connections 1");
    let before = usage(&lab).0;
    let grown = |is_used: bool| {
        let mut idle: Vec<_> = (0..MANY).map(|_| lab.connect()).collect();
        for stream in idle.iter_mut().filter(|_| is_used) {
            stream.write_all(b"GET /__rulebook/health HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
            read_until(stream, &mut Vec::new(), "\r\n\r\n");
        }
        until_counted(&lab, &format!("rulebook_connections {}", MANY + 1));
        let open = usage(&lab).0.saturating_sub(before);
        drop(idle);
        until_counted(&lab, "rulebook_connections 1");
        let left = || usage(&lab).0.saturating_sub(before);
        // Pages that were touched for the first time are not returned.
        until(|| left() <= 2048, || format!("{} KiB more than before {MANY} connections", left()));
        open
    };
    // In KiB.
    for (is_used, most) in [(false, 2), (true, 16), (false, 2), (true, 16)] {
        let open = grown(is_used);
        assert!(open <= most * MANY + 2048, "{open} KiB for {MANY} connections");
    }
}

#[test]
fn fail_closed_lets_no_answer_pass_unwatched() {
    let gzip = "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n";
    let lab = Lab::new(&[NO_MAP]);
    lab.model.answers(vec![Do::Write(response("200 OK", gzip, "?"))]);
    assert_eq!(lab.ask(&CHAT, GO).text(), "?");
    lab.until_logged("not watched");
    let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
    lab.model.answers(vec![Do::Write(response("200 OK", gzip, "?"))]);
    assert_eq!(lab.ask(&CHAT, GO).status(), 502);
}

#[test]
fn unreadable_state_is_reported_and_moved_aside_and_that_of_a_newer_version_is_left_alone() {
    let second: &[(&str, &str)] = &[("user", "go"), ("assistant", "ok"), ("user", "and on")];
    for (text, reported, is_replaced) in [
        ("rubbish", "cannot be read and is not used: not JSON", true),
        ("{\"prefix\":null}", "it has no `version`", true),
        ("{\"version\":3}", "a newer Rulebook wrote ", false),
    ] {
        let mut lab = Lab::new(&[("always.md", "Always so.\n")]);
        lab.ask(&CHAT, GO);
        let file = lab.conversation();
        lab.start();
        assert!(fs::read_to_string(&file).unwrap().starts_with("{\"version\":2,"));
        fs::write(&file, text).unwrap();
        lab.ask(&CHAT, second);
        assert!(lab.model.last().text().contains("Always so."), "{text}");
        lab.until_logged(reported);
        assert_eq!(fs::read_to_string(&file).unwrap() != text, is_replaced, "{text}");
        let kept = fs::read_to_string(file.with_extension("json.broken")).ok();
        assert_eq!(kept.as_deref(), is_replaced.then_some(text));
    }
}
