//! The server: connections, and which requests are conversations.

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::passthrough::other;
use super::reply::{chain, plain};
use super::shared::Proxy;
use super::trim::{self, Trim};
use super::upstream::{Body, Error, ROUTE, Route};
use super::{conversation, reply};
use crate::surface::wire::{Failure, WIRES, wire_at};

/// The paths that the server answers itself.
const OWN: &str = "/__rulebook/";

/// Waits until the process is asked to stop.
pub(super) async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupted), Ok(mut terminated)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return std::future::pending().await;
        };
        tokio::select! { _ = interrupted.recv() => {} _ = terminated.recv() => {} }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
}

/// Serves until `stop`, then finishes the responses under way; a second request to stop ends those too.
pub(super) async fn serve(proxy: &Arc<Proxy>, listener: TcpListener, stop: impl Future<Output = ()>) {
    let (closing, is_closing) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut trim = Trim::default();
    let mut stop = std::pin::pin!(stop);
    let mut looks = tokio::time::interval(Trim::QUIET);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = &mut stop => break,
            _ = looks.tick() => {
                if trim.look(proxy.metrics.requests.get(), proxy.metrics.streams.get()) {
                    let quiet = Arc::clone(proxy);
                    proxy.scribe.write(move || {
                        quiet.conversations.rest();
                        trim::trim();
                    });
                }
            }
            Some(_) = connections.join_next() => trim.is_at(connections.len()),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(Arc::clone(proxy), stream, is_closing.clone()));
                    trim.is_at(connections.len());
                }
                // Too many files are open: some will be closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
    drop(listener);
    let _ = closing.send(true);
    let all = async { while connections.join_next().await.is_some() {} };
    tokio::select! { () = all => {} () = stopped() => {} }
}

/// Serves a connection. It costs little until its first byte: buffers are created then.
async fn connection(proxy: Arc<Proxy>, stream: TcpStream, mut is_closing: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    proxy.metrics.connections.add(1);
    let mut first = [0];
    let is_used = tokio::select! {
        seen = stream.peek(&mut first) => matches!(seen, Ok(1)),
        _ = is_closing.wait_for(|closing| *closing) => false,
    };
    if is_used {
        Box::pin(used_connection(&proxy, stream, is_closing)).await;
    }
    proxy.metrics.connections.sub(1);
}

