//! Streamed responses: what is settled goes to the client at once; what breaks a rule is never sent, and the model is asked
//! again.

mod retry;
mod whole;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::{Response, header};
use rulebook::session::{Interrupt, JudgedCalls};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

pub(super) use retry::wait;

use super::conversations::Written;
use super::exchange::Exchange;
use super::hold_queue::{HoldQueue, Item};
use super::monitor_feed::MonitorFeed;
use super::record::Tape;
use super::rules::Watch;
use super::upstream::{Body, Error, strip};
use crate::surface::wire::{self, Event, Events, Json, Reader, Splice, Waits};

/// How long a client goes without a byte while something is held.
const PING: Duration = Duration::from_secs(10);

/// The most bytes that are held, and the largest event that is read.
const MAX_HELD: usize = 32 << 20;

/// A response of the model, watched on its way to the client.
struct Stream {
    exchange: Exchange,
    feed: MonitorFeed,
    source: Source,
    events: Events,
    reader: Reader,
    queue: HoldQueue,
    splice: Box<dyn Splice>,
    /// How often the model was asked again.
    retries: u32,
    refusals: u32,
    /// What the calls lead to once the client gets them, and what waits for it to be recorded.
    passed: JudgedCalls,
    written: Option<Written>,
    /// Whether the client is to run a call, and whether the end of the answer was judged.
    has_calls: bool,
    is_judged: bool,
    /// Whether events are written again: they belong to another response, or are numbered and one was cut.
    is_rewritten: bool,
    /// What goes to the client next, and when the last bytes went.
    out: Vec<Bytes>,
    /// What ends the response after that, each in a chunk by itself.
    last: VecDeque<Bytes>,
    sent: Instant,
    tape: Option<Tape>,
    /// Whether events pass unread because something failed here.
    is_unwatched: bool,
    /// Whether an event could not be read: it is reported once.
    has_unreadable: bool,
    /// Whether the first byte arrived, and the response so far if that byte begins a JSON value in place of events.
    has_begun: bool,
    whole: Option<BytesMut>,
}

/// Where the response comes from.
enum Source {
    Response(Incoming),
    Retry(BoxFuture<'static, Result<Response<Incoming>, Error>>, Box<Interrupt>),
    Ended,
    Broken(Error),
}

/// Returns the response for the client.
pub(super) fn watched(exchange: Exchange, watch: Arc<Watch>, response: Response<Incoming>) -> Response<Body> {
    exchange.proxy.metrics.streams.add(1);
    let (mut head, body) = response.into_parts();
    strip(&mut head.headers);
    head.headers.remove(header::CONTENT_LENGTH);
    let record = exchange.proxy.record.as_ref();
    // Boxed, because every frame moves it.
    let stream = Box::new(Stream {
        tape: record.map(|record| record.response(exchange.number, Some(exchange.wire), &head.headers)),
        splice: (exchange.wire.splice)(),
        feed: MonitorFeed::new(watch, format!("{}.0/", exchange.number)),
        reader: Reader::of_response(exchange.request.has_choices),
        exchange,
        source: Source::Response(body),
        events: Events::default(),
        queue: HoldQueue::default(),
        retries: 0,
        refusals: 0,
        passed: JudgedCalls::default(),
        written: None,
        has_calls: false,
        is_judged: false,
        is_rewritten: false,
        out: Vec::new(),
        last: VecDeque::new(),
        sent: Instant::now(),
        is_unwatched: false,
        has_unreadable: false,
        has_begun: false,
        whole: None,
    });
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
    /// Returns the next bytes for the client.
    async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        loop {
            if let Some(bytes) = self.next_out() {
                if let Some(written) = self.written.take() {
                    wait(written).await;
                }
                self.sent = Instant::now();
                return Some(Ok(bytes));
            }
            let deadline = self.deadline();
            match &mut self.source {
                Source::Ended => return None,
                Source::Broken(_) => {
                    // What was sent before reaches the client before the error does.
                    tokio::task::yield_now().await;
                    let Source::Broken(error) = std::mem::replace(&mut self.source, Source::Ended) else {
                        return None;
                    };
                    return Some(Err(error));
                }
                Source::Response(body) => match before(deadline, body.frame()).await {
                    None => self.late(),
                    Some(Some(Ok(frame))) => {
                        if let Ok(data) = frame.into_data() {
                            self.receive(data);
                        }
                    }
                    Some(Some(Err(error))) => self.end(Source::Broken(error.into())),
                    Some(None) => self.end(Source::Ended),
                },
                Source::Retry(asking, _) => match before(deadline, asking).await {
                    None => self.late(),
                    Some(answered) => self.continue_with(answered).await,
                },
            }
        }
    }

