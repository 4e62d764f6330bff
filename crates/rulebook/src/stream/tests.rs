use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::evidence::{Root, Roots};
use crate::format::FormatId;
use crate::parse::{Entry, parse};
use crate::rule::Rule;
use crate::source::{Origin, Source};
use crate::work;

/// A native rule with a trigger and further lines of its header.
fn rule(name: &str, condition: &str, more: &str) -> Rule {
    nested("", name, condition, more)
}

fn nested(folder: &str, name: &str, condition: &str, more: &str) -> Rule {
    rule_in(0, folder, name, condition, more)
}

fn rule_in(root: usize, folder: &str, name: &str, condition: &str, more: &str) -> Rule {
    let path = format!(".rulebook/rules/{name}.md");
    let origin = Origin { root, folder: folder.to_owned(), ..Origin::named(FormatId::Rulebook, &path) };
    let condition = condition.replace('\'', "''");
    let text = Ok(format!("---\ncondition: '{condition}'\n{more}---\nbody").into());
    match parse(Source { origin, text }).entry {
        Entry::Rule(rule) if rule.stream.is_some() => *rule,
        other => panic!("{other:?}"),
    }
}

fn monitor(rules: &[Rule]) -> Monitor {
    let roots = Roots { roots: vec![Root { path: "/repo".to_owned(), ..Root::default() }], home: None };
    Monitor::new(rules.iter().filter_map(Rule::stream_rule), roots)
}

fn shown(hits: &[Hit]) -> Vec<String> {
    let place = |hit: &Hit| {
        let parts = [Some(hit.scope.name()), hit.tool.as_deref(), hit.field.as_deref(), hit.file.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    hits.iter()
        .map(|hit| {
            format!("{} {}..{} l{} {:?} {}", hit.rule, hit.start, hit.end, hit.line, hit.text, place(hit))
        })
        .collect()
}

/// Feeds chunks and finishes the stream.
fn run(rules: &[Rule], kind: &StreamKind, chunks: &[&[u8]]) -> Vec<Hit> {
    let mut monitor = monitor(rules);
    let mut hits: Vec<Hit> = chunks.iter().flat_map(|chunk| monitor.feed("s", kind, chunk)).collect();
    hits.extend(monitor.finish("s"));
    hits
}

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
    check_settled(r"(?<!x)foo", "one\ntwo| foo\nfo|o", &[4, 12, 12]);
    let mut monitor = monitor(&[rule("r", "foo", "")]);
    monitor.feed("call", &StreamKind::Tool("edit".to_owned()), b"{}");
    assert_eq!([monitor.settled("call"), monitor.settled("other")], [0, usize::MAX]);
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
fn a_search_with_too_many_steps_gives_up_and_is_reported() {
    let rules = [
        rule("exponential", r"(?:(?=a)a+)+$", ""),
        rule("line", r"(?m)(?:(?=a)a+)+$", ""),
        rule("fine", r"b(?!c)", ""),
    ];
    let mut monitor = monitor(&rules);
    let text = "a".repeat(30_000) + "!\n" + &("a".repeat(40) + "!\n").repeat(1000) + "b\n!";
    let mut hits = monitor.feed("s", &StreamKind::Text, text.as_bytes());
    hits.extend(monitor.finish("s"));
    assert_eq!(hits.iter().map(|hit| hit.rule.as_str()).collect::<Vec<_>>(), ["fine"]);
    assert_eq!(
        monitor.gave_up().collect::<Vec<_>>(),
        [("exponential", r"(?:(?=a)a+)+$"), ("line", r"(?m)(?:(?=a)a+)+$")]
    );
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

/// The sizes of chunks.
pub(super) fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1]),
        prop::collection::vec(0..6usize, 1..9),
        prop::collection::vec(0..80usize, 1..9)
    ]
}

fn tool(rules: &[Rule], name: &str, arguments: &str) -> Vec<String> {
    shown(&run(rules, &StreamKind::Tool(name.to_owned()), &[arguments.as_bytes()]))
}

