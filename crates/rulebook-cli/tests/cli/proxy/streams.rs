//! Streams: the client never sees what a rule forbids, and the next answer continues in the same stream.

use serde_json::Value;

use super::lab::{Answer, Do, Lab, SSE, begun, read_until, values};
use super::wires::{ANTHROPIC, CHAT, GO, RESPONSES, WIRES, Wire};

const NO_MAP: (&str, &str) =
    ("no-map.md", "---\ncondition: \"new\\\\s+Map\\\\b\"\n---\nUse a plain object.\n");

/// The text and the calls that a client reads in an answer.
fn received(wire: &Wire, answer: &Answer) -> (String, Vec<String>) {
    (wire.received)(&answer.events())
}

/// Checks that an answer is one stream: one id, consecutive indexes, one end, the usage of all requests.
#[track_caller]
fn check_stream(wire: &Wire, answer: &Answer, id: &str) {
    let events = answer.events();
    assert!(answer.is_whole, "{}", answer.text());
    let text = answer.text();
    let of = |kind: &str| events.iter().filter(move |event| event["type"] == kind).collect::<Vec<_>>();
    let numbers = |events: &[&Value], key: &str| -> Vec<u64> {
        events.iter().map(|event| event[key].as_u64().unwrap()).collect()
    };
    let consecutive =
        |numbers: &[u64]| assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "{text}");
    match wire.name {
        "anthropic" => {
            assert_eq!((of("message_start").len(), of("message_stop").len()), (1, 1));
            assert!(text.contains(&format!("msg_{id}")), "{text}");
            let starts = numbers(&of("content_block_start"), "index");
            consecutive(&starts);
            assert_eq!(starts, numbers(&of("content_block_stop"), "index"), "{text}");
            assert_eq!(of("message_delta")[0]["usage"]["input_tokens"], 20, "{text}");
        }
        "openai-chat" => {
            assert!(events.iter().all(|event| event["id"] == format!("chatcmpl-{id}")), "{text}");
            let is_end = |event: &&Value| event["choices"][0]["finish_reason"].is_string();
            assert_eq!(events.iter().filter(is_end).count(), 1);
            assert!(text.ends_with("data: [DONE]\n\n"));
        }
        "openai-responses" => {
            consecutive(&numbers(&events.iter().collect::<Vec<_>>(), "sequence_number"));
            consecutive(&numbers(&of("response.output_item.added"), "output_index"));
            let last = events.last().unwrap();
            assert_eq!(last["type"], "response.completed");
            assert_eq!(last["response"]["id"], format!("resp_{id}"));
            let done: Vec<Value> =
                of("response.output_item.done").iter().map(|event| event["item"].clone()).collect();
            assert_eq!(last["response"]["output"], Value::from(done), "{text}");
        }
        _ => assert!(events.iter().all(|event| event["responseId"] == id), "{text}"),
    }
}

#[test]
fn an_answer_with_forbidden_text_is_requested_again() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.streams(&(wire.events)("1", &["Let me. ", "m = ", "new M", "ap(); more"], None));
        lab.model.streams(&(wire.events)("2", &["m = ", "{}"], Some(&["{\"content\":\"ok\"}"])));
        let answer = lab.ask(wire, GO);
        let (text, calls) = received(wire, &answer);
        assert!(
            text.starts_with("Let me. m = ") && text.ends_with("m = {}") && !text.contains("new"),
            "{}: {text}",
            wire.name
        );
        assert_eq!(calls, ["{\"content\":\"ok\"}"]);
        check_stream(wire, &answer, "1");
        let seen = lab.model.seen();
        assert_eq!(seen.len(), 2);
        assert!(
            seen[1].text().contains("<system-interrupt reason=\\\"rule_violation\\\" rule=\\\"no-map\\\""),
            "{}",
            seen[1].text()
        );
        assert!(seen[1].text().contains("Use a plain object."));
        assert!(!seen[1].text().contains("Let me."), "the first answer is discarded");
        lab.ledger("\"action\":\"interrupt\"");
        // The rule stays where it was delivered.
        lab.ask(wire, &[("user", "go"), ("assistant", "m = {}"), ("user", "on")]);
        assert_eq!(lab.model.seen()[2].text().matches("<system-interrupt").count(), 1, "{}", wire.name);
    }
}

