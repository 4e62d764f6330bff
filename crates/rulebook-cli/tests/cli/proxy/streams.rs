//! Streams: what goes against a rule is never seen by the client, and the answer that follows goes on in the same one.

use std::io::Read as _;
use std::time::Duration;

use serde_json::Value;

use super::lab::{ANTHROPIC, Answer, CHAT, Do, Lab, RESPONSES, SSE, WIRES, Wire, read_until};

const NO_MAP: (&str, &str) =
    ("no-map.md", "---\ncondition: \"new\\\\s+Map\\\\b\"\n---\nUse a plain object.\n");

fn heard(wire: &Wire, answer: &Answer) -> (String, Vec<String>) {
    (wire.heard)(&answer.events())
}

fn ask(lab: &Lab, wire: &Wire) -> Answer {
    lab.ask(wire, &(wire.conversation)(&[("user", "go")]))
}

/// That an answer is one: one id, indexes that go on, one end, usage of all.
#[track_caller]
fn is_one(wire: &Wire, answer: &Answer, id: &str) {
    let events = answer.events();
    assert!(answer.is_whole, "{}", answer.text());
    let text = answer.text();
    match wire.name {
        "anthropic" => {
            assert_eq!(text.matches("event: message_start").count(), 1);
            assert_eq!(text.matches("event: message_stop").count(), 1);
            assert!(text.contains(&format!("msg_{id}")), "{text}");
            let starts: Vec<u64> = events
                .iter()
                .filter(|e| e["type"] == "content_block_start")
                .map(|e| e["index"].as_u64().unwrap())
                .collect();
            let stops: Vec<u64> = events
                .iter()
                .filter(|e| e["type"] == "content_block_stop")
                .map(|e| e["index"].as_u64().unwrap())
                .collect();
            assert_eq!(starts, (0..starts.len() as u64).collect::<Vec<_>>(), "{text}");
            assert_eq!(starts, stops, "{text}");
            let delta = events.iter().find(|e| e["type"] == "message_delta").unwrap();
            assert_eq!(delta["usage"]["input_tokens"], 20, "{text}");
        }
        "openai-chat" => {
            assert!(events.iter().all(|e| e["id"] == format!("chatcmpl-{id}")), "{text}");
            assert_eq!(events.iter().filter(|e| e["choices"][0]["finish_reason"].is_string()).count(), 1);
            assert!(text.ends_with("data: [DONE]\n\n"));
        }
        "openai-responses" => {
            let numbers: Vec<u64> = events.iter().map(|e| e["sequence_number"].as_u64().unwrap()).collect();
            assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "{text}");
            let last = events.last().unwrap();
            assert_eq!(last["type"], "response.completed");
            assert_eq!(last["response"]["id"], format!("resp_{id}"));
            let done: Vec<&Value> = events
                .iter()
                .filter(|e| e["type"] == "response.output_item.done")
                .map(|e| &e["item"])
                .collect();
            let added: Vec<u64> = events
                .iter()
                .filter(|e| e["type"] == "response.output_item.added")
                .map(|e| e["output_index"].as_u64().unwrap())
                .collect();
            assert_eq!(added, (0..added.len() as u64).collect::<Vec<_>>(), "{text}");
            assert_eq!(
                last["response"]["output"].as_array().unwrap().iter().collect::<Vec<_>>(),
                done,
                "{text}"
            );
        }
        _ => assert!(events.iter().all(|e| e["responseId"] == id), "{text}"),
    }
}

