//! One request of an agent: the rules added to it, what watches the response, and the retry after an interrupt.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::Response;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use rulebook::agent::Agent;
use rulebook::evaluate::Verdict;
use rulebook::evidence::{Input, ToolCall};
use rulebook::matrix::{evaluate_for, handlings};
use rulebook::rule::Rule;
use rulebook::session::{
    Delivery, Event, HostProfile, Interrupt, Judgement, Moment, Report, Situation, Written,
};
use rulebook::stream::Hit;
use serde_json::json;

use super::coding::Taken;
use super::conversation_state::{Conversation, Unsent};
use super::conversations::Key;
use super::passthrough::{rewritten, uncompressed};
use super::rules::{Book, Watch};
use super::shared::Proxy;
use super::texts::Text;
use super::upstream::{Error, full};
use crate::lock::lock;
use crate::surface::wire::{Anchor, Request, Wire, apply};

/// A request of an agent's conversation.
pub(super) struct Exchange {
    pub(super) proxy: Arc<Proxy>,
    pub(super) wire: &'static Wire,
    pub(super) number: u64,
    /// The request as the client wrote it.
    pub(super) head: Parts,
    pub(super) body: Bytes,
    _room: Taken,
    pub(super) request: Request,
    agent: Option<&'static Agent>,
    key: Key,
    conversation: Arc<Mutex<Conversation>>,
    pub(super) book: Arc<Book>,
    /// Whether something may not be written yet that hooks of the client look for.
    pub(super) is_unwritten: AtomicBool,
}

/// What is sent, and what watches the response.
pub(super) struct Prepared {
    /// The body with the rules; nothing if none were added.
    pub(super) body: Option<Bytes>,
    pub(super) watch: Option<Arc<Watch>>,
}

impl Exchange {
    pub(super) fn new(
        proxy: &Arc<Proxy>,
        wire: &'static Wire,
        head: Parts,
        (body, room): (Bytes, Taken),
        request: Request,
        book: Arc<Book>,
    ) -> Exchange {
        let agent = proxy.agent(&head.headers);
        let key = Key::of(&head.headers, &request, book.root());
        let state = book.workspace.state_folder();
        let conversation = proxy.conversations.find(&key, state.as_deref(), &request);
        Exchange {
            number: proxy.next_number(),
            proxy: Arc::clone(proxy),
            wire,
            head,
            body,
            _room: room,
            request,
            agent,
            key,
            conversation,
            book,
            is_unwritten: AtomicBool::new(false),
        }
    }

    /// The name of its session, for people.
    pub(super) fn session_name(&self) -> &str {
        &self.key.session
    }

    /// How many bytes of a text, and how long, are held at most.
    pub(super) fn hold(&self, watch: &Watch) -> (usize, Duration) {
        let limits = watch.rules.limits();
        (limits.hold_bytes, Duration::from_millis(u64::from(limits.hold_ms)))
    }

