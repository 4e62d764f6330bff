//! Export: shows the copies that `export` would write, each with its proof.

use maud::{Markup, html};
use rulebook::export::{Allow, TARGETS};
use rulebook_workspace::{ExportOptions, ExportPlan, ExportRow, Outcome, Reach, Wanted};

use super::super::export::{described, planned, targets};
use super::cache::Caches;
use super::http::{Query, Response};
use super::links::Links;
use super::page::frame;
use super::text::{Text, counted, ticks};

/// Shows what an export from one format to one agent would write.
pub(super) fn show(caches: &Caches<'_>, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules_for(query)?;
    let settings = &rules.workspace.settings.export;
    let list = |given: &str, set: &[String]| match given {
        "" => set.to_vec(),
        given => given.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    let (from, to) = (list(query.get("from"), &settings.from), list(query.get("to"), &settings.to));
    let result = if to.is_empty() {
        None
    } else {
        let tree = rules.workspace.tree(Wanted::Files, &|_| ());
        let sources = rules.workspace.sources(Reach::Walked(&tree));
        let options = targets(&to).map(|to| ExportOptions {
            from: from.clone(),
            to,
            allow: settings.allow.unwrap_or(Allow::Meant),
            loss: settings.loss,
            keep: Vec::new(),
            dir: None,
            sync: false,
        });
        Some(options.and_then(|options| planned(&sources, &rules.views.meant.book, &tree, &options)))
    };
    let body = html! {
        h1 { "Export" }
        p .lead { "What " code { "rulebook export" } " would write, and how each copy compares with its rule." }
        (form(&from, &to))
        @match &result {
            None => p .none { "Choose the agent that the rules are written for." },
            Some(Err(error)) => p .alert role="alert" { (ticks(&format!("{error:#}"))) },
            Some(Ok(plan)) => (preview(plan, query, &from, &to)),
        }
    };
    Ok(frame("export", "Export", query, &rules, &body))
}

fn form(from: &[String], to: &[String]) -> Markup {
    html! {
        form action="export" {
            label { "from " input name="from" value=(from.join(",")) placeholder="cursor"; }
            " "
            label { "to "
                select name="to" {
                    @for target in TARGETS {
                        option value=(target.name) selected[to.iter().any(|name| name == target.name)] { (target.title()) }
                    }
                }
            }
            " "
            button type="submit" { "Preview" }
        }
    }
}

fn preview(plan: &ExportPlan, query: &Query, from: &[String], to: &[String]) -> Markup {
    let links = Links::of(query);
    html! {
        p { (counted(plan.files.len(), "file")) " would change; the tree has " (counted(plan.tree, "file")) "." }
        div .scroll {
            table {
                thead { tr { th scope="col" { "Rule" } th scope="col" { "Copy" } th scope="col" { "Proof" } } }
                tbody {
                    @for row in &plan.rows { (line(row, &links)) }
                }
            }
        }
        p { "To write them: " code { "rulebook export --from " (Text(&from.join(","))) " --to " (Text(&to.join(","))) } }
    }
}

fn line(row: &ExportRow, links: &Links<'_>) -> Markup {
    let (file, what) = described(row);
    let is_lost = matches!(row.outcome, Outcome::LeftOut(_));
    html! {
        tr {
            th scope="row" { (links.file(&row.source)) }
            td { (Text(&file)) }
            td .warning[is_lost] {
                (ticks(&what))
                @for note in &row.notes { br; span .detail { (ticks(note)) } }
            }
        }
    }
}
