//! The examples in README and `docs/`: commands run and print what is shown, settings are read, rules are parsed and do what
//! the page says, JSON has the shape of what is printed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex::Regex;
use rulebook::format::FormatId;
use rulebook::parse::parse;
use rulebook::source::Source;
use rulebook_workspace::settings::{Layer, LayerKind, merge};
use serde_json::{Value, json};
use toml_edit::DocumentMut;

use crate::ci;
use crate::json::check;
use crate::sandbox::{Sandbox, feed, path_with_binary, stderr, stdout};

/// What tests the code blocks of a language: a test of this file, or a script for what needs other programs.
const TESTED: &[(&str, &str)] = &[
    ("bash", "every_command_in_the_docs_runs"),
    ("html", "every_output_in_the_docs_is_printed"),
    ("ini", "the_configuration_of_other_programs_starts_the_command"),
    ("js", "scripts/bindings"),
    ("json", "every_json_in_the_docs_is_what_the_command_reads_and_prints"),
    ("lua", "scripts/editor"),
    ("markdown", "every_rule_in_the_docs_is_tried"),
    ("python", "scripts/bindings"),
    ("rust", "doc tests of rulebook-workspace"),
    ("rust,no_run", "doc tests of rulebook-workspace"),
    ("sh", "every_command_in_the_docs_runs"),
    ("text", "every_output_in_the_docs_is_printed"),
    ("toml", "every_setting_in_the_docs_is_read"),
    ("ts", "scripts/bindings"),
    ("yaml", "the_workflows_use_what_the_repository_offers"),
];

/// A fenced block of a page.
struct Block {
    page: String,
    language: String,
    text: String,
}

