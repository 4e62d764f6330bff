//! Syncing: fetches a remote, checks it and replaces its copy.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::document::{RemoteRule, read_document};
use super::error::RemoteError;
use super::fetch::{Client, Fetched};
use super::{
    Failed, Kept, MAX_DOCUMENT, MAX_FILE, NO_CACHE, REFRESH, RemoteCopy, VERSION, check_folder, file, folder,
    kept, list, verify, verify_age,
};
use crate::homes::Homes;
use crate::read;
use crate::settings::Remote;
use crate::settings::address::{Address, Web};
use crate::state::{self, Read};
use crate::write::naming;

/// The result of fetching one remote.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Synced {
    /// What happened to the copy, or why there is no new one.
    pub change: Result<CopyChange, RemoteError>,
    /// The copy now.
    pub copy: RemoteCopy,
}

/// What fetching did to a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyChange {
    /// There was no copy before.
    New,
    /// The copy changed.
    Changed,
    /// The copy is the same.
    Same,
    /// There is no copy: a folder is read in place.
    InPlace,
}

/// The published rules beside those of the copy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Preview {
    /// The rules of the copy.
    pub before: Vec<RemoteRule>,
    /// The rules that are published.
    pub after: Vec<RemoteRule>,
}

/// A document that was fetched and checked.
enum Found {
    Same,
    New { document: String, etag: Option<String>, signature: Option<String> },
}

impl Found {
    fn not_older(self, remote: &Remote, copy: &Kept) -> Result<Found, RemoteError> {
        if let Found::New { signature, .. } = &self {
            verify_age(remote, copy, signature.as_deref())?;
        }
        Ok(self)
    }
}

/// Fetches one remote and keeps a copy. If that fails, the old copy stays and the reason is kept with it.
///
/// # Errors
/// If the copy cannot be written.
pub fn sync(remote: &Remote, homes: &Homes, now: SystemTime) -> io::Result<Synced> {
    let done = |change| Synced { change, copy: list(remote, homes) };
    if let Some(folder) = folder(remote, homes) {
        return Ok(done(check_folder(remote, &folder).map(|()| CopyChange::InPlace)));
    }
    if remote.is_held {
        return Ok(done(Err(held())));
    }
    let file = file(remote, homes).ok_or_else(|| io::Error::other(NO_CACHE))?;
    let before = match kept(remote, &file) {
        Read::Newer(newer) => return Err(state::newer_error(&file, newer, VERSION)),
        read => read.known(),
    };
    let found = find(remote, homes, before.as_ref());
    let now = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut change = Ok(CopyChange::Same);
    state::update(&file, MAX_FILE, VERSION, |current: Option<Kept>| {
        let current = current.filter(|kept| kept.url == remote.url);
        let mut kept =
            current.unwrap_or_else(|| Kept { version: VERSION, url: remote.url.clone(), ..Kept::default() });
        // Another process may have fetched a newer document meanwhile.
        match found.and_then(|found| found.not_older(remote, &kept)) {
            Ok(Found::Same) => (kept.fetched, kept.failed) = (Some(now), None),
            Ok(Found::New { document, etag, signature }) => {
                change = Ok(match &kept.document {
                    None => CopyChange::New,
                    Some(old) if *old == document => CopyChange::Same,
                    Some(_) => CopyChange::Changed,
                });
                (kept.document, kept.etag, kept.signature) = (Some(document), etag, signature);
                (kept.fetched, kept.failed) = (Some(now), None);
            }
            Err(why) => {
                kept.failed = Some(Failed { at: now, why: why.to_string() });
                change = Err(why);
            }
        }
        kept
    })?;
    Ok(done(change))
}

/// Fetches a remote to compare it with its copy; nothing is written.
///
/// # Errors
/// If it cannot be fetched, or fails a check.
pub fn preview(remote: &Remote, homes: &Homes) -> Result<Preview, RemoteError> {
    let before = list(remote, homes).rules;
    if let Some(folder) = folder(remote, homes) {
        return check_folder(remote, &folder).map(|()| Preview { after: before.clone(), before });
    }
    if remote.is_held {
        return Err(held());
    }
    let copy = file(remote, homes).and_then(|file| kept(remote, &file).known()).unwrap_or_default();
    match find(remote, homes, None)?.not_older(remote, &copy)? {
        Found::Same => Ok(Preview { after: before.clone(), before }),
        Found::New { document, .. } => Ok(Preview { before, after: read_document(&document)?.0 }),
    }
}

