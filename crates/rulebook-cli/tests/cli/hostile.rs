//! A hostile workspace: every attack in `tests/hostile` is told, and none is effective.
//!
//! An attack is a file there: where it is put, what is told of it, what may never be delivered, then its text, in which
//! `\u{202e}` is a character and `@@40:x@@` is forty of them: the files themselves hide nothing and harm nobody.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use regex::Regex;
use rulebook::hidden::{visible, visible_line};
use serde_json::{Value, json};

#[derive(Default)]
struct Attack {
    name: String,
    at: String,
    root: String,
    make: String,
    told: Vec<String>,
    path: Option<String>,
    never: Vec<String>,
    text: String,
}

fn attacks() -> Vec<Attack> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hostile");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Attack {
    let text = fs::read_to_string(file).unwrap();
    let (head, body) = text.split_once("\n\n").unwrap();
    let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut attack = Attack { name, root: "main".to_owned(), text: expanded(body), ..Attack::default() };
    for line in head.lines() {
        let (key, value) = line.split_once(' ').unwrap();
        match key {
            "at" => attack.at = expanded(value),
            "root" => attack.root = value.to_owned(),
            "make" => attack.make = value.to_owned(),
            "told" => attack.told.push(value.to_owned()),
            "path" => attack.path = Some(value.to_owned()),
            "never" => attack.never.push(value.to_owned()),
            other => panic!("{}: {other}", file.display()),
        }
    }
    assert!(!attack.told.is_empty(), "{}", attack.name);
    attack
}

fn expanded(text: &str) -> String {
    let repeat = Regex::new(r"(?s)@@(\d+):(.*?)@@").unwrap();
    let text =
        repeat.replace_all(text, |found: &regex::Captures<'_>| found[2].repeat(found[1].parse().unwrap()));
    let escape = Regex::new(r"\\u\{([0-9a-f]+)\}").unwrap();
    let character = |found: &regex::Captures<'_>| {
        char::from_u32(u32::from_str_radix(&found[1], 16).unwrap()).unwrap().to_string()
    };
    escape.replace_all(&text, character).into_owned()
}

/// A home, a workspace of several roots, and what lies beside them and is nobody's business.
struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new(attacks: &[Attack]) -> Stage {
        let stage = Stage { folder: tempfile::tempdir().unwrap() };
        for (path, text) in [
            ("home/secret.md", "PRIVATE"),
            ("secret.md", "PRIVATE"),
            ("private/private.md", "PRIVATE"),
            ("home/.config/rulebook/rules/mine.md", "Mine."),
            ("main/.clinerules/style.md", "Be brief."),
        ] {
            fs::create_dir_all(stage.path(path).parent().unwrap()).unwrap();
            fs::write(stage.path(path), text).unwrap();
        }
        attacks.iter().for_each(|attack| stage.put(attack));
        stage
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn put(&self, attack: &Attack) {
        let at = self.path(&attack.root).join(&attack.at);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        let (how, what) = attack.make.split_once(' ').unwrap_or((&attack.make, ""));
        match how {
            "" => fs::write(at, &attack.text).unwrap(),
            "link" => std::os::unix::fs::symlink(what, at).unwrap(),
            "folder" => fs::create_dir(at).unwrap(),
            "fifo" => assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
            "sparse" => fs::File::create(at).unwrap().set_len(what.parse().unwrap()).unwrap(),
            "bytes" => {
                let bytes: Vec<u8> =
                    what.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
                fs::write(at, bytes).unwrap();
            }
            "chain" => {
                fs::write(&at, "See @1.md").unwrap();
                for link in 1..what.parse::<u32>().unwrap() {
                    fs::write(at.with_file_name(format!("{link}.md")), format!("See @{}.md", link + 1))
                        .unwrap();
                }
            }
            other => panic!("{}: {other}", attack.name),
        }
    }

    /// Runs a command over all roots. One that hangs is ended by `timeout`.
    fn run(&self, roots: &BTreeSet<&str>, words: &[&str], input: &str) -> (Value, Duration) {
        let mut command = Command::new("timeout");
        command.arg("20").arg(env!("CARGO_BIN_EXE_rulebook")).args(words);
        roots.iter().for_each(|root| {
            command.arg("--root").arg(self.path(root));
        });
        command.current_dir(self.path("main")).env_clear().env("HOME", self.path("home"));
        let started = Instant::now();
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let took = started.elapsed();
        let value = serde_json::from_slice(&output.stdout);
        (value.unwrap_or_else(|_| panic!("{words:?}: {output:?}")), took)
    }
}

