//! Problems: which rules are broken, and all diagnostics grouped by their code.

use std::collections::{BTreeSet, HashMap};

use maud::{Markup, html};
use rulebook::diagnostic::{Diagnostic, Severity};
use rulebook::lint::group;

use super::super::problems::Problem;
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
    let groups = group(&rules.views.meant.diagnostics);
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
        @for group in &groups {
            @let (name, count) = (group.code().row().name, group.diagnostics.len());
            details .group open[query.get("code") == name || groups.len() == 1] {
                summary {
                    span class=(format!("badge {}", class(group.severity()))) title=(group.code().row().meaning) { (group.severity().name()) } " "
                    strong { (name) } " " span .count { (grouped(count)) } " " (ticks(&group.shape()))
                }
                (list(&group.diagnostics[..count.min(MAX_LISTED)], links))
                @if count > MAX_LISTED { p { "And " (grouped(count - MAX_LISTED)) " more: run " code { "rulebook check --all" } "." } }
            }
        }
    };
    Ok(frame("problems", "Problems", query, &rules, &body))
}

/// How many problems are shown first.
const MAX_TRIAGE: usize = 3;

/// The most important problems, each with its effect and one action: the same as in `status`, or those of one agent.
pub(super) fn triage(
    rules: &CachedRules,
    problems: &[Problem],
    agent: Option<&str>,
    links: Links<'_>,
) -> Markup {
    let count = rules.views.meant.diagnostics.len();
    let own: usize = problems.iter().map(|problem| problem.count).sum();
    html! {
        @if !problems.is_empty() {
            section .triage aria-labelledby="triage" {
                h2 #triage { a href=(links.to("problems", &[])) {
                    @match agent {
                        Some(title) if own < count => { (grouped(own)) " of " (counted(count, "problem")) (if own == 1 { " concerns " } else { " concern " }) (title) }
                        _ if count > 0 => (counted(count, "problem")),
                        _ => "Problems",
                    }
                } }
                ul { @for problem in problems.iter().take(MAX_TRIAGE) {
                    li {
                        span .bullet .problem {}
                        span .effect title=(Text(&format!("{}. Fix: {}", problem.effect, problem.command))) {
                            (ticks(&problem.effect)) " " span .detail { (ticks(&problem.command)) }
                        }
                        (action(rules, problem, links))
                    }
                } }
            }
        }
    }
}

/// What to do about a problem: preview a safe fix, copy a command, or look at the files.
fn action(rules: &CachedRules, problem: &Problem, links: Links<'_>) -> Markup {
    let is_of = |found: &&Diagnostic| found.code.row().name == problem.code;
    let found: Vec<&Diagnostic> = rules.views.meant.diagnostics.iter().filter(is_of).collect();
    html! {
        @if found.iter().any(|found| found.fix.is_some()) {
            a .quiet .small href=(links.to("fix", &[("code", problem.code)])) { "Preview the fix" }
        } @else if let Some(command) = shell_command(&problem.command) {
            @let others = problem.others.iter().filter_map(|help| shell_command(help));
            @let commands: BTreeSet<&str> = std::iter::once(command).chain(others).collect();
            @let commands: Vec<&str> = commands.into_iter().collect();
            button .quiet .small .needs-script type="button" data-copy=(Text(&commands.join("\n"))) {
                @if commands.len() == 1 { "Copy command" } @else { "Copy " (commands.len()) " commands" }
            }
        } @else if !found.is_empty() {
            a .quiet .small href=(links.to("problems", &[("code", problem.code)])) { "Show" }
        }
    }
}

/// Returns the command at the start of a help, without what is said about it.
fn shell_command(help: &str) -> Option<&str> {
    const PROGRAMS: [&str; 3] = ["git ", "ln ", "rulebook "];
    let end = [" (and ", "; "].iter().filter_map(|mark| help.find(mark)).min().unwrap_or(help.len());
    PROGRAMS.iter().any(|program| help.starts_with(program)).then(|| &help[..end])
}

/// The worst problem of each file. Notes are no problems.
pub(super) fn worst_by_file(diagnostics: &[Diagnostic]) -> HashMap<&str, Severity> {
    let mut worst = HashMap::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.severity < Severity::Note) {
        for path in diagnostic.paths() {
            let known = worst.entry(path).or_insert(diagnostic.severity);
            *known = diagnostic.severity.min(*known);
        }
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

#[cfg(test)]
mod tests {
    use super::shell_command;

    #[test]
    fn what_is_copied_is_a_command() {
        #[track_caller]
        fn check(help: &str, command: Option<&str>) {
            assert_eq!(shell_command(help), command);
        }
        check("git mv a.md a.mdc (and 43 more)", Some("git mv a.md a.mdc"));
        check("ln -s a.md r/a.mdc (and 1 more); Claude Code reads the same file", Some("ln -s a.md r/a.mdc"));
        check("ln -sf AGENTS.md CLAUDE.md", Some("ln -sf AGENTS.md CLAUDE.md"));
        check("rulebook install claude", Some("rulebook install claude"));
        check("add `paths` to the rules", None);
    }
}
