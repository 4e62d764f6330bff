//! The view of one rule: its text with the header explained, the files it reaches, who wins over it, what to mend.

use std::fs;

use maud::{Markup, html};
use rulebook::diagnostic::Diagnostic;
use rulebook::parse::{Explained, explain_header};
use rulebook::resolve::Rulebook;
use rulebook::rule::{Activation, Basis, Rule};
use rulebook::source::{MAX_SOURCE, Origin};
use rulebook_workspace::Reached;

use super::super::status::{Row, RuleState};
use super::cache::{CachedTree, Caches};
use super::http::{Query, Response};
use super::live::Live;
use super::page::{
    self, Text, counted, frame, grouped, name, path_link, rule_link, state_badge, ticks, tokens, when,
};
use super::rules;

/// How many files are listed; `explain --rule` has them all.
const MAX_FILES: usize = 200;

/// How many lines of a file are shown.
const MAX_LINES: usize = 2000;

pub(super) fn show(looks: &Caches<'_>, live: &Live, asked: &Query) -> anyhow::Result<Response> {
    let look = looks.rules()?;
    let source = asked.get("source");
    let Some(row) = look.row(source) else {
        return Ok(page::missing("there is no such rule file; it may have been removed"));
    };
    let rule = look.rule(source);
    let rejected = look.loaded.book.rejected().iter().find(|rejected| rejected.origin.display == source);
    let origin = rule.map(|rule| &rule.origin).or(rejected.map(|rejected| &rejected.origin));
    let tree = looks.tree()?;
    let diagnostics = looks.diagnostics()?;
    let told: Vec<&Diagnostic> = diagnostics.iter().filter(|told| told.path == source).collect();
    let delivered = live.delivered(|root| look.is_here(root)).get(source).copied();
    let body = html! {
        p .crumbs { a href="rules" { "Rules" } " / " (name(source)) }
        div #live {
            header .title {
                h1 { (name(&row.id)) }
                (state_badge(row.state))
                (rules::switch(&look, row, &format!("rule{}", asked.with(&[]))))
            }
            @if let Some(description) = &row.description { p .lead { (Text(description)) } }
            (facts(row, rule, delivered))
        }
        @if !told.is_empty() {
            section aria-labelledby="mend" { h2 #mend { "What to mend" } (page::problems(&told)) }
        }
        div .columns {
            @if let Some(origin) = origin { (file(origin, &told)) }
            div {
                @if let Some(rule) = rule {
                    (rivals(&look.loaded.book, rule))
                    (reach(&look.workspace, &look.loaded.book, rule, &tree))
                }
            }
        }
    };
    Ok(frame("rules", &row.id, &look, &body))
}

fn facts(row: &Row, rule: Option<&Rule>, delivered: Option<u64>) -> Markup {
    html! {
        dl .facts {
            div { dt { "Comes on" } dd { (row.activation.unwrap_or(Activation::Never).name()) } }
            @if let Some(rule) = rule {
                div { dt { "Because" } dd { (basis(rule.basis)) } }
                div { dt { "Priority" } dd { (rule.priority) } }
            }
            div { dt { "Now" } dd { (rules::detail(row)) @if row.state == RuleState::Stack { "on" } } }
            div { dt { "Format" } dd { (row.format) } }
            div { dt { "Scope" } dd { (row.scope) } }
            div { dt { "Costs" } dd { (tokens(row.tokens)) " tokens" } }
            div { dt { "Last delivered" } dd {
                @match delivered { Some(at) if at > 0 => (when(at)), Some(_) => "in a session", None => "never" }
            } }
        }
    }
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Explicit => "the header says so",
        Basis::Inferred => "it follows from what the header says",
        Basis::Default => "the format says so where the header is silent",
        Basis::Repaired => "the header had to be mended to be read",
        Basis::FailOpen => "the header could not be read, so it is always on",
    }
}

