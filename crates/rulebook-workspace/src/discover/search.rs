//! The input and the output of discovery.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rulebook::evidence::{Root, Roots};
use rulebook::format::{Format, FormatId, Place};
use rulebook::source::{MAX_SOURCE, Origin, Scope, Unreadable};

use crate::disk::{Disk, ListedFile, Node, Text};
use crate::homes::{Homes, posix};
use crate::settings::Setting;

/// What to search for, and where.
pub(crate) struct Search<'s> {
    /// What is known of the disk.
    pub(crate) disk: &'s Disk,
    /// The workspace's roots.
    pub(crate) roots: &'s Roots,
    /// The user's folders.
    pub(crate) homes: &'s Homes,
    /// The formats that are read.
    pub(crate) formats: Vec<&'static Format>,
    /// The formats of agents that the settings name as used, if files with common names need that; else `None`.
    pub(crate) used: Option<Vec<FormatId>>,
    /// Folders named in the settings.
    pub(crate) extra: &'s [Setting],
    /// Remotes that are folders, by name.
    pub(crate) folders: Vec<(String, PathBuf)>,
    /// Folders that links may lead to.
    pub(crate) allow_links: &'s [PathBuf],
}

/// A rule file that was found but not read.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) origin: Origin,
    /// The file on disk.
    pub(crate) file: PathBuf,
    /// The identity of the file, whichever links lead to it.
    pub(crate) node: Option<Node>,
    /// Its entry in the listing of its folder, unless it is a link.
    pub(crate) listed: Option<ListedFile>,
    /// The folder that links must stay in.
    pub(crate) within: Arc<Path>,
    /// Why it must not be read.
    pub(crate) refused: Option<Unreadable>,
}

impl Found {
    /// Its position in the order in which files are read.
    pub(super) fn order(&self) -> impl Ord + '_ {
        let origin = &self.origin;
        (origin.scope, origin.is_link, origin.format.order, Reverse(origin.depth()), &origin.display)
    }
}

impl Search<'_> {
    /// The text of a file that was found, unless its path leads to another place by now.
    pub(crate) fn text(&self, found: &Found) -> Result<Arc<Text>, Unreadable> {
        match &found.refused {
            Some(refused) => Err(refused.clone()),
            None => {
                let allows = |real: &Path| self.allows(real, &found.within);
                let text = self.disk.text(&found.file, found.node, found.listed.as_ref(), &allows)?;
                within(text, found.origin.format.largest.unwrap_or(MAX_SOURCE))
            }
        }
    }

    /// The text of the file at a canonical path that may be read, unless the path leads to another place by now.
    pub(crate) fn text_at(&self, real: &Path) -> Result<Arc<Text>, Unreadable> {
        let is_same = |opened: &Path| opened == real;
        within(self.disk.text(real, self.disk.node(real), None, &is_same)?, MAX_SOURCE)
    }

    /// Whether a canonical path may be read: it is below `within`, a root, one of the user's rule folders, or a folder
    /// that links may lead to. Roots are canonical; the other folders are resolved only for paths outside the roots.
    pub(crate) fn allows(&self, real: &Path, within: &Path) -> bool {
        let allowed = self.allow_links.iter().cloned().chain(self.homes.rule_places());
        let mut allowed = allowed.chain(std::iter::once_with(|| within.to_owned()));
        is_below(real, within)
            || self.roots.roots.iter().any(|root| real.starts_with(&root.path))
            || allowed.any(|folder| real.starts_with(self.disk.real(&folder).unwrap_or(folder)))
    }

    /// Whether the settings allow links to a path.
    pub(super) fn is_linkable(&self, path: &Path) -> bool {
        let real = |path: &Path| self.disk.real(path).unwrap_or_else(|_| path.to_owned());
        let path = real(path);
        self.allow_links.iter().any(|folder| path.starts_with(real(folder)))
    }

    /// Whether the files are those of one agent: its settings can exclude some.
    pub(super) fn is_native(&self) -> bool {
        self.used.is_none()
    }

    /// Whether files at a place of a root are rules: a common name counts only if the agent is used.
    pub(super) fn counts(&self, format: &Format, place: &Place, root: usize) -> bool {
        let Some(used) = self.used.as_ref().filter(|_| !place.shown_by.is_empty()) else { return true };
        let root = Path::new(&self.roots.roots[root].path);
        used.contains(&format.id)
            || place.shown_by.iter().any(|path| self.disk.kind(&root.join(path)).is_some())
    }

    /// Whether an agent ignores a format because a certain other file exists: in the same root, or for the user's own
    /// files in every root.
    pub(super) fn is_replaced(&self, format: &Format, scope: Scope, root: usize) -> bool {
        let roots = &self.roots.roots;
        let roots = if scope == Scope::User { roots.as_slice() } else { &roots[root..=root] };
        let exists = |root: &Root| {
            let path = |path: &&str| Path::new(&root.path).join(self.homes.expand(path));
            format
                .unless
                .iter()
                .any(|other| self.disk.kind(&path(other)).is_some_and(|kind| kind.target.is_some()))
        };
        !format.unless.is_empty() && roots.iter().all(exists)
    }

    /// A path as shown to people: relative to its root, or `~/…`.
    pub(crate) fn shown(&self, root: usize, path: &Path) -> String {
        match path.strip_prefix(&self.roots.roots[root].path) {
            Ok(relative) => self.prefix(root) + &posix(relative),
            Err(_) => self.homes.shown(path),
        }
    }

    /// The start of the shown paths of a root: its name if there are several roots.
    pub(super) fn prefix(&self, root: usize) -> String {
        root_prefix(self.roots, root)
    }
}

/// The start of the shown paths of a root: its name if there are several roots.
pub(crate) fn root_prefix(roots: &Roots, root: usize) -> String {
    match roots.roots.as_slice() {
        [_] => String::new(),
        roots => {
            let Root { name, .. } = &roots[root];
            format!("{name}/")
        }
    }
}

/// Returns a text unless it is too large.
fn within(text: Arc<Text>, most: u64) -> Result<Arc<Text>, Unreadable> {
    let len = text.len();
    if len > most { Err(Unreadable::TooLarge { len }) } else { Ok(text) }
}

/// Whether a path is a folder or below it, as the two are written. This is all that canonical paths need.
fn is_below(path: &Path, folder: &Path) -> bool {
    let (path, folder) = (path.as_os_str().as_encoded_bytes(), folder.as_os_str().as_encoded_bytes());
    path.strip_prefix(folder).is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
}
