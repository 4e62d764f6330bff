//! Turns: one request to a model, from the texts for it to its delivery.

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
use crate::evidence::{Input, Root, Roots, collect, touched};
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
    /// Decides a turn. The budget is for [`Turn::system`]; of what is added, the evaluation has cut what exceeds it.
    pub fn new(
        store: &'s mut dyn SessionStore,
        report: &Report<'_>,
        situation: &Situation<'_, '_>,
        budget: Budget,
    ) -> Turn<'s> {
        let stream = situation.stream_rules();
        let rules = StreamRules::new(stream.iter().map(|verdict| verdict.rule), &situation.stream)
            .with_order(situation.ordered_rules(), situation.roots);
        let triggers = stream.iter().filter_map(|verdict| verdict.stream_rule());
        let monitor = (!stream.is_empty() || rules.has_order())
            .then(|| Monitor::new(triggers, situation.roots.clone()).with_syntax(situation.syntax.cloned()));
        let session = store.session();
        let added = session.due(report, situation).write(usize::MAX);
        let reminders = session.reminders(&rules);
        let mut events = session.observe(report);
        if rules.has_order() {
            events = in_parallel(events);
        }
        let system = render(&situation.evaluation.clone().within(budget, |_| true)).text;
        let watching = Watching::of(situation.shared);
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
            self.decided.watching.follow(&events);
            self.store.record(events, Vec::new());
        }
    }
}

/// The calls of one answer, none of which precedes another: each is about to run before any of them ran.
fn in_parallel(mut events: Vec<Event>) -> Vec<Event> {
    let about_to_run = |event: &Event| match event {
        Event::Tool { name, paths, command, pending: false, .. } => Some(Event::Tool {
            name: name.clone(),
            paths: paths.clone(),
            command: command.clone(),
            pending: true,
            failed: false,
        }),
        _ => None,
    };
    let pending: Vec<Event> = events.iter().filter_map(about_to_run).collect();
    if pending.len() > 1 {
        let first = events.iter().position(|event| matches!(event, Event::Tool { .. })).unwrap_or(0);
        events.splice(first..first, pending);
    }
    events
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
        let evidence = gather(&self.input(input.clone()));
        let evaluation = evaluate(book, &evidence, Audience::any());
        let agent = input.agent.clone().unwrap_or_default();
        let report = Report {
            paths: input.tools.iter().map(|call| touched(call, &roots)).collect(),
            input,
            ..Report::new(HostProfile::plain(&agent), Moment::Prompt)
        };
        Turn::new(self, &report, &Situation::new(&evaluation, &evidence, &roots), Budget::default())
    }
}
