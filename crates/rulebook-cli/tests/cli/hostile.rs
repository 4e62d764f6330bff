//! A hostile workspace: every attack in `tests/hostile` is reported, and none has an effect.
//!
//! An attack is a file there: a few lines that say where it is put, what is reported, and what is never delivered; an empty
//! line; its text. In the text `\u{202e}` is that character, and `@@40:x@@` is forty times `x`: the files themselves are
//! harmless and hide nothing.
//!
//! | key | value |
//! |---|---|
//! | `at` | the path of the file in its root |
//! | `root` | the root; `main` by default |
//! | `make` | what to make instead of a file: `link TARGET`, `folder`, `fifo`, `sparse BYTES`, `bytes HEX…`, `chain COUNT` |
//! | `reported` | the code of a diagnostic, at least one |
//! | `path` | the path in the diagnostics, if it is not `at` |
//! | `never` | a text that no output contains |

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::{Captures, Regex};
use rulebook::hidden::{visible, visible_line};
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, feed, texts};

#[derive(Default)]
struct Attack {
    name: String,
    at: String,
    root: String,
    make: String,
    reported: Vec<String>,
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
            "reported" => attack.reported.push(value.to_owned()),
            "path" => attack.path = Some(value.to_owned()),
            "never" => attack.never.push(value.to_owned()),
            other => panic!("{}: unknown key `{other}`", file.display()),
        }
    }
    assert!(!attack.reported.is_empty(), "{}", attack.name);
    attack
}

fn expanded(text: &str) -> String {
    let repeat = Regex::new(r"(?s)@@(\d+):(.*?)@@").unwrap();
    let text = repeat.replace_all(text, |found: &Captures<'_>| found[2].repeat(found[1].parse().unwrap()));
    let escape = Regex::new(r"\\u\{([0-9a-f]+)\}").unwrap();
    let character = |found: &Captures<'_>| {
        char::from_u32(u32::from_str_radix(&found[1], 16).unwrap()).unwrap().to_string()
    };
    escape.replace_all(&text, character).into_owned()
}

/// A workspace with the attacks in its roots, and private files beside them.
struct Stage {
    sandbox: Sandbox,
    roots: BTreeSet<String>,
}

impl Stage {
    fn new(attacks: &[Attack]) -> Stage {
        let sandbox = Sandbox::new(&[
            ("home/secret.md", "PRIVATE"),
            ("secret.md", "PRIVATE"),
            ("private/private.md", "PRIVATE"),
            ("home/.config/rulebook/rules/mine.md", "Mine."),
            ("main/.clinerules/style.md", "Be brief."),
        ]);
        attacks.iter().for_each(|attack| put(&sandbox, attack));
        let roots = attacks.iter().map(|attack| attack.root.clone()).chain(["main".to_owned()]).collect();
        Stage { sandbox, roots }
    }

    /// Runs a command over all roots.
    fn run(&self, words: &[&str], input: &str) -> Value {
        let mut command = self.sandbox.limited(words);
        for root in &self.roots {
            command.arg("--root").arg(self.sandbox.path(root));
        }
        let output = feed(command.current_dir(self.sandbox.path("main")), input.as_bytes());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words:?}: {output:?}"))
    }
}

fn put(sandbox: &Sandbox, attack: &Attack) {
    let at = sandbox.path(&attack.root).join(&attack.at);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    let (how, what) = attack.make.split_once(' ').unwrap_or((&attack.make, ""));
    match how {
        "" => fs::write(at, &attack.text).unwrap(),
        "link" => symlink(what, at).unwrap(),
        "folder" => fs::create_dir(at).unwrap(),
        "fifo" => assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
        "sparse" => fs::File::create(at).unwrap().set_len(what.parse().unwrap()).unwrap(),
        "bytes" => {
            let byte = |byte| u8::from_str_radix(byte, 16).unwrap();
            fs::write(at, what.split(' ').map(byte).collect::<Vec<u8>>()).unwrap();
        }
        "chain" => {
            fs::write(&at, "See @1.md").unwrap();
            for link in 1..what.parse::<u32>().unwrap() {
                let text = format!("See @{}.md", link + 1);
                fs::write(at.with_file_name(format!("{link}.md")), text).unwrap();
            }
        }
        other => panic!("{}: cannot make `{other}`", attack.name),
    }
}

