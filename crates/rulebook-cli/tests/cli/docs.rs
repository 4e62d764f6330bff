//! The examples in README and `docs/`: commands run and print what is shown, settings are read, rules are parsed and do what
//! their examples say, JSON is JSON.

use std::fs;
use std::path::{Path, PathBuf};

use rulebook::format::FormatId;
use rulebook::parse::parse;
use rulebook::source::Source;
use rulebook_workspace::settings::{Layer, LayerKind, merge};
use serde_json::Value;

use crate::sandbox::{Sandbox, path_with_binary, stderr};

/// Commands that do not end by themselves.
const SERVERS: &[&str] = &[
    "rulebook ui",
    "rulebook ui --open",
    "rulebook proxy -- claude",
    "rulebook proxy --listen 127.0.0.1:8090",
];

/// A fenced block of a page.
struct Block {
    page: String,
    language: String,
    text: String,
}

fn blocks() -> Vec<Block> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = fs::read_dir(top.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        listed.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.push(top.join("README.md"));
    pages.sort();
    let mut blocks = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(language) = line.strip_prefix("```") else { continue };
            let inner: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block {
                page: page.file_name().unwrap().to_string_lossy().into_owned(),
                language: language.to_owned(),
                text: inner.join("\n") + "\n",
            });
        }
    }
    assert!(blocks.len() > 30, "{} blocks", blocks.len());
    blocks
}

fn of_language(language: &str) -> Vec<Block> {
    let found: Vec<Block> = blocks().into_iter().filter(|block| block.language == language).collect();
    assert!(!found.is_empty(), "no block in {language}");
    found
}

/// The rules in the docs, as files of the native format.
fn rules() -> Vec<(String, String)> {
    let blocks = of_language("markdown").into_iter().filter(|block| block.text.starts_with("---\n"));
    blocks.enumerate().map(|(at, block)| (format!("{} {at}", block.page), block.text + "Text.\n")).collect()
}

#[test]
fn every_command_in_the_docs_runs() {
    let sandbox = Sandbox::new(&[
        ("repo/src/a.ts", ""),
        ("repo/apps/web/page.tsx", ""),
        ("repo/CLAUDE.md", "Be brief."),
        ("repo/.rulebook/rules/db.md", "---\npaths: ['db/**']\n---\nWrite a migration."),
        ("repo/.rulebook/rules/id.md", "Short names."),
        ("repo/evidence.json", "{\"message\": \"fix src/a.ts\"}"),
        ("repo/answer.txt", "x = new Map()\n"),
    ]);
    fs::remove_dir_all(sandbox.path("repo/.git")).unwrap();
    for (at, (_, text)) in rules().iter().enumerate() {
        sandbox.write(&format!("repo/.rulebook/rules/docs-{at}.md"), text);
    }
    let run = |line: &str| {
        let mut command = sandbox.program("/bin/sh");
        command.env("PATH", path_with_binary()).args(["-c", line]).output().unwrap()
    };
    let commit = "git init -q -b main . && git add -A && git -c user.name=a -c user.email=a@a commit -qm a";
    assert!(run(commit).status.success());
    sandbox.hook("claude", &sandbox.prompt_event("ID", "hello"));
    let mut servers: Vec<&str> = SERVERS.to_vec();
    let mut count = 0;
    for Block { page, text, .. } in of_language("sh") {
        let lines = text.lines().filter(|line| line.split(' ').next() == Some("rulebook"));
        for line in lines {
            let line = line.split(" #").next().unwrap_or(line).split(" | ").next().unwrap_or(line).trim();
            if SERVERS.contains(&line) {
                servers.retain(|server| *server != line);
                continue;
            }
            let output = run(line);
            // 1 is an answer: `check` found something. The examples in the rules of the docs hold.
            let is_test = line.starts_with("rulebook test");
            let is_answer = output.status.success() || !is_test && output.status.code() == Some(1);
            assert!(is_answer, "{page}: `{line}` ended with {}: {}", output.status, stderr(&output));
            count += 1;
        }
    }
    assert!(count > 30, "{count} commands");
    assert!(servers.is_empty(), "no page names {servers:?}: remove them from the list");
}

#[test]
fn every_setting_in_the_docs_is_read() {
    const KEY: &str = include_str!("../../../rulebook-workspace/src/remote/tests/minisign.pub");
    let is_manifest = |block: &Block| block.text.starts_with("[dependencies]");
    for Block { page, text, .. } in of_language("toml").into_iter().filter(|block| !is_manifest(block)) {
        let key = KEY.lines().last().unwrap();
        let text = text
            .replace("\"RW…\"", &format!("\"{key}\""))
            .replace("\"…\"", &format!("\"{}\"", "0".repeat(64)));
        let layer = Layer { kind: LayerKind::User, display: page, text };
        let (_, diagnostics) = merge(&[layer]);
        assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    }
}

#[test]
fn every_rule_in_the_docs_is_read_as_written() {
    for (page, text) in rules() {
        let parsed = parse(Source::text(FormatId::Rulebook, "a.md", text));
        assert!(parsed.diagnostics.is_empty(), "{page}: {:#?}", parsed.diagnostics);
    }
}

#[test]
fn every_json_in_the_docs_is_json() {
    for Block { page, text, .. } in of_language("json") {
        let read: Result<Value, _> = serde_json::from_str(&text);
        assert!(read.is_ok(), "{page}: {read:?}\n{text}");
    }
}

/// The pages of this folder are run by a test, so what they contain is what the command prints.
#[test]
fn every_output_in_the_docs_is_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let pages = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let printed: String = pages.collect();
    let is_drawing = |block: &Block| block.text.contains("──►");
    let shown = of_language("text").into_iter().chain(of_language("html")).filter(|block| !is_drawing(block));
    for Block { page, text, .. } in shown {
        for part in text.split_inclusive("  …\n").map(|part| part.trim_end_matches("  …\n")) {
            assert!(printed.contains(part), "{page}: no page in tests/pages prints\n{part}");
        }
    }
}
