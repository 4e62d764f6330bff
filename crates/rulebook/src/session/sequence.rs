//! Requirements in a session: which are due, met or broken, and what a call may not do because of them.

use std::cell::OnceCell;

use serde::Serialize;

use super::demand::{Concern, Demand};
use super::event::{ASK, BROKEN, Delivery, Event, REFUSE};
use super::host::{HostProfile, Moment, Report};
use super::ordered::OrderedRule;
use super::progress::{Line, RequirementState};
use super::refuse::{Objection, about, about_command, join};
use super::state::{PastCall, Session};
use crate::condition::Truth;
use crate::evidence::{Roots, ToolCall};
use crate::requirement::{EventPattern, Forbid, Occurrence, OnUnknown, Place, Require, RequireRepeat};
use crate::rule::Rule;
use crate::shell::{self, Script};

/// How often one requirement refuses in a turn, if it repeats.
const MAX_REFUSALS: usize = 3;
/// What the end of a turn is called.
const STOP: &str = "stop";

/// A requirement of a rule, as a session stands to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequirementStatus {
    /// The rule's key.
    pub rule: String,
    /// Its file, as displayed.
    pub source: String,
    /// What is required, for people.
    pub requirement: String,
    /// Its state.
    pub state: RequirementState,
    /// The event that led to it.
    pub by: Option<String>,
    /// How often it refused a call.
    pub refusals: usize,
    /// Whether the host lets Rulebook refuse what it guards.
    pub enforceable: bool,
}

/// A call that made a requirement due, or met it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Milestone {
    /// Which call of the session, counted from 0.
    pub call: usize,
    /// The rule's key.
    pub rule: String,
    /// Its file, as displayed.
    pub source: String,
    /// What is required, for people.
    pub requirement: String,
    /// Due or met.
    pub state: RequirementState,
}

impl RequirementStatus {
    /// The state, for people.
    pub fn shown_state(&self) -> &'static str {
        if self.enforceable { self.state.name() } else { "not enforceable here" }
    }
}

impl Session {
    /// The state of every requirement of these rules.
    pub fn requirements<'r>(
        &self,
        rules: impl IntoIterator<Item = &'r Rule>,
        host: &HostProfile<'_>,
        roots: &Roots,
    ) -> Vec<RequirementStatus> {
        let mut lines = None;
        let mut states = Vec::new();
        for rule in rules {
            let Some(requirements) = &rule.requirements else { continue };
            let lines = lines.get_or_insert_with(|| self.lines(roots));
            let status = |requirement: String, state, by, refusals| RequirementStatus {
                rule: rule.key(),
                source: rule.origin.display.clone(),
                requirement,
                state,
                by,
                refusals,
                enforceable: true,
            };
            for (nth, require) in requirements.requires.iter().enumerate() {
                let progress = self.progress(&rule.origin.display, nth, require, lines);
                let (state, by) = match (&progress.broken, progress.is_due(require, self.turn_number())) {
                    (Some(call), _) => (RequirementState::Broken, Some(call.clone())),
                    (None, true) => (RequirementState::Due, progress.due_by.clone()),
                    (None, false) => match &progress.met {
                        Some((_, by)) => (RequirementState::Met, Some(by.clone())),
                        None => (RequirementState::Idle, None),
                    },
                };
                let enforceable = host.stops || !matches!(require.before, EventPattern::Stop);
                let status = status(Demand::Require(require).shown(), state, by, progress.refusals);
                states.push(RequirementStatus { enforceable, ..status });
            }
            let first = requirements.requires.len();
            for (nth, forbid) in requirements.forbids.iter().enumerate() {
                let marks = self.marks_of(&rule.origin.display, first + nth);
                let refusals = marks.filter(|mark| mark.action == REFUSE).count();
                let state = match &forbid.after {
                    Some(after) if !lines.iter().any(|line| line.is_event(after)) => RequirementState::Idle,
                    _ => RequirementState::Forbidden,
                };
                states.push(status(Demand::Forbid(forbid).shown(), state, None, refusals));
            }
        }
        states
    }

    /// The calls that made requirements of these rules due, or met them, in order.
    pub fn milestones<'r>(&self, rules: impl IntoIterator<Item = &'r Rule>, roots: &Roots) -> Vec<Milestone> {
        let mut milestones = Vec::new();
        let mut lines = None;
        for rule in rules {
            let Some(requirements) = &rule.requirements else { continue };
            let lines = lines.get_or_insert_with(|| self.lines(roots));
            for (nth, require) in requirements.requires.iter().enumerate() {
                self.follow(&rule.origin.display, nth, require, lines, |call, state| {
                    milestones.push(Milestone {
                        call,
                        rule: rule.key(),
                        source: rule.origin.display.clone(),
                        requirement: Demand::Require(require).shown(),
                        state,
                    });
                });
            }
        }
        milestones.sort_by_key(|milestone| milestone.call);
        milestones
    }

    /// Checks the reported call, or the end of a turn, against the requirements of rules.
    pub(super) fn object_to_order(
        &self,
        report: &Report<'_>,
        rules: &[OrderedRule],
        roots: &Roots,
        objection: &mut Objection,
    ) {
        let call = report.call().filter(|call| call.pending && report.moment == Moment::Before);
        if rules.is_empty() || call.is_none() && report.moment != Moment::Stop {
            return;
        }
        let line = call.and_then(ToolCall::shell_command);
        let mut asked = Asked {
            session: self,
            report,
            script: line.as_deref().map(shell::parse),
            call,
            shown: String::new(),
            place: Place { roots, folder: report.folder.as_deref() },
            lines: OnceCell::new(),
        };
        for rule in rules {
            for (nth, require) in rule.requirements.requires.iter().enumerate() {
                asked.shown = asked.about(&require.before);
                asked.check_require(rule, nth, require, objection);
            }
            for (nth, forbid) in rule.requirements.forbids.iter().enumerate() {
                asked.shown = asked.about(&forbid.event);
                asked.check_forbid(rule, rule.requirements.requires.len() + nth, forbid, objection);
            }
        }
    }
}

