//! The list of sessions: which agents are active, and which rules they received.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use maud::{Markup, html};

use super::cache::{CachedRules, Caches};
use super::http::{Query, Response};
use super::links::Links;
use super::live::{Live, SessionTotals};
use super::page::{self, frame};
use super::text::{Text, counted, grouped, name, tokens, when};

/// How many sessions are on a page.
const SIZE: usize = 50;

/// A session with an event in this period is active.
const ACTIVE: Duration = Duration::from_secs(120);

pub(super) fn show(caches: &Caches<'_>, live: &Live, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules_for(query)?;
    // The version first: the page then reloads for any event in between.
    let version = live.version();
    let all = live.sessions();
    let body = html! {
        h1 { "Sessions" }
        div #live data-events="events" data-version=(version) { (list(&rules, &all, query)) }
    };
    Ok(frame("sessions", "Sessions", query, &rules, &body))
}

fn list(rules: &CachedRules, all: &[SessionTotals], query: &Query) -> Markup {
    if all.is_empty() {
        return empty();
    }
    let links = Links::of(query);
    let (host, is_everywhere) = (query.get("host"), query.get("where") == "all");
    let here: Vec<&SessionTotals> =
        all.iter().filter(|session| is_everywhere || rules.is_here(&session.root)).collect();
    let is_wanted = |session: &&SessionTotals| host.is_empty() || session.host == host;
    let found: Vec<&SessionTotals> = here.iter().copied().filter(is_wanted).collect();
    let (page, pages, part) = page::paged(query, found.len(), SIZE);
    html! {
        (chips(rules, all, &here, query))
        @if here.is_empty() { (empty()) } @else if found.is_empty() { p .none { "No sessions of this agent." } }
        ul .sessions data-rows="" { @for session in &found[part] { li { (row(rules, session, links)) } } }
        (page::pager("sessions", query, page, pages, ["← Newer", "Older →"]))
    }
}

fn chips(rules: &CachedRules, all: &[SessionTotals], here: &[&SessionTotals], query: &Query) -> Markup {
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    here.iter().for_each(|session| *hosts.entry(&session.host).or_default() += 1);
    let elsewhere = all.iter().filter(|session| !rules.is_here(&session.root)).count();
    let link = |key: &str, value: &str, title: &str, count: usize| {
        html! { a href=(format!("sessions{}", query.with(&[(key, value), ("page", "")]))) aria-current=[(query.get(key) == value).then_some("true")] { (title) " " span .count { (grouped(count)) } } }
    };
    html! {
        nav .chips aria-label="Agents" {
            (link("host", "", "All agents", here.len()))
            @for (host, count) in hosts { (link("host", host, host, count)) }
            @if elsewhere > 0 {
                span .gap {}
                (link("where", "", "This workspace", all.len() - elsewhere))
                (link("where", "all", "All workspaces", all.len()))
            }
        }
    }
}

fn row(rules: &CachedRules, session: &SessionTotals, links: Links<'_>) -> Markup {
    let written = SystemTime::UNIX_EPOCH + Duration::from_secs(session.at);
    let is_active = SystemTime::now().duration_since(written).is_ok_and(|age| age < ACTIVE);
    html! {
        a .session href=(links.to("session", &[("host", &session.host), ("id", &session.session), ("agent", session.agent.as_deref().unwrap_or_default())])) {
            span .who {
                @let state = if is_active { "active" } else { "idle" };
                span class=(if is_active { "dot now" } else { "dot" }) title=(state) { span .hidden { (state) } }
                strong { (Text(&session.host)) } @if let Some(agent) = &session.agent { " / " (name(agent)) }
                " " span .source { (name(&session.session)) }
            }
            span .message { @if session.message.is_empty() { span .never { "no message yet" } } @else { (name(&session.message)) } }
            span .numbers {
                span { (counted(usize::try_from(session.turns).unwrap_or(0), "turn")) }
                span { (counted(session.delivered, "rule")) }
                span { (tokens(session.tokens)) " tokens" }
                @if session.interrupts > 0 { span .warning { (counted(session.interrupts, "interrupt")) } }
                @if !rules.is_here(&session.root) { span .source { (name(&rules.workspace.homes.shown(session.root.as_ref()))) } }
                (when(session.at))
            }
        }
    }
}

fn empty() -> Markup {
    html! {
        section .empty {
            h2 { "No sessions in this workspace yet" }
            p { "When an agent uses Rulebook, its turns appear here live: the files it touched, the rules it received and why, and their cost." }
            ol {
                li { "List the agents that are used here: " pre { code { "rulebook install" } } }
                li { "Wire one, for example Claude Code: " pre { code { "rulebook install claude" } } }
                li { "Work as usual. This page updates automatically." }
            }
            p { "Without a browser, " code { "rulebook watch" } " shows the same sessions in the terminal." }
        }
    }
}
