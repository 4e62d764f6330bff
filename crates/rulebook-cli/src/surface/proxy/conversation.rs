//! A request of a wire: read, given its rules, sent, and its response watched.

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Response, header};
use serde_json::json;

use super::exchange::{Exchange, Prepared};
use super::passthrough::{collect, pass, pass_whole, passing, rewritten, uncompressed};
use super::reply::closed;
use super::rules::Book;
use super::shared::Proxy;
use super::upstream::{Body, Error, coming, full, plain_type};
use super::{answer, coding, stream};
use crate::surface::wire::Wire;

/// Answers a request of a wire.
pub(super) async fn respond(
    proxy: &Arc<Proxy>,
    wire: &'static Wire,
    head: Parts,
    body: Incoming,
) -> Result<Response<Body>, Error> {
    let agent = proxy.agent(&head.headers);
    let book = match proxy.rules.known(agent) {
        Some(book) => Ok(book),
        None => {
            let proxy = Arc::clone(proxy);
            tokio::task::spawn_blocking(move || proxy.rules.now(agent)).await?
        }
    };
    for alert in book.iter().flat_map(|book| proxy.rules.news(book)) {
        proxy.log.report("alert", json!({ "what": alert }));
    }
    let book = match book {
        Ok(book) if book.is_empty() && proxy.record.is_none() => {
            return pass(proxy, Some(wire), head, coming(body)).await;
        }
        Ok(book) => book,
        Err(error) => {
            return match failed(proxy, wire, &format!("{error:#}")) {
                Some(closed) => Ok(closed),
                None => pass(proxy, Some(wire), head, coming(body)).await,
            };
        }
    };
    // Before the body is read: what waits takes no memory.
    proxy.scribe.has_room().await;
    let raw = match collect(body).await? {
        Ok(raw) => raw,
        Err(large) => {
            return match failed(proxy, wire, "the request is too large to be read") {
                Some(closed) => Ok(closed),
                None => pass(proxy, Some(wire), head, large).await,
            };
        }
    };
    let outcome = {
        // On another thread: streams continue meanwhile, and requests that arrive together are prepared beside them.
        let (proxy, raw) = (Arc::clone(proxy), raw.clone());
        tokio::task::spawn_blocking(move || prepare(&proxy, wire, book, head, &raw)).await?
    };
    match outcome {
        Outcome::Main(exchange, prepared) => send(*exchange, prepared, raw).await,
        Outcome::Side(head) => pass_whole(proxy, Some(wire), head, raw).await,
        Outcome::Unreadable(head, why) => match failed(proxy, wire, why) {
            Some(closed) => Ok(closed),
            None => pass_whole(proxy, Some(wire), head, raw).await,
        },
    }
}

/// What a request turned out to be.
enum Outcome {
    /// Part of an agent's conversation, and what to send.
    Main(Box<Exchange>, Prepared),
    /// Something that an agent asks beside its conversation.
    Side(Parts),
    /// Something that cannot be read, and why.
    Unreadable(Parts, &'static str),
}

fn prepare(proxy: &Arc<Proxy>, wire: &'static Wire, book: Arc<Book>, head: Parts, raw: &Bytes) -> Outcome {
    let mut room = proxy.room.take();
    let Some(Ok(body)) = coding::decoded(coding_of(&head.headers), raw, &mut room) else {
        return Outcome::Unreadable(
            head,
            "the request's coding cannot be read, or too many compressed requests are open",
        );
    };
    let Some(request) = wire.request(head.uri.path(), &body) else {
        return Outcome::Unreadable(
            head,
            "the request is not valid for this API, so no rules are added to it",
        );
    };
    if !proxy.is_main(&head.headers, &request) {
        return Outcome::Side(head);
    }
    let exchange = Exchange::new(proxy, wire, head, (body, room), request, book);
    let prepared = exchange.prepare();
    Outcome::Main(Box::new(exchange), prepared)
}

fn coding_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok())
}

/// Sends what was prepared, and watches the response.
async fn send(exchange: Exchange, prepared: Prepared, raw: Bytes) -> Result<Response<Body>, Error> {
    let Prepared { body, watch } = prepared;
    let proxy = Arc::clone(&exchange.proxy);
    let mut head = exchange.head.clone();
    if let Some(body) = &body {
        rewritten(&mut head, body.len());
    }
    if watch.is_some() {
        uncompressed(&mut head);
    }
    let sent = body.unwrap_or(raw);
    if let Some(record) = &proxy.record {
        record.request(exchange.number, Some(exchange.wire), &head, &sent);
    }
    let response = proxy.upstream.ask(Some(exchange.wire), head, full(sent)).await?;
    if response.status().is_success() {
        exchange.reached();
    }
    let Some(watch) = watch.filter(|_| response.status().is_success()) else {
        return Ok(passing(&proxy, Some(exchange.wire), exchange.number, response));
    };
    match plain_type(response.headers()).as_deref() {
        Some("text/event-stream") => Ok(stream::watched(exchange, watch, response)),
        Some("application/json") => answer::watched(exchange, watch, response).await,
        _ => {
            proxy.fail("the answer cannot be read and is not watched");
            Ok(match proxy.fail_closed {
                true => closed(exchange.wire, "the answer cannot be read"),
                false => passing(&proxy, Some(exchange.wire), exchange.number, response),
            })
        }
    }
}

/// Reports a failure of this server; returns the response if nothing may pass then.
fn failed(proxy: &Proxy, wire: &Wire, why: &str) -> Option<Response<Body>> {
    proxy.fail(why);
    proxy.fail_closed.then(|| closed(wire, why))
}
