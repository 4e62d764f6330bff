//! Answers in events: what is clean goes to the client at once; what is not is never seen, and asked for again.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt as _, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Response, StatusCode, header};
use rulebook::stream::{Hit, Kind, Monitor};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::exchange::{Exchange, Stop};
use super::held::{Held, Item};
use super::record::Tape;
use super::rules::Watch;
use super::upstream::{Body, Error, strip};
use crate::surface::wire::{Event, Events, Reader, Splice, Step, Waits};

/// How long a client is kept without a byte.
const PING: Duration = Duration::from_secs(10);

/// More than this is not held, and of a single event not read.
const MAX_HELD: usize = 32 << 20;

/// More of what was said than this is not said again.
const MAX_SAID: usize = 256 << 10;

/// An error that is told in the middle of an answer is no longer than this.
const MAX_ERROR: usize = 64 << 10;

/// The answer of a model, watched on its way to the client.
struct Stream {
    exchange: Exchange,
    watch: Arc<Watch>,
    from: From,
    events: Events,
    reader: Reader,
    held: Held,
    splice: Box<dyn Splice>,
    /// How often the model was asked again.
    retries: u32,
    /// How much of each stream came, and up to where one was let go that is not settled.
    fed: HashMap<String, usize>,
    let_go: HashMap<String, usize>,
    /// What was said in this answer, for a rule that keeps it.
    said: String,
    /// The bytes that go to the client next, and when the last went.
    out: BytesMut,
    sent: Instant,
    tape: Option<Tape>,
    /// Whether events pass without a look: something of ours failed.
    is_blind: bool,
}

/// Where the answer comes from.
enum From {
    Answer(Incoming),
    Asking(BoxFuture<'static, Result<Response<Incoming>, Error>>, Box<Stop>),
    Nothing,
    Broken(Error),
}

/// The answer for the client.
pub(super) fn watched(exchange: Exchange, watch: Arc<Watch>, response: Response<Incoming>) -> Response<Body> {
    exchange.proxy.metrics.streams.add(1);
    let (mut head, body) = response.into_parts();
    strip(&mut head.headers);
    head.headers.remove(header::CONTENT_LENGTH);
    let tape = exchange.proxy.record.as_ref();
    let stream = Stream {
        tape: tape.map(|record| record.answer(exchange.number, exchange.wire, &head.headers)),
        splice: (exchange.wire.splice)(),
        exchange,
        watch,
        from: From::Answer(body),
        events: Events::default(),
        reader: Reader::default(),
        held: Held::default(),
        retries: 0,
        fed: HashMap::new(),
        let_go: HashMap::new(),
        said: String::new(),
        out: BytesMut::new(),
        sent: Instant::now(),
        is_blind: false,
    };
    let frames = futures_util::stream::unfold(stream, |mut stream| async move {
        let bytes = stream.next().await?;
        Some((bytes.map(Frame::data), stream))
    });
    Response::from_parts(head, StreamBody::new(frames).boxed_unsync())
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.forget();
        self.exchange.proxy.metrics.streams.sub(1);
    }
}