/// The file, its header's lines with what they mean.
fn file(origin: &Origin, told: &[&Diagnostic]) -> Markup {
    let is_small = fs::metadata(&origin.path).is_ok_and(|found| found.is_file() && found.len() <= MAX_SOURCE);
    let text = if is_small { fs::read_to_string(&origin.path).ok() } else { None };
    let explained = text.as_deref().map(|text| explain_header(origin, text)).unwrap_or_default();
    html! {
        section aria-labelledby="source" {
            h2 #source { "Source" }
            p .place { (name(&origin.display)) }
            @match text {
                None => p .none { "The file cannot be shown: it is not there any more, too large, or no text." },
                Some(text) => (lines(&text, &explained, told)),
            }
        }
    }
}

fn lines(text: &str, explained: &[Explained], told: &[&Diagnostic]) -> Markup {
    let count = text.lines().count();
    html! {
        div .code tabindex="0" role="region" aria-label="The rule's file" {
            @for (at, line) in text.lines().enumerate().take(MAX_LINES) {
                @let number = at + 1;
                @let key = explained.iter().find(|key| key.lines.contains(&number));
                @let here: Vec<&&Diagnostic> = told.iter().filter(|told| told.line == number).collect();
                div class=(if key.is_some() { "line key" } else { "line" }) {
                    span .number aria-hidden="true" { (number) }
                    span .text { (Text(line)) }
                    @if let Some(key) = key.filter(|key| key.lines.start == number) {
                        span .meaning { strong { (name(&key.key)) } " " (ticks(&key.meaning)) }
                    }
                    @for told in here {
                        span class=(format!("meaning {}", told.severity.name())) { strong { (told.severity.name()) } " " (ticks(&told.help)) }
                    }
                }
            }
            @if count > MAX_LINES { div .line { span .text { "… " (grouped(count - MAX_LINES)) " more lines" } } }
        }
    }
}

fn rivals(book: &Rulebook, rule: &Rule) -> Markup {
    let found: Vec<_> = book.rivals(rule).collect();
    html! {
        section aria-labelledby="rivals" {
            h2 #rivals { "Who overrides whom" }
            @if found.is_empty() {
                p .none { "No other rule has its id or its text." }
            } @else {
                ul .plain {
                    @for (other, step) in found {
                        @let wins = other.rank() < rule.rank();
                        li {
                            @if wins { strong .warning { "Overrides this one" } } @else { strong { "Overridden by this one" } }
                            " where both apply: " (rule_link(&other.origin.display, &other.origin.display))
                            " " span .detail { "decided by " (step.name()) }
                        }
                    }
                }
            }
        }
    }
}

fn reach(
    workspace: &rulebook_workspace::Workspace,
    book: &Rulebook,
    rule: &Rule,
    tree: &CachedTree,
) -> Markup {
    let at = book.rules().position(|(other, _)| std::ptr::eq(other, rule));
    let reached = at.map(|at| workspace.reached_by(&[at], book, &tree.tree)).unwrap_or_default();
    let Some(Reached { files, further, .. }) = reached.into_iter().next() else { return html! {} };
    let all = tree.tree.files();
    html! {
        section aria-labelledby="reach" {
            h2 #reach { "Files it reaches " span .count { (grouped(files.len())) " of " (grouped(all)) } }
            @if !rule.globs.is_empty() {
                p .globs { @for glob in &rule.globs { code { (Text(glob)) } " " } }
            }
            @if !further.is_empty() { p { "If " (further.join(", ")) " allows, too." } }
            @if files.is_empty() {
                p .none { "No file of the tree brings it on." }
            } @else {
                ul .plain .files { @for file in files.iter().take(MAX_FILES) { li { (path_link(file)) } } }
                @if files.len() > MAX_FILES {
                    p { "And " (counted(files.len() - MAX_FILES, "more file")) ": " code { "rulebook explain --rule " (Text(&rule.id)) } }
                }
            }
        }
    }
}
