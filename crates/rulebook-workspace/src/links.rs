//! Links: through which programs name files of a root, and where the paths of a call lead.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rulebook::evidence::PathLocation;

use crate::homes::posix;
use crate::workspace::Workspace;

/// How many paths outside of every root are looked up, and how long and deep they may be.
const MAX_PATHS: usize = 16;
const MAX_LENGTH: usize = 1024;
const MAX_DEPTH: usize = 32;
/// How many paths of one call are looked up, and how many links to missing files are followed.
const MAX_LOOKUPS: usize = 2_000;
const MAX_LINKS: usize = 8;
/// No system opens longer paths.
const MAX_PATH: usize = 4096;

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

    /// Looks up where a few paths lead, which are relative to a folder, or to the first root; nothing for a path that leads
    /// where it would from the first root without links.
    pub fn real_paths<'w>(&'w self, folder: Option<&'w str>) -> impl Fn(&str) -> Option<String> + 'w {
        let known: RefCell<HashMap<String, Option<String>>> = RefCell::default();
        let root = Path::new(&self.roots.roots[0].path);
        let folder = folder.map_or(root, Path::new);
        let look_up = move |path: &str| {
            let path = Some(path).filter(|path| path.len() <= MAX_PATH)?;
            let real = self.real_path(&folder.join(path))?;
            (real != root.join(path)).then(|| posix(&real))
        };
        move |path| {
            let mut known = known.borrow_mut();
            if known.len() >= MAX_LOOKUPS {
                return known.get(path).cloned().flatten();
            }
            known.entry(path.to_owned()).or_insert_with(|| look_up(path)).clone()
        }
    }

    /// The canonical path of a file that need not exist.
    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let mut above = path.ancestors();
            let (folder, real) =
                above.find_map(|folder| Some((folder, self.files.canonical(folder).ok()?)))?;
            let rest = path.strip_prefix(folder).ok()?;
            let mut parts = rest.components();
            let Some(first) = parts.next() else { return Some(real) };
            // A link to a file that does not exist: a write creates that file.
            let Some(target) = self.files.link(&real.join(first)) else { return Some(real.join(rest)) };
            path = real.join(target).join(parts.as_path());
        }
        None
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
