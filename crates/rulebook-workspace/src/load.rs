//! Loading: the files discovery found, read and parsed, each real file once.
//!
//! On one thread: for five hundred files a second one took a third more processor time and saved nothing reliable.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::parse::{Entry, Parsed, parse};
use rulebook::source::{MAX_SOURCE, Origin, Scope, Source, Unreadable};

use crate::discover::{Found, Node, reason};
use crate::trust::Gate;

/// Rule files are small: nearly all fit one read of this many bytes.
pub(crate) const FIRST_READ: usize = 16 << 10;

/// Reads and parses every file; what two names lead to counts once, for the first.
pub(crate) fn load(
    found: Vec<Found>,
    gate: &Gate,
    twin_of: &dyn Fn(&Origin) -> Option<String>,
) -> (Vec<Parsed>, Vec<Diagnostic>) {
    let mut first: BTreeMap<Identity, usize> = BTreeMap::new();
    let mut diagnostics = Vec::new();
    let mut parsed: Vec<Parsed> = Vec::with_capacity(found.len());
    let mut reading = Reading { gate, twin_of, buffer: vec![0; FIRST_READ], bytes: BTreeMap::new() };
    for found in found {
        let mut read = reading.read_one(found);
        let known = read.identities.iter().flatten().find_map(|identity| first.get(identity)).copied();
        if let Some(other) = known {
            // What nobody may switch off is not switched off by another name for it.
            if is_mandatory(&read.parsed) && !is_mandatory(&parsed[other]) {
                std::mem::swap(&mut parsed[other], &mut read.parsed);
            }
            let told = format!("is the same file as `{}` and counts once", display(&parsed[other]));
            diagnostics.push(Diagnostic::whole(Code::SameFile, display(&read.parsed), told));
        } else {
            first.extend(read.identities.into_iter().flatten().map(|identity| (identity, parsed.len())));
            parsed.push(read.parsed);
        }
    }
    (parsed, diagnostics)
}

fn is_mandatory(parsed: &Parsed) -> bool {
    matches!(&parsed.entry, Entry::Rule(rule) if rule.is_mandatory)
}

fn display(parsed: &Parsed) -> &str {
    &parsed.entry.origin().display
}

/// What makes two names one file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    /// The same file on disk, for the same folder: a nested rule is another one in another folder.
    Node(Node, Option<(usize, String)>),
    /// The same path in another worktree, with the same text.
    Twin(String, String),
}

/// A file, read and parsed.
struct ReadFile {
    parsed: Parsed,
    identities: [Option<Identity>; 2],
}

/// The most bytes that are read of all files of one scope together: what a repository holds leaves room for a person's own.
const MAX_BYTES: usize = 64 << 20;

/// What all files go through.
struct Reading<'r> {
    gate: &'r Gate,
    twin_of: &'r dyn Fn(&Origin) -> Option<String>,
    buffer: Vec<u8>,
    /// How much was read of each scope.
    bytes: BTreeMap<Scope, usize>,
}

impl Reading<'_> {
    fn read_one(&mut self, found: Found) -> ReadFile {
        let bytes = self.bytes.entry(found.origin.scope).or_default();
        let text = match found.refused {
            Some(refused) => Err(refused),
            None if *bytes >= MAX_BYTES => Err(Unreadable::TooMany),
            None => read_text(&found.file, &mut self.buffer),
        };
        *bytes += text.as_ref().map_or(0, String::len);
        let (text, told) = match text {
            Ok(text) => self.gate.admit(&found.origin, text),
            Err(refused) => (Err(refused), None),
        };
        let twin = text.as_ref().ok().zip((self.twin_of)(&found.origin));
        let twin = twin.map(|(text, twin)| Identity::Twin(twin, text.clone()));
        let folder =
            (!found.origin.folder.is_empty()).then(|| (found.origin.root, found.origin.folder.clone()));
        let node = found.node.filter(|_| text.is_ok()).map(|node| Identity::Node(node, folder));
        let mut parsed = parse(Source { origin: found.origin, text });
        parsed.diagnostics.extend(told);
        ReadFile { parsed, identities: [node, twin] }
    }
}

pub(crate) fn read_text(path: &Path, buffer: &mut [u8]) -> Result<String, Unreadable> {
    let refuse = |error: io::Error| Unreadable::Refused(reason(&error));
    let bytes = File::open(path).and_then(|file| read_bytes(file, buffer)).map_err(refuse)?;
    if bytes.len() as u64 > MAX_SOURCE {
        let len = fs::metadata(path).map_or(0, |metadata| metadata.len()).max(bytes.len() as u64);
        return Err(Unreadable::TooLarge { len });
    }
    String::from_utf8(bytes)
        .map_err(|error| Unreadable::NotUtf8 { valid_up_to: error.utf8_error().valid_up_to() })
}

/// The bytes of a file, one more than is allowed at most. A file that fits the first read costs no second one: a
/// regular file gives all it has.
fn read_bytes(mut file: File, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
    let len = file.read(buffer)?;
    let mut bytes = buffer[..len].to_vec();
    if len == buffer.len() {
        file.take(MAX_SOURCE + 1 - len as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
