//! Refusals: a tool call that a host reports, checked against the stream rules.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::demand::Refusals;
use super::event::{BROKEN, Delivery, Event, KNOWN, LET_THROUGH, REFUSE};
use super::host::{HostProfile, Moment, Report};
use super::judge::{Decided, EventWords, decide, hits_of, interrupted};
use super::ordered::OrderedRule;
use super::situation::Situation;
use super::state::Session;
use super::stream_rules::{StreamRules, WatchedRule, matched};
use crate::evaluate::Verdict;
use crate::evidence::ToolCall;
use crate::shell;
use crate::stream::policy::{self, Action, Downgrade, Policy};
use crate::stream::{Hit, Monitor, StreamKind};

/// What stream rules have against a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Objection {
    /// Why the call must not run.
    pub(super) refusal: Option<String>,
    /// The part of it that is refused whenever it happens, and the names of the rules whose refusals are counted, so that
    /// they end: if the session is not kept, those refuse nothing, and their texts are delivered instead.
    pub(super) lasting: Option<String>,
    pub(super) counted: Vec<String>,
    pub(super) instead: Option<String>,
    /// For the model, where the call runs nevertheless.
    pub(super) context: Option<String>,
    /// Why the user must be asked first.
    pub(super) ask: Option<String>,
    /// For the user.
    pub(super) notice: Option<String>,
    /// For the user, once per session.
    pub(super) alerts: Vec<Delivery>,
    pub(super) events: Vec<Event>,
}

impl Session {
    /// Checks the reported call before it runs. The policy of the turn decides: the call is refused, or it runs and the rules
    /// are delivered after it. Rules that wait for that are delivered with the next report that takes context.
    pub(super) fn object(&self, report: &Report<'_>, situation: &Situation<'_, '_>) -> Objection {
        let mut objection = Objection::default();
        let session = situation.shared.unwrap_or(self);
        let rules: Vec<OrderedRule> =
            situation.ordered_rules().into_iter().filter_map(OrderedRule::of).collect();
        session.object_to_order(report, &rules, situation.roots, &mut objection);
        let notice = objection.notice.take();
        self.object_to_output(report, situation, &mut objection);
        if objection.refusal.is_some() {
            // A call that does not run breaks nothing.
            objection.alerts.clear();
            objection
                .events
                .retain(|event| !matches!(event, Event::Sequence { action, .. } if action == BROKEN));
        } else if let Some(notice) = notice {
            let more = objection.notice.take();
            objection.notice = Some(match more {
                Some(more) => join(Some(notice), &more),
                None => notice,
            });
        }
        objection
    }

    fn object_to_output(
        &self,
        report: &Report<'_>,
        situation: &Situation<'_, '_>,
        objection: &mut Objection,
    ) {
        let call = report.call().filter(|call| call.pending && report.moment == Moment::Before);
        let takes_context = report.host.takes_context(report.moment);
        let known = &situation.relayed.unwrap_or(self).policy;
        let may_remind = takes_context && !known.waiting().is_empty();
        if call.is_none() && !may_remind {
            return;
        }
        let rules = situation.stream_rules();
        let hits = call.map(|call| objection.check(call, &rules, situation)).unwrap_or_default();
        if hits.is_empty() && !may_remind {
            return;
        }
        let watched = StreamRules::new(rules.iter().map(|verdict| verdict.rule), &situation.stream);
        let mut policy = known.clone();
        if let Some(call) = call {
            self.judge_call(report, call, &watched, &hits, &mut policy, objection);
        }
        if takes_context {
            self.remind(report, &watched, &hits, &policy, objection);
        }
    }

    fn judge_call(
        &self,
        report: &Report<'_>,
        call: &ToolCall,
        watched: &StreamRules,
        hits: &[Hit],
        policy: &mut Policy,
        objection: &mut Objection,
    ) {
        let words = EventWords { interrupt: REFUSE, remind: LET_THROUGH };
        let Decided { action, fired, events } = decide(policy, watched, hits, words);
        objection.events.extend(events);
        match action {
            Action::Interrupt { .. } => {
                for rule in fired {
                    let matched = matched(hits_of(hits, rule));
                    let text =
                        policy::injection(&rule.name, &rule.path, &excerpt(rule, &report.host), &matched);
                    objection.refusal = add(objection.refusal.take(), &text, &rule.name, &report.host);
                    let text =
                        policy::reminder(&rule.name, &rule.path, &excerpt(rule, &report.host), &matched);
                    objection.instead = add(objection.instead.take(), &text, &rule.name, &report.host);
                    objection.counted.push(rule.name.clone());
                    let delivery = rule.delivery();
                    objection.events.extend((!self.has(&delivery)).then_some(Event::Delivered(delivery)));
                }
            }
            Action::RemindLater { why: Downgrade::Budget, .. } => {
                let names: Vec<&str> = fired.iter().map(|rule| rule.name.as_str()).collect();
                objection.notice = Some(format!(
                    "`{}` is let through although it violates {}: no more calls are refused in this turn (`stream.max_interrupts`)",
                    about(call, report, hits),
                    names.join(", "),
                ));
            }
            Action::RemindLater { .. } => {}
            Action::Nothing => {
                let known = hits.iter().filter_map(|hit| Some((watched.at(&hit.source)?, hit)));
                objection.events.extend(known.map(|(rule, hit)| interrupted(rule, hit, KNOWN, policy)));
            }
        }
    }

