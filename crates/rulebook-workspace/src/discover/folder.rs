//! One place of a format: a single file, or a folder of rule files with its links and sub-folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::{Depth, FORMATS, Files, PlaceKind};
use rulebook::hidden::visible_line;
use rulebook::shell::quoted;
use rulebook::source::Unreadable;
use rulebook::unread::is_unread_documentation;

use super::finder::{Finder, Item, Spot, not_a_file};
use crate::disk::{BrokenLink, Kind, ListedFile};
use crate::homes::shown_name;
use crate::tree::NEVER_WALKED;

/// The most folders in one rule folder.
const MAX_FOLDERS: usize = 10_000;

/// A folder to read.
#[derive(Clone, Copy)]
struct Folder<'p> {
    at: &'p Path,
    /// Its canonical path.
    real: &'p Path,
    /// Its path inside the rule folder; empty for the rule folder itself.
    inner: &'p str,
}

impl Finder<'_> {
    /// Adds the rule files of a place.
    pub(super) fn place(&mut self, spot: &Spot<'_>, at: &Path) {
        if self.search.is_replaced(spot.format, spot.scope, spot.root) {
            return;
        }
        let Some(Kind { is_link, target }) = self.search.disk.kind(at) else { return };
        // If one path may be a file or a folder, it has a place for each, and the other one handles it.
        let places = FORMATS.iter().flat_map(|format| format.workspace);
        let is_only = places.filter(|other| other.path == spot.place.path).count() < 2;
        match (spot.place.shape, target) {
            (PlaceKind::File { .. } | PlaceKind::Located { .. }, Some(kind)) if !kind.is_dir() || is_only => {
                let inner = at.file_name().unwrap_or_default().to_string_lossy().into_owned();
                // A folder above may be a link too.
                let refused = self.allowed(spot, at).err().or_else(|| not_a_file(kind));
                let node = self.search.disk.node(at);
                self.add(spot, Item { file: at.to_owned(), inner, node, listed: None, is_link, refused });
            }
            (PlaceKind::Folder { depth, skip, .. }, Some(kind)) if kind.is_dir() => {
                self.rule_folder(spot, at, "", depth, skip);
            }
            (PlaceKind::Modes { prefix, .. }, Some(kind)) if kind.is_dir() => {
                self.mode_folders(spot, at, prefix);
            }
            (PlaceKind::Skills, Some(kind)) if kind.is_dir() => self.skills(spot, at),
            (PlaceKind::Folder { .. }, Some(_)) if is_only => {
                self.report_not_a_file(spot, "is a file, not a folder of rules");
            }
            (PlaceKind::Folder { .. }, None) => self.report_broken_link(spot, at),
            (PlaceKind::File { .. } | PlaceKind::Located { .. }, None) if is_only => {
                self.report_broken_link(spot, at);
            }
            _ => {}
        }
    }

    /// Adds the files of the folders of modes, such as `rules-code` and `rules-architect`.
    fn mode_folders(&mut self, spot: &Spot<'_>, at: &Path, prefix: &str) {
        let Ok(listing) = self.search.disk.folder(at) else { return };
        let names = listing.entries.iter().filter_map(|entry| entry.name.to_str());
        for name in names.filter(|name| name.starts_with(prefix)) {
            let at = at.join(name);
            if self.search.disk.kind(&at).is_some_and(Kind::is_folder) {
                self.rule_folder(spot, &at, name, Depth::Recursive, &[]);
            }
        }
    }

    /// Adds the file of each skill in a folder. Its other files are not listed.
    fn skills(&mut self, spot: &Spot<'_>, at: &Path) {
        let Some(Files::Named(file_name)) = spot.place.files() else { return };
        let Ok(listing) = self.search.disk.folder(at) else { return };
        for entry in listing.entries.iter().filter(|entry| !entry.kind.is_file()) {
            let Some(name) = entry.name.to_str().filter(|name| !NEVER_WALKED.contains(name)) else {
                continue;
            };
            let file = at.join(name).join(file_name);
            let Some(Kind { is_link, target: Some(kind) }) = self.search.disk.kind(&file) else { continue };
            let refused = self.allowed(spot, &file).err().or_else(|| not_a_file(kind));
            let node = self.search.disk.node(&file);
            let is_link = is_link || entry.kind.is_symlink();
            self.add(
                spot,
                Item { inner: format!("{name}/{file_name}"), file, node, listed: None, is_link, refused },
            );
        }
    }

    /// Adds the files of a folder that is not inside another rule folder.
    fn rule_folder(&mut self, spot: &Spot<'_>, at: &Path, inner: &str, depth: Depth, skip: &[&str]) {
        match self.allowed(spot, at) {
            Err(Unreadable::OutsideRoot { target }) => self.report_outside(spot.shown_at(inner), &target),
            real => {
                let real = real.unwrap_or_else(|_| at.to_owned());
                let mut seen = BTreeSet::from([real.clone()]);
                self.folder(spot, Folder { at, real: &real, inner }, depth, skip, &mut seen);
            }
        }
    }

    fn report_not_a_file(&mut self, spot: &Spot<'_>, message: &str) {
        let diagnostic = Diagnostic::whole(Code::NotAFile, &spot.shown, message);
        self.diagnostics.push(diagnostic.help("rename or remove it"));
    }

    fn report_broken_link(&mut self, spot: &Spot<'_>, at: &Path) {
        let Some(BrokenLink { target, meant }) = self.search.disk.broken_link(at) else {
            return self.report_not_a_file(spot, "is a broken link");
        };
        let message = format!("is a broken link: `{}` does not exist", visible_line(&target));
        let help = match meant {
            Some(meant) => format!("ln -sf {} {}", quoted(&meant), quoted(&spot.shown)),
            None => "create the file, or remove the link".to_owned(),
        };
        self.diagnostics.push(Diagnostic::whole(Code::NotAFile, &spot.shown, message).help(help));
    }

    /// Adds the files of one folder. `seen` has the canonical paths of the folders read so far, so that loops of links
    /// end.
    fn folder(
        &mut self,
        spot: &Spot<'_>,
        Folder { at, real, inner }: Folder<'_>,
        depth: Depth,
        skip: &[&str],
        seen: &mut BTreeSet<PathBuf>,
    ) {
        let listing = match self.search.disk.folder(at) {
            Ok(listing) => listing,
            Err(reason) => {
                let message = format!("cannot be read: {reason}");
                return self.diagnostics.push(Diagnostic::whole(
                    Code::Unreadable,
                    spot.shown_at(inner),
                    message,
                ));
            }
        };
        for (position, entry) in listing.entries.iter().enumerate() {
            let name = shown_name(&entry.name);
            let path = at.join(&entry.name);
            let inner = if inner.is_empty() { name.to_string() } else { format!("{inner}/{name}") };
            // The listing describes every entry but links.
            let is_link = entry.kind.is_symlink();
            let (kind, node, refused) = if is_link {
                let target = self.search.disk.kind(&path).and_then(|kind| kind.target);
                let node = self.search.disk.node(&path);
                (target.unwrap_or(entry.kind), node, self.allowed(spot, &path).err())
            } else {
                (entry.kind, listing.node(entry), None)
            };
            let is_folder = kind.is_dir();
            let is_skipped = skip.contains(&&*name) || NEVER_WALKED.contains(&&*name);
            let is_entered = is_folder && depth == Depth::Recursive && refused.is_none() && !is_skipped;
            let entered = is_entered.then(|| (path.clone(), inner.clone()));
            // A folder with the extension of rules is a mistake; where any name is a rule, it is just a folder.
            let takes_any = matches!(spot.place.files(), Some(Files::AllBut(_)));
            let is_rule = spot.place.takes(&name)
                && !(is_folder && takes_any)
                && !is_unread_documentation(spot.format.id, spot.place, &inner);
            if is_rule {
                let refused = refused.or_else(|| not_a_file(kind));
                let listed = (!is_link).then(|| ListedFile { listing: Arc::clone(&listing), at: position });
                self.add(spot, Item { file: path, inner, node, listed, is_link, refused });
            } else if is_folder && let Some(Unreadable::OutsideRoot { target }) = &refused {
                self.report_outside(spot.shown_at(&inner), target);
            }
            if let Some((at, inner)) = entered {
                let real = if is_link { self.search.disk.real(&at) } else { Ok(real.join(&entry.name)) };
                if let Ok(real) = real {
                    self.sub_folder(spot, Folder { at: &at, real: &real, inner: &inner }, seen);
                }
            }
        }
    }

    /// Reads each real folder once, whichever links lead to it.
    fn sub_folder(&mut self, spot: &Spot<'_>, folder: Folder<'_>, seen: &mut BTreeSet<PathBuf>) {
        if seen.len() == MAX_FOLDERS {
            let message = format!("has more than {MAX_FOLDERS} folders; the others are not read");
            let diagnostic = Diagnostic::whole(Code::TooLarge, spot.shown_at(folder.inner), message);
            return self.diagnostics.push(diagnostic.help("move other files out of the rule folder"));
        }
        if seen.insert(folder.real.to_owned()) {
            self.folder(spot, folder, Depth::Recursive, &[], seen);
        }
    }
}
