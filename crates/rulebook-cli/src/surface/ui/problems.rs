//! Problems: which rules are broken, and all diagnostics grouped by their code.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};
use rulebook::diagnostic::{Code, Diagnostic, Severity};

use super::cache::{CachedRules, Caches};
use super::http::{Query, Response};
use super::links::Links;
use super::page::frame;
use super::text::{Text, counted, grouped, ticks};

/// How many diagnostics of a code are listed; `check` lists all.
const MAX_LISTED: usize = 50;

pub(super) fn show(caches: &Caches<'_>, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules_for(query)?;
    let links = Links::of(query);
    let groups = by_code(&rules.views.meant.diagnostics);
    let body = html! {
        h1 { "Problems" }
        @if groups.is_empty() {
            p .none { "No problems. Run " code { "rulebook check" } " in CI to keep it that way." }
        } @else {
            @if rules.views.meant.diagnostics.iter().any(|found| found.fix.is_some()) {
                p { a .quiet .small href=(links.to("fix", &[])) { "Preview safe fixes" } }
            }
            p .lead { (counted(rules.views.meant.diagnostics.len(), "problem")) " of " (counted(groups.len(), "kind")) ", as " code { "rulebook check" } " reports them." }
        }
        @for (code, found) in &groups {
            details .group #(code.row().name) open[query.get("code") == code.row().name || groups.len() == 1] {
                summary {
                    span class=(format!("badge {}", class(found[0].severity))) { (found[0].severity.name()) } " "
                    strong { (code.row().name) } " " span .count { (grouped(found.len())) } " " span .detail { (ticks(code.row().meaning)) }
                }
                (list(&found[..found.len().min(MAX_LISTED)], links))
                @if found.len() > MAX_LISTED { p { "And " (grouped(found.len() - MAX_LISTED)) " more: run " code { "rulebook check" } "." } }
            }
        }
    };
    Ok(frame("problems", "Problems", query, &rules, &body))
}

/// How many problems are shown first.
const MAX_TRIAGE: usize = 3;

/// The most important problems, each with its effect, its place and one action.
pub(super) fn triage(rules: &CachedRules, links: Links<'_>) -> Markup {
    let all = &rules.views.meant.diagnostics;
    let groups = by_code(all);
    html! {
        @if !groups.is_empty() {
            section .triage aria-labelledby="triage" {
                h2 #triage { a href=(links.to("problems", &[])) { (counted(all.len(), "problem")) } }
                ul { @for (code, found) in groups.iter().take(MAX_TRIAGE) {
                    li {
                        span class=(format!("bullet {}", class(found[0].severity))) { span .hidden { (found[0].severity.name()) } }
                        span .effect { (Text(&found[0].path)) ": " (ticks(&found[0].message)) @if found.len() > 1 { " (and " (grouped(found.len() - 1)) " more)" } }
                        a .quiet .small href=(format!("{}#{}", links.to("problems", &[("code", code.row().name)]), code.row().name)) { "Show" }
                    }
                } }
            }
        }
    }
}

/// Groups diagnostics by their code; the worst first, then the most frequent.
fn by_code(diagnostics: &[Diagnostic]) -> Vec<(Code, Vec<&Diagnostic>)> {
    let mut groups: BTreeMap<Code, Vec<&Diagnostic>> = BTreeMap::new();
    for diagnostic in diagnostics {
        groups.entry(diagnostic.code).or_default().push(diagnostic);
    }
    let mut groups: Vec<(Code, Vec<&Diagnostic>)> = groups.into_iter().collect();
    for (_, found) in &mut groups {
        found.sort_by_key(|diagnostic| diagnostic.severity);
    }
    groups.sort_by_key(|(_, found)| (found[0].severity, std::cmp::Reverse(found.len())));
    groups
}

/// The worst problem of each file. Notes are no problems.
pub(super) fn worst_by_file(diagnostics: &[Diagnostic]) -> HashMap<&str, Severity> {
    let mut worst = HashMap::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.severity < Severity::Note) {
        let known = worst.entry(diagnostic.path.as_str()).or_insert(diagnostic.severity);
        *known = diagnostic.severity.min(*known);
    }
    worst
}

/// The class of a badge or marker.
pub(super) fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "problem",
        Severity::Note => "",
    }
}

/// Diagnostics of one file, whose text is shown elsewhere.
pub(super) fn of_file(diagnostics: &[&Diagnostic], links: Links<'_>) -> Markup {
    let fixable = diagnostics.iter().find(|found| found.fix.is_some());
    html! {
        @if let Some(found) = fixable { p { a .quiet .small href=(links.to("fix", &[("source", &found.path)])) { "Preview the fix" } } }
        ul .problems {
            @for diagnostic in diagnostics {
                li class=(diagnostic.severity.name()) {
                    p { (message(diagnostic)) @if diagnostic.line > 0 { " " span .place { "line " (diagnostic.line) } } }
                    p .help { "Fix: " (ticks(&diagnostic.help)) }
                }
            }
        }
    }
}

fn message(diagnostic: &Diagnostic) -> Markup {
    html! { strong .severity { (diagnostic.severity.name()) } " " (ticks(&diagnostic.message)) " " code .code { (diagnostic.code.row().name) } }
}

/// Diagnostics of many files.
fn list(diagnostics: &[&Diagnostic], links: Links<'_>) -> Markup {
    html! {
        ul .problems {
            @for diagnostic in diagnostics {
                li class=(diagnostic.severity.name()) {
                    p { (message(diagnostic)) }
                    @if let Some(excerpt) = &diagnostic.excerpt {
                        pre { code { (Text(&excerpt.line)) } }
                    }
                    p .help { "Fix: " (ticks(&diagnostic.help)) }
                    p .place {
                        (links.file(&diagnostic.path))
                        @if diagnostic.line > 0 { ":" (diagnostic.line) ":" (diagnostic.column) }
                    }
                }
            }
        }
    }
}
