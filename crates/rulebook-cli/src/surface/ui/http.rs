//! The part of HTTP/1.1 that the page needs: one request per connection, with limits on everything.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use maud::Markup;
use rulebook::id::{percent_decoded, percent_encoded};
use serde_json::Value;

/// The longest request line and headers together, in bytes.
const MAX_HEAD: usize = 16 << 10;

/// The largest body, in bytes: a form with a rule's id.
const MAX_BODY: usize = 64 << 10;

/// How long a client may take to send its request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Allows only this server's files, and no inline scripts or styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without the query.
    pub(super) path: String,
    pub(super) query: Query,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// A request whose body was not read yet: only one that the guard admits is read further.
pub(super) struct Arriving<'s> {
    pub(super) request: Request,
    reader: BufReader<Timed<'s>>,
}

impl Arriving<'_> {
    /// Reads the rest.
    pub(super) fn whole(mut self) -> Result<Request, Option<Response>> {
        self.request.read_body(&mut self.reader)?;
        Ok(self.request)
    }
}

/// A connection that is read until a deadline, no matter in how many pieces the request arrives.
struct Timed<'s> {
    stream: &'s TcpStream,
    deadline: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}

/// The names and values of a query or a form.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Request {
    /// Reads the head of a request. The error is the response to an invalid one, or `None` if the client disconnected or took
    /// too long.
    pub(super) fn read_head(stream: &TcpStream) -> Result<Arriving<'_>, Option<Response>> {
        let _ = stream.set_write_timeout(Some(TIMEOUT));
        let mut reader = BufReader::new(Timed { stream, deadline: Instant::now() + TIMEOUT });
        let head = read_head(&mut reader)?;
        let request = parse_head(&head).ok_or(Some(Response::plain(400, "bad request")))?;
        Ok(Arriving { request, reader })
    }

    /// Reads the body.
    fn read_body(&mut self, reader: &mut impl Read) -> Result<(), Option<Response>> {
        let length = self.header("content-length").map_or(Some(0), |length| length.trim().parse().ok());
        let length: usize = length.ok_or(Some(Response::plain(400, "bad request")))?;
        if length > MAX_BODY || self.header("transfer-encoding").is_some() {
            return Err(Some(Response::plain(413, "too large")));
        }
        self.body = vec![0; length];
        reader.read_exact(&mut self.body).map_err(|_| None)
    }

    /// Returns the value of a header; `name` is in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the fields of the form in the body.
    pub(super) fn form(&self) -> Query {
        Query::parse(&String::from_utf8_lossy(&self.body))
    }
}

fn read_head(reader: &mut impl BufRead) -> Result<String, Option<Response>> {
    let mut head = Vec::new();
    loop {
        let buffered = reader.fill_buf().map_err(|_| None)?;
        if buffered.is_empty() {
            return Err(None);
        }
        let line = buffered.iter().position(|byte| *byte == b'\n').map_or(buffered.len(), |at| at + 1);
        head.extend_from_slice(&buffered[..line]);
        reader.consume(line);
        if head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n") {
            return String::from_utf8(head).map_err(|_| Some(Response::plain(400, "bad request")));
        }
        if head.len() > MAX_HEAD {
            return Err(Some(Response::plain(431, "too large")));
        }
    }
}

fn parse_head(head: &str) -> Option<Request> {
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return None;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_owned()))
    };
    let headers = lines.take_while(|line| !line.is_empty()).map(header).collect::<Option<Vec<_>>>()?;
    let is_named = |name: &str| headers.iter().filter(|(known, _)| known == name).count();
    // With duplicates, another program might use the other value.
    if is_named("host") != 1 || is_named("content-length") > 1 {
        return None;
    }
    Some(Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: Query::parse(query),
        headers,
        body: Vec::new(),
    })
}