#[test]
fn a_forbidden_call_never_reaches_the_client() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.streams(&(wire.events)(
            "1",
            &["I write. "],
            Some(&["{\"path\":\"a.ts\",\"content\":\"ne", "w  M", "ap()\"}"]),
        ));
        lab.model.streams(&(wire.events)("2", &[], Some(&["{\"path\":\"a.ts\",", "\"content\":\"{}\"}"])));
        let answer = lab.ask(wire, GO);
        let (text, calls) = received(wire, &answer);
        assert_eq!(text.trim_end(), "I write.", "{}", wire.name);
        assert_eq!(calls, ["{\"path\":\"a.ts\",\"content\":\"{}\"}"], "{}", answer.text());
        check_stream(wire, &answer, "1");
        assert!(lab.model.seen()[1].text().contains("system-interrupt"));
    }
}

#[test]
fn a_match_is_found_in_any_chunks() {
    let lab = Lab::new(&[NO_MAP]);
    let all = (ANTHROPIC.events)("1", &["é ", "n", "ew", " Ma", "p", "."], None).concat();
    for ending in ["\n", "\r\n"] {
        let all = all.replace('\n', ending);
        for size in [1, 2, 3, 7, 40, 4096] {
            let mut steps = vec![Do::Write(SSE.to_vec())];
            steps.extend(all.as_bytes().chunks(size).map(|chunk| Do::Chunk(chunk.to_vec())));
            lab.model.answers(steps);
            lab.model.streams(&(ANTHROPIC.events)("2", &["fine"], None));
            let answer = lab.ask(&ANTHROPIC, GO);
            assert_eq!(received(&ANTHROPIC, &answer).0, "é fine", "in chunks of {size}: {}", answer.text());
        }
    }
}

#[test]
fn a_match_does_not_span_blocks() {
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
    lab.model.streams(&[block(0, "new "), block(1, "Map"), end.clone()]);
    assert_eq!(received(&ANTHROPIC, &lab.ask(&ANTHROPIC, GO)).0, "new Map");
    lab.model.streams(&[block(0, "new Map"), end]);
    lab.model.streams(&(ANTHROPIC.events)("2", &["fine"], None));
    assert_eq!(received(&ANTHROPIC, &lab.ask(&ANTHROPIC, GO)).0, "fine");
}

const LONG: (&str, &str) = ("long.md", "---\ncondition: 'foo[\\s\\S]*bar'\n---\nNo.\n");

/// An answer that waits for the test after the first event with a text.
fn halted(events: &[String], text: &str) -> Vec<Do> {
    let first = events.iter().position(|event| event.contains(text)).unwrap() + 1;
    let mut steps = begun(events);
    // The head is the first step.
    steps.insert(1 + first, Do::Wait);
    steps.push(Do::Chunk(Vec::new()));
    steps
}

#[test]
fn only_doubtful_text_is_held_and_clean_text_passes_at_once() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        // The end of a delta is in doubt: after characters of several bytes, and after some that JSON escapes.
        for (clean, doubt, rest) in
            [("clean ", "ne", "w Set"), ("é 😀 ", "new ", "Mop"), ("\"a\"\n\\ ", "new\tMa", "t.")]
        {
            let whole = format!("{clean}{doubt}");
            let events = (wire.events)("1", &[&whole, rest], None);
            let written = Value::from(clean).to_string();
            let written = &written[1..written.len() - 1];
            lab.model.answers(halted(&events, written));
            let mut stream = lab.begin(wire, GO);
            let mut got = Vec::new();
            read_until(&mut stream, &mut got, &format!("{written}\""));
            lab.model.resume();
            let end = if wire.name == "gemini" { "STOP" } else { "0\r\n\r\n" };
            read_until(&mut stream, &mut got, end);
            let got = String::from_utf8(got).unwrap();
            let values = values(&got);
            assert_eq!((wire.received)(&values).0, format!("{whole}{rest}"), "{}", wire.name);
            let numbers: Vec<u64> =
                values.iter().filter_map(|value| value["sequence_number"].as_u64()).collect();
            assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "{got}");
        }
    }
}

