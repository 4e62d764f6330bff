//! Hooks as whole processes: events as agents send them, input that is not an event, many at once, and kills at any moment.
//!
//! `hooks/HOST/*.json` are events, most of them recorded with `scripts/e2e`, in the order in which they were sent: the standard
//! input, the facts that the ledger records, and the answer. `UPDATE=1` rewrites facts and answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::sandbox::{Sandbox, feed, start, stderr, stdout};

impl Sandbox {
    fn feed_hook(&self, host: &str, input: &[u8]) -> Output {
        feed(&mut self.command(&["hook", host]), input)
    }

    /// Every line of every ledger, the lines of one ledger in their order.
    fn ledgers(&self) -> Vec<String> {
        self.lines_by_ledger().into_values().flatten().collect()
    }

    fn lines_by_ledger(&self) -> BTreeMap<PathBuf, Vec<String>> {
        let lines = |file: &PathBuf| {
            String::from_utf8_lossy(&fs::read(file).unwrap()).lines().map(str::to_owned).collect()
        };
        files_below(&self.state("sessions")).into_iter().map(|file| (file.clone(), lines(&file))).collect()
    }

    /// The facts of one kind, in every ledger.
    fn facts(&self, kind: &str) -> Vec<Value> {
        let lines = self.ledgers();
        let facts = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        facts.filter(|fact| fact["is"] == kind).collect()
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

const RULES: &[(&str, &str)] = &[
    ("repo/.cursor/rules/web.mdc", "---\nglobs: apps/web/**\n---\nUse function components.\n"),
    ("repo/.clinerules/db.md", "---\npaths: [\"db/**\"]\n---\nWrite a migration.\n"),
    ("repo/.claude/rules/sql.md", "---\npaths: [\"db/**\"]\n---\nNever select everything.\n"),
    ("repo/.rulebook/rules/style.md", "---\nalwaysApply: true\n---\nTwo spaces.\n"),
    ("repo/apps/web/x.tsx", "x\n"),
    ("repo/apps/web/y.tsx", "y\n"),
    ("repo/db/schema.sql", "CREATE TABLE a (id int);\n"),
];

fn samples() -> Vec<(String, Vec<PathBuf>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks");
    let mut hosts: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in files_below(&folder) {
        let host = file.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        hosts.entry(host).or_default().push(file);
    }
    hosts.values_mut().for_each(|files| files.sort());
    hosts.into_iter().collect()
}

#[test]
fn recorded_events_lead_to_the_recorded_facts_and_answers() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for (host, files) in samples() {
        let sandbox = Sandbox::new(RULES);
        let project = sandbox.path("repo").display().to_string();
        for file in files {
            let mut case: Map<String, Value> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            let stdin = case["stdin"].to_string().replace("/project", &project);
            let host = case.get("host").and_then(Value::as_str).unwrap_or(&host).to_owned();
            let before = sandbox.lines_by_ledger();
            let mut command = sandbox.command(&["hook", &host]);
            for (name, value) in case.get("env").and_then(Value::as_object).into_iter().flatten() {
                command.env(name, value.as_str().unwrap());
            }
            let output = feed(&mut command, stdin.as_bytes());
            assert!(output.status.success() && output.stderr.is_empty(), "{}: {output:?}", file.display());
            let shown = |text: &str| text.replace(&project, "/project");
            // Ledgers only grow.
            let known = |file: &PathBuf| before.get(file).map_or(0, Vec::len);
            let ledgers = sandbox.lines_by_ledger();
            let facts = ledgers.iter().flat_map(|(file, lines)| &lines[known(file)..]);
            let facts: Vec<Value> = facts.map(|line| timeless(&shown(line))).collect();
            let answer = match shown(&stdout(&output)) {
                text if text.is_empty() => Value::Null,
                text => serde_json::from_str(&text).unwrap(),
            };
            let found = [("facts", json!(facts)), ("answer", answer)];
            if found.iter().any(|(key, found)| case.get(*key) != Some(found)) {
                wrong.push(file.display().to_string());
            }
            case.extend(found.map(|(key, value)| (key.to_owned(), value)));
            if update {
                fs::write(&file, serde_json::to_string_pretty(&case).unwrap() + "\n").unwrap();
            }
        }
    }
    assert!(update || wrong.is_empty(), "not as recorded; read the diff that UPDATE=1 makes: {wrong:#?}");
}

/// A fact without its time.
fn timeless(line: &str) -> Value {
    let mut fact: Map<String, Value> = serde_json::from_str(line).unwrap();
    fact.remove("at").unwrap();
    Value::Object(fact)
}

/// Regardless of the input: status 0, at most one line of warning, and nothing or JSON on standard output.
#[track_caller]
fn check_answer(host: &str, what: &str, output: &Output) {
    assert!(output.status.success(), "{host}, {what}: {:?}", output.status);
    let answer = String::from_utf8(output.stdout.clone()).expect(what);
    let is_json = answer.is_empty() || serde_json::from_str::<Value>(&answer).is_ok();
    assert!(is_json, "{host}, {what}: {answer}");
    assert!(stderr(output).lines().count() <= 1, "{host}, {what}: {output:?}");
}

#[test]
fn input_that_is_not_an_event_never_blocks_an_agent() {
    const CUTS: usize = 12;
    for (host, files) in samples() {
        let sandbox = Sandbox::new(RULES);
        let largest = files.iter().max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap();
        let case: Value = serde_json::from_slice(&fs::read(largest).unwrap()).unwrap();
        let project = sandbox.path("repo").display().to_string();
        let whole = case["stdin"].to_string().replace("/project", &project);
        for cut in (0..CUTS).map(|at| whole.len() * at / CUTS).chain([1, 2, whole.len() - 1]) {
            let text = &whole.as_bytes()[..cut];
            check_answer(&host, &format!("cut at {cut}"), &sandbox.feed_hook(&host, text));
        }
        let hostile: &[(&str, Vec<u8>)] = &[
            ("NUL", vec![0; 4096]),
            ("not UTF-8", vec![0xff; 4096]),
            ("not UTF-8 in a string", [b"{\"session_id\":\"", &[0xc3, 0x28][..], b"\"}"].concat()),
            ("deeply nested", vec![b'['; 1 << 20]),
            ("deeply nested in an event", {
                let deep = format!("{}{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
                format!("{{\"tool_input\":{deep}}}").into_bytes()
            }),
            ("two events", format!("{whole}\n{whole}").into_bytes()),
            ("every key of another type", with_every_value(&case["stdin"], &json!(7)).into_bytes()),
            ("every key null", with_every_value(&case["stdin"], &Value::Null).into_bytes()),
            ("a list", b"[]".to_vec()),
            ("a BOM", [b"\xef\xbb\xbf", whole.as_bytes()].concat()),
        ];
        for (what, input) in hostile {
            check_answer(&host, what, &sandbox.feed_hook(&host, input));
        }
    }
}

fn with_every_value(event: &Value, value: &Value) -> String {
    let mut event = event.clone();
    for (key, part) in event.as_object_mut().unwrap() {
        // The keys that identify an event stay.
        if !matches!(key.as_str(), "hook_event_name" | "session_id" | "hookName" | "event") {
            *part = value.clone();
        }
    }
    event.to_string()
}

#[test]
fn an_event_of_fifty_megabytes_is_read() {
    let sandbox = Sandbox::new(RULES);
    let text = "look at apps/web/x.tsx and more, ".repeat(50_000_000 / 33);
    let tool = json!({ "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Write",
        "tool_input": { "file_path": "db/schema.sql", "content": text } });
    let prompt = json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": text });
    for (event, rule) in [(tool, "db"), (prompt, "web")] {
        let output = sandbox.feed_hook("claude", event.to_string().as_bytes());
        check_answer("claude", "50 MB", &output);
        assert!(stdout(&output).contains(&format!("name=\\\"{rule}\\\"")));
    }
    assert!(sandbox.ledgers().iter().map(String::len).sum::<usize>() < 1 << 20);
}

/// The names of the rules in an answer.
fn delivered(output: &Output) -> Vec<String> {
    let answer = stdout(output);
    let names = answer.split("<rulebook-rule name=\\\"").skip(1);
    names.map(|rest| rest.split('\\').next().unwrap().to_owned()).collect()
}

/// A sandbox with this many rules, each for one file.
fn with_rules(count: usize) -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    for at in 0..count {
        let text = format!("---\npaths: src/f{at}.ts\n---\nRule {at}.\n");
        sandbox.write(&format!("repo/.rulebook/rules/r{at}.md"), &text);
    }
    sandbox
}

fn read_of(file: usize) -> Vec<u8> {
    let event = json!({ "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Read",
        "tool_input": { "file_path": format!("src/f{file}.ts") } });
    event.to_string().into_bytes()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

#[test]
fn two_hundred_hooks_at_once_lose_nothing_and_deliver_nothing_twice() {
    const HOOKS: usize = 200;
    const FILES: usize = 40;
    let sandbox = with_rules(FILES);
    let hooks: Vec<Child> =
        (0..HOOKS).map(|at| start(&mut sandbox.command(&["hook", "claude"]), &read_of(at % FILES))).collect();
    let outputs: Vec<Output> = hooks.into_iter().map(|hook| hook.wait_with_output().unwrap()).collect();
    outputs.iter().for_each(|output| check_answer("claude", "one of many", output));
    let rules = (0..FILES).map(|at| format!("r{at}")).collect();
    assert_eq!(sorted(outputs.iter().flat_map(delivered).collect()), sorted(rules));
    assert_eq!(sandbox.facts("delivered").len(), FILES);
    let path = |fact: &Value| fact["paths"][0].as_str().unwrap().to_owned();
    let read = (0..HOOKS).map(|at| format!("src/f{}.ts", at % FILES)).collect();
    assert_eq!(sorted(sandbox.facts("tool").iter().map(path).collect()), sorted(read));
}

#[test]
fn a_hook_may_be_killed_at_any_moment() {
    const KILLS: u64 = 120;
    const FILES: usize = 30;
    let sandbox = with_rules(FILES);
    let mut received = Vec::new();
    for at in 0..KILLS {
        let input = read_of(usize::try_from(at).unwrap() % FILES);
        let mut hook = start(&mut sandbox.command(&["hook", "claude"]), &input);
        // Delays spread over the run of a hook; the checks hold for any delay.
        thread::sleep(Duration::from_micros(at * at * 7 % 40_000));
        let _ = hook.kill();
        let output = hook.wait_with_output().unwrap();
        if serde_json::from_slice::<Value>(&output.stdout).is_ok() {
            received.extend(delivered(&output));
        }
    }
    let rule = |fact: &Value| fact["rule"].as_str().unwrap().split('@').next().unwrap().to_owned();
    let recorded: Vec<String> = sandbox.facts("delivered").iter().map(rule).collect();
    assert_eq!(recorded.iter().collect::<BTreeSet<_>>().len(), recorded.len(), "a rule was claimed twice");
    for rule in &received {
        assert!(recorded.contains(rule), "{rule} was delivered but is not in the ledger");
    }
    let lines = sandbox.ledgers();
    let unreadable = lines.iter().filter(|line| serde_json::from_str::<Value>(line).is_err()).count();
    assert!(unreadable as u64 <= KILLS, "{unreadable} lines after {KILLS} kills");
    // The next events deliver the rest.
    for at in 0..FILES {
        let output = sandbox.feed_hook("claude", &read_of(at));
        check_answer("claude", "after the kills", &output);
        assert!(delivered(&output).iter().all(|rule| !recorded.contains(rule)));
    }
    assert_eq!(sandbox.facts("delivered").len(), FILES);
}
