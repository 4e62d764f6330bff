//! Requirements in conversations: the calls that ran, and complete calls of an answer that must not run.

use std::collections::HashSet;

use rulebook::evidence::ToolCall;
use rulebook::session::{Event, Interrupt, JudgedCalls};
use serde_json::json;

use super::exchange::Exchange;
use super::rules::Watch;
use crate::surface::hook::has_failed_text;

/// How often the model is asked again in one response because of requirements. Then the response ends with an error.
const MAX_REFUSALS: u32 = 3;

impl Exchange {
    /// Checks complete calls against requirements; returns the interrupt, if the response must stop.
    pub(super) fn judge_calls(&self, watch: &Watch, calls: Vec<ToolCall>) -> Option<Interrupt> {
        if calls.is_empty() {
            return None;
        }
        let files = |call: ToolCall| {
            let paths = self.book.workspace.touched(&call);
            (call, paths)
        };
        let calls = calls.into_iter().map(files).collect();
        let mut conversation = self.conversation();
        let JudgedCalls { interrupt, events, notes } = conversation.session.judge_calls(&watch.rules, calls);
        let log = |what: &str, about| self.proxy.log.report(what, about);
        for note in notes {
            log("requirement", json!({ "session": self.session_name(), "what": note }));
        }
        if let Some(interrupt) = &interrupt {
            self.proxy.metrics.interrupts.add(1);
            log("refuse", json!({ "session": self.session_name(), "rules": interrupt.rules() }));
            // Later requests have it in the same place.
            if let Some(after) = self.last_anchor() {
                conversation.insert(&after, self.share(interrupt.text()), &[]);
            }
        }
        drop(conversation);
        if !events.is_empty() {
            self.record(events);
        }
        interrupt
    }

    /// Counts an interrupt of requirements; returns why the response ends, if the model insists on what they refuse.
    pub(super) fn insists(&self, stop: &Interrupt, refusals: &mut u32) -> Option<String> {
        *refusals += u32::from(stop.is_of_order());
        let names = || stop.rules().join(", ");
        (*refusals > MAX_REFUSALS).then(|| format!("the model insists on a call that {} refuses", names()))
    }

    /// The calls after the first `known` ones. Calls without a result between them run in parallel: each is about to run
    /// before any of them ran.
    pub(super) fn ran(&self, known: usize) -> Vec<Event> {
        let entries = &self.request.entries;
        let results = entries.iter().flat_map(|entry| entry.result_ids.iter().zip(&entry.results));
        let reported = results.filter(|(_, text)| has_failed_text(text)).map(|(id, _)| id);
        let failed: HashSet<&String> =
            entries.iter().flat_map(|entry| &entry.failed_ids).chain(reported).collect();
        let (mut events, mut ended) = (Vec::new(), Vec::new());
        let mut calls = self.calls();
        let mut at = 0;
        for entry in entries {
            if entry.user_text().is_some() || !entry.result_ids.is_empty() {
                events.append(&mut ended);
            }
            for id in entry.calls.iter().map(|call| &call.id) {
                let Some(call) = calls.next() else { continue };
                at += 1;
                if at > known {
                    let paths = self.book.workspace.touched(&call);
                    events.push(Event::tool(&ToolCall { pending: true, ..call.clone() }, paths.clone()));
                    ended.push(Event::tool(&ToolCall { failed: failed.contains(id), ..call }, paths));
                }
            }
        }
        events.append(&mut ended);
        events
    }
}
