//! Agents: what the real clients were seen to do with rule files, against what `--as` says they do.
//!
//! Each file in `agents/` was made by running the client on a folder of rules against a scripted model, reading one file
//! a session, and looking for the rules' texts in the requests.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly, and reads its data"
)]

use std::path::Path;

use rulebook::agent::Agent;
use rulebook::evaluate::applies;
use rulebook::evidence::{Evidence, Seen, Via};
use rulebook::format::{Entry, parse};
use rulebook::rule::{Activation, Rule};
use rulebook::source::{Origin, Scope, Source};

#[test]
fn claude_code_does_what_it_was_seen_to_do() {
    check(
        "claude",
        &[
            // Anchors are refused in headers, here and everywhere.
            "---\npaths: &a src/**\n---\n",
            // Of a key that is there twice the first counts everywhere, and that is told; the client takes the last.
            "---\npaths: src/**\npaths: lib/**\n---\n",
            // Quotes around a pattern inside quotes are taken off everywhere.
            "---\npaths:\n  - \"\\\"read me.md\\\"\"\n---\n",
            // Half a bracket each, after the comma parted them: nobody means this.
            "---\npaths: [*.ts, *.tsx]\n---\n",
        ],
    );
}

#[test]
fn copilots_command_line_does_what_it_was_seen_to_do() {
    check(
        "copilot-cli",
        &[
            "---\napplyTo: &a src/**\n---\n",
            "---\napplyTo: \"\\\"read me.md\\\"\"\n---\n",
            // A header that strict YAML cannot read and the client's own reader can.
            "---\napplyTo: 'src/**', 'lib/**'\n---\n",
            "---\n\tapplyTo: src/**\n---\n",
        ],
    );
}

/// Compares every case; `known` differ, and must: one that no longer does is to be taken off the list.
#[track_caller]
fn check(agent: &str, known: &[&str]) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/agents/{agent}.tsv"));
    let data = std::fs::read_to_string(data).unwrap();
    let agent = Agent::named(agent).unwrap();
    let targets: Vec<&str> =
        data.lines().find_map(|line| line.strip_prefix("#!\t")).unwrap().split('\t').collect();
    let cases = data.lines().filter(|line| !line.starts_with('#'));
    let (mut count, mut wrong) = (0, Vec::new());
    for case in cases {
        let (text, loaded) = case.split_once('\t').unwrap_or((case, ""));
        let text: String = serde_json::from_str(text).unwrap();
        let loaded: Vec<&str> = loaded.split('\t').filter(|path| !path.is_empty()).collect();
        let rule = read(agent, &text);
        let found = found(rule.as_ref(), &targets);
        let differs = found != loaded;
        if differs != known.contains(&text.as_str()) {
            wrong.push(format!("{text:?}\n  seen  {loaded:?}\n  here  {found:?}"));
        }
        count += 1;
    }
    assert!(count > 150, "{count} cases");
    assert!(wrong.is_empty(), "{} of {count} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// Where the rule is on: `always`, or after which files.
fn found<'t>(rule: Option<&Rule>, targets: &[&'t str]) -> Vec<&'t str> {
    let Some(rule) = rule else { return Vec::new() };
    if rule.activation == Activation::Always || rule.globs.len() == 1 && is_always(&rule.globs[0], rule) {
        return vec!["always"];
    }
    let is_on = |path: &&str| {
        let seen = Seen { path: (*path).to_owned(), root: 0, sources: vec![Via::Tool] };
        applies(rule, &Evidence { paths: vec![seen], ..Evidence::default() })
    };
    targets.iter().copied().filter(|path| is_on(path)).collect()
}

/// The clients take a pattern for everything as no pattern at all.
fn is_always(glob: &str, rule: &Rule) -> bool {
    match rule.origin.format.name {
        "claude" => glob == "**",
        _ => matches!(glob, "**" | "**/*" | "*"),
    }
}

fn read(agent: &Agent, text: &str) -> Option<Rule> {
    let format = &agent.formats[0];
    let origin = Origin {
        format,
        place: &format.workspace[0],
        scope: Scope::Workspace,
        display: "a.md".to_owned(),
        path: "/w/a.md".to_owned(),
        root: 0,
        folder: String::new(),
        inner: "a.md".to_owned(),
    };
    match parse(Source { origin, text: Ok(format!("{text}Body.\n")) }).entry {
        Entry::Rule(rule) => Some(*rule),
        Entry::Rejected(_) => None,
    }
}
