//! Responses that must stop: what judges them, and how the model is asked again.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::Response;
use hyper::body::Incoming;
use rulebook::session::{Interrupt, JudgedCalls};
use rulebook::stream::Hit;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::{Source, Stream};
use crate::surface::proxy::conversations::Written;
use crate::surface::proxy::monitor_feed::MonitorFeed;
use crate::surface::proxy::reply::chain;
use crate::surface::proxy::upstream::{Error, plain_type};
use crate::surface::wire::{Event, Events, Reader};

/// The longest error that is passed on in the middle of a response.
const MAX_ERROR: usize = 64 << 10;

impl Stream {
    pub(super) fn judge(&mut self, hits: &[Hit]) -> Option<Interrupt> {
        let (calls, watch) = (self.feed.take_calls(), &self.feed.watch);
        let (exchange, passed) = (&self.exchange, &mut self.passed);
        exchange.judge(watch, hits).or_else(|| exchange.judge_calls(watch, calls, passed))
    }

    /// Judges an answer that ended: without calls, it ends the agent's turn.
    pub(super) fn judge_end(&mut self, ends: bool) -> Option<Interrupt> {
        if !ends || std::mem::replace(&mut self.is_judged, true) {
            return None;
        }
        let stop =
            if self.has_calls { None } else { self.exchange.judge_stop(&self.feed.watch, &mut self.passed) };
        if stop.is_none() {
            self.written = self.exchange.passed(&mut self.passed);
        }
        stop
    }

    /// Stops the response and asks the model again.
    pub(super) fn ask_again(&mut self, stop: Interrupt) {
        if let Some(why) = self.exchange.insists(&stop, &mut self.refusals) {
            return self.end_with(&why);
        }
        self.passed = JudgedCalls::default();
        (self.has_calls, self.is_judged) = (false, false);
        let asking = self.exchange.repeat(&stop, self.feed.output());
        self.retries += 1;
        self.is_rewritten = true;
        let name = format!("{}.{}/", self.exchange.number, self.retries);
        self.feed = MonitorFeed::new(Arc::clone(&self.feed.watch), name);
        self.queue.clear();
        self.events = Events::default();
        self.reader = Reader::of_response(self.exchange.request.has_choices);
        self.source = Source::Retry(asking, Box::new(stop));
    }

    /// Continues with the response to the retry.
    pub(super) async fn continue_with(&mut self, answered: Result<Response<Incoming>, Error>) {
        let Source::Retry(_, stop) = std::mem::replace(&mut self.source, Source::Ended) else { return };
        let is_stream = |response: &Response<Incoming>| {
            response.status().is_success()
                && plain_type(response.headers()).as_deref() == Some("text/event-stream")
        };
        let error = match answered {
            Ok(response) if is_stream(&response) => {
                self.exchange.sent(&stop);
                let record = self.exchange.proxy.record.as_ref();
                let (head, body) = response.into_parts();
                self.tape = record.map(|record| {
                    record.response(self.exchange.number, Some(self.exchange.wire), &head.headers)
                });
                self.splice.close().iter().for_each(|event| self.out.push(Event::of(event).raw));
                self.source = Source::Response(body);
                return;
            }
            Ok(response) => {
                self.exchange.rejected(&stop);
                let status = response.status().as_u16();
                let body = Limited::new(response.into_body(), MAX_ERROR).collect().await;
                let body = body.map(|body| body.to_bytes()).unwrap_or_default();
                serde_json::from_slice(&body)
                    .unwrap_or_else(|_| json!(format!("the model's server answered {status}")))
            }
            Err(error) => {
                self.exchange.dropped(&stop);
                json!(chain(&*error))
            }
        };
        self.exchange.proxy.log.report("retry-failed", json!({ "session": self.exchange.session_name() }));
        self.write_error(&error);
    }

    /// Ends the response with an error, because `--fail-closed` lets nothing pass unwatched.
    pub(super) fn block(&mut self, why: &str) {
        self.end_with(&format!("rulebook proxy: {why}, and nothing passes without rules"));
    }

    /// Ends the response with an error.
    pub(super) fn end_with(&mut self, why: &str) {
        self.queue.clear();
        self.events = Events::default();
        self.write_error(&json!(why));
        self.source = Source::Ended;
    }

    pub(super) fn write_error(&mut self, error: &Value) {
        let error = (self.exchange.wire.error)(error);
        if self.exchange.wire.error_is_chunk {
            self.last.push_back(format!("{error}\n\n").into());
        }
        self.last.extend(self.splice.fail(error).iter().map(|event| Event::of(event).raw));
    }
}

/// Waits until something is written; not for ever.
pub(in crate::surface::proxy) async fn wait(written: Written) {
    const MOST: Duration = Duration::from_secs(1);
    let _ = timeout_at(Instant::now() + MOST, written).await;
}