    /// Takes what goes to the client now.
    fn next_out(&mut self) -> Option<Bytes> {
        let is_ended = matches!(self.source, Source::Ended);
        joined(&mut self.out).or_else(|| if is_ended { self.last.pop_front() } else { None })
    }

    /// Returns when something must be done even if nothing arrives.
    fn deadline(&self) -> Option<Instant> {
        let is_waiting = !self.queue.is_empty() || matches!(self.source, Source::Retry(..));
        let release = self.queue.waits_for().map(|(_, since)| since + self.longest_hold());
        is_waiting.then(|| self.sent + PING).into_iter().chain(release).min()
    }

    fn longest_hold(&self) -> Duration {
        self.exchange.hold(&self.feed.watch).1
    }

    fn late(&mut self) {
        let longest = self.longest_hold();
        if self.queue.waits_for().is_some_and(|(_, since)| since.elapsed() >= longest) {
            self.release_held();
        }
        if self.sent.elapsed() >= PING && self.out.is_empty() {
            self.out.push(Bytes::from_static(self.exchange.wire.ping.as_bytes()));
        }
    }

    fn receive(&mut self, data: Bytes) {
        if let Some(tape) = &mut self.tape {
            tape.add(&data);
        }
        if self.is_unwatched {
            return self.out.push(data);
        }
        if self.is_whole(&data) {
            return;
        }
        self.take_events(data);
    }

    fn take_events(&mut self, data: Bytes) {
        self.events.push(data);
        while let Some(event) = self.events.next() {
            if let Some(stop) = self.event(event) {
                return self.ask_again(stop);
            }
        }
        if self.queue.bytes() > MAX_HELD || self.events.pending() > MAX_HELD {
            self.fail("too much is held");
        }
    }

    /// Takes an event of the response; returns why the response must stop, if it must.
    fn event(&mut self, event: Event) -> Option<Interrupt> {
        self.exchange.proxy.metrics.events.add(1);
        let data = event.data();
        let values: Vec<Json<'_>> = data.iter().filter_map(|text| Json::read(text)).collect();
        let is_unreadable =
            values.len() < data.len() && values.len() < data.iter().filter(|text| !is_end_mark(text)).count();
        let (mut steps, mut waits) = (Vec::new(), Waits::Nothing);
        for value in &values {
            waits = waits.max(wire::read(Some(self.exchange.wire), &mut self.reader, value, &mut steps));
        }
        let is_odd = self.reader.take_odd_fields();
        if is_odd || is_unreadable || event.has_other_readings() || event.is_misnamed(&values) {
            let is_first = !std::mem::replace(&mut self.has_unreadable, true);
            if is_first && self.exchange.proxy.misread("an event of an answer") {
                self.block("an event cannot be read");
                return None;
            }
        }
        let (texts, hits) = self.feed.take(steps, waits);
        self.has_calls |= waits == Waits::End;
        let ends = waits == Waits::Last && !values.iter().any(Json::is_failure);
        if let Some(stop) = self.judge(&hits).or_else(|| self.judge_end(ends)) {
            return Some(stop);
        }
        // A client without tools may carry out what the text says: it must not see the beginning of another answer.
        let is_edit = !texts.is_empty() && !self.exchange.request.has_tools;
        let waits = if is_edit { waits.max(Waits::End) } else { waits };
        // Most events wait for nothing.
        if waits == Waits::Nothing
            && self.queue.is_empty()
            && !self.is_rewritten
            && self.feed.is_settled(&texts)
        {
            values.iter().for_each(|value| self.splice.sent(value));
            self.out.push(event.raw);
            return None;
        }
        drop(values);
        drop(data);
        self.queue.push(Item { event, waits, texts, at: Instant::now() });
        if waits == Waits::Last {
            self.queue.end();
        }
        // Before the next event is read: a match that ends there may have begun here.
        self.release_settled();
        None
    }

