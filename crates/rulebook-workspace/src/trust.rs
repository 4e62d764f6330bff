//! Trust: the hashes of the workspace files that a person has reviewed, kept outside the repository.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::Roots;
use rulebook::parse::{Entry, Parsed};
use rulebook::source::{Origin, Scope, Unreadable};
use serde::{Deserialize, Serialize};

use crate::canonical::canonical;
use crate::disk::{Text, lock};
use crate::homes::posix;
use crate::read;
use crate::settings::Trust;
use crate::state::{self, sha256};
use crate::write::{self, Audience, Owner, naming};

/// The version of the file that is written.
const VERSION: u64 = 1;

/// The largest file that is read, in bytes.
const MAX_FILE: usize = 64 << 20;

/// The hashes of the files of one root, by path.
pub(crate) type Hashes = BTreeMap<String, String>;

/// The files that a person trusts.
#[derive(Clone, Debug)]
pub struct TrustStore {
    path: PathBuf,
    /// Trusted texts by their hash, to show what changed.
    texts: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
struct Document {
    version: u64,
    /// By the root's canonical path.
    workspaces: BTreeMap<String, Hashes>,
}

impl TrustStore {
    /// The store in a folder, which need not exist yet.
    pub fn at(state_dir: &Path) -> TrustStore {
        TrustStore { path: state_dir.join("trust.json"), texts: state_dir.join("trusted") }
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        &self.path
    }

    /// The trusted files of each root, and any problem with the store.
    pub(crate) fn read(&self, roots: &Roots) -> (Vec<Option<Hashes>>, Option<Diagnostic>) {
        let read = state::read::<Document>(&self.path, MAX_FILE, VERSION);
        let diagnostic = read.diagnostic(&self.path);
        let mut known = read.known().unwrap_or_default().workspaces;
        (roots.roots.iter().map(|root| known.remove(&root.path)).collect(), diagnostic)
    }

    /// Records these texts, and no others, as the trusted files of a root.
    ///
    /// # Errors
    /// If the store cannot be written, or a newer Rulebook wrote it.
    pub fn record(&self, root: &str, texts: &[(String, Arc<str>)]) -> io::Result<()> {
        let hashes: Hashes =
            texts.iter().map(|(path, text)| (path.clone(), sha256(text.as_bytes()))).collect();
        let _lock = write::lock(&self.texts.join("texts"))
            .map_err(|error| naming("cannot write", &self.path, &error))?;
        for (path, text) in texts {
            let kept = self.texts.join(&hashes[path]);
            if !kept.exists() {
                write::replace(&kept, text, Audience::Owner, Owner::Person)?;
            }
        }
        self.change(|known| {
            known.insert(root.to_owned(), hashes);
        })?;
        self.sweep();
        Ok(())
    }

    /// Removes a root from the store. Returns whether it was there.
    ///
    /// # Errors
    /// If the store cannot be written, or a newer Rulebook wrote it.
    pub fn forget(&self, root: &str) -> io::Result<bool> {
        let mut was_known = false;
        self.change(|known| was_known = known.remove(root).is_some())?;
        Ok(was_known)
    }

    /// A trusted text by its hash, to show what changed since.
    pub(crate) fn text(&self, hash: &str) -> Option<String> {
        let text = read::text(&self.texts.join(hash), MAX_FILE).ok()??;
        (sha256(text.as_bytes()) == hash).then_some(text)
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Hashes>)) -> io::Result<()> {
        state::update(&self.path, MAX_FILE, VERSION, |known: Option<Document>| {
            let mut known = known.unwrap_or_default();
            change(&mut known.workspaces);
            Document { version: VERSION, ..known }
        })
        .map(drop)
    }

    /// Removes texts that no root refers to any more. One that cannot be removed stays.
    fn sweep(&self) {
        let Some(known) = state::read::<Document>(&self.path, MAX_FILE, VERSION).known() else { return };
        let is_named =
            |name: &str| known.workspaces.values().flat_map(Hashes::values).any(|hash| hash == name);
        for entry in read::folder(&self.texts).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.len() == 64 && !is_named(&name) {
                write::discard(&entry.path());
            }
        }
    }
}

/// Texts by root and path.
pub(crate) type Texts = BTreeMap<(usize, String), Arc<str>>;

/// The check that every file of a workspace passes before it is used.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    mode: Trust,
    /// The trusted files of each root.
    known: Vec<Option<Hashes>>,
    /// The canonical paths of the roots.
    roots: Vec<String>,
    /// Every text that was checked, during a review.
    pub(crate) seen: Option<Mutex<Texts>>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The file is used.
    Accepted,
    /// The file is used, and this is reported about it.
    Reported(&'static str),
    /// The file is not used.
    Refused,
}

