//! Trust: which files of a workspace a person has looked at, by hash, kept outside the repository.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::Roots;
use rulebook::parse::Parsed;
use rulebook::source::{Origin, Scope, Unreadable};
use serde::{Deserialize, Serialize};

use crate::atomic::{self, Audience, naming};
use crate::homes::posix;
use crate::settings::Trust;
use crate::state::{self, sha256};
use crate::{Loaded, Reach, Workspace};

/// The version of the file that is written.
const VERSION: u64 = 1;

/// The largest file that is read, in bytes.
const MAX_FILE: usize = 64 << 20;

/// The hashes of the files of one workspace, by path.
pub type Hashes = BTreeMap<String, String>;

/// Where a person's trust is kept.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
    /// Trusted texts by their hash, to show what changed.
    texts: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
struct Document {
    version: u64,
    /// By the root's real path.
    workspaces: BTreeMap<String, Hashes>,
}

impl Store {
    /// The store in a folder, which need not be there yet.
    pub fn at(state_dir: &Path) -> Store {
        Store { path: state_dir.join("trust.json"), texts: state_dir.join("trusted") }
    }

    /// Where it is kept.
    pub fn file(&self) -> &Path {
        &self.path
    }

    /// What was trusted in each of these roots, and what is wrong with the store.
    pub fn read(&self, roots: &Roots) -> (Vec<Option<Hashes>>, Option<Diagnostic>) {
        let read = state::read::<Document>(&self.path, MAX_FILE, VERSION);
        let told = read.diagnostic(&self.path);
        let mut known = read.known().unwrap_or_default().workspaces;
        (roots.roots.iter().map(|root| known.remove(&root.path)).collect(), told)
    }

    /// Records these texts, and no others, as what is trusted in a root.
    ///
    /// # Errors
    /// If that cannot be written, or a newer Rulebook keeps the store.
    pub fn record(&self, root: &str, texts: &[(String, String)]) -> io::Result<()> {
        let hashes: Hashes =
            texts.iter().map(|(path, text)| (path.clone(), sha256(text.as_bytes()))).collect();
        let held = state::lock(&self.texts.join("texts"))
            .map_err(|error| naming("cannot write", &self.path, &error))?;
        for (path, text) in texts {
            let kept = self.texts.join(&hashes[path]);
            if !kept.exists() {
                atomic::replace(&kept, text, Audience::Owner)?;
            }
        }
        self.change(|known| {
            known.insert(root.to_owned(), hashes);
        })?;
        self.sweep();
        drop(held);
        Ok(())
    }

    /// Forgets what was trusted in a root.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn forget(&self, root: &str) -> io::Result<()> {
        self.change(|known| {
            known.remove(root);
        })
    }

    /// A text that was trusted, for showing what changed since.
    pub fn text(&self, hash: &str) -> Option<String> {
        let bytes = crate::bounded::read(&self.texts.join(hash), MAX_FILE).ok()??;
        String::from_utf8(bytes).ok().filter(|text| sha256(text.as_bytes()) == hash)
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, Hashes>)) -> io::Result<()> {
        state::update(&self.path, MAX_FILE, VERSION, |known: Option<Document>| {
            let mut known = known.unwrap_or_default();
            change(&mut known.workspaces);
            Some(Document { version: VERSION, ..known })
        })
    }

    /// Removes texts that nobody's hash names any more. What cannot be removed stays.
    fn sweep(&self) {
        let Some(known) = state::read::<Document>(&self.path, MAX_FILE, VERSION).known() else { return };
        let is_named =
            |name: &str| known.workspaces.values().flat_map(Hashes::values).any(|hash| hash == name);
        for entry in fs::read_dir(&self.texts).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.len() == 64 && !is_named(&name) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A file of a workspace beside what was trusted of it.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// Which root's.
    pub root: usize,
    /// What the store calls it.
    pub path: String,
    /// What it says.
    pub text: String,
    /// How it stands to what was trusted.
    pub standing: Standing,
}

/// How a file stands to what was trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nobody trusted it.
    New,
    /// It said something else, if that is still known.
    Changed(Option<String>),
    /// It is what was trusted.
    Same,
}

/// Every file of a workspace that trust is about, and what was trusted and is gone.
#[derive(Debug)]
pub struct Review {
    /// By root and path.
    pub files: Vec<Reviewed>,
    /// Root and path.
    pub gone: Vec<(usize, String)>,
    /// Which roots were trusted before.
    pub trusted: Vec<bool>,
    /// The rules as they are with everything trusted.
    pub loaded: Loaded,
}

