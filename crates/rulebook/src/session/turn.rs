//! Turns: one request to a model, from the texts for it to its delivery.

use super::blocks::Cap;
use super::due::Written;
use super::event::Event;
use super::host::Report;
use super::judge::Reminders;
use super::situation::Situation;
use super::store::SessionStore;
use super::stream_rules::StreamRules;
use super::watch::Watch;
use crate::render::{Budget, Notice, render};
use crate::stream::Monitor;

/// One request to a model: what it is told, and what watches its answer.
pub struct Turn<'s> {
    store: &'s mut dyn SessionStore,
    system: String,
    added: Option<Written>,
    reminders: Reminders,
    rules: StreamRules,
    monitor: Option<Monitor>,
}

impl<'s> Turn<'s> {
    /// Decides a turn. The events of the report must be recorded before.
    pub fn new(
        store: &'s mut dyn SessionStore,
        report: &Report<'_>,
        situation: &Situation<'_, '_>,
        budget: Budget,
    ) -> Turn<'s> {
        let stream = situation.stream_rules();
        let rules = StreamRules::new(stream.iter().copied(), &situation.stream);
        // Triggers that do not compile were reported when they were read.
        let monitor = (!stream.is_empty()).then(|| {
            Monitor::new(stream.iter().filter_map(|rule| rule.stream_rule()), situation.roots.clone())
        });
        let monitor = monitor.and_then(Result::ok);
        let session = store.session();
        let characters = budget.tokens.map_or(usize::MAX, |tokens| tokens.saturating_mul(4));
        let added = session.due(report, situation).write(Cap::Budget(characters));
        let reminders = session.reminders(&rules);
        let system = render(situation.evaluation, budget).text;
        Turn { store, system, added, reminders, rules, monitor }
    }

    /// Everything that applies now, for a host that sends a system prompt with every request.
    pub fn system(&self) -> String {
        self.with_reminders(&self.system)
    }

    /// What applies and is not in the conversation yet, for a host that appends; empty if there is nothing.
    pub fn added(&self) -> String {
        self.with_reminders(self.added.as_ref().map_or("", |added| &added.text))
    }

    fn with_reminders(&self, text: &str) -> String {
        let parts = [text, &self.reminders.text].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n\n")
    }

    /// The conditional rules that apply since this turn, for the user.
    pub fn notice(&self) -> Option<&Notice> {
        self.added.as_ref()?.notice.as_ref()
    }

    /// Watches the answer and its retries.
    pub fn watch(&mut self) -> Watch<'_> {
        Watch::new(&mut *self.store, &self.rules, self.monitor.as_mut())
    }

    /// The request was sent: its rules count as delivered. A turn that is dropped instead delivers nothing.
    pub fn sent(self) {
        let reminded = self.reminders.deliveries.into_iter().map(Event::Delivered).collect();
        self.store.record(reminded, self.added.map(|added| added.deliveries).unwrap_or_default());
    }
}
