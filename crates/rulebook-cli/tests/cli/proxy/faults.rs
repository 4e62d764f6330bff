//! Faults: of the model's server, of the client, and of the proxy itself.

use std::fs;
use std::io::{Read as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use super::lab::{ANTHROPIC, CHAT, Do, Lab, SSE, WIRES, Wire, post, read_until, response, until};

const NO_MAP: (&str, &str) = ("no-map.md", "---\ncondition: new Map\n---\nNo.\n");

fn started(events: &[String]) -> Vec<Do> {
    let chunks = events.iter().map(|event| Do::Chunk(event.clone().into_bytes()));
    [Do::Write(SSE.to_vec())].into_iter().chain(chunks).collect()
}

#[test]
fn a_server_that_dies_in_an_answer_is_seen_as_it_is() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        let events = (wire.events)("1", &["one ", "ne"], Some(&["{\"content\":1}"]));
        let mut steps = started(&events[..3]);
        steps.push(Do::Close);
        lab.model.answers(steps);
        let answer = lab.ask(wire, &(wire.conversation)(&[("user", "go")]));
        assert!(!answer.is_whole, "{}", wire.name);
        assert_eq!(answer.text(), events[..3].concat(), "{}", wire.name);
    }
}

#[test]
fn garbage_passes() {
    let lab = Lab::new(&[NO_MAP]);
    let garbage: Vec<u8> = (0..2000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut steps = vec![
        Do::Write(SSE.to_vec()),
        Do::Chunk(garbage.clone()),
        Do::Chunk(b"\n\ndata: {\"type\":3}\n\ndata".to_vec()),
    ];
    steps.push(Do::Chunk(Vec::new()));
    lab.model.answers(steps);
    let answer = lab.ask(&ANTHROPIC, &(ANTHROPIC.conversation)(&[("user", "go")]));
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
            assert_eq!(lab.model.seen().last().unwrap().text(), body, "{}", wire.name);
        }
    }
}

#[test]
fn an_answer_that_ends_early_ends_early() {
    let lab = Lab::new(&[NO_MAP]);
    let events = (ANTHROPIC.events)("1", &["one ", "ne"], None);
    let mut steps = started(&events[..4]);
    steps.push(Do::Chunk(Vec::new()));
    lab.model.answers(steps);
    let answer = lab.ask(&ANTHROPIC, &(ANTHROPIC.conversation)(&[("user", "go")]));
    assert_eq!((answer.text(), answer.is_whole), (events[..4].concat(), true));
}

#[test]
fn a_second_answer_that_fails_is_told_in_the_first() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.says(&(wire.events)("1", &["clean. ", "new Map"], None));
        lab.model.answers(vec![Do::Write(response(
            "529 Overloaded",
            "content-type: application/json\r\n",
            "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}",
        ))]);
        let answer = lab.ask(wire, &(wire.conversation)(&[("user", "go")]));
        assert!(
            answer.text().contains("busy") && !answer.text().contains("new Map"),
            "{}: {}",
            wire.name,
            answer.text()
        );
        // Nothing was told, so it fires again.
        lab.model.says(&(wire.events)("3", &["new Map"], None));
        lab.model.says(&(wire.events)("4", &["fine"], None));
        let answer = lab.ask(wire, &(wire.conversation)(&[("user", "go")]));
        let text = (wire.heard)(&answer.events()).0;
        assert!(text.ends_with("fine") && !text.contains("new"), "{}: {text}", wire.name);
    }
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let lab = Lab::with(&[NO_MAP], &["--upstream", "http://127.0.0.1:1"]);
    let answer = lab.ask(&CHAT, &(CHAT.conversation)(&[("user", "go")]));
    assert_eq!(answer.status(), 502);
    assert!(answer.text().contains("cannot be asked"), "{}", answer.text());
    lab.until_logged("unreachable");
}

#[test]
fn a_client_that_goes_away_takes_the_answer_with_it() {
    for rules in [&[NO_MAP][..], &[]] {
        let lab = Lab::new(rules);
        let mut steps = started(&(ANTHROPIC.events)("1", &["one "], None)[..3]);
        steps.push(Do::UntilGone);
        lab.model.answers(steps);
        let mut stream = lab.begin(&ANTHROPIC, &(ANTHROPIC.conversation)(&[("user", "go")]));
        read_until(&mut stream, &mut String::new(), "one ");
        let left = Instant::now();
        drop(stream);
        until(|| lab.model.gone().is_some(), || "the server to notice".to_owned());
        assert!(lab.model.gone().unwrap() - left < Duration::from_secs(1));
    }
}

