//! Turns: one request to a model, from the texts for it to its delivery.

use super::blocks::Cap;
use super::due::Written;
use super::event::Event;
use super::host::{HostProfile, Moment, Report};
use super::judge::Reminders;
use super::situation::Situation;
use super::state::Session;
use super::store::SessionStore;
use super::stream_rules::StreamRules;
use super::watch::{Watch, Watching};
use crate::evaluate::{Audience, evaluate};
use crate::evidence::{Input, Root, Roots, ToolCall, collect};
use crate::render::{Budget, Notice, render};
use crate::resolve::Rulebook;
use crate::stream::Monitor;

/// One request to a model: what it is told, and what watches its answer.
///
/// Nothing counts before the request is made: a turn that is neither watched nor [sent](Turn::sent) leaves no trace.
pub struct Turn<'s> {
    store: &'s mut dyn SessionStore,
    decided: PausedTurn,
}

/// A turn without its store, for a host that cannot hold a borrow between two deltas, such as a binding.
#[derive(Default)]
pub struct PausedTurn {
    /// What the host reported.
    events: Vec<Event>,
    system: String,
    added: Option<Written>,
    reminders: Reminders,
    rules: StreamRules,
    monitor: Option<Monitor>,
    watching: Watching,
}

impl PausedTurn {
    /// Continues the turn with the store that it was decided for.
    pub fn resume(self, store: &mut dyn SessionStore) -> Turn<'_> {
        Turn { store, decided: self }
    }
}

impl<'s> Turn<'s> {
    /// Decides a turn.
    pub fn new(
        store: &'s mut dyn SessionStore,
        report: &Report<'_>,
        situation: &Situation<'_, '_>,
        budget: Budget,
    ) -> Turn<'s> {
        let stream = situation.stream_rules();
        let rules = StreamRules::new(stream.iter().copied(), &situation.stream);
        let triggers = stream.iter().filter_map(|rule| rule.stream_rule());
        let monitor = (!stream.is_empty())
            .then(|| Monitor::new(triggers, situation.roots.clone()).with_syntax(situation.syntax.cloned()));
        let session = store.session();
        let added = session.due(report, situation).write(Cap::Budget(budget.characters()));
        let (events, reminders) = (session.observe(report), session.reminders(&rules));
        let system = render(situation.evaluation, budget).text;
        let watching = Watching::default();
        Turn { store, decided: PausedTurn { events, system, added, reminders, rules, monitor, watching } }
    }

    /// Lets go of the store, until the turn is resumed.
    pub fn pause(mut self) -> PausedTurn {
        std::mem::take(&mut self.decided)
    }

    /// Everything that applies now, for a host that sends a system prompt with every request.
    pub fn system(&self) -> String {
        self.with_reminders(&self.decided.system)
    }

    /// What applies and is not in the conversation yet, for a host that appends; empty if there is nothing.
    pub fn added(&self) -> String {
        self.with_reminders(self.decided.added.as_ref().map_or("", |added| &added.text))
    }

    fn with_reminders(&self, text: &str) -> String {
        let parts = [text, &self.decided.reminders.text].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n\n")
    }

    /// The conditional rules that apply since this turn, for the user.
    pub fn notice(&self) -> Option<&Notice> {
        self.decided.added.as_ref()?.notice.as_ref()
    }

    /// Watches the answer and its retries.
    pub fn watch(&mut self) -> Watch<'_> {
        self.make();
        let PausedTurn { rules, monitor, watching, .. } = &mut self.decided;
        Watch::new(&mut *self.store, rules, monitor.as_mut(), watching)
    }

    /// The request was sent: its rules count as delivered.
    pub fn sent(mut self) {
        self.make();
        let reminders = std::mem::take(&mut self.decided.reminders.deliveries);
        let added = self.decided.added.take().map(|added| added.deliveries).unwrap_or_default();
        self.store.record(reminders.into_iter().map(Event::Delivered).collect(), added);
    }

    /// The request is made: what the host reported counts.
    fn make(&mut self) {
        let events = std::mem::take(&mut self.decided.events);
        if !events.is_empty() {
            self.store.record(events, Vec::new());
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.decided.watching.end(self.store);
    }
}

impl Session {
    /// Decides a turn of a host without a disk. Files are known by their paths, relative to one root.
    pub fn turn(&mut self, book: &Rulebook, input: Input) -> Turn<'_> {
        let root = Root { path: "/".to_owned(), ..Root::default() };
        let roots = Roots { roots: vec![root], home: None };
        let gather = |input: &Input| collect(input, &roots, &|_, _| false).0;
        let touched = |call: &ToolCall| {
            let evidence = gather(&Input { tools: vec![call.clone()], ..Input::default() });
            evidence.paths.into_iter().map(|seen| seen.path).collect()
        };
        let evidence = gather(&self.input(input.clone()));
        let evaluation = evaluate(book, &evidence, Audience::any());
        let agent = input.agent.clone().unwrap_or_default();
        let report = Report {
            paths: input.tools.iter().map(touched).collect(),
            input,
            ..Report::new(HostProfile::plain(&agent), Moment::Prompt)
        };
        Turn::new(self, &report, &Situation::new(&evaluation, &evidence, &roots), Budget::default())
    }
}