/// What is about to happen.
struct Asked<'s> {
    session: &'s Session,
    report: &'s Report<'s>,
    call: Option<&'s ToolCall>,
    script: Option<Script>,
    /// What it is about, for the requirement that is checked.
    shown: String,
    place: Place<'s>,
    /// The calls before it, read when a rule needs them.
    lines: OnceCell<Vec<Line<'s>>>,
}

impl<'s> Asked<'s> {
    fn lines(&self) -> &[Line<'s>] {
        self.lines.get_or_init(|| self.session.lines(self.place.roots))
    }

    fn matches(&self, pattern: &EventPattern) -> Truth {
        match (pattern, self.call) {
            (EventPattern::Stop, None) => Truth::Yes,
            (EventPattern::Stop, Some(_)) | (_, None) => Truth::No,
            (pattern, Some(call)) => pattern.matches(&Occurrence {
                tool: &call.name,
                paths: self.report.touched(),
                is_write: call.is_write(),
                has_failed: false,
                script: self.script.as_ref(),
                place: self.place,
            }),
        }
    }

    /// What the call is about: of a shell line, the command that is such an event.
    fn about(&self, pattern: &EventPattern) -> String {
        let Some(call) = self.call else { return STOP.to_owned() };
        let truth = self.matches(pattern);
        let command = self.script.as_ref().filter(|_| truth != Truth::No).and_then(|script| {
            let is_it = |at: &usize| pattern.matches_command(script, *at, self.place) >= truth;
            let matched = (0..script.commands.len()).find(is_it);
            let doubted =
                || script.doubts.iter().map(|doubt| doubt.command.clone()).find(|line| !line.is_empty());
            matched.map(|at| script.commands[at].line().text).or_else(doubted)
        });
        command.map_or_else(|| about(call, self.report, &[]), |command| about_command(&command))
    }

    fn check_forbid(&self, rule: &OrderedRule, nth: usize, forbid: &Forbid, objection: &mut Objection) {
        let truth = self.matches(&forbid.event);
        if truth == Truth::No {
            return;
        }
        let is_armed = forbid.after.as_ref().is_none_or(|after| {
            self.lines().iter().any(|line| line.is_event(after)) || self.happens_before(after, &forbid.event)
        });
        if is_armed {
            self.refuse((rule, nth, Demand::Forbid(forbid)), truth, objection);
        }
    }

    /// Whether one event of the line comes before another, whatever is between them.
    fn happens_before(&self, first: &EventPattern, then: &EventPattern) -> bool {
        let Some(script) = &self.script else { return false };
        let is = |at: usize| first.matches_command(script, at, self.place) == Truth::Yes;
        let before = (0..script.commands.len()).find(|at| is(*at));
        let follows =
            |before: usize, at: usize| at > before || script.commands[at].is_delayed && at != before;
        before.is_some_and(|before| self.may_be(then, script).any(|at| follows(before, at)))
    }

