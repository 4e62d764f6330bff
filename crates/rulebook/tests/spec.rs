//! The pages in `spec/`, and in `formats/` one per format: a small workspace, evidence, and the verdicts of the engine.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail loudly, and reads its pages"
)]

#[allow(dead_code, reason = "shared with the command's pages")]
mod page;
mod turns;

use std::fs;
use std::path::{Path, PathBuf};

use page::Stage;
use rulebook::agent::Agent;
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::{Audience, Evaluation, Reason, State, evaluate};
use rulebook::evidence::Input;
use rulebook::format::{Base, FORMATS, FormatId, PlaceKind};
use rulebook::render::{Notice, render};
use rulebook::resolve::Rulebook;
use rulebook_workspace::toggles::Switch;
use rulebook_workspace::{Homes, Prepared, Viewpoint, Workspace};

#[test]
fn behaviour_is_as_the_pages_show() {
    check("spec");
}

#[test]
fn every_format_reads_the_files_of_its_page() {
    check("formats");
}

#[test]
fn every_format_has_a_page_with_a_file_in_every_place() {
    for format in FORMATS.iter().filter(|format| format.id != FormatId::Remote) {
        let page = fs::read_to_string(pages("formats").join(format!("{}.md", format.id))).unwrap();
        for place in format.workspace.iter().chain(format.user) {
            let start = match place.base {
                Base::Root | Base::Top => "",
                Base::Home => "~/",
                Base::Config => "~/.config/",
                Base::System => "~/system/",
            };
            let end = match place.shape {
                PlaceKind::Folder { .. } | PlaceKind::Skills => "/",
                PlaceKind::Modes { prefix, .. } => &format!("/{prefix}"),
                _ => "\n",
            };
            let file = format!("\n```file {start}{}{end}", place.path);
            assert!(page.contains(&file), "{} has no {}", format.id, file.trim_start());
        }
    }
}

fn pages(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder)
}

fn check(folder: &str) {
    page::run(&pages(folder), |stage, block| match block.words() {
        ("off", _) => {
            switch_off(stage, &block.body);
            None
        }
        ("verdicts", _) => Some(verdicts(stage)),
        ("native", agent) => Some(native(stage, agent)),
        ("context", agent) => Some(context(stage, agent)),
        ("prompt", budget) => Some(prompt(stage, budget.parse().ok())),
        ("notice", _) => Some(notice(stage)),
        ("diagnostics", _) => Some(diagnostics(stage)),
        ("turns", _) => Some(turns(stage, &block.body)),
        ("evidence-paths", _) => Some(paths(stage)),
        _ => None,
    });
}

fn turns(stage: &Stage, script: &str) -> String {
    let workspace = open(stage);
    let prepared = ask(&workspace, stage);
    let verdicts = prepared.evaluate().verdicts;
    let watching = verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stream));
    turns::play(&watching.map(|verdict| verdict.rule).collect::<Vec<_>>(), script)
}

fn open(stage: &Stage) -> Workspace {
    let home = stage.home();
    let homes = Homes {
        config: Some(home.join(".config")),
        cache: Some(home.join(".cache")),
        state: Some(home.join(".local/state")),
        system: Some(home.join("system")),
        home: Some(home),
        ..Homes::default()
    };
    Workspace::open_with(&[stage.workspace()], homes, "").unwrap()
}

fn ask<'w>(workspace: &'w Workspace, stage: &Stage) -> Prepared<'w> {
    let (mut input, mut diagnostics) = Input::from_json(&stage.evidence).unwrap();
    input.os.get_or_insert_with(|| "linux".to_owned());
    let mut prepared = workspace.prepare(&input);
    diagnostics.append(&mut prepared.diagnostics);
    prepared.diagnostics = diagnostics;
    prepared
}

fn switch_off(stage: &Stage, ids: &str) {
    let workspace = open(stage);
    for id in ids.lines() {
        let root = Path::new(&workspace.roots.roots[0].path);
        workspace.toggles().unwrap().switch(root, &[(id.to_owned(), Switch::Off)]).unwrap();
    }
}

/// One line per rule: state, id, file, activation and its basis, and the reason.
fn verdicts(stage: &Stage) -> String {
    let workspace = open(stage);
    let prepared = ask(&workspace, stage);
    table(&prepared, &prepared.book, &prepared.evaluate())
}

