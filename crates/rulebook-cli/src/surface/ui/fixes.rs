//! Fixes: shows what `check --fix` would change, and applies it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use maud::{Markup, html};
use rulebook::diagnostic::Diagnostic;
use rulebook_workspace::{Reach, Wanted};

use super::super::fix::{FixMode, Fixed, fix};
use super::cache::{CachedRules, Caches};
use super::http::{Query, Response};
use super::links::Links;
use super::page::frame;
use super::text::{Text, counted, ticks};

/// Shows the changes to one file, or to all.
pub(super) fn show(caches: &Caches<'_>, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules_for(query)?;
    let fixes = run(&rules, query, FixMode::DryRun);
    Ok(frame("problems", "Fix", query, &rules, &preview(&fixes, query, "")))
}

/// Applies the changes that the user has seen. If a file has changed since, shows them again.
pub(super) fn apply(caches: &Caches<'_>, form: &Query) -> anyhow::Result<Response> {
    caches.clear();
    let rules = caches.rules_for(form)?;
    let fixes = run(&rules, form, FixMode::DryRun);
    if digest(&fixes) != form.get("seen") {
        let note = "The files have changed since. These are the changes now.";
        return Ok(frame("problems", "Fix", form, &rules, &preview(&fixes, form, note)));
    }
    let written = run(&rules, form, FixMode::Write);
    caches.clear();
    let rules = caches.rules_for(form)?;
    let links = Links::of(form);
    let body = html! {
        h1 { "Fixed" }
        ul .plain { @for file in &written {
            li { (links.file(&file.path)) " "
                @match &file.failed {
                    Some(error) => span .warning { "not written: " (Text(error)) },
                    None => span .detail { "written" },
                } }
        } }
        p { a href=(links.to("problems", &[])) { "Show the remaining problems" } }
    };
    Ok(frame("problems", "Fixed", form, &rules, &body))
}

/// Runs the fixes of `check --fix` for one file, for one kind of problem, or for all.
fn run(rules: &CachedRules, query: &Query, mode: FixMode) -> Vec<Fixed> {
    let tree = rules.workspace.tree(Wanted::All, &|_| ());
    let sources = rules.workspace.sources(Reach::Walked(&tree));
    let is = |wanted: &str, has: &str| wanted.is_empty() || wanted == has;
    let is_wanted = |found: &&Diagnostic| {
        is(query.get("source"), &found.path) && is(query.get("code"), found.code.row().name)
    };
    let found: Vec<Diagnostic> = rules.views.meant.diagnostics.iter().filter(is_wanted).cloned().collect();
    fix(&sources, &tree, &found, mode)
}

/// Identifies the changes that a preview shows.
fn digest(fixes: &[Fixed]) -> String {
    let mut hasher = DefaultHasher::new();
    fixes.iter().for_each(|file| (&file.path, &file.diff).hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}

fn preview(fixes: &[Fixed], query: &Query, note: &str) -> Markup {
    let count = fixes.iter().filter(|file| file.failed.is_none()).count();
    html! {
        h1 { "Fix" }
        @if !note.is_empty() { p .alert role="alert" { (note) } }
        @if count == 0 {
            p .none { "Nothing here can be fixed safely. " a href=(Links::of(query).to("problems", &[])) { "Show the problems" } }
        } @else {
            p .lead { "What " code { "rulebook check --fix" } " would write. No agent's view becomes wider than what was meant." }
        }
        @for file in fixes {
            h2 { (Links::of(query).file(&file.path)) }
            @match &file.failed {
                Some(error) => p .warning { (Text(error)) },
                None => {
                    pre .diff { @for line in file.diff.lines() {
                        @let class = if line.trim_start().starts_with('-') { "removed" } else { "added" };
                        span class=(class) { (Text(line.trim_start())) "\n" }
                    } }
                    @for change in &file.changes { p .detail { (ticks(change)) } }
                }
            }
        }
        @if count > 0 {
            form method="post" action="fix" {
                @for name in ["source", "code", "for"] { input type="hidden" name=(name) value=(query.get(name)); }
                input type="hidden" name="seen" value=(digest(fixes));
                button type="submit" { "Apply to " (counted(count, "file")) }
            }
        }
    }
}
