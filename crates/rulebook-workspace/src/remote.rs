//! Remote rules: the copies kept of what an organisation publishes, and what of them is delivered.
//!
//! Loading reads copies and nothing else, so a hook never waits for a network; [`sync`](fn@sync) fetches.

#[cfg_attr(not(feature = "remote"), allow(dead_code, reason = "only what fetches needs all of it"))]
mod address;
mod document;
#[cfg(feature = "remote")]
mod fetch;
#[cfg(feature = "remote")]
mod sync;

pub(crate) use address::{Address, SHAPE};
pub use document::{RemoteRule, read_document};
#[cfg(feature = "remote")]
pub use sync::{Change, Preview, Synced, is_due, preview, sync};

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
use crate::state::{self, Read, sha256};

/// How old a copy may become before it is fetched again, where the settings do not say.
pub const REFRESH: Duration = Duration::from_secs(60 * 60);

/// The version of the file a copy is kept in.
const VERSION: u64 = 1;

/// The largest document that is fetched, in bytes.
pub const MAX_DOCUMENT: usize = 4 << 20;

/// The largest file a copy is kept in: every byte of a document may need six to be written in JSON.
const MAX_FILE: usize = 6 * MAX_DOCUMENT + (1 << 20);

/// The copy of a document, and how the last attempt to fetch it ended.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    version: u64,
    url: String,
    etag: Option<String>,
    /// When it was fetched, or found to be unchanged, in seconds since 1970.
    fetched: Option<u64>,
    document: Option<String>,
    signature: Option<String>,
    failed: Option<Failed>,
}

