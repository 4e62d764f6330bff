//! Export: shows the copies that `export` would write, each with its proof.

use maud::{Markup, html};
use rulebook::export::{Allow, TARGETS, Target};
use rulebook_workspace::{Candidate, ExportOptions, ExportPlan, ExportRow, Reach, Removes, Wanted};

use super::super::export::{described, edits, planned, summary, targets};
use super::cache::Caches;
use super::http::{Query, Response};
use super::links::Links;
use super::page::frame;
use super::text::{Text, counted, ticks};
use crate::diff::diff;

/// Shows what an export would write.
pub(super) fn show(caches: &Caches<'_>, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules_for(query)?;
    let book = &rules.views.meant.book;
    let settings = &rules.workspace.settings.export;
    let list = |given: &str, set: &[String]| match given {
        "" => set.to_vec(),
        given => given.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    let (from, to) = (list(query.get("from"), &settings.from), list(query.get("to"), &settings.to));
    let candidates = Candidate::of(book);
    let plan = || {
        let tree = rules.workspace.tree(Wanted::Files, &|_| ());
        let sources = rules.workspace.sources(Reach::Walked(&tree));
        let to = targets(&to)?;
        let options = ExportOptions {
            from: from.clone(),
            to: to.clone(),
            tool: None,
            allow: settings.allow.unwrap_or(Allow::Meant),
            loss: settings.loss,
            keep: Vec::new(),
            dir: None,
            removes: Removes::Nothing,
            check: false,
        };
        let own = options.reader().map(|agent| sources.native(agent).book);
        planned(&sources, own.as_ref().unwrap_or(book), &tree, &options).map(|plan| (to, plan))
    };
    let is_chosen = !from.is_empty() && !to.is_empty();
    let body = html! {
        h1 { "Export" }
        p .lead { "What " code { "rulebook export" } " would write, and how each copy compares with its rule. Nothing is written here." }
        (form(&candidates, query, &from, &to))
        @if !is_chosen {
            p .none {
                "Choose the rules to copy and the agent to write them for. "
                @if candidates.is_empty() { "This workspace has no rules to copy." }
            }
        } @else {
            @match plan() {
                Err(error) => p .alert role="alert" { (ticks(&format!("{error:#}"))) },
                Ok((targets, plan)) => (preview(&plan, &targets, query, &from)),
            }
        }
    };
    Ok(frame("export", "Export", query, &rules, &body))
}

fn form(candidates: &[Candidate], query: &Query, from: &[String], to: &[String]) -> Markup {
    html! {
        form .choose action="export" {
            label { "Copy the rules of"
                input type="text" name="from" value=(from.join(",")) placeholder="format, file or id" list="formats" autocomplete="off" required;
            }
            datalist #formats {
                @for one in candidates { option value=(one.format) { (counted(one.rules, "rule")) } }
            }
            label { "for"
                select name="to" required {
                    option value="" { "Choose an agent" }
                    @if to.len() > 1 { option value=(to.join(",")) selected { (to.join(", ")) } }
                    @for target in TARGETS {
                        option value=(target.name) selected[to == [target.name]] { (target.title()) }
                    }
                }
            }
            input type="hidden" name="for" value=(query.get("for"));
            button type="submit" { "Preview" }
        }
    }
}

fn preview(plan: &ExportPlan, targets: &[&'static Target], query: &Query, from: &[String]) -> Markup {
    let links = Links::of(query);
    let names: Vec<&str> = targets.iter().map(|target| target.name).collect();
    let command = format!("rulebook export --from {} --to {}", from.join(","), names.join(","));
    html! {
        p role="status" { (counted(plan.files.len(), "file")) " would change; each copy is compared on " (counted(plan.tree, "file")) "." }
        @for target in targets {
            @let rows: Vec<&ExportRow> = plan.rows.iter().filter(|row| row.target.name == target.name).collect();
            h2 { (target.title()) }
            p .detail { (summary(&rows)) }
            @if !rows.is_empty() {
                table .copies {
                    thead { tr { th scope="col" { "Rule" } th scope="col" { "Copy" } th scope="col" { "Proof" } } }
                    tbody { @for row in rows.iter().take(ROWS) { (line(row, links)) } }
                }
            }
            @if rows.len() > ROWS {
                p .detail { "And " (counted(rows.len() - ROWS, "more rule")) ": " code { "rulebook export --dry-run --all" } " shows them." }
            }
        }
        p {
            "To write them: " code { (Text(&command)) } " "
            button .quiet .small .needs-script type="button" data-copy=(Text(&command)) { "Copy command" }
        }
    }
}

/// How many rules of an agent are shown.
const ROWS: usize = 500;

fn line(row: &ExportRow, links: Links<'_>) -> Markup {
    let (file, what) = described(row);
    html! {
        tr {
            th scope="row" { (links.file(&row.source)) }
            td { (Text(&file)) }
            td .warning[row.loss().is_some()] {
                (ticks(&what))
                @for note in &row.notes { br; span .detail { (ticks(note)) } }
                @if let Some((_, before, after)) = edits(&row.outcome) {
                    details { summary { "The copy was edited and is not overwritten" } pre { (Text(&diff(after, before))) } }
                }
            }
        }
    }
}
