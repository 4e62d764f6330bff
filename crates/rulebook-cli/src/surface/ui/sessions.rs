//! The view of the sessions: which agents are at work, and what rules they were told.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use maud::{Markup, html};

use super::cache::{CachedRules, Caches};
use super::http::{Query, Response, query};
use super::live::{Live, Sum};
use super::page::{self, Text, counted, frame, grouped, name, tokens, when};

/// How many sessions a page has.
const SIZE: usize = 50;

/// A session written this lately is at work.
const NOW: Duration = Duration::from_secs(120);

pub(super) fn show(looks: &Caches<'_>, live: &Live, asked: &Query) -> anyhow::Result<Response> {
    let look = looks.rules()?;
    // Asked first: what comes in between is asked for again.
    let version = live.version();
    let all = live.sums();
    let body = html! {
        h1 { "Sessions" }
        div #live data-events="events" data-version=(version) { (list(&look, &all, asked)) }
    };
    Ok(frame("sessions", "Sessions", &look, &body))
}

fn list(look: &CachedRules, all: &[Sum], asked: &Query) -> Markup {
    if all.is_empty() {
        return empty();
    }
    let (host, is_wide) = (asked.get("host"), asked.get("where") == "all");
    let here: Vec<&Sum> = all.iter().filter(|sum| is_wide || look.is_here(&sum.root)).collect();
    let found: Vec<&Sum> = here.iter().copied().filter(|sum| host.is_empty() || sum.host == host).collect();
    let (page, pages, part) = page::paged(asked, found.len(), SIZE);
    html! {
        (chips(look, all, &here, asked))
        @if found.is_empty() { p .none { "No session in this workspace yet." } }
        ul .sessions data-rows="" { @for sum in &found[part] { li { (row(look, sum)) } } }
        (page::pager("sessions", asked, page, pages, ["← Newer", "Older →"]))
    }
}

fn chips(look: &CachedRules, all: &[Sum], here: &[&Sum], asked: &Query) -> Markup {
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    here.iter().for_each(|sum| *hosts.entry(&sum.host).or_default() += 1);
    let elsewhere = all.iter().filter(|sum| !look.is_here(&sum.root)).count();
    let link = |key: &str, value: &str, title: &str, count: usize| {
        html! { a href=(format!("sessions{}", asked.with(&[(key, value), ("page", "")]))) aria-current=[(asked.get(key) == value).then_some("true")] { (title) " " span .count { (grouped(count)) } } }
    };
    html! {
        nav .chips aria-label="Agents" {
            (link("host", "", "Every agent", here.len()))
            @for (host, count) in hosts { (link("host", host, host, count)) }
            @if elsewhere > 0 {
                span .gap {}
                (link("where", "", "This workspace", all.len() - elsewhere))
                (link("where", "all", "All workspaces", all.len()))
            }
        }
    }
}

fn row(look: &CachedRules, sum: &Sum) -> Markup {
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(sum.at);
    let is_now = SystemTime::now().duration_since(written).is_ok_and(|age| age < NOW);
    html! {
        a .session href=(format!("session{}", query(&[("host", &sum.host), ("id", &sum.session), ("agent", sum.agent.as_deref().unwrap_or_default())]))) {
            span .who {
                span class=(if is_now { "dot now" } else { "dot" }) title=(if is_now { "at work" } else { "quiet" }) {}
                strong { (Text(&sum.host)) } @if let Some(agent) = &sum.agent { " / " (name(agent)) }
                " " span .source { (name(&sum.session)) }
            }
            span .message { @if sum.message.is_empty() { span .never { "nothing said yet" } } @else { (name(&sum.message)) } }
            span .numbers {
                span { (counted(usize::try_from(sum.turns).unwrap_or(0), "turn")) }
                span { (counted(sum.given, "rule")) " given" }
                span { (tokens(sum.tokens)) " tokens" }
                @if sum.interrupts > 0 { span .warning { (counted(sum.interrupts, "interrupt")) } }
                @if !look.is_here(&sum.root) { span .source { (name(&look.workspace.homes.shown(sum.root.as_ref()))) } }
                (when(sum.at))
            }
        }
    }
}

fn empty() -> Markup {
    html! {
        section .empty {
            h2 { "No sessions yet" }
            p { "Once an agent asks Rulebook for its rules, every turn shows up here while it happens: what it touched, which rules came on and why, and what they cost." }
            ol {
                li { "See which agents are used here: " pre { code { "rulebook install" } } }
                li { "Wire one, for example Claude Code: " pre { code { "rulebook install claude" } } }
                li { "Work as usual. This page updates by itself." }
            }
            p { "Without a browser, " code { "rulebook watch" } " follows the same sessions on the terminal." }
        }
    }
}