impl Kept {
    /// Whether there is a copy, and it is what the settings name.
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

/// A remote as it stands on this machine.
#[derive(Clone, Debug)]
pub struct Listed {
    /// When its copy was fetched, or last found unchanged; nothing for a folder, which is read in place.
    pub fetched: Option<SystemTime>,
    /// Whether it is a folder, read in place.
    pub is_folder: bool,
    /// Its rules.
    pub rules: Vec<RemoteRule>,
    /// Why the last attempt to fetch it failed.
    pub failed: Option<String>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// How a remote is called in messages.
fn shown(remote: &Remote) -> String {
    format!("remote {}", remote.name)
}

/// The file a remote's copy is kept in; nowhere without a home.
fn file(remote: &Remote, homes: &Homes) -> Option<PathBuf> {
    homes
        .cache
        .as_ref()
        .map(|cache| cache.join("rulebook/remote").join(format!("{}.json", safe(&remote.name))))
}

/// The copy of a remote; one of another address is none.
fn kept(remote: &Remote, file: &Path) -> Read<Kept> {
    match state::read::<Kept>(file, MAX_FILE, VERSION) {
        Read::Known(kept) if kept.url != remote.url => Read::Absent,
        read => read,
    }
}

/// A remote as it stands, without asking anybody.
pub fn list(remote: &Remote, homes: &Homes) -> Listed {
    let mut listed =
        Listed { fetched: None, is_folder: false, rules: Vec::new(), failed: None, diagnostics: Vec::new() };
    if let Some(path) = folder(remote, homes) {
        listed.is_folder = true;
        listed.diagnostics.extend(report_folder(remote, &path));
        return listed;
    }
    let Some(file) = file(remote, homes) else {
        listed
            .diagnostics
            .push(never_fetched(remote, "there is no folder for copies: set HOME or XDG_CACHE_HOME"));
        return listed;
    };
    let read = kept(remote, &file);
    listed.diagnostics.extend(read.diagnostic(&file));
    let kept = read.known().unwrap_or_default();
    listed.failed = kept.failed.as_ref().map(|failed| failed.why.clone());
    listed.fetched =
        kept.fetched.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    let Some(document) = &kept.document else {
        let why = listed.failed.as_deref().unwrap_or("nobody asked for it yet");
        listed.diagnostics.push(never_fetched(remote, why));
        return listed;
    };
    if let Some(failed) = &kept.failed {
        let message = format!(
            "could not be fetched ({}); the copy of {} is used",
            failed.why,
            date(kept.fetched.unwrap_or(0))
        );
        listed.diagnostics.push(Diagnostic::whole(Code::RemoteFailed, shown(remote), message));
    }
    let refuse =
        |why: String| Diagnostic::whole(Code::RemoteRefused, shown(remote), format!("its copy {why}"));
    match verify(remote, document, kept.signature.as_deref()).and_then(|()| read_document(document)) {
        Ok((rules, faults)) => {
            listed.rules = rules;
            listed.diagnostics.extend(faults.into_iter().map(|fault| {
                Diagnostic::whole(Code::BadValue, shown(remote), fault)
                    .help("mend the document where it is published")
            }));
        }
        Err(why) => listed.diagnostics.push(refuse(why)),
    }
    listed
}

/// The rules of every remote's copy, and what is to be told of them. Folders are found with the other folders.
pub(crate) fn load(remotes: &[Remote], homes: &Homes) -> (Vec<Parsed>, Vec<Diagnostic>) {
    let (mut parsed, mut diagnostics) = (Vec::new(), Vec::new());
    for remote in remotes {
        let listed = list(remote, homes);
        diagnostics.extend(listed.diagnostics);
        let file = file(remote, homes).map(|file| posix(&file)).unwrap_or_default();
        parsed.extend(listed.rules.into_iter().map(|rule| read_rule(rule, &file)));
    }
    (parsed, diagnostics)
}

/// The folders among the remotes, each by its name.
pub(crate) fn folders(remotes: &[Remote], homes: &Homes) -> Vec<(String, PathBuf)> {
    remotes.iter().filter_map(|remote| Some((remote.name.clone(), folder(remote, homes)?))).collect()
}

/// The folder that a remote is, if it is one.
fn folder(remote: &Remote, homes: &Homes) -> Option<PathBuf> {
    match Address::parse(&remote.url)? {
        Address::Folder(path) => Some(homes.expand(&path)),
        _ => None,
    }
}

/// A rule of a document, read like a file.
fn read_rule(rule: RemoteRule, file: &str) -> Parsed {
    let mut origin = Origin::new(FormatId::Remote.row(), &FETCHED, visible_line(&rule.name));
    origin.scope = Scope::Remote;
    origin.path = format!("{file}#{}", rule.name);
    origin.inner = rule.name;
    let mut parsed = parse(Source { origin, text: Ok(rule.contents) });
    if let Entry::Rule(read) = &mut parsed.entry {
        read.is_mandatory |= rule.is_mandatory;
    }
    parsed
}

/// Calls a file otherwise that is called like a remote rule: nothing in a workspace passes for the organisation's.
pub(crate) fn report_apart(parsed: &mut [Parsed]) {
    let is_remote = |origin: &Origin| origin.format.id == FormatId::Remote;
    let origins = parsed.iter().map(|parsed| parsed.entry.origin());
    let remote: HashSet<String> =
        origins.filter(|origin| is_remote(origin)).map(|origin| origin.display.clone()).collect();
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

/// Whether a document is the one the settings name: its hash, its signature. An error goes on after what it is about.
fn verify(remote: &Remote, document: &str, signature: Option<&str>) -> Result<(), String> {
    if let Some(pin) = &remote.sha256 {
        let found = sha256(document.as_bytes());
        if found != *pin {
            return Err(format!("has the SHA-256 {found}, not {pin}"));
        }
    }
    let Some(key) = &remote.minisign_key else { return Ok(()) };
    let key =
        PublicKey::from_base64(key).map_err(|_| "cannot be checked: `minisign_key` is none".to_owned())?;
    let signature = signature.ok_or("has no signature")?;
    let signature =
        Signature::decode(signature).map_err(|_| "has a signature that cannot be read".to_owned())?;
    key.verify(document.as_bytes(), &signature, false).map_err(|error| match error {
        minisign_verify::Error::UnexpectedAlgorithm => {
            "has a signature of minisign's old kind; sign it without `-l`".to_owned()
        }
        _ => "has a signature that is not by `minisign_key`".to_owned(),
    })
}

/// Whether a text is a public key of minisign.
pub(crate) fn is_key(text: &str) -> bool {
    PublicKey::from_base64(text).is_ok()
}

fn never_fetched(remote: &Remote, why: &str) -> Diagnostic {
    let message = format!("was never fetched and contributes nothing: {why}");
    Diagnostic::whole(Code::RemoteMissing, shown(remote), message)
}

/// Whether a folder is there to be read in place; an error goes on after what names it.
fn in_place(path: &Path) -> Result<(), String> {
    path.is_dir().then_some(()).ok_or_else(|| format!("names `{}`, which is not a folder", path.display()))
}

fn report_folder(remote: &Remote, path: &Path) -> Option<Diagnostic> {
    if let Err(message) = in_place(path) {
        return Some(
            Diagnostic::whole(Code::RemoteMissing, shown(remote), message)
                .help("check it out there, or name a document that ends in `.json`"),
        );
    }
    (remote.sha256.is_some() || remote.minisign_key.is_some()).then(|| {
        let message = "is a folder, which has no hash and no signature; it is used as it is";
        Diagnostic::whole(Code::RemoteRefused, shown(remote), message)
            .help("publish a document, or check out the commit you mean and leave the key out")
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
    fn a_date_is_read_off_the_seconds() {
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
    fn a_document_is_what_its_hash_and_its_signature_say() {
        const KEY: &str = include_str!("remote/tests/minisign.pub");
        const DOCUMENT: &str = include_str!("remote/tests/document.json");
        const SIGNATURE: &str = include_str!("remote/tests/document.json.minisig");
        #[track_caller]
        fn check(pin: Option<&str>, key: Option<&str>, document: &str, signature: Option<&str>, want: &str) {
            let key = key.map(|key| key.lines().last().unwrap_or_default().to_owned());
            let remote = Remote { sha256: pin.map(str::to_owned), minisign_key: key, ..Remote::default() };
            let found = verify(&remote, document, signature).map_or_else(|why| why, |()| "fine".to_owned());
            assert_eq!(found, want);
        }
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        check(None, None, "abc", None, "fine");
        check(Some(abc), None, "abc", None, "fine");
        let other = "0".repeat(64);
        check(Some(&other), None, "abc", None, &format!("has the SHA-256 {abc}, not {other}"));
        check(None, Some(KEY), DOCUMENT, Some(SIGNATURE), "fine");
        check(None, Some(KEY), DOCUMENT, None, "has no signature");
        check(None, Some(KEY), DOCUMENT, Some("rubbish"), "has a signature that cannot be read");
        check(None, Some(KEY), "abc", Some(SIGNATURE), "has a signature that is not by `minisign_key`");
        check(
            Some(&other),
            Some(KEY),
            "abc",
            Some(SIGNATURE),
            &format!("has the SHA-256 {abc}, not {other}"),
        );
    }
}
