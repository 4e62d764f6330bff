//! The server: connections, and what each request is.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header;
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::coding;
use super::exchange::{Exchange, Prepared, is_main};
use super::log::Log;
use super::metrics::Metrics;
use super::passthrough::{collect, other, pass, pass_whole, passing, rewritten, uncompressed};
use super::record::Record;
use super::reply::{chain, closed, json_answer, plain};
use super::rules::{Rules, Watch};
use super::scribe::Scribe;
use super::session::Sessions;
use super::trim::Trim;
use super::upstream::{Body, Error, Upstream, coming, full};
use super::{answer, reply, stream};
use crate::args::{Args, Proxy as Options};
use crate::surface::wire::{WIRES, Wire, error_body};

/// The paths of the server's own.
const OWN: &str = "/__rulebook/";

/// The server.
pub(super) struct Proxy {
    pub(super) upstream: Upstream,
    pub(super) rules: Rules,
    pub(super) sessions: Sessions,
    pub(super) scribe: Scribe,
    pub(super) metrics: Metrics,
    pub(super) log: Log,
    pub(super) record: Option<Record>,
    pub(super) fail_closed: bool,
    token: Option<String>,
    count: AtomicU64,
}

impl Proxy {
    pub(super) fn new(
        args: Args,
        options: &Options,
        token: Option<String>,
        log: Log,
    ) -> anyhow::Result<Proxy> {
        let mut upstream = Upstream::new(&options.upstream)?;
        if !options.command.is_empty() {
            upstream.learn(|name| std::env::var(name).ok());
        }
        let proxy = Proxy {
            upstream,
            rules: Rules::new(args),
            sessions: Sessions::default(),
            scribe: Scribe::new(),
            metrics: Metrics::default(),
            log,
            record: options.record.as_deref().map(Record::at).transpose()?,
            fail_closed: options.fail_closed,
            token,
            count: AtomicU64::new(0),
        };
        // A root that is not there is told now, not at the first request; and rules that are kept away, before a program has
        // the terminal.
        let book = proxy.rules.now()?;
        let lines: String = proxy.rules.news(&book).into_iter().map(|alert| alert + "\n").collect();
        crate::out::print_aside(&lines);
        Ok(proxy)
    }

    /// A number for a request.
    pub(super) fn next(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// Tells of triggers that took too much work, each once.
    pub(super) fn report_unwatched(&self, watch: &Watch) {
        for condition in self.rules.unwatched(watch) {
            self.log.tell("unwatched", json!({ "condition": condition }));
        }
    }

    /// Something of ours failed.
    pub(super) fn fail(&self, what: &str) {
        self.metrics.failures.add(1);
        self.log.tell("failed", json!({ "what": what }));
    }
}

/// Waits until the process is asked to stop.
pub(super) async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut asked), Ok(mut told)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return std::future::pending().await;
        };
        tokio::select! { _ = asked.recv() => {} _ = told.recv() => {} }
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
}

/// Serves until `stop`, then lets answers end that are under way; a second time of asking ends those too.
pub(super) async fn serve(proxy: &Arc<Proxy>, listener: TcpListener, stop: impl Future<Output = ()>) {
    let (closing, is_closing) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut tide = Trim::default();
    let mut stop = std::pin::pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            Some(_) = connections.join_next() => tide.is_at(connections.len()),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(Arc::clone(proxy), stream, is_closing.clone()));
                    tide.is_at(connections.len());
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

/// A connection costs little until something is said on it: what reads and writes is made with its first byte.
async fn connection(proxy: Arc<Proxy>, stream: TcpStream, mut is_closing: watch::Receiver<bool>) {
    let _ = stream.set_nodelay(true);
    proxy.metrics.connections.add(1);
    let mut first = [0];
    let has_said = tokio::select! {
        seen = stream.peek(&mut first) => matches!(seen, Ok(1)),
        _ = is_closing.wait_for(|closing| *closing) => false,
    };
    if has_said {
        Box::pin(spoken_on(&proxy, stream, is_closing)).await;
    }
    proxy.metrics.connections.sub(1);
}

async fn spoken_on(proxy: &Arc<Proxy>, stream: TcpStream, mut is_closing: watch::Receiver<bool>) {
    let service = service_fn(|request| Box::pin(handle(Arc::clone(proxy), request)));
    let mut connection = std::pin::pin!(
        hyper::server::conn::http1::Builder::new()
            .preserve_header_case(true)
            .auto_date_header(false)
            .serve_connection(TokioIo::new(stream), service)
    );
    // A client that goes away is no fault of ours.
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
    if let Some(refused) = admit(&proxy, &mut head) {
        return Ok(refused);
    }
    let path = head.uri.path().to_owned();
    if let Some(own) = path.strip_prefix(OWN) {
        return Ok(reply::own(&proxy.metrics, own));
    }
    if head.headers.get(header::UPGRADE).is_some_and(|to| to.as_bytes().eq_ignore_ascii_case(b"websocket")) {
        return Ok(plain(StatusCode::UPGRADE_REQUIRED, "ask without an upgrade"));
    }
    let wire = WIRES.iter().find(|wire| head.method == Method::POST && (wire.is_for)(&path));
    let method = head.method.clone();
    let answered = match wire {
        Some(wire) => spoken(&proxy, wire, head, body).await,
        None => other(&proxy, head, body).await,
    };
    let answered = match answered {
        Ok(response) => response,
        Err(error) => {
            proxy.metrics.upstream_errors.add(1);
            let told = chain(&*error);
            proxy.log.tell("unreachable", json!({ "path": path, "error": told }));
            let message = format!("rulebook proxy: the model's server cannot be asked: {told}");
            json_answer(StatusCode::BAD_GATEWAY, &error_body(&message))
        }
    };
    proxy.log.tell(
        "request",
        json!({ "method": method.as_str(), "path": path, "wire": wire.map(|wire| wire.name),
            "status": answered.status().as_u16(), "ms": u64::try_from(started.elapsed().as_millis()).unwrap_or(0) }),
    );
    Ok(answered)
}

