//! Discovery: which files are rule files, in sorted order, with where each was found.

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::Roots;
use rulebook::format::{Base, Depth, FORMATS, Format, Place, Shape};
use rulebook::source::{Origin, Scope, Unreadable};

use crate::git;
use crate::homes::Homes;

/// How far nested rule folders are looked for.
#[derive(Clone, Copy, Debug)]
pub enum Reach<'p> {
    /// In the folders above these paths (root and path).
    Above(&'p [(usize, &'p str)]),
    /// In the whole tree.
    Tree,
}

/// A rule file that was found, not read yet.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where, and as whose.
    pub origin: Origin,
    /// The file on disk.
    pub file: PathBuf,
    /// Why it must not be read.
    pub refused: Option<Unreadable>,
}

/// What to look for, and where.
pub struct Search<'s> {
    /// The workspace's roots.
    pub roots: &'s Roots,
    /// The user's folders.
    pub homes: &'s Homes,
    /// Which formats are read.
    pub takes: &'s dyn Fn(&Format) -> bool,
    /// Folders named in the settings, and the root they are relative to.
    pub extra: &'s [(usize, String)],
    /// Folders links may lead to.
    pub allow_links: &'s [PathBuf],
}

/// Folders that hold other people's code or none at all; never walked.
const NEVER_WALKED: &[&str] = &[
    ".cache",
    ".direnv",
    ".git",
    ".gradle",
    ".hg",
    ".jj",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    ".yarn",
    "__pycache__",
    "bower_components",
    "node_modules",
    "venv",
];

const MAX_DEPTH: usize = 64;

/// Finds every rule file within reach, in the order in which they are read.
pub fn discover(search: &Search<'_>, reach: Reach<'_>) -> (Vec<Found>, Vec<Diagnostic>) {
    let mut finder = Finder { search, found: Vec::new(), diagnostics: Vec::new() };
    for root in 0..search.roots.roots.len() {
        finder.workspace(root);
    }
    finder.nested(reach);
    finder.extra();
    finder.user();
    let key = |found: &Found| {
        let origin = &found.origin;
        (
            origin.scope,
            origin.format.order(),
            std::cmp::Reverse(depth(&origin.folder)),
            origin.display.clone(),
        )
    };
    finder.found.sort_by_cached_key(key);
    (finder.found, finder.diagnostics)
}

fn depth(folder: &str) -> usize {
    folder.split('/').filter(|part| !part.is_empty()).count()
}

struct Finder<'s> {
    search: &'s Search<'s>,
    found: Vec<Found>,
    diagnostics: Vec<Diagnostic>,
}

/// Where a place's files stand, once it is found.
struct Spot<'p> {
    format: &'static Format,
    place: &'static Place,
    scope: Scope,
    root: usize,
    folder: &'p str,
    /// What the shown path of a file starts with.
    shown: String,
    /// Links must stay below this.
    within: PathBuf,
}