/// As `verdicts`, for what an agent reads by itself.
fn native(stage: &Stage, agent: &str) -> String {
    let workspace = open(stage);
    let prepared = ask(&workspace, stage);
    let book = prepared.sources().native(Agent::named(agent).unwrap()).book;
    table(&prepared, &book, &evaluate(&book, &prepared.evidence, Audience::any()))
}

/// The files that an agent has in context, in its order.
fn context(stage: &Stage, agent: &str) -> String {
    let workspace = open(stage);
    let prepared = ask(&workspace, stage);
    let book = prepared.sources().native(Agent::named(agent).unwrap()).book;
    let evaluation = evaluate(&book, &prepared.evidence, Audience::any());
    evaluation.stack().map(|verdict| format!("{}\n", verdict.rule.origin.display)).collect()
}

fn table(prepared: &Prepared<'_>, book: &Rulebook, evaluation: &Evaluation<'_>) -> String {
    let mut rows: Vec<[String; 5]> = Vec::new();
    for verdict in &evaluation.verdicts {
        let rule = verdict.rule;
        let (state, why) = match &verdict.state {
            State::Stack => ("stack", because(prepared, &verdict.because)),
            State::Offered => ("offered", rule.description.clone().unwrap_or_default()),
            State::Stream => ("stream", because(prepared, &verdict.because)),
            State::Inactive(why) => ("inactive", format!("{}: {}", why.reason.name(), why.detail)),
            State::Overridden { winner, by } => {
                ("overridden", format!("by {} ({}): {}", winner.id, winner.origin.display, by.name()))
            }
            State::Disabled(off) => {
                ("disabled", off.file.iter().fold(off.by.to_string(), |by, file| format!("{by} in {file}")))
            }
        };
        let activation = format!("{}/{}", rule.activation.name(), rule.basis.name());
        rows.push([state.to_owned(), rule.id.clone(), rule.origin.display.clone(), activation, why]);
    }
    for rejected in book.rejected() {
        let codes: Vec<&str> = rejected.codes.iter().map(|code| code.row().name).collect();
        let (id, source) = (rejected.id.clone(), rejected.origin.display.clone());
        rows.push(["rejected".to_owned(), id, source, "–".to_owned(), codes.join(", ")]);
    }
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

fn because(prepared: &Prepared<'_>, reasons: &[Reason]) -> String {
    let reason = |reason: &Reason| {
        let seen: Vec<String> = reason.seen.iter().map(|at| seen(prepared, *at)).collect();
        let from = if seen.is_empty() { String::new() } else { format!(" ← {}", seen.join(", ")) };
        format!("{} {}{from}", reason.condition, reason.matched.join(", "))
    };
    reasons.iter().map(reason).collect::<Vec<_>>().join("; ")
}

fn seen(prepared: &Prepared<'_>, at: usize) -> String {
    let seen = &prepared.evidence.paths[at];
    let sources: Vec<&str> = seen.sources.iter().map(|source| source.name()).collect();
    format!("{} ({})", seen.path, sources.join(" "))
}

fn paths(stage: &Stage) -> String {
    let workspace = open(stage);
    let prepared = ask(&workspace, stage);
    (0..prepared.evidence.paths.len()).map(|at| format!("{}\n", seen(&prepared, at))).collect()
}

fn prompt(stage: &Stage, tokens: Option<usize>) -> String {
    let workspace = open(stage);
    let prepared = ask(&workspace, stage);
    let text = render(&prepared.evaluate_for(Viewpoint::Any, tokens)).text;
    if text.is_empty() { text } else { format!("{text}\n") }
}

fn notice(stage: &Stage) -> String {
    let workspace = open(stage);
    let prepared = ask(&workspace, stage);
    let evaluation = prepared.evaluate();
    match Notice::of(&render(&evaluation)) {
        Some(notice) => format!("{}\n{}\n", notice.line(), serde_json::to_string(&notice).unwrap()),
        None => "none\n".to_owned(),
    }
}

fn diagnostics(stage: &Stage) -> String {
    let line = |found: &Diagnostic| {
        let (severity, code) = (found.severity.name(), found.code.row().name);
        let place = if found.line == 0 {
            found.path.clone()
        } else {
            format!("{}:{}:{}", found.path, found.line, found.column)
        };
        format!("{place}: {severity}[{code}]: {}\n  help: {}\n", found.message, found.help)
    };
    ask(&open(stage), stage).diagnostics.iter().map(line).collect()
}
