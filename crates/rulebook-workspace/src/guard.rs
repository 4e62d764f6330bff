//! The guard on disk: whether it is on, what it covers, and what changed since the last event.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use rulebook::format::{Base, FORMATS};
use rulebook::guard::{Governed, GuardMode};
use serde::{Deserialize, Serialize};

use crate::homes::posix;
use crate::hosts::HOSTS;
use crate::workspace::Workspace;
use crate::{read, state};

const VERSION: u64 = 1;
const MAX_FILE: usize = 1 << 20;

#[derive(Default, Serialize, Deserialize)]
struct Document {
    version: u64,
    workspaces: BTreeMap<String, Guarded>,
}

/// A workspace whose guard is on.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Guarded {
    mode: GuardMode,
    /// The hash of each file that wires a host or sets Rulebook up, as last seen; empty if it did not exist.
    prints: BTreeMap<String, String>,
}

impl Workspace {
    /// What the guard does in this workspace; `None` if it is off.
    pub fn guard(&self) -> Option<GuardMode> {
        self.guarded().map(|guarded| guarded.mode)
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

    /// The files that changed since the guard last looked, which count as seen from now on.
    pub fn guard_changes(&self) -> Vec<String> {
        let Some(guarded) = self.guarded() else { return Vec::new() };
        let now = self.guard_prints();
        let is_other = |(file, print): &(&String, &String)| guarded.prints.get(*file) != Some(*print);
        let changed: Vec<String> = now.iter().filter(is_other).map(|(file, _)| file.clone()).collect();
        if !changed.is_empty() {
            let _ = self.change_guard(Some(Guarded { prints: now, ..guarded }));
        }
        changed
    }

    /// The hashes of the files that wire hosts and set Rulebook up.
    fn guard_prints(&self) -> BTreeMap<String, String> {
        let root = Path::new(&self.roots.roots[0].path);
        let mut prints = BTreeMap::new();
        for local in wiring_files().chain(["rulebook.toml", "AGENTS.md", "CLAUDE.md"]) {
            let bytes = read::bytes(&root.join(local), MAX_FILE).ok().flatten();
            prints.insert(local.to_owned(), bytes.map(|bytes| state::sha256(&bytes)).unwrap_or_default());
        }
        prints
    }

    /// What governs the agents of this workspace.
    pub fn governed(&self) -> Governed {
        let places = FORMATS
            .iter()
            .flat_map(|format| format.workspace)
            .filter(|place| matches!(place.base, Base::Root | Base::Top));
        let places = places
            .filter(|place| place.shown_by.is_empty() && !place.path.is_empty())
            .map(|place| place.path);
        let mut local: Vec<String> =
            places.chain(wiring_files()).chain(["rulebook.toml"]).map(str::to_owned).collect();
        local.sort();
        local.dedup();
        let home = self.homes.home.as_deref();
        let user_files = HOSTS.iter().flat_map(|host| host.files).filter_map(|file| file.user);
        let user_files = user_files.filter_map(|file| Some(home?.join(file)));
        let places = FORMATS.iter().flat_map(|format| format.user);
        let places = places.filter_map(|place| Some(self.homes.base(place.base)?.join(place.path)));
        let own = [
            self.state_folder(),
            self.homes.config.as_ref().map(|config| config.join("rulebook")),
            std::env::current_exe().ok(),
        ];
        let absolute =
            user_files.chain(places).chain(own.into_iter().flatten()).map(|path| posix(&path)).collect();
        Governed {
            local,
            absolute,
            roots: self.roots.roots.iter().map(|root| root.path.clone()).collect(),
            home: home.map(posix),
        }
    }
}

/// The files of a workspace that wire hosts.
fn wiring_files() -> impl Iterator<Item = &'static str> {
    let files =
        HOSTS.iter().flat_map(|host| host.files.iter().chain(host.former)).filter_map(|file| file.workspace);
    files.chain(HOSTS.iter().flat_map(|host| host.personal.iter().copied()))
}
