//! What real agents do with rule files, compared with the views that `--as` shows.
//!
//! Each file in `agents/` was recorded: the agent ran in a folder of rules against a scripted model and read one file per
//! session, and the requests were searched for the texts of the rules.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly, and reads its data"
)]

use std::path::Path;

use rulebook::agent::Agent;
use rulebook::condition::{Facts, Truth};
use rulebook::evaluate::applies;
use rulebook::evidence::{Evidence, Seen, Via};
use rulebook::format::{Bare, PlaceKind};
use rulebook::parse::{Entry, parse};
use rulebook::rule::{Activation, Rule};
use rulebook::source::{Origin, Source};

#[test]
fn the_view_of_claude_code_is_as_recorded() {
    check(
        "claude",
        &[
            "---\npaths: &a src/**\n---\n",
            "---\nx: &a src/**\npaths: *a\n---\n",
            "---\nx: &a src/**\npaths: [*a]\n---\n",
            "---\nb: &b\n  paths: src/**\n<<: *b\n---\n",
            "---\npaths:\n\t- src/**\n---\n",
            "---\npaths: src/**\0\n---\n",
            "---\npaths: [[[[[[[[[[[[[[[[[[[[src/**]]]]]]]]]]]]]]]]]]]]\n---\n",
        ],
    );
}

#[test]
fn the_view_of_copilots_command_line_is_as_recorded() {
    check(
        "copilot-cli",
        &[
            "---\napplyTo: &a src/**\n---\n",
            "---\nx: &a src/**\napplyTo: *a\n---\n",
            "---\nx: &a src/**\napplyTo: [*a]\n---\n",
            "---\n\tapplyTo: src/**\n---\n",
            "---\napplyTo:\n  -\tsrc/**\n---\n",
            "---\napplyTo: \"src/**\"# note\n---\n",
            "---\napplyTo:\n  - !!src/**\n---\n",
            "---\napplyTo: !#y\n---\n",
            "---\napplyTo: [[[[[[[[[[[[[[[[[[[[src/**]]]]]]]]]]]]]]]]]]]]\n---\n",
        ],
    );
}

#[test]
fn the_view_of_qwen_code_is_as_recorded() {
    check("qwen", &[]);
}

/// Compares every case. The cases in `known` must differ: remove one from the list if it no longer does. `docs/agents.md`
/// names them.
#[track_caller]
fn check(agent: &str, known: &[&str]) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/agents/{agent}.tsv"));
    let data = std::fs::read_to_string(data).unwrap();
    let agent = Agent::named(agent).unwrap();
    let mut targets: Vec<&str> = Vec::new();
    let (mut count, mut wrong) = (0, Vec::new());
    for line in data.lines() {
        if line.starts_with('#') {
            // The files that the agent read in the cases below.
            targets = line.strip_prefix("#!\t").map_or(targets, |files| files.split('\t').collect());
            continue;
        }
        let (text, recorded) = line.split_once('\t').unwrap();
        let text: String = serde_json::from_str(text).unwrap();
        let found = found(read(agent, &text).as_ref(), &targets);
        if (found != recorded) != known.contains(&text.as_str()) {
            wrong.push(format!("{text:?}\n  recorded  {recorded}\n  found     {found}"));
        }
        count += 1;
    }
    assert!(count > 1_000, "{count} cases");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// `always`, or a character for each file: `x` if it activates the rule.
fn found(rule: Option<&Rule>, targets: &[&str]) -> String {
    let is_on = |rule: &Rule, path: &str| {
        let seen = Seen { path: path.to_owned(), root: 0, sources: vec![Via::Tool] };
        applies(rule, &Evidence { paths: vec![seen], ..Evidence::default() })
    };
    match rule {
        Some(rule) if rule.activation == Activation::Always => "always".to_owned(),
        rule => targets
            .iter()
            .map(|path| if rule.is_some_and(|rule| is_on(rule, path)) { 'x' } else { '.' })
            .collect(),
    }
}

