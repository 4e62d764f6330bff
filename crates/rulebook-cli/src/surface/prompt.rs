//! `prompt`: prints the text for the model.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;

use rulebook::agent::Wiring;
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::Evaluation;
use rulebook::explain::{Offered, SeenPath, offered, seen_path};
use rulebook::matrix::{Handling, evaluate_for, handling};
use rulebook::render::{Budget, Notice, Rendered, matched, render};
use rulebook_workspace::{Prepared, Workspace};
use serde::Serialize;

use crate::alert::{alert_line, alerts};
use crate::args::{Args, NoticeForm, Prompt, Viewpoint};
use crate::input::{open_workspace, read_evidence};
use crate::out::{self, DIM, VERSION, paint, plural};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptOutput<'a> {
    version: u32,
    text: &'a str,
    applied: Vec<Applied<'a>>,
    notice: Option<&'a Notice>,
    paths: Vec<SeenPath>,
    paths_cut: usize,
    offered: Vec<Offered>,
    omitted: Vec<Offered>,
    tokens: usize,
    tokens_estimated: bool,
    diagnostics: &'a [Diagnostic],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied<'a> {
    id: &'a str,
    key: String,
    name: &'a str,
    source: &'a str,
    matched_conditions: BTreeMap<&'static str, Vec<String>>,
}

pub(super) fn run(args: &Args, options: &Prompt) -> anyhow::Result<()> {
    let workspace = open_workspace(args)?;
    let (input, mut diagnostics) = read_evidence(args, &options.evidence, &options.paths)?;
    // The process ends after printing: freeing every text would only take time.
    let prepared = ManuallyDrop::new(workspace.prepare(&input));
    diagnostics.extend(prepared.diagnostics.iter().cloned());
    let evaluation = ManuallyDrop::new(evaluation(&prepared, options.for_agent));
    let budget = Budget { tokens: options.budget.or(workspace.settings.budget.tokens) };
    let rendered = ManuallyDrop::new(render(&evaluation, budget));
    let notice = ManuallyDrop::new(Notice::of(&rendered));
    if let Some(form) = options.notice {
        return out::print_raw(
            format!("{}\n", format_notice(notice.as_ref(), form)?).trim_start().as_bytes(),
        );
    }
    if !args.json {
        print_aside(&rendered, notice.as_ref(), &prepared.diagnostics);
        let end = if rendered.text.is_empty() { "" } else { "\n" };
        return out::print_raw(format!("{}{end}", rendered.text).as_bytes());
    }
    let answer = answer(&workspace, &prepared, &rendered, notice.as_ref(), &diagnostics);
    out::print_json(&*ManuallyDrop::new(answer))
}

/// Evaluates the rules for an agent, without those that it reads by itself.
pub(super) fn evaluation<'p>(prepared: &'p Prepared<'_>, view: Option<Viewpoint>) -> Evaluation<'p> {
    let Some(Viewpoint::For(named)) = view else { return prepared.evaluate() };
    if let Some(note) = named.note() {
        out::print_aside(&format!("{}\n", paint(DIM, note)));
    }
    // What would be added counts, whether or not the agent is wired.
    let view = prepared.view(named.agent, &[Wiring::Hook]);
    let native = view.reading(&prepared.evidence);
    let subject = view.subject(&native);
    let evaluation = evaluate_for(&prepared.book, &prepared.evidence, Some(&subject));
    evaluation
        .retain(|verdict| matches!(handling(verdict, &subject), Handling::Unread | Handling::NotApplied(_)))
}

/// Formats the notice; empty if no conditional rule applies.
fn format_notice(notice: Option<&Notice>, form: NoticeForm) -> serde_json::Result<String> {
    Ok(match form {
        NoticeForm::Text => notice.map(Notice::line).unwrap_or_default(),
        NoticeForm::Html => notice.map(Notice::html).unwrap_or_default(),
        NoticeForm::Json => serde_json::to_string(&notice)?,
    })
}

/// Returns the text and the rules it consists of, for programs.
pub(super) fn answer<'a>(
    workspace: &Workspace,
    prepared: &Prepared,
    rendered: &'a Rendered<'_, '_>,
    notice: Option<&'a Notice>,
    diagnostics: &'a [Diagnostic],
) -> PromptOutput<'a> {
    let applied = rendered.applied.iter().map(|verdict| Applied {
        id: &verdict.rule.id,
        key: verdict.rule.key(),
        name: &verdict.rule.name,
        source: &verdict.rule.origin.display,
        matched_conditions: matched(verdict),
    });
    let seen =
        (0..prepared.evidence.paths.len()).map(|at| seen_path(&prepared.evidence, at, &workspace.roots));
    PromptOutput {
        version: VERSION,
        text: &rendered.text,
        applied: applied.collect(),
        notice,
        paths: seen.collect(),
        paths_cut: prepared.evidence.cut,
        offered: rendered.offered.iter().map(|verdict| offered(verdict.rule)).collect(),
        omitted: rendered.omitted.iter().map(|verdict| offered(verdict.rule)).collect(),
        tokens: rendered.tokens,
        tokens_estimated: true,
        diagnostics,
    }
}

/// Prints the notice, left-out rules and problems to standard error, so that the text can be piped.
fn print_aside(rendered: &Rendered<'_, '_>, notice: Option<&Notice>, diagnostics: &[Diagnostic]) {
    let mut aside = String::new();
    if let Some(notice) = notice {
        aside.push_str(&format!("{}\n", notice.line()));
    }
    if !rendered.omitted.is_empty() {
        let names: Vec<&str> = rendered.omitted.iter().map(|verdict| verdict.rule.name.as_str()).collect();
        let cut = plural(names.len(), "rule");
        aside.push_str(&format!("over budget: {cut} only offered by name: {}\n", names.join(", ")));
    }
    aside.extend(alerts(diagnostics).map(|alert| alert_line(alert) + "\n"));
    if let Some(count) = out::count(diagnostics) {
        aside.push_str(&format!("{}\n", paint(DIM, format!("{count}: run `rulebook check` for details"))));
    }
    out::print_aside(&aside);
}
