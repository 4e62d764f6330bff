//! One path: which rules apply and why, as `explain` shows it, with the text of the prompt.

mod kind;

use std::collections::BTreeMap;

use maud::{Markup, html};
use rulebook::agent::{Agent, Purpose, Wiring};
use rulebook::evidence::Input;
use rulebook::explain::{Applied, Because, Target};
use rulebook::render::{Notice, render};
use rulebook_workspace::{Differing, Prepared, Viewpoint};
use serde_json::json;

use super::super::explain;
use super::super::grid::GridTarget;
use super::super::sections::{off_words, rules_and_offers};
use super::cache::{CachedRules, Caches};
use super::http::{Query, Response};
use super::links::Links;
use super::matrix::{CachedMatrix, Column};
use super::page::{self, basis_badge, first_rule, frame};
use super::table::{MAX_COLUMNS, cell, head, legend, more, more_head, why};
use super::text::{Text, counted, fragment, grouped, name, ticks, tokens};
use crate::out::VERSION;
use kind::{PathKind, kinds};

/// How many files are suggested while a path is typed.
const MAX_SUGGESTED: usize = 12;

/// How many rules of a kind are listed, and how many are listed without a click.
const MAX_LISTED: usize = 100;
const MAX_OPEN: usize = 5;

/// With more agents than this, the prompt is below their table.
const MAX_BESIDE: usize = 4;

/// How much of the prompt's text is shown, in bytes.
const MAX_TEXT: usize = 200 << 10;

/// Returns the evidence in the query: a path, a message, or both.
fn input(query: &Query) -> Input {
    let given = |name: &str| Some(query.get(name).trim().to_owned()).filter(|text| !text.is_empty());
    Input { arguments: given("path").into_iter().collect(), message: given("message"), ..Input::default() }
}

/// Whom the answer is for.
fn viewpoint(query: &Query) -> Viewpoint {
    let named = Agent::find(query.get("for"), Purpose::View);
    named.map(Viewpoint::For).unwrap_or_default()
}

/// The same as `explain --json`.
pub(super) fn explain(caches: &Caches<'_>, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules()?;
    Ok(match explain::answer(&rules.workspace, &input(query), viewpoint(query)) {
        Ok(answer) => Response::json(&json!(answer.explanation.output())),
        Err(error) => Response::json(&json!({ "version": VERSION, "error": error.to_string() })).status(400),
    })
}

/// Suggests files in the tree for a path that is being typed.
pub(super) fn complete(caches: &Caches<'_>, query: &Query) -> anyhow::Result<Response> {
    let (rules, tree) = (caches.rules()?, caches.tree()?);
    let files = tree.tree.find(query.get("q"), &rules.workspace.roots, MAX_SUGGESTED);
    Ok(Response::json(&json!({ "version": VERSION, "files": files })))
}

pub(super) fn show(caches: &Caches<'_>, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules_for(query)?;
    let input = input(query);
    let (path, message) = (query.get("path"), query.get("message"));
    let has_input = !input.arguments.is_empty() || input.message.is_some();
    let body = html! {
        h1 { "Rules for a path" }
        form .ask action="path" data-live="" {
            label { span { "Path" }
                input type="text" name="path" value=(path) list="files" placeholder="src/app.ts" autocomplete="off" spellcheck="false" data-slash="" data-complete="files.json";
            }
            datalist #files {}
            label { span { "Message " span .optional { "optional" } }
                input type="text" name="message" value=(message) placeholder="what you would ask the agent" autocomplete="off";
            }
            button type="submit" { "Explain" }
        }
        div #live {
            @if has_input { (answer(&rules, &input, query)) } @else { (suggestions(caches, &rules, Links::of(query))?) }
        }
    };
    let title = if path.is_empty() { "Path" } else { path };
    Ok(frame("path", title, query, &rules, &body))
}