#[test]
fn a_text_that_goes_against_a_rule_is_asked_for_again() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.says(&(wire.events)("1", &["Let me. ", "m = ", "new M", "ap(); more"], None));
        lab.model.says(&(wire.events)("2", &["m = ", "{}"], Some(&["{\"content\":\"ok\"}"])));
        let answer = ask(&lab, wire);
        let (text, calls) = heard(wire, &answer);
        assert!(
            text.starts_with("Let me. m = ") && text.ends_with("m = {}") && !text.contains("new"),
            "{}: {text}",
            wire.name
        );
        assert_eq!(calls, ["{\"content\":\"ok\"}"]);
        is_one(wire, &answer, "1");
        let seen = lab.model.seen();
        assert_eq!(seen.len(), 2);
        assert!(
            seen[1].text().contains("<system-interrupt reason=\\\"rule_violation\\\" rule=\\\"no-map\\\""),
            "{}",
            seen[1].text()
        );
        assert!(seen[1].text().contains("Use a plain object."));
        assert!(!seen[1].text().contains("Let me."), "what was said is discarded");
        lab.ledger("\"action\":\"interrupt\"");
        // The rule stays where it was said.
        lab.ask(wire, &(wire.conversation)(&[("user", "go"), ("said", "m = {}"), ("user", "on")]));
        assert_eq!(lab.model.seen()[2].text().matches("<system-interrupt").count(), 1, "{}", wire.name);
    }
}

#[test]
fn a_call_that_goes_against_a_rule_is_never_seen() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.says(&(wire.events)(
            "1",
            &["I write. "],
            Some(&["{\"path\":\"a.ts\",\"content\":\"ne", "w  M", "ap()\"}"]),
        ));
        lab.model.says(&(wire.events)("2", &[], Some(&["{\"path\":\"a.ts\",", "\"content\":\"{}\"}"])));
        let answer = ask(&lab, wire);
        let (text, calls) = heard(wire, &answer);
        assert_eq!(text.trim_end(), "I write.", "{}", wire.name);
        assert_eq!(calls, ["{\"path\":\"a.ts\",\"content\":\"{}\"}"], "{}", answer.text());
        is_one(wire, &answer, "1");
        assert!(lab.model.seen()[1].text().contains("system-interrupt"));
    }
}

#[test]
fn a_match_is_found_however_the_stream_is_cut() {
    let lab = Lab::new(&[NO_MAP]);
    let all = (ANTHROPIC.events)("1", &["é ", "n", "ew", " Ma", "p", "."], None).concat();
    for ending in ["\n", "\r\n"] {
        let all = all.replace('\n', ending);
        for size in [1, 2, 3, 7, 40, 4096] {
            let mut steps = vec![Do::Write(SSE.to_vec())];
            steps.extend(all.as_bytes().chunks(size).map(|chunk| Do::Chunk(chunk.to_vec())));
            lab.model.answers(steps);
            lab.model.says(&(ANTHROPIC.events)("2", &["fine"], None));
            let answer = ask(&lab, &ANTHROPIC);
            assert_eq!(heard(&ANTHROPIC, &answer).0, "é fine", "in chunks of {size}: {}", answer.text());
        }
    }
}

#[test]
fn blocks_are_apart_and_the_end_of_one_decides() {
    let lab = Lab::new(&[NO_MAP]);
    let block = |index: usize, text: &str| {
        [
            format!("data: {{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\n"),
            format!("data: {{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"),
            format!("data: {{\"type\":\"content_block_stop\",\"index\":{index}}}\n\n"),
        ]
        .concat()
    };
    let end = "data: {\"type\":\"message_stop\"}\n\n".to_owned();
    lab.model.says(&[block(0, "new "), block(1, "Map"), end.clone()]);
    assert_eq!(heard(&ANTHROPIC, &ask(&lab, &ANTHROPIC)).0, "new Map");
    lab.model.says(&[block(0, "new Map"), end]);
    lab.model.says(&(ANTHROPIC.events)("2", &["fine"], None));
    assert_eq!(heard(&ANTHROPIC, &ask(&lab, &ANTHROPIC)).0, "fine");
}

const LONG: (&str, &str) = ("long.md", "---\ncondition: 'foo[\\s\\S]*bar'\n---\nNo.\n");

/// An answer whose first events are sent, and the others when the test says go.
fn halted(events: &[String], sent: usize) -> Vec<Do> {
    let chunk = |event: &String| Do::Chunk(event.clone().into_bytes());
    let (first, rest) = events.split_at(sent);
    let first = [Do::Write(SSE.to_vec())].into_iter().chain(first.iter().map(chunk)).chain([Do::Wait]);
    first.chain(rest.iter().map(chunk)).chain([Do::Chunk(Vec::new())]).collect()
}

