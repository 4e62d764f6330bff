//! One place of a format: a single file, or a folder of rule files with its links and sub-folders.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::{Depth, FORMATS, PlaceKind};
use rulebook::hidden::visible_line;
use rulebook::source::{Origin, Unreadable};

use super::{Finder, Found, MAX_FILES, NEVER_WALKED, Node, Spot, reason};
use crate::homes::posix;

/// The most folders one rule folder may hold.
const MAX_FOLDERS: usize = 10_000;

/// A folder on its way to being read.
#[derive(Clone, Copy)]
struct Folder<'p> {
    at: &'p Path,
    /// Where it really lies.
    real: &'p Path,
    /// Its path inside the rule folder; empty for that one itself.
    inner: &'p str,
}

impl Finder<'_> {
    pub(super) fn place(&mut self, spot: &Spot<'_>, at: &Path) {
        let Ok(found) = fs::symlink_metadata(at) else { return };
        let kind =
            if found.is_symlink() { fs::metadata(at).map(|m| m.file_type()) } else { Ok(found.file_type()) };
        // Where one path may be either, the other place looks at it.
        let places = FORMATS.iter().flat_map(|format| format.workspace);
        let is_only = places.filter(|other| other.path == spot.place.path).count() < 2;
        match (spot.place.shape, kind) {
            (PlaceKind::File { .. } | PlaceKind::Located { .. }, Ok(kind)) if !kind.is_dir() || is_only => {
                let inner = at.file_name().unwrap_or_default().to_string_lossy().into_owned();
                // Not the link alone: a folder above may be one.
                let refused = self.inside(spot, at).err().or_else(|| not_a_file(kind));
                let node = node_at(at);
                self.add(spot, inner, at.to_owned(), node, found.is_symlink(), refused);
            }
            (PlaceKind::Folder { depth, skip, .. }, Ok(kind)) if kind.is_dir() => {
                self.top(spot, at, "", depth, skip);
            }
            (PlaceKind::Modes { prefix, .. }, Ok(kind)) if kind.is_dir() => {
                self.mode_folders(spot, at, prefix);
            }
            (PlaceKind::Folder { .. }, Ok(_)) if is_only => {
                self.report_odd(spot, "is a file, not a folder of rules");
            }
            (PlaceKind::Folder { .. }, Err(_)) => self.report_odd(spot, "is a link that leads nowhere"),
            (PlaceKind::File { .. } | PlaceKind::Located { .. }, Err(_)) if is_only => {
                self.report_odd(spot, "is a link that leads nowhere");
            }
            _ => {}
        }
    }

    /// The folders of modes in a folder: `rules-code`, `rules-architect`.
    fn mode_folders(&mut self, spot: &Spot<'_>, at: &Path, prefix: &str) {
        let Ok(entries) = fs::read_dir(at) else { return };
        let names = entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter(|name| name.starts_with(prefix) && at.join(name).is_dir()).collect();
        names.sort();
        for name in names {
            self.top(spot, &at.join(&name), &name, Depth::Recursive, &[]);
        }
    }

    /// A folder of rule files that is not inside another one.
    fn top(&mut self, spot: &Spot<'_>, at: &Path, inner: &str, depth: Depth, skip: &[&str]) {
        match self.inside(spot, at) {
            Err(Unreadable::OutsideRoot { target }) => self.report_outside(spot.shown_at(inner), &target),
            real => {
                let real = real.unwrap_or_else(|_| at.to_owned());
                let mut seen = BTreeSet::from([real.clone()]);
                self.folder(spot, Folder { at, real: &real, inner }, depth, skip, &mut seen);
            }
        }
    }

    fn report_odd(&mut self, spot: &Spot<'_>, told: &str) {
        let told = Diagnostic::whole(Code::NotAFile, &spot.shown, told);
        self.diagnostics.push(told.help("rename or remove it"));
    }

    pub(super) fn report_outside(&mut self, shown: String, target: &str) {
        let told = format!("is a link that leads out of its root, to `{target}`");
        self.diagnostics.push(Diagnostic::whole(Code::OutsideRoot, shown, told));
    }

    /// One folder of rule files. `seen` holds the real folders above, so that a loop of links ends.
    fn folder(
        &mut self,
        spot: &Spot<'_>,
        Folder { at, real, inner }: Folder<'_>,
        depth: Depth,
        skip: &[&str],
        seen: &mut BTreeSet<PathBuf>,
    ) {
        let shown = spot.shown_at(inner);
        let entries = match fs::read_dir(at) {
            Ok(entries) => entries,
            Err(error) => {
                let told = format!("cannot be read: {}", reason(&error));
                return self.diagnostics.push(Diagnostic::whole(Code::Unreadable, shown, told));
            }
        };
        let device = device_of(at);
        let mut entries: Vec<_> =
            entries.filter_map(Result::ok).map(|entry| (entry.file_name(), entry)).collect();
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for (name, entry) in entries {
            let name = name.into_string().unwrap_or_else(|name| name.to_string_lossy().into_owned());
            let inner = if inner.is_empty() { name.clone() } else { format!("{inner}/{name}") };
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            // What the folder says of an entry is enough for everything but links.
            let is_link = kind.is_symlink();
            let (kind, node, refused) = if is_link {
                let kind = fs::metadata(&path).map_or(kind, |metadata| metadata.file_type());
                (kind, node_at(&path), self.inside(spot, &path).err())
            } else {
                (kind, device.zip(number_of(&entry)), None)
            };
            let is_folder = kind.is_dir();
            let is_skipped = skip.contains(&name.as_str()) || NEVER_WALKED.contains(&name.as_str());
            let is_entered = is_folder && depth == Depth::Recursive && refused.is_none() && !is_skipped;
            let entered = is_entered.then(|| (path.clone(), inner.clone()));
            if spot.place.takes(&name) {
                let refused = refused.or_else(|| not_a_file(kind));
                self.add(spot, inner, path, node, is_link, refused);
            } else if is_folder && let Some(Unreadable::OutsideRoot { target }) = &refused {
                self.report_outside(spot.shown_at(&inner), target);
            }
            if let Some((at, inner)) = entered {
                let real = if is_link {
                    fs::canonicalize(&at).ok()
                } else {
                    at.file_name().map(|name| real.join(name))
                };
                if let Some(real) = real {
                    self.sub_folder(spot, Folder { at: &at, real: &real, inner: &inner }, seen);
                }
            }
        }
    }

    /// Each real folder is read once, whatever links lead to it.
    fn sub_folder(&mut self, spot: &Spot<'_>, folder: Folder<'_>, seen: &mut BTreeSet<PathBuf>) {
        if seen.len() == MAX_FOLDERS {
            let told = format!("more than {MAX_FOLDERS} folders: the rest is not read");
            let told = Diagnostic::whole(Code::TooLarge, spot.shown_at(folder.inner), told);
            return self.diagnostics.push(told.help("move what is not a rule out of the rule folder"));
        }
        if seen.insert(folder.real.to_owned()) {
            self.folder(spot, folder, Depth::Recursive, &[], seen);
        }
    }

    fn add(
        &mut self,
        spot: &Spot<'_>,
        inner: String,
        file: PathBuf,
        node: Option<Node>,
        is_link: bool,
        refused: Option<Unreadable>,
    ) {
        let count = self.counts.entry(spot.scope).or_default();
        *count += 1;
        if *count > MAX_FILES {
            return;
        }
        let is_in_folder = spot.place.extensions().is_some();
        let display = if is_in_folder { spot.shown_at(&inner) } else { spot.shown.clone() };
        let shown = match visible_line(&display) {
            Cow::Borrowed(_) => None,
            Cow::Owned(shown) => Some(shown),
        };
        if let Some(shown) = &shown {
            let told = "has a name with characters that people do not see";
            self.diagnostics.push(Diagnostic::whole(Code::HiddenText, shown, told).help("rename the file"));
        }
        let mut origin = Origin::new(spot.format, spot.place, shown.unwrap_or(display));
        origin.scope = spot.scope;
        origin.path = posix(&file);
        origin.root = spot.root;
        spot.folder.clone_into(&mut origin.folder);
        origin.inner = inner;
        self.found.push(Found { origin, file, node, is_link, refused });
    }

    /// Where a path really lies, if that is below its root or where links may lead.
    fn inside(&self, spot: &Spot<'_>, path: &Path) -> Result<PathBuf, Unreadable> {
        let real = fs::canonicalize(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Unreadable::NotAFile { kind: "a link that leads nowhere" },
            _ => Unreadable::Refused(reason(&error)),
        })?;
        if self.search.allows(&real, &spot.within) {
            return Ok(real);
        }
        Err(Unreadable::OutsideRoot { target: self.search.homes.shown(&real) })
    }
}