    /// The commands of a line that are such an event; if that is not known, those that may be.
    fn may_be<'a>(
        &'a self,
        pattern: &'a EventPattern,
        script: &'a Script,
    ) -> impl Iterator<Item = usize> + 'a {
        pattern.may_be(script, self.place, self.matches(pattern))
    }

    fn check_require(&self, rule: &OrderedRule, nth: usize, require: &Require, objection: &mut Objection) {
        let truth = self.matches(&require.before);
        if truth == Truth::No {
            return;
        }
        let progress = self.session.progress(&rule.path, nth, require, self.lines());
        let turn = self.session.turn_number();
        let is_due = self.is_due_in_line(require, progress.is_due(require, turn));
        if !is_due {
            return;
        }
        let demand = Demand::Require(require);
        if truth == Truth::Unknown {
            return self.refuse((rule, nth, demand), truth, objection);
        }
        let in_turn = self
            .session
            .marks_of(&rule.path, nth)
            .filter(|mark| mark.turn == turn && mark.action == REFUSE)
            .count();
        let may_refuse = match (&require.before, require.repeat) {
            (EventPattern::Stop, _) => in_turn == 0,
            (_, RequireRepeat::Once) => progress.refused == 0,
            (_, RequireRepeat::Always) => in_turn < MAX_REFUSALS,
        };
        if may_refuse {
            self.refuse((rule, nth, demand), truth, objection);
        } else if !self.is_known(rule, nth) {
            objection.events.push(self.event((rule, nth, demand), BROKEN));
            let concern = Concern { rule, demand, call: &self.shown, doubt: None };
            objection.notice = Some(join(objection.notice.take(), &concern.broken()));
        }
    }

    /// Whether it was recorded already that this call broke the requirement: by the proxy, which sees it before the host.
    fn is_known(&self, rule: &OrderedRule, nth: usize) -> bool {
        let session = self.session;
        let Some(mark) = session.marks_of(&rule.path, nth).last() else { return false };
        let is_same = |past: &PastCall| {
            self.call.is_some_and(|call| past.name == call.name && past.command == call.shell_command())
        };
        mark.action == BROKEN
            && mark.call == self.shown
            && mark.turn == session.turn_number()
            && !session.calls.iter().skip(mark.at).any(is_same)
    }

    /// Whether a requirement is still due when the line reaches what it guards.
    fn is_due_in_line(&self, require: &Require, is_due: bool) -> bool {
        let Some(script) = &self.script else { return is_due };
        require.is_due_in(script, self.place, self.matches(&require.before), is_due)
    }

    /// Refuses the call, asks the user, or only notes it, depending on what is known.
    fn refuse(&self, wanted: Wanted<'_>, truth: Truth, objection: &mut Objection) {
        let (rule, _, demand) = wanted;
        let doubt = || {
            let doubts = self.script.iter().flat_map(|script| &script.doubts);
            doubts.map(|doubt| doubt.why.name()).next().unwrap_or("a part of it is not known")
        };
        let concern = |doubt| Concern { rule, demand, call: &self.shown, doubt };
        let (concern, on_unknown) = match truth {
            Truth::No => return,
            Truth::Yes => (concern(None), OnUnknown::Refuse),
            Truth::Unknown => (concern(Some(doubt())), rule.requirements.on_unknown),
        };
        match on_unknown {
            OnUnknown::Allow => {
                let source = format!("on-unknown {} {}", rule.key, concern.doubt.unwrap_or_default());
                objection.alerts.push(Delivery::alert(source, concern.warning()));
            }
            OnUnknown::Ask if self.report.host.asks => {
                objection.ask = Some(join(objection.ask.take(), &concern.question()));
                objection.events.push(self.event(wanted, ASK));
            }
            OnUnknown::Ask | OnUnknown::Refuse => {
                objection.refuse(&concern.refusal(), demand.refusals(), &rule.name, &concern.reminder());
                objection.events.push(self.event(wanted, REFUSE));
            }
        }
    }

    fn event(&self, (rule, nth, demand): Wanted<'_>, action: &str) -> Event {
        Event::Sequence {
            rule: rule.key.clone(),
            path: rule.path.clone(),
            nth,
            action: action.to_owned(),
            call: self.shown.clone(),
            what: demand.shown(),
        }
    }
}

/// A rule, which of its demands, and the demand.
type Wanted<'r> = (&'r OrderedRule, usize, Demand<'r>);

#[cfg(test)]
mod tests;
