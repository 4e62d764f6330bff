//! The view of one session: turn by turn what was seen, what was told, and what it cost.

use maud::{Markup, html};
use rulebook::session::{Delivery, Event};
use rulebook_workspace::ledger::{Ledger, SessionFile};

use super::super::hook::not_delivered;
use super::super::sessions::{SessionLog, given, interrupted};
use super::cache::{CachedRules, Caches};
use super::chart::chart;
use super::http::{Query, Response};
use super::live::Live;
use super::page::{self, Text, counted, frame, grouped, name, path_link, rule_link, tokens, when};

/// How many facts a page has; a turn may have thousands.
const SIZE: usize = 200;

/// How much of a message or a command is shown.
const MAX_TEXT: usize = 2000;

pub(super) fn show(looks: &Caches<'_>, live: &Live, asked: &Query) -> anyhow::Result<Response> {
    let look = looks.rules()?;
    let version = live.version();
    let Some(told) = find(&look, asked)? else {
        return Ok(page::missing("there is no such session; old ones are removed"));
    };
    let tokens_given: usize = told.log.events().iter().map(cost).sum();
    let body = html! {
        p .crumbs { a href="sessions" { "Sessions" } " / " (name(&told.session)) }
        header .title { h1 { (Text(&told.host)) @if let Some(agent) = &told.agent { " / " (name(agent)) } } span .source { (name(&told.session)) } }
        div #live data-events="events" data-version=(version) {
            dl .facts {
                div { dt { "Workspace" } dd { (name(&look.workspace.homes.shown(told.root.as_ref()))) } }
                div { dt { "Turns" } dd { (told.log.turn()) } }
                div { dt { "Rules given" } dd { (grouped(given(&told.log))) } }
                div { dt { "Spent on rules" } dd { (tokens(tokens_given)) " tokens" } }
                div { dt { "Last event" } dd { (when(written(&told))) } }
            }
            (chart(told.log.events()))
            (timeline(&look, &told, asked))
        }
        (missing(&look, &told, asked))
    };
    Ok(frame("sessions", &told.session, &look, &body))
}

fn find(look: &CachedRules, asked: &Query) -> anyhow::Result<Option<SessionLog>> {
    let Some(state) = &look.workspace.homes.state else { return Ok(None) };
    let agent = Some(asked.get("agent")).filter(|agent| !agent.is_empty());
    let ledger = Ledger::of(&state.join("rulebook"), asked.get("host"), asked.get("id"), agent);
    let Some(found) = SessionFile::of(ledger) else { return Ok(None) };
    let log = found.ledger.read()?;
    Ok(SessionLog::of(&found, log))
}

fn written(told: &SessionLog) -> u64 {
    told.at.duration_since(std::time::SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn cost(fact: &Event) -> usize {
    if let Event::Delivered(delivery) = fact { delivery.tokens } else { 0 }
}

/// Some facts of one turn.
struct Turn<'f> {
    number: u64,
    /// Where its first fact stands among all, which no later fact changes.
    at: usize,
    facts: &'f [Event],
    times: &'f [u64],
}

/// The facts of a page by turn, the last turn first.
fn turns<'f>(told: &'f SessionLog, part: std::ops::Range<usize>) -> Vec<Turn<'f>> {
    let (facts, times) = (told.log.events(), told.log.times());
    let is_start = |fact: &Event| matches!(fact, Event::Prompt { .. });
    let mut number = facts[..part.start].iter().filter(|fact| is_start(fact)).count() as u64;
    let mut turns = Vec::new();
    let mut start = part.start;
    for at in part.clone() {
        if is_start(&facts[at]) {
            if start < at {
                turns.push(Turn { number, at: start, facts: &facts[start..at], times: &times[start..at] });
            }
            start = at;
            number += 1;
        }
    }
    turns.push(Turn { number, at: start, facts: &facts[start..part.end], times: &times[start..part.end] });
    turns.reverse();
    turns
}

fn timeline(look: &CachedRules, told: &SessionLog, asked: &Query) -> Markup {
    let count = told.log.events().len();
    let (page, pages, part) = page::paged(asked, count, SIZE);
    // Pages are counted from the end, so that the first has what happened last.
    let part = count - part.end..count - part.start;
    html! {
        h2 { "Timeline " span .count { (counted(count, "event")) } }
        ol .timeline reversed {
            @for turn in turns(told, part) { li .turn { (show_turn(look, &turn)) } }
        }
        (page::pager("session", asked, page, pages, ["← Newer", "Older →"]))
        @if told.log.unreadable() > 0 { p .warning { (counted(told.log.unreadable(), "line")) " of the ledger could not be read." } }
    }
}

fn show_turn(look: &CachedRules, turn: &Turn<'_>) -> Markup {
    let (message, rest) = match turn.facts {
        [Event::Prompt { message }, rest @ ..] => (Some(message), rest),
        rest => (None, rest),
    };
    let times = &turn.times[turn.facts.len() - rest.len()..];
    let mut at = 0;
    let mut shown = Vec::new();
    while at < rest.len() {
        let len = rest[at..].iter().take_while(|fact| matches!(fact, Event::Delivered(_))).count().max(1);
        shown.push(event(look, &rest[at..at + len], times[at], turn.at + at));
        at += len;
    }
    html! {
        p .head {
            span .number { @if turn.number == 0 { "Start" } @else { "Turn " (turn.number) @if message.is_none() { ", going on" } } }
            @if let Some(at) = turn.times.first().filter(|at| **at > 0) { " " (when(*at)) }
        }
        @if let Some(message) = message { p .message { (Text(cut(message))) } }
        @if !shown.is_empty() { ul .events { @for one in shown { (one) } } }
    }
}

