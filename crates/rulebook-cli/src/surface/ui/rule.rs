//! One rule: its file with the header explained, the files it applies to, overrides, and problems.

use maud::{Markup, html};
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::{Rival, rivals};
use rulebook::parse::{Explained, explain_header};
use rulebook::resolve::Rulebook;
use rulebook::rule::{Activation, Rule};
use rulebook::source::Origin;
use rulebook_workspace::{RuleFiles, Workspace};

use super::super::nodes;
use super::super::rows::Row;
use super::cache::{CachedRules, CachedTree, Caches};
use super::files::files;
use super::http::{Query, Response};
use super::links::Links;
use super::live::Live;
use super::matrix::CachedMatrix;
use super::page::{self, basis_words, frame};
use super::problems;
use super::table::{meaning, switch};
use super::text::{Text, capital, counted, grouped, name, ticks, when};

/// How many lines of a file are shown.
const MAX_LINES: usize = 2000;

pub(super) fn show(caches: &Caches<'_>, live: &Live, query: &Query) -> anyhow::Result<Response> {
    let cached = caches.rules_for(query)?;
    let source = query.get("source");
    let Some(details) = details(caches, &cached, source, live, query)? else {
        return Ok(page::missing("This rule file does not exist; it may have been removed"));
    };
    let row = cached.row(source);
    let id = cached.matrix.rows.iter().find(|row| row.source == source).map_or(source, |row| &row.id);
    let body = html! {
        p .crumbs { a href=(Links::of(query).to("agents", &[])) { "Agents" } " / " (name(source)) }
        div #live {
            header .title {
                h1 { (name(id)) }
                @if let Some(row) = row { (switch(&cached, row, &format!("rule{}", query.with(&[])), "Enabled for me")) }
            }
            (details)
        }
    };
    Ok(frame("agents", id, query, &cached, &body))
}

