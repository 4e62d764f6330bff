//! The guard on disk: whether it is on, what it covers, and what changed since the last event.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rulebook::format::{Base, FORMATS};
use rulebook::guard::{Governed, GuardMode};
use serde::{Deserialize, Serialize};

use crate::homes::posix;
use crate::hosts::HOSTS;
use crate::storage::FileKind;
use crate::workspace::Workspace;
use crate::{read, state};

const VERSION: u64 = 1;
const MAX_FILE: usize = 1 << 20;
/// How many governed files are compared, and how deep folders of rules are.
const MAX_PRINTS: usize = 5_000;
const MAX_DEPTH: usize = 8;

#[derive(Default, Serialize, Deserialize)]
struct Document {
    version: u64,
    workspaces: BTreeMap<String, Guarded>,
}

/// A workspace whose guard is on.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Guarded {
    mode: GuardMode,
    /// The hash of each governed file of the workspace, as last seen.
    prints: BTreeMap<String, String>,
}

impl Workspace {
    /// What the guard does in this workspace: its own guard, or that of a workspace around it; `None` if both are off.
    pub fn guard(&self) -> Option<GuardMode> {
        let own = self.guarded().map(|guarded| guarded.mode);
        own.or_else(|| self.guarded_around().map(|(_, mode)| mode))
    }

    /// The nearest folder above the first root that is a workspace whose guard is on: an agent may work in a repository inside.
    fn guarded_around(&self) -> Option<(String, GuardMode)> {
        let document: Document = state::load(&self.guard_file()?, MAX_FILE, VERSION)?;
        let above = Path::new(&self.roots.roots[0].path).ancestors().skip(1);
        above.map(posix).find_map(|root| {
            let mode = document.workspaces.get(&root)?.mode;
            Some((root, mode))
        })
    }

    fn guarded(&self) -> Option<Guarded> {
        let document: Document = state::load(&self.guard_file()?, MAX_FILE, VERSION)?;
        document.workspaces.get(&self.roots.roots[0].path).cloned()
    }

    fn guard_file(&self) -> Option<PathBuf> {
        Some(self.state_folder()?.join("guard.json"))
    }

    /// Switches the guard of this workspace.
    ///
    /// # Errors
    /// If there is no folder for state, or it cannot be written.
    pub fn set_guard(&self, mode: Option<GuardMode>) -> io::Result<()> {
        let guarded = mode.map(|mode| Guarded { mode, prints: self.guard_prints() });
        self.change_guard(guarded)
    }

    fn change_guard(&self, guarded: Option<Guarded>) -> io::Result<()> {
        let file = self
            .guard_file()
            .ok_or_else(|| io::Error::other("no folder for state: set HOME or XDG_STATE_HOME"))?;
        let root = self.roots.roots[0].path.clone();
        state::update(&file, MAX_FILE, VERSION, |known: Option<Document>| {
            let mut known = known.unwrap_or_default();
            match guarded {
                Some(guarded) => drop(known.workspaces.insert(root, guarded)),
                None => drop(known.workspaces.remove(&root)),
            }
            Document { version: VERSION, ..known }
        })
        .map(drop)
    }

    /// The governed files that changed since the last event of an agent.
    pub fn guard_changes(&self) -> Vec<String> {
        self.guarded().map(|guarded| changes(&guarded.prints, &self.guard_prints())).unwrap_or_default()
    }

    /// The same; they count as seen from now on.
    pub fn take_guard_changes(&self) -> Vec<String> {
        let Some(guarded) = self.guarded() else { return Vec::new() };
        let now = self.guard_prints();
        let changed = changes(&guarded.prints, &now);
        if !changed.is_empty() {
            let _ = self.change_guard(Some(Guarded { prints: now, ..guarded }));
        }
        changed
    }

    /// The hashes of the files at the root that govern agents.
    fn guard_prints(&self) -> BTreeMap<String, String> {
        let mut prints = BTreeMap::new();
        self.walk_governed(|path, whole| {
            if let Ok(Some(bytes)) = read::bytes(whole, MAX_FILE) {
                prints.insert(path.to_owned(), state::sha256(&bytes));
            }
        });
        prints
    }

