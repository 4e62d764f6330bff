//! Answers checked against requirements before the client gets them: their complete calls, and the end of the turn.

use super::event::{ASK, Event, REFUSE};
use super::host::{HostProfile, Moment, Report};
use super::judge::Interrupt;
use super::refuse::Objection;
use super::state::Session;
use super::stream_rules::StreamRules;
use crate::evidence::{Input, ToolCall};
use crate::stream::policy::ContextMode;

/// What an answer leads to.
#[derive(Clone, Debug, Default)]
pub struct JudgedCalls {
    /// The answer must stop, and the model must be asked again with this text.
    pub interrupt: Option<Interrupt>,
    /// With an interrupt: what was refused, to be recorded now. Without one: what to record once the client gets the answer.
    pub events: Vec<Event>,
    /// What the user should know once the client gets the answer.
    pub notes: Vec<String>,
}

impl JudgedCalls {
    /// An answer that must stop for a reason beside the requirements: who refuses it, what the model is told, and what is
    /// recorded.
    pub fn refused(name: &str, text: String, event: Event) -> JudgedCalls {
        let interrupt = Interrupt::of_order(vec![name.to_owned()], &[text], ContextMode::Discard);
        JudgedCalls { interrupt: Some(interrupt), events: vec![event], notes: Vec::new() }
    }

    /// Takes in what more calls of the same answer lead to. Once one is refused, nothing of the answer runs.
    pub fn add(&mut self, more: JudgedCalls) {
        if self.interrupt.is_some() {
            return;
        }
        if more.interrupt.is_some() {
            *self = more;
            return;
        }
        self.events.extend(more.events);
        self.notes.extend(more.notes);
    }

    fn of(objections: impl IntoIterator<Item = Objection>, context: ContextMode) -> JudgedCalls {
        let mut judged = JudgedCalls::default();
        let mut texts = Vec::new();
        for objection in objections {
            texts.extend(objection.refusal);
            judged.notes.extend(objection.notice);
            judged.notes.extend(objection.alerts.into_iter().map(|alert| alert.because));
            judged.events.extend(objection.events);
        }
        if texts.is_empty() {
            // Whoever asks the user records it.
            judged.events.retain(|event| !is_action(event, ASK));
            return judged;
        }
        // Nothing of the answer runs: only refusals count.
        judged.notes.clear();
        judged.events.retain(|event| is_action(event, REFUSE));
        let rules = judged.events.iter().filter_map(|event| match event {
            Event::Sequence { rule, .. } => Some(rule.clone()),
            _ => None,
        });
        judged.interrupt = Some(Interrupt::of_order(rules.collect(), &texts, context));
        judged
    }
}

fn is_action(event: &Event, wanted: &str) -> bool {
    matches!(event, Event::Sequence { action, .. } if action == wanted)
}

impl Session {
    /// Checks complete calls of an answer, each with its files, against the requirements of the rules. Calls of one answer
    /// run in parallel: none precedes another. `asks` says whether somebody asks the user about a call before it runs.
    pub fn judge_calls(
        &self,
        rules: &StreamRules,
        calls: impl IntoIterator<Item = (ToolCall, Vec<String>)>,
        asks: bool,
    ) -> JudgedCalls {
        let object = |(call, paths)| {
            let report = Report {
                input: Input { tools: vec![call], ..Input::default() },
                paths: vec![paths],
                ..Report::new(HostProfile { asks, ..HostProfile::plain("stream") }, Moment::Before)
            };
            self.object_in_stream(rules, &report)
        };
        JudgedCalls::of(calls.into_iter().map(object), ContextMode::Discard)
    }

    /// Checks an answer without calls, which ends the agent's turn, against the requirements of the rules.
    pub fn judge_stop(&self, rules: &StreamRules) -> JudgedCalls {
        let report = Report::new(HostProfile::plain("stream"), Moment::Stop);
        JudgedCalls::of([self.object_in_stream(rules, &report)], ContextMode::Keep)
    }

    fn object_in_stream(&self, rules: &StreamRules, report: &Report<'_>) -> Objection {
        let mut objection = Objection::default();
        self.object_to_order(report, &rules.ordered, &rules.roots, &mut objection);
        objection
    }
}