async fn used_connection(proxy: &Arc<Proxy>, stream: TcpStream, mut is_closing: watch::Receiver<bool>) {
    let service = service_fn(|request| Box::pin(handle(Arc::clone(proxy), request)));
    let mut connection = std::pin::pin!(
        hyper::server::conn::http1::Builder::new()
            .preserve_header_case(true)
            .auto_date_header(false)
            .serve_connection(TokioIo::new(stream), service)
    );
    // A client that disconnects is not an error.
    let _ = tokio::select! {
        ended = connection.as_mut() => ended,
        () = async { drop(is_closing.wait_for(|closing| *closing).await) } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}

async fn handle(proxy: Arc<Proxy>, request: Request<Incoming>) -> Result<Response<Body>, Error> {
    let started = Instant::now();
    proxy.metrics.requests.add(1);
    let (mut head, body) = request.into_parts();
    if let Err((failure, why)) = admit(&proxy, &mut head) {
        let path = plain_path(head.uri.path());
        let wire = wire_at(&path, |name| head.headers.contains_key(name));
        return Ok(reply::failed(wire, failure, &format!("rulebook proxy: {why}")));
    }
    routed(&mut head);
    let path = head.uri.path().to_owned();
    if let Some(own) = path.strip_prefix(OWN) {
        return Ok(reply::own(&proxy.metrics, own));
    }
    if head.headers.get(header::UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket")) {
        return Ok(plain(StatusCode::UPGRADE_REQUIRED, "ask without an upgrade"));
    }
    let known = plain_path(&path);
    let wire = WIRES.iter().find(|wire| head.method == Method::POST && (wire.is_for)(&known));
    let method = head.method.clone();
    let shape = wire_at(&known, |name| head.headers.contains_key(name));
    let answered = match wire {
        Some(wire) => conversation::respond(&proxy, wire, head, body).await,
        None => other(&proxy, head, body).await,
    };
    let answered = answered.unwrap_or_else(|error| {
        proxy.metrics.upstream_errors.add(1);
        let error = chain(&*error);
        const HELP: &str = "set the model's server with `--upstream`";
        proxy.log.report("unreachable", json!({ "path": path, "error": error, "help": HELP }));
        let message = format!("rulebook proxy: the model's server cannot be reached: {error}; {HELP}");
        reply::failed(shape, Failure::Unavailable, &message)
    });
    proxy.log.report(
        "request",
        json!({ "method": method.as_str(), "path": path, "wire": wire.map(|wire| wire.name),
            "status": answered.status().as_u16(), "ms": u64::try_from(started.elapsed().as_millis()).unwrap_or(0) }),
    );
    Ok(answered)
}

/// Admits a request that has the token, in its path or a header, and removes it. Without a token, requests must be for this
/// machine, and not from a web page of another: its name may resolve to this address. Says why any other is refused.
fn admit(proxy: &Proxy, head: &mut Parts) -> Result<(), (Failure, &'static str)> {
    let given = head.headers.remove(TOKEN);
    let Some(token) = proxy.token.as_deref() else {
        let why = "only local clients are served; start the proxy with `--token` for others";
        return is_local(head).then_some(()).ok_or((Failure::Forbidden, why));
    };
    let mut is_known = given.as_ref().is_some_and(|given| is_same(given.as_bytes(), token.as_bytes()));
    while let Some(rest) = without_token(&head.uri, token) {
        is_known |= given.is_none();
        head.uri = rest;
    }
    head.uri = without_secret(&head.uri, token).unwrap_or_else(|| head.uri.clone());
    // It names the address with the token.
    head.headers.remove(header::REFERER);
    is_known.then_some(()).ok_or((Failure::NoToken, "the token is missing"))
}

/// The header with the token.
const TOKEN: &str = "x-rulebook-token";

/// Returns an address without the token at the beginning of its path, if it has one. An address that ends in `/` leads to a
/// path that starts with two.
fn without_token(uri: &Uri, token: &str) -> Option<Uri> {
    let path = uri.path_and_query()?.as_str().trim_start_matches('/');
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    if is_same(first.as_bytes(), token.as_bytes()) { format!("/{rest}").parse().ok() } else { None }
}

/// The shortest token that is a secret: it is removed wherever it is repeated.
pub(super) const MIN_SECRET: usize = 16;

/// Returns an address without a token that its path or query repeats, if one does.
fn without_secret(uri: &Uri, token: &str) -> Option<Uri> {
    let path = uri.path_and_query()?.as_str();
    let has_secret = token.len() >= MIN_SECRET && path.contains(token);
    has_secret.then(|| path.replace(token, "").parse().ok()).flatten()
}

/// Whether a request names this machine as its host, and as its origin if it has one.
fn is_local(head: &Parts) -> bool {
    let is_name = |host: &str| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let is_host = |value: &HeaderValue| {
        let host = value.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
        // `Authority` accepts a user before an `@`, which no client writes here.
        host.is_some_and(|host| !host.as_str().contains('@') && is_name(host.host()))
    };
    // Browsers say where a request comes from even if it has no origin.
    let is_own_site = |value: &HeaderValue| matches!(value.as_bytes(), b"none" | b"same-origin");
    let is_origin = |value: &HeaderValue| {
        let uri = value.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
        uri.is_some_and(|uri| uri.scheme().is_some() && uri.host().is_some_and(is_name))
    };
    let is_plain = |authority: &Authority| !authority.as_str().contains('@');
    head.uri.authority().is_none_or(is_plain)
        && head.uri.host().is_none_or(is_name)
        && head.headers.get_all("sec-fetch-site").iter().all(is_own_site)
        && head.headers.get_all(header::HOST).iter().all(is_host)
        && head.headers.get_all(header::ORIGIN).iter().all(is_origin)
}

/// Returns a path as servers understand it: without escapes, and without slashes at its end.
fn plain_path(path: &str) -> String {
    let mut plain = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        let escaped = (byte == b'%').then(|| Some(hex(0)? << 4 | hex(1)?)).flatten();
        let escaped = escaped.and_then(|byte| u8::try_from(byte).ok());
        plain.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&plain).trim_end_matches('/').to_owned()
}

/// Takes the number of a server out of a path.
fn routed(head: &mut Parts) {
    let path = head.uri.path_and_query().map(|path| path.as_str().to_owned()).unwrap_or_default();
    let Some((number, rest)) = path.strip_prefix(ROUTE).and_then(|rest| rest.split_once('/')) else { return };
    if let (Ok(number), Ok(rest)) = (number.parse(), format!("/{rest}").parse()) {
        head.uri = rest;
        head.extensions.insert(Route(number));
    }
}

/// Compares in constant time, so that nobody can guess a token byte by byte.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}