    /// Visits what is at the governed places of the first root: files, and what cannot be listed as a folder.
    fn walk_governed(&self, mut visit: impl FnMut(&str, &Path)) {
        let root = Path::new(&self.roots.roots[0].path);
        let mut left = MAX_PRINTS;
        let mut open: Vec<(String, usize)> = local_places().into_iter().map(|place| (place, 0)).collect();
        while let Some((path, depth)) = open.pop().filter(|_| left > 0) {
            let whole = root.join(&path);
            match read::folder(&whole) {
                Ok(entries) if depth < MAX_DEPTH => {
                    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                    let names: BTreeSet<String> = names.collect();
                    open.extend(names.into_iter().map(|name| (format!("{path}/{name}"), depth + 1)));
                }
                Ok(_) => {}
                Err(_) => {
                    left -= usize::from(self.files.own_kind(&whole).is_some());
                    visit(&path, &whole);
                }
            }
        }
    }

    /// The files and folders to which links at these places, and in the governed folders of the first root, lead.
    fn linked<'p>(&self, places: impl Iterator<Item = &'p Path>) -> Vec<PathBuf> {
        let real = |place: &Path| self.files.canonical(place).ok().filter(|real| real != place);
        let mut linked: Vec<PathBuf> = places.filter_map(real).collect();
        self.walk_governed(|_, whole| {
            if self.files.own_kind(whole).is_some_and(FileKind::is_symlink) {
                linked.extend(real(whole));
            }
        });
        linked
    }

    /// What governs the agents of this workspace.
    pub fn governed(&self) -> Governed {
        let home = self.homes.home.as_deref();
        let user_files = HOSTS.iter().flat_map(|host| host.files).filter_map(|file| file.user);
        let user_files = user_files.filter_map(|file| Some(home?.join(file)));
        let places = FORMATS.iter().flat_map(|format| format.user);
        let places = places.filter_map(|place| Some(self.homes.base(place.base)?.join(place.path)));
        let own = [
            self.state_folder(),
            self.homes.config.as_ref().map(|config| config.join("rulebook")),
            // The copies of remote rules.
            self.homes.cache.as_ref().map(|cache| cache.join("rulebook")),
            std::env::current_exe().ok(),
        ];
        let code = HOSTS.iter().flat_map(|host| host.code).filter_map(|(_, user)| Some(home?.join(user)));
        let mut absolute: Vec<PathBuf> =
            user_files.chain(places).chain(code).chain(own.into_iter().flatten()).collect();
        let local = local_places();
        let roots = self.roots.roots.iter().map(|root| Path::new(&root.path));
        let in_roots: Vec<PathBuf> =
            roots.flat_map(|root| local.iter().map(|place| root.join(place))).collect();
        absolute.extend(self.linked(in_roots.iter().chain(&absolute).map(PathBuf::as_path)));
        let own = self.roots.roots.iter().map(|root| root.path.clone());
        Governed {
            local,
            absolute: absolute.iter().map(|path| posix(path)).collect(),
            roots: own.chain(self.guarded_around().map(|(root, _)| root)).collect(),
            home: home.map(posix),
        }
    }
}

/// The files whose hashes differ.
fn changes(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let files: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    files.into_iter().filter(|file| before.get(*file) != now.get(*file)).cloned().collect()
}

/// The files and folders of a workspace that govern agents, sorted.
fn local_places() -> Vec<String> {
    let places = FORMATS
        .iter()
        .flat_map(|format| format.workspace)
        .filter(|place| matches!(place.base, Base::Root | Base::Top));
    let places =
        places.filter(|place| place.shown_by.is_empty() && !place.path.is_empty()).map(|place| place.path);
    let mut local: Vec<String> =
        places.chain(wiring_files()).chain(["rulebook.toml"]).map(str::to_owned).collect();
    local.sort();
    local.dedup();
    local
}

/// The files of a workspace that wire hosts, and the folders from which these load code.
fn wiring_files() -> impl Iterator<Item = &'static str> {
    let files =
        HOSTS.iter().flat_map(|host| host.files.iter().chain(host.former)).filter_map(|file| file.workspace);
    let code = HOSTS.iter().flat_map(|host| host.code).map(|(workspace, _)| *workspace);
    files.chain(HOSTS.iter().flat_map(|host| host.personal.iter().copied())).chain(code)
}
