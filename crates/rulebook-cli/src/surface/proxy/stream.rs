//! Answers in events: what is clean goes to the client at once; what is not is never seen, and asked for again.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt as _, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Response, StatusCode, header};
use rulebook::stream::Hit;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::exchange::{Exchange, Stop};
use super::hold_queue::{HoldQueue, Item, Text};
use super::monitor_feed::MonitorFeed;
use super::record::Tape;
use super::rules::Watch;
use super::upstream::{Body, Error, strip};
use crate::surface::wire::{Event, Events, Reader, Splice, Waits};

/// How long a client is kept without a byte.
const PING: Duration = Duration::from_secs(10);

/// More than this is not held, and of a single event not read.
const MAX_HELD: usize = 32 << 20;

/// An error that is told in the middle of an answer is no longer than this.
const MAX_ERROR: usize = 64 << 10;

/// The answer of a model, watched on its way to the client.
struct Stream {
    exchange: Exchange,
    heard: MonitorFeed,
    from: From,
    events: Events,
    reader: Reader,
    held: HoldQueue,
    splice: Box<dyn Splice>,
    /// How often the model was asked again.
    retries: u32,
    /// Whether events are written anew: they are another answer's, or are counted and one was cut.
    is_rewritten: bool,
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
        tape: tape.map(|record| record.answer(exchange.number, Some(exchange.wire), &head.headers)),
        splice: (exchange.wire.splice)(),
        heard: MonitorFeed::new(watch, format!("{}.0/", exchange.number)),
        exchange,
        from: From::Answer(body),
        events: Events::default(),
        reader: Reader::default(),
        held: HoldQueue::default(),
        retries: 0,
        is_rewritten: false,
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
        let (_, longest) = self.exchange.hold(&self.heard.watch);
        let release = self.held.waits_for().map(|(_, since)| since + longest);
        ping.into_iter().chain(release).min()
    }

    fn late(&mut self) {
        let (_, longest) = self.exchange.hold(&self.heard.watch);
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
        let (texts, hits) = self.heard.take(steps, waits);
        let stop = self.judge(&hits);
        if stop.is_none() {
            self.held.push(Item { event, values, waits, texts, at: Instant::now() });
            if waits == Waits::Last {
                self.held.end();
            }
            // Before the next is looked at: a match that is found there may have begun here.
            self.let_out();
        }
        stop
    }

    fn judge(&self, hits: &[Hit]) -> Option<Stop> {
        if hits.is_empty() { None } else { self.exchange.judge(&self.heard.watch, hits) }
    }

    /// Lets out what waits for nothing any more.
    fn let_out(&mut self) {
        let mut settled = self.heard.settled();
        let mut items = self.held.take(|stream| settled.of(stream));
        let first = self.held.take_beginning(self.exchange.wire, |stream| settled.of(stream));
        drop(settled);
        let is_counted = |item: &Item| item.values.iter().any(|value| value["sequence_number"].is_u64());
        self.is_rewritten |= first.iter().any(is_counted);
        items.extend(first);
        items.into_iter().for_each(|item| self.send(item));
        let (most, _) = self.exchange.hold(&self.heard.watch);
        let Some((texts, _)) = self.held.waits_for() else { return };
        if self.heard.is_much(texts, most) || self.held.bytes() >= most.saturating_mul(64) {
            self.release_held();
        }
    }

    fn send(&mut self, item: Item) {
        if !self.is_rewritten {
            self.out.extend_from_slice(&item.event.raw);
            item.values.iter().for_each(|value| self.splice.went(value));
            return;
        }
        if item.values.is_empty() {
            return self.out.extend_from_slice(&item.event.raw);
        }
        let written: Vec<Value> = item.values.into_iter().filter_map(|value| self.rewritten(value)).collect();
        written.iter().for_each(|value| self.out.extend_from_slice(&Event::of(value).raw));
    }

    fn rewritten(&mut self, value: Value) -> Option<Value> {
        let own = value["response"]["id"].as_str().map(str::to_owned);
        let written = self.splice.rewrite(value)?;
        if let (Some(own), Some(known)) = (own, written["response"]["id"].as_str())
            && own != known
        {
            self.exchange.alias(known, &own);
        }
        Some(written)
    }

    /// A match that stays possible for long holds no longer.
    fn release_held(&mut self) {
        let Some((texts, _)) = self.held.waits_for() else { return };
        let streams: Vec<String> = texts.iter().map(|Text { stream, .. }| stream.clone()).collect();
        for stream in streams {
            if self.heard.let_go(&stream) {
                self.exchange.released(&self.heard.watch, &stream);
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
        let (_, hits) = self.heard.take(steps, Waits::End);
        let stop = stop.or_else(|| self.judge(&hits));
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
        let asking = self.exchange.repeat(&stop, &self.heard.said);
        self.retries += 1;
        self.is_rewritten = true;
        let name = format!("{}.{}/", self.exchange.number, self.retries);
        self.heard = MonitorFeed::new(Arc::clone(&self.heard.watch), name);
        self.held.clear();
        self.events = Events::default();
        self.reader = Reader::default();
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
                self.tape = record.map(|record| {
                    record.answer(self.exchange.number, Some(self.exchange.wire), &head.headers)
                });
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
        self.heard.forget();
        self.held.end();
        self.let_out();
        if let Some(rest) = self.events.rest() {
            self.out.extend_from_slice(&rest.raw);
        }
    }
}

/// What comes before a deadline.
async fn before<T>(deadline: Option<Instant>, coming: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => timeout_at(deadline, coming).await.ok(),
        None => Some(coming.await),
    }
}