impl Finder<'_> {
    fn workspace(&mut self, root: usize) {
        let base = PathBuf::from(&self.search.roots.roots[root].path);
        for format in FORMATS.iter().filter(|format| (self.search.takes)(format)) {
            let before = self.found.len();
            self.places(format, root, "", &base, "");
            if format.climbs
                && self.found.len() == before
                && !format.workspace.iter().any(|p| base.join(p.path).exists())
            {
                self.climb(format, root, &base);
            }
        }
    }

    /// The nearest place above the root, up to home or the file system's root.
    fn climb(&mut self, format: &'static Format, root: usize, base: &Path) {
        let home = self.search.homes.home.as_deref();
        let mut up = String::new();
        for above in base.ancestors().skip(1) {
            if Some(above) == base.parent() && home == Some(base) {
                return;
            }
            up.push_str("../");
            if format.workspace.iter().any(|place| above.join(place.path).exists()) {
                return self.places(format, root, "", above, &up);
            }
            if home == Some(above) {
                return;
            }
        }
    }

    /// A format's places in one folder; `up` is how the folder is shown relative to the root.
    fn places(&mut self, format: &'static Format, root: usize, folder: &str, base: &Path, up: &str) {
        for place in format.workspace {
            let slash = if folder.is_empty() { "" } else { "/" };
            let shown = format!("{}{up}{folder}{slash}{}", self.prefix(root), place.path);
            let within = if up.is_empty() {
                PathBuf::from(&self.search.roots.roots[root].path)
            } else {
                base.to_owned()
            };
            let spot = Spot { format, place, scope: Scope::Workspace, root, folder, shown, within };
            self.place(&spot, &base.join(place.path));
        }
    }

    /// With several roots, shown paths start with the root's name.
    fn prefix(&self, root: usize) -> String {
        let roots = &self.search.roots.roots;
        if roots.len() > 1 { format!("{}/", roots[root].name) } else { String::new() }
    }

    fn place(&mut self, spot: &Spot<'_>, at: &Path) {
        let Ok(metadata) = fs::metadata(at) else { return self.tell_dangling(spot, at) };
        match spot.place.shape {
            Shape::File { .. } if !metadata.is_dir() => {
                let inner = at.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let is_link = fs::symlink_metadata(at).is_ok_and(|m| m.is_symlink());
                let refused = if is_link { self.outside(spot, at) } else { not_a_file(metadata.file_type()) };
                self.add(spot, spot.shown.clone(), inner, at, refused);
            }
            Shape::Folder { depth, skip, .. } if metadata.is_dir() => match self.outside(spot, at) {
                Some(Unreadable::OutsideRoot { target }) => {
                    let told = format!("is a link that leads out of its root, to `{target}`");
                    self.diagnostics.push(Diagnostic::whole(Code::OutsideRoot, &spot.shown, told));
                }
                _ => {
                    let mut seen = BTreeSet::new();
                    self.folder(spot, at, "", depth, skip, &mut seen);
                }
            },
            _ => {}
        }
    }

    /// A link to nowhere is told; nothing at all is not.
    fn tell_dangling(&mut self, spot: &Spot<'_>, at: &Path) {
        if let Shape::Folder { .. } = spot.place.shape
            && fs::symlink_metadata(at).is_ok_and(|metadata| metadata.is_symlink())
        {
            let told = "is a link that leads nowhere";
            self.diagnostics
                .push(Diagnostic::whole(Code::Unreadable, &spot.shown, told).help("mend or remove the link"));
        }
    }

    /// One folder of rule files. `seen` holds the real folders above, so that a loop of links ends.
    fn folder(
        &mut self,
        spot: &Spot<'_>,
        at: &Path,
        inner: &str,
        depth: Depth,
        skip: &[&str],
        seen: &mut BTreeSet<PathBuf>,
    ) {
        let shown = if inner.is_empty() { spot.shown.clone() } else { format!("{}/{inner}", spot.shown) };
        let entries = match fs::read_dir(at) {
            Ok(entries) => entries,
            Err(error) => {
                let told = format!("cannot be read: {}", reason(&error));
                return self.diagnostics.push(Diagnostic::whole(Code::Unreadable, shown, told));
            }
        };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let inner = if inner.is_empty() { name.clone() } else { format!("{inner}/{name}") };
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let refused = if kind.is_symlink() { self.outside(spot, &path) } else { None };
            let kind = match fs::metadata(&path) {
                Ok(metadata) if kind.is_symlink() => metadata.file_type(),
                _ => kind,
            };
            let is_folder = kind.is_dir();
            if spot.place.takes(&name) {
                let refused = refused.clone().or_else(|| not_a_file(kind));
                self.add(spot, format!("{}/{inner}", spot.shown), inner.clone(), &path, refused);
            } else if is_folder && let Some(Unreadable::OutsideRoot { target }) = &refused {
                let told = format!("is a link that leads out of its root, to `{target}`");
                self.diagnostics.push(Diagnostic::whole(
                    Code::OutsideRoot,
                    format!("{}/{inner}", spot.shown),
                    told,
                ));
            }
            if is_folder && depth == Depth::Recursive && refused.is_none() && !skip.contains(&name.as_str()) {
                self.sub_folder(spot, &path, &inner, seen);
            }
        }
    }

    fn sub_folder(&mut self, spot: &Spot<'_>, path: &Path, inner: &str, seen: &mut BTreeSet<PathBuf>) {
        let Ok(real) = fs::canonicalize(path) else { return };
        if seen.len() < MAX_DEPTH && seen.insert(real.clone()) {
            self.folder(spot, path, inner, Depth::Recursive, &[], seen);
            seen.remove(&real);
        }
    }

    fn add(
        &mut self,
        spot: &Spot<'_>,
        display: String,
        inner: String,
        file: &Path,
        refused: Option<Unreadable>,
    ) {
        let origin = Origin {
            format: spot.format,
            place: spot.place,
            scope: spot.scope,
            display,
            path: file.to_string_lossy().replace('\\', "/"),
            root: spot.root,
            folder: spot.folder.to_owned(),
            inner,
        };
        self.found.push(Found { origin, file: file.to_owned(), refused });
    }

    /// Where a path really lies, if that is neither below its root nor where links may lead.
    fn outside(&self, spot: &Spot<'_>, path: &Path) -> Option<Unreadable> {
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Some(Unreadable::NotAFile { kind: "a link that leads nowhere" });
            }
            Err(error) => return Some(Unreadable::Refused(reason(&error))),
        };
        let homes = self.search.homes;
        let own = FORMATS.iter().flat_map(|format| format.user).filter_map(|place| homes.place(place));
        let allowed = self.search.allow_links.iter().cloned().chain(own);
        let is_inside = std::iter::once(spot.within.clone())
            .chain(allowed)
            .any(|folder| real.starts_with(fs::canonicalize(&folder).unwrap_or(folder)));
        (!is_inside).then(|| Unreadable::OutsideRoot { target: homes.shown(&real) })
    }

    fn nested(&mut self, reach: Reach<'_>) {
        let mut folders = BTreeSet::new();
        match reach {
            Reach::Above(paths) => {
                for (root, path) in paths {
                    let parts: Vec<&str> = path.split('/').collect();
                    let above = (1..=parts.len()).map(|len| &parts[..len]);
                    let walked =
                        above.take_while(|parts| !NEVER_WALKED.contains(parts.last().unwrap_or(&"")));
                    folders.extend(walked.map(|parts| (*root, parts.join("/"))));
                }
                let mut gone: Option<(usize, String)> = None;
                for (root, folder) in folders {
                    let is_below = |(at, above): &(usize, String)| {
                        *at == root
                            && folder.strip_prefix(above.as_str()).is_some_and(|rest| rest.starts_with('/'))
                    };
                    if gone.as_ref().is_some_and(is_below) {
                        continue;
                    }
                    if self.is_walked(root, &folder) {
                        self.nested_folder(root, &folder);
                    } else {
                        gone = Some((root, folder));
                    }
                }
            }
            Reach::Tree => {
                for root in 0..self.search.roots.roots.len() {
                    self.walk(root, String::new(), 0);
                }
            }
        }
    }

    fn nested_folder(&mut self, root: usize, folder: &str) {
        let base = Path::new(&self.search.roots.roots[root].path).join(folder);
        for format in FORMATS.iter().filter(|format| (self.search.takes)(format)) {
            self.places(format, root, folder, &base, "");
        }
    }

    /// Whether a folder is one of this root's own: there, not another root, not a second checkout of the same
    /// repository, and not a link out.
    fn is_walked(&self, root: usize, folder: &str) -> bool {
        let roots = &self.search.roots.roots;
        let base = Path::new(&roots[root].path);
        let path = base.join(folder);
        let Ok(metadata) = fs::symlink_metadata(&path) else { return false };
        if metadata.is_symlink() {
            return fs::metadata(&path).is_ok_and(|m| m.is_dir())
                && fs::canonicalize(&path)
                    .is_ok_and(|real| fs::canonicalize(base).is_ok_and(|base| real.starts_with(base)));
        }
        metadata.is_dir()
            && !roots.iter().any(|other| Path::new(&other.path) == path)
            && !git::is_worktree_of(&path, base)
    }

    fn walk(&mut self, root: usize, folder: String, level: usize) {
        let base = Path::new(&self.search.roots.roots[root].path).join(&folder);
        if !folder.is_empty() {
            self.nested_folder(root, &folder);
        }
        let Ok(entries) = fs::read_dir(&base) else { return };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !NEVER_WALKED.contains(&name.as_str()))
            .collect();
        names.sort();
        for name in names {
            let below = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let is_build = name == "target" && base.join("target/CACHEDIR.TAG").exists();
            if level < MAX_DEPTH && !is_build && !self.is_rule_folder(&below) && self.is_walked(root, &below)
            {
                self.walk(root, below, level + 1);
            }
        }
    }

    /// Rule folders hold rules, not projects.
    fn is_rule_folder(&self, folder: &str) -> bool {
        let places = FORMATS.iter().flat_map(|format| format.workspace);
        places.filter(|place| place.extensions().is_some()).any(|place| {
            folder == place.path || folder.strip_suffix(place.path).is_some_and(|rest| rest.ends_with('/'))
        })
    }

    fn extra(&mut self) {
        for (root, path) in self.search.extra {
            let at = self.search.homes.expand(path);
            let first = Path::new(&self.search.roots.roots[*root].path);
            let at = if at.is_absolute() { at } else { first.join(at) };
            let shown = match at.strip_prefix(first) {
                Ok(relative) => relative.to_string_lossy().replace('\\', "/"),
                Err(_) => self.search.homes.shown(&at),
            };
            if !at.is_dir() {
                let told = "is named in `rules.extra_paths` but is not a folder";
                self.diagnostics
                    .push(Diagnostic::whole(Code::Unreadable, shown, told).help("mend or remove the entry"));
                continue;
            }
            let (format, place) = Format::of_folder(&shown);
            if (self.search.takes)(format) {
                let within = at.clone();
                let spot =
                    Spot { format, place, scope: Scope::Extra, root: *root, folder: "", shown, within };
                self.place(&spot, &at);
            }
        }
    }

    fn user(&mut self) {
        for format in FORMATS.iter().filter(|format| (self.search.takes)(format)) {
            for place in format.user {
                let homes = self.search.homes;
                let Some(at) = homes.place(place) else { continue };
                let within = match (place.base, &homes.home) {
                    (Base::Home | Base::Config, Some(home)) if at.starts_with(home) => home.clone(),
                    _ => at.clone(),
                };
                let shown = homes.shown(&at);
                let spot = Spot { format, place, scope: Scope::User, root: 0, folder: "", shown, within };
                self.place(&spot, &at);
            }
        }
    }
}

fn not_a_file(kind: FileType) -> Option<Unreadable> {
    let kind = match kind {
        kind if kind.is_file() => return None,
        kind if kind.is_dir() => "a folder, not a file",
        _ => "neither a file nor a folder",
    };
    Some(Unreadable::NotAFile { kind })
}

/// The operating system's words without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or(&words).to_lowercase()
}
