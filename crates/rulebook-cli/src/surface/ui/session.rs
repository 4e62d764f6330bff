//! One session: what the agent saw, which rules it received, and what they cost, turn by turn.

use std::collections::HashMap;

use maud::{Markup, html};
use rulebook::rule::id_of;
use rulebook::session::{Delivery, Event, Milestone};
use rulebook_workspace::ledger::{Ledger, SessionFile};

use super::super::session_log::{SessionLog, given};
use super::super::sessions::{interrupted, sequence};
use super::cache::{CachedRules, Caches};
use super::chart::chart;
use super::http::{Query, Response};
use super::links::Links;
use super::live::Live;
use super::page::{self, frame};
use super::text::{Text, capital, counted, grouped, name, ticks, tokens, when};
use crate::surface::hook::{MissingRule, not_delivered};

/// How many events are on a page; a turn may have thousands.
const SIZE: usize = 200;

/// How much of a message or a command is shown, in bytes.
const MAX_TEXT: usize = 2000;

pub(super) fn show(caches: &Caches<'_>, live: &Live, query: &Query) -> anyhow::Result<Response> {
    let rules = caches.rules_for(query)?;
    let version = live.version();
    let Some(session) = find(&rules, query)? else {
        return Ok(page::missing("This session does not exist; old sessions are removed"));
    };
    let links = Links::of(query);
    let spent: usize = session.log.events().iter().map(cost).sum();
    let body = html! {
        p .crumbs { a href=(links.to("sessions", &[])) { "Sessions" } " / " (name(&session.session)) }
        header .title { h1 { (Text(&session.host)) @if let Some(agent) = &session.agent { " / " (name(agent)) } } span .source { (name(&session.session)) } }
        div #live data-events="events" data-version=(version) {
            dl .facts {
                div { dt { "Workspace" } dd { (name(&rules.workspace.homes.shown(session.root.as_ref()))) } }
                div { dt { "Turns" } dd { (session.log.turn()) } }
                div { dt { "Rules delivered" } dd { (grouped(given(&session.log))) } }
                div { dt { "Size of rules" } dd { (tokens(spent)) " tokens" } }
                div { dt { "Last event" } dd { (when(written(&session))) } }
            }
            (chart(session.log.events()))
            (timeline(&rules, &session, query))
        }
        (missing(&rules, &session, query))
    };
    Ok(frame("sessions", &session.session, query, &rules, &body))
}

fn find(rules: &CachedRules, query: &Query) -> anyhow::Result<Option<SessionLog>> {
    let Some(state) = &rules.workspace.homes.state else { return Ok(None) };
    let agent = Some(query.get("agent")).filter(|agent| !agent.is_empty());
    let ledger = Ledger::of(&state.join("rulebook"), query.get("host"), query.get("id"), agent);
    let Some(found) = SessionFile::of(ledger) else { return Ok(None) };
    let log = found.ledger.read()?;
    Ok(SessionLog::of(&found, log))
}

fn written(session: &SessionLog) -> u64 {
    session.at.duration_since(std::time::SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn cost(event: &Event) -> usize {
    if let Event::Delivered(delivery) = event { delivery.tokens } else { 0 }
}

/// Some events of one turn.
struct Turn<'e> {
    number: u64,
    /// The position of its first event in the session, which identifies it.
    at: usize,
    events: &'e [Event],
    times: &'e [u64],
}

/// Groups the events of a page by turn, the last turn first.
fn turns<'e>(session: &'e SessionLog, part: std::ops::Range<usize>) -> Vec<Turn<'e>> {
    let (events, times) = (session.log.events(), session.log.times());
    let is_start = |event: &Event| matches!(event, Event::Prompt { .. });
    let mut number = events[..part.start].iter().filter(|event| is_start(event)).count() as u64;
    let mut turns = Vec::new();
    let mut start = part.start;
    for at in part.clone() {
        if is_start(&events[at]) {
            if start < at {
                turns.push(Turn { number, at: start, events: &events[start..at], times: &times[start..at] });
            }
            start = at;
            number += 1;
        }
    }
    turns.push(Turn { number, at: start, events: &events[start..part.end], times: &times[start..part.end] });
    turns.reverse();
    turns
}

