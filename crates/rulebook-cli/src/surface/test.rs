//! `test`: checks the examples that rules carry.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use rulebook::condition::Truth;
use rulebook::evaluate::applies;
use rulebook::evidence::{Evidence, Input, Seen, Via};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::stream::scope::StreamScope;
use rulebook::stream::{Monitor, StreamKind};
use rulebook_workspace::{Reach, Workspace};
use serde::Serialize;
use serde_json::json;

use super::nodes;
use crate::alert::print_alerts;
use crate::args::Args;
use crate::input::open_workspace;
use crate::out::{self, BOLD, GREEN, RED, VERSION, YELLOW, paint, plural};

/// One example and its result.
#[derive(Serialize)]
struct Outcome {
    rule: String,
    source: String,
    kind: ExampleKind,
    example: String,
    passed: bool,
    /// Whether the trigger cannot be read, so that nothing fires it.
    #[serde(skip)]
    is_invalid: bool,
    /// What matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
}

/// What an example demands of its rule.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum ExampleKind {
    Match,
    Miss,
    Fires,
    Clean,
}

impl ExampleKind {
    /// Returns what the rule should do, and what it does instead if the example fails.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            ExampleKind::Match => ("should apply to", "does not"),
            ExampleKind::Miss => ("should not apply to", "does"),
            ExampleKind::Fires => ("should fire on", "does not"),
            ExampleKind::Clean => ("should not fire on", "does"),
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let workspace = open_workspace(args)?;
    let loaded = workspace.load(Reach::Tree);
    let evidence = workspace.evidence_for(&loaded.book, &Input::default());
    let rules = loaded.book.rules().filter(|(_, off)| off.is_none()).map(|(rule, _)| rule);
    let outcomes: Vec<Outcome> =
        rules.flat_map(|rule| check_examples(rule, &workspace, &loaded.book, &evidence)).collect();
    let failed = outcomes.iter().filter(|outcome| !outcome.passed).count();
    if args.json {
        let passed = outcomes.len() - failed;
        let answer = json!({
            "version": VERSION, "examples": outcomes, "passed": passed, "failed": failed,
            "diagnostics": loaded.diagnostics,
        });
        out::print_json(&answer)?;
    } else {
        out::print(&(ignored(&loaded.book) + &show(&outcomes, failed)))?;
        print_alerts(&loaded.diagnostics);
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}

fn check_examples(rule: &Rule, workspace: &Workspace, book: &Rulebook, evidence: &Evidence) -> Vec<Outcome> {
    let Some(examples) = rule.examples.as_deref() else { return Vec::new() };
    let reaches = |path: &String| {
        let path = path.trim_start_matches("./").to_owned();
        // The globs of a stream rule select the files whose writes it watches.
        if rule.stream_rule().is_some_and(|watched| !watched.admits(Some(rule.origin.root), &path)) {
            return false;
        }
        let paths = vec![Seen { path, root: rule.origin.root, sources: vec![Via::Argument] }];
        applies(rule, &Evidence { paths, ..evidence.clone() })
    };
    let outcome = |kind: ExampleKind, example: &String, passed: bool| Outcome {
        node: None,
        is_invalid: false,
        rule: rule.id.clone(),
        source: rule.origin.display.clone(),
        kind,
        example: example.clone(),
        passed,
    };
    let matches = examples.matches.iter().map(|path| outcome(ExampleKind::Match, path, reaches(path)));
    let misses = examples.misses.iter().map(|path| outcome(ExampleKind::Miss, path, !reaches(path)));
    let trigger = |kind: ExampleKind, text: &String, wanted: bool| {
        let node = node(rule, workspace, text);
        let fires = if node.is_some() { Some(true) } else { fires(rule, workspace, book, text) };
        Outcome { node, is_invalid: fires.is_none(), ..outcome(kind, text, fires == Some(wanted)) }
    };
    let fired = examples.fires.iter().map(|text| trigger(ExampleKind::Fires, text, true));
    let clean = examples.clean.iter().map(|text| trigger(ExampleKind::Clean, text, false));
    matches.chain(misses).chain(fired).chain(clean).collect()
}

/// Whether a text fires the rule's trigger, regardless of the trigger's scope, or is a shell line that the rule forbids or
/// makes wait; `None` without either.
fn fires(rule: &Rule, workspace: &Workspace, book: &Rulebook, text: &str) -> Option<bool> {
    let requirements = rule.requirements.as_ref();
    let is_forbidden = requirements.and_then(|all| all.fires_on(text, &workspace.roots));
    let is_forbidden = is_forbidden.map(|truth| truth == Truth::Yes);
    if rule.stream.is_none() || is_forbidden == Some(true) {
        return is_forbidden;
    }
    is_triggered(rule, workspace, book, text)
}

fn is_triggered(rule: &Rule, workspace: &Workspace, book: &Rulebook, text: &str) -> Option<bool> {
    let mut rule = rule.clone();
    let trigger = Arc::make_mut(rule.stream.as_mut()?);
    trigger.gate = None;
    trigger.scope = vec![StreamScope::Text];
    trigger.conditions.iter_mut().for_each(|pattern| pattern.scope = None);
    if trigger.is_empty() {
        return None;
    }
    if !trigger.syntax.is_empty() {
        // Without a parser it is not known.
        workspace.watching_parser(book)?;
    }
    let monitor = Monitor::new(rule.stream_rule(), workspace.roots.clone());
    let mut monitor = Some(monitor).filter(|monitor| monitor.left_out().is_empty())?;
    let early = !monitor.feed("example", &StreamKind::Text, text.as_bytes()).is_empty();
    Some(early || !monitor.finish("example").is_empty())
}

/// The first node of some code that a syntax trigger of a rule matches.
fn node(rule: &Rule, workspace: &Workspace, text: &str) -> Option<String> {
    let triggers = rule.stream.iter().flat_map(|trigger| &trigger.syntax);
    triggers.filter_map(|trigger| nodes::in_code(workspace, rule, trigger, text)).next()
}

/// Reports the keys of `examples` that are ignored: they test nothing.
fn ignored(book: &Rulebook) -> String {
    let mut text = String::new();
    for (rule, _) in book.rules() {
        for key in rule.examples.iter().flat_map(|examples| &examples.unknown) {
            let (source, key) = (out::clean(&rule.origin.display), out::clean(key));
            let warning = paint(YELLOW, "warning");
            let _ = writeln!(
                text,
                "{warning}: {source}: `examples` has the unknown key `{key}`, which tests nothing"
            );
        }
    }
    text
}

fn show(outcomes: &[Outcome], failed: usize) -> String {
    let mut text = String::new();
    for outcome in outcomes.iter().filter(|outcome| !outcome.passed) {
        let (rule, source) = (out::clean(&outcome.rule), out::clean(&outcome.source));
        let (wanted, found) = outcome.kind.words();
        let example = out::clean(&outcome.example);
        let found = match outcome {
            Outcome { is_invalid: true, .. } => "its trigger cannot be tested: run `rulebook check`",
            Outcome { node: Some(_), .. } => "does",
            _ => found,
        };
        let node = outcome.node.as_ref().map(|node| format!(": {}", out::clean(node))).unwrap_or_default();
        let _ = writeln!(
            text,
            "{}  {source}\n  {wanted} `{example}`, but {}{node}\n",
            paint(BOLD, rule),
            paint(RED, found)
        );
    }
    for outcome in outcomes.iter().filter(|outcome| outcome.passed) {
        let Some(node) = &outcome.node else { continue };
        let (rule, example) = (out::clean(&outcome.rule), out::clean(&outcome.example));
        let _ = writeln!(text, "{}  fires on `{example}`: {}", paint(BOLD, rule), out::clean(node));
    }
    let count = plural(outcomes.len(), "example");
    let _ = match (outcomes.len(), failed) {
        (0, _) => writeln!(
            text,
            "no examples found\n  help: add `examples: {{match: [src/a.ts], miss: [docs/b.md]}}` to a header"
        ),
        (_, 0) => writeln!(text, "{} passed", paint(GREEN, count)),
        (_, failed) => writeln!(text, "{} of {count}", paint(RED, format!("{failed} failed"))),
    };
    text
}
