//! Matches in prose: when they fire, and what may be shown meanwhile.

use super::*;

#[track_caller]
fn check(condition: &str, chunks: &str, wanted: &[&str]) {
    let chunks: Vec<&[u8]> = chunks.split('|').map(str::as_bytes).collect();
    let hits = run(&[rule("r", condition, "")], &StreamKind::Text, &chunks);
    assert_eq!(shown(&hits), wanted, "{condition} over {chunks:?}");
}

/// Checks the settled offset after each chunk.
#[track_caller]
fn check_settled(condition: &str, chunks: &str, wanted: &[usize]) {
    let mut monitor = monitor(&[rule("r", condition, "")]);
    let settled: Vec<usize> = chunks
        .split('|')
        .map(|chunk| {
            monitor.feed("s", &StreamKind::Text, chunk.as_bytes());
            monitor.settled("s")
        })
        .collect();
    assert_eq!(settled, wanted, "{condition} over {chunks}");
}

#[test]
fn text_is_settled_once_no_match_can_include_it() {
    check_settled(r"new\s+Map", "a n|ew| |  Set|n", &[2, 2, 2, 11, 11]);
    check_settled(r"foo[\s\S]*bar", "a foo|  b| fo", &[2, 2, 2]);
    // A reported match is settled one byte after it became certain.
    check_settled(r"ab", "aaaa|a|b|c|d", &[3, 4, 4, 4, 8]);
    check_settled(r"\bMap\b", "xMap| Map|per", &[4, 5, 11]);
    // With look-around, text waits for the end of its line only while a match is possible.
    check_settled(r"(?<!x)foo", "one\ntwo| foo\nfo|o", &[7, 12, 12]);
    check_settled(r"log(?!ger)", "a lo|gger|, and more|\nx", &[2, 2, 2, 20]);
    check_settled(r"(\w)\1!", "a b|", &[2, 2]);
    check_settled(r"(\w)\1zz", "one two|, |three", &[5, 9, 12]);
    check_settled(r"(?=foo)", "one\ntwo|", &[4, 4]);
    let mut monitor = monitor(&[rule("r", "foo", "")]);
    monitor.feed("call", &StreamKind::Tool("edit".to_owned()), b"{}");
    assert_eq!([monitor.settled("call"), monitor.settled("other")], [0, usize::MAX]);
}

#[test]
fn look_around_holds_back_only_the_streams_that_it_watches() {
    for (scope, wanted) in [("tool", 10), ("thinking", 10), ("text", 2)] {
        let mut monitor = monitor(&[rule("r", "log(?!ger)", &format!("scope: {scope}\n"))]);
        monitor.feed("s", &StreamKind::Text, b"a log, yes");
        assert_eq!(monitor.settled("s"), wanted, "{scope}");
    }
}

#[test]
fn a_rule_holds_back_only_the_texts_of_its_scopes() {
    for condition in [".*eval", ".*eval(?!uate)"] {
        for (scope, wanted) in
            [("thinking", 10), ("tool:bash", 10), ("tool:edit(*.ts)", 10), ("wire", 10), ("text", 0)]
        {
            let mut monitor = monitor(&[rule("r", condition, &format!("scope: {scope}\n"))]);
            monitor.feed("s", &StreamKind::Text, b"a log, yes");
            assert_eq!(monitor.settled("s"), wanted, "{condition} {scope}");
        }
    }
}

#[test]
fn a_match_fires_as_soon_as_it_is_certain() {
    check(r"\bnew\s+(Set|Map)\b", "new Map|per(", &[]);
    check(r"\bnew\s+(Set|Map)\b", "x new Map|(", &["r 2..9 l1 \"new Map\" text"]);
    check(r"\bnew\s+(Set|Map)\b", "new Map", &["r 0..7 l1 \"new Map\" text"]);
    check(r"foo$", "foo|\n", &[]);
    check(r"foo$", "a\nfoo", &["r 2..5 l2 \"foo\" text"]);
    check(r"(?m)foo$", "foo|\nx", &["r 0..3 l1 \"foo\" text"]);
    check(r"(?i)FIX", "a f|i|x", &["r 2..5 l1 \"fix\" text"]);
    check(r"[à-ü]{2}x", "é\u{e8}x", &["r 0..5 l1 \"éèx\" text"]);
    check(r"a\r\nb", "a\r|\nb", &["r 0..4 l1 \"a\\r\\nb\" text"]);
    let hits = run(&[rule("r", r"a\r\nb", "")], &StreamKind::Text, &[b"x a\r\nb\r\n"]);
    assert_eq!(hits[0].excerpt, "x a");
    check(r"\bMap\b", "naïve Map ", &["r 7..10 l1 \"Map\" text"]);
    check(r"foo[\s\S]*bar", "foo 1 bar 2 bar", &["r 0..9 l1 \"foo 1 bar\" text"]);
}

#[test]
fn look_around_gives_the_same_result_in_a_bounded_window() {
    check(r"console\.log(?!ger)", "console.log|ger.x\n", &[]);
    check(r"console\.log(?!ger)", "console.log|(1)\nmore", &["r 0..11 l1 \"console.log\" text"]);
    check(r"(\w)\1!", "ab|b!", &["r 1..4 l1 \"bb!\" text"]);
    let edge = "a".repeat(4093);
    check(r"foo(?!bar)", &format!("{edge}foobar"), &[]);
    check(r"foo(?!bar)", &format!("{edge}foobaz"), &["r 4093..4096 l1 \"foo\" text"]);
    check(r"(?<!a)é(?!x)", &format!("{edge}b\u{e9}"), &["r 4094..4096 l1 \"é\" text"]);
    check(r"(?<!a)\w(?!x)é", "bé", &["r 0..3 l1 \"bé\" text"]);
}