impl Query {
    pub(super) fn parse(text: &str) -> Query {
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        };
        Query(text.split('&').filter(|pair| !pair.is_empty()).map(pair).collect())
    }

    /// Returns a value; empty if it is missing.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }

    /// Returns the names and values but one, and but the number of the page.
    pub(super) fn others<'q>(&'q self, but: &'q str) -> impl Iterator<Item = (&'q str, &'q str)> {
        let all = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(move |(name, value)| *name != but && *name != "page" && !value.is_empty())
    }

    /// Returns the query with changed values, without empty ones.
    pub(super) fn with(&self, changes: &[(&str, &str)]) -> String {
        let kept = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let kept = kept.filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        query(&kept.chain(changes.iter().copied()).collect::<Vec<_>>())
    }
}

/// Formats `?name=value&…` without empty values; empty if all are.
pub(super) fn query(values: &[(&str, &str)]) -> String {
    let given = values.iter().filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", percent_encoded(value))).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

fn decode(text: &str) -> String {
    percent_decoded(&text.replace('+', " ")).into_owned()
}

#[derive(Debug)]
pub(super) struct Response {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
    location: Option<String>,
}

impl Response {
    fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Response {
        Response { status, kind, body: body.into(), location: None }
    }

    pub(super) fn html(page: Markup) -> Response {
        Response::new(200, "text/html; charset=utf-8", page.into_string())
    }

    pub(super) fn json(value: &Value) -> Response {
        Response::new(200, "application/json", format!("{value}\n"))
    }

    pub(super) fn file(kind: &'static str, body: &'static str) -> Response {
        Response::new(200, kind, body)
    }

    pub(super) fn plain(status: u16, text: &str) -> Response {
        Response::new(status, "text/plain; charset=utf-8", format!("{text}\n"))
    }

    pub(super) fn redirect(location: String) -> Response {
        Response { location: Some(location), ..Response::plain(303, "see other") }
    }

    pub(super) fn status(self, status: u16) -> Response {
        Response { status, ..self }
    }

    /// Writes the response, without its body for `HEAD`.
    pub(super) fn write(&self, mut stream: &TcpStream, method: &str) -> io::Result<()> {
        let location = self.location.as_ref().map(|to| format!("Location: {to}\r\n")).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 {} {}\r\n{}{location}Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.status,
            reason(self.status),
            headers(self.kind),
            self.body.len(),
        );
        stream.write_all(head.as_bytes())?;
        if method != "HEAD" {
            stream.write_all(&self.body)?;
        }
        stream.flush()
    }
}

/// Returns the head of an event stream.
pub(super) fn stream_head() -> String {
    format!("HTTP/1.1 200 OK\r\n{}Connection: close\r\n\r\n", headers("text/event-stream"))
}

fn headers(kind: &str) -> String {
    format!(
        "Content-Type: {kind}\r\nContent-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nCache-Control: no-store\r\n"
    )
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_parsed() {
        let head = "GET /t/path?path=a%2Fb+c&x=%zz&é HTTP/1.1\r\nHost: 127.0.0.1:1\r\nX-A:  b \r\n\r\n";
        let request = parse_head(head).unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/t/path"));
        assert_eq!((request.query.get("path"), request.query.get("x")), ("a/b c", "%zz"));
        assert_eq!(request.header("x-a"), Some("b"));
    }

    #[track_caller]
    fn refused(head: &str) {
        assert!(parse_head(head).is_none(), "{head:?}");
    }

    #[test]
    fn an_invalid_request_is_rejected() {
        refused("");
        refused("GET\r\n\r\n");
        refused("GET / HTTP/1.1\r\n\r\n");
        refused("GET http://evil/ HTTP/1.1\r\nHost: a\r\n\r\n");
        refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
        refused("GET / HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n");
        refused("GET / HTTP/2\r\nHost: a\r\n\r\n");
    }

    #[test]
    fn values_survive_encoding() {
        for value in ["a b/c", "<x>&y=1#?%", "é\u{202e}", "+"] {
            let link = query(&[("v", value), ("empty", "")]);
            assert_eq!(Query::parse(link.trim_start_matches('?')).get("v"), value, "{link}");
        }
        assert_eq!(Query::parse("a=1&b=2").with(&[("b", ""), ("c", "3")]), "?a=1&c=3");
    }
}