#[test]
fn only_the_end_of_a_delta_in_which_a_match_begins_is_removed() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.streams(&(wire.events)("1", &["I make a new", " Map"], None));
        lab.model.streams(&(wire.events)("2", &["plain one"], None));
        let answer = lab.ask(wire, GO);
        let text = received(wire, &answer).0;
        assert!(text.starts_with("I make a ") && text.ends_with("plain one"), "{}: {text}", wire.name);
        assert!(!text.contains("new"), "{}: {text}", wire.name);
        check_stream(wire, &answer, "1");
    }
}

#[test]
fn doubtful_text_is_released_after_a_time() {
    for wire in &WIRES {
        let lab = Lab::with(&[LONG], &["--set", "stream.hold_ms=1"]);
        lab.model.answers(halted(&(wire.events)("1", &["clean ", "foo ", "rest"], None), "\"foo "));
        let mut stream = lab.begin(wire, GO);
        // The server sends nothing more before the client has it.
        read_until(&mut stream, &mut Vec::new(), "foo ");
        lab.model.resume();
        lab.until_logged("\"event\":\"released\"");
        lab.ledger("\"action\":\"released\"");
    }
}

#[test]
fn doubtful_text_is_held_until_it_is_decided() {
    for wire in &WIRES {
        for (last, is_seen) in [("bar", false), ("baz", true)] {
            let lab = Lab::new(&[LONG]);
            lab.model.answers(halted(&(wire.events)("1", &["clean ", "foo ", last], None), "\"foo "));
            lab.model.streams(&(wire.events)("2", &["fine"], None));
            let mut stream = lab.begin(wire, GO);
            let mut got = Vec::new();
            read_until(&mut stream, &mut got, "clean ");
            lab.model.resume();
            read_until(&mut stream, &mut got, if is_seen { last } else { "fine" });
            let got = String::from_utf8(got).unwrap();
            assert_eq!(got.contains("foo "), is_seen, "{}: {got}", wire.name);
        }
    }
}

#[test]
fn doubtful_text_is_released_when_it_is_long() {
    let piece = "x".repeat(1000);
    let (large, last) = (format!("foo {}", piece.repeat(5)), format!("{piece}."));
    // In several deltas, and in one.
    for texts in [&["foo ", &piece, &piece, &piece, &piece, &last][..], &[&large]] {
        let lab = Lab::new(&[LONG]);
        let events = (CHAT.events)("1", texts, None);
        lab.model.answers(halted(&events, texts.last().unwrap()));
        let mut stream = lab.begin(&CHAT, GO);
        read_until(&mut stream, &mut Vec::new(), "foo");
        lab.until_logged("\"event\":\"released\"");
    }
}

#[test]
fn a_model_that_never_obeys_is_asked_again_three_times_and_then_reminded() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        for attempt in 1..=4 {
            lab.model.streams(&(wire.events)(&attempt.to_string(), &["new Map()"], None));
        }
        let answer = lab.ask(wire, GO);
        assert!(received(wire, &answer).0.ends_with("new Map()"), "{}: {}", wire.name, answer.text());
        assert_eq!(lab.model.seen().len(), 4);
        lab.until_logged("interrupted as often as allowed");
        lab.ledger("\"action\":\"remind\"");
        let conversation: &[(&str, &str)] = &[("user", "go"), ("assistant", "new Map()"), ("user", "thanks")];
        lab.model.streams(&(wire.events)("5", &["new Map()"], None));
        lab.ask(wire, conversation);
        assert_eq!(lab.model.seen().len(), 5, "{}: a delivered rule fires again", wire.name);
        assert_eq!(lab.model.seen()[4].text().matches("<system-reminder reason").count(), 1);
    }
}