#[test]
fn a_look_ahead_waits_for_the_text_it_depends_on() {
    let foo = ["r 0..3 l1 \"foo\" text"];
    check(r"foo(?!\s*bar)", "foo\n\n  bar\n", &[]);
    check(r"foo(?!\s*bar)", "foo\n\n  baz\n", &foo);
    check(r"foo(?!\nbar)", "foo\nbar", &[]);
    check(r"foo(?!\nbar)", "foo\nbaz", &foo);
    check(r"foo(?![\s\S]*bar)", &format!("foo\n{}bar", "x\n".repeat(100)), &[]);
    check(r"foo(?!.*bar)", &format!("foo{}bar\n", "x".repeat(1000)), &[]);
    check(r"foo(?!.*bar)", "foo\nbar", &foo);
    check(r"(?<!a)foo\s*$", "foo\n\nx", &[]);
    check(r"(?<!a)foo\s*$", "foo\n\n", &["r 0..5 l1 \"foo\\n\\n\" text"]);
    check(r"(?m)(?<!a)foo$", "foo\r\nx", &foo);
    check(r"(?<=x\n)\bfoo\b", "x\nfoo\nx", &["r 2..5 l2 \"foo\" text"]);
    // It is reported as soon as no further text can change the result.
    let mut monitor = monitor(&[rule("r", r"foo(?!\s*bar)", ""), rule("s", "foo(?!bar)", "")]);
    let rules = |hits: Vec<Hit>| hits.iter().map(|hit| hit.rule.clone()).collect::<String>();
    assert_eq!(rules(monitor.feed("s", &StreamKind::Text, b"foo\n")), "s");
    assert_eq!(rules(monitor.feed("s", &StreamKind::Text, &b"x\n".repeat(128))), "r");
}

#[test]
fn streams_do_not_mix() {
    let mut monitor = monitor(&[rule("r", "foobar", "scope: text, thinking\n")]);
    let mut hits = Vec::new();
    for (stream, kind, text) in [
        ("m1/0", StreamKind::Text, "foo"),
        ("m1/1", StreamKind::Text, "bar"),
        ("m1/t", StreamKind::Thinking, "bar"),
        ("m2/0", StreamKind::Text, "bar"),
    ] {
        hits.extend(monitor.feed(stream, &kind, text.as_bytes()));
    }
    assert!(hits.is_empty());
    assert_eq!(monitor.feed("m1/0", &StreamKind::Text, b"bar").len(), 0);
    assert_eq!(shown(&monitor.finish("m1/0")), ["r 0..6 l1 \"foobar\" text"]);
    monitor.forget("m1/1");
    assert!(monitor.feed("m1/1", &StreamKind::Text, b"foo").is_empty());
}

#[test]
fn long_streams_and_full_caches_lose_no_match() {
    // Counted repetitions of a class make the automaton large enough to clear its cache from time to time.
    let rules = [rule("big", r"[ab].{12}[cd].{12}e!", ""), rule("open", r"begin[\s\S]*end", "")];
    let line = "abcdefgh ijkl mnop qrst uvwx yz abcd\n".repeat(40_000);
    let text = format!("begin {line} end {line}a0123456789abc0123456789abe!");
    for size in [1usize, 7, 4096, 1 << 20] {
        let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
        let mut monitor = monitor(&rules);
        let mut ends = Vec::new();
        for (at, chunk) in chunks.iter().enumerate() {
            if at % 97 == 0 {
                monitor.feed("other", &StreamKind::Text, b"a begin xx");
            }
            ends.extend(monitor.feed("s", &StreamKind::Text, chunk));
        }
        ends.extend(monitor.finish("s"));
        let ends: Vec<(String, usize)> = ends.into_iter().map(|hit| (hit.rule, hit.end)).collect();
        assert_eq!(
            ends,
            [("open".to_owned(), 6 + line.len() + 4), ("big".to_owned(), text.len())],
            "chunks of {size}"
        );
    }
}

#[test]
fn chunks_do_not_decide_where_text_is_discarded() {
    let rules = [rule("far", r"foo[\s\S]*bar", ""), rule("near", "foobar", "")];
    // Longer than the kept text.
    let long = format!("foo{}bar", "x\n".repeat(700_000));
    let blank = format!("{}{{\"a\": \"foobar y\"}}", " ".repeat(5000));
    let blanks = " ".repeat(200_000) + "foobar y";
    let edge = format!("{} foobar(3)\n", "x = 1; ".repeat(586));
    let call =
        serde_json::json!({ "a": format!("{}foobar y", "x ".repeat(2100)), "path": "é.ts" }).to_string();
    let raw = " \n é \"use strict\"; new foobar()";
    for (kind, text) in [
        (StreamKind::Text, long.as_str()),
        (StreamKind::Text, &edge),
        (StreamKind::Tool("edit".to_owned()), &call),
        (StreamKind::Tool("edit".to_owned()), &blank),
        (StreamKind::Tool("edit".to_owned()), &blanks),
        (StreamKind::Tool("patch".to_owned()), raw),
        (StreamKind::Tool("custom".to_owned()), "\"use strict\";\nnew foobar()"),
    ] {
        let whole = run(&rules, &kind, &[text.as_bytes()]);
        assert!(!whole.is_empty(), "{kind:?}");
        for size in [1, 6, 7, 4099] {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(run(&rules, &kind, &chunks), whole, "{kind:?} by {size}");
        }
    }
}