/// How many events stand before the first that says a text.
fn before(events: &[String], text: &str) -> usize {
    events.iter().position(|event| event.contains(text)).unwrap()
}

#[test]
fn clean_text_waits_for_nothing_and_only_what_is_in_doubt_is_held() {
    for wire in &WIRES {
        let lab = Lab::with(&[NO_MAP], &["--set", "stream.hold_ms=60000"]);
        // In doubt is the end of a delta: behind signs of several bytes, and behind some that JSON writes otherwise.
        for (clean, doubt, rest) in
            [("clean ", "ne", "w Set"), ("é 😀 ", "new ", "Mop"), ("\"a\"\n\\ ", "new\tMa", "t.")]
        {
            let whole = format!("{clean}{doubt}");
            let events = (wire.events)("1", &[&whole, rest], None);
            let written = Value::from(clean).to_string();
            let written = &written[1..written.len() - 1];
            lab.model.answers(halted(&events, before(&events, written) + 1));
            let mut stream = lab.begin(wire, &(wire.conversation)(&[("user", "go")]));
            let mut got = String::new();
            read_until(&mut stream, &mut got, &format!("{written}\""));
            lab.model.go();
            let end = if wire.name == "gemini" { "STOP" } else { "0\r\n\r\n" };
            read_until(&mut stream, &mut got, end);
            let values: Vec<Value> = got
                .lines()
                .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
                .collect();
            assert_eq!((wire.heard)(&values).0, format!("{whole}{rest}"), "{}", wire.name);
            let numbers: Vec<u64> =
                values.iter().filter_map(|value| value["sequence_number"].as_u64()).collect();
            assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "{got}");
        }
    }
}

#[test]
fn a_match_that_began_in_a_delta_takes_only_its_end_away() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.says(&(wire.events)("1", &["I make a new", " Map"], None));
        lab.model.says(&(wire.events)("2", &["plain one"], None));
        let answer = ask(&lab, wire);
        let text = heard(wire, &answer).0;
        assert!(text.starts_with("I make a ") && text.ends_with("plain one"), "{}: {text}", wire.name);
        assert!(!text.contains("new"), "{}: {text}", wire.name);
        is_one(wire, &answer, "1");
    }
}

#[test]
fn doubtful_text_is_let_go_when_it_was_held_for_long() {
    for wire in &WIRES {
        let lab = Lab::with(&[LONG], &["--set", "stream.hold_ms=300"]);
        let events = (wire.events)("1", &["clean ", "foo ", "rest"], None);
        lab.model.answers(halted(&events, before(&events, "\"foo ") + 1));
        // The server says nothing more before it is seen.
        let mut stream = lab.begin(wire, &(wire.conversation)(&[("user", "go")]));
        read_until(&mut stream, &mut String::new(), "foo ");
        lab.model.go();
        lab.until_logged("\"event\":\"released\"");
        lab.ledger("\"action\":\"released\"");
    }
}

#[test]
fn doubtful_text_is_held_until_it_is_decided() {
    for wire in &WIRES {
        let lab = Lab::with(&[LONG], &["--set", "stream.hold_ms=60000"]);
        let events = (wire.events)("1", &["clean ", "foo ", "rest"], None);
        lab.model.answers(halted(&events, before(&events, "\"foo ") + 1));
        let mut stream = lab.begin(wire, &(wire.conversation)(&[("user", "go")]));
        let mut got = String::new();
        read_until(&mut stream, &mut got, "clean ");
        // What comes meanwhile has none of it.
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let mut more = [0; 4096];
        let len = stream.read(&mut more).unwrap_or(0);
        assert!(!format!("{got}{}", String::from_utf8_lossy(&more[..len])).contains("foo"), "{}", wire.name);
        lab.model.go();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        read_until(&mut stream, &mut got, "foo ");
    }
}

