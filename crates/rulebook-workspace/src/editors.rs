//! The files that are open in editors: a snapshot per editor, which the sessions of agents in the same workspace use as
//! evidence.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rulebook::evidence::Input;
use serde::{Deserialize, Serialize};

use crate::read;
use crate::state::{self, sha256};
use crate::workspace::Workspace;
use crate::write;

/// The files of one editor, by absolute path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditorFiles {
    /// Those that are visible, or have changes that are not saved.
    pub visible: Vec<String>,
    /// All that are open.
    pub tabs: Vec<String>,
}

/// The snapshot of an editor, kept in a file while the editor runs.
#[derive(Debug)]
pub struct EditorSnapshot {
    files: Vec<PathBuf>,
}

/// What a snapshot file contains.
#[derive(Deserialize, Serialize)]
struct Kept {
    version: u64,
    #[serde(flatten)]
    files: EditorFiles,
}

const VERSION: u64 = 1;

/// The largest snapshot that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// The most files of each kind that are kept.
const MAX_FILES: usize = 500;

/// A snapshot that was not written for this long is of an editor that ended without removing it.
const LASTS: Duration = Duration::from_secs(120);

impl EditorSnapshot {
    /// How often an unchanged snapshot must be written again.
    pub const REPEAT: Duration = Duration::from_secs(45);

    /// Writes what is open. Nothing is kept without a home.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, files: &EditorFiles) -> io::Result<()> {
        let first = |files: &[String]| files.iter().take(MAX_FILES).cloned().collect();
        let files = EditorFiles { visible: first(&files.visible), tabs: first(&files.tabs) };
        for file in &self.files {
            state::save(file, MAX_BYTES, VERSION, &Kept { version: VERSION, files: files.clone() })?;
        }
        Ok(())
    }

    /// Removes the snapshot: the editor ends.
    pub fn remove(&self) {
        for file in &self.files {
            write::discard(file);
            let mut lock = file.as_os_str().to_owned();
            lock.push(".lock");
            write::discard(Path::new(&lock));
        }
    }
}

impl Workspace {
    /// The snapshot of an editor in this workspace; `name` tells the editors apart.
    pub fn editor_snapshot(&self, name: &str) -> EditorSnapshot {
        let folder = folder(self);
        let roots = self.roots.roots.iter();
        let file = |folder: &PathBuf, root: &str| folder.join(format!("{}{name}.json", prefix(root)));
        EditorSnapshot {
            files: folder
                .iter()
                .flat_map(|folder| roots.clone().map(|root| file(folder, &root.path)))
                .collect(),
        }
    }

    /// Adds what is open in the editors of this workspace to a host's input. The user may have several editors.
    pub fn add_editors(&self, input: &mut Input) {
        // Most people have no editor that writes snapshots: then this is one look at a folder that does not exist.
        let Some(entries) = folder(self).and_then(|folder| read::folder(&folder).ok()) else { return };
        let prefixes: Vec<String> = self.roots.roots.iter().map(|root| prefix(&root.path)).collect();
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_here = name.ends_with(".json") && prefixes.iter().any(|prefix| name.starts_with(prefix));
            if !is_here || !is_fresh(&file) {
                continue;
            }
            let Some(Kept { files, .. }) = state::load(&file, MAX_BYTES, VERSION) else { continue };
            let add = |to: &mut Vec<String>, from: Vec<String>| {
                for path in from {
                    if !to.contains(&path) {
                        to.push(path);
                    }
                }
            };
            add(&mut input.visible_editors, files.visible);
            add(&mut input.open_tabs, files.tabs);
        }
    }
}

fn folder(workspace: &Workspace) -> Option<PathBuf> {
    workspace.homes.state.as_ref().map(|state| state.join("rulebook/editors"))
}

/// The start of the names of snapshots of a root.
fn prefix(root: &str) -> String {
    format!("{}-", &sha256(root.as_bytes())[..16])
}

fn is_fresh(file: &Path) -> bool {
    let written = file.metadata().and_then(|found| found.modified());
    // A clock that was set back makes a snapshot of the future, which is fresh.
    written.is_ok_and(|at| SystemTime::now().duration_since(at).map_or(true, |age| age < LASTS))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::homes::Homes;

    #[test]
    fn what_is_open_is_evidence_until_the_editor_ends() {
        let home = tempfile::tempdir().unwrap();
        let homes = || Homes { state: Some(home.path().join("state")), ..Homes::default() };
        let roots: Vec<PathBuf> = ["one", "two"].map(|name| home.path().join(name)).to_vec();
        roots.iter().for_each(|root| fs::create_dir(root).unwrap());
        let [one, two] = [0, 1].map(|at| Workspace::open_with(&roots[at..=at], homes(), "").unwrap());
        let files = |path: &str| EditorFiles { visible: vec![path.to_owned()], tabs: vec![path.to_owned()] };
        let open = |workspace: &Workspace| {
            let mut input = Input::default();
            workspace.add_editors(&mut input);
            (input.visible_editors, input.open_tabs)
        };
        let (first, second) = (one.editor_snapshot("1"), one.editor_snapshot("2"));
        first.write(&files("/a")).unwrap();
        second.write(&files("/b")).unwrap();
        two.editor_snapshot("1").write(&files("/c")).unwrap();
        let both = vec!["/a".to_owned(), "/b".to_owned()];
        assert_eq!(open(&one), (both.clone(), both));
        assert_eq!(open(&two).0, ["/c"]);
        second.remove();
        assert_eq!(open(&one).0, ["/a"]);
        let old = SystemTime::now() - LASTS;
        let file = fs::File::options().write(true).open(&first.files[0]).unwrap();
        file.set_modified(old).unwrap();
        assert_eq!(open(&one).0, Vec::<String>::new());
        fs::write(&first.files[0], "{\"version\":1,\"tabs\":3}").unwrap();
        assert_eq!(open(&one).0, Vec::<String>::new(), "a broken snapshot is ignored");
    }
}
