//! Refusals: a tool call that a host reports, checked against the stream rules.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::event::Event;
use super::host::{HostProfile, Moment, Report};
use super::situation::Situation;
use super::state::Session;
use super::stream_rules::matched;
use crate::evidence::ToolCall;
use crate::rule::Rule;
use crate::stream::policy::{self, OutputSource};
use crate::stream::{Hit, Monitor, StreamKind};

/// What stream rules have against a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Objection {
    /// Why the call must not run.
    pub(super) refusal: Option<String>,
    /// For the model, where the call runs nevertheless.
    pub(super) context: Option<String>,
    /// For the user.
    pub(super) notice: Option<String>,
    pub(super) events: Vec<Event>,
}

impl Session {
    /// Checks what the reported call writes. A rule refuses a call once; the next time it is delivered beside the call.
    pub(super) fn object(&self, report: &Report<'_>, situation: &Situation<'_, '_>) -> Objection {
        let mut objection = Objection::default();
        let Some(call) = report.call().filter(|call| call.is_write()) else { return objection };
        let Some(input) = &call.input else { return objection };
        let mut rules = situation.stream_rules();
        rules.sort_by_key(|rule| !rule.is_mandatory);
        if rules.is_empty() {
            return objection;
        }
        let stream_rules = rules.iter().filter_map(|rule| rule.stream_rule());
        let mut monitor = Monitor::new(stream_rules, situation.roots.clone());
        let wire = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
        let mut hits = monitor.feed("call", &StreamKind::Tool(call.name.clone()), wire.as_bytes());
        hits.extend(monitor.finish("call"));
        let left_out = monitor.left_out().iter().map(|(rule, _)| rule.as_str());
        let unwatched: BTreeSet<&str> = left_out.chain(monitor.gave_up().map(|(rule, _)| rule)).collect();
        if !unwatched.is_empty() {
            let names = unwatched.into_iter().collect::<Vec<_>>().join(", ");
            objection.notice = Some(format!(
                "this call was not fully checked against {names}: the condition takes too much work; write it with smaller counts"
            ));
        }
        for rule in rules {
            let own: Vec<&Hit> = hits.iter().filter(|hit| hit.source == rule.origin.display).collect();
            if !own.is_empty() {
                let interrupts = situation.stream.modes_of(rule).interrupt.covers(OutputSource::Tool);
                self.object_to(report, call, rule, &own, interrupts, &mut objection);
            }
        }
        objection
    }

    /// Refuses the call because of one rule, or delivers the rule beside it where the host takes context.
    fn object_to(
        &self,
        report: &Report<'_>,
        call: &ToolCall,
        rule: &Rule,
        hits: &[&Hit],
        interrupts: bool,
        objection: &mut Objection,
    ) {
        let host = &report.host;
        let about = hits.iter().find_map(|hit| hit.file.as_ref()).or(report.touched().first());
        let about = about.unwrap_or(&call.name).clone();
        let (name, path) = (rule.address(), &rule.origin.display);
        let matched = matched(hits.iter().copied());
        let beside = if host.takes_context(Moment::Before) { Moment::Before } else { Moment::After };
        if interrupts && call.pending && !self.has_refused(rule, &about) {
            let text = policy::injection(name, path, &excerpt(rule, host), &matched);
            objection.refusal = add(objection.refusal.take(), &text, name, host);
            objection.events.push(Event::Refused { rule: rule.key(), call: about });
        } else if report.moment == beside {
            let text = policy::reminder(name, path, &excerpt(rule, host), &matched);
            objection.context = add(objection.context.take(), &text, name, host);
            if interrupts {
                objection.notice = Some(format!(
                    "`{about}` is let through although it violates the rule {name}, which refused it once"
                ));
            }
        }
    }
}

/// A rule's text, cut so that there is room for others beside it.
fn excerpt<'r>(rule: &'r Rule, host: &HostProfile<'_>) -> Cow<'r, str> {
    match rule.body.char_indices().nth(host.cap / 6) {
        None => Cow::Borrowed(&rule.body),
        Some((end, _)) => {
            let text = &rule.body[..end];
            Cow::Owned(format!("{text}…\n\nRun `rulebook read {}` for the rest.", rule.address()))
        }
    }
}

/// Adds a rule's text within a third of the host's cap; then the rule's name alone, and after that nothing.
fn add(before: Option<String>, text: &str, name: &str, host: &HostProfile<'_>) -> Option<String> {
    let most = host.cap / 3;
    let used = before.as_ref().map_or(0, |before| before.chars().count());
    Some(match () {
        () if used == 0 || used + text.chars().count() <= most => join(before, text),
        () if used <= most => {
            let line = format!("It also violates the rule {name}: run `rulebook read {name}`.");
            join(before, &policy::escape_tags(&line))
        }
        () => return before,
    })
}

/// A text after another.
pub(super) fn join(before: Option<String>, text: &str) -> String {
    before.map_or_else(|| text.to_owned(), |before| format!("{before}\n\n{text}"))
}