fn timeline(rules: &CachedRules, session: &SessionLog, query: &Query) -> Markup {
    let count = session.log.events().len();
    let (page, pages, part) = page::paged(query, count, SIZE);
    // Pages are counted from the end, so that the first page has the latest events.
    let part = count - part.end..count - part.start;
    let milestones = milestones(rules, session, &part);
    html! {
        h2 { "Timeline " span .count { (counted(count, "event")) } }
        ol .timeline reversed {
            @for turn in turns(session, part) { li .turn { (show_turn(rules, &turn, &milestones, Links::of(query))) } }
        }
        (page::pager("session", query, page, pages, ["← Newer", "Older →"]))
        @if session.log.unreadable() > 0 { p .warning { (counted(session.log.unreadable(), "line")) " of the ledger cannot be read." } }
    }
}

/// What calls made of requirements, by the position of the call among the events; nothing for pages without calls.
fn milestones(
    rules: &CachedRules,
    session: &SessionLog,
    part: &std::ops::Range<usize>,
) -> HashMap<usize, Vec<Milestone>> {
    let events = session.log.events();
    let is_call = |event: &Event| matches!(event, Event::Tool { .. });
    let mut milestones: HashMap<usize, Vec<Milestone>> = HashMap::new();
    if !rules.is_here(&session.root) || !events[part.clone()].iter().any(is_call) {
        return milestones;
    }
    let calls: Vec<usize> = (0..events.len()).filter(|at| is_call(&events[*at])).collect();
    let state = session.log.session();
    let found = not_delivered(&rules.workspace, &session.host, &session.session, &state).milestones;
    for milestone in found {
        if let Some(at) = calls.get(milestone.call) {
            milestones.entry(*at).or_default().push(milestone);
        }
    }
    milestones
}

fn show_turn(
    rules: &CachedRules,
    turn: &Turn<'_>,
    milestones: &HashMap<usize, Vec<Milestone>>,
    links: Links<'_>,
) -> Markup {
    let (message, rest) = match turn.events {
        [Event::Prompt { message }, rest @ ..] => (Some(message), rest),
        rest => (None, rest),
    };
    let times = &turn.times[turn.events.len() - rest.len()..];
    let mut at = 0;
    let mut shown = Vec::new();
    while at < rest.len() {
        let len = rest[at..].iter().take_while(|event| matches!(event, Event::Delivered(_))).count().max(1);
        shown.push(event(rules, &rest[at..at + len], times[at], turn.at + at, links));
        let position = turn.at + turn.events.len() - rest.len() + at;
        shown.extend(milestones.get(&position).into_iter().flatten().map(|one| milestone(one, links)));
        at += len;
    }
    html! {
        p .head {
            span .number { @if turn.number == 0 { "Start" } @else { "Turn " (turn.number) @if message.is_none() { ", continued" } } }
            @if let Some(at) = turn.times.first().filter(|at| **at > 0) { " " (when(*at)) }
        }
        @if let Some(message) = message { p .message { (Text(cut(message))) } }
        @if !shown.is_empty() { ul .events { @for one in shown { (one) } } }
    }
}

/// A requirement that is due now, or met.
fn milestone(one: &Milestone, links: Links<'_>) -> Markup {
    html! {
        li .small { strong { (capital(one.state.name())) } ": " (links.rule(id_of(&one.rule), &one.source)) " " span .detail { (ticks(&one.requirement)) } }
    }
}

/// One event, or several deliveries at once.
fn event(rules: &CachedRules, events: &[Event], at: u64, id: usize, links: Links<'_>) -> Markup {
    match &events[0] {
        Event::Started { .. } => html! { li .small { "The session started." } },
        Event::Prompt { .. } => html! {},
        Event::Tool { name: tool, paths, command, pending, failed } => html! {
            li .tool {
                span .what { (if *pending { "before " } else { "" }) strong { (Text(tool)) } } " "
                @for path in paths.iter().take(20) { (links.path(path)) " " }
                @if paths.len() > 20 { span .detail { "and " (paths.len() - 20) " more" } }
                @if let Some(command) = command { code .command { (Text(cut(command))) } }
                @if *failed { " " span .warning { "failed" } }
            }
        },
        Event::Delivered(_) => deliveries(events, at, id, links),
        Event::Compacted => {
            html! { li .compacted { "The context was compacted. Rules may be lost and are delivered again." } }
        }
        Event::Resumed => html! { li .small { "The session was resumed." } },
        Event::Refused { rule, call } => html! {
            li .interrupted { p { strong { "Refused once" } " " code { (Text(call)) } " by " (name(id_of(rule))) } }
        },
        Event::Loaded { source, because } => html! {
            li .small { "Loaded by the agent: " (links.path(source)) " " span .detail { (Text(because)) } }
        },
        Event::Undelivered { sources, .. } => html! {
            li .failed { strong { "Not delivered: " } "the agent did not read the answer with " (Text(&sources.join(", "))) }
        },
        Event::Interrupted { rule, path, source, text, file, action, .. } => html! {
            @let (done, more) = interrupted(action);
            li .interrupted {
                p { strong { (capital(done)) } " by " (links.rule(id_of(rule), path)) " in " (Text(source))
                    @if let Some(file) = file { ", " (links.path(file)) } @if let Some(more) = more { "; " (more) } }
                p { "matched " code { mark { (Text(cut(text))) } } }
                @if let Some(rule) = rules.rule(path) {
                    details id=(format!("i{id}")) { summary { "Injected rule" } pre { (Text(cut(&rule.body))) } }
                }
            }
        },
        Event::Sequence { rule, path, action, call, what, .. } => html! {
            li .interrupted {
                p { strong { (capital(sequence(action))) } " " code { (Text(cut(call))) } ": rule " (links.rule(id_of(rule), path)) }
                p { (ticks(what)) }
            }
        },
        Event::Failed { what } => html! { li .failed { strong { "Failed: " } (Text(what)) } },
        _ => html! {},
    }
}