fn suggestions(caches: &Caches<'_>, rules: &CachedRules, links: Links<'_>) -> anyhow::Result<Markup> {
    if rules.rows.is_empty() {
        return Ok(first_rule());
    }
    let tree = caches.tree()?;
    Ok(html! {
        section .empty {
            p { "Type a path, a message, or both. The page shows the rules that an agent receives, in order, and the patterns that matched." }
            @if !tree.report.most.is_empty() {
                h2 { "Files with the most rules" }
                ul .plain { @for file in &tree.report.most { li { (links.path(&rules.full(&file.path))) " " span .detail { (counted(file.rules, "rule")) } } } }
            }
        }
    })
}

fn answer(rules: &CachedRules, input: &Input, query: &Query) -> Markup {
    let links = Links::of(query);
    let answer = match explain::answer(&rules.workspace, input, Viewpoint::Used) {
        Ok(answer) => answer,
        Err(error) => {
            return html! { div .alert role="alert" { @for line in error.chain() { p { (ticks(&line.to_string())) } } } };
        }
    };
    let prepared = rules.workspace.prepare(input);
    let agents = rules.views.agents.iter().map(|view| view.used.clone()).collect();
    let views = prepared.sources().views(agents);
    let matrix = CachedMatrix::new(&views, &views.matrix(&prepared.evidence), GridTarget::Paths);
    let columns: Vec<&Column> = match matrix.column(query.get("for")) {
        Some(column) => vec![column],
        None => matrix.used().collect(),
    };
    let is_shown =
        |differing: &&Differing| columns.iter().any(|column| column.agent.name == differing.agent.name);
    let differing: Vec<&Differing> =
        answer.explanation.differences.iter().filter(|one| columns.is_empty() || is_shown(one)).collect();
    html! {
        (share(query))
        @let is_wide = columns.len() > MAX_BESIDE;
        div .columns[!is_wide] .wide-first[!is_wide] .path-columns[!is_wide] {
            div {
                (differences(&differing, links))
                @if !columns.is_empty() { (agents_table(&matrix, &columns, query)) }
                @for (target, cost) in &answer.explanation.targets {
                    details .group .meant #meant open[columns.is_empty()] {
                        summary { "As meant, for any agent " span .count { (counted(target.stack.len(), "rule")) ", " (tokens(*cost)) " tokens" } }
                        (stack(rules, target, links))
                        (others(target, links))
                    }
                }
            }
            (prompt(&prepared, viewpoint(query), matrix.column(query.get("for")).map(|column| &*column.wired)))
        }
    }
}

/// What each agent has in context for the path. Rules that no agent uses are collapsed.
fn agents_table(matrix: &CachedMatrix, columns: &[&Column], query: &Query) -> Markup {
    let links = Links::of(query);
    let shown: Vec<&Column> = match columns {
        [one] => vec![*one],
        _ => matrix.products.iter().collect(),
    };
    let whom = match columns {
        [one] => one.title,
        _ => "these agents",
    };
    let (shown, others) = shown.split_at(shown.len().min(MAX_COLUMNS));
    let kinds = kinds(matrix, columns);
    let table = |rows: &[usize]| {
        let explained = columns.first().filter(|column| {
            columns.len() == 1 && rows.iter().any(|at| !column.cells[*at].because.is_empty())
        });
        html! {
            table class=(format!("matrix path-matrix of-{}", shown.len())) data-rows="" {
                thead { tr {
                    th scope="col" .rule-column { "Rule" span .always-label { "in context: rules · tokens, with offers" } }
                    @for column in shown { th scope="col" .agent { (head(column, &format!("path{}", query.with(&[("for", column.name)])), shown.len())) } }
                    @if !others.is_empty() { (more_head(others)) }
                    @if explained.is_some() { th scope="col" .why-column { "Why" } }
                } }
                tbody { @for at in rows.iter().take(MAX_LISTED) {
                    tr {
                        th scope="row" { div .rule-cell { span .marker {} (links.file(&matrix.rows[*at].source)) } }
                        @for column in shown { td .agent { (cell(&column.cells[*at])) } }
                        @if !others.is_empty() { td .more-column { (more(others, *at)) } }
                        @if let Some(column) = explained { td .why-cell { (why(&column.cells[*at])) } }
                    }
                } }
            }
        }
    };
    html! {
        @if shown.len() > 1 { (page::one_agent(shown[0].title)) }
        @if let [one] = shown { p .count { (in_context(one)) } }
        @for (kind, rows) in &kinds {
            @if *kind != PathKind::InContext { @if !rows.is_empty() {
                details .group { summary { (counted(rows.len(), "rule")) " " (kind.words(rows.len(), whom)) } (table(rows)) }
            } }
            @else if rows.is_empty() { p .none { "No rule applies to this path." } }
            @else { (table(rows)) }
        }
        (legend(columns, shown))
    }
}