    /// Sends what waits for nothing any more.
    fn release_settled(&mut self) {
        let mut settled = self.feed.settled();
        let items = self.queue.take(|stream| settled.of(stream));
        let (beginning, is_numbered) =
            self.queue.take_beginning(&self.exchange.wire.deltas, |stream| settled.of(stream));
        drop(settled);
        self.is_rewritten |= is_numbered;
        items.into_iter().chain(beginning).for_each(|item| self.send(item.event));
        let (most, _) = self.exchange.hold(&self.feed.watch);
        let Some((texts, _)) = self.queue.waits_for() else { return };
        // What is beside the text does not shorten how long it is held.
        if self.feed.is_much(texts, most) || self.queue.bytes() >= MAX_HELD / 2 {
            self.release_held();
        }
    }

    fn send(&mut self, event: Event) {
        if !self.is_rewritten {
            for text in event.data() {
                Json::read(&text).iter().for_each(|value| self.splice.sent(value));
            }
            return self.out.push(event.raw);
        }
        let values = event.values();
        if values.is_empty() {
            return self.out.push(event.raw);
        }
        for value in values {
            if let Some(written) = self.splice.rewrite(value) {
                self.write(&written);
            }
            if let Some((client, provider)) = self.splice.renamed() {
                self.exchange.alias(&client, &provider);
            }
        }
    }

    fn write(&mut self, data: &Value) {
        self.out.push(Event::of(data).raw);
    }

    /// Stops holding a text for a match that stayed possible for too long.
    fn release_held(&mut self) {
        let Some((texts, _)) = self.queue.waits_for() else { return };
        let streams: Vec<usize> = texts.iter().map(|text| text.stream).collect();
        for stream in streams {
            if let Some(name) = self.feed.release(stream) {
                self.exchange.released(&self.feed.watch, &name);
            }
        }
        self.release_settled();
    }

    /// Ends the response and decides what only its end could decide.
    fn end(&mut self, source: Source) {
        self.source = source;
        if self.ends_whole() {
            return;
        }
        let rest = self.events.rest();
        let stop = rest.and_then(|rest| self.event(rest));
        let mut steps = Vec::new();
        self.reader.end(&mut steps);
        let (_, hits) = self.feed.take(steps, Waits::End);
        let stop = stop.or_else(|| self.judge(&hits));
        match stop {
            Some(stop) if !matches!(self.source, Source::Broken(_)) => self.ask_again(stop),
            // The connection is broken: what a rule stopped is dropped without a retry.
            Some(stop) => self.exchange.dropped(&stop),
            None => {
                if !self.is_judged {
                    self.written = self.exchange.passed(&mut self.passed);
                }
                self.queue.end();
                self.release_settled();
            }
        }
    }

    /// Passes the rest unread because something failed here, or ends the response if `--fail-closed` asks for that.
    fn fail(&mut self, why: &str) {
        let proxy = Arc::clone(&self.exchange.proxy);
        proxy.fail(&format!("{why}: the rest of an answer is not watched"));
        if proxy.fail_closed {
            return self.block(why);
        }
        self.is_unwatched = true;
        self.feed.forget();
        self.queue.end();
        self.release_settled();
        self.out.extend(self.events.rest().map(|rest| rest.raw));
    }
}

/// Whether the data of an event is not meant to be JSON: empty, or the mark with which OpenAI ends a stream.
fn is_end_mark(data: &[u8]) -> bool {
    matches!(data.trim_ascii(), b"" | b"[DONE]")
}

/// Takes everything that goes to the client now, in one piece.
fn joined(out: &mut Vec<Bytes>) -> Option<Bytes> {
    match out.len() {
        0 | 1 => out.pop(),
        _ => {
            let mut all = BytesMut::with_capacity(out.iter().map(Bytes::len).sum());
            out.drain(..).for_each(|bytes| all.extend_from_slice(&bytes));
            Some(all.freeze())
        }
    }
}

/// Returns what arrives before a deadline.
async fn before<T>(deadline: Option<Instant>, arriving: impl Future<Output = T>) -> Option<T> {
    match deadline {
        Some(deadline) => timeout_at(deadline, arriving).await.ok(),
        None => Some(arriving.await),
    }
}
