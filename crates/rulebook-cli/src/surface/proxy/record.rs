//! Exchanges written down for `rulebook stream`, without the secrets in them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use hyper::HeaderMap;
use hyper::http::request::Parts;
use rulebook::lint::without_secrets;
use serde_json::{Map, Value, json};

use crate::surface::wire::Wire;

/// Of a longer answer the beginning is written down.
const MAX_TAPE: usize = 64 << 20;

/// The headers that are written down: none that could be a secret.
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

/// Where exchanges are written down.
pub(super) struct Record {
    folder: PathBuf,
    /// Part of every name, so that a second run writes beside the first.
    started: u64,
    count: AtomicU64,
}

/// An answer that is being written down.
pub(super) struct Tape {
    file: PathBuf,
    bytes: Vec<u8>,
}

impl Record {
    pub(super) fn at(folder: &Path) -> anyhow::Result<Record> {
        fs::create_dir_all(folder).with_context(|| format!("`{}` cannot be made", folder.display()))?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Ok(Record { folder: folder.to_owned(), started, count: AtomicU64::new(0) })
    }

    fn file(&self, number: u64, wire: &Wire, ending: &str) -> PathBuf {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("{}-{count:05}-{number:05}-{}.{ending}", self.started, wire.name))
    }

    /// Writes a request down.
    pub(super) fn request(&self, number: u64, wire: &Wire, head: &Parts, body: &[u8]) {
        let text = String::from_utf8_lossy(body);
        let body = serde_json::from_str(&without_secrets(&text)).unwrap_or(Value::Null);
        let about = json!({ "method": head.method.as_str(), "path": head.uri.path(), "headers": headers(&head.headers), "body": body });
        write(&self.file(number, wire, "request.json"), about.to_string().as_bytes());
    }

    /// Begins to write an answer down.
    pub(super) fn answer(&self, number: u64, wire: &Wire, headers: &HeaderMap) -> Tape {
        let kind = headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let ending = if kind.starts_with("text/event-stream") { "answer.sse" } else { "answer.json" };
        Tape { file: self.file(number, wire, ending), bytes: Vec::new() }
    }
}

impl Tape {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let room = MAX_TAPE.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        write(&self.file, without_secrets(&String::from_utf8_lossy(&self.bytes)).as_bytes());
    }
}

fn headers(headers: &HeaderMap) -> Map<String, Value> {
    let known = HEADERS.iter().filter_map(|name| Some((*name, headers.get(*name)?.to_str().ok()?)));
    known.map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// A recording that cannot be written is missed by nobody but who looks for it.
fn write(file: &Path, bytes: &[u8]) {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(file).and_then(|mut file| file.write_all(bytes));
}
