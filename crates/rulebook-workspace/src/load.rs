//! Loading: the files discovery found, read and parsed, each real file once.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::{Parsed, parse};
use rulebook::source::{MAX_SOURCE, Origin, Source, Unreadable};

use crate::discover::{Found, reason};

/// Below this many files a second thread costs more than it saves.
const FILES_PER_THREAD: usize = 64;

/// Reads and parses every file; what two names lead to counts once, for the first.
pub(crate) fn load(
    found: &[Found],
    twins: &dyn Fn(&Origin) -> Option<String>,
) -> (Vec<Parsed>, Vec<Diagnostic>) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let chunk = found.len().div_ceil(threads).max(FILES_PER_THREAD);
    let read: Vec<ReadFile> = if found.len() <= chunk {
        found.iter().map(read_one).collect()
    } else {
        std::thread::scope(|scope| {
            let parts: Vec<_> = found
                .chunks(chunk)
                .map(|part| scope.spawn(|| part.iter().map(read_one).collect::<Vec<_>>()))
                .collect();
            parts.into_iter().flat_map(|part| part.join().expect("reading does not panic")).collect()
        })
    };
    let mut first: HashMap<Identity, String> = HashMap::new();
    let mut diagnostics = Vec::new();
    let mut parsed = Vec::with_capacity(read.len());
    for (found, read) in found.iter().zip(read) {
        let twin = twins(&found.origin).map(|key| Identity::Twin(key, read.text_hash));
        let known = [read.identity, twin].into_iter().flatten().find_map(|key| match first.get(&key) {
            Some(other) => Some(other.clone()),
            None => {
                first.insert(key, found.origin.display.clone());
                None
            }
        });
        match known {
            Some(other) => {
                let told = format!("is the same file as `{other}` and counts once");
                diagnostics.push(Diagnostic::whole(Code::SameFile, &found.origin.display, told));
            }
            None => parsed.push(read.parsed),
        }
    }
    (parsed, diagnostics)
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
    Twin(String, u64),
}

/// A file, read and parsed.
struct ReadFile {
    parsed: Parsed,
    identity: Option<Identity>,
    text_hash: u64,
}

fn read_one(found: &Found) -> ReadFile {
    let (text, identity) = match &found.refused {
        Some(refused) => (Err(refused.clone()), None),
        None => read_text(&found.file),
    };
    let text_hash = text.as_ref().map_or(0, |text| hash(text.as_bytes()));
    let source = Source { origin: found.origin.clone(), text };
    ReadFile { parsed: parse(source), identity, text_hash }
}

fn read_text(path: &Path) -> (Result<String, Unreadable>, Option<Identity>) {
    let refuse = |error: &std::io::Error| Unreadable::Refused(reason(error));
    let mut file = match File::open(path) {
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
        match Read::by_ref(&mut file).take(MAX_SOURCE + 1).read_to_end(&mut bytes) {
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

/// FNV-1a: told apart are two versions of one file, not adversaries.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