#[test]
fn tool_calls_are_decoded_and_watched_by_field_and_file() {
    let any = [rule("r", r#"say "hi"\n"#, "")];
    assert_eq!(
        tool(&any, "bash", r#"{"command": "say \"hi\"\n", "x": "y"}"#),
        ["r 0..9 l1 \"say \\\"hi\\\"\\n\" tool bash command"]
    );
    let empty: [&[u8]; 3] = [b"{\"a\": \"", b"", b"\", \"b\": null}"];
    assert!(run(&[rule("r", "^$", "")], &StreamKind::Tool("edit".to_owned()), &empty).is_empty());
    let field = [rule("r", "foo", "scope: tool:edit.new_string\n")];
    assert_eq!(
        tool(&field, "edit", r#"{"old_string": "foo", "new_string": "a foo"}"#),
        ["r 2..5 l1 \"foo\" tool edit new_string"]
    );
    let gated = [rule("r", "foo", "globs: 'src/**'\n")];
    // The path may come after the content, and be absolute.
    assert_eq!(tool(&gated, "write", r#"{"content": "foo", "file_path": "/repo/src/a.ts"}"#).len(), 1);
    assert_eq!(tool(&gated, "write", r#"{"file_path": "docs/a.md", "content": "foo"}"#).len(), 0);
    let group = [rule("r", "foo", "globs: 'app/(shop)/**'\n")];
    assert_eq!(tool(&group, "write", r#"{"path": "app/(shop)/page.tsx", "content": "foo"}"#).len(), 1);
    let scoped = [rule("r", "foo", "scope: tool:edit(*.ts)\n")];
    assert_eq!(tool(&scoped, "edit", r#"{"edits": [{"path": "a.rs", "new": "foo"}]}"#).len(), 0);
    assert_eq!(tool(&scoped, "edit", r#"{"edits": [{"path": "x/a.ts", "new": "foo"}]}"#).len(), 1);
    let patch = [rule("r", r"\bvar\b", "scope: tool(*.ts)\n")];
    let text = "*** Begin Patch\n*** Update File: a.rs\n+var x\n*** Update File: b.ts\n-var old\n+let y\n+var z\n*** End Patch\n";
    let wire = serde_json::json!({ "input": text }).to_string();
    assert_eq!(tool(&patch, "apply_patch", &wire), ["r 6..9 l2 \"var\" tool apply_patch input b.ts"]);
    assert_eq!(tool(&patch, "apply_patch", text), ["r 6..9 l2 \"var\" tool apply_patch input b.ts"]);
    let wire = serde_json::json!({ "command": ["apply_patch", text] }).to_string();
    assert_eq!(tool(&patch, "shell", &wire), ["r 6..9 l2 \"var\" tool shell command[1] b.ts"]);
    let wired = [rule("r", r#"\\"hi"#, "scope: wire:bash\n")];
    assert_eq!(
        tool(&wired, "bash", r#"{"command": "say \"hi\""}"#),
        ["r 17..21 l1 \"\\\\\\\"hi\" wire bash"]
    );
}

#[test]
fn simultaneous_calls_are_independent() {
    let mut monitor = monitor(&[rule("r", "foo[0-9]+bar", "")]);
    let texts: Vec<String> =
        (0..64).map(|at| format!(r#"{{"command": "foo{at}bar {}"}}"#, "x".repeat(at))).collect();
    let longest = texts.iter().map(String::len).max().unwrap();
    let mut hits = Vec::new();
    for byte in 0..longest {
        for (at, text) in texts.iter().enumerate().filter(|(_, text)| byte < text.len()) {
            hits.extend(monitor.feed(
                &at.to_string(),
                &StreamKind::Tool("bash".to_owned()),
                &text.as_bytes()[byte..=byte],
            ));
        }
    }
    for at in 0..64 {
        hits.extend(monitor.finish(&at.to_string()));
    }
    let mut texts: Vec<String> = hits.into_iter().map(|hit| hit.text).collect();
    texts.sort();
    let mut wanted: Vec<String> = (0..64).map(|at| format!("foo{at}bar")).collect();
    wanted.sort();
    assert_eq!(texts, wanted);
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

#[test]
fn globs_limit_tool_calls_to_matching_files() {
    let rules = [rule("r", "foo", "globs: ['src/**/*.ts', '!src/gen/**']\n")];
    assert_eq!(tool(&rules, "write", r#"{"path": "src/a.ts", "content": "foo"}"#).len(), 1);
    assert_eq!(tool(&rules, "write", r#"{"path": "src/gen/a.ts", "content": "foo"}"#).len(), 0);
    assert_eq!(tool(&rules, "write", r#"{"path": "README.md", "content": "foo"}"#).len(), 0);
    let api = [nested("packages/api", "r", "foo", "globs: ['src/**', '*.rs', '!src/gen/**']\n")];
    let count = |path: &str| tool(&api, "write", &format!(r#"{{"path": "{path}", "content": "foo"}}"#)).len();
    let paths = ["packages/api/src/a.ts", "/repo/packages/api/deep/a.rs", "src/a.ts", "packages/apis/a.rs"];
    assert_eq!(paths.map(count), [1, 1, 0, 0]);
    assert_eq!(["packages/api/src/gen/a.ts", "packages/api", "a.rs"].map(count), [0, 0, 0]);
    // Text that looks like a patch is one only in fields for patches.
    assert_eq!(tool(&[rule("r", "foo", "")], "write", r#"{"content": "@@ a foo here\n"}"#).len(), 1);
    // A glob as a condition applies to tool calls only.
    let mixed = [rule("r", "*.rs", "")];
    assert!(run(&mixed, &StreamKind::Text, &[b"hello"]).is_empty());
    assert!(!tool(&mixed, "edit", r#"{"path": "a.rs", "new": "x"}"#).is_empty());
}

#[test]
fn scopes_and_globs_match_files_alike() {
    #[track_caller]
    fn check(glob: &str, path: &str, opens: bool) {
        let call = format!(r#"{{"path": "{path}", "content": "foo"}}"#);
        for more in [format!("globs: '{glob}'\n"), format!("scope: 'tool({glob})'\n")] {
            let hits = tool(&[rule("r", "foo", &more)], "write", &call);
            assert_eq!(!hits.is_empty(), opens, "{more} for {path}");
        }
    }
    check("app/(shop)/**", "app/(shop)/page.tsx", true);
    check("app/(shop)/**", "app/shop/page.tsx", false);
    check("(shop)/**/*.tsx", "(shop)/[id]/page.tsx", true);
    check("(page).tsx", "app/(page).tsx", true);
    check("app/(a|b)/*.tsx", "app/a/x.tsx", true);
    check("app/@(a|b)/*.tsx", "app/b/x.tsx", true);
    check("app/*(a)/*.tsx", "app/aa/x.tsx", true);
    check("app/(shop)/(..)cart/*.tsx", "app/(shop)/(..)cart/x.tsx", true);
    check("!app/(shop)/**", "app/(shop)/page.tsx", false);
    check("!app/(shop)/**", "app/page.tsx", true);
    check("*.ts", "deep/a.ts", true);
    check("*.ts", "../a.ts", true);
    check("src/*.ts", "deep/src/a.ts", false);
}

#[test]
fn the_globs_of_a_nested_rule_apply_to_its_root() {
    let root = |path: &str| Root { path: path.to_owned(), ..Root::default() };
    let roots = Roots { roots: vec![root("/one"), root("/two")], home: None };
    let check = |path: &str, wanted: [bool; 2]| {
        let opens = [0, 1].map(|root| {
            let rules = [rule_in(root, "api", "r", "foo", "globs: '*.ts'\n")];
            let mut monitor = Monitor::new(rules.iter().filter_map(Rule::stream_rule), roots.clone());
            let call = format!(r#"{{"path": "{path}", "content": "foo "}}"#);
            !monitor.feed("s", &StreamKind::Tool("write".to_owned()), call.as_bytes()).is_empty()
        });
        assert_eq!(opens, wanted, "{path}");
    };
    check("/one/api/a.ts", [true, false]);
    check("/two/api/a.ts", [false, true]);
    check("/two/a.ts", [false, false]);
    check("../two/api/a.ts", [false, true]);
    // A relative path may be in any root.
    check("api/a.ts", [true, true]);
}

#[test]
fn a_field_belongs_to_the_files_of_the_nearest_object_that_names_one() {
    let ts = [rule("r", "foo", "scope: tool(*.ts)\n")];
    #[track_caller]
    fn check(rules: &[Rule], arguments: &str, wanted: &[&str]) {
        let fields: Vec<String> = run(rules, &StreamKind::Tool("edit".to_owned()), &[arguments.as_bytes()])
            .iter()
            .map(|hit| format!("{} {}", hit.field.as_ref().unwrap(), hit.file.as_ref().unwrap()))
            .collect();
        assert_eq!(fields, wanted, "{arguments}");
    }
    check(
        &ts,
        r#"{"edits": [{"path": "a.ts", "new": "foo"}, {"new": "foo", "path": "b.rs"}, {"new": "foo", "path": "c.ts"}]}"#,
        &["edits[0].new a.ts", "edits[2].new c.ts"],
    );
    // One path for many edits, before or after them.
    check(&ts, r#"{"path": "a.ts", "edits": [{"new": "foo"}]}"#, &["edits[0].new a.ts"]);
    check(
        &ts,
        r#"{"edits": [{"new": "foo"}, "foo"], "path": "a.ts"}"#,
        &["edits[0].new a.ts", "edits[1] a.ts"],
    );
    check(&ts, r#"{"path": "a.rs", "edits": [{"new": "foo", "path": "b.ts"}]}"#, &["edits[0].new b.ts"]);
    check(&ts, r#"{"path": "a.ts", "edits": [{"new": "foo", "path": "b.rs"}]}"#, &[]);
    check(&ts, r#"{"a": {"path": "a.ts", "b": [{"c": {"new": "foo"}}]}}"#, &["a.b[0].c.new a.ts"]);
    check(&ts, r#"{"path": "a.ts", "a": {"path": "a.rs", "b": {"new": "foo"}}}"#, &[]);
    // Several paths in one object: each counts.
    check(&ts, r#"{"paths": ["a.rs", "b.ts"], "new": "foo"}"#, &["new b.ts"]);
    check(&ts, r#"{"new": "foo", "path": "a.rs", "files": [["b.ts"]]}"#, &["new b.ts"]);
    // Files of inner and neighbouring objects do not count.
    check(&ts, r#"{"new": "foo", "to": {"path": "a.ts"}}"#, &[]);
    check(&ts, r#"[{"path": "a.ts"}, {"new": "foo"}]"#, &[]);
    check(&ts, r#"{"x.path": "a.ts", "new": "foo"}"#, &[]);
    // Truncated or partly invalid JSON is decided with the available files.
    check(&ts, r#"{"path": "a.ts", "edits": [{"new": "foo"#, &["edits[0].new a.ts"]);
    check(&ts, "{\"path\": \"a.ts\", \"edits\": [{\"new\": \"x\n foo", &["input a.ts"]);
    // One file must match both the scope and the globs.
    let both = [rule("r", "foo", "scope: tool(*.ts)\nglobs: 'src/**'\n")];
    check(&both, r#"{"paths": ["src/a.rs", "b.ts"], "new": "foo"}"#, &[]);
    check(&both, r#"{"new": "foo", "paths": ["b.ts", "src/a.ts"]}"#, &["new src/a.ts"]);
    // For the wire scope, all files of a call count.
    let wire = [rule("r", "foo", "scope: wire(*.ts)\n")];
    assert_eq!(tool(&wire, "edit", r#"{"new": "foo", "to": {"path": "a.ts"}}"#).len(), 1);
}

#[test]
fn a_repeated_file_of_a_patch_is_reported_once() {
    let rules = [rule("r", r"\bvar\b", ""), rule("s", r"\blet\b", "")];
    let text = "*** Begin Patch\n*** Update File: a\n+var x\n*** Update File: b\n+var x\n*** Update File: a\n+var y\n+let z\n*** End Patch\n";
    assert_eq!(
        tool(&rules, "apply_patch", text),
        [
            "r 0..3 l1 \"var\" tool apply_patch input a",
            "r 0..3 l1 \"var\" tool apply_patch input b",
            "s 6..9 l2 \"let\" tool apply_patch input a",
        ]
    );
}

#[test]
fn many_files_and_hits_take_linear_time() {
    let rules = [rule("r", "foo", "scope: tool(*.ts)\n")];
    let call = |count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("f{at}.md")).collect();
        serde_json::json!({ "a": vec!["foo "; count], "paths": names }).to_string()
    };
    work::assert_linear(&call(1500), &call(3000), |call| assert!(tool(&rules, "edit", call).is_empty()));
}

#[test]
fn patterns_beyond_the_total_size_do_not_disable_the_others() {
    let huge = (0..12).map(|at| rule(&format!("huge{at}"), &format!("x{at}[ab]{{1650}}"), ""));
    let rules: Vec<Rule> = std::iter::once(rule("small", "foo", "")).chain(huge).collect();
    assert_eq!(run(&rules, &StreamKind::Text, &[b"a foo "]).len(), 1);
    assert_eq!(monitor(&rules).left_out().len(), 2);
}

#[test]
fn patterns_that_do_not_compile_do_not_disable_larger_ones() {
    let rules = [rule("bytes", r"(?-u:\p{L})", ""), rule("large", &"foo".repeat(300), "")];
    assert_eq!(run(&rules, &StreamKind::Text, &["foo".repeat(300).as_bytes()]).len(), 1);
    assert_eq!(monitor(&rules).left_out(), [("bytes".to_owned(), r"(?-u:\p{L})".to_owned())]);
}

#[test]
fn expensive_patterns_are_dropped_and_light_ones_stay_active() {
    let heavy = (0..100).map(|at| rule(&format!("heavy{at}"), &format!("e.{{0,80}}from{at}"), ""));
    let rules: Vec<Rule> = heavy.chain([rule("light", "forbidden", "")]).collect();
    // Random text without repetitions.
    let mut seed = 1_u64;
    let letters = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b"aest"[(seed >> 62) as usize]
    });
    let text: Vec<u8> = letters.take(150_000).chain(*b" forbidden ").collect();
    let mut monitor = monitor(&rules);
    let hits: Vec<String> =
        monitor.feed("s", &StreamKind::Text, &text).into_iter().map(|hit| hit.rule).collect();
    assert_eq!(hits, ["light"]);
    let gave_up: Vec<&str> = monitor.gave_up().map(|(rule, _)| rule).collect();
    assert!(gave_up.len() > 50 && !gave_up.contains(&"light"), "{gave_up:?}");
    // Streams that started before the drop continue.
    assert_eq!(monitor.feed("t", &StreamKind::Text, b"it is forbidden ").len(), 1);
}

#[test]
fn patterns_with_a_gap_are_matched_in_a_long_text() {
    let rules = [rule("gap", "fn[^]{0,1000}forbidden", ""), rule("line", "let.{0,200}forbidden", "")];
    let code = include_str!("automaton.rs").repeat(20);
    let mut monitor = monitor(&rules);
    assert_eq!(monitor.feed("s", &StreamKind::Text, (code + "fn let forbidden ").as_bytes()).len(), 2);
    assert_eq!(monitor.gave_up().count(), 0);
}

#[test]
fn exponential_patterns_take_linear_time() {
    let rules = [rule("a", r"(a+)+$", ""), rule("b", r"(a|a)*b", ""), rule("c", r"(x+x+)+y", "")];
    let text = |size: usize| "a".repeat(size) + &"x".repeat(size);
    work::assert_linear(&text(20_000), &text(40_000), |text| {
        assert!(run(&rules, &StreamKind::Text, &[text.as_bytes()]).is_empty());
    });
}

#[test]
fn a_pattern_may_have_many_alternatives() {
    let words: Vec<String> = (0..10_000).map(|at| format!("w{at}")).collect();
    assert_eq!(run(&[rule("many", &words.join("|"), "")], &StreamKind::Text, &[b"a w9999"]).len(), 1);
}

/// Arguments of a tool: nested objects, some of which name files.
fn arguments() -> impl Strategy<Value = Value> {
    let file =
        prop::sample::select(vec!["a.ts", "gen/b.ts", "src/c.rs", "/repo/d.ts", " "]).prop_map(Value::from);
    let text = "(foo|\n| |o|é|\"|x){0,6}".prop_map(Value::from);
    let named = (
        "(path|file_path|filename)",
        prop_oneof![file.clone(), prop::collection::vec(file, 0..3).prop_map(Value::from)],
    );
    let leaf = prop_oneof![text, Just(Value::Null), any::<bool>().prop_map(Value::from)];
    let inner = leaf.prop_recursive(4, 40, 5, move |inner| {
        let field = ("(new|old|edits)[01]?", inner.clone());
        let object = prop::collection::vec(prop_oneof![3 => field, 1 => named.clone()], 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            object.prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    inner.prop_filter("arguments are objects or arrays", |value| value.is_object() || value.is_array())
}

/// What the rules of the property below find in a value, by a direct search: `rule field end file`.
fn search<'v>(
    value: &'v Value,
    path: &str,
    around: &mut Vec<&'v serde_json::Map<String, Value>>,
    out: &mut Vec<String>,
) {
    match value {
        Value::Null => {}
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                search(item, &format!("{path}[{index}]"), around, out);
            }
        }
        Value::Object(fields) => {
            around.push(fields);
            for (key, item) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                search(item, &format!("{path}{dot}{key}"), around, out);
            }
            around.pop();
        }
        leaf => {
            let text = leaf.as_str().map_or_else(|| leaf.to_string(), str::to_owned);
            let files = around
                .iter()
                .rev()
                .map(|object| named_in(object))
                .find(|files| !files.is_empty())
                .unwrap_or_default();
            let file = |fits: &dyn Fn(&str) -> bool| files.iter().find(|file| fits(file)).cloned();
            let end = |pattern: &str| regex::Regex::new(pattern).unwrap().shortest_match(&text);
            let is_new = path.ends_with("new");
            for (rule, end, file, gated) in [
                ("free", end(r"(?-u:\b)foo(?-u:\b)"), None, false),
                (
                    "gated",
                    end(r"o+\n"),
                    file(&|file| file.ends_with(".ts") && !file.starts_with("gen/")),
                    true,
                ),
                ("scoped", end("foo|é"), file(&|file| file.ends_with(".rs")), true),
                ("field", end("foo").filter(|_| is_new), None, false),
            ] {
                if let Some(end) = end.filter(|_| !gated || file.is_some()) {
                    out.push(format!("{rule} {path} {end} {file:?}"));
                }
            }
        }
    }
}

/// The files that an object names itself.
fn named_in(object: &serde_json::Map<String, Value>) -> Vec<String> {
    fn texts(value: &Value) -> Vec<&str> {
        match value {
            Value::String(text) => vec![text],
            Value::Array(items) => items.iter().flat_map(texts).collect(),
            _ => vec![],
        }
    }
    let named = object.iter().filter(|(key, _)| matches!(key.as_str(), "path" | "file_path" | "filename"));
    let names = named.flat_map(|(_, value)| texts(value)).filter(|name| !name.trim().is_empty());
    names.map(|name| name.strip_prefix("/repo/").unwrap_or(name).to_owned()).collect()
}

proptest! {
    #[test]
    fn any_split_gives_the_hits_of_the_whole(
        text in "(foo|bar|new Map|per|é|\n|\r\n| |a|b|\\{|\\}|var|\"|x){0,40}",
        sizes in prop::collection::vec(1usize..9, 1..20),
    ) {
        let rules = [
            rule("word", r"\bnew\s+Map\b", ""),
            rule("lines", r"(?m)^foo[^\n]*bar$", ""),
            rule("end", r"bar$", ""),
            rule("class", r"[éa]{2,3}", ""),
            rule("lazy", r"foo[\s\S]*?var", ""),
            rule("around", r"foo(?!bar)", ""),
        ];
        let wire = serde_json::json!({ "path": "x.ts", "content": text }).to_string();
        for (kind, bytes) in [(StreamKind::Text, text.as_bytes()), (StreamKind::Tool("edit".to_owned()), wire.as_bytes())] {
            let sorted = |mut hits: Vec<Hit>| {
                hits.sort_by(|a, b| (&a.rule, a.start).cmp(&(&b.rule, b.start)));
                shown(&hits)
            };
            let whole = sorted(run(&rules, &kind, &[bytes]));
            let mut chunks = Vec::new();
            let mut rest = bytes;
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, more) = rest.split_at((*size).min(rest.len()));
                chunks.push(chunk);
                rest = more;
            }
            prop_assert_eq!(sorted(run(&rules, &kind, &chunks)), whole);
        }
    }

    #[test]
    fn a_call_gives_the_hits_of_a_search_in_each_decoded_string(value in arguments(), sizes in prop::collection::vec(1usize..9, 1..20)) {
        let rules = [
            rule("free", r"\bfoo\b", ""),
            rule("gated", r"o+\n", "globs: ['**/*.ts', '!gen/**']\n"),
            rule("scoped", "foo|é", "scope: tool:edit(*.rs)\n"),
            rule("field", "foo", "scope: 'tool:edit.*new'\n"),
        ];
        let mut wanted = Vec::new();
        search(&value, "", &mut vec![], &mut wanted);
        wanted.sort();
        for wire in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let mut rest = wire.as_bytes();
            let chunks: Vec<&[u8]> = sizes.iter().cycle().map_while(|size| rest.split_off(..(*size).min(rest.len()))).take_while(|chunk| !chunk.is_empty()).collect();
            let hits = run(&rules, &StreamKind::Tool("edit".to_owned()), &chunks);
            let mut found: Vec<String> = hits
                .iter()
                .map(|hit| format!("{} {} {} {:?}", hit.rule, hit.field.as_ref().unwrap(), hit.end, hit.file))
                .collect();
            found.sort();
            prop_assert_eq!(&found, &wanted, "{}", wire);
        }
    }

    #[test]
    fn the_monitor_finds_the_same_as_a_search_of_the_whole_text(text in "(foo|bar|new Map|per|\n| |a|b|x){0,25}") {
        for pattern in ["foo", r"(?-u:\b)foo(?-u:\b)", "a+b", "bar$", "(?m)^b", "foo|bar", "x{2}", "(?s)foo.*bar"] {
            let written = pattern.replace("(?-u:\\b)", "\\b");
            let hits = run(&[rule("r", &written, "")], &StreamKind::Text, &[text.as_bytes()]);
            let ends: Vec<usize> = hits.iter().map(|hit| hit.end).collect();
            let earliest = regex::bytes::Regex::new(pattern).unwrap().shortest_match(text.as_bytes());
            prop_assert_eq!(ends, earliest.into_iter().collect::<Vec<_>>(), "{}", pattern);
        }
    }
}

proptest! {
    #[test]
    fn no_hit_starts_below_the_settled_offset(
        text in "[abfo \\n]{0,60}",
        cuts in prop::collection::vec(1usize..6, 0..60),
        condition in prop::sample::select(vec![
            "foo", "fo+b?", r"\bfoo\b", "a[ab ]*b", r"o\s+f", "(?m)^b.*a$", "a{2,4}f", r"foo[\s\S]*ba",
        ]),
    ) {
        let rules = [rule("r", condition, ""), rule("other", "bab", "")];
        let mut watching = monitor(&rules);
        let (mut rest, mut cuts, mut settled) = (text.as_bytes(), cuts.into_iter().cycle(), 0);
        let mut looks = Vec::new();
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(cuts.next().unwrap_or(3).min(rest.len()));
            rest = more;
            for hit in watching.feed("s", &StreamKind::Text, piece) {
                prop_assert!(hit.start >= settled, "{:?} below {}", hit, settled);
            }
            let now = watching.settled("s");
            prop_assert!(now >= settled && now <= text.len() - rest.len());
            settled = now;
            looks.push((text.len() - rest.len(), now));
        }
        for hit in watching.finish("s") {
            prop_assert!(hit.start >= settled, "{:?} below {}", hit, settled);
        }
        // Single bytes give the same settled offsets.
        let mut single = monitor(&rules);
        for (at, byte) in text.bytes().enumerate() {
            single.feed("s", &StreamKind::Text, &[byte]);
            let now = single.settled("s");
            if let Some((_, wanted)) = looks.iter().find(|(len, _)| *len == at + 1) {
                prop_assert_eq!(now, *wanted);
            }
        }
    }
}

#[test]
fn mandatory_rules_are_not_dropped_for_others() {
    let words: Vec<String> = (0..150).map(|at| format!("secret{at}word")).collect();
    let mut mandatory = rule("mandatory", &words.join("|"), "");
    mandatory.is_mandatory = true;
    let mut looks = rule("looks", "(?<!safe_)danger", "");
    looks.is_mandatory = true;
    let others = (0..400).map(|at| rule(&format!("w{at}"), &format!("{at}{}", "qx".repeat(500)), ""));
    let other_looks = (0..600).map(|at| rule(&format!("l{at}"), &format!("(?!q)zz{at}"), ""));
    let rules: Vec<Rule> = others.chain(other_looks).chain([mandatory, looks]).collect();
    let mut monitor = monitor(&rules);
    assert!(!monitor.left_out().is_empty());
    assert!(monitor.left_out().iter().all(|(rule, _)| rule != "mandatory" && rule != "looks"));
    let text = format!("{} danger secret7word ", "let it be\n".repeat(3_000));
    let mut hits: Vec<String> = monitor
        .feed("s", &StreamKind::Text, text.as_bytes())
        .into_iter()
        .chain(monitor.finish("s"))
        .map(|hit| hit.rule)
        .collect();
    hits.sort();
    assert_eq!(hits, ["looks", "mandatory"]);
}
