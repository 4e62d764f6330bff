//! The lines of a ledger: how an event is written, and how a file is read as far as it is written.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::time::Duration;

use rulebook::session::{EVENT_VERSION, Event};
use serde::Deserialize;

/// Of a longer ledger only the end is read.
const MAX_LEDGER: u64 = 16 << 20;

/// How far a ledger was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    /// The offset of the first line that was not read.
    pub(super) end: u64,
    /// Whether the last line has no end: its writer was killed, or is still writing.
    pub(super) is_torn: bool,
    /// How many lines could not be read.
    pub(super) unreadable: usize,
    /// The version of a ledger that is too new to be read.
    pub(super) newer: Option<u64>,
}

impl Cursor {
    /// Reads the lines that were appended since. `take` returns whether it could read a line.
    pub(super) fn read_on(&mut self, file: &mut File, take: impl FnMut(&str) -> bool) -> io::Result<()> {
        let len = file.metadata()?.len();
        if self.end == 0 && len > 0 {
            self.newer = newer_version(file)?;
        }
        if self.newer.is_some() {
            return Ok(());
        }
        let from = self.end.max(len.saturating_sub(MAX_LEDGER));
        if len > from {
            file.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::with_capacity(usize::try_from(len - from).unwrap_or_default());
            file.take(len - from).read_to_end(&mut bytes)?;
            self.split(from, &bytes, take);
        }
        Ok(())
    }

    /// Splits the bytes of the ledger from `from` on into lines.
    pub(super) fn split(&mut self, from: u64, bytes: &[u8], mut take: impl FnMut(&str) -> bool) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            let line = &bytes[start..end];
            start = end + 1;
            let is_read = line.is_empty() || std::str::from_utf8(line).is_ok_and(&mut take);
            self.unreadable += usize::from(!is_read);
        }
        self.is_torn = start < bytes.len();
        self.end = from + start as u64;
    }
}

/// What a writer must know of a ledger that it does not read.
pub(super) struct Tail {
    pub(super) is_empty: bool,
    pub(super) is_torn: bool,
    pub(super) newer: Option<u64>,
}

impl Tail {
    pub(super) fn of(file: &mut File) -> io::Result<Tail> {
        let is_empty = file.metadata()?.len() == 0;
        if is_empty {
            return Ok(Tail { is_empty, is_torn: false, newer: None });
        }
        let newer = newer_version(file)?;
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        Ok(Tail { is_empty, is_torn: last != *b"\n", newer })
    }
}

/// The version of a ledger, if it is too new to be read.
fn newer_version(file: &mut File) -> io::Result<Option<u64>> {
    Ok(version(file)?.filter(|version| *version > u64::from(EVENT_VERSION)))
}

/// The version in the first line of a ledger, which is read even if the rest of the line cannot be.
fn version(file: &mut File) -> io::Result<Option<u64>> {
    #[derive(Deserialize)]
    struct Stamp {
        version: u64,
    }
    let line = first_line(file)?;
    Ok(serde_json::from_slice(&line).ok().map(|Stamp { version }| version))
}

/// The first line of a ledger, or its beginning.
pub(super) fn first_line(file: &mut File) -> io::Result<Vec<u8>> {
    const MAX_LINE: u64 = 64 << 10;
    file.seek(SeekFrom::Start(0))?;
    let mut line = Vec::new();
    BufReader::new(&mut *file).take(MAX_LINE).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// The beginning of the line of a delivery, and of a tool call.
pub(super) const DELIVERED: &str = r#"{"is":"delivered","#;
const TOOL: &str = r#"{"is":"tool","#;

/// Reads the event of a line. Most lines are deliveries and calls, which are read by their type: serde buffers all fields
/// of an event whose kind it does not know yet.
pub(super) fn event(line: &str) -> serde_json::Result<Event> {
    #[derive(Deserialize)]
    struct Call {
        name: String,
        paths: Vec<String>,
        command: Option<String>,
        #[serde(default)]
        pending: bool,
        #[serde(default)]
        failed: bool,
    }
    if line.starts_with(DELIVERED) {
        return serde_json::from_str(line).map(Event::Delivered);
    }
    if line.starts_with(TOOL) {
        let Call { name, paths, command, pending, failed } = serde_json::from_str(line)?;
        return Ok(Event::Tool { name, paths, command, pending, failed });
    }
    serde_json::from_str(line)
}

const AT: &str = ",\"at\":";

/// Writes an event as a line, with the time as its last key, in seconds since 1970. Its fraction orders the events of
/// several ledgers.
pub(super) fn line(at: Duration, event: &Event) -> serde_json::Result<String> {
    let mut line = serde_json::to_string(event)?;
    line.pop();
    line.push_str(&format!("{AT}{}.{:06}}}\n", at.as_secs(), at.subsec_micros()));
    Ok(line)
}

/// Reads the time of a line; 0 if it has none. Quotes inside a text are escaped, so the last match is the key.
pub(super) fn written_at(line: &str) -> Duration {
    let last = memchr::memrchr(b',', line.as_bytes()).map_or("", |comma| &line[comma..]);
    let number = last.strip_prefix(AT).and_then(|at| at.trim_end().strip_suffix('}')).unwrap_or_default();
    let (seconds, micros) = number.split_once('.').unwrap_or((number, "0"));
    let micros = micros.parse().unwrap_or(0);
    Duration::from_secs(seconds.parse().unwrap_or(0)).saturating_add(Duration::from_micros(micros))
}
