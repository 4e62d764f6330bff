//! Loading: the files discovery found, read and parsed, each real file once.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::{Entry, Parsed, parse};
use rulebook::source::{MAX_SOURCE, Origin, Source, Unreadable};

use crate::discover::{Found, reason};

/// Below this many files a second thread costs more than it saves.
const FILES_PER_THREAD: usize = 64;

/// Reads and parses every file; what two names lead to counts once, for the first.
pub(crate) fn load(
    found: Vec<Found>,
    twin_of: &(dyn Fn(&Origin) -> Option<String> + Sync),
) -> (Vec<Parsed>, Vec<Diagnostic>) {
    let mut first: HashMap<Identity, String> = HashMap::new();
    let mut diagnostics = Vec::new();
    let mut parsed = Vec::with_capacity(found.len());
    for read in read_all(found, twin_of) {
        let known = read.identities.iter().find_map(|identity| first.get(identity)).cloned();
        let display = match &read.parsed.entry {
            Entry::Rule(rule) => &rule.origin.display,
            Entry::Rejected(rejected) => &rejected.origin.display,
        };
        match known {
            Some(other) => {
                let told = format!("is the same file as `{other}` and counts once");
                diagnostics.push(Diagnostic::whole(Code::SameFile, display, told));
            }
            None => {
                first.extend(read.identities.into_iter().map(|identity| (identity, display.clone())));
                parsed.push(read.parsed);
            }
        }
    }
    (parsed, diagnostics)
}

fn read_all(mut found: Vec<Found>, twin_of: &(dyn Fn(&Origin) -> Option<String> + Sync)) -> Vec<ReadFile> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let chunk = found.len().div_ceil(threads).max(FILES_PER_THREAD);
    let read =
        move |part: Vec<Found>| part.into_iter().map(|found| read_one(found, twin_of)).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        while found.len() > chunk {
            let part = found.split_off(found.len() - chunk);
            others.push(scope.spawn(move || read(part)));
        }
        let mut all = read(found);
        all.extend(others.into_iter().rev().flat_map(|part| part.join().expect("reading does not panic")));
        all
    })
}

/// What makes two names one file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// Device and number of the file.
    #[cfg(unix)]
    Node(u64, u64),
    /// Its real path, where files have no numbers.
    #[cfg(not(unix))]
    Real(std::path::PathBuf),
    /// The same path in another worktree, with the same text.
    Twin(String, String),
}

/// A file, read and parsed.
struct ReadFile {
    parsed: Parsed,
    identities: Vec<Identity>,
}

fn read_one(found: Found, twin_of: &(dyn Fn(&Origin) -> Option<String> + Sync)) -> ReadFile {
    let (text, identity) = match found.refused {
        Some(refused) => (Err(refused), None),
        None => read_text(&found.file),
    };
    let twin =
        text.as_ref().ok().zip(twin_of(&found.origin)).map(|(text, twin)| Identity::Twin(twin, text.clone()));
    let identities = identity.into_iter().chain(twin).collect();
    ReadFile { parsed: parse(Source { origin: found.origin, text }), identities }
}

fn read_text(path: &Path) -> (Result<String, Unreadable>, Option<Identity>) {
    let refuse = |error: &std::io::Error| Unreadable::Refused(reason(error));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return (Err(refuse(&error)), None),
    };
    let metadata = match file.metadata() {
        Ok(metadata) => metadata,
        Err(error) => return (Err(refuse(&error)), None),
    };
    let identity = identify(path, &metadata);
    let text = if metadata.is_file() {
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(MAX_SOURCE)).unwrap_or(0) + 1);
        match file.take(MAX_SOURCE + 1).read_to_end(&mut bytes) {
            Ok(len) if len as u64 > MAX_SOURCE => {
                Err(Unreadable::TooLarge { len: metadata.len().max(len as u64) })
            }
            Ok(_) => String::from_utf8(bytes)
                .map_err(|error| Unreadable::NotUtf8 { valid_up_to: error.utf8_error().valid_up_to() }),
            Err(error) => Err(refuse(&error)),
        }
    } else {
        Err(Unreadable::NotAFile { kind: "not a regular file" })
    };
    (text, identity)
}

#[cfg(unix)]
fn identify(_: &Path, metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some(Identity::Node(metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identify(path: &Path, _: &Metadata) -> Option<Identity> {
    std::fs::canonicalize(path).ok().map(Identity::Real)
}
