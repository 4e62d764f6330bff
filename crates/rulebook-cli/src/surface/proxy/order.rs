//! Requirements and the guard in conversations: the calls that ran, and answers that must not reach the client.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use rulebook::agent::Wiring;
use rulebook::evidence::ToolCall;
use rulebook::guard::GuardMode;
use rulebook::session::{Event, Interrupt, JudgedCalls, Session};
use rulebook_workspace::AgentSearch;
use serde_json::json;
use tokio::sync::oneshot;

use super::conversation_state::Conversation;
use super::conversations::{HOST, Written};
use super::exchange::Exchange;
use super::rules::Watch;
use crate::lock::lock;
use crate::surface::hook;
use crate::surface::hook::guard::{self, Objection};
use crate::surface::wire::Entry;

/// How often the model is asked again in one response because of requirements. Then the response ends with an error.
const MAX_REFUSALS: u32 = 3;

impl Exchange {
    /// What requirements know of the session: shared by its conversations and sub-agents, and kept through compactions.
    fn order(&self) -> Arc<Mutex<Session>> {
        let recorded = || self.book.workspace.order_of(HOST, self.session_name());
        self.proxy.conversations.order(self.book.root(), self.session_name(), recorded)
    }

    /// Takes in what happened in the conversation, if requirements look at it.
    pub(super) fn follow(&self, events: &[Event], has_order: bool, conversation: &mut Conversation) {
        conversation.has_order |= has_order;
        if !conversation.has_order {
            return;
        }
        if self.request.follows.is_some() {
            self.proxy.report_once(
                "the client leaves the conversation to the provider: requirements see no calls in it",
            );
        }
        let order = self.order();
        let mut order = lock(&order);
        for event in events {
            // Turns are those of the main agent.
            let counts = match event {
                Event::Tool { .. } => true,
                Event::Prompt { .. } => !self.is_sub_agent(),
                _ => false,
            };
            if counts {
                order.apply(event.clone());
            }
        }
    }

    /// Checks complete calls of an answer. Returns the interrupt, if it must stop; what else they lead to is added to
    /// `passed`, which counts once the client gets the answer.
    pub(super) fn judge_calls(
        &self,
        watch: &Watch,
        calls: Vec<ToolCall>,
        passed: &mut JudgedCalls,
    ) -> Option<Interrupt> {
        if calls.is_empty() {
            return None;
        }
        calls.iter().for_each(|call| passed.add(self.guard(call)));
        if watch.rules.has_order() {
            let files = |call: ToolCall| {
                let paths = self.book.workspace.touched(&call);
                (call, paths)
            };
            let asks = watch.rules.may_ask() && self.hook_asks();
            passed.add(lock(&self.order()).judge_calls(&watch.rules, calls.into_iter().map(files), asks));
        }
        self.stopped(passed)
    }

    /// Checks an answer that ends the agent's turn.
    pub(super) fn judge_stop(&self, watch: &Watch, passed: &mut JudgedCalls) -> Option<Interrupt> {
        if !watch.rules.has_order() || !self.request.has_tools {
            return None;
        }
        passed.add(lock(&self.order()).judge_stop(&watch.rules));
        self.stopped(passed)
    }

    /// Records what was refused, if anything was.
    fn stopped(&self, passed: &mut JudgedCalls) -> Option<Interrupt> {
        let interrupt = passed.interrupt.take()?;
        let refused = std::mem::take(passed);
        self.proxy.metrics.interrupts.add(1);
        self.proxy
            .log
            .report("refuse", json!({ "session": self.session_name(), "rules": interrupt.rules() }));
        // Later requests have it in the same place.
        if let Some(after) = self.last_anchor() {
            self.conversation().insert(&after, self.share(interrupt.text()), &[]);
        }
        drop(self.count_marks(refused.events));
        Some(interrupt)
    }

    /// The client gets the answer. Returns what waits until it is recorded: hooks of the client read it.
    pub(super) fn passed(&self, passed: &mut JudgedCalls) -> Option<Written> {
        let JudgedCalls { events, notes, .. } = std::mem::take(passed);
        for note in notes {
            let about = json!({ "session": self.session_name(), "what": note });
            self.proxy.log.report("requirement", about);
        }
        let is_unwritten = self.is_unwritten.swap(false, Ordering::Relaxed);
        (is_unwritten || !events.is_empty()).then(|| self.count_marks(events))
    }

    fn count_marks(&self, events: Vec<Event>) -> Written {
        let order = self.order();
        events.iter().for_each(|event| lock(&order).apply(event.clone()));
        let (sender, written) = oneshot::channel();
        // Nobody may wait for it.
        self.record_then(events, move || sender.send(()).unwrap_or_default());
        written
    }

    /// What the guard says of a call.
    fn guard(&self, call: &ToolCall) -> JudgedCalls {
        let Some((mode, governed)) = &self.book.guard else { return JudgedCalls::default() };
        match guard::check(governed, call, &self.book.workspace.real_paths(None)) {
            Some(Objection::Certain { .. }) if *mode == GuardMode::Ask && self.hook_asks() => {
                JudgedCalls::default()
            }
            Some(Objection::Certain { what }) => {
                let recorded = guard::recorded("refuse", &what);
                JudgedCalls::refused(guard::GUARD, guard::refusal(&what), recorded)
            }
            Some(Objection::Possible { line }) => JudgedCalls { notes: vec![line], ..JudgedCalls::default() },
            None => JudgedCalls::default(),
        }
    }

    /// Whether the agent has a hook that asks the user about calls.
    fn hook_asks(&self) -> bool {
        let workspace = &self.book.workspace;
        self.agent().is_some_and(|agent| {
            hook::asks(agent.name)
                && workspace.wiring(agent, AgentSearch::WorkspaceAndHome).contains(&Wiring::Hook)
        })
    }

    /// Counts an interrupt of requirements; returns why the response ends, if the model insists on what they refuse.
    pub(super) fn insists(&self, stop: &Interrupt, refusals: &mut u32) -> Option<String> {
        *refusals += u32::from(stop.is_of_order());
        let names = || stop.rules().join(", ");
        (*refusals > MAX_REFUSALS).then(|| {
            format!("rulebook proxy: {} refuses this call, and the model made it {refusals} times", names())
        })
    }

    /// The calls that are new in the request. Calls without a result between them run in parallel: each is about to run
    /// before any of them ran.
    pub(super) fn ran(&self, conversation: &mut Conversation) -> Vec<Event> {
        let entries = &self.request.entries;
        let ids: Vec<&str> =
            entries.iter().flat_map(|entry| &entry.calls).map(|call| call.id.as_str()).collect();
        let known = conversation.known_calls(&ids);
        conversation.calls = ids.len();
        conversation.last_call = ids.last().filter(|id| !id.is_empty()).map(|id| (*id).to_owned());
        let new = || entries.iter().skip_while(|_| known == ids.len());
        // Results are searched for calls that are new, and no others.
        let new_ids: HashSet<&str> = ids[known..].iter().copied().collect();
        let answers = |entry: &&Entry| entry.result_ids.iter().any(|id| new_ids.contains(id.as_str()));
        let failed: HashSet<&String> = new().filter(answers).flat_map(Entry::failed_ids).collect();
        let (mut events, mut ended) = (Vec::new(), Vec::new());
        let mut calls = self.calls().enumerate();
        for entry in new() {
            if entry.user_text().is_some() || !entry.result_ids.is_empty() {
                events.append(&mut ended);
            }
            for id in entry.calls.iter().map(|call| &call.id) {
                let Some((at, call)) = calls.next() else { continue };
                if at >= known {
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
