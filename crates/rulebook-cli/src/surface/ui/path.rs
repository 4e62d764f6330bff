//! The view of a path: what applies to it and why, exactly as `explain` says it, with the prompt's text beside it.

use maud::{Markup, html};
use rulebook::evidence::Input;
use rulebook::explain::{Applied, Because, Target};
use rulebook::render::{Budget, Notice, render};
use serde_json::json;

use super::super::explain::{self as asking, Differing, off_words};
use super::cache::{CachedRules, Caches};
use super::http::{Query, Response, query};
use super::page::{self, Text, counted, frame, grouped, name, path_link, rule_link, ticks, tokens};
use crate::out::VERSION;

/// How many files are proposed while a path is typed.
const PROPOSED: usize = 12;

/// How many rules of a kind are listed at first.
const MAX_LISTED: usize = 100;

/// How much of the prompt's text is shown.
const MAX_TEXT: usize = 200 << 10;

/// What is asked about: a path, a message, or both.
fn input(asked: &Query) -> Input {
    let given = |name: &str| Some(asked.get(name).trim().to_owned()).filter(|text| !text.is_empty());
    Input { arguments: given("path").into_iter().collect(), message: given("message"), ..Input::default() }
}

/// The same as `explain --json`.
pub(super) fn explain(looks: &Caches<'_>, asked: &Query) -> anyhow::Result<Response> {
    let look = looks.rules()?;
    Ok(match asking::answer(&look.workspace, &input(asked), None) {
        Ok(answer) => Response::json(&answer.json()),
        Err(error) => Response::json(&json!({ "version": VERSION, "error": error.to_string() })).status(400),
    })
}

/// Files of the tree that may be meant.
pub(super) fn complete(looks: &Caches<'_>, asked: &Query) -> anyhow::Result<Response> {
    let (look, tree) = (looks.rules()?, looks.tree()?);
    let files = tree.tree.find(asked.get("q"), &look.workspace.roots, PROPOSED);
    Ok(Response::json(&json!({ "version": VERSION, "files": files })))
}

pub(super) fn show(looks: &Caches<'_>, asked: &Query) -> anyhow::Result<Response> {
    let look = looks.rules()?;
    let input = input(asked);
    let (path, message) = (asked.get("path"), asked.get("message"));
    let is_asked = !input.arguments.is_empty() || input.message.is_some();
    let body = html! {
        h1 { "What applies, and why" }
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
            @if is_asked { (answer(&look, &input, asked)) } @else { (suggestions(looks, &look)?) }
        }
    };
    let title = if path.is_empty() { "Path" } else { path };
    Ok(frame("path", title, &look, &body))
}

fn suggestions(looks: &Caches<'_>, look: &CachedRules) -> anyhow::Result<Markup> {
    let tree = looks.tree()?;
    Ok(html! {
        section .empty {
            p { "Type a path, a message, or both. The stack below is what an agent gets, in its order, with the pattern that decided." }
            @if !tree.report.most.is_empty() {
                h2 { "Files with the most rules" }
                ul .plain { @for file in &tree.report.most { li { (path_link(&look.full(&file.path))) " " span .detail { (counted(file.rules, "rule")) } } } }
            }
        }
    })
}

fn answer(look: &CachedRules, input: &Input, asked: &Query) -> Markup {
    let answer = match asking::answer(&look.workspace, input, None) {
        Ok(answer) => answer,
        Err(error) => {
            return html! { div .alert role="alert" { @for line in error.chain() { p { (ticks(&line.to_string())) } } } };
        }
    };
    html! {
        (share(asked))
        @for (target, cost) in &answer.targets {
            div .columns .wide-first {
                div {
                    h2 { "Applies, in this order " span .count { (counted(target.stack.len(), "rule")) ", " (tokens(*cost)) " tokens" } }
                    (stack(look, target))
                    (others(target, !asked.get("all").is_empty(), asked))
                    (differences(&answer.differences))
                }
                (prompt(look, input))
            }
        }
    }
}

/// The same question elsewhere: as a link, as data, as a command.
fn share(asked: &Query) -> Markup {
    let (path, message) = (asked.get("path").trim(), asked.get("message").trim());
    let link = query(&[("path", path), ("message", message)]);
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut command = "rulebook explain".to_owned();
    if !path.is_empty() {
        command.push_str(&format!(" {}", quoted(path)));
    }
    if !message.is_empty() {
        command.push_str(&format!(" --message {}", quoted(message)));
    }
    html! {
        p .share {
            button .quiet type="button" data-copy=(format!("path{link}")) { "Copy link" }
            a href=(format!("explain.json{link}")) { "JSON" }
            code { (Text(&command)) }
        }
    }
}

