//! Requests and responses that pass through unchanged; recorded if asked for.

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, TryStreamExt as _};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::Response;
use hyper::body::{Frame, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;

use super::shared::Proxy;
use super::upstream::{Body, Error, coming, full, strip};
use crate::surface::wire::Wire;

/// A larger request passes unread.
const MAX_REQUEST: usize = 128 << 20;

/// Returns the whole body, or the body as it arrives if it is too large.
pub(super) async fn collect(mut body: Incoming) -> Result<Result<Bytes, Body>, Error> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            whole.extend_from_slice(&data);
        }
        if whole.len() > MAX_REQUEST {
            let read = futures_util::stream::iter([Ok(Frame::data(whole.freeze()))]);
            let rest = body.map_err(Error::from).into_data_stream().map_ok(Frame::data);
            return Ok(Err(StreamBody::new(read.chain(rest)).boxed_unsync()));
        }
    }
    Ok(Ok(whole.freeze()))
}

/// Passes a request that is no conversation; it is read only to record it.
pub(super) async fn other(proxy: &Proxy, head: Parts, body: Incoming) -> Result<Response<Body>, Error> {
    if proxy.record.is_none() {
        return pass(proxy, None, head, coming(body)).await;
    }
    match collect(body).await? {
        Ok(read) => pass_whole(proxy, None, head, read).await,
        Err(large) => pass(proxy, None, head, large).await,
    }
}

/// Passes a request as it arrives, and its response.
pub(super) async fn pass(
    proxy: &Proxy,
    wire: Option<&Wire>,
    head: Parts,
    body: Body,
) -> Result<Response<Body>, Error> {
    Ok(passed(proxy.upstream.ask(wire, head, body).await?))
}

/// Passes a request that was read, and its response, and records both if asked for.
pub(super) async fn pass_whole(
    proxy: &Proxy,
    wire: Option<&Wire>,
    head: Parts,
    body: Bytes,
) -> Result<Response<Body>, Error> {
    let number = proxy.next_number();
    if let Some(record) = &proxy.record {
        record.request(number, wire, &head, &body);
    }
    let response = proxy.upstream.ask(wire, head, full(body)).await?;
    Ok(passing(proxy, wire, number, response))
}

fn passed(response: Response<Incoming>) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    strip(&mut head.headers);
    Response::from_parts(head, coming(body))
}

/// Passes a response and records it if asked for.
pub(super) fn passing(
    proxy: &Proxy,
    wire: Option<&Wire>,
    number: u64,
    response: Response<Incoming>,
) -> Response<Body> {
    let Some(record) = &proxy.record else { return passed(response) };
    let mut tape = record.response(number, wire, response.headers());
    let (mut head, body) = response.into_parts();
    strip(&mut head.headers);
    let body = body.map_frame(move |frame| {
        if let Some(data) = frame.data_ref() {
            tape.add(data);
        }
        frame
    });
    Response::from_parts(head, body.map_err(Error::from).boxed_unsync())
}

/// Adapts the head of a request to another body.
pub(super) fn rewritten(head: &mut Parts, len: usize) {
    head.headers.remove(header::CONTENT_ENCODING);
    head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(len));
}

/// Asks for a response without compression: it must be readable to be watched.
pub(super) fn uncompressed(head: &mut Parts) {
    if head.headers.contains_key(header::ACCEPT_ENCODING) {
        head.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
}