#[test]
fn a_client_that_goes_away_is_noticed_whatever_is_waited_for() {
    let hit = |events: &[String]| {
        let mut steps = started(events);
        steps.push(Do::Chunk(Vec::new()));
        steps
    };
    let waits = |first: &[u8]| vec![Do::Write(first.to_vec()), Do::UntilGone];
    for wire in &WIRES {
        // Before the head, in a whole answer, and before the head of a second answer.
        let json = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";
        let again = hit(&(wire.events)("1", &["new Map"], None));
        for (answers, requests) in
            [(vec![waits(b"")], 1), (vec![waits(json)], 1), (vec![again, waits(b"")], 2)]
        {
            let lab = Lab::new(&[NO_MAP]);
            for steps in answers {
                lab.model.answers(steps);
            }
            let stream = lab.begin(wire, &(wire.conversation)(&[("user", "go")]));
            until(|| lab.model.seen().len() == requests, || "the request".to_owned());
            drop(stream);
            until(|| lab.model.gone().is_some(), || format!("{}: the server to notice", wire.name));
        }
    }
}

#[test]
fn a_server_that_stalls_does_not_stop_others() {
    let lab = Lab::new(&[NO_MAP]);
    let mut steps = started(&(ANTHROPIC.events)("1", &["one "], None)[..3]);
    steps.push(Do::UntilGone);
    lab.model.answers(steps);
    let stalled = lab.begin(&ANTHROPIC, &(ANTHROPIC.conversation)(&[("user", "go")]));
    until(|| lab.model.seen().len() == 1, || "the first".to_owned());
    lab.model.says(&(ANTHROPIC.events)("2", &["two"], None));
    assert!(lab.ask(&ANTHROPIC, &(ANTHROPIC.conversation)(&[("user", "other")])).text().contains("two"));
    assert!(lab.model.gone().is_none());
    drop(stalled);
}

/// An error in the middle of an answer, as each wire says it.
fn broken(wire: &Wire) -> String {
    let error = "{\"type\":\"overloaded_error\",\"message\":\"busy\"}";
    match wire.name {
        "anthropic" => format!("event: error\ndata: {{\"type\":\"error\",\"error\":{error}}}\n\n"),
        "openai-responses" => {
            "event: error\ndata: {\"type\":\"error\",\"sequence_number\":9,\"message\":\"busy\"}\n\n"
                .to_owned()
        }
        _ => format!("data: {{\"error\":{error}}}\n\n"),
    }
}