    pub(super) fn conversation(&self) -> MutexGuard<'_, Conversation> {
        lock(&self.conversation)
    }

    pub(super) fn share(&self, text: &str) -> Text {
        self.proxy.conversations.texts.share(text)
    }

    /// Adds to the request what its session needs.
    pub(super) fn prepare(&self) -> Prepared {
        let Book { workspace, book, .. } = &*self.book;
        let mut conversation = self.conversation();
        let conversation = &mut *conversation;
        let (report, mut events) = self.observe(conversation);
        let evidence = workspace.evidence_for(book, &self.input());
        let view = self.agent.and_then(|agent| self.book.view(agent));
        let native = view.map(|view| view.reading(&evidence));
        let subject = view.zip(native.as_ref()).map(|(view, native)| view.subject(native));
        let evaluation = evaluate_for(book, &evidence, subject.as_ref(), workspace.settings.budget);
        let handling = |verdicts: &[&Verdict<'_>]| handlings(subject.as_ref(), verdicts);
        let carries = |rule: &Rule| self.carries(&rule.body);
        let situation = Situation {
            stream: workspace.settings.stream,
            handling: &handling,
            carries: &carries,
            syntax: self.book.syntax.as_ref(),
            ..Situation::new(&evaluation, &evidence, &workspace.roots)
        };
        let watch = self.proxy.rules.watch(&self.book, &situation);
        watch.iter().for_each(|watch| self.proxy.report_unwatched(watch));
        conversation.note_offers(&self.request);
        let mut due = conversation.session.due(&report, &situation);
        let mut delivered = Vec::new();
        if conversation.prefix.is_none() {
            let Written { text, deliveries, .. } = due.take_standing().write(usize::MAX).unwrap_or_default();
            conversation.prefix = Some(self.share(&text));
            delivered.extend(deliveries);
        }
        if let Some(after) = self.last_anchor() {
            let Written { text, deliveries, .. } = due.write(usize::MAX).unwrap_or_default();
            let reminders = watch.as_ref().map(|watch| conversation.session.reminders(&watch.rules));
            let reminders = reminders.unwrap_or_default();
            let texts: Vec<String> =
                [text, reminders.text].into_iter().filter(|text| !text.is_empty()).collect();
            if !texts.is_empty() {
                conversation.insert(&after, self.share(&texts.join("\n\n")), &deliveries);
            }
            delivered.extend(deliveries);
            // A request that fails is sent again, with the reminders in the same place.
            events.extend(reminders.deliveries.into_iter().map(Event::Delivered));
        }
        conversation.unsent.added.extend(delivered.iter().cloned());
        events.extend(delivered.into_iter().map(Event::Delivered));
        for event in events.iter().filter(|event| matches!(event, Event::Delivered(_))) {
            conversation.session.apply(event.clone());
        }
        self.follow(&events, watch.as_ref().is_some_and(|watch| watch.rules.has_order()), conversation);
        let body = conversation.compose(self.wire, &self.request, &self.body).map(Bytes::from);
        conversation.unsent.events.extend(events);
        Prepared { body, watch }
    }

    /// The request reached the model: what it brought counts, with what earlier ones brought that failed.
    pub(super) fn reached(&self) {
        let mut conversation = self.conversation();
        conversation.is_repeated = false;
        let Unsent { events, added } = std::mem::take(&mut conversation.unsent);
        drop(conversation);
        self.count(&added);
        self.record_before_client(events);
    }

    fn count(&self, delivered: &[Delivery]) {
        let rules = delivered.iter().filter(|delivery| delivery.is_rule());
        let (listed, whole): (Vec<_>, Vec<_>) = rules.partition(|delivery| delivery.offered);
        self.proxy.metrics.added.add(whole.len() as u64);
        for (what, rules) in [("added", whole), ("listed", listed)] {
            let names: Vec<&str> = rules.iter().map(|delivery| delivery.rule.as_str()).collect();
            if !names.is_empty() {
                self.proxy.log.report(what, json!({ "session": self.key.session, "rules": names }));
            }
        }
    }

    /// What is new in the request: entries that are gone, a message of the user, calls that were made.
    fn observe(&self, conversation: &mut Conversation) -> (Report<'static>, Vec<Event>) {
        let mut events = Vec::new();
        if self.request.follows.is_none() && conversation.forget_gone(&self.request) {
            events.push(Event::Compacted);
        }
        let mut messages =
            self.request.entries.iter().rev().filter_map(|entry| Some((entry.user_text()?, entry.anchor())));
        let message = messages.next().filter(|(_, anchor)| conversation.turn.as_ref() != Some(*anchor));
        if let Some((message, anchor)) = message {
            conversation.turn = Some(anchor.clone());
            // The request itself has the message.
            conversation.session.apply(Event::prompt(""));
            events.push(Event::prompt(message));
        }
        events.extend(self.ran(conversation));
        let moment = if message.is_some() { Moment::Prompt } else { Moment::After };
        (Report::new(HostProfile::plain("proxy"), moment), events)
    }

    /// Every tool call of the conversation, with its turn.
    pub(super) fn calls(&self) -> impl Iterator<Item = ToolCall> {
        let mut turn = 0;
        self.request.entries.iter().flat_map(move |entry| {
            turn += u64::from(entry.user_text().is_some());
            entry.calls.iter().map(move |call| ToolCall {
                name: call.name.clone(),
                input: Some(call.input.clone()),
                turn: Some(turn),
                ..ToolCall::default()
            })
        })
    }

    /// The conversation as evidence.
    fn input(&self) -> Input {
        let messages = self.request.entries.iter().filter(|entry| entry.user_text().is_some());
        Input {
            turn: Some(messages.count() as u64),
            message: self.request.message(),
            mentions: self.request.added_files(),
            tools: self.calls().collect(),
            provider: Some(self.wire.provider.to_owned()),
            model: self.request.model.clone(),
            agent: self.agent.map(|agent| agent.name.to_owned()),
            ..Input::default()
        }
    }

    /// Whether the conversation has a text already, as it is or escaped as markup.
    fn carries(&self, body: &str) -> bool {
        let body = body.trim();
        let escaped = body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let escaped = (escaped != body).then_some(escaped);
        self.request
            .texts()
            .any(|text| text.contains(body) || escaped.as_ref().is_some_and(|escaped| text.contains(escaped)))
    }

    /// The entry after which texts are added now.
    pub(super) fn last_anchor(&self) -> Option<Anchor> {
        self.request.last().map(|entry| entry.anchor().clone())
    }

    /// Decides what hits lead to; returns the interrupt, if the response must stop.
    pub(super) fn judge(&self, watch: &Watch, hits: &[Hit]) -> Option<Interrupt> {
        if hits.is_empty() {
            return None;
        }
        let metrics = &self.proxy.metrics;
        metrics.matches.add(hits.len() as u64);
        let mut conversation = self.conversation();
        let (judgement, events) = conversation.session.judge(&watch.rules, hits);
        let log = |what: &str, rules: &[String], why: Option<&str>| {
            self.proxy.log.report(what, json!({ "session": self.key.session, "rules": rules, "why": why }));
        };
        let interrupt = match judgement {
            Judgement::Nothing => None,
            Judgement::Remind { rules, is_budget_spent } => {
                metrics.reminders.add(1);
                log("remind", &rules, is_budget_spent.then_some("interrupted as often as allowed"));
                None
            }
            Judgement::Interrupt(interrupt) => {
                metrics.interrupts.add(1);
                log("interrupt", interrupt.rules(), None);
                // Later requests have it in the same place.
                if let Some(after) = self.last_anchor() {
                    conversation.insert(&after, self.share(interrupt.text()), interrupt.deliveries());
                }
                Some(interrupt)
            }
        };
        drop(conversation);
        self.record_before_client(events);
        interrupt
    }

    /// Asks again after an interrupt: with the output so far, or without.
    pub(super) fn repeat(
        &self,
        interrupt: &Interrupt,
        output: &str,
    ) -> BoxFuture<'static, Result<Response<Incoming>, Error>> {
        let body = self.retry_body(interrupt, output);
        let mut head = self.head.clone();
        rewritten(&mut head, body.len());
        uncompressed(&mut head);
        let (proxy, wire) = (Arc::clone(&self.proxy), self.wire);
        if let Some(record) = &proxy.record {
            record.request(self.number, Some(wire), &head, &body);
        }
        Box::pin(async move { proxy.upstream.ask(Some(wire), head, full(body)).await })
    }

    fn retry_body(&self, interrupt: &Interrupt, output: &str) -> Bytes {
        let conversation = self.conversation();
        let kept = if interrupt.keeps_output() { output.trim_end() } else { "" };
        let answer = self.wire.shapes.answer(&self.request.end, kept, interrupt.text());
        if kept.is_empty() || answer.is_empty() {
            return apply(&self.body, conversation.edits(self.wire, &self.request, None)).into();
        }
        // The rule comes after the output that it stopped, not before it.
        let edits = conversation.edits(self.wire, &self.request, Some(interrupt.text()));
        apply(&self.body, edits.into_iter().chain(answer).collect()).into()
    }

    /// The text of an interrupt reached the model.
    pub(super) fn sent(&self, interrupt: &Interrupt) {
        let mut conversation = self.conversation();
        let events = conversation.session.interrupt_sent(interrupt);
        events.iter().for_each(|event| conversation.session.apply(event.clone()));
        drop(conversation);
        self.record_before_client(events);
    }

    /// The text of an interrupt did not reach the model. The client may send the request again: then the turn continues.
    pub(super) fn dropped(&self, interrupt: &Interrupt) {
        let mut conversation = self.conversation();
        conversation.session.interrupt_dropped(interrupt);
        conversation.is_repeated = true;
    }

    /// The provider rejected the request with the text of an interrupt: it is not sent again.
    pub(super) fn rejected(&self, interrupt: &Interrupt) {
        self.dropped(interrupt);
        self.conversation().withdraw(interrupt.text());
    }

    /// A text was held too long and is let go.
    pub(super) fn released(&self, watch: &Watch, stream: &str) {
        self.proxy.metrics.released.add(1);
        self.proxy.log.report("released", json!({ "session": self.key.session, "part": stream }));
        self.record(watch.rules.released().into_iter().collect());
    }

    /// The client knows a response by another name than the provider.
    pub(super) fn alias(&self, client: &str, provider: &str) {
        self.conversation().alias(client, provider);
    }

    /// The agent that sent the request, as far as it is known.
    pub(super) fn agent(&self) -> Option<&'static Agent> {
        self.agent
    }

    /// Whether a sub-agent sent the request.
    pub(super) fn is_sub_agent(&self) -> bool {
        self.key.agent.is_some()
    }

    /// Records events that hooks of the client look for: it gets the answer after they are written.
    fn record_before_client(&self, events: Vec<Event>) {
        if !events.is_empty() {
            self.is_unwritten.store(true, Ordering::Relaxed);
            self.record(events);
        }
    }

    /// Records events on the scribe's thread: no request waits for it.
    fn record(&self, events: Vec<Event>) {
        self.record_then(events, || {});
    }

    /// The same, and what follows.
    pub(super) fn record_then(&self, events: Vec<Event>, then: impl FnOnce() + Send + 'static) {
        let (conversation, book) = (Arc::clone(&self.conversation), Arc::clone(&self.book));
        let (proxy, key) = (Arc::clone(&self.proxy), self.key.clone());
        self.proxy.scribe.write(move || {
            let Some(state) = book.workspace.state_folder() else { return };
            write(&proxy, &state, book.root(), &key, &conversation, &events);
            then();
        });
    }
}

/// A session that cannot be written continues in memory.
fn write(
    proxy: &Proxy,
    state: &Path,
    root: &str,
    key: &Key,
    conversation: &Mutex<Conversation>,
    events: &[Event],
) {
    let mut conversation = lock(conversation);
    let failed = |error| vec![format!("the session cannot be written: {error}")];
    let faults =
        proxy.conversations.record(state, key, root, &mut conversation, events).unwrap_or_else(failed);
    faults.iter().for_each(|fault| proxy.fail(fault));
}