/// What one agent has in context, in the words of `explain`.
fn in_context(column: &Column) -> String {
    let rules = rules_and_offers(column.loaded.most, column.offers.most);
    format!("{rules}, about {}", column.tokens.counted("token"))
}

/// The same query as a link, as JSON, and as a command.
fn share(query: &Query) -> Markup {
    let (path, message) = (query.get("path").trim(), query.get("message").trim());
    let links = Links::of(query);
    let asked = [("path", path), ("message", message)];
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut command = "rulebook explain".to_owned();
    if !path.is_empty() {
        command.push_str(&format!(" {}", quoted(path)));
    }
    if !message.is_empty() {
        command.push_str(&format!(" --message {}", quoted(message)));
    }
    if let Viewpoint::For(named) = viewpoint(query) {
        command.push_str(&format!(" --for {}", named.agent.name));
    }
    html! {
        p .share {
            button .quiet .small .needs-script type="button" data-copy-link=(links.to("path", &asked)) { "Copy link" }
            a href=(links.to("explain.json", &asked)) { "JSON" }
            code { (Text(&command)) }
        }
    }
}

fn stack(rules: &CachedRules, target: &Target, links: Links<'_>) -> Markup {
    html! {
        @if target.stack.is_empty() { p .none { "No rule applies." } }
        ol .stack {
            @for rule in &target.stack {
                li {
                    p .head { (links.rule(&rule.id, &rule.source)) " " span .source { (name(&rule.source)) }
                        " " span .detail { (rule.format) " · " (rule.scope.name()) " · priority " (rule.priority) } }
                    (because(rules, rule))
                }
            }
        }
    }
}

fn because(rules: &CachedRules, rule: &Applied) -> Markup {
    html! {
        @if rule.because.is_empty() { p .why { "always on" (basis(rule)) } }
        @for reason in &rule.because {
            p .why { (reason.condition) " " (patterns(rules, rule, reason)) (evidence(reason)) (basis(rule)) }
        }
    }
}

fn basis(rule: &Applied) -> Markup {
    let basis = rule.basis;
    html! { @if basis.is_doubtful() { " " (basis_badge(basis)) } }
}

/// The rule's patterns, with those that matched marked; for other conditions, what matched.
fn patterns(rules: &CachedRules, rule: &Applied, reason: &Because) -> Markup {
    let written = if reason.condition == "paths" {
        rules.rule(&rule.source).map(|rule| rule.globs.as_slice())
    } else {
        None
    };
    let all = written.filter(|all| reason.matched.iter().all(|matched| all.contains(matched)));
    html! {
        @for pattern in all.unwrap_or(&reason.matched) {
            @if reason.matched.contains(pattern) { code .glob { mark { (Text(pattern)) } } } @else { code .glob { (Text(pattern)) } }
            " "
        }
    }
}

fn evidence(reason: &Because) -> Markup {
    html! {
        @if let Some(first) = reason.evidence.first() {
            @let sources: Vec<&str> = first.sources.iter().map(|source| source.name()).collect();
            span .arrow aria-label="because of" { "←" } " " (name(&first.path)) " " span .detail { (sources.join(", ")) }
            @if reason.further() > 0 { span .detail { " and " (reason.further()) " more" } }
        }
    }
}