impl Stream {
    /// The next bytes for the client.
    async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        loop {
            if !self.out.is_empty() {
                self.sent = Instant::now();
                return Some(Ok(self.out.split().freeze()));
            }
            let deadline = self.deadline();
            match &mut self.from {
                From::Nothing => return None,
                From::Broken(_) => {
                    // What was sent before reaches the client before the end does.
                    tokio::task::yield_now().await;
                    let From::Broken(error) = std::mem::replace(&mut self.from, From::Nothing) else {
                        return None;
                    };
                    return Some(Err(error));
                }
                From::Answer(body) => match before(deadline, body.frame()).await {
                    None => self.late(),
                    Some(Some(Ok(frame))) => {
                        if let Ok(data) = frame.into_data() {
                            self.take(&data);
                        }
                    }
                    Some(Some(Err(error))) => self.over(From::Broken(error.into())),
                    Some(None) => self.over(From::Nothing),
                },
                From::Asking(asking, _) => match before(deadline, asking).await {
                    None => self.late(),
                    Some(answered) => self.answered(answered).await,
                },
            }
        }
    }

    /// When something is to be done although nothing comes.
    fn deadline(&self) -> Option<Instant> {
        let ping = (!self.held.is_empty() || matches!(self.from, From::Asking(..))).then(|| self.sent + PING);
        let (_, longest) = self.exchange.hold();
        let release = self.held.waits_for().map(|(_, since)| since + longest);
        ping.into_iter().chain(release).min()
    }

    fn late(&mut self) {
        let (_, longest) = self.exchange.hold();
        if self.held.waits_for().is_some_and(|(_, since)| since.elapsed() >= longest) {
            self.release_held();
        }
        if self.sent.elapsed() >= PING && self.out.is_empty() {
            self.out.extend_from_slice(self.exchange.wire.ping.as_bytes());
        }
    }

    /// Takes in what came.
    fn take(&mut self, data: &[u8]) {
        if let Some(tape) = &mut self.tape {
            tape.take(data);
        }
        if self.is_blind {
            return self.out.extend_from_slice(data);
        }
        self.events.push(data);
        while let Some(event) = self.events.next() {
            if let Some(stop) = self.event(event) {
                return self.ask_again(stop);
            }
        }
        self.let_out();
        if self.held.bytes() > MAX_HELD || self.events.pending() > MAX_HELD {
            self.fail("too much is held");
        }
    }

    /// An event of the answer.
    fn event(&mut self, event: Event) -> Option<Stop> {
        self.exchange.proxy.metrics.events.add(1);
        let values = event.values();
        let mut steps = Vec::new();
        let waits = values.iter().map(|value| self.reader.read(value, &mut steps)).max();
        let waits = waits.unwrap_or_default();
        // What came before goes by what was known before: a match that is found next may have begun in it.
        self.let_out();
        let (texts, hits) = self.watch(steps, waits);
        let stop = if hits.is_empty() { None } else { self.exchange.judge(&Arc::clone(&self.watch), &hits) };
        if stop.is_none() {
            self.held.push(Item { raw: event.raw, values, waits, texts, at: Instant::now() });
            if waits == Waits::Last {
                self.held.end();
            }
        }
        stop
    }

    /// Feeds the monitor; returns the texts that must be settled, and what was found.
    fn watch(&mut self, steps: Vec<Step>, waits: Waits) -> (Vec<(String, usize)>, Vec<Hit>) {
        let (mut texts, mut hits) = (Vec::new(), Vec::new());
        let watch = Arc::clone(&self.watch);
        let mut monitor = lock(&watch);
        for step in steps {
            match step {
                Step::Feed { kind: Kind::Thinking, .. } if !watch.hears_thinking => {}
                Step::Feed { stream, kind, bytes } => {
                    let stream = self.name(&stream);
                    hits.extend(monitor.feed(&stream, &kind, &bytes));
                    let is_prose = !matches!(kind, Kind::Tool(_));
                    if watch.keeps && kind == Kind::Text && self.said.len() < MAX_SAID {
                        self.said.push_str(&String::from_utf8_lossy(&bytes));
                    }
                    let fed = self.fed.entry(stream.clone()).or_default();
                    *fed += bytes.len();
                    // What waits for more than its text waits for that alone.
                    if is_prose && waits == Waits::Nothing {
                        texts.push((stream, *fed));
                    }
                }
                Step::End { stream } => {
                    let stream = self.name(&stream);
                    hits.extend(monitor.finish(&stream));
                    self.fed.remove(&stream);
                }
            }
        }
        (texts, hits)
    }

    /// The monitor knows the streams of all answers.
    fn name(&self, stream: &str) -> String {
        format!("{}.{}/{stream}", self.exchange.number, self.retries)
    }

    /// Lets out what waits for nothing any more.
    fn let_out(&mut self) {
        let watch = Arc::clone(&self.watch);
        let mut monitor = lock(&watch);
        let Stream { held, let_go, .. } = self;
        let mut settled = |stream: &str, end: usize| {
            let_go.get(stream).is_some_and(|free| *free >= end) || monitor.settled(stream) >= end
        };
        let items = held.take(&mut settled);
        drop(monitor);
        items.into_iter().for_each(|item| self.send(item));
        let (most, _) = self.exchange.hold();
        let is_long = self.held.waits_for().is_some_and(|(texts, _)| {
            texts
                .iter()
                .any(|(stream, end)| self.fed.get(stream).is_some_and(|fed| fed.saturating_sub(*end) >= most))
        });
        if is_long || self.held.waits_for().is_some() && self.held.bytes() >= most.saturating_mul(64) {
            self.release_held();
        }
    }

    fn send(&mut self, item: Item) {
        if self.retries == 0 {
            self.out.extend_from_slice(&item.raw);
            item.values.iter().for_each(|value| self.splice.went(value));
            return;
        }
        if item.values.is_empty() {
            return self.out.extend_from_slice(&item.raw);
        }
        let written: Vec<Value> = item.values.into_iter().filter_map(|value| self.rewritten(value)).collect();
        written.iter().for_each(|value| self.out.extend_from_slice(&Event::of(value).raw));
    }

    fn rewritten(&mut self, value: Value) -> Option<Value> {
        let own = value["response"]["id"].as_str().map(str::to_owned);
        let written = self.splice.rewrite(value)?;
        if let (Some(own), Some(known)) = (own, written["response"]["id"].as_str()) {
            self.exchange.alias(known, &own);
        }
        Some(written)
    }

    /// A match that stays possible for long holds no longer.
    fn release_held(&mut self) {
        let Some((texts, _)) = self.held.waits_for() else { return };
        let streams: Vec<String> = texts.iter().map(|(stream, _)| stream.clone()).collect();
        for stream in streams {
            let fed = self.fed.get(&stream).copied().unwrap_or(usize::MAX);
            if self.let_go.insert(stream.clone(), fed).is_none() {
                self.exchange.released(&self.watch, &stream);
            }
        }
        self.let_out();
    }

    /// The answer is over; what only its end could decide is decided.
    fn over(&mut self, from: From) {
        self.from = from;
        let rest = self.events.rest();
        let stop = rest.and_then(|rest| self.event(rest));
        let mut steps = Vec::new();
        self.reader.end(&mut steps);
        let (_, hits) = self.watch(steps, Waits::End);
        let stop = stop.or_else(|| self.exchange.judge(&Arc::clone(&self.watch), &hits));
        match stop {
            Some(stop) if !matches!(self.from, From::Broken(_)) => self.ask_again(stop),
            // What was to be stopped is not shown where nobody can be asked again.
            Some(stop) => self.exchange.settle(&stop, false),
            None => {
                self.held.end();
                self.let_out();
            }
        }
    }

    /// Stops the answer and asks the model again.
    fn ask_again(&mut self, stop: Stop) {
        let asking = self.exchange.repeat(&stop, &self.said);
        self.forget();
        self.held.clear();
        self.events = Events::default();
        self.reader = Reader::default();
        self.said.clear();
        self.retries += 1;
        self.from = From::Asking(asking, Box::new(stop));
    }

    /// The model's server answered the second time.
    async fn answered(&mut self, answered: Result<Response<Incoming>, Error>) {
        let From::Asking(_, stop) = std::mem::replace(&mut self.from, From::Nothing) else { return };
        let is_stream = |response: &Response<Incoming>| {
            let kind = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
            response.status() == StatusCode::OK
                && kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
        };
        let error = match answered {
            Ok(response) if is_stream(&response) => {
                self.exchange.settle(&stop, true);
                let record = self.exchange.proxy.record.as_ref();
                let (head, body) = response.into_parts();
                self.tape = record
                    .map(|record| record.answer(self.exchange.number, self.exchange.wire, &head.headers));
                for event in self.splice.close() {
                    self.out.extend_from_slice(&Event::of(&event).raw);
                }
                self.from = From::Answer(body);
                return;
            }
            Ok(response) => {
                let status = response.status().as_u16();
                let body = Limited::new(response.into_body(), MAX_ERROR).collect().await;
                let body = body.map(|body| body.to_bytes()).unwrap_or_default();
                serde_json::from_slice(&body)
                    .unwrap_or_else(|_| json!(format!("the model's server answered {status}")))
            }
            Err(error) => json!(super::reply::chain(&*error)),
        };
        self.exchange.settle(&stop, false);
        self.exchange.proxy.log.tell("retry-failed", json!({ "session": self.exchange.session_name() }));
        self.out.extend_from_slice(&Event::of(&(self.exchange.wire.error)(&error)).raw);
    }

    /// Something of ours failed: what comes passes without a look, unless it is to be stopped then.
    fn fail(&mut self, why: &str) {
        let proxy = Arc::clone(&self.exchange.proxy);
        proxy.fail(&format!("{why}: the rest of an answer is not watched"));
        if proxy.fail_closed {
            let error = json!(format!("rulebook proxy: {why}, and nothing passes without rules"));
            self.held.clear();
            self.out.extend_from_slice(&Event::of(&(self.exchange.wire.error)(&error)).raw);
            self.from = From::Nothing;
            return;
        }
        self.is_blind = true;
        self.forget();
        self.held.end();
        self.let_out();
        if let Some(rest) = self.events.rest() {
            self.out.extend_from_slice(&rest.raw);
        }
    }

    fn forget(&mut self) {
        let mut monitor = lock(&self.watch);
        self.fed.drain().for_each(|(stream, _)| monitor.forget(&stream));
        drop(monitor);
        self.let_go.clear();
    }
}

fn lock(watch: &Watch) -> MutexGuard<'_, Monitor> {
    watch.monitor.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What comes before a deadline.
async fn before<T>(deadline: Option<Instant>, coming: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => timeout_at(deadline, coming).await.ok(),
        None => Some(coming.await),
    }
}