fn stack(look: &CachedRules, target: &Target) -> Markup {
    html! {
        @if target.stack.is_empty() { p .none { "No rule applies." } }
        ol .stack {
            @for rule in &target.stack {
                li {
                    p .head { (rule_link(&rule.id, &rule.source)) " " span .source { (name(&rule.source)) }
                        " " span .detail { (rule.format) " · " (rule.scope.name()) " · priority " (rule.priority) } }
                    (because(look, rule))
                }
            }
        }
    }
}

fn because(look: &CachedRules, rule: &Applied) -> Markup {
    html! {
        @if rule.because.is_empty() { p .why { "always on" (basis(rule)) } }
        @for reason in &rule.because {
            p .why { (reason.condition) " " (patterns(look, rule, reason)) (evidence(reason)) (basis(rule)) }
        }
    }
}

fn basis(rule: &Applied) -> Markup {
    let basis = rule.basis;
    html! { @if basis.is_doubtful() { " " span class=(format!("basis {basis}")) { (basis) } } }
}

/// Every pattern of the rule, with those that decided marked; of another condition what matched.
fn patterns(look: &CachedRules, rule: &Applied, reason: &Because) -> Markup {
    let written = if reason.condition == "paths" {
        look.rule(&rule.source).map(|rule| rule.globs.as_slice())
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
            @if reason.evidence.len() > 1 { span .detail { " and " (reason.evidence.len() - 1) " more" } }
        }
    }
}

/// Every rule that is not in the stack, with why.
fn others(target: &Target, all: bool, asked: &Query) -> Markup {
    let row = |id: &str, source: &str, why: Markup| html! { li { (rule_link(id, source)) " " span .source { (name(source)) } p .why { (why) } } };
    let kinds: [(&str, &str, Vec<Markup>); 6] = [
        ("stream", "Watches the stream", target.stream.iter().map(|rule| row(&rule.id, &rule.source, html! { "comes when the model writes what it watches for" })).collect()),
        ("offered", "Offered: the agent may ask for it", target.offered.iter().map(|rule| row(&rule.id, &rule.source, ticks(rule.description.as_deref().unwrap_or_default()))).collect()),
        ("overridden", "Overridden", target.overridden.iter().map(|rule| row(&rule.id, &rule.source, html! { "by " (rule_link(&rule.winner.source, &rule.winner.source)) ", decided by " (rule.decided_by.name()) })).collect()),
        ("disabled", "Switched off", target.disabled.iter().map(|rule| row(&rule.id, &rule.source, ticks(&off_words(&rule.by, rule.file.as_deref())))).collect()),
        ("rejected", "Rejected", target.rejected.iter().map(|rule| row(&rule.id, &rule.source, html! { @for code in &rule.diagnostics { code { (code.row().name) } " " } })).collect()),
        ("inactive", "Does not apply", target.inactive.iter().map(|rule| row(&rule.id, &rule.source, ticks(&rule.detail))).collect()),
    ];
    html! {
        @for (kind, title, rows) in &kinds {
            @if !rows.is_empty() {
                @let limit = if all { rows.len() } else { MAX_LISTED };
                section class=(format!("others {kind}")) {
                    h3 { (title) " " span .count { (grouped(rows.len())) } }
                    ul .plain { @for row in rows.iter().take(limit) { (row) } }
                    @if rows.len() > limit { p { a href=(format!("path{}", asked.with(&[("all", "1")]))) { "Show all " (grouped(rows.len())) } } }
                }
            }
        }
    }
}

/// What the agents the rules belong to do otherwise.
fn differences(found: &[Differing]) -> Markup {
    html! {
        @if !found.is_empty() {
            section .others {
                h3 { "What was meant, and what the agent itself does " span .count { (grouped(found.len())) } }
                ul .plain { @for one in found.iter().take(MAX_LISTED) {
                    li { (rule_link(&one.id, &one.source)) " " span .source { (name(&one.source)) } p .why { (ticks(&one.description())) } }
                } }
            }
        }
    }
}

/// The text an agent gets, with its notice.
fn prompt(look: &CachedRules, input: &Input) -> Markup {
    let asked = look.workspace.ask(input);
    let evaluation = asked.evaluate();
    let rendered = render(&evaluation, Budget { tokens: look.workspace.settings.budget.tokens });
    let shown = &rendered.text[..rendered.text.floor_char_boundary(MAX_TEXT)];
    html! {
        section .prompt aria-labelledby="prompt" {
            h2 #prompt { "The prompt " span .count { (tokens(rendered.tokens)) " tokens" } }
            @if let Some(notice) = Notice::of(&rendered) { (page::fragment(notice.html())) }
            @if shown.is_empty() { p .none { "Nothing goes into the prompt." } }
            @else { pre tabindex="0" role="region" aria-label="The prompt's text" { (Text(shown)) @if shown.len() < rendered.text.len() { "\n…" } } }
        }
    }
}
