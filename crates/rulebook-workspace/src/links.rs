//! Links through which programs name files of a root.

use std::path::{Path, PathBuf};

use rulebook::evidence::PathLocation;

use crate::homes::posix;
use crate::workspace::Workspace;

/// How many paths outside of every root are looked up, and how long and deep they may be.
const MAX_PATHS: usize = 16;
const MAX_LENGTH: usize = 1024;
const MAX_DEPTH: usize = 32;

impl Workspace {
    /// Learns by which other names these paths reach a root: `/link/src/a.ts`, where `/link` leads to the root.
    pub fn learn_links<'p>(&mut self, paths: impl Iterator<Item = &'p str>) {
        let mut looked_up = 0;
        for path in paths.filter(|path| path.starts_with('/') && path.len() <= MAX_LENGTH) {
            if self.roots.locate(path, &|_, _| false) != PathLocation::Outside {
                continue;
            }
            looked_up += 1;
            if looked_up > MAX_PATHS {
                return;
            }
            if let Some((root, alias)) = self.alias_in(path) {
                self.roots.roots[root].aliases.push(alias);
            }
        }
    }

    /// The root that a path leads into, and the start of the path that is the root.
    fn alias_in(&self, path: &str) -> Option<(usize, String)> {
        let is_plain = path.split('/').all(|part| !matches!(part, "." | ".."));
        let is_deep = path.matches('/').count() > MAX_DEPTH;
        let above = Path::new(path).ancestors().skip(1).filter(|_| is_plain && !is_deep);
        above.filter_map(|folder| Some((folder, self.files.canonical(folder).ok()?))).find_map(
            |(folder, real): (&Path, PathBuf)| {
                let real = posix(&real);
                let root = self.roots.roots.iter().position(|root| root.path == real)?;
                Some((root, posix(folder)))
            },
        )
    }
}