/// The same file, read by one agent and another.
#[test]
fn agents_differ_as_documented() {
    #[track_caller]
    fn check(agents: &str, header: &str, path: &str, want: &str) {
        for name in agents.split(' ') {
            let agent = Agent::named(name).unwrap();
            let key = agent.known_by().paths_key;
            let rule = read(agent, &header.replace("KEY", key));
            assert_eq!(outcome(rule.as_ref(), path), want, "{name} {header:?} {path}");
        }
    }
    const BROKEN: &str = "---\ndescription: [\n---\n";
    check("claude cline continue kiro qwen roo", BROKEN, "src/a.ts", "always");
    check("cline-cli openhands", BROKEN, "src/a.ts", "dropped");
    const UNQUOTED: &str = "---\nKEY: **/*.ts\n---\n";
    check("copilot-vscode cursor", UNQUOTED, "src/a.ts", "yes");
    check("claude copilot-cli qwen", UNQUOTED, "src/a.ts", "yes");
    check("cline continue", UNQUOTED, "src/a.ts", "always");
    const EMPTY: &str = "---\nKEY: []\n---\n";
    check("cline qwen", EMPTY, "src/a.ts", "no");
    check("claude", EMPTY, "src/a.ts", "always");
    const COMMA: &str = "---\ntrigger: glob\ninclusion: fileMatch\nKEY: 'src/**,lib/**'\n---\n";
    check("claude copilot-cli copilot-github copilot-vscode cursor", COMMA, "src/a.ts", "yes");
    check("windsurf devin antigravity", COMMA, "src/a.ts", "yes");
    check("continue kiro qwen", COMMA, "src/a.ts", "no");
    check("cline", COMMA, "src/a.ts", "always");
    const LIST: &str = "---\ninclusion: fileMatch\nKEY: ['src/**', 'lib/**']\n---\n";
    check("claude cline continue copilot-cli kiro", LIST, "src/a.ts", "yes");
    // It reads brackets as text.
    check("qwen", LIST, "src/a.ts", "no");
    check("qwen", "---\nKEY:\n  - \"src/**\"\n  - lib/**\n---\n", "src/a.ts", "yes");
    check("copilot-vscode", LIST, "src/a.ts", "offered");
    // Not documented.
    check("copilot-github", LIST, "src/a.ts", "never");
    check("copilot-vscode", "---\nKEY: {a,b}.ts\n---\n", "a.ts", "offered");
    for everything in ["'**'", "'**/*'", "'*'", "'src/**, **'"] {
        check("copilot-vscode", &format!("---\nKEY: {everything}\n---\n"), "src/a.ts", "always");
    }
    check("continue", "---\nalwaysApply: false\n---\n", "src/a.ts", "offered");
    const NAME: &str = "---\ntrigger: glob\ninclusion: fileMatch\nKEY: ['*.ts']\n---\n";
    check("cline continue kiro qwen", NAME, "src/a.ts", "no");
    check("copilot-github", "---\nKEY: '*.ts'\n---\n", "src/a.ts", "no");
    check("cursor trae windsurf", NAME, "src/a.ts", "unknown");
    check("firebender", NAME, "src/a.ts", "yes");
    check("copilot-vscode copilot-cli", "---\nKEY: '*.ts'\n---\n", "src/a.ts", "yes");
    const FOLDER: &str = "---\ninclusion: fileMatch\nKEY: \"src/**\"\n---\n";
    check("copilot-vscode", FOLDER, "packages/api/src/c.ts", "yes");
    check("continue copilot-github kiro qwen", FOLDER, "packages/api/src/c.ts", "no");
    check("cursor", FOLDER, "packages/api/src/c.ts", "unknown");
    check("augment claude cline continue firebender kiro qwen", "", "src/a.ts", "always");
    check("cursor", "", "src/a.ts", "manual");
    check("copilot-vscode", "", "src/a.ts", "offered");
    check("windsurf devin antigravity qoder lingma", "", "src/a.ts", "never");
    // The last is reported as undocumented.
    assert_eq!(Agent::named("windsurf").unwrap().known_by().bare, Bare::Undocumented);
}

fn outcome(rule: Option<&Rule>, path: &str) -> &'static str {
    let Some(rule) = rule else { return "dropped" };
    let seen = Seen { path: path.to_owned(), root: 0, sources: vec![Via::Tool] };
    let evidence = Evidence { paths: vec![seen], ..Evidence::default() };
    let facts = Facts::new(&evidence, []);
    match rule.activation {
        Activation::Always => "always",
        Activation::OnRequest => "offered",
        Activation::Manual => "manual",
        Activation::Never => "never",
        Activation::Stream => "stream",
        Activation::When => {
            match rule.conditions.iter().map(|condition| condition.evaluate(&facts).truth).min().unwrap() {
                Truth::Yes => "yes",
                Truth::Unknown => "unknown",
                Truth::No => "no",
            }
        }
    }
}

fn read(agent: &Agent, text: &str) -> Option<Rule> {
    let format = agent.known_by();
    let mut places = format.workspace.iter();
    let place = places.find(|place| matches!(place.shape, PlaceKind::Folder { .. }));
    let origin = Origin::new(format, place.unwrap_or(&format.workspace[0]), "a.md");
    match parse(Source { origin, text: Ok(format!("{text}Body.\n").into()) }).entry {
        Entry::Rule(rule) => Some(*rule),
        Entry::Rejected(_) => None,
    }
}