/// Everything about a rule: what each agent does with it, its problems, its file, overrides, and the files it applies to.
pub(super) fn details(
    caches: &Caches<'_>,
    cached: &CachedRules,
    source: &str,
    live: &Live,
    query: &Query,
) -> anyhow::Result<Option<Markup>> {
    let Some(at) = cached.matrix.rows.iter().position(|row| row.source == source) else { return Ok(None) };
    let links = Links::of(query);
    let rule = cached.rule(source);
    let book = &cached.views.meant.book;
    let rejected = book.rejected().iter().find(|rejected| rejected.origin.display == source);
    let origin = rule.map(|rule| &rule.origin).or(rejected.map(|rejected| &rejected.origin));
    let all = &cached.views.meant.diagnostics;
    let diagnostics: Vec<&Diagnostic> =
        all.iter().filter(|found| found.paths().any(|path| path == source)).collect();
    let delivered = live.delivered(|root| cached.is_here(root)).get(source).copied();
    let tree = caches.tree()?;
    Ok(Some(html! {
        @if let Some(row) = cached.row(source) {
            @if let Some(description) = &row.description { p .lead { (Text(description)) } }
            (facts(row, rule, delivered))
        }
        div .columns {
            (agents(&cached.matrix, at, links))
            @if !diagnostics.is_empty() {
                section aria-labelledby="problems" { h2 #problems { "Problems " span .count { (diagnostics.len()) } } (problems::of_file(&diagnostics, links)) }
            }
        }
        div .columns {
            @if let Some(origin) = origin { (file(&cached.workspace, origin, &diagnostics)) }
            div {
                @if let Some(rule) = rule {
                    (reach(&cached.workspace, book, rule, &tree, links))
                    (overrides(book, rule, links))
                }
            }
        }
    }))
}

/// What each agent does with the rule, and why.
fn agents(matrix: &CachedMatrix, row: usize, links: Links<'_>) -> Markup {
    html! {
        section aria-labelledby="agents" {
            h2 #agents { "For each agent" }
            table .data .reasons {
                tbody { @for column in &matrix.columns {
                    @let cell = &column.cells[row];
                    @let (symbol, meaning) = meaning(cell);
                    tr {
                        th scope="row" { a href=(links.for_agent(column.agent.name)) { (column.agent.title) } }
                        td { span .symbol aria-hidden="true" { (symbol) } " " (capital(&meaning)) }
                        td .detail { (ticks(&cell.because)) }
                    }
                } }
            }
        }
    }
}

fn facts(row: &Row, rule: Option<&Rule>, delivered: Option<u64>) -> Markup {
    html! {
        dl .facts {
            @if let Some(rule) = rule {
                div { dt { "Activation" } dd { (rule.activation.name()) ", " (basis_words(rule.basis)) } }
                div { dt { "Priority" } dd { (rule.priority) } }
            }
            div { dt { "Format" } dd { (row.format) } }
            div { dt { "Scope" } dd { (row.scope) } }
            div { dt { "Size" } dd { (counted(row.tokens, "token")) } }
            div { dt { "Last delivered" } dd {
                @match delivered { Some(at) if at > 0 => (when(at)), Some(_) => "in a session", None => "never" }
            } }
        }
    }
}

/// The file, with the lines of its header explained.
fn file(workspace: &Workspace, origin: &Origin, diagnostics: &[&Diagnostic]) -> Markup {
    let text = workspace.rule_file(origin);
    let explained = text.as_deref().map(|text| explain_header(origin, text)).unwrap_or_default();
    html! {
        section aria-labelledby="source" {
            h2 #source { "Source" }
            p .place { (name(&origin.display)) }
            @match text {
                None => p .none { "The file cannot be shown: it was removed, is too large, is not text, or is outside the workspace." },
                Some(text) => (lines(&text, &explained, diagnostics)),
            }
        }
    }
}

fn lines(text: &str, explained: &[Explained], diagnostics: &[&Diagnostic]) -> Markup {
    let count = text.lines().count();
    html! {
        div .code tabindex="0" role="region" aria-label="The rule's file" {
            @for (at, line) in text.lines().enumerate().take(MAX_LINES) {
                @let number = at + 1;
                @let key = explained.iter().find(|key| key.lines.contains(&number));
                @let here = diagnostics.iter().filter(|diagnostic| diagnostic.line == number);
                div class=(if key.is_some() { "line key" } else { "line" }) {
                    span .number aria-hidden="true" { (number) }
                    span .text { (Text(line)) }
                    @if let Some(key) = key.filter(|key| key.lines.start == number) {
                        span .meaning { strong { (name(&key.key)) } " " (ticks(&key.meaning)) }
                    }
                    @for diagnostic in here {
                        span class=(format!("meaning {}", diagnostic.severity.name())) { strong { (diagnostic.severity.name()) } " " (ticks(&diagnostic.help)) }
                    }
                }
            }
            @if count > MAX_LINES { div .line { span .text { "… " (grouped(count - MAX_LINES)) " more lines" } } }
        }
    }
}

fn overrides(book: &Rulebook, rule: &Rule, links: Links<'_>) -> Markup {
    let found: Vec<Rival<'_>> = rivals(book, rule).collect();
    html! {
        section aria-labelledby="overrides" {
            h2 #overrides { "Overrides" }
            @if found.is_empty() {
                p .none { "It overrides no other rule, and no other rule overrides it." }
            } @else {
                ul .plain {
                    @for Rival { rule: other, wins, by, .. } in found {
                        li {
                            @if wins { strong .warning { "Overrides this rule" } } @else { strong { "Overridden by this rule" } }
                            " where both apply: " (links.file(&other.origin.display))
                            " " span .detail { "decided by " (by.name()) }
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
    links: Links<'_>,
) -> Markup {
    let at = book.rules().position(|(other, _)| std::ptr::eq(other, rule));
    let reached = at.map(|at| workspace.reached_by(&[at], book, &tree.tree)).unwrap_or_default();
    let Some(RuleFiles { files: reached, further, .. }) = reached.into_iter().next() else { return html! {} };
    let all = tree.tree.files();
    html! {
        section aria-labelledby="reach" {
            h2 #reach { "Files " span .count { (grouped(reached.len())) " of " (grouped(all)) } }
            @if !rule.globs.is_empty() {
                p .globs { @for glob in &rule.globs { code { (Text(glob)) } " " } }
            }
            @if !further.is_empty() { p { "Only if " (further.join(", ")) " also holds." } }
            @if reached.is_empty() { p .none { (unreached(rule)) } } @else { (files(&reached, links)) }
            @let nodes = nodes::in_files(workspace, rule, &reached);
            @if nodes.iter().any(Option::is_some) {
                h3 { "Nodes that match now" }
                ul .plain { @for (file, node) in reached.iter().zip(&nodes) {
                    @if let Some(node) = node { li { (links.path(file)) " " span .detail { (ticks(node)) } } }
                } }
            }
        }
    }
}

/// Why a rule has no files, and what to do.
fn unreached(rule: &Rule) -> Markup {
    match rule.activation {
        Activation::When if !rule.globs.is_empty() => html! {
            "No file in the tree matches. Run " code { "rulebook check" } " to see similar paths that exist."
        },
        Activation::OnRequest => html! { "Not chosen by files: the agent reads it by its description." },
        Activation::Manual => html! { "Not chosen by files: it applies when the user mentions it by name." },
        Activation::Stream => html! { "Not chosen by files: it watches the model's output." },
        _ => html! { "Not chosen by files." },
    }
}