/// Whether a remote's copy is too old, or fails the checks of the current settings.
///
/// A copy from the future means that the clock was set back: its age is unknown, so it is due. A failed attempt is not
/// repeated at once.
pub fn is_due(remote: &Remote, homes: &Homes, now: SystemTime) -> bool {
    const PAUSE: Duration = Duration::from_secs(60);
    if folder(remote, homes).is_some() || remote.is_held {
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

fn held() -> RemoteError {
    RemoteError::new("is not fetched: its settings are invalid")
}

/// Fetches the document and checks it against the settings.
fn find(remote: &Remote, homes: &Homes, before: Option<&Kept>) -> Result<Found, RemoteError> {
    let address = Address::parse(&remote.url);
    let found = match address.ok_or_else(|| RemoteError::new("has an address that cannot be fetched"))? {
        Address::Web(web) => find_on_web(remote, homes, &web, before)?,
        Address::Document(path) => find_on_disk(remote, &homes.expand(&path))?,
        Address::Folder(_) => return Err(RemoteError::new("is a folder, which is read in place")),
    };
    if let Found::New { document, signature, .. } = &found {
        verify(remote, document, signature.as_deref())?;
        read_document(document)?;
    }
    Ok(found)
}

fn find_on_web(
    remote: &Remote,
    homes: &Homes,
    web: &Web,
    before: Option<&Kept>,
) -> Result<Found, RemoteError> {
    let ca_file = remote.ca_file.as_ref().map(|file| homes.expand(file));
    let client = Client::new(web, ca_file.as_deref(), token(remote)?)?;
    // A copy that fails its checks must be fetched again.
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
            Err(why) => {
                let address = web.beside(SIGNATURE).text();
                return Err(RemoteError::new(format!("has no signature: `{address}` {why}")));
            }
        },
    };
    Ok(Found::New { document, etag, signature })
}

/// The end of a signature's file name; it starts with the document's.
const SIGNATURE: &str = ".minisig";

fn find_on_disk(remote: &Remote, path: &Path) -> Result<Found, RemoteError> {
    let fail = |error: io::Error| RemoteError::new(read::reason(&naming("cannot read", path, &error)));
    let text = read::text(path, MAX_DOCUMENT).map_err(fail)?;
    let document = text.ok_or_else(|| fail(io::ErrorKind::NotFound.into()))?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(SIGNATURE);
    let signature =
        remote.minisign_key.as_ref().and_then(|_| read::text(beside.as_ref(), MAX_DOCUMENT).ok().flatten());
    Ok(Found::New { document, etag: None, signature })
}

/// The token from the variable that the settings name; it is never written or shown.
fn token(remote: &Remote) -> Result<Option<String>, RemoteError> {
    let Some(name) = &remote.token_env else { return Ok(None) };
    match std::env::var(name) {
        Ok(token) if token.bytes().all(|byte| byte.is_ascii_graphic()) && !token.is_empty() => {
            Ok(Some(token))
        }
        Ok(_) => {
            Err(RemoteError::new(format!("cannot be requested: the variable `{name}` is not a valid token")))
        }
        Err(_) => Err(RemoteError::new(format!("cannot be requested: the variable `{name}` is not set"))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_copy_that_fails_the_checks_of_the_settings_is_due() {
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

    #[test]
    fn a_signed_document_does_not_replace_one_that_was_signed_later() {
        const KEY: &str = include_str!("tests/dated/minisign.pub");
        let folder = tempfile::tempdir().unwrap();
        let published = folder.path().join("rules.json");
        let publish = |name: &str| {
            let dated = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/remote/tests/dated");
            for end in ["", SIGNATURE] {
                let to = folder.path().join(format!("rules.json{end}"));
                fs::copy(dated.join(format!("{name}.json{end}")), to).unwrap();
            }
        };
        let homes = Homes { cache: Some(folder.path().to_owned()), ..Homes::default() };
        let remote = Remote {
            name: "acme".to_owned(),
            url: published.display().to_string(),
            minisign_key: KEY.lines().last().map(str::to_owned),
            ..Remote::default()
        };
        let check = |name: &str, remote: &Remote, want: Result<CopyChange, &str>, text: &str| {
            publish(name);
            let seen = preview(remote, &homes).map_err(|error| error.to_string());
            let synced = sync(remote, &homes, SystemTime::now()).unwrap();
            assert_eq!(
                synced.change.map_err(|error| error.to_string()),
                want.map_err(str::to_owned),
                "{name}"
            );
            assert_eq!(seen.is_ok(), want.is_ok(), "what `diff` shows is what `sync` does: {seen:?}");
            assert_eq!(list(remote, &homes).rules[0].contents, text, "{name}");
        };
        check("first", &remote, Ok(CopyChange::New), "First.");
        check("second", &remote, Ok(CopyChange::Changed), "Second.");
        check("second", &remote, Ok(CopyChange::Same), "Second.");
        let older = "was signed on 2023-11-14 22:13 UTC, but the copy was signed on 2027-01-15 08:00 UTC; to publish it again, sign it again";
        check("first", &remote, Err(older), "Second.");
        let undated = "has a signature without a timestamp, but the copy was signed on 2027-01-15 08:00 UTC; to publish it again, sign it again";
        check("undated", &remote, Err(undated), "Second.");
        // A pin names one document, whatever its age.
        publish("first");
        let pin = state::sha256(&fs::read(&published).unwrap());
        check("first", &Remote { sha256: Some(pin), ..remote.clone() }, Ok(CopyChange::Changed), "First.");
        // A copy that is not verified says nothing about age.
        check("second", &remote, Ok(CopyChange::Changed), "Second.");
        let other = Remote { minisign_key: None, ..remote };
        check("first", &other, Ok(CopyChange::Changed), "First.");
    }
}
