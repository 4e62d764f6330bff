//! One request of an agent: what is added to it, what watches its answer, and how it is asked again.

use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use hyper::Response;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use rulebook::evaluate::{State, Verdict, evaluate};
use rulebook::evidence::{Input, ToolCall};
use rulebook::rule::Rule;
use rulebook::session::{Blocks, Cap, Delivery, Event, because, blocks};
use rulebook::stream::Hit;
use rulebook::stream::policy::{self, Action, ClaimId, ContextMode, Downgrade, Reminder, TriggerMatch};
use serde_json::json;

use super::hits::{interrupted, places, source};
use super::passthrough::{rewritten, uncompressed};
use super::rules::{Book, Watch, Watching};
use super::session::{self, Key, Session};
use super::shared::Proxy;
use super::upstream::{Error, full};
use crate::lock::lock;
use crate::surface::wire::{Anchor, Request, Role, Wire, apply};

/// A request that rules may have to do with.
pub(super) struct Exchange {
    pub(super) proxy: Arc<Proxy>,
    pub(super) wire: &'static Wire,
    pub(super) number: u64,
    /// The request as the client wrote it.
    pub(super) head: Parts,
    pub(super) body: Bytes,
    pub(super) request: Request,
    key: Key,
    session: Arc<Mutex<Session>>,
    book: Arc<Book>,
}

/// What is to be sent, and what is to be watched for.
pub(super) struct Prepared {
    /// The body with what was added; nothing where nothing was.
    pub(super) body: Option<Bytes>,
    pub(super) watch: Option<Arc<Watch>>,
}

/// An answer is to be stopped.
pub(super) struct Stop {
    pub(super) claim: ClaimId,
    context: ContextMode,
    injection: String,
}

impl Exchange {
    pub(super) fn new(
        proxy: &Arc<Proxy>,
        wire: &'static Wire,
        head: Parts,
        body: Bytes,
        request: Request,
        book: Arc<Book>,
    ) -> Exchange {
        let key = Key::of(&head.headers, &request, &book.workspace.roots.roots[0].path);
        let state = book.state();
        let session = proxy.sessions.find(&key, state.as_deref(), &request);
        Exchange {
            number: proxy.next_number(),
            proxy: Arc::clone(proxy),
            wire,
            head,
            body,
            request,
            key,
            session,
            book,
        }
    }

    /// The name of its session, for people.
    pub(super) fn session_name(&self) -> &str {
        &self.key.session
    }

