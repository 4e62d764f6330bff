//! Hooks as whole processes: events as agents send them, input that is no event, many at once, and kills at any moment.
//!
//! `hooks/HOST/*.json` are events, most of them recorded with `scripts/e2e`, in the order in which they came: what is on
//! standard input, the facts that the ledger has of it, and the answer. `UPDATE=1` writes facts and answers anew.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// A repository and a home of its own.
struct Stage(tempfile::TempDir);

impl Stage {
    fn new(files: &[(&str, &str)]) -> Stage {
        let stage = Stage(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = stage.project().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(stage.project().join(".git")).unwrap();
        stage
    }

    fn project(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("project")
    }

    fn hook(&self, host: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rulebook"));
        command.args(["hook", host]).current_dir(self.project()).env_clear().env("HOME", self.0.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, host: &str, input: &[u8]) -> Output {
        feed(self.hook(host).spawn().unwrap(), input).wait_with_output().unwrap()
    }

    /// Every line of every ledger, the lines of one in their order.
    fn ledgers(&self) -> Vec<String> {
        let state = self.0.path().join(".local/state/rulebook/sessions");
        let mut files = below(&state);
        files.sort();
        let text = files.iter().map(|file| String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned());
        text.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}

/// Standard input, from a thread of its own: a process that reads nothing must not hold up the test.
fn feed(mut child: Child, input: &[u8]) -> Child {
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    thread::spawn(move || drop(stdin.write_all(&input)));
    child
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}

const RULES: &[(&str, &str)] = &[
    (".cursor/rules/web.mdc", "---\nglobs: apps/web/**\n---\nUse function components.\n"),
    (".clinerules/db.md", "---\npaths: [\"db/**\"]\n---\nWrite a migration.\n"),
    (".claude/rules/sql.md", "---\npaths: [\"db/**\"]\n---\nNever select everything.\n"),
    (".rulebook/rules/style.md", "---\nalwaysApply: true\n---\nTwo spaces.\n"),
    ("apps/web/x.tsx", "x\n"),
    ("apps/web/y.tsx", "y\n"),
    ("db/schema.sql", "CREATE TABLE a (id int);\n"),
];

fn samples() -> Vec<(String, Vec<PathBuf>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks");
    let mut hosts: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for file in below(&folder) {
        let host = file.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        hosts.entry(host).or_default().push(file);
    }
    hosts.values_mut().for_each(|files| files.sort());
    hosts.into_iter().collect()
}

#[test]
fn recorded_events_are_understood_and_answered_in_the_hosts_words() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for (host, files) in samples() {
        let stage = Stage::new(RULES);
        let project = stage.project().display().to_string();
        for file in files {
            let mut case: Map<String, Value> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            let stdin = case["stdin"].to_string().replace("/project", &project);
            let asked = case.get("host").and_then(Value::as_str).unwrap_or(&host).to_owned();
            let before = stage.ledgers();
            let mut command = stage.hook(&asked);
            for (name, value) in case.get("env").and_then(Value::as_object).into_iter().flatten() {
                command.env(name, value.as_str().unwrap());
            }
            let output = feed(command.spawn().unwrap(), stdin.as_bytes()).wait_with_output().unwrap();
            assert!(output.status.success() && output.stderr.is_empty(), "{}: {output:?}", file.display());
            let shown = |text: &str| text.replace(&project, "/project");
            let mut facts = stage.ledgers();
            for old in before {
                let at = facts.iter().position(|line| *line == old).unwrap();
                facts.remove(at);
            }
            let facts: Vec<Value> = facts.iter().map(|line| timeless(&shown(line))).collect();
            let answer = match shown(&String::from_utf8(output.stdout).unwrap()) {
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
    assert!(
        update || wrong.is_empty(),
        "not as recorded; read the difference that UPDATE=1 makes: {wrong:#?}"
    );
}

/// A fact without when it was written.
fn timeless(line: &str) -> Value {
    let mut fact: Map<String, Value> = serde_json::from_str(line).unwrap();
    fact.remove("at").unwrap();
    Value::Object(fact)
}

/// Whatever comes in: status 0, and nothing or the host's JSON on standard output.
#[track_caller]
fn holds(host: &str, what: &str, output: &Output) {
    assert!(output.status.success(), "{host}, {what}: {:?}", output.status);
    let said = String::from_utf8(output.stdout.clone()).expect(what);
    assert!(said.is_empty() || serde_json::from_str::<Value>(&said).is_ok(), "{host}, {what}: {said}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.lines().count() <= 1, "{host}, {what}: {told}");
}

#[test]
fn input_that_is_no_event_never_stops_an_agent() {
    const CUTS: usize = 12;
    for (host, files) in samples() {
        let stage = Stage::new(RULES);
        let largest = files.iter().max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap();
        let case: Value = serde_json::from_slice(&fs::read(largest).unwrap()).unwrap();
        let project = stage.project().display().to_string();
        let whole = case["stdin"].to_string().replace("/project", &project);
        for cut in (0..CUTS).map(|at| whole.len() * at / CUTS).chain([1, 2, whole.len() - 1]) {
            let text = &whole.as_bytes()[..cut];
            holds(&host, &format!("cut at {cut}"), &stage.run(&host, text));
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
            ("every key of another type", every_key_is(&case["stdin"], &json!(7)).into_bytes()),
            ("every key null", every_key_is(&case["stdin"], &Value::Null).into_bytes()),
            ("a list", b"[]".to_vec()),
            ("a BOM", [b"\xef\xbb\xbf", whole.as_bytes()].concat()),
        ];
        for (what, input) in hostile {
            holds(&host, what, &stage.run(&host, input));
        }
    }
}

fn every_key_is(event: &Value, value: &Value) -> String {
    let mut event = event.clone();
    for (key, part) in event.as_object_mut().unwrap() {
        // What an event is known by stays.
        if !matches!(key.as_str(), "hook_event_name" | "session_id" | "hookName" | "event") {
            *part = value.clone();
        }
    }
    event.to_string()
}

#[test]
fn an_event_of_fifty_megabytes_is_read() {
    let stage = Stage::new(RULES);
    let text = "look at apps/web/x.tsx and more, ".repeat(50_000_000 / 33);
    let tool = json!({ "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Write",
        "tool_input": { "file_path": "db/schema.sql", "content": text } });
    let prompt = json!({ "session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": text });
    for (event, rule) in [(tool, "db"), (prompt, "web")] {
        let output = stage.run("claude", event.to_string().as_bytes());
        holds("claude", "50 MB", &output);
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("name=\\\"{rule}\\\"")));
    }
    assert!(stage.ledgers().iter().map(String::len).sum::<usize>() < 1 << 20);
}

/// Which rules an answer gives.
fn given(output: &Output) -> Vec<String> {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = said.split("<rulebook-rule name=\\\"").skip(1);
    names.map(|rest| rest.split('\\').next().unwrap().to_owned()).collect()
}

/// Rules for one file each.
fn many_rules(count: usize) -> Vec<(String, String)> {
    let rule =
        |at| (format!(".rulebook/rules/r{at}.md"), format!("---\npaths: src/f{at}.ts\n---\nRule {at}.\n"));
    (0..count).map(rule).collect()
}

fn read_of(file: usize) -> String {
    json!({ "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Read",
        "tool_input": { "file_path": format!("src/f{file}.ts") } })
    .to_string()
}

fn facts_of(stage: &Stage, kind: &str) -> Vec<Value> {
    let lines = stage.ledgers();
    let facts = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    facts.filter(|fact| fact["is"] == kind).collect()
}

#[test]
fn two_hundred_hooks_at_once_lose_nothing_and_say_nothing_twice() {
    const HOOKS: usize = 200;
    const FILES: usize = 40;
    let rules = many_rules(FILES);
    let rules: Vec<(&str, &str)> = rules.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let stage = Stage::new(&rules);
    let started: Vec<Child> = (0..HOOKS)
        .map(|at| feed(stage.hook("claude").spawn().unwrap(), read_of(at % FILES).as_bytes()))
        .collect();
    let outputs: Vec<Output> = started.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    outputs.iter().for_each(|output| holds("claude", "one of many", output));
    let mut said: Vec<String> = outputs.iter().flat_map(given).collect();
    said.sort();
    let mut wanted: Vec<String> = (0..FILES).map(|at| format!("r{at}")).collect();
    wanted.sort();
    assert_eq!(said, wanted);
    assert_eq!(facts_of(&stage, "delivered").len(), FILES);
    let mut seen: Vec<String> =
        facts_of(&stage, "tool").iter().map(|fact| fact["paths"][0].as_str().unwrap().to_owned()).collect();
    seen.sort();
    let mut read: Vec<String> = (0..HOOKS).map(|at| format!("src/f{}.ts", at % FILES)).collect();
    read.sort();
    assert_eq!(seen, read);
}

#[test]
fn a_hook_may_be_killed_at_any_moment() {
    const KILLS: u64 = 120;
    const FILES: usize = 30;
    let rules = many_rules(FILES);
    let rules: Vec<(&str, &str)> = rules.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let stage = Stage::new(&rules);
    let mut said = Vec::new();
    for at in 0..KILLS {
        let input = read_of(usize::try_from(at).unwrap() % FILES);
        let mut child = feed(stage.hook("claude").spawn().unwrap(), input.as_bytes());
        // Spread over what a hook takes, which differs from machine to machine.
        thread::sleep(Duration::from_micros(at * at * 7 % 40_000));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        if serde_json::from_slice::<Value>(&output.stdout).is_ok() {
            said.extend(given(&output));
        }
    }
    let recorded: Vec<String> =
        facts_of(&stage, "delivered").iter().map(|fact| fact["rule"].as_str().unwrap().to_owned()).collect();
    let unique = recorded.iter().collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(unique, recorded.len(), "a rule was claimed twice");
    for rule in &said {
        assert!(recorded.contains(rule), "{rule} was said and is not in the ledger");
    }
    let unreadable =
        stage.ledgers().iter().filter(|line| serde_json::from_str::<Value>(line).is_err()).count();
    assert!(unreadable as u64 <= KILLS, "more lines than kills");
    // Whatever was left over comes with the next events.
    for at in 0..FILES {
        let output = stage.run("claude", read_of(at).as_bytes());
        holds("claude", "after the kills", &output);
        assert!(given(&output).iter().all(|rule| !recorded.contains(rule)));
    }
    assert_eq!(facts_of(&stage, "delivered").len(), FILES);
}