/// The top of the repository.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The pages with their texts, by name.
fn pages() -> Vec<(String, String)> {
    let listed = fs::read_dir(top().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        listed.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    paths.push(top().join("README.md"));
    paths.sort();
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    for (page, text) in pages() {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(language) = line.trim_start().strip_prefix("```") else { continue };
            let inner: Vec<&str> = lines.by_ref().take_while(|line| line.trim_start() != "```").collect();
            let language = language.to_owned();
            blocks.push(Block { page: page.clone(), language, text: inner.join("\n") + "\n" });
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

#[test]
fn every_block_in_the_docs_is_tested() {
    for Block { page, language, text } in blocks() {
        let is_known = TESTED.iter().any(|(known, _)| *known == language);
        assert!(is_known, "{page}: nothing tests a block in `{language}`:\n{text}");
    }
}

/// The rules in the docs, as files of the native format.
fn rules() -> Vec<(String, String)> {
    let number = |(at, block): (usize, Block)| (format!("{} {at}", block.page), block.text);
    of_language("markdown").into_iter().enumerate().map(number).collect()
}

// ---- Commands.

/// Programs of others that commands of the docs start. Each does what matters here, and nothing on the network.
const STANDINS: &[(&str, &str)] = &[
    (
        "npx",
        "[ \"$1 $2\" = 'ovsx publish' ] || { [ \"$1\" = rulebook-cli ] && shift && exec rulebook \"$@\"; }",
    ),
    (
        "npm",
        "[ \"$*\" = 'install -g rulebook-cli' ] || { [ \"$1\" = ci ] && [ -f package-lock.json ]; } || grep -q \"\\\"$2\\\":\" package.json",
    ),
    ("uv", "[ \"$*\" = 'tool install rulebook-cli' ]"),
    ("cargo", "[ -f \"$TOP/$3/Cargo.toml\" ]"),
    ("code", "grep -q \" ${2}\" package.json || [ \"$1\" = --install-extension ]"),
    ("minisign", "[ \"$1\" = -V ] || touch \"$3.minisig\""),
    ("aws", "[ -f \"$3\" ]"),
    ("xdg-open", "true"),
    ("claude", "[ -n \"$ANTHROPIC_BASE_URL\" ]"),
    ("gemini", "true"),
];

/// A workspace in which every command of the docs has something to answer.
fn workspace() -> Sandbox {
    let sandbox = Sandbox::new(&[
        ("repo/src/a.ts", ""),
        ("repo/src/app.ts", ""),
        ("repo/apps/web/page.tsx", ""),
        ("repo/crates/rulebook-cli/Cargo.toml", ""),
        ("repo/CLAUDE.md", "Be brief."),
        ("repo/.rulebook/rules/db.md", "---\npaths: ['db/**']\n---\nWrite a migration."),
        ("repo/.rulebook/rules/id.md", "Short names."),
        ("repo/rules/style.md", "Be brief.\n"),
        ("repo/evidence.json", "{\"message\": \"fix src/a.ts\"}"),
        ("repo/answer.txt", "x = new Map()\n"),
        ("acme/web.md", "---\npaths: ['web/**']\n---\nHooks first.\n"),
    ]);
    fs::remove_dir_all(sandbox.path("repo/.git")).unwrap();
    for (at, (_, text)) in rules().iter().enumerate() {
        sandbox.write(&format!("repo/.rulebook/rules/docs-{at}.md"), &format!("{text}Text.\n"));
    }
    for (name, does) in STANDINS {
        sandbox.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{does}\n"));
    }
    // The scripts that the docs name exist; they take long, and have jobs of their own.
    for entry in fs::read_dir(top().join("scripts")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        sandbox.write(&format!("repo/scripts/{name}"), "#!/bin/sh\n");
    }
    fs::create_dir(sandbox.path("repo/editors")).unwrap();
    symlink(top().join("editors/vscode"), sandbox.path("repo/editors/vscode")).unwrap();
    let acme = sandbox.path("acme").display().to_string();
    let instead = format!("[url \"{acme}\"]\n\tinsteadOf = https://git.acme.example/rules\n");
    let user = "[user]\n\tname = a\n\temail = a@a\n[init]\n\tdefaultBranch = main\n";
    sandbox.write("home/.gitconfig", &(instead + user));
    let setup = "chmod +x ../bin/* scripts/*; sha256sum CLAUDE.md > SHA256SUMS; for folder in ../acme .; do \
                 git -C $folder init -q && git -C $folder add -A && git -C $folder commit -qm a || exit 1; done";
    assert!(bash(&sandbox, setup).status.success());
    sandbox.hook("claude", &sandbox.prompt_event("ID", "hello"));
    sandbox
}

fn shell(sandbox: &Sandbox, line: &str) -> Command {
    let mut command = sandbox.program("/bin/bash");
    let path = format!("{}:{}", sandbox.path("bin").display(), path_with_binary());
    command.env("PATH", path).env("TOP", top()).args(["-o", "pipefail", "-c", line]);
    command
}

fn bash(sandbox: &Sandbox, line: &str) -> Output {
    shell(sandbox, line).output().unwrap()
}

/// Commands that do not end by themselves: they print an address.
const SERVERS: &[&str] = &["rulebook ui", "rulebook ui --open", "rulebook proxy --listen 127.0.0.1:8090"];

/// The lines of a block, with the ones that continue them, without comments.
fn lines(text: &str) -> Vec<String> {
    let whole = text.replace("\\\n", " ");
    let bare = |line: &str| line.split("  #").next().unwrap_or_default().trim().to_owned();
    whole.lines().map(bare).filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn every_command_in_the_docs_runs() {
    let sandbox = workspace();
    let has_jq = fs::exists("/usr/bin/jq").unwrap();
    let mut servers: Vec<&str> = SERVERS.to_vec();
    let mut count = 0;
    for Block { page, text, .. } in of_language("sh").into_iter().chain(of_language("bash")) {
        // What the lines of a block share: the folder.
        let mut folder = String::new();
        for line in lines(&text) {
            count += 1;
            if SERVERS.contains(&line.as_str()) {
                servers.retain(|server| *server != line);
                prints_an_address(&sandbox, &line.replace(":8090", ":0"));
                continue;
            }
            if !has_jq && line.contains("jq ") {
                continue;
            }
            let output = bash(&sandbox, &format!("{folder}{line}"));
            if line.starts_with("cd ") {
                folder = format!("{} && ", line.split(" && ").next().unwrap_or_default());
            }
            // 1 is an answer: `check` found something. The examples in the rules of the docs hold.
            let may_find = ["rulebook check", "rulebook diff", "rulebook export"]
                .iter()
                .any(|name| line.starts_with(name));
            let is_answer = output.status.success() || may_find && output.status.code() == Some(1);
            assert!(is_answer, "{page}: `{line}` ended with {}: {}", output.status, stderr(&output));
        }
    }
    assert!(count >= 60, "{count} commands");
    assert!(servers.is_empty(), "no page names {servers:?}: remove them from the list");
}

/// Starts a server, reads the line with its address, and ends it.
fn prints_an_address(sandbox: &Sandbox, line: &str) {
    let mut command = shell(sandbox, &format!("exec {line}"));
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(first.contains("http://127.0.0.1:"), "`{line}` prints {first:?}");
}

/// The commands and options that pages name in their text exist.
#[test]
fn every_command_that_the_docs_name_exists() {
    let sandbox = Sandbox::new(&[]);
    let code = Regex::new("`rulebook ([a-z]+)([^`]*)`").unwrap();
    let option = Regex::new("(?:^| )(--[a-z-]+)").unwrap();
    let mut count = 0;
    for (page, text) in pages() {
        for found in code.captures_iter(&text) {
            let (name, rest) = (&found[1], found[2].split(" -- ").next().unwrap_or_default());
            let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
            let inner = rest.split_whitespace().take_while(is_word);
            let words: Vec<&str> = [name].into_iter().chain(inner).chain(["--help"]).collect();
            let help = sandbox.run(&words);
            assert!(help.status.success(), "{page}: no command `rulebook {name}`");
            for named in option.captures_iter(rest) {
                let help = stdout(&help);
                let is_known = help.split([' ', ',', '\n']).any(|word| word == &named[1]);
                assert!(is_known, "{page}: `rulebook {name}` has no `{}`:\n{help}", &named[1]);
            }
            count += 1;
        }
    }
    assert!(count >= 60, "{count} commands");
}

// ---- Settings and rules.

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

/// The pages of `tests/pages`: what they contain is what the command does, because a test runs them.
fn tried() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

/// A rule is read as written, and a page shows that it does what the docs say.
#[test]
fn every_rule_in_the_docs_is_tried() {
    let tried = tried();
    for (page, text) in rules() {
        let parsed = parse(Source::text(FormatId::Rulebook, "a.md", format!("{text}Text.\n")));
        assert!(parsed.diagnostics.is_empty(), "{page}: {:#?}", parsed.diagnostics);
        assert!(tried.contains(&text), "{page}: no page in tests/pages has this rule:\n{text}");
    }
}

/// The pages of this folder are run by a test, so what they contain is what the command prints.
#[test]
fn every_output_in_the_docs_is_printed() {
    let printed = tried();
    let is_drawing = |block: &Block| block.text.contains("──►");
    let shown = of_language("text").into_iter().chain(of_language("html")).filter(|block| !is_drawing(block));
    for Block { page, text, .. } in shown {
        for part in text.split_inclusive("  …\n").map(|part| part.trim_end_matches("  …\n")) {
            assert!(printed.contains(part), "{page}: no page in tests/pages prints\n{part}");
        }
    }
}

// ---- JSON, and the files of other programs.

#[test]
fn every_json_in_the_docs_is_what_the_command_reads_and_prints() {
    let sandbox = crate::json::workspace();
    for Block { page, text, .. } in of_language("json") {
        let value: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{page}: {error}\n{text}"));
        let has = |key: &str| value.get(key).is_some();
        match page.as_str() {
            "json.md" if has("targets") => {
                check(&page, &sandbox.json(&["explain", "apps/web/a.tsx"]), &value);
            }
            "json.md" => {
                check(&page, &sandbox.json(&["prompt", "--message", "look at apps/web/a.tsx"]), &value);
            }
            "evidence.md" => {
                sandbox.write("repo/evidence.json", &text.replace("rule-name", "db"));
                let read = sandbox.json(&["prompt", "--evidence", "evidence.json"]);
                let mut faults = read["diagnostics"].as_array().unwrap().iter();
                assert!(faults.all(|fault| fault["path"] != "evidence"), "{page}: {read}");
            }
            "remote.md" => {
                sandbox.write("rules.json", &text);
                sandbox.remotes(&[("acme", "rules.json")]);
                assert!(sandbox.run(&["remote", "sync"]).status.success());
                let rules = sandbox.json(&["remote", "list"])["remotes"][0]["rules"].clone();
                assert_eq!(rules, json!(value["remoteGlobalRules"].as_array().unwrap().len()), "{page}");
                sandbox.settings("");
            }
            "mcp.md" if has("hooks") => answers_hooks(&sandbox, &value),
            _ => starts(&sandbox, &page, &value),
        }
    }
}

/// An editor that starts the language server and ends it.
fn editor() -> String {
    let messages = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
        r#"{"jsonrpc":"2.0","method":"exit"}"#,
    ];
    messages.map(|message| format!("Content-Length: {}\r\n\r\n{message}", message.len())).concat()
}

/// Every program that a configuration names starts and ends with its input.
fn starts(sandbox: &Sandbox, page: &str, value: &Value) {
    match value {
        Value::Object(entries) => {
            if entries.get("command") == Some(&json!("rulebook")) {
                let words: Vec<&str> =
                    entries["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
                sandbox.write("bin/gemini", "#!/bin/sh\n");
                sandbox.write("input", &if words == ["lsp"] { editor() } else { String::new() });
                let line = format!("rulebook {} < ../input", words.join(" "));
                let output = bash(sandbox, &format!("chmod +x ../bin/*; {line}"));
                assert!(output.status.success(), "{page}: `{line}`: {}", stderr(&output));
            }
            entries.values().for_each(|value| starts(sandbox, page, value));
        }
        Value::Array(items) => items.iter().for_each(|value| starts(sandbox, page, value)),
        _ => {}
    }
}

/// The calls that the hooks of a Claude Code configuration make deliver a rule.
fn answers_hooks(sandbox: &Sandbox, value: &Value) {
    let file = sandbox.path("repo/apps/web/a.tsx").display().to_string();
    let filled = |input: &Value| {
        let text = input.to_string();
        let text =
            text.replace("${session_id}", "docs").replace("${agent_id}", "").replace("${tool_name}", "Read");
        let text = text.replace("${prompt}", "look at apps/web/a.tsx");
        text.replace("${tool_input}", &json!({ "file_path": file }).to_string().replace('"', "\\\""))
    };
    let calls = value["hooks"].as_object().unwrap().values().map(|matchers| &matchers[0]["hooks"][0]);
    let calls: Vec<&Value> = calls.collect();
    assert!(calls.iter().all(|call| call["type"] == "mcp_tool" && call["server"] == "rulebook"), "{value}");
    let mut input = String::from(
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\
         \"capabilities\":{},\"clientInfo\":{\"name\":\"claude-code\",\"version\":\"1\"}}}\n\
         {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    );
    for (at, call) in calls.iter().enumerate() {
        let arguments: Value = serde_json::from_str(&filled(&call["input"])).unwrap();
        let params = json!({ "name": call["tool"], "arguments": arguments });
        let request = json!({ "jsonrpc": "2.0", "id": at + 1, "method": "tools/call", "params": params });
        input.push_str(&format!("{request}\n"));
    }
    let answers = stdout(&feed(&mut sandbox.command(&["mcp"]), input.as_bytes()));
    assert_eq!(answers.lines().count(), calls.len() + 1, "{answers}");
    assert!(!answers.contains("\"isError\":true"), "{answers}");
    assert!(answers.contains("Use components."), "{answers}");
}

#[test]
fn the_configuration_of_other_programs_starts_the_command() {
    let sandbox = Sandbox::new(&[]);
    let mut count = 0;
    for Block { page, text, .. } in of_language("ini") {
        let table: DocumentMut = text.parse().unwrap_or_else(|error| panic!("{page}: {error}"));
        let Some(server) = table.get("language-server").and_then(|servers| servers.get("rulebook")) else {
            continue;
        };
        let words: Vec<&str> =
            server["args"].as_array().unwrap().iter().filter_map(|word| word.as_str()).collect();
        starts(&sandbox, &page, &json!({ "command": server["command"].as_str(), "args": words }));
        count += 1;
    }
    assert_eq!(count, 1, "Helix");
}

#[test]
fn the_workflows_use_what_the_repository_offers() {
    let action = ci::yaml("action.yml");
    for Block { page, text, .. } in of_language("yaml") {
        let value = ci::read_yaml(&page, &text);
        if let Some(steps) = ci::field(&value, "steps") {
            let ours = ci::items(steps).find(|step| ci::text(step, "uses").contains("rulebook")).unwrap();
            for input in ci::keys(ci::field(ours, "with").unwrap()) {
                let known = ci::field(ci::field(&action, "inputs").unwrap(), input);
                assert!(known.is_some(), "{page}: the action has no input `{input}`");
            }
        } else {
            let hook = ci::items(ci::field(&value, "repos").unwrap()).next().unwrap();
            let hook = ci::items(ci::field(hook, "hooks").unwrap()).next().unwrap();
            assert_eq!(ci::text(hook, "entry"), "rulebook check", "{page}");
        }
    }
}