/// Which file a path leads to: the device of its folder, whose entries are numbered the same way, and its number. The
/// device a file itself tells may be another one on a file system of layers.
fn node_at(path: &Path) -> Option<Node> {
    let real = fs::canonicalize(path).ok()?;
    Some((device_of(real.parent()?)?, number_at(&real)?))
}

#[cfg(unix)]
fn device_of(folder: &Path) -> Option<u64> {
    fs::metadata(folder).ok().map(|metadata| std::os::unix::fs::MetadataExt::dev(&metadata))
}

#[cfg(unix)]
fn number_at(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().map(|metadata| std::os::unix::fs::MetadataExt::ino(&metadata))
}

#[cfg(unix)]
fn number_of(entry: &fs::DirEntry) -> Option<u64> {
    Some(std::os::unix::fs::DirEntryExt::ino(entry))
}

#[cfg(not(unix))]
fn device_of(_: &Path) -> Option<u64> {
    None
}

#[cfg(not(unix))]
fn number_at(_: &Path) -> Option<u64> {
    None
}

#[cfg(not(unix))]
fn number_of(_: &fs::DirEntry) -> Option<u64> {
    None
}

fn not_a_file(kind: FileType) -> Option<Unreadable> {
    let kind = match kind {
        kind if kind.is_file() => return None,
        kind if kind.is_dir() => "a folder, not a file",
        _ => "neither a file nor a folder",
    };
    Some(Unreadable::NotAFile { kind })
}