#[test]
fn every_attack_is_told_and_none_is_effective() {
    let attacks = attacks();
    assert!(attacks.len() >= 60);
    let stage = Stage::new(&attacks);
    let roots: BTreeSet<&str> = attacks.iter().map(|attack| attack.root.as_str()).collect();
    let (check, checking) = stage.run(&roots, &["check", "--json"], "");
    let (status, _) = stage.run(&roots, &["status", "--json"], "");
    for text in [&check["diagnostics"], &status].into_iter().flat_map(strings) {
        assert_eq!(visible_line(text), text, "something is hidden in what is told");
    }
    let told: BTreeSet<(&str, &str)> = check["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| (told["code"].as_str().unwrap(), told["path"].as_str().unwrap()))
        .collect();
    let mut untold = Vec::new();
    for attack in &attacks {
        let path = format!("{}/{}", attack.root, attack.path.as_ref().unwrap_or(&attack.at));
        for code in attack.told.iter().filter(|code| !told.contains(&(code, &path))) {
            let instead: Vec<&str> =
                told.iter().filter(|(_, at)| *at == path).map(|(code, _)| *code).collect();
            untold.push(format!("{}: {code} at {path}, but {instead:?}", attack.name));
        }
    }
    assert!(untold.is_empty(), "{untold:#?}");

    let evidence = json!({ "openTabs": attacks.iter().map(|attack| attack.at.as_str()).collect::<Vec<_>>() });
    let (prompt, prompting) =
        stage.run(&roots, &["prompt", "--json", "--evidence", "-"], &evidence.to_string());
    let text = prompt["text"].as_str().unwrap();
    let lines = text.lines();
    let mut headers: Vec<&str> =
        prompt["applied"].as_array().unwrap().iter().map(|rule| rule["source"].as_str().unwrap()).collect();
    assert!(
        headers.contains(&"main/.clinerules/style.md")
            && headers.contains(&"~/.config/rulebook/rules/mine.md")
    );
    let mut found: Vec<&str> = lines.filter(|line| headers.contains(line)).collect();
    headers.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, headers, "a body passes for a rule");
    check_text(text, &attacks);

    let event = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": stage.path("main"), "prompt": "x" });
    let (answer, hooking) = stage.run(&roots, &["hook", "codex"], &event.to_string());
    let (claude, again) = stage.run(&roots, &["hook", "claude"], &event.to_string());
    for answer in [answer, claude] {
        let text = strings(&answer).join("\n");
        check_text(&text, &attacks);
        let count = |part: &str| text.to_lowercase().matches(part).count();
        assert!(count("<rulebook-rule") > 0);
        assert_eq!(count("<rulebook-rule"), count("</rulebook-rule"), "a body closes its block");
        assert_eq!(count("< / rulebook-rule") + count("</system") + count("<system"), 0);
    }
    println!(
        "{} attacks: check {checking:?}, prompt {prompting:?}, hooks {hooking:?} and {again:?}",
        attacks.len()
    );
}

/// Nothing from outside, nothing hidden, nothing an attack says may never be there.
#[track_caller]
fn check_text(text: &str, attacks: &[Attack]) {
    assert!(!text.contains("PRIVATE"), "something outside was read");
    assert_eq!(visible(text), text, "something is hidden");
    for never in attacks.iter().flat_map(|attack| &attack.never) {
        assert!(!text.contains(never), "{never}");
    }
}

/// Every text of a JSON value.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn more_files_than_anybody_needs_are_told_and_leave_room() {
    let stage = Stage::new(&[]);
    let folder = stage.path("main/.cursor/rules");
    fs::create_dir_all(&folder).unwrap();
    for at in 0..10_100 {
        fs::hard_link(stage.path("main/.clinerules/style.md"), folder.join(format!("{at:06}.mdc"))).unwrap();
    }
    let (status, _) = stage.run(&BTreeSet::from(["main"]), &["status", "--json"], "");
    let codes: Vec<&str> =
        status["diagnostics"].as_array().unwrap().iter().map(|told| told["code"].as_str().unwrap()).collect();
    assert!(codes.contains(&"too-many"));
    let sources: Vec<&str> =
        status["rules"].as_array().unwrap().iter().map(|rule| rule["source"].as_str().unwrap()).collect();
    assert!(sources.contains(&"~/.config/rulebook/rules/mine.md"), "a person's own rules have their room");
}