#[test]
fn doubtful_text_is_let_go_when_it_is_much() {
    let piece = "x".repeat(1000);
    let large = format!("foo {}", piece.repeat(5));
    // In many deltas, and in one.
    for texts in [&["foo ", &piece, &piece, &piece, &piece, &piece][..], &[&large]] {
        let lab = Lab::with(&[LONG], &["--set", "stream.hold_ms=60000"]);
        let events = (CHAT.events)("1", texts, None);
        lab.model.answers(halted(&events, texts.len() + 1));
        let mut stream = lab.begin(&CHAT, &(CHAT.conversation)(&[("user", "go")]));
        read_until(&mut stream, &mut String::new(), "foo");
        lab.until_logged("\"event\":\"released\"");
    }
}

#[test]
fn a_model_that_never_obeys_is_asked_so_often_and_reminded_then() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        for attempt in 1..=4 {
            lab.model.says(&(wire.events)(&attempt.to_string(), &["new Map()"], None));
        }
        let answer = ask(&lab, wire);
        assert!(heard(wire, &answer).0.ends_with("new Map()"), "{}: {}", wire.name, answer.text());
        assert_eq!(lab.model.seen().len(), 4);
        lab.until_logged("interrupted often enough");
        lab.ledger("\"action\":\"remind\"");
        let conversation: &[(&str, &str)] = &[("user", "go"), ("said", "new Map()"), ("user", "thanks")];
        lab.model.says(&(wire.events)("5", &["new Map()"], None));
        lab.ask(wire, &(wire.conversation)(conversation));
        assert_eq!(lab.model.seen().len(), 5, "{}: told once, it does not fire again", wire.name);
        assert_eq!(lab.model.seen()[4].text().matches("<system-reminder reason").count(), 1);
    }
}

#[test]
fn what_was_said_is_kept_where_the_rule_says_so() {
    for wire in &WIRES {
        let lab = Lab::new(&[("no-map.md", "---\ncondition: new Map\ncontextMode: keep\n---\nNo.\n")]);
        lab.model.says(&(wire.events)("1", &["I begin. ", "new Map"], None));
        lab.model.says(&(wire.events)("2", &["{}"], None));
        let answer = ask(&lab, wire);
        assert!(heard(wire, &answer).0.ends_with("{}"));
        let second = lab.model.seen()[1].text();
        let at = |text: &str| second.find(text).unwrap_or_else(|| panic!("{text} in {second}"));
        assert!(at("I begin. new Map") < at("<system-interrupt"), "{second}");
        assert_eq!(second.matches("<system-interrupt").count(), 1, "{second}");
        serde_json::from_str::<Value>(&second).unwrap();
    }
}

#[test]
fn an_answer_in_one_piece_is_watched_whole() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.tells(&(wire.whole)("new Map()", None));
        lab.model.tells(&(wire.whole)("ok", Some("{\"content\":\"new Map()\"}")));
        lab.model.tells(&(wire.whole)("fine", Some("{\"content\":\"{}\"}")));
        let answer = ask(&lab, wire);
        assert_eq!(
            (wire.heard)(&[answer.json()]),
            ("fine".to_owned(), vec!["{\"content\":\"{}\"}".to_owned()]),
            "{}",
            answer.text()
        );
        assert_eq!(lab.model.seen().len(), 3);
        let usage = &answer.json()[if wire.name == "gemini" { "usageMetadata" } else { "usage" }];
        assert_eq!(
            usage.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).max(),
            Some(30),
            "{}",
            answer.text()
        );
    }
}

