//! Responses that are not streamed: checked whole, and requested again if a rule stops them.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::Response;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use rulebook::session::{Interrupt, JudgedCalls};
use serde_json::Value;

use super::exchange::Exchange;
use super::monitor_feed::MonitorFeed;
use super::reply::{closed, failed};
use super::rules::Watch;
use super::stream::wait;
use super::upstream::{Body, Error, full, strip};
use crate::surface::wire::{Failure, Json, Step, Waits, add_usage};

/// The largest response that is read.
const MAX_ANSWER: usize = 64 << 20;

/// Returns the first response that breaks no rule, or the last one.
pub(super) async fn watched(
    exchange: Exchange,
    watch: Arc<Watch>,
    response: Response<Incoming>,
) -> Result<Response<Body>, Error> {
    let mut spent = Value::Null;
    let mut coming = response;
    let mut asked: Option<Interrupt> = None;
    let mut refusals = 0;
    loop {
        let (mut head, body) = coming.into_parts();
        strip(&mut head.headers);
        let body = Limited::new(body, MAX_ANSWER).collect().await?.to_bytes();
        if let Some(record) = &exchange.proxy.record {
            record.response(exchange.number, Some(exchange.wire), &head.headers).add(&body);
        }
        match asked.take() {
            Some(stop) if head.status.is_success() => exchange.sent(&stop),
            Some(stop) => exchange.rejected(&stop),
            None => {}
        }
        let Some(answer) = Json::read(&body) else {
            if head.status.is_success() {
                exchange.proxy.fail("the answer is not JSON and is not watched");
                if exchange.proxy.fail_closed {
                    return Ok(closed(exchange.wire, "the answer cannot be read"));
                }
            }
            return Ok(Response::from_parts(head, full(body)));
        };
        let mut passed = JudgedCalls::default();
        let is_answer = head.status.is_success();
        let (steps, is_plain) = exchange.wire.steps(&answer);
        if is_answer && !is_plain && exchange.proxy.misread("an answer") {
            return Ok(closed(exchange.wire, "the answer cannot be read"));
        }
        let stop = if is_answer { judge(&exchange, &watch, steps, &mut passed) } else { None };
        let Some(stop) = stop else {
            if let Some(written) = exchange.passed(&mut passed) {
                wait(written).await;
            }
            let body = if spent.is_null() { body } else { summed(&exchange, &answer, &spent) };
            if head.headers.contains_key(header::CONTENT_LENGTH) {
                head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
            }
            return Ok(Response::from_parts(head, full(body)));
        };
        if let Some(why) = exchange.insists(&stop, &mut refusals) {
            return Ok(failed(exchange.wire, Failure::Unavailable, &why));
        }
        add_usage(&mut spent, &Value::from(&answer[exchange.wire.usage]));
        coming = match exchange.repeat(&stop, "").await {
            Ok(response) => response,
            Err(error) => {
                exchange.dropped(&stop);
                return Err(error);
            }
        };
        asked = Some(stop);
    }
}

/// Returns the interrupt of a response that breaks a rule.
fn judge(
    exchange: &Exchange,
    watch: &Arc<Watch>,
    steps: Vec<Step>,
    passed: &mut JudgedCalls,
) -> Option<Interrupt> {
    let mut feed = MonitorFeed::new(Arc::clone(watch), format!("{}/", exchange.number));
    let (_, hits) = feed.take(steps, Waits::End);
    exchange.judge(watch, &hits).or_else(|| match feed.has_calls() {
        true => exchange.judge_calls(watch, feed.take_calls(), passed),
        false => exchange.judge_stop(watch, passed),
    })
}

fn summed(exchange: &Exchange, answer: &Json<'_>, spent: &Value) -> Bytes {
    let mut answer = Value::from(answer);
    add_usage(&mut answer[exchange.wire.usage], spent);
    answer.to_string().into()
}
