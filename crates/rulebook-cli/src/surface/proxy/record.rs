//! Records requests and responses for `rulebook stream`, without the secrets in them.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use bytes::Bytes;
use hyper::http::request::Parts;
use hyper::{HeaderMap, header};
use rulebook::evidence::json as lenient;
use rulebook::lint::{secrets, without_secrets};
use rulebook_workspace::write::{Owner, create, make_folder};
use serde_json::{Map, Value, json};

use super::coding;
use crate::surface::wire::{self, Event, Json, Reader, Step, Wire};

/// The most bytes of a response that are recorded.
const MAX_TAPE: usize = 64 << 20;

/// The headers that are recorded: none that could be a secret.
const HEADERS: &[&str] = &[
    "accept",
    "accept-encoding",
    "anthropic-beta",
    "anthropic-version",
    "content-encoding",
    "content-type",
    "openai-beta",
    "retry-after",
    "user-agent",
];

/// The folder of recordings.
pub(super) struct Record {
    folder: PathBuf,
    /// The root that it is in, if any: a link must not lead out of it.
    root: Option<PathBuf>,
    /// Part of every file name: a second run does not collide with the first.
    started: u64,
    count: AtomicU64,
}

/// A response being recorded. It is written when dropped.
pub(super) struct Tape {
    file: PathBuf,
    root: Option<PathBuf>,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Record {
    /// A folder in one of these roots must not lead out of it.
    pub(super) fn at(folder: &Path, roots: &[PathBuf]) -> anyhow::Result<Record> {
        let owner = Owner::of(folder, roots.iter().map(PathBuf::as_path));
        owner.check(folder).with_context(|| format!("`{}` cannot be written", folder.display()))?;
        let root = match owner {
            Owner::Person => None,
            Owner::Repository(root) => Some(root.to_owned()),
        };
        make_folder(folder).with_context(|| format!("`{}` cannot be created", folder.display()))?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Ok(Record { folder: folder.to_owned(), root, started, count: AtomicU64::new(0) })
    }

    fn file(&self, number: u64, wire: Option<&Wire>, ending: &str) -> PathBuf {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let wire = wire.map_or("other", |wire| wire.name);
        self.folder.join(format!("{}-{count:05}-{number:05}-{wire}.{ending}", self.started))
    }

    /// Records a request.
    pub(super) fn request(&self, number: u64, wire: Option<&Wire>, head: &Parts, body: &Bytes) {
        let body = decoded(&head.headers, body);
        let body = lenient::read(without_secrets(&body).as_bytes()).unwrap_or(Value::Null);
        let exchange = json!({ "method": head.method.as_str(), "path": head.uri.path(), "headers": headers(&head.headers), "body": body });
        let file = self.file(number, wire, "request.json");
        write(&file, self.root.as_deref(), exchange.to_string().as_bytes());
    }

    /// Starts recording a response.
    pub(super) fn response(&self, number: u64, wire: Option<&Wire>, headers: &HeaderMap) -> Tape {
        let kind =
            headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let ending = match () {
            () if kind.starts_with("text/event-stream") => "answer.sse",
            () if kind.contains("json") => "answer.json",
            () => "answer.txt",
        };
        Tape {
            file: self.file(number, wire, ending),
            root: self.root.clone(),
            headers: headers.clone(),
            bytes: Vec::new(),
        }
    }
}

impl Tape {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let room = MAX_TAPE.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        let text = decoded(&self.headers, &std::mem::take(&mut self.bytes).into());
        let text = joined_secrets(&text).unwrap_or(text);
        write(&self.file, self.root.as_deref(), without_secrets(&text).as_bytes());
    }
}

/// Returns a body as text; empty if it cannot be decoded.
fn decoded(headers: &HeaderMap, body: &Bytes) -> String {
    let coding = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    let body = coding::decoded(coding, body, &mut coding::Room::default().take())
        .and_then(Result::ok)
        .unwrap_or_default();
    String::from_utf8_lossy(&body).into_owned()
}

/// Returns a stream without the secrets that arrived in pieces; `None` if it has none.
fn joined_secrets(text: &str) -> Option<String> {
    let events = Event::all(text.as_bytes());
    let mut values: Vec<Vec<Value>> = events.iter().map(Event::values).collect();
    let mut reader = Reader::default();
    // The pieces of every stream, each with the places of its event and value.
    let mut streams: HashMap<String, Vec<(usize, usize, String)>> = HashMap::new();
    for (event, values) in values.iter().enumerate() {
        for (place, value) in values.iter().enumerate() {
            let mut steps = Vec::new();
            wire::read(None, &mut reader, &Json::from(value), &mut steps);
            for step in steps {
                if let Step::Feed { stream, bytes, .. } = step {
                    let piece = String::from_utf8_lossy(&bytes).into_owned();
                    streams.entry(stream).or_default().push((event, place, piece));
                }
            }
        }
    }
    let mut changed = vec![false; events.len()];
    for pieces in streams.values() {
        let whole: String = pieces.iter().map(|(_, _, piece)| piece.as_str()).collect();
        let secrets = secrets(&whole);
        let mut start = 0;
        for (event, place, piece) in pieces.iter().filter(|_| !secrets.is_empty()) {
            let clean = without(&whole, start..start + piece.len(), &secrets);
            start += piece.len();
            if clean != *piece {
                replace(&mut values[*event][*place], piece, &clean);
                changed[*event] = true;
            }
        }
    }
    let written = events.iter().zip(&values).zip(&changed).map(|((event, values), is_changed)| {
        let text = |event: &Event| String::from_utf8_lossy(&event.raw).into_owned();
        if *is_changed { values.iter().map(|value| text(&Event::of(value))).collect() } else { text(event) }
    });
    changed.contains(&true).then(|| written.collect())
}

/// Returns a piece of a text without its secrets; the name of each is put where it begins.
fn without(whole: &str, piece: Range<usize>, secrets: &[(&str, Range<usize>)]) -> String {
    let (mut clean, mut written) = (String::new(), piece.start);
    for (name, secret) in
        secrets.iter().filter(|(_, secret)| secret.start < piece.end && secret.end > piece.start)
    {
        clean.push_str(&whole[written..secret.start.max(written)]);
        if secret.start >= piece.start {
            clean.push_str(&format!("[{name}]"));
        }
        written = secret.end.min(piece.end);
    }
    clean + &whole[written..piece.end]
}

/// Replaces a text wherever it is in a value.
fn replace(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text == from => to.clone_into(text),
        Value::Array(list) => list.iter_mut().for_each(|value| replace(value, from, to)),
        Value::Object(fields) => fields.values_mut().for_each(|value| replace(value, from, to)),
        _ => {}
    }
}

fn headers(headers: &HeaderMap) -> Map<String, Value> {
    let known = HEADERS.iter().filter_map(|name| Some((*name, headers.get(*name)?.to_str().ok()?)));
    known.map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// Writes a recording. A failure is ignored: the proxy's work does not depend on it.
fn write(file: &Path, root: Option<&Path>, bytes: &[u8]) {
    let _ = create(file, bytes, root.map_or(Owner::Person, Owner::Repository));
}