/// One fact, or deliveries that came together.
fn event(look: &CachedRules, facts: &[Event], at: u64, id: usize) -> Markup {
    match &facts[0] {
        Event::Started { .. } => html! { li .small { "The session began." } },
        Event::Prompt { .. } => html! {},
        Event::Tool { name: tool, paths, command, pending } => html! {
            li .tool {
                span .what { (if *pending { "before " } else { "" }) strong { (Text(tool)) } } " "
                @for path in paths.iter().take(20) { (path_link(path)) " " }
                @if paths.len() > 20 { span .detail { "and " (paths.len() - 20) " more" } }
                @if let Some(command) = command { code .command { (Text(cut(command))) } }
            }
        },
        Event::Delivered(_) => deliveries(facts, at, id),
        Event::Compacted => {
            html! { li .compacted { "The context was compacted: what was given may be gone, and comes again." } }
        }
        Event::Resumed => html! { li .small { "The session was resumed." } },
        Event::Refused { rule, call } => html! {
            li .interrupted { p { strong { "Refused once" } " " code { (Text(call)) } ", by " (name(rule)) } }
        },
        Event::Interrupted { rule, path, source, text, file, action } => html! {
            li .interrupted {
                p { strong { (capital(interrupted(action))) } " by " (rule_link(rule, path)) " in " (Text(source))
                    @if let Some(file) = file { ", " (path_link(file)) } }
                p { "matched " code { mark { (Text(cut(text))) } } }
                @if let Some(rule) = look.rule(path) {
                    details id=(format!("i{id}")) { summary { "The rule that was injected" } pre { (Text(cut(&rule.body))) } }
                }
            }
        },
        Event::Failed { what } => html! { li .failed { strong { "Failed: " } (Text(what)) } },
        _ => html! {},
    }
}

/// What was given at once: the notice, closed; what is always on, and what may be asked for, in a line each.
fn deliveries(facts: &[Event], at: u64, id: usize) -> Markup {
    let all = facts
        .iter()
        .filter_map(|fact| if let Event::Delivered(delivery) = fact { Some(delivery) } else { None });
    let (conditional, others): (Vec<&Delivery>, Vec<&Delivery>) =
        all.partition(|delivery| delivery.is_conditional());
    let (offers, always): (Vec<&Delivery>, Vec<&Delivery>) =
        others.into_iter().partition(|delivery| delivery.because.is_empty());
    let sum = |deliveries: &[&Delivery]| deliveries.iter().map(|delivery| delivery.tokens).sum();
    let names = |deliveries: &[&Delivery]| {
        deliveries.iter().map(|delivery| delivery.rule.clone()).collect::<Vec<_>>().join(", ")
    };
    html! {
        @if !always.is_empty() {
            li .given { details id=(format!("a{id}")) {
                summary { "Always on: " (Text(&names(&always))) " " (tokens(sum(&always))) " " span .detail { "tokens" } }
                (listed(&always))
            } }
        }
        @if !conditional.is_empty() {
            li .given .notice { details id=(format!("n{id}")) {
                summary { "📋 Conditional rules applied: " (Text(&names(&conditional))) " " (tokens(sum(&conditional))) " " span .detail { "tokens" } @if at > 0 { span .detail { " · " } (when(at)) } }
                (listed(&conditional))
            } }
        }
        @if !offers.is_empty() { li .small { "The rules that may be asked for were listed. " (tokens(sum(&offers))) " tokens" } }
    }
}

fn listed(deliveries: &[&Delivery]) -> Markup {
    html! {
        ul .plain {
            @for delivery in deliveries {
                li { (rule_link(&delivery.rule, &delivery.source)) " " span .source { (name(&delivery.source)) } " " (tokens(delivery.tokens)) " " span .detail { "tokens" }
                    @if delivery.offered { span .warning { " too large: only its name was given" } }
                    p .why { (name(&delivery.because)) @if let Some(missed) = &delivery.missed { "; " (Text(missed)) } } }
            }
        }
    }
}

/// The rules the session has not got, with why; asked for, as it reads every rule.
fn missing(look: &CachedRules, told: &SessionLog, asked: &Query) -> Markup {
    if !look.is_here(&told.root) {
        return html! {};
    }
    html! {
        section aria-labelledby="missing" {
            h2 #missing { "Not given" }
            @if asked.get("why").is_empty() {
                p { a href=(format!("session{}#missing", asked.with(&[("why", "1")]))) { "Show the rules this session has not got, and why" } }
            } @else {
                ul .plain { @for (id, source, why) in not_delivered(&look.workspace, &told.host, &told.log.session()) {
                    li { (rule_link(&id, &source)) " " span .source { (name(&source)) } p .why { (page::ticks(&why)) } }
                } }
            }
        }
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