    pub(super) fn hold(&self, watch: &Watch) -> (usize, std::time::Duration) {
        let stream = self.book.workspace.settings.stream_for(watch.is_mandatory);
        (stream.hold_bytes as usize, std::time::Duration::from_millis(u64::from(stream.hold_ms)))
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_default()
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    /// Decides which rules apply, and puts them into the request.
    pub(super) fn prepare(&self) -> Result<Prepared, String> {
        let Book { workspace, book, .. } = &*self.book;
        let mut session = self.session();
        let (mut facts, reminders) = self.facts(&mut session);
        let (mut evidence, _) = workspace.gather(&self.input());
        workspace.look_up(book, &mut evidence);
        let evaluation = evaluate(book, &evidence);
        let stream: Vec<&Rule> = evaluation
            .verdicts
            .iter()
            .filter(|verdict| matches!(verdict.state, State::Stream))
            .map(|verdict| verdict.rule)
            .collect();
        let watch = self.proxy.rules.watch(&self.book, &stream)?;
        watch.iter().for_each(|watch| self.proxy.report_unwatched(watch));
        let is_mandatory = watch.as_ref().is_some_and(|watch| watch.is_mandatory);
        session.policy.set_max_interrupts(workspace.settings.stream_for(is_mandatory).max_interrupts);
        let cap = Cap::Budget(workspace.settings.budget.characters());
        let delivery = |verdict: &Verdict<'_>| Delivery::of(verdict.rule, because(verdict, &evidence));
        // What had no room was listed, and is not listed again.
        let deliveries = |blocks: Option<&Blocks<'_, '_>>| -> Vec<Delivery> {
            let Some(Blocks { whole, cut, .. }) = blocks else { return Vec::new() };
            let cut = cut.iter().map(|verdict| Delivery { offered: true, ..delivery(verdict) });
            whole.iter().map(|verdict| delivery(verdict)).chain(cut).collect()
        };
        let is_wanted = |session: &Session, verdict: &Verdict<'_>| {
            matches!(verdict.state, State::Stack)
                && session.given.get(&verdict.rule.origin.display) != Some(&delivery(verdict).hash)
                && (verdict.rule.is_mandatory || !self.carries(&verdict.rule.body))
        };
        let mut added: Vec<Delivery> = Vec::new();
        if session.prefix.is_none() {
            let standing =
                |verdict: &&Verdict<'_>| verdict.because.is_empty() && is_wanted(&session, verdict);
            let always: Vec<&Verdict<'_>> = evaluation.verdicts.iter().filter(standing).collect();
            let offers: Vec<&Rule> = evaluation
                .verdicts
                .iter()
                .filter(|verdict| matches!(verdict.state, State::Offered))
                .map(|verdict| verdict.rule)
                .collect();
            let blocks = blocks(&always, &offers, &evidence, cap);
            let given = deliveries(blocks.as_ref());
            session.given.extend(given.iter().map(|given| (given.source.clone(), given.hash)));
            session.prefix = Some(blocks.map(|blocks| blocks.text).unwrap_or_default());
            added.extend(given);
        }
        if let Some(behind) = self.behind() {
            let later: Vec<&Verdict<'_>> =
                evaluation.verdicts.iter().filter(|verdict| is_wanted(&session, verdict)).collect();
            let blocks = blocks(&later, &[], &evidence, cap);
            let given = deliveries(blocks.as_ref());
            let told = reminders.iter().filter_map(|told| watch.as_ref()?.rules.get(&told.rule));
            let told = told.map(|rule| policy::reminder(&rule.name, &rule.path, &rule.body, &[]));
            let texts: Vec<String> = blocks.into_iter().map(|blocks| blocks.text).chain(told).collect();
            if !texts.is_empty() {
                session.insert(&behind, policy::join(&texts), &given);
            }
            added.extend(given);
        }
        let (listed, whole): (Vec<_>, Vec<_>) = added.iter().partition(|delivery| delivery.offered);
        self.proxy.metrics.added.add(whole.len() as u64);
        for (what, rules) in [("added", whole), ("listed", listed)] {
            let names: Vec<&str> = rules.iter().map(|delivery| delivery.rule.as_str()).collect();
            if !names.is_empty() {
                self.proxy.log.report(what, json!({ "session": self.key.session, "rules": names }));
            }
        }
        facts.extend(added.into_iter().map(Event::Delivered));
        let body = session.compose(self.wire, &self.request, self.text()).map(Bytes::from);
        drop(session);
        self.tell(facts);
        Ok(Prepared { body, watch })
    }

    /// What the request tells: a turn that began, calls that were made, what has left the conversation; and which rules
    /// are to be told of in it.
    fn facts(&self, session: &mut Session) -> (Vec<Event>, Vec<Reminder>) {
        let mut facts = Vec::new();
        if self.request.follows.is_none() && session.drop_gone(&self.request) {
            session.policy.compacted();
            facts.push(Event::Compacted);
        }
        let spoken = self.request.entries.iter().rev();
        let spoken = spoken.filter_map(|entry| Some((entry.user_text()?, entry.anchor()))).next();
        if let Some((message, anchor)) = spoken.filter(|(_, anchor)| session.turn.as_ref() != Some(*anchor)) {
            session.turn = Some(anchor.clone());
            session.policy.turn_ended();
            facts.push(Event::prompt(message));
        }
        // Told between turns, so that they count as told in the next.
        let reminders = session.policy.reminders().map(|(claim, reminders)| {
            // A request that fails is sent again, and has them in the same place.
            session.policy.delivered(claim);
            reminders
        });
        session.policy.turn_started();
        let calls: Vec<ToolCall> = self.calls().collect();
        for call in calls.iter().skip(session.calls) {
            let input = Input { tools: vec![call.clone()], ..Input::default() };
            let (seen, _) = self.book.workspace.gather(&input);
            facts.push(Event::Tool {
                name: call.name.clone(),
                paths: seen.paths.into_iter().map(|seen| seen.path).collect(),
                command: call.shell_command(),
                pending: false,
            });
        }
        session.calls = calls.len();
        (facts, reminders.unwrap_or_default())
    }

