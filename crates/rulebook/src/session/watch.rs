//! Watching an answer delta by delta: what may be shown, and when the model must be asked again.

use super::calls::JudgedCalls;
use super::event::Event;
use super::feed::Feed;
use super::judge::{Interrupt, Judgement};
use super::state::Session;
use super::store::SessionStore;
use super::stream_rules::StreamRules;
use crate::evidence::touched;
use crate::stream::{Hit, Monitor, StreamKind};

/// Watches the answer of a model, and its retries.
pub struct Watch<'t> {
    store: &'t mut dyn SessionStore,
    rules: &'t StreamRules,
    /// Nothing if no rule watches.
    monitor: Option<&'t mut Monitor>,
    state: &'t mut Watching,
}

/// How far an answer was watched.
#[derive(Default)]
pub(super) struct Watching {
    feed: Feed,
    attempt: u32,
    /// The text that is open, and what of it is not shown yet.
    open: Option<OpenText>,
    /// The interrupt whose retry has not begun.
    interrupt: Option<Interrupt>,
    /// The session together with its sub-agents, if it has any.
    shared: Option<Session>,
}

struct OpenText {
    kind: StreamKind,
    held: String,
    /// Where the held text starts in its stream.
    start: usize,
}

/// How much of the arguments of a call arrives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arguments {
    Part,
    Whole,
}

impl Watching {
    pub(super) fn of(shared: Option<&Session>) -> Watching {
        Watching { shared: shared.cloned(), ..Watching::default() }
    }

    /// Takes in what is recorded of the session.
    pub(super) fn follow(&mut self, events: &[Event]) {
        if let Some(shared) = &mut self.shared {
            events.iter().for_each(|event| shared.apply(event.clone()));
        }
    }

    /// No retry follows: an interrupt without one did not reach the model.
    pub(super) fn end(&mut self, store: &mut dyn SessionStore) {
        if let Some(interrupt) = self.interrupt.take() {
            store.session().interrupt_dropped(&interrupt);
        }
    }
}

/// What to do after a delta.
#[derive(Debug, Default)]
#[must_use]
pub struct Step {
    /// Text that is safe to show now. It may lag behind what arrived.
    pub show: String,
    /// Thinking that is safe to show now.
    pub thinking: String,
    /// Stop the answer, add the interrupt's text to the conversation and ask again. What follows is the retry's.
    pub retry: Option<Interrupt>,
    /// For the user: the output violates a rule and continues, because the turn was interrupted as often as allowed.
    pub notice: Option<String>,
}

