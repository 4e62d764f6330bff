//! Complete calls of an answer, checked against requirements before the client gets them.

use super::event::{Event, REFUSE};
use super::host::{HostProfile, Moment, Report};
use super::judge::Interrupt;
use super::refuse::Objection;
use super::state::Session;
use super::stream_rules::StreamRules;
use crate::evidence::{Input, ToolCall};

/// What the calls of an answer lead to.
#[derive(Debug, Default)]
pub struct JudgedCalls {
    /// The answer must stop, and the model must be asked again with this text.
    pub interrupt: Option<Interrupt>,
    /// What to record.
    pub events: Vec<Event>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Session {
    /// Checks complete calls of an answer, each with its files, against the requirements of the rules. Calls of one answer
    /// run in parallel: none precedes another.
    pub fn judge_calls(&mut self, rules: &StreamRules, calls: Vec<(ToolCall, Vec<String>)>) -> JudgedCalls {
        let mut judged = JudgedCalls::default();
        let mut texts = Vec::new();
        for (call, paths) in calls {
            let report = Report {
                input: Input { tools: vec![call], ..Input::default() },
                paths: vec![paths],
                ..Report::new(HostProfile::plain("stream"), Moment::Before)
            };
            let mut objection = Objection::default();
            self.object_to_order(&report, &rules.ordered, &rules.roots, &mut objection);
            texts.extend(objection.refusal);
            judged.notes.extend(objection.notice);
            judged.notes.extend(objection.alerts.into_iter().map(|alert| alert.because));
            judged.events.extend(objection.events);
        }
        judged.events.iter().for_each(|event| self.apply(event.clone()));
        let refused = judged.events.iter().filter_map(|event| match event {
            Event::Sequence { rule, action, .. } if action == REFUSE => Some(rule.clone()),
            _ => None,
        });
        let refused: Vec<String> = refused.collect();
        judged.interrupt = (!texts.is_empty()).then(|| Interrupt::of_order(refused, &texts));
        judged
    }
}
