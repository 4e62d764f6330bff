//! What every view is set in: the frame around it, and how small things look.

use std::time::SystemTime;

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};
use rulebook::diagnostic::Diagnostic;
use rulebook::html::escape;

use super::super::status::RuleState;
use super::cache::CachedRules;
use super::http::{Query, Response, query};
use crate::out::age;

/// The views, as the frame lists them: address, title.
const VIEWS: &[(&str, &str)] =
    &[("rules", "Rules"), ("path", "Path"), ("sessions", "Sessions"), ("map", "Map")];

/// Text that may be a stranger's: nothing in it is markup, nothing in it hides.
pub(super) struct Text<'t>(pub(super) &'t str);

impl Render for Text<'_> {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str(&escape(self.0));
    }
}

/// A name of a stranger's: like text, and it turns nothing around it. A line may end behind a folder.
pub(super) fn name(text: &str) -> Markup {
    html! { bdi { (PreEscaped(escape(text).replace('/', "/<wbr>"))) } }
}

/// The whole page: `view` is the address of the view it belongs to.
pub(super) fn frame(view: &str, title: &str, look: &CachedRules, body: &Markup) -> Response {
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
                    span .where title=(Text(&look.name())) { (name(&look.name())) }
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

/// A page that says what is not there.
pub(super) fn missing(what: &str) -> Response {
    alone("Not here", &html! { p { (Text(what)) "." } }).status(404)
}

/// A page that says what went wrong, and what to do.
pub(super) fn failed(error: &anyhow::Error) -> Response {
    alone("That did not work", &html! { @for line in error.chain() { p { (Text(&line.to_string())) } } })
        .status(500)
}

fn alone(title: &str, body: &Markup) -> Response {
    Response::html(html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body { main .alone { h1 { (title) } (body) p { a href="rules" { "To the rules" } } } }
        }
    })
}

/// A link to a rule's own page.
pub(super) fn rule_link(id: &str, source: &str) -> Markup {
    html! { a .rule href=(format!("rule{}", query(&[("source", source)]))) { (name(id)) } }
}

/// A link to what applies to a path.
pub(super) fn path_link(path: &str) -> Markup {
    html! { a .path href=(format!("path{}", query(&[("path", path)]))) { (name(path)) } }
}

/// `~1,240`, with what it is for those who ask.
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

/// How long ago, in words; the script adds the hour.
pub(super) fn when(at: u64) -> Markup {
    let moment = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(at);
    html! { time data-at=(at) { (age(moment)) } }
}

/// The states of rules, in the order in which the page lists them.
pub(super) const STATES: [RuleState; 7] = [
    RuleState::Stack,
    RuleState::Inactive,
    RuleState::Offered,
    RuleState::Stream,
    RuleState::Overridden,
    RuleState::Disabled,
    RuleState::Rejected,
];

pub(super) fn state_title(state: RuleState) -> &'static str {
    match state {
        RuleState::Stack => "On",
        RuleState::Inactive => "Waiting",
        RuleState::Offered => "Offered",
        RuleState::Stream => "Stream",
        RuleState::Overridden => "Overridden",
        RuleState::Disabled => "Off",
        RuleState::Rejected => "Rejected",
    }
}

/// A rule's state as a badge.
pub(super) fn state_badge(state: RuleState) -> Markup {
    html! { span class=(format!("state {}", state.name())) { (state_title(state)) } }
}

/// Diagnostics, each with what to write instead.
pub(super) fn problems(diagnostics: &[&Diagnostic]) -> Markup {
    html! {
        ul .problems {
            @for told in diagnostics {
                li class=(told.severity.name()) {
                    p { strong .severity { (told.severity.name()) } " " (ticks(&told.message)) " " code .code { (told.code.row().name) } }
                    @if let Some(excerpt) = &told.excerpt {
                        pre { code { (Text(&excerpt.line)) } }
                    }
                    p .help { (ticks(&told.help)) }
                    p .place {
                        (rule_link(&told.path, &told.path))
                        @if told.line > 0 { ":" (told.line) ":" (told.column) }
                    }
                }
            }
        }
    }
}

/// Text in which what stands between backticks is code.
pub(super) fn ticks(text: &str) -> Markup {
    let mut parts = text.split('`');
    html! {
        (Text(parts.next().unwrap_or_default()))
        @for (at, part) in parts.enumerate() {
            @if at % 2 == 0 { code { (Text(part)) } } @else { (Text(part)) }
        }
    }
}

/// Links through the pages of a long list; nothing where it is short.
pub(super) fn pager(
    view: &str,
    asked: &Query,
    page: usize,
    pages: usize,
    [before, after]: [&str; 2],
) -> Markup {
    let to = |page: usize| format!("{view}{}", asked.with(&[("page", &page.to_string())]));
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

/// Which page is asked for, of how many, and which of the entries it has.
pub(super) fn paged(asked: &Query, count: usize, size: usize) -> (usize, usize, std::ops::Range<usize>) {
    let pages = count.div_ceil(size).max(1);
    let page = asked.get("page").parse().unwrap_or(1).clamp(1, pages);
    (page, pages, (page - 1) * size..count.min(page * size))
}

/// Markup the engine wrote, escaped there.
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
    fn a_stranger_writes_no_markup() {
        let shown = ticks("a `<b>` <i>\u{202e}").into_string();
        assert_eq!(shown, "a <code>&lt;b&gt;</code> &lt;i&gt;&lt;U+202E&gt;");
        assert_eq!(name("\"><b>a/b").into_string(), "<bdi>&quot;&gt;&lt;b&gt;a/<wbr>b</bdi>");
    }
}
