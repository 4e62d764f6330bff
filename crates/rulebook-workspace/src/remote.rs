//! Remote rules: copies of the rules that an organisation publishes.
//!
//! Loading reads copies only, so a hook never waits for the network; [`sync`](fn@sync) fetches.

mod document;
mod error;
#[cfg(feature = "remote")]
mod fetch;
#[cfg(feature = "remote")]
mod sync;

pub use document::{RemoteRule, read_document};
pub use error::RemoteError;
#[cfg(feature = "remote")]
pub use sync::{CopyChange, Preview, Synced, is_due, preview, sync};

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use minisign_verify::{PublicKey, Signature};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::{FETCHED, FormatId};
use rulebook::hidden::visible_line;
use rulebook::parse::{Entry, Parsed, parse};
use rulebook::source::{Origin, Scope, Source};
use serde::{Deserialize, Serialize};

use crate::homes::{Homes, posix};
use crate::ledger::safe;
use crate::settings::Remote;
use crate::settings::address::Address;
use crate::state::{self, Read, sha256};

/// The age at which a copy is fetched again, unless the settings name another.
#[cfg(feature = "remote")]
const REFRESH: Duration = Duration::from_secs(60 * 60);

/// The version of the files that copies are kept in.
const VERSION: u64 = 1;

/// The largest document that is fetched, in bytes.
const MAX_DOCUMENT: usize = 4 << 20;

/// The largest file of a copy: every byte of a document may become six in JSON.
const MAX_FILE: usize = 6 * MAX_DOCUMENT + (1 << 20);

/// The copy of a document, and the result of the last attempt to fetch it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    version: u64,
    url: String,
    etag: Option<String>,
    /// When it was fetched or found unchanged, in seconds since 1970.
    fetched: Option<u64>,
    document: Option<String>,
    signature: Option<String>,
    failed: Option<Failed>,
}