#[test]
fn an_error_after_the_head_is_seen_as_it_is() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        let request = post(wire.path, &(wire.conversation)(&[("user", "go")]).to_string());
        let events = (wire.events)("1", &["one "], Some(&["{\"content\":", "1}"]));
        // Behind some text, and with a call under way.
        for sent in [2, events.len() - 2] {
            let mut error = started(&events[..sent]);
            error.push(Do::Chunk(broken(wire).into_bytes()));
            // Ended, broken off, and gone on with the head of another answer where a piece should begin.
            for last in [
                Do::Chunk(Vec::new()),
                Do::Close,
                Do::Write(b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n".to_vec()),
            ] {
                let steps: Vec<Do> = error.iter().cloned().chain([last, Do::Close]).collect();
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
        let mut steps = started(&events[..events.len() - 2]);
        steps.push(Do::Chunk(broken(wire).into_bytes()));
        steps.push(Do::UntilGone);
        lab.model.answers(steps);
        let mut stream = lab.begin(wire, &(wire.conversation)(&[("user", "go")]));
        read_until(&mut stream, &mut String::new(), "busy");
    }
}

/// Memory that is in use, in KiB, and descriptors.
fn usage(lab: &Lab) -> (u64, usize) {
    let status = fs::read_to_string(format!("/proc/{}/status", lab.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let files = fs::read_dir(format!("/proc/{}/fd", lab.pid())).unwrap().count();
    (line.trim().trim_end_matches(" kB").parse().unwrap(), files)
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_reads_slowly_costs_little() {
    let lab = Lab::new(&[NO_MAP]);
    let text = "x".repeat(10_000);
    let many: Vec<&str> = (0..5000).map(|_| text.as_str()).collect();
    lab.model.says(&(CHAT.events)("1", &many, None));
    let before = usage(&lab).0;
    let mut stream = lab.connect();
    stream.write_all(&post(CHAT.path, &(CHAT.conversation)(&[("user", "go")]).to_string())).unwrap();
    thread::sleep(Duration::from_secs(2));
    // Fifty megabytes are waiting; the systems' own buffers hold a few.
    let grown = usage(&lab).0.saturating_sub(before);
    assert!(grown < 16 << 10, "{grown} KiB");
    let mut rest = Vec::new();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    while !rest.ends_with(b"0\r\n\r\n") {
        let mut buffer = vec![0; 1 << 16];
        let len = stream.read(&mut buffer).unwrap();
        assert!(len > 0);
        rest.extend_from_slice(&buffer[..len]);
        rest.drain(..rest.len().saturating_sub(100));
    }
}

/// Waits until a number is told; the connection that asks for it is among those open.
#[track_caller]
fn until_counted(lab: &Lab, line: &str) {
    let told = || lab.get("/__rulebook/metrics").text();
    until(|| told().lines().any(|told| told == line), || format!("{line} in {}", told()));
}

#[cfg(target_os = "linux")]
#[test]
fn connections_leave_nothing_behind() {
    let lab = Lab::new(&[NO_MAP]);
    lab.get("/v1/models");
    until_counted(&lab, "rulebook_connections 1");
    let (_, files) = usage(&lab);
    let idle: Vec<_> = (0..400).map(|_| lab.connect()).collect();
    until_counted(&lab, "rulebook_connections 401");
    assert_eq!(lab.get("/__rulebook/health").status(), 200);
    drop(idle);
    for number in 0..50 {
        lab.model.says(&(CHAT.events)("1", &["new Map"], None));
        lab.model.says(&(CHAT.events)("2", &["fine"], None));
        lab.ask(&CHAT, &(CHAT.conversation)(&[("user", &format!("go {number}"))]));
    }
    until_counted(&lab, "rulebook_connections 1");
    until_counted(&lab, "rulebook_streams 0");
    until(|| usage(&lab).1 <= files, || format!("{} files, {files} before", usage(&lab).1));
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn idle_connections_cost_little_and_memory_comes_back() {
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
            stream.write_all(b"GET /__rulebook/health HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
            read_until(stream, &mut String::new(), "\r\n\r\n");
        }
        until_counted(&lab, &format!("rulebook_connections {}", MANY + 1));
        let open = usage(&lab).0.saturating_sub(before);
        drop(idle);
        until_counted(&lab, "rulebook_connections 1");
        let left = || usage(&lab).0.saturating_sub(before);
        // Pages that were touched for the first time stay.
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
fn nothing_passes_unwatched_where_that_is_asked_for() {
    let gzip = "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n";
    let lab = Lab::new(&[NO_MAP]);
    lab.model.answers(vec![Do::Write(response("200 OK", gzip, "?"))]);
    assert_eq!(lab.ask(&CHAT, &(CHAT.conversation)(&[("user", "go")])).text(), "?");
    lab.until_logged("not watched");
    let lab = Lab::with(&[NO_MAP], &["--fail-closed"]);
    lab.model.answers(vec![Do::Write(response("200 OK", gzip, "?"))]);
    assert_eq!(lab.ask(&CHAT, &(CHAT.conversation)(&[("user", "go")])).status(), 502);
}

#[test]
fn a_conversation_that_cannot_be_read_is_told_and_kept_and_a_newer_one_is_left_alone() {
    let first: &[(&str, &str)] = &[("user", "go")];
    let second: &[(&str, &str)] = &[("user", "go"), ("said", "ok"), ("user", "and on")];
    for (text, told, is_replaced) in [
        ("rubbish", "cannot be read and is not used: not JSON", true),
        ("{\"prefix\":null}", "it has no version", true),
        ("{\"version\":2}", "was written by a newer Rulebook (version 2", false),
    ] {
        let mut lab = Lab::new(&[("always.md", "Always so.\n")]);
        lab.ask(&CHAT, &(CHAT.conversation)(first));
        until(|| lab.has_state(), || "the conversation's state".to_owned());
        lab.start();
        let file = lab.conversation().unwrap();
        assert!(fs::read_to_string(&file).unwrap().starts_with("{\"version\":1,"));
        fs::write(&file, text).unwrap();
        lab.ask(&CHAT, &(CHAT.conversation)(second));
        assert!(lab.model.seen().last().unwrap().text().contains("Always so."), "{text}");
        lab.until_logged(told);
        assert_eq!(fs::read_to_string(&file).unwrap() != text, is_replaced, "{text}");
        let kept = fs::read_to_string(file.with_extension("json.broken")).ok();
        assert_eq!(kept.as_deref(), is_replaced.then_some(text));
    }
}
