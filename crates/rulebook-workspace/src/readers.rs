//! Who reads which rule file: what `check --fix` must keep right.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use rulebook::agent::AGENTS;
use rulebook::evidence::Seen;
use rulebook::fix::Readers;
use rulebook::source::{Origin, Scope};

use crate::sources::Sources;
use crate::tree::Tree;

/// A rule file of a workspace that may be changed.
#[derive(Debug)]
#[non_exhaustive]
pub struct FixableFile {
    /// The canonical path, inside its root.
    pub path: PathBuf,
    /// The canonical path of its root.
    pub root: PathBuf,
    /// The name shown to people.
    pub display: String,
    /// Everyone who reads it, by any name.
    pub readers: Readers,
}

impl Sources<'_> {
    /// The workspace's rule files among these, given by the names shown to people, each with everyone who reads it. Files
    /// outside their root, reached by a link or found above it, are left out.
    pub fn fixable_files(&self, shown: &HashSet<&str>) -> Vec<FixableFile> {
        let mut files: BTreeMap<PathBuf, FixableFile> = BTreeMap::new();
        for parsed in &self.read_meant().0 {
            let origin = parsed.entry.origin();
            let own = self.own_path(origin).filter(|_| shown.contains(origin.display.as_str()));
            if let Some((root, path)) = own {
                let file = files.entry(path.clone()).or_insert_with(|| FixableFile {
                    path,
                    root,
                    display: origin.display.clone(),
                    readers: Readers::default(),
                });
                file.readers.meant.push(origin.clone());
            }
        }
        if files.is_empty() {
            return Vec::new();
        }
        for agent in AGENTS {
            for parsed in &self.read_as(agent).0 {
                let origin = parsed.entry.origin();
                if let Some(file) = self.own_path(origin).and_then(|(_, path)| files.get_mut(&path)) {
                    file.readers.agents.push((agent, origin.clone()));
                }
            }
        }
        files.into_values().collect()
    }

    /// The canonical paths of a root and of a file that is in it and belongs to it.
    fn own_path(&self, origin: &Origin) -> Option<(PathBuf, PathBuf)> {
        let root = self.disk.real(Path::new(&self.workspace().roots.roots.get(origin.root)?.path)).ok()?;
        let path = self.disk.real(Path::new(&origin.path)).ok()?;
        (origin.scope == Scope::Workspace && path.starts_with(&root)).then_some((root, path))
    }
}

impl Tree {
    /// Up to `most` of its files, spread over the tree.
    pub fn sample(&self, most: usize) -> Vec<Seen> {
        let step = self.files() / most.max(1) + 1;
        let mut files: Vec<Seen> =
            self.fold(Vec::new, |all: &mut Vec<Seen>, files| all.extend(files)).concat();
        files.sort_by(|one, other| (one.root, &one.path).cmp(&(other.root, &other.path)));
        files.into_iter().step_by(step).collect()
    }
}
