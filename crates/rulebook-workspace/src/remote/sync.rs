//! Syncing: a copy is replaced by what is there now, if that is what it should be.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::address::{Address, Web};
use super::fetch::{Client, Fetched};
use super::{
    Failed, Kept, Listed, MAX_DOCUMENT, MAX_FILE, REFRESH, RemoteRule, VERSION, file, folder, in_place, kept,
    list, read_document, verify,
};
use crate::atomic::naming;
use crate::homes::Homes;
use crate::settings::Remote;
use crate::state::{self, Read};
use crate::{bounded, discover};

/// How fetching one remote ended.
#[derive(Clone, Debug)]
pub struct Synced {
    /// What it did to the copy; an error says in one line why there is no new one.
    pub change: Result<Change, String>,
    /// What there is now.
    pub listed: Listed,
}

/// What fetching did to a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// There was none before.
    New,
    /// It is another now.
    Changed,
    /// It is what it was.
    Same,
    /// There is none: a folder is read in place.
    InPlace,
}

/// What is there now, beside the copy.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The rules of the copy.
    pub before: Vec<RemoteRule>,
    /// The rules that are published.
    pub after: Vec<RemoteRule>,
}

/// What was fetched, checked and ready to be kept.
enum Found {
    Same,
    New { document: String, etag: Option<String>, signature: Option<String> },
}

/// Fetches one remote and keeps what it says. Whatever goes wrong, the copy from before stays, and why is kept with it.
///
/// # Errors
/// If the copy cannot be written.
pub fn sync(remote: &Remote, homes: &Homes, now: SystemTime) -> io::Result<Synced> {
    let done = |change| Synced { change, listed: list(remote, homes) };
    if let Some(folder) = folder(remote, homes) {
        return Ok(done(in_place(&folder).map(|()| Change::InPlace)));
    }
    let file = file(remote, homes)
        .ok_or_else(|| io::Error::other("there is no folder for copies: set HOME or XDG_CACHE_HOME"))?;
    let before = match kept(remote, &file) {
        Read::Newer(newer) => return Err(state::newer_error(&file, newer, VERSION)),
        read => read.known(),
    };
    let found = find(remote, homes, before.as_ref());
    let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut change = Ok(Change::Same);
    state::update(&file, MAX_FILE, VERSION, |current: Option<Kept>| {
        let current = current.filter(|kept| kept.url == remote.url);
        let mut kept =
            current.unwrap_or_else(|| Kept { version: VERSION, url: remote.url.clone(), ..Kept::default() });
        match found {
            Ok(Found::Same) => (kept.fetched, kept.failed) = (Some(now), None),
            Ok(Found::New { document, etag, signature }) => {
                change = Ok(match &kept.document {
                    None => Change::New,
                    Some(old) if *old == document => Change::Same,
                    Some(_) => Change::Changed,
                });
                (kept.document, kept.etag, kept.signature) = (Some(document), etag, signature);
                (kept.fetched, kept.failed) = (Some(now), None);
            }
            Err(why) => {
                kept.failed = Some(Failed { at: now, why: why.clone() });
                change = Err(why);
            }
        }
        Some(kept)
    })?;
    Ok(done(change))
}

/// What a remote says now and what its copy says, and nothing is written.
///
/// # Errors
/// If it cannot be fetched, or is not what it should be.
pub fn preview(remote: &Remote, homes: &Homes) -> Result<Preview, String> {
    let before = list(remote, homes).rules;
    if let Some(folder) = folder(remote, homes) {
        return in_place(&folder).map(|()| Preview { after: before.clone(), before });
    }
    match find(remote, homes, None)? {
        Found::Same => Ok(Preview { after: before.clone(), before }),
        Found::New { document, .. } => Ok(Preview { before, after: read_document(&document)?.0 }),
    }
}

/// Whether a remote's copy is older than it may be, or not what the settings name now. A copy from the future says that the
/// clock went back: then nobody knows its age. An attempt that failed is not repeated at once.
pub fn is_due(remote: &Remote, homes: &Homes, now: SystemTime) -> bool {
    const PAUSE: Duration = Duration::from_secs(60);
    if folder(remote, homes).is_some() {
        return false;
    }
    let Some(kept) = file(remote, homes).and_then(|file| kept(remote, &file).known()) else { return true };
    let is_over = |seconds: u64, limit: Duration| {
        let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        since.is_none_or(|since| now.duration_since(since).is_ok_and(|age| age >= limit) || since > now)
    };
    let is_old = kept.fetched.is_none_or(|at| is_over(at, remote.refresh.unwrap_or(REFRESH)));
    (is_old || !kept.is_good(remote)) && kept.failed.is_none_or(|failed| is_over(failed.at, PAUSE))
}