impl Kept {
    /// Whether there is a copy with the hash and signature that the settings require.
    #[cfg(feature = "remote")]
    fn is_good(&self, remote: &Remote) -> bool {
        let verified = |document: &String| verify(remote, document, self.signature.as_deref()).is_ok();
        self.document.as_ref().is_some_and(verified)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Failed {
    at: u64,
    why: String,
}

/// The copy of a remote on this machine.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RemoteCopy {
    /// When it was fetched or last found unchanged; `None` for a folder, which is read in place.
    pub fetched: Option<SystemTime>,
    /// Whether the remote is a folder, read in place.
    pub is_folder: bool,
    /// Its rules.
    pub rules: Vec<RemoteRule>,
    /// Whether there is a copy with the hash and the signature that the settings require.
    pub is_verified: bool,
    /// Why the last attempt to fetch it failed.
    pub failed: Option<String>,
    /// The problems with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// The name of a remote in messages.
fn shown(remote: &Remote) -> String {
    format!("remote {}", remote.name)
}

/// The file of a remote's copy; `None` without a cache folder.
fn file(remote: &Remote, homes: &Homes) -> Option<PathBuf> {
    homes
        .cache
        .as_ref()
        .map(|cache| cache.join("rulebook/remote").join(format!("{}.json", safe(&remote.name))))
}

/// Reads the copy of a remote. A copy from another address does not count, unless the entry cannot be read.
fn kept(remote: &Remote, file: &Path) -> Read<Kept> {
    match state::read::<Kept>(file, MAX_FILE, VERSION) {
        Read::Known(kept) if kept.url != remote.url && !remote.is_held => Read::Absent,
        read => read,
    }
}

/// Reads the copy of a remote, without the network.
pub fn list(remote: &Remote, homes: &Homes) -> RemoteCopy {
    let mut copy = RemoteCopy::default();
    if let Some(path) = folder(remote, homes) {
        copy.is_folder = true;
        copy.diagnostics.extend(report_folder(remote, &path));
        return copy;
    }
    let Some(file) = file(remote, homes) else {
        copy.diagnostics.push(never_fetched(remote, Some(NO_CACHE)));
        return copy;
    };
    let read = kept(remote, &file);
    copy.diagnostics.extend(read.diagnostic(&file));
    let kept = read.known().unwrap_or_default();
    // What failed with other settings says nothing about these.
    let failed = kept.failed.as_ref().filter(|_| !remote.is_held);
    copy.failed = failed.map(|failed| failed.why.clone());
    copy.fetched =
        kept.fetched.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    let Some(document) = &kept.document else {
        copy.diagnostics.push(never_fetched(remote, copy.failed.as_deref()));
        return copy;
    };
    let failed = failed.map(|failed| {
        let used = date(kept.fetched.unwrap_or(0));
        let Failed { why, .. } = failed;
        let message = format!("`{}` could not be fetched ({why}); using the copy of {used}", remote.name);
        Diagnostic::whole(Code::RemoteFailed, shown(remote), message)
    });
    match verify(remote, document, kept.signature.as_deref()).and_then(|()| read_document(document)) {
        Ok((rules, faults)) => {
            copy.rules = rules;
            copy.is_verified = true;
            copy.diagnostics.extend(failed);
            copy.diagnostics.extend(faults.into_iter().map(|fault| {
                Diagnostic::whole(Code::BadValue, shown(remote), fault)
                    .help("fix the document where it is published")
            }));
        }
        Err(why) => {
            let why = why.to_string();
            let failed = copy.failed.as_ref().filter(|failed| **failed != why);
            let failed = failed.map(|failed| format!("; fetching it failed: {failed}")).unwrap_or_default();
            let message = format!("the copy of `{}` {why}; it is not used{failed}", remote.name);
            copy.diagnostics.push(Diagnostic::whole(Code::RemoteRefused, shown(remote), message));
        }
    }
    copy
}

/// The rules of every remote's copy, and their problems. Remotes that are folders are found by discovery.
pub(crate) fn load(remotes: &[Remote], homes: &Homes) -> (Vec<Parsed>, Vec<Diagnostic>) {
    let (mut parsed, mut diagnostics) = (Vec::new(), Vec::new());
    for remote in remotes {
        let copy = list(remote, homes);
        diagnostics.extend(copy.diagnostics);
        let file = file(remote, homes).map(|file| posix(&file)).unwrap_or_default();
        parsed.extend(copy.rules.into_iter().map(|rule| read_rule(rule, &remote.name, &file)));
    }
    (parsed, diagnostics)
}

/// The remotes that are folders, by name, without those that cannot be verified.
pub(crate) fn folders(remotes: &[Remote], homes: &Homes) -> Vec<(String, PathBuf)> {
    let usable = remotes.iter().filter(|remote| unverifiable(remote).is_none());
    usable.filter_map(|remote| Some((remote.name.clone(), folder(remote, homes)?))).collect()
}

/// The folder of a remote that is a folder.
fn folder(remote: &Remote, homes: &Homes) -> Option<PathBuf> {
    match Address::parse(&remote.url)? {
        Address::Folder(path) => Some(homes.expand(&path)),
        _ => None,
    }
}

/// Reads a rule of a remote's document like a file.
fn read_rule(rule: RemoteRule, remote: &str, file: &str) -> Parsed {
    let display = format!("{remote}/{}", rule.name);
    let name = visible_line(&rule.name).into_owned();
    let mut origin = Origin::new(FormatId::Remote.row(), &FETCHED, visible_line(&display));
    origin.scope = Scope::Remote;
    origin.path = format!("{file}#{}", rule.name);
    origin.inner = rule.name;
    let mut parsed = parse(Source { origin, text: Ok(rule.contents.into()) });
    if let Entry::Rule(read) = &mut parsed.entry {
        read.is_mandatory |= rule.is_mandatory;
        read.name = name;
    }
    parsed
}

/// Renames files that are shown like a remote rule, so that nothing in a workspace passes for the organisation's.
pub(crate) fn rename_imitations(parsed: &mut [Parsed]) {
    let is_remote = |origin: &Origin| origin.format.id == FormatId::Remote;
    let origins = parsed.iter().map(|parsed| parsed.entry.origin()).filter(|origin| is_remote(origin));
    let remote: HashSet<String> =
        origins.flat_map(|origin| [origin.display.clone(), origin.inner.clone()]).collect();
    if remote.is_empty() {
        return;
    }
    for Parsed { entry, .. } in parsed {
        if let Entry::Rule(rule) = entry
            && !is_remote(&rule.origin)
            && remote.contains(&rule.origin.display)
        {
            rule.origin.display.insert_str(0, "./");
        }
    }
}

/// Checks a document against the hash and the signature that the settings require.
fn verify(remote: &Remote, document: &str, signature: Option<&str>) -> Result<(), RemoteError> {
    if let Some(pin) = &remote.sha256 {
        let found = sha256(document.as_bytes());
        if found != *pin {
            return Err(RemoteError::new(format!("has the SHA-256 {found}, expected {pin}")));
        }
    }
    let Some(key) = &remote.minisign_key else { return Ok(()) };
    let key = PublicKey::from_base64(key)
        .map_err(|_| RemoteError::new("cannot be verified: `minisign_key` is not a key"))?;
    let signature = signature.ok_or_else(|| RemoteError::new("has no signature"))?;
    let signature = decode(signature)?;
    key.verify(document.as_bytes(), &signature, false).map_err(|error| {
        RemoteError::new(match error {
            minisign_verify::Error::UnexpectedAlgorithm => {
                "has a signature in minisign's legacy format; sign it without `-l`"
            }
            _ => "has a signature that does not match `minisign_key`",
        })
    })
}

fn decode(signature: &str) -> Result<Signature, RemoteError> {
    Signature::decode(signature).map_err(|_| RemoteError::new("has an unreadable signature"))
}

/// Checks that a verified document is not older than the copy: a signature stays valid, but what it signed may have been
/// replaced for a reason. The signed comments say when each was signed, in seconds since 1970. A pin names one document,
/// whatever its age.
#[cfg(feature = "remote")]
fn verify_age(remote: &Remote, copy: &Kept, signature: Option<&str>) -> Result<(), RemoteError> {
    if remote.sha256.is_some() || remote.minisign_key.is_none() || !copy.is_good(remote) {
        return Ok(());
    }
    let Some(known) = copy.signature.as_deref().and_then(signed_at) else { return Ok(()) };
    let found = match signature.and_then(signed_at) {
        Some(found) if found >= known => return Ok(()),
        Some(found) => format!("was signed on {}", date(found)),
        None => "has a signature without a timestamp".to_owned(),
    };
    let known = date(known);
    Err(RemoteError::new(format!(
        "{found}, but the copy was signed on {known}; to publish it again, sign it again"
    )))
}

/// When a signature says that it was made: minisign writes `timestamp:SECONDS` into the signed comment.
#[cfg(feature = "remote")]
fn signed_at(signature: &str) -> Option<u64> {
    let signature = decode(signature).ok()?;
    let fields = signature.trusted_comment().split_ascii_whitespace();
    fields.filter_map(|field| field.strip_prefix("timestamp:")).find_map(|seconds| seconds.parse().ok())
}

/// Why nothing can be cached.
const NO_CACHE: &str = "there is no cache folder: set HOME or XDG_CACHE_HOME";

fn never_fetched(remote: &Remote, why: Option<&str>) -> Diagnostic {
    let name = &remote.name;
    let report = |message| Diagnostic::whole(Code::RemoteMissing, shown(remote), message);
    if remote.is_held {
        let message =
            format!("`{name}` has no rules: it was never fetched, because its settings are invalid");
        return report(message).help("fix its entry in the settings, then run `rulebook remote sync`");
    }
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    report(format!("`{name}` has no rules: it was never fetched{why}"))
}

/// The keys of a remote that demand a hash or a signature, which a folder does not have.
fn unverifiable(remote: &Remote) -> Option<String> {
    let keys = [("sha256", remote.sha256.is_some()), ("minisign_key", remote.minisign_key.is_some())];
    let keys: Vec<String> =
        keys.iter().filter(|(_, is_set)| *is_set).map(|(key, _)| format!("`{key}`")).collect();
    (!keys.is_empty()).then(|| keys.join(" and "))
}

/// Checks that the folder of a remote exists, and that the settings demand nothing that a folder does not have.
fn check_folder(remote: &Remote, path: &Path) -> Result<(), RemoteError> {
    if let Some(keys) = unverifiable(remote) {
        return Err(RemoteError::new(format!("is a folder, which {keys} cannot verify")));
    }
    path.is_dir()
        .then_some(())
        .ok_or_else(|| RemoteError::new(format!("names `{}`, which is not a folder", path.display())))
}

fn report_folder(remote: &Remote, path: &Path) -> Option<Diagnostic> {
    let error = check_folder(remote, path).err()?;
    let message = format!("`{}` {error}", remote.name);
    let report = |code, message| Diagnostic::whole(code, shown(remote), message);
    Some(match unverifiable(remote) {
        Some(keys) => report(Code::RemoteRefused, format!("{message}; its rules are not used"))
            .help(format!("publish a document, or check out the commit you want and remove {keys}")),
        None => report(Code::RemoteMissing, message)
            .help("check it out there, or name a document that ends in `.json`"),
    })
}

/// Seconds since 1970 as a date and a time, in UTC.
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years start in March here, so that the leap day is the last of its year.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year_of_era + era * 400 + later;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3600, rest / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_a_date() {
        #[track_caller]
        fn check(seconds: u64, want: &str) {
            assert_eq!(date(seconds), want);
        }
        check(0, "1970-01-01 00:00 UTC");
        check(951_782_400, "2000-02-29 00:00 UTC");
        check(1_795_000_000, "2026-11-18 11:06 UTC");
        check(4_102_444_799, "2099-12-31 23:59 UTC");
    }

    #[test]
    fn a_document_must_match_its_hash_and_its_signature() {
        const KEY: &str = include_str!("remote/tests/minisign.pub");
        const DOCUMENT: &str = include_str!("remote/tests/document.json");
        const SIGNATURE: &str = include_str!("remote/tests/document.json.minisig");
        #[track_caller]
        fn check(pin: Option<&str>, key: Option<&str>, document: &str, signature: Option<&str>, want: &str) {
            let key = key.map(|key| key.lines().last().unwrap_or_default().to_owned());
            let remote = Remote { sha256: pin.map(str::to_owned), minisign_key: key, ..Remote::default() };
            let found = verify(&remote, document, signature)
                .map_or_else(|error| error.to_string(), |()| "fine".to_owned());
            assert_eq!(found, want);
        }
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        check(None, None, "abc", None, "fine");
        check(Some(abc), None, "abc", None, "fine");
        let other = "0".repeat(64);
        check(Some(&other), None, "abc", None, &format!("has the SHA-256 {abc}, expected {other}"));
        check(None, Some(KEY), DOCUMENT, Some(SIGNATURE), "fine");
        check(None, Some(KEY), DOCUMENT, None, "has no signature");
        check(None, Some(KEY), DOCUMENT, Some("rubbish"), "has an unreadable signature");
        check(None, Some(KEY), "abc", Some(SIGNATURE), "has a signature that does not match `minisign_key`");
        check(
            Some(&other),
            Some(KEY),
            "abc",
            Some(SIGNATURE),
            &format!("has the SHA-256 {abc}, expected {other}"),
        );
    }
}
