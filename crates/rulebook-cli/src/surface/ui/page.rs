//! The frame of every view, and small components.

use maud::{DOCTYPE, Markup, html};
use rulebook::agent::{AGENTS, Agent};
use rulebook::rule::Basis;

use super::cache::CachedRules;
use super::http::{Query, Response};
use super::links::Links;
use super::text::{Text, name};

/// The views in the navigation: address and title.
const VIEWS: &[(&str, &str)] =
    &[("agents", "Agents"), ("path", "Path"), ("sessions", "Sessions"), ("map", "Map"), ("export", "Export")];

/// Returns the whole page; `view` is the address of its view.
pub(super) fn frame(view: &str, title: &str, query: &Query, rules: &CachedRules, body: &Markup) -> Response {
    let links = Links::of(query);
    Response::html(html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body data-view=(view) {
                a .skip href="#main" { "Skip to the content" }
                header .top {
                    a .brand href=(links.to(VIEWS[0].0, &[])) { img src="icon.svg" alt="" width="20" height="20"; "Rulebook" }
                    nav aria-label="Views" {
                        @for (to, title) in VIEWS {
                            a href=(links.to(to, &[])) aria-current=[(*to == view).then_some("page")] { (title) }
                        }
                    }
                    (selector(view, query, rules))
                    span .where title=(Text(&rules.name())) { (name(&rules.name())) }
                    button .quiet .keys-button .needs-script type="button" data-keys="" title="Keyboard shortcuts: press ?" aria-label="Keyboard shortcuts" { "?" }
                }
                main #main tabindex="-1" { (body) }
                (keys())
            }
        }
    })
}

/// The agent that the page is for. Without script, a button submits the choice.
fn selector(view: &str, query: &Query, rules: &CachedRules) -> Markup {
    let wanted = query.get("for");
    let is_used = |agent: &Agent| rules.matrix.used().any(|column| column.agent.name == agent.name);
    let (used, others): (Vec<&Agent>, Vec<&Agent>) = AGENTS.iter().partition(|agent| is_used(agent));
    let option =
        |agent: &Agent| html! { option value=(agent.name) selected[agent.name == wanted] { (agent.title) } };
    html! {
        form .for action=(view) {
            @for (key, value) in query.others("for") { input type="hidden" name=(key) value=(value); }
            label { "for"
                select name="for" {
                    option value="" { @if used.is_empty() { "Any agent" } @else { "All agents here" } }
                    @if !used.is_empty() { optgroup label="Used here" { @for agent in used { (option(agent)) } } }
                    optgroup label="Other agents" { @for agent in others { (option(agent)) } }
                }
            }
            button .quiet type="submit" { "Show" }
        }
    }
}

/// What the keys do; the script reads no other list.
const KEYS: &[(&str, &str)] = &[
    ("/", "filter"),
    ("j", "next row"),
    ("k", "previous row"),
    ("Enter", "open or close the row"),
    ("a", "choose the agent"),
    ("?", "this help"),
];

fn keys() -> Markup {
    html! {
        dialog .keys #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keyboard" }
            dl { @for (key, does) in KEYS { dt { kbd { (key) } } dd { (does) } } }
            form method="dialog" { button .quiet { "Close" } }
        }
    }
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (Text(title)) " · Rulebook" }
            link rel="icon" href="icon.svg" type="image/svg+xml";
            link rel="stylesheet" href="style.css";
            script src="script.js" defer {}
        }
    }
}

/// A page for something that does not exist.
pub(super) fn missing(what: &str) -> Response {
    alone("Not found", &html! { p { (Text(what)) "." } }).status(404)
}

/// A page that shows an error.
pub(super) fn failed(error: &anyhow::Error) -> Response {
    alone("Error", &html! { @for line in error.chain() { p { (Text(&line.to_string())) } } }).status(500)
}

fn alone(title: &str, body: &Markup) -> Response {
    Response::html(html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body { main .alone { h1 { (title) } (body) p { a href="." { "Start page" } } } }
        }
    })
}

/// Says which agent a table shows where the screen has room for one.
pub(super) fn one_agent(title: &str) -> Markup {
    html! { p .detail .one-agent { "This narrow page shows " (title) ". Choose another agent above." } }
}

/// What to do in a workspace without rules.
pub(super) fn first_rule() -> Markup {
    html! {
        section .empty {
            h2 { "No rule files yet" }
            p { "Rulebook reads the rule files of your agents in place. Write one, and it appears here with the agents that read it:" }
            pre { code { "echo 'Answer briefly.' > AGENTS.md" } }
            p { "Or put it where your agent reads rules: " code { ".claude/rules/" } ", " code { ".cursor/rules/" } ", " code { ".clinerules/" }
                " and others; " code { "rulebook formats" } " lists them." }
        }
    }
}

/// Why a rule has its activation, as a badge. A broken header is a problem.
pub(super) fn basis_badge(basis: Basis) -> Markup {
    let class = if basis.is_doubtful() { "badge problem" } else { "badge" };
    html! { span class=(class) title=(basis_words(basis)) { (basis.name()) span .hidden { ": " (basis_words(basis)) } } }
}

/// What decided how a rule is activated.
pub(super) fn basis_words(basis: Basis) -> &'static str {
    match basis {
        Basis::Explicit => "stated in the header",
        Basis::Inferred => "follows from other keys of the header",
        Basis::Default => "the default of the format",
        Basis::Repaired => "the header was repaired",
        Basis::FailOpen => "the header cannot be read, so the rule is always on",
    }
}

/// Links to the other pages of a long list.
pub(super) fn pager(
    view: &str,
    query: &Query,
    page: usize,
    pages: usize,
    [before, after]: [&str; 2],
) -> Markup {
    let to = |page: usize| format!("{view}{}", query.with(&[("page", &page.to_string())]));
    html! {
        @if pages > 1 {
            nav .pager aria-label="Pages" {
                @if page > 1 { a rel="prev" href=(to(page - 1)) { (before) } } @else { span { (before) } }
                span { "Page " (page) " of " (pages) }
                @if page < pages { a rel="next" href=(to(page + 1)) { (after) } } @else { span { (after) } }
            }
        }
    }
}

/// Returns the requested page, the number of pages, and the range of entries on the page.
pub(super) fn paged(query: &Query, count: usize, size: usize) -> (usize, usize, std::ops::Range<usize>) {
    let pages = count.div_ceil(size).max(1);
    let page = query.get("page").parse().unwrap_or(1).clamp(1, pages);
    (page, pages, (page - 1) * size..count.min(page * size))
}