impl Workspace {
    /// Reads everything, trusted or not, and compares it with what was trusted. `flags` are those it was opened with.
    pub fn review(mut self, flags: &str) -> Review {
        (self.offered, self.shut, self.diagnostics) = Default::default();
        self.read_settings(flags, Some(Trust::Off));
        self.gate.seen = Some(Mutex::default());
        let loaded = self.load(Reach::Tree);
        let store = self.trust_store();
        let (mut known, _) = store.as_ref().map(|store| store.read(&self.roots)).unwrap_or_default();
        known.resize(self.roots.roots.len(), None);
        let trusted = known.iter().map(Option::is_some).collect();
        let mut seen: Seen =
            self.gate.seen.take().map(|seen| seen.into_inner().unwrap_or_default()).unwrap_or_default();
        seen.extend(self.offered.drain(..).map(|(root, text)| ((root, "rulebook.toml".to_owned()), text)));
        let review = |((root, path), text): ((usize, String), String)| {
            let hash = known[root].as_mut().and_then(|known| known.remove(&path));
            let standing = match hash {
                None => Standing::New,
                Some(hash) if hash == sha256(text.as_bytes()) => Standing::Same,
                Some(hash) => Standing::Changed(store.as_ref().and_then(|store| store.text(&hash))),
            };
            Reviewed { root, path, text, standing }
        };
        let files = seen.into_iter().map(review).collect();
        let left = known.into_iter().enumerate().flat_map(|(root, known)| {
            known.into_iter().flat_map(move |known| known.into_keys().map(move |path| (root, path)))
        });
        Review { files, gone: left.collect(), trusted, loaded }
    }
}

/// Texts by root and path.
type Seen = BTreeMap<(usize, String), String>;

/// What stands between a workspace's files and their use: one for every file that enters.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    mode: Trust,
    /// What was trusted in each root.
    known: Vec<Option<Hashes>>,
    /// The real paths of the roots.
    roots: Vec<String>,
    /// What came by, while somebody looks through it all.
    seen: Option<Mutex<Seen>>,
}

/// What becomes of a file at the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// It is used.
    Open,
    /// It is used, and told: this is what happened to it.
    Told(&'static str),
    /// It is not used.
    Shut,
}

impl Gate {
    pub(crate) fn new(mode: Trust, known: Vec<Option<Hashes>>, roots: &Roots) -> Gate {
        Gate { mode, known, roots: roots.roots.iter().map(|root| root.path.clone()).collect(), seen: None }
    }

    /// A file of a root, by its path, with its text.
    pub(crate) fn judge(&self, root: usize, path: &str, text: &str) -> Entrance {
        let known = self.known.get(root).and_then(Option::as_ref);
        match (self.mode, known) {
            (Trust::Off, _) | (Trust::Warn, None) => return Entrance::Open,
            (Trust::Require, None) => return Entrance::Shut,
            (_, Some(_)) => {}
        }
        let hash = known.and_then(|known| known.get(&self.key(root, path)));
        match (self.mode, hash) {
            (_, Some(hash)) if sha256(text.as_bytes()) == *hash => Entrance::Open,
            (Trust::Require, _) => Entrance::Shut,
            (_, Some(_)) => Entrance::Told("has changed since the workspace was trusted"),
            (_, None) => Entrance::Told("is new since the workspace was trusted"),
        }
    }

    /// A rule file: why it must not be used, or what is to be told of it. A person's own rules, and fetched ones, are
    /// trusted by other means; a folder that the settings name is the workspace's where it lies in it.
    pub(crate) fn admit(
        &self,
        origin: &Origin,
        text: String,
    ) -> (Result<String, Unreadable>, Option<Diagnostic>) {
        let path = match origin.scope {
            Scope::Workspace => Some(Cow::Borrowed(origin.path.as_str())),
            // By whichever links it is named.
            Scope::Extra => {
                let real =
                    fs::canonicalize(&origin.path).map_or_else(|_| origin.path.clone(), |real| posix(&real));
                self.roots.iter().any(|root| below(root, &real).is_some()).then_some(Cow::Owned(real))
            }
            Scope::Remote | Scope::User => None,
        };
        let Some(path) = path else { return (Ok(text), None) };
        if let Some(seen) = &self.seen {
            let key = (origin.root, self.key(origin.root, &path));
            seen.lock().unwrap_or_else(PoisonError::into_inner).insert(key, text.clone());
        }
        match self.judge(origin.root, &path, &text) {
            Entrance::Open => (Ok(text), None),
            Entrance::Told(what) => (Ok(text), Some(Diagnostic::whole(Code::Changed, &origin.display, what))),
            Entrance::Shut => (Err(Unreadable::Untrusted), None),
        }
    }

    /// What a file is called in the store: by its place in the root, or by its whole path outside.
    pub(crate) fn key(&self, root: usize, path: &str) -> String {
        self.roots.get(root).and_then(|root| below(root, path)).unwrap_or(path).to_owned()
    }
}

fn below<'p>(root: &str, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'))
}

/// One message for all files of each root that are not trusted, in place of one for each of them.
pub(crate) fn report_untrusted(
    parsed: &mut [Parsed],
    shut_settings: &[usize],
    roots: &Roots,
) -> Vec<Diagnostic> {
    let mut counts = vec![0; roots.roots.len()];
    shut_settings.iter().for_each(|root| counts[*root] += 1);
    for parsed in parsed {
        if let rulebook::parse::Entry::Rejected(rejected) = &parsed.entry
            && rejected.codes == [Code::Untrusted]
        {
            counts[rejected.origin.root] += 1;
            parsed.diagnostics.clear();
        }
    }
    let tell = |(root, count): (usize, usize)| {
        let message = match count {
            1 => "1 file of this workspace is not trusted and contributes nothing".to_owned(),
            _ => format!("{count} files of this workspace are not trusted and contribute nothing"),
        };
        Diagnostic::whole(Code::Untrusted, roots.roots[root].path.clone(), message)
    };
    counts.into_iter().enumerate().filter(|(_, count)| *count > 0).map(tell).collect()
}