/// The rules that do not apply, and why. Long lists are collapsed, and grouped by reason.
fn others(target: &Target, links: Links<'_>) -> Markup {
    let row = |id: &str, source: &str, why: Markup| html! { li { (links.rule(id, source)) " " span .source { (name(source)) } p .why { (why) } } };
    let mut inactive: BTreeMap<&str, Vec<Markup>> = BTreeMap::new();
    for rule in &target.inactive {
        inactive.entry(rule.reason.name()).or_default().push(row(
            &rule.id,
            &rule.source,
            ticks(&rule.detail),
        ));
    }
    let mut lists: Vec<(&str, String, Vec<Markup>)> = vec![
        ("stream", "watching the stream".to_owned(), target.stream.iter().map(|rule| row(&rule.id, &rule.source, html! { (Text(&rule.summary())) })).collect()),
        ("offered", "offered to the agent".to_owned(), target.offered.iter().map(|rule| row(&rule.id, &rule.source, ticks(rule.note()))).collect()),
        ("overridden", "overridden".to_owned(), target.overridden.iter().map(|rule| row(&rule.id, &rule.source, html! { "by " (links.file(&rule.winner.source)) ", decided by " (rule.decided_by.name()) })).collect()),
        ("disabled", "disabled".to_owned(), target.disabled.iter().map(|rule| row(&rule.id, &rule.source, ticks(&off_words(&rule.id, rule.by, rule.file.as_deref())))).collect()),
        ("rejected", "rejected".to_owned(), target.rejected.iter().map(|rule| row(&rule.id, &rule.source, html! { @for code in &rule.diagnostics { code { (code.row().name) } " " } })).collect()),
    ];
    lists.extend(inactive.into_iter().map(|(reason, rows)| {
        let verb = if rows.len() == 1 { "does" } else { "do" };
        ("inactive", format!("{verb} not apply: {reason}"), rows)
    }));
    html! {
        @for (kind, title, rows) in lists.iter().filter(|(_, _, rows)| !rows.is_empty()) {
            details class=(format!("group {kind}")) open[rows.len() <= MAX_OPEN] {
                summary { (counted(rows.len(), "rule")) " " (title) }
                ul .plain { @for row in rows.iter().take(MAX_LISTED) { (row) } }
                @if rows.len() > MAX_LISTED { p .detail { "And " (grouped(rows.len() - MAX_LISTED)) " more; the JSON lists all." } }
            }
        }
    }
}

fn differences(found: &[&Differing], links: Links<'_>) -> Markup {
    html! {
        @if !found.is_empty() {
            details .group .differences {
                summary { strong { (counted(found.len(), "rule")) } @if found.len() == 1 { " is" } @else { " are" } " read differently than the author meant" }
                ul .plain { @for one in found.iter().take(MAX_LISTED) {
                    li { (links.rule(&one.id, &one.source)) " " span .source { (name(&one.source)) } p .why { (ticks(&one.sentence)) } }
                } }
            }
        }
    }
}

/// The text that an agent receives, and the notice to the user.
fn prompt(prepared: &Prepared<'_>, view: Viewpoint, wired: Option<&[Wiring]>) -> Markup {
    let evaluation = prepared.evaluate_for(view, None);
    let title = match view {
        Viewpoint::For(named) => {
            let is_wired = wired.is_some_and(|wired| !wired.is_empty());
            let adds = if is_wired { "adds" } else { "would add" };
            format!("What Rulebook {adds} for {}", named.agent.title)
        }
        _ => "Prompt, for any agent".to_owned(),
    };
    let rendered = render(&evaluation);
    let shown = &rendered.text[..rendered.text.floor_char_boundary(MAX_TEXT)];
    html! {
        section .prompt aria-labelledby="prompt" {
            h2 #prompt { (title) " " span .count { (tokens(rendered.tokens)) " tokens" } }
            @if let Some(notice) = Notice::of(&rendered) { (fragment(notice.html())) }
            @if shown.is_empty() { p .none { "Nothing." } }
            @else { pre tabindex="0" role="region" aria-label="Text of the prompt" { (Text(shown)) @if shown.len() < rendered.text.len() { "\n…" } } }
        }
    }
}