    /// Delivers the rules that matched and did not stop their call.
    fn remind(
        &self,
        report: &Report<'_>,
        watched: &StreamRules,
        hits: &[Hit],
        policy: &Policy,
        objection: &mut Objection,
    ) {
        for rule in policy.waiting().iter().filter_map(|reminder| watched.at(&reminder.rule)) {
            let matched = matched(hits_of(hits, rule));
            let text = policy::reminder(&rule.name, &rule.path, &excerpt(rule, &report.host), &matched);
            objection.context = add(objection.context.take(), &text, &rule.name, &report.host);
            objection.events.push(Event::Delivered(rule.delivery()));
        }
    }
}

impl Objection {
    /// Adds a refusal of a requirement, with the text that takes its place if the session is not kept.
    pub(super) fn refuse(&mut self, text: &str, refusals: Refusals, name: &str, reminder: &str) {
        self.refusal = Some(join(self.refusal.take(), text));
        match refusals {
            Refusals::Lasting => self.lasting = Some(join(self.lasting.take(), text)),
            Refusals::Counted => {
                self.instead = Some(join(self.instead.take(), reminder));
                self.counted.push(name.to_owned());
            }
        }
    }

    /// Leaves out the refusals that are counted: the session is not kept.
    pub(super) fn let_through(&mut self, why: &str, takes_context: bool) {
        if self.counted.is_empty() {
            return;
        }
        let rules = self.counted.join(", ");
        let notice =
            format!("what violates {rules} is let through, because refusals cannot be counted: {why}");
        self.notice = Some(join(self.notice.take(), &notice));
        self.refusal = self.lasting.take();
        if let Some(text) = self.instead.take().filter(|_| takes_context) {
            self.context = Some(join(self.context.take(), &text));
        }
    }

    /// Searches the arguments of a call for the conditions of the rules that may watch its tool.
    fn check(&mut self, call: &ToolCall, rules: &[&Verdict<'_>], situation: &Situation<'_, '_>) -> Vec<Hit> {
        let Some(input) = &call.input else { return Vec::new() };
        let triggers = rules.iter().filter_map(|verdict| verdict.stream_rule());
        let mut triggers = triggers.filter(|rule| rule.trigger.may_watch_tool(&call.name)).peekable();
        if triggers.peek().is_none() {
            return Vec::new();
        }
        let mut monitor =
            Monitor::new(triggers, situation.roots.clone()).with_syntax(situation.syntax.cloned());
        let wire = input.as_str().map_or_else(|| input.to_string(), str::to_owned);
        let mut hits = monitor.feed("call", &StreamKind::Tool(call.name.clone()), wire.as_bytes());
        hits.extend(monitor.finish("call"));
        let left_out = monitor.left_out().iter().map(|(rule, _)| rule.as_str());
        let unwatched: BTreeSet<&str> = left_out.chain(monitor.gave_up().map(|(rule, _)| rule)).collect();
        if !unwatched.is_empty() {
            let names = unwatched.into_iter().collect::<Vec<_>>().join(", ");
            self.notice = Some(format!(
                "this call was not fully checked against {names}: the condition takes too much work; write it with smaller counts"
            ));
        }
        let unjudged: Vec<&str> = monitor.unjudged().iter().map(|(_, why)| why.as_str()).collect();
        if !unjudged.is_empty() {
            self.notice = Some(join(self.notice.take(), &unjudged.join("\n")));
        }
        hits
    }
}

/// What a call is about: its file, the start of its command, or its tool.
pub(super) fn about(call: &ToolCall, report: &Report<'_>, hits: &[Hit]) -> String {
    let file = hits.iter().find_map(|hit| hit.file.as_ref()).or(report.touched().first());
    let command = || {
        let text = call.shell_command()?;
        Some(about_command(text.lines().find(|line| !line.trim().is_empty())?))
    };
    file.map(|file| policy::excerpt(file)).or_else(command).unwrap_or_else(|| policy::excerpt(&call.name))
}

/// The start of a command.
pub(super) fn about_command(line: &str) -> String {
    const MAX_COMMAND: usize = 80;
    policy::excerpt(&line[..line.floor_char_boundary(MAX_COMMAND)])
}

/// A rule's text, cut so that there is room for others beside it.
fn excerpt<'r>(rule: &'r WatchedRule, host: &HostProfile<'_>) -> Cow<'r, str> {
    match rule.body.char_indices().nth(host.cap / 6) {
        None => Cow::Borrowed(&rule.body),
        Some((end, _)) => {
            let text = &rule.body[..end];
            Cow::Owned(format!("{text}…\n\nRun `rulebook read {}` for the rest.", shell::quoted(&rule.name)))
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
            let line =
                format!("It also violates the rule {name}: run `rulebook read {}`.", shell::quoted(name));
            join(before, &policy::escape_tags(&line))
        }
        () => return before,
    })
}

/// A text after another.
pub(super) fn join(before: Option<String>, text: &str) -> String {
    before.map_or_else(|| text.to_owned(), |before| format!("{before}\n\n{text}"))
}