/// Fetches what is there now, checked against what the settings name.
fn find(remote: &Remote, homes: &Homes, before: Option<&Kept>) -> Result<Found, String> {
    let found = match Address::parse(&remote.url).ok_or("has an address that may not be fetched")? {
        Address::Web(web) => find_on_web(remote, homes, &web, before)?,
        Address::Document(path) => find_on_disk(remote, &homes.expand(&path))?,
        Address::Folder(_) => return Err("is a folder, which is read in place".to_owned()),
    };
    if let Found::New { document, signature, .. } = &found {
        verify(remote, document, signature.as_deref())?;
        read_document(document)?;
    }
    Ok(found)
}

fn find_on_web(remote: &Remote, homes: &Homes, web: &Web, before: Option<&Kept>) -> Result<Found, String> {
    let ca_file = remote.ca_file.as_ref().map(|file| homes.expand(file));
    let client = Client::new(web, ca_file.as_deref(), token(remote)?)?;
    // Only a copy that is what it should be need not be fetched again.
    let etag = before.filter(|kept| kept.is_good(remote)).and_then(|kept| kept.etag.as_deref());
    let (document, etag) = match client.get(web, etag)? {
        Fetched::Same => return Ok(Found::Same),
        Fetched::Text { text, etag } => (text, etag),
    };
    let signature = match remote.minisign_key {
        None => None,
        Some(_) => match client.get(&web.beside(SIGNATURE), None) {
            Ok(Fetched::Text { text, .. }) => Some(text),
            Ok(Fetched::Same) => None,
            Err(why) => return Err(format!("has no signature: `{}` {why}", web.beside(SIGNATURE).text())),
        },
    };
    Ok(Found::New { document, etag, signature })
}

/// How the file of a signature ends; it begins with the document's name.
const SIGNATURE: &str = ".minisig";

fn find_on_disk(remote: &Remote, path: &Path) -> Result<Found, String> {
    let read = |path: &Path| -> io::Result<String> {
        match bounded::read(path, MAX_DOCUMENT)? {
            Some(bytes) if bytes.len() > MAX_DOCUMENT => {
                Err(io::Error::other(format!("it has more than {MAX_DOCUMENT} bytes")))
            }
            Some(bytes) => String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text")),
            None => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    };
    let fail = |path: &Path, error: io::Error| discover::reason(&naming("cannot read", path, &error));
    let document = read(path).map_err(|error| fail(path, error))?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(SIGNATURE);
    let signature =
        remote.minisign_key.as_ref().and_then(|_| fs::metadata(&beside).ok().and(read(beside.as_ref()).ok()));
    Ok(Found::New { document, etag: None, signature })
}

/// The token, from the variable the settings name; it is never written or shown.
fn token(remote: &Remote) -> Result<Option<String>, String> {
    let Some(name) = &remote.token_env else { return Ok(None) };
    match std::env::var(name) {
        Ok(token) if token.bytes().all(|byte| byte.is_ascii_graphic()) && !token.is_empty() => {
            Ok(Some(token))
        }
        Ok(_) => Err(format!("cannot be asked: the variable `{name}` holds no token")),
        Err(_) => Err(format!("cannot be asked: the variable `{name}` is not set")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_not_what_the_settings_name_now_is_due() {
        let folder = tempfile::tempdir().unwrap();
        let document = folder.path().join("rules.json");
        fs::write(&document, r#"{"remoteGlobalRules":[]}"#).unwrap();
        let homes = Homes { cache: Some(folder.path().to_owned()), ..Homes::default() };
        let remote =
            Remote { name: "acme".to_owned(), url: document.display().to_string(), ..Remote::default() };
        let now = SystemTime::now();
        assert!(is_due(&remote, &homes, now));
        sync(&remote, &homes, now).unwrap();
        assert!(!is_due(&remote, &homes, now));
        assert!(is_due(&Remote { sha256: Some("0".repeat(64)), ..remote }, &homes, now));
    }
}