    /// Every tool call of the conversation, with its turn.
    fn calls(&self) -> impl Iterator<Item = ToolCall> {
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
        let spoken: Vec<&str> = self.request.entries.iter().filter_map(|entry| entry.user_text()).collect();
        Input {
            turn: Some(spoken.len() as u64),
            message: spoken.last().map(|&message| message.to_owned()),
            tools: self.calls().collect(),
            provider: Some(self.wire.provider.to_owned()),
            model: self.request.model.clone(),
            agent: session::agent(&self.head.headers).map(str::to_owned),
            ..Input::default()
        }
    }

    /// Whether the agent has a rule's text in the conversation itself, as it stands or as it is written in markup.
    fn carries(&self, body: &str) -> bool {
        let body = body.trim();
        let escaped = body.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let escaped = (escaped != body).then_some(escaped);
        self.request
            .texts()
            .any(|text| text.contains(body) || escaped.as_ref().is_some_and(|escaped| text.contains(escaped)))
    }

    /// The entry behind which something is said now.
    fn behind(&self) -> Option<Anchor> {
        self.request.last().map(|entry| entry.anchor().clone())
    }

    /// What hits lead to.
    pub(super) fn judge(&self, watch: &Watch, hits: &[Hit]) -> Option<Stop> {
        let rules: Vec<(&Hit, &Watching)> =
            hits.iter().filter_map(|hit| Some((hit, watch.rules.get(&hit.rule)?))).collect();
        if rules.is_empty() {
            return None;
        }
        self.proxy.metrics.matches.add(rules.len() as u64);
        let matches: Vec<TriggerMatch> = rules
            .iter()
            .map(|(hit, rule)| TriggerMatch {
                rule: rule.name.clone(),
                source: source(hit),
                modes: rule.modes,
                is_mandatory: rule.is_mandatory,
                call: None,
            })
            .collect();
        let mut session = self.session();
        let action = session.policy.decide(&matches);
        let (names, word, why) = match &action {
            Action::Nothing => return None,
            Action::Interrupt { rules, .. } => (rules, "interrupt", None),
            Action::RemindLater { rules, why } => (rules, "remind", Some(why)),
        };
        let told = names.iter().filter_map(|name| watch.rules.get(name));
        let mut facts = Vec::new();
        let mut injections = Vec::new();
        for rule in told {
            let own: Vec<&Hit> = hits.iter().filter(|hit| hit.rule == rule.name).collect();
            facts.extend(own.iter().map(|hit| interrupted(rule, hit, word)));
            injections.push(policy::injection(&rule.name, &rule.path, &rule.body, &places(&own)));
        }
        let is_spent = why == Some(&Downgrade::Budget);
        self.proxy.log.report(
            word,
            json!({ "session": self.key.session, "rules": names, "why": is_spent.then_some("interrupted often enough") }),
        );
        let stop = match action {
            Action::Interrupt { claim, context, .. } => {
                self.proxy.metrics.interrupts.add(1);
                let injection = policy::join(&injections);
                // In later requests it stands where it stands in this one.
                if let Some(behind) = self.behind() {
                    session.insert(&behind, injection.clone(), &[]);
                }
                Some(Stop { claim, context, injection })
            }
            _ => {
                self.proxy.metrics.reminders.add(1);
                None
            }
        };
        drop(session);
        self.tell(facts);
        stop
    }