impl Gate {
    pub(crate) fn new(mode: Trust, known: Vec<Option<Hashes>>, roots: &Roots) -> Gate {
        Gate { mode, known, roots: roots.roots.iter().map(|root| root.path.clone()).collect(), seen: None }
    }

    /// Checks a file of a root.
    pub(crate) fn check(&self, root: usize, path: &str, text: &Text) -> Admission {
        let known = self.known.get(root).and_then(Option::as_ref);
        match (self.mode, known) {
            (Trust::Off, _) | (Trust::Warn, None) => return Admission::Accepted,
            (Trust::Require, None) => return Admission::Refused,
            (_, Some(_)) => {}
        }
        let hash = known.and_then(|known| known.get(&self.key(root, path)));
        match (self.mode, hash) {
            (_, Some(hash)) if text.sha256() == *hash => Admission::Accepted,
            (Trust::Require, _) => Admission::Refused,
            (_, Some(_)) => Admission::Reported("has changed since the workspace was trusted"),
            (_, None) => Admission::Reported("is new since the workspace was trusted"),
        }
    }

    /// Checks a rule file: its text or why it must not be used, and what is reported about it.
    ///
    /// A person's own rules and fetched ones are trusted by other means. A folder that the settings name belongs to the
    /// workspace if it is inside it.
    pub(crate) fn admit(
        &self,
        origin: &Origin,
        text: Result<Arc<Text>, Unreadable>,
    ) -> (Result<Arc<str>, Unreadable>, Option<Diagnostic>) {
        let text = match text {
            Ok(text) => text,
            Err(refused) => return (Err(refused), None),
        };
        let path = match origin.scope {
            Scope::Workspace => Some(Cow::Borrowed(origin.path.as_str())),
            // Whichever links it is named by.
            Scope::Extra => {
                let real = real(&origin.path);
                self.roots.iter().any(|root| below(root, &real).is_some()).then_some(Cow::Owned(real))
            }
            Scope::Remote | Scope::User => None,
        };
        let Some(path) = path else { return (Ok(text.shared()), None) };
        if let Some(seen) = &self.seen {
            lock(seen).insert((origin.root, self.key(origin.root, &path)), text.shared());
        }
        match self.check(origin.root, &path, &text) {
            Admission::Accepted => (Ok(text.shared()), None),
            Admission::Reported(message) => {
                (Ok(text.shared()), Some(Diagnostic::whole(Code::Changed, &origin.display, message)))
            }
            Admission::Refused => (Err(Unreadable::Untrusted), None),
        }
    }

    /// The name of a file in the store: its path in the root, or its whole path outside.
    fn key(&self, root: usize, path: &str) -> String {
        self.roots.get(root).and_then(|root| below(root, path)).unwrap_or(path).to_owned()
    }
}

/// The canonical path. A name that is not UTF-8 cannot be looked up: the nearest folder above it that can decides.
fn real(path: &str) -> String {
    let path = Path::new(path);
    let real = |at: &Path| Some(canonical(at).ok()?.join(path.strip_prefix(at).ok()?));
    posix(&path.ancestors().find_map(real).unwrap_or_else(|| path.to_owned()))
}

fn below<'p>(root: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'))
}

/// Reports the untrusted files of each root in one message, instead of one per file.
pub(crate) fn report_untrusted(
    parsed: &mut [Parsed],
    untrusted_settings: &[usize],
    roots: &Roots,
) -> Vec<Diagnostic> {
    let mut counts = vec![0; roots.roots.len()];
    untrusted_settings.iter().for_each(|root| counts[*root] += 1);
    for parsed in parsed {
        if let Entry::Rejected(rejected) = &parsed.entry
            && rejected.codes == [Code::Untrusted]
        {
            counts[rejected.origin.root] += 1;
            parsed.diagnostics.clear();
        }
    }
    let report = |(root, count): (usize, usize)| {
        let message = match count {
            1 => "1 file of this workspace is not trusted: Rulebook does not use it, but agents still read their own files".to_owned(),
            _ => format!("{count} files of this workspace are not trusted: Rulebook uses none of them, but agents still read their own files"),
        };
        Diagnostic::whole(Code::Untrusted, roots.roots[root].path.clone(), message)
    };
    counts.into_iter().enumerate().filter(|(_, count)| *count > 0).map(report).collect()
}