/// Lets a request in that knows the token, behind the address or in a header, and takes it out; refuses others.
fn admit(proxy: &Proxy, head: &mut Parts) -> Option<Response<Body>> {
    let token = proxy.token.as_deref()?;
    let refused = || Some(plain(StatusCode::UNAUTHORIZED, "the token is missing"));
    if let Some(value) = head.headers.remove("x-rulebook-token") {
        return if is_same(value.as_bytes(), token.as_bytes()) { None } else { refused() };
    }
    let path = head.uri.path_and_query().map(|path| path.as_str().to_owned()).unwrap_or_default();
    let path = path.strip_prefix('/').unwrap_or_default();
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let rest = format!("/{rest}").parse().ok();
    let Some(rest) = rest.filter(|_| is_same(first.as_bytes(), token.as_bytes())) else { return refused() };
    head.uri = rest;
    None
}

/// Compares without telling by its time how much is the same.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// A request in a wire.
async fn spoken(
    proxy: &Arc<Proxy>,
    wire: &'static Wire,
    head: Parts,
    body: Incoming,
) -> Result<Response<Body>, Error> {
    let looking = Arc::clone(proxy);
    let book = match proxy.rules.known() {
        Some(book) => Ok(book),
        None => tokio::task::spawn_blocking(move || looking.rules.now()).await?,
    };
    for alert in book.iter().flat_map(|book| proxy.rules.news(book)) {
        proxy.log.tell("alert", json!({ "what": alert }));
    }
    let book = match book {
        Ok(book) if book.is_empty() && proxy.record.is_none() => {
            return pass(proxy, Some(wire), head, coming(body)).await;
        }
        Ok(book) => book,
        Err(error) => {
            return match failed(proxy, &format!("{error:#}")) {
                Some(closed) => Ok(closed),
                None => pass(proxy, Some(wire), head, coming(body)).await,
            };
        }
    };
    let read = match collect(body).await? {
        Ok(read) => read,
        Err(large) => {
            return match failed(proxy, "the request is too large to be read") {
                Some(closed) => Ok(closed),
                None => pass(proxy, Some(wire), head, large).await,
            };
        }
    };
    let raw = read.clone();
    let coding =
        head.headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let preparing = Arc::clone(proxy);
    // Reading a conversation and asking for rules take time and files; streams go on meanwhile.
    let prepared = tokio::task::spawn_blocking(move || {
        let Some(Ok(body)) = coding::decoded(coding.as_deref(), &raw) else {
            return Read::Unreadable(head);
        };
        let text = std::str::from_utf8(&body).ok();
        let request = text.and_then(|text| wire.request(head.uri.path(), text));
        let Some(request) = request.filter(is_main) else { return Read::Other(head) };
        let exchange = Exchange::new(&preparing, wire, head, body, request, book);
        let prepared = exchange.prepare();
        Read::Main(Box::new(exchange), prepared)
    });
    let (head, why) = match prepared.await? {
        Read::Main(exchange, Ok(prepared)) => return ask(*exchange, prepared, read).await,
        Read::Other(head) => return pass_whole(proxy, Some(wire), head, read).await,
        Read::Unreadable(head) => (head, "the request's coding cannot be read".to_owned()),
        Read::Main(exchange, Err(error)) => (exchange.head, error),
    };
    match failed(proxy, &why) {
        Some(closed) => Ok(closed),
        None => pass_whole(proxy, Some(wire), head, read).await,
    }
}

/// What a request turned out to be.
enum Read {
    /// An agent's, with what is to be sent.
    Main(Box<Exchange>, Result<Prepared, String>),
    /// None of an agent's conversation.
    Other(Parts),
    Unreadable(Parts),
}

/// Sends what was prepared, and watches the answer.
async fn ask(exchange: Exchange, prepared: Prepared, raw: Bytes) -> Result<Response<Body>, Error> {
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
    let Some(watch) = watch.filter(|_| response.status() == StatusCode::OK) else {
        return Ok(passing(&proxy, Some(exchange.wire), exchange.number, response));
    };
    let kind = response
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let is_coded = response.headers().contains_key(header::CONTENT_ENCODING);
    match kind.split(';').next().unwrap_or_default().trim() {
        "text/event-stream" if !is_coded => Ok(stream::watched(exchange, watch, response)),
        "application/json" if !is_coded => answer::watched(exchange, watch, response).await,
        _ => {
            proxy.fail("the answer cannot be read and is not watched");
            Ok(match proxy.fail_closed {
                true => closed("the answer cannot be read"),
                false => passing(&proxy, Some(exchange.wire), exchange.number, response),
            })
        }
    }
}

/// Something of ours failed: the answer where nothing passes then.
fn failed(proxy: &Proxy, why: &str) -> Option<Response<Body>> {
    proxy.fail(why);
    proxy.fail_closed.then(|| closed(why))
}
