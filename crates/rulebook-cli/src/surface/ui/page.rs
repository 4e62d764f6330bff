//! The frame of every view, and small components.

use std::time::SystemTime;

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use rulebook::diagnostic::Diagnostic;
use rulebook::html::escape;

use super::super::status::{RuleState, STATES};
use super::cache::CachedRules;
use super::http::{Query, Response, query};
use crate::out::age;

/// The views in the navigation: address and title.
const VIEWS: &[(&str, &str)] =
    &[("rules", "Rules"), ("path", "Path"), ("sessions", "Sessions"), ("map", "Map")];

/// Untrusted text: escaped, with hidden characters made visible.
pub(super) struct Text<'t>(pub(super) &'t str);

impl Render for Text<'_> {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str(&escape(self.0));
    }
}

/// An untrusted name, isolated from the text direction around it. Lines may break after a slash.
pub(super) fn name(text: &str) -> Markup {
    html! { bdi { (PreEscaped(escape(text).replace('/', "/<wbr>"))) } }
}

/// Returns the whole page; `view` is the address of its view.
pub(super) fn frame(view: &str, title: &str, rules: &CachedRules, body: &Markup) -> Response {
    Response::html(html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body data-view=(view) {
                a .skip href="#main" { "Skip to the content" }
                header .top {
                    a .brand href="rules" { img src="icon.svg" alt="" width="20" height="20"; "Rulebook" }
                    nav aria-label="Views" {
                        @for (to, title) in VIEWS {
                            a href=(to) aria-current=[(*to == view).then_some("page")] { (title) }
                        }
                    }
                    span .where title=(Text(&rules.name())) { (name(&rules.name())) }
                }
                main #main tabindex="-1" { (body) }
            }
        }
    })
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
            body { main .alone { h1 { (title) } (body) p { a href="rules" { "Show the rules" } } } }
        }
    })
}

/// A link to a rule's page.
pub(super) fn rule_link(id: &str, source: &str) -> Markup {
    html! { a .rule href=(format!("rule{}", query(&[("source", source)]))) { (name(id)) } }
}

/// A link to the rules for a path.
pub(super) fn path_link(path: &str) -> Markup {
    html! { a .path href=(format!("path{}", query(&[("path", path)]))) { (name(path)) } }
}

/// `~1,240`, with a tooltip.
pub(super) fn tokens(count: usize) -> Markup {
    html! { span .tokens title="tokens, estimated" { "~" (grouped(count)) } }
}

/// `12,345`.
pub(super) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let parts: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|part| std::str::from_utf8(part).unwrap_or_default())
        .collect();
    parts.join(",")
}

/// `1 rule`, `1,200 rules`.
pub(super) fn counted(count: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// How long ago; the script adds the exact time.
pub(super) fn when(at: u64) -> Markup {
    let moment = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(at);
    html! { time data-at=(at) { (age(moment)) } }
}

/// A rule's state as a badge.
pub(super) fn state_badge(state: RuleState) -> Markup {
    let (_, name, title) = STATES[state as usize];
    html! { span class=(format!("state {name}")) { (title) } }
}

/// A list of diagnostics with their help.
pub(super) fn problems(diagnostics: &[&Diagnostic]) -> Markup {
    html! {
        ul .problems {
            @for diagnostic in diagnostics {
                li class=(diagnostic.severity.name()) {
                    p { strong .severity { (diagnostic.severity.name()) } " " (ticks(&diagnostic.message)) " " code .code { (diagnostic.code.row().name) } }
                    @if let Some(excerpt) = &diagnostic.excerpt {
                        pre { code { (Text(&excerpt.line)) } }
                    }
                    p .help { (ticks(&diagnostic.help)) }
                    p .place {
                        (rule_link(&diagnostic.path, &diagnostic.path))
                        @if diagnostic.line > 0 { ":" (diagnostic.line) ":" (diagnostic.column) }
                    }
                }
            }
        }
    }
}

/// Text with code between backticks.
pub(super) fn ticks(text: &str) -> Markup {
    let mut parts = text.split('`');
    html! {
        (Text(parts.next().unwrap_or_default()))
        @for (at, part) in parts.enumerate() {
            @if at % 2 == 0 { code { (Text(part)) } } @else { (Text(part)) }
        }
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

/// Markup from the engine, which has escaped it.
pub(super) fn fragment(html: String) -> Markup {
    PreEscaped(html)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn untrusted_text_is_escaped() {
        let shown = ticks("a `<b>` <i>\u{202e}").into_string();
        assert_eq!(shown, "a <code>&lt;b&gt;</code> &lt;i&gt;&lt;U+202E&gt;");
        assert_eq!(name("\"><b>a/b").into_string(), "<bdi>&quot;&gt;&lt;b&gt;a/<wbr>b</bdi>");
    }
}