    /// Asks again after a stop: with what was said, or without.
    pub(super) fn repeat(
        &self,
        stop: &Stop,
        said: &str,
    ) -> BoxFuture<'static, Result<Response<Incoming>, Error>> {
        let body = self.again(stop, said);
        let mut head = self.head.clone();
        rewritten(&mut head, body.len());
        uncompressed(&mut head);
        let (proxy, wire) = (Arc::clone(&self.proxy), self.wire);
        if let Some(record) = &proxy.record {
            record.request(self.number, Some(wire), &head, &body);
        }
        Box::pin(async move { proxy.upstream.ask(Some(wire), head, full(body)).await })
    }

    fn again(&self, stop: &Stop, said: &str) -> Bytes {
        let session = self.session();
        let kept = if stop.context == ContextMode::Keep { said.trim_end() } else { "" };
        let answer = self.wire.shapes.answer(&self.request.end, kept, &stop.injection);
        if kept.is_empty() || answer.is_empty() {
            return apply(self.text(), session.edits(self.wire, &self.request)).into();
        }
        // The rule stands behind what was said, not before it.
        let earlier = session.inserted.iter().filter(|inserted| inserted.text != stop.injection);
        let (prefix, inserted) = (session.prefix.clone(), earlier.cloned().collect());
        let before = Session { prefix, inserted, ..Session::default() };
        let edits = before.edits(self.wire, &self.request).into_iter().chain(answer);
        apply(self.text(), edits.collect()).into()
    }

    /// Whether the rules of a stop reached the model.
    pub(super) fn settle(&self, stop: &Stop, has_arrived: bool) {
        let mut session = self.session();
        if has_arrived {
            session.policy.delivered(stop.claim);
        } else {
            session.policy.released(stop.claim);
        }
    }

    /// A text that was held too long goes on its way.
    pub(super) fn released(&self, watch: &Watch, stream: &str) {
        self.proxy.metrics.released.add(1);
        self.proxy.log.report("released", json!({ "session": self.key.session, "part": stream }));
        let first = watch.rules.values().min_by_key(|rule| &rule.name);
        let fact = first.map(|rule| Event::Interrupted {
            rule: rule.id.clone(),
            path: rule.path.clone(),
            source: "text".to_owned(),
            text: String::new(),
            file: None,
            action: "released".to_owned(),
        });
        self.tell(fact.into_iter().collect());
    }

    /// The client knows an answer by another name than the provider.
    pub(super) fn alias(&self, client: &str, provider: &str) {
        self.session().aliases.insert(client.to_owned(), provider.to_owned());
    }

    /// Writes facts down without anybody waiting for it.
    pub(super) fn tell(&self, facts: Vec<Event>) {
        let (session, book, key) = (Arc::clone(&self.session), Arc::clone(&self.book), self.key.clone());
        let proxy = Arc::clone(&self.proxy);
        self.proxy.scribe.write(move || {
            let mut session = lock(&session);
            write(&proxy, &book, &key, &mut session, facts);
        });
    }
}

/// A session that cannot be written down goes on in memory.
fn write(proxy: &Proxy, book: &Book, key: &Key, session: &mut Session, facts: Vec<Event>) {
    let Some(state) = book.state() else { return };
    let root = &book.workspace.roots.roots[0].path;
    let failed = |error| vec![format!("the session cannot be written down: {error}")];
    let told = session::record(&state, key, root, session, facts).unwrap_or_else(failed);
    told.iter().for_each(|told| proxy.fail(told));
}

/// Whether an agent asks, and no side question is put: those offer no tools.
pub(super) fn is_main(request: &Request) -> bool {
    request.has_tools && request.entries.iter().any(|entry| entry.role != Role::Assistant)
}