#[test]
fn every_attack_is_reported_and_none_has_an_effect() {
    let attacks = attacks();
    assert!(attacks.len() >= 60);
    let stage = Stage::new(&attacks);
    let check = stage.run(&["check", "--json"], "");
    let status = stage.run(&["status", "--json"], "");
    for text in [&check["diagnostics"], &status].into_iter().flat_map(strings) {
        assert_eq!(visible_line(text), text, "a diagnostic hides something");
    }
    let codes = texts(&check["diagnostics"], "code");
    let reported: BTreeSet<(String, String)> =
        texts(&check["diagnostics"], "path").into_iter().zip(codes).collect();
    for attack in &attacks {
        let path = format!("{}/{}", attack.root, attack.path.as_ref().unwrap_or(&attack.at));
        for code in &attack.reported {
            let instead: Vec<_> = reported.iter().filter(|(at, _)| *at == path).collect();
            let is_reported = reported.contains(&(path.clone(), code.clone()));
            assert!(is_reported, "{}: {code} at {path}, but {instead:?}", attack.name);
        }
    }

    let evidence = json!({ "openTabs": attacks.iter().map(|attack| attack.at.as_str()).collect::<Vec<_>>() });
    let prompt = stage.run(&["prompt", "--json", "--evidence", "-"], &evidence.to_string());
    let text = prompt["text"].as_str().unwrap();
    let mut headers = texts(&prompt["applied"], "source");
    for own in ["main/.clinerules/style.md", "~/.config/rulebook/rules/mine.md"] {
        assert!(headers.contains(&own.to_owned()), "{headers:?}");
    }
    let mut found: Vec<String> =
        text.lines().map(str::to_owned).filter(|line| headers.contains(line)).collect();
    headers.sort();
    found.sort();
    assert_eq!(found, headers, "a body forges a header");
    check_text(text, &attacks);

    let mut event = stage.sandbox.prompt_event("s", "x");
    event["cwd"] = json!(stage.sandbox.path("main"));
    for host in ["codex", "claude"] {
        let answer = stage.run(&["hook", host], &event.to_string());
        let text = strings(&answer).join("\n");
        check_text(&text, &attacks);
        let count = |part: &str| text.to_lowercase().matches(part).count();
        assert!(count("<rulebook-rule") > 0);
        assert_eq!(count("<rulebook-rule"), count("</rulebook-rule"), "a body closes its block");
        assert_eq!(count("< / rulebook-rule") + count("</system") + count("<system"), 0);
    }
}

/// Nothing private, nothing hidden, and nothing that an attack must not deliver.
#[track_caller]
fn check_text(text: &str, attacks: &[Attack]) {
    assert!(!text.contains("PRIVATE"), "a file outside the workspace was read");
    assert_eq!(visible(text), text, "something is hidden");
    for never in attacks.iter().flat_map(|attack| &attack.never) {
        assert!(!text.contains(never), "{never}");
    }
}

/// Every string in a JSON value.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn too_many_files_are_reported_and_leave_room_for_the_users_rules() {
    let stage = Stage::new(&[]);
    let folder = stage.sandbox.path("main/.cursor/rules");
    fs::create_dir_all(&folder).unwrap();
    for at in 0..10_100 {
        let file = folder.join(format!("{at:06}.mdc"));
        fs::hard_link(stage.sandbox.path("main/.clinerules/style.md"), file).unwrap();
    }
    let status = stage.run(&["status", "--json"], "");
    assert!(texts(&status["diagnostics"], "code").contains(&"too-many".to_owned()));
    assert!(texts(&status["rules"], "source").contains(&"~/.config/rulebook/rules/mine.md".to_owned()));
}