#[test]
fn a_rule_can_keep_the_interrupted_answer() {
    for wire in &WIRES {
        let lab = Lab::new(&[("no-map.md", "---\ncondition: new Map\ncontextMode: keep\n---\nNo.\n")]);
        lab.model.streams(&(wire.events)("1", &["I begin. ", "new Map"], None));
        lab.model.streams(&(wire.events)("2", &["{}"], None));
        let answer = lab.ask(wire, GO);
        assert!(received(wire, &answer).0.ends_with("{}"));
        let second = lab.model.seen()[1].text();
        let at = |text: &str| second.find(text).unwrap_or_else(|| panic!("{text} in {second}"));
        assert!(at("I begin. new Map") < at("<system-interrupt"), "{second}");
        assert_eq!(second.matches("<system-interrupt").count(), 1, "{second}");
        serde_json::from_str::<Value>(&second).unwrap();
    }
}

#[test]
fn an_answer_as_one_value_is_watched() {
    for wire in &WIRES {
        let lab = Lab::new(&[NO_MAP]);
        lab.model.returns(&(wire.whole)("new Map()", None));
        lab.model.returns(&(wire.whole)("ok", Some("{\"content\":\"new Map()\"}")));
        lab.model.returns(&(wire.whole)("fine", Some("{\"content\":\"{}\"}")));
        let answer = lab.ask(wire, GO);
        assert_eq!(
            (wire.received)(&[answer.json()]),
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
fn thinking_is_removed_with_the_text_it_led_to() {
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
    lab.model.streams(&answer("1", "new Map"));
    lab.model.streams(&answer("2", "fine"));
    let got = lab.ask(&ANTHROPIC, GO);
    let text = got.text();
    assert!(text.contains("sig2") && !text.contains("sig1") && !text.contains("new Map 1"), "{text}");
    check_stream(&ANTHROPIC, &got, "1");
    // A call after thinking, on a wire that refuses thinking without what it led to.
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
    lab.model.streams(&reasoned("1", "{\"content\":\"new Map()\"}"));
    lab.model.streams(&reasoned("2", "{\"content\":\"{}\"}"));
    let got = lab.ask(&RESPONSES, GO).text();
    assert!(got.contains("rs_2") && !got.contains("rs_1"), "{got}");
}

#[test]
fn thinking_is_watched_if_a_rule_asks_for_it() {
    let lab = Lab::new(&[("t.md", "---\ncondition: secret plan\nscope: thinking\n---\nNo.\n")]);
    let events = |thought: &str| {
        let mut events = (CHAT.events)("1", &["assistant"], None);
        events.insert(1, format!("data: {{\"id\":\"chatcmpl-1\",\"choices\":[{{\"index\":0,\"delta\":{{\"reasoning_content\":\"{thought}\"}}}}]}}\n\n"));
        events
    };
    lab.model.streams(&events("a secret plan"));
    lab.model.streams(&events("a plan"));
    let answer = lab.ask(&CHAT, GO);
    assert!(!answer.text().contains("secret plan") && answer.text().contains("a plan"), "{}", answer.text());
    assert_eq!(lab.model.seen().len(), 2);
}

#[test]
fn the_next_request_refers_to_the_answer_that_the_provider_knows() {
    let lab = Lab::new(&[NO_MAP]);
    lab.model.streams(&(RESPONSES.events)("1", &["new Map"], None));
    lab.model.streams(&(RESPONSES.events)("2", &["fine"], None));
    lab.ask(&RESPONSES, GO);
    let mut next = (RESPONSES.conversation)(&[("user", "more")]);
    next["previous_response_id"] = "resp_1".into();
    next["prompt_cache_key"] = "s1".into();
    lab.send_json(&RESPONSES, &next);
    let last = lab.model.last();
    assert_eq!(last.json()["previous_response_id"], "resp_2", "{}", last.text());
}

#[test]
fn a_trigger_that_takes_too_much_work_is_reported_once() {
    let lab = Lab::new(&[("slow.md", "---\ncondition: '(\\w+)\\1+z'\n---\nSlow.\n")]);
    let long = "a".repeat(60_000);
    for _ in 0..3 {
        lab.model.streams(&(ANTHROPIC.events)("0", &[&long], None));
        lab.ask(&ANTHROPIC, &[("user", "hello")]);
    }
    lab.until_logged("unwatched");
    assert_eq!(lab.log().matches("unwatched").count(), 1, "{}", lab.log());
}