#[test]
fn thought_goes_with_what_it_led_to() {
    let lab = Lab::new(&[NO_MAP]);
    let thought = |id: &str| {
        [
            "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}".to_owned(),
            format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"thinking_delta\",\"thinking\":\"new Map {id}\"}}}}"),
            format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"signature_delta\",\"signature\":\"sig{id}\"}}}}"),
            "{\"type\":\"content_block_stop\",\"index\":0}".to_owned(),
        ]
        .map(|data| format!("data: {data}\n\n"))
    };
    let answer = |id: &str, text: &str| {
        let events = (ANTHROPIC.events)(id, &[text], None);
        let rest = events[1..].iter().map(|event| event.replace("\"index\":0", "\"index\":1"));
        [events[0].clone()].into_iter().chain(thought(id)).chain(rest).collect::<Vec<_>>()
    };
    lab.model.says(&answer("1", "new Map"));
    lab.model.says(&answer("2", "fine"));
    let got = ask(&lab, &ANTHROPIC);
    let text = got.text();
    assert!(text.contains("sig2") && !text.contains("sig1") && !text.contains("new Map 1"), "{text}");
    is_one(&ANTHROPIC, &got, "1");
    // A call behind a thought, on a wire that refuses thoughts without what they led to.
    let lab = Lab::new(&[NO_MAP]);
    let reasoned = |id: &str, arguments: &str| {
        let mut events = (RESPONSES.events)(id, &[], Some(&[arguments]));
        let added = format!(
            "event: response.output_item.added\ndata: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"sequence_number\":1,\"item\":{{\"type\":\"reasoning\",\"id\":\"rs_{id}\"}}}}\n\n"
        );
        let done = added.replace("added", "done");
        events =
            events.iter().map(|event| event.replace("\"output_index\":0", "\"output_index\":1")).collect();
        events.splice(1..1, [added, done]);
        events
    };
    lab.model.says(&reasoned("1", "{\"content\":\"new Map()\"}"));
    lab.model.says(&reasoned("2", "{\"content\":\"{}\"}"));
    let got = ask(&lab, &RESPONSES).text();
    assert!(got.contains("rs_2") && !got.contains("rs_1"), "{got}");
}

#[test]
fn thought_is_watched_where_a_rule_says_so() {
    let lab = Lab::new(&[("t.md", "---\ncondition: secret plan\nscope: thinking\n---\nNo.\n")]);
    let events = |thought: &str| {
        let mut events = (CHAT.events)("1", &["said"], None);
        events.insert(1, format!("data: {{\"id\":\"chatcmpl-1\",\"choices\":[{{\"index\":0,\"delta\":{{\"reasoning_content\":\"{thought}\"}}}}]}}\n\n"));
        events
    };
    lab.model.says(&events("a secret plan"));
    lab.model.says(&events("a plan"));
    let answer = ask(&lab, &CHAT);
    assert!(!answer.text().contains("secret plan") && answer.text().contains("a plan"), "{}", answer.text());
    assert_eq!(lab.model.seen().len(), 2);
}

#[test]
fn an_answer_the_client_goes_on_from_is_the_one_the_provider_knows() {
    let lab = Lab::new(&[NO_MAP]);
    lab.model.says(&(RESPONSES.events)("1", &["new Map"], None));
    lab.model.says(&(RESPONSES.events)("2", &["fine"], None));
    ask(&lab, &RESPONSES);
    let mut next = (RESPONSES.conversation)(&[("user", "more")]);
    next["previous_response_id"] = "resp_1".into();
    next["prompt_cache_key"] = "s1".into();
    lab.ask(&RESPONSES, &next);
    assert_eq!(
        lab.model.seen()[2].json()["previous_response_id"],
        "resp_2",
        "{}",
        lab.model.seen()[2].text()
    );
}

#[test]
fn a_trigger_that_takes_too_much_work_is_told_once() {
    let lab = Lab::new(&[("slow.md", "---\ncondition: '(\\w+)\\1+z'\n---\nSlow.\n")]);
    let long = "a".repeat(60_000);
    for _ in 0..3 {
        lab.model.says(&(ANTHROPIC.events)("0", &[&long], None));
        lab.ask(&ANTHROPIC, &(ANTHROPIC.conversation)(&[("user", "hello")]));
    }
    lab.until_logged("unwatched");
    assert_eq!(lab.log().matches("unwatched").count(), 1, "{}", lab.log());
}