impl<'t> Watch<'t> {
    pub(super) fn new(
        store: &'t mut dyn SessionStore,
        rules: &'t StreamRules,
        monitor: Option<&'t mut Monitor>,
        state: &'t mut Watching,
    ) -> Watch<'t> {
        Watch { store, rules, monitor, state }
    }

    /// More text of the answer.
    pub fn text(&mut self, delta: &str) -> Step {
        self.prose(StreamKind::Text, delta)
    }

    /// More of the model's thinking.
    pub fn thinking(&mut self, delta: &str) -> Step {
        self.prose(StreamKind::Thinking, delta)
    }

    /// More arguments of a tool call, as JSON. Run calls only after [`Watch::end`] asked for no retry.
    pub fn tool(&mut self, id: &str, name: &str, delta: &str) -> Step {
        self.feed_tool(id, name, delta, Arguments::Part)
    }

    /// A tool call whose arguments arrive at once.
    pub fn whole_tool(&mut self, id: &str, name: &str, arguments: &str) -> Step {
        self.feed_tool(id, name, arguments, Arguments::Whole)
    }

    fn feed_tool(&mut self, id: &str, name: &str, bytes: &str, arguments: Arguments) -> Step {
        self.begin();
        let Some(monitor) = self.monitor.as_deref_mut() else { return Step::default() };
        let Watching { feed, .. } = &mut *self.state;
        let (stream, mut hits) = (format!("tool {id}"), Vec::new());
        feed.finish(monitor, "prose", &mut hits);
        let kind = StreamKind::Tool(name.to_owned());
        feed.feed(monitor, self.rules, &stream, &kind, bytes.as_bytes(), &mut hits);
        if arguments == Arguments::Whole {
            feed.finish(monitor, &stream, &mut hits);
        }
        let step = self.close();
        self.judge(&hits, step)
    }

    /// The answer ended: decides what only its end can decide.
    pub fn end(&mut self) -> Step {
        self.begin();
        let Some(monitor) = self.monitor.as_deref_mut() else { return Step::default() };
        let mut hits = Vec::new();
        self.state.feed.finish_all(monitor, &mut hits);
        let step = self.close();
        let step = self.judge(&hits, step);
        if step.retry.is_none() { self.judge_order(step) } else { step }
    }

    /// Checks the calls of the answer, or the end of the turn, against requirements.
    fn judge_order(&mut self, step: Step) -> Step {
        if !self.rules.has_order() {
            return step;
        }
        let has_calls = self.state.feed.has_calls();
        let calls = self.state.feed.take_calls().into_iter().map(|call| {
            let paths = touched(&call, &self.rules.roots);
            (call, paths)
        });
        let calls: Vec<_> = calls.collect();
        let session = self.state.shared.as_ref().unwrap_or(self.store.session());
        let JudgedCalls { interrupt, events, notes } = match has_calls {
            true => session.judge_calls(self.rules, calls, false),
            false => session.judge_stop(self.rules),
        };
        self.state.follow(&events);
        if !events.is_empty() {
            self.store.record(events, Vec::new());
        }
        match interrupt {
            Some(interrupt) => self.stop(interrupt),
            None => {
                let notices = step.notice.into_iter().chain(notes).collect::<Vec<_>>();
                Step { notice: (!notices.is_empty()).then(|| notices.join("\n")), ..step }
            }
        }
    }

    fn prose(&mut self, kind: StreamKind, delta: &str) -> Step {
        self.begin();
        let is_watched = kind == StreamKind::Text || self.rules.watches_thinking();
        let Some(monitor) = self.monitor.as_deref_mut().filter(|_| is_watched) else {
            let mut step = Step::default();
            show(&mut step, &kind, delta);
            return step;
        };
        let (mut step, mut hits) = (Step::default(), Vec::new());
        if self.state.open.as_ref().is_some_and(|open| open.kind != kind) {
            self.state.feed.finish(monitor, "prose", &mut hits);
            step = self.close();
        }
        let Some(monitor) = self.monitor.as_deref_mut() else { return step };
        let piece = self.state.feed.feed(monitor, self.rules, "prose", &kind, delta.as_bytes(), &mut hits);
        let open = self.state.open.get_or_insert_with(|| OpenText { kind, held: String::new(), start: 0 });
        open.held.push_str(delta);
        if let Some(piece) = piece {
            let mut settled = self.state.feed.settled(monitor, piece.stream);
            if open.held.len() > self.rules.limits().hold_bytes && settled < piece.end {
                // A match that stays possible does not hold the text for ever.
                if self.state.feed.release(piece.stream).is_some() {
                    self.store.record(self.rules.released().into_iter().collect(), Vec::new());
                }
                settled = piece.end;
            }
            let len = open.held.floor_char_boundary(settled.saturating_sub(open.start).min(open.held.len()));
            let shown: String = open.held.drain(..len).collect();
            open.start += len;
            show(&mut step, &open.kind, &shown);
        }
        self.judge(&hits, step)
    }

    /// Shows the rest of a text that ended.
    fn close(&mut self) -> Step {
        let mut step = Step::default();
        if let Some(OpenText { kind, held, .. }) = self.state.open.take() {
            show(&mut step, &kind, &held);
        }
        step
    }

    fn judge(&mut self, hits: &[Hit], step: Step) -> Step {
        if hits.is_empty() {
            return step;
        }
        let (judgement, events) = self.store.session().judge(self.rules, hits);
        self.store.record(events, Vec::new());
        match judgement {
            Judgement::Nothing => step,
            Judgement::Remind { rules, is_budget_spent } => {
                let names = rules.join(", ");
                let notice = || {
                    format!(
                        "the output violates {names} and continues: no more interrupts in this turn (`stream.max_interrupts`)"
                    )
                };
                Step { notice: is_budget_spent.then(notice), ..step }
            }
            Judgement::Interrupt(interrupt) => self.stop(interrupt),
        }
    }

    /// Stops the answer: the model is asked again.
    fn stop(&mut self, interrupt: Interrupt) -> Step {
        let interrupt = interrupt.with_output(self.state.feed.output());
        self.restart();
        self.state.interrupt = Some(interrupt.clone());
        Step { retry: Some(interrupt), ..Step::default() }
    }

    /// Forgets the answer: the retry is another.
    fn restart(&mut self) {
        if let Some(monitor) = self.monitor.as_deref_mut() {
            self.state.feed.forget(monitor);
        }
        self.state.attempt += 1;
        self.state.feed = Feed::new(format!("{}/", self.state.attempt));
        self.state.open = None;
    }

    /// Output arrives: the text of the interrupt before it reached the model.
    fn begin(&mut self) {
        if let Some(interrupt) = self.state.interrupt.take() {
            let events = self.store.session().interrupt_sent(&interrupt);
            if !events.is_empty() {
                self.store.record(events, Vec::new());
            }
        }
    }
}

fn show(step: &mut Step, kind: &StreamKind, text: &str) {
    if *kind == StreamKind::Thinking { &mut step.thinking } else { &mut step.show }.push_str(text);
}