/// Deliveries at one moment: always-on rules, the notice about conditional rules, and the list of offered rules.
fn deliveries(events: &[Event], at: u64, id: usize, links: Links<'_>) -> Markup {
    let all = events
        .iter()
        .filter_map(|event| if let Event::Delivered(delivery) = event { Some(delivery) } else { None });
    let (conditional, others): (Vec<&Delivery>, Vec<&Delivery>) =
        all.partition(|delivery| delivery.is_conditional());
    let (offers, always): (Vec<&Delivery>, Vec<&Delivery>) =
        others.into_iter().partition(|delivery| delivery.because.is_empty());
    let sum = |deliveries: &[&Delivery]| deliveries.iter().map(|delivery| delivery.tokens).sum();
    let names = |deliveries: &[&Delivery]| {
        deliveries.iter().map(|delivery| id_of(&delivery.rule)).collect::<Vec<_>>().join(", ")
    };
    html! {
        @if !always.is_empty() {
            li .given { details id=(format!("a{id}")) {
                summary { "Always on: " (Text(&names(&always))) " " (tokens(sum(&always))) " " span .detail { "tokens" } }
                (listed(&always, links))
            } }
        }
        @if !conditional.is_empty() {
            li .given .notice { details id=(format!("n{id}")) {
                summary { "📋 Conditional rules applied: " (Text(&names(&conditional))) " " (tokens(sum(&conditional))) " " span .detail { "tokens" } @if at > 0 { span .detail { " · " } (when(at)) } }
                (listed(&conditional, links))
            } }
        }
        @if !offers.is_empty() { li .small { "The offered rules were listed. " (tokens(sum(&offers))) " tokens" } }
    }
}

fn listed(deliveries: &[&Delivery], links: Links<'_>) -> Markup {
    html! {
        ul .plain {
            @for delivery in deliveries {
                li { (links.rule(id_of(&delivery.rule), &delivery.source)) " " span .source { (name(&delivery.source)) } " " (tokens(delivery.tokens)) " " span .detail { "tokens" }
                    @if delivery.offered { span .warning { " too large, only its name was delivered" } }
                    p .why { (name(&delivery.because)) @if let Some(missed) = &delivery.missed { "; " (Text(missed)) } } }
            }
        }
    }
}

/// The rules that were not delivered, and why. Shown on request, because this reads every rule.
fn missing(rules: &CachedRules, session: &SessionLog, query: &Query) -> Markup {
    if !rules.is_here(&session.root) {
        return html! {};
    }
    let links = Links::of(query);
    html! {
        section aria-labelledby="missing" {
            h2 #missing { "Not delivered" }
            @if query.get("why").is_empty() {
                p { a href=(format!("session{}#missing", query.with(&[("why", "1")]))) { "Show the rules that this session did not receive, and why" } }
            } @else {
                @let missing = not_delivered(&rules.workspace, &session.host, &session.session, &session.log.session());
                ul .plain { @for MissingRule { id, source, why } in missing.rules {
                    li { (links.rule(&id, &source)) " " span .source { (name(&source)) } p .why { (ticks(&why)) } }
                } }
                @if !missing.requirements.is_empty() {
                    h2 { "Requirements" }
                    ul .plain { @for one in missing.requirements {
                        li { (links.rule(id_of(&one.rule), &one.source)) " " strong { (one.shown_state()) }
                            p .why { (ticks(&one.requirement)) @if let Some(by) = &one.by { "; by " code { (Text(cut(by))) } } } }
                    } }
                }
            }
        }
    }
}

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}
