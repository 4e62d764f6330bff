//! `prompt`: prints the text for the model.

use std::mem::ManuallyDrop;

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evaluate::Evaluation;
use rulebook::render::{Notice, Rendered, render};
use rulebook_workspace::{Prepared, Viewpoint};

use crate::alert::{alert_line, alerts};
use crate::args::{Args, NoticeForm, Prompt};
use crate::input::{open_workspace, read_evidence};
use crate::json;
use crate::out::{self, DIM, paint, plural};

pub(super) fn run(args: &Args, options: &Prompt) -> anyhow::Result<()> {
    let mut workspace = open_workspace(args)?;
    let (input, mut diagnostics) = read_evidence(args, &options.evidence, &options.paths)?;
    workspace.learn_links(input.arguments.iter().map(String::as_str));
    // The process ends after printing: freeing every text would only take time.
    let prepared = ManuallyDrop::new(workspace.prepare(&input));
    diagnostics.extend(prepared.diagnostics.iter().cloned());
    let evaluation = ManuallyDrop::new(evaluation(&prepared, options));
    let rendered = ManuallyDrop::new(render(&evaluation));
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
    let answer = workspace.prompt_output(&prepared, &rendered, notice.as_ref(), &diagnostics);
    out::print_json(&*ManuallyDrop::new(answer))
}

/// Says which surface a product's name means, and evaluates for it.
fn evaluation<'p>(prepared: &'p Prepared<'_>, options: &Prompt) -> Evaluation<'p> {
    let view = options.for_agent.unwrap_or_default();
    if let Viewpoint::For(named) = view
        && let Some(note) = named.note()
    {
        out::print_aside(&format!("{}\n", paint(DIM, note)));
    }
    prepared.evaluate_for(view, options.budget)
}

/// Formats the notice; empty if no conditional rule applies.
fn format_notice(notice: Option<&Notice>, form: NoticeForm) -> serde_json::Result<String> {
    Ok(match form {
        NoticeForm::Text => notice.map(Notice::text).unwrap_or_default(),
        NoticeForm::Html => notice.map(Notice::html).unwrap_or_default(),
        NoticeForm::Json => String::from_utf8_lossy(json::line(&notice)?.trim_ascii_end()).into_owned(),
    })
}

/// Prints the notice, left-out rules and problems to standard error, so that the text can be piped.
fn print_aside(rendered: &Rendered<'_, '_>, notice: Option<&Notice>, diagnostics: &[Diagnostic]) {
    let mut aside = String::new();
    if let Some(notice) = notice {
        aside.push_str(&format!("{}\n", notice.text()));
    }
    if !rendered.omitted.is_empty() {
        let names: Vec<&str> = rendered.omitted.iter().map(|verdict| verdict.rule.name.as_str()).collect();
        let cut = plural(names.len(), "rule");
        aside.push_str(&format!(
            "over budget: {cut} offered by name instead of included: {}\n",
            names.join(", ")
        ));
    }
    aside.extend(alerts(diagnostics).map(|alert| alert_line(alert) + "\n"));
    // `check` has no evidence, so it does not report this.
    let is_evidence = |found: &&Diagnostic| found.code == Code::EvidenceOutside;
    diagnostics.iter().filter(is_evidence).for_each(|found| out::write_diagnostic(&mut aside, found));
    let rest: Vec<Diagnostic> = diagnostics.iter().filter(|found| !is_evidence(found)).cloned().collect();
    if let Some(count) = out::count(&rest) {
        aside.push_str(&format!("{}\n", paint(DIM, format!("{count}; run `rulebook check`"))));
    }
    out::print_aside(&aside);
}
