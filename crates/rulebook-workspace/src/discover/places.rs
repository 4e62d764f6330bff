//! The places of the formats that exist: in a folder of the workspace, above it, in settings and in the user's folders.

use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::{Base, FETCHED, Format, FormatId, Place, PlaceKind};
use rulebook::hidden::visible_line;
use rulebook::source::Scope;
use rulebook::unread::is_not_rules;

use super::finder::{Finder, Spot};
use crate::disk::Disk;
use crate::settings::Setting;

/// A folder that may contain rule folders.
pub(super) struct Here<'p> {
    pub(super) root: usize,
    /// Relative to the root; empty at the root and above it.
    pub(super) folder: &'p str,
    pub(super) base: &'p Path,
    /// `../` for each level above the root.
    pub(super) up: &'p str,
}

impl Finder<'_> {
    /// Adds the rule files of a root, and of the nearest folder above it for formats that look there.
    pub(super) fn root(&mut self, root: usize) {
        let base = PathBuf::from(&self.search.roots.roots[root].path);
        let Present { heads: present, near } = Present::of(&self.heads, &base, self.search.disk);
        self.places(&Here { root, folder: "", base: &base, up: "" }, &present);
        for (name, head) in near {
            let path = format!("{}{name}", self.search.prefix(root));
            let message =
                format!("this file is not read: agents read only `{head}`, in exactly this spelling");
            let diagnostic = Diagnostic::whole(Code::NearName, visible_line(&path), message);
            self.diagnostics.push(diagnostic.help(format!("rename it to `{head}` if it is for agents")));
        }
        let search = self.search;
        for format in search.formats.iter().filter(|format| format.climbs) {
            if !format.workspace.iter().any(|place| present.contains(&place.head())) {
                self.climb(format, root, &base);
            }
        }
    }

    /// Adds the files of the nearest place above the root, up to home or the file system's root.
    fn climb(&mut self, format: &'static Format, root: usize, base: &Path) {
        let disk = self.search.disk;
        // The root is a canonical path, so home must be one to be recognised.
        let home = self.search.homes.home.as_ref().and_then(|home| disk.real(home).ok());
        let mut up = String::new();
        for pair in base.ancestors().collect::<Vec<_>>().windows(2) {
            let [below, above] = pair else { return };
            if home.as_deref() == Some(below) {
                return;
            }
            up.push_str("../");
            let here = Here { root, folder: "", base: above, up: &up };
            let exists = |place: &&Place| disk.kind(&above.join(place.head())).is_some();
            let found: Vec<&Place> = format.workspace.iter().filter(exists).collect();
            for place in &found {
                let at = above.join(place.path);
                let spot = self.spot(format, place, &here);
                let refused = match disk.kind(&at) {
                    _ if self.search.is_linkable(&at) => None,
                    Some(kind) if kind.is_link => Some("it is a link"),
                    _ => (!self.search.homes.own(&at)).then_some("another user owns it"),
                };
                match refused {
                    None => self.place(&spot, &at),
                    Some(why) => {
                        let message = format!("this file is above the root and is not read: {why}");
                        self.diagnostics.push(Diagnostic::whole(Code::OutsideRoot, spot.shown, message));
                    }
                }
            }
            if !found.is_empty() {
                return;
            }
        }
    }

    /// Adds the rule files of one folder, given the first names of places in it.
    pub(super) fn places(&mut self, here: &Here<'_>, present: &[&str]) {
        if present.is_empty() {
            return;
        }
        let search = self.search;
        // Next to the definition of a sub-agent or a command, such a name means something else.
        let is_other = !search.is_native() && is_not_rules(here.folder);
        let is_read = |place: &&Place| {
            let is_located = matches!(place.shape, PlaceKind::Located { .. });
            here.folder.is_empty() || place.base != Base::Top && !(is_other && is_located)
        };
        for format in &search.formats {
            let places = format.workspace.iter().filter(is_read);
            for place in places.filter(|place| present.contains(&place.head())) {
                let is_longer = self.has_longer_place(&Path::new(here.folder).join(place.path), place);
                if !is_longer && search.counts(format, place, here.root) {
                    self.place(&self.spot(format, place, here), &here.base.join(place.path));
                }
            }
        }
    }

    /// Whether a file in an agent's own folder, such as `.claude/CLAUDE.md`, is already a place by its whole path.
    fn has_longer_place(&self, path: &Path, place: &Place) -> bool {
        let others = self.search.formats.iter().flat_map(|format| format.workspace);
        others.filter(|other| other.path.len() > place.path.len()).any(|other| path.ends_with(other.path))
    }

    fn spot<'p>(&self, format: &'static Format, place: &'static Place, here: &Here<'p>) -> Spot<'p> {
        let Here { root, folder, base, up } = *here;
        let slash = if folder.is_empty() { "" } else { "/" };
        let shown = format!("{}{up}{folder}{slash}{}", self.search.prefix(root), place.path);
        let root_path = Path::new(&self.search.roots.roots[root].path);
        // Above the root, links must stay in the place itself.
        let within = if up.is_empty() { root_path.into() } else { base.join(place.path).into() };
        Spot { format, place, scope: Scope::Workspace, root, folder, shown, within }
    }

    /// Adds the rule files of the folders that the settings name.
    pub(super) fn extra(&mut self) {
        let search = self.search;
        for Setting { value: path, root: owner, format, .. } in search.extra {
            let at = search.homes.expand(path);
            let root = owner.unwrap_or(0);
            let base = Path::new(&search.roots.roots[root].path);
            let at = if at.is_absolute() { at } else { base.join(at) };
            let shown = search.shown(root, &at);
            let shown = if shown == "." { String::new() } else { shown };
            if !search.disk.files.is_folder(&at) {
                let message = "this path is named in `rules.extra_paths`, but is not a folder";
                let diagnostic = Diagnostic::whole(Code::Unreadable, shown, message);
                self.diagnostics.push(diagnostic.help("fix or remove the entry"));
                continue;
            }
            let named = format.and_then(|format| Some((format.row(), format.row().rule_folder()?)));
            let (format, place) = named.unwrap_or_else(|| Format::of_folder(&shown));
            if search.formats.iter().any(|read| read.id == format.id) {
                // A repository's entry must be inside it; a person's own may be anywhere.
                let within = if owner.is_some() { base } else { &at };
                let spot = Spot {
                    format,
                    place,
                    scope: Scope::Extra,
                    root,
                    folder: "",
                    shown,
                    within: within.into(),
                };
                self.place(&spot, &at);
            }
        }
    }

    /// Adds the rule files of remotes that are folders. A missing folder is reported with the remotes.
    pub(super) fn remote_folders(&mut self) {
        let search = self.search;
        let format = FormatId::Remote.row();
        for (name, at) in &search.folders {
            let (shown, within) = (name.clone(), at.as_path().into());
            let spot =
                Spot { format, place: &FETCHED, scope: Scope::Remote, root: 0, folder: "", shown, within };
            self.place(&spot, at);
        }
    }

    /// Adds the user's own rule files.
    pub(super) fn user(&mut self) {
        let search = self.search;
        let homes = search.homes;
        for format in &search.formats {
            for place in format.user {
                let Some(base) = homes.base(place.base) else { continue };
                if search.disk.kind(&base.join(place.head())).is_none() {
                    continue;
                }
                let at = base.join(place.path);
                let within = match (place.base, &homes.home) {
                    (Base::Home | Base::Config, Some(home)) if at.starts_with(home) => home.as_path(),
                    _ => &at,
                };
                let within = within.into();
                let shown = homes.shown(&at);
                let spot = Spot { format, place, scope: Scope::User, root: 0, folder: "", shown, within };
                self.place(&spot, &at);
            }
        }
    }
}

/// The first names of places in a folder.
#[derive(Default)]
pub(super) struct Present {
    pub(super) heads: Vec<&'static str>,
    /// Files whose names differ from a first name in capitals only, with that name.
    near: Vec<(String, &'static str)>,
}

impl Present {
    /// Looks for the first names of places in a folder. Most folders are small: listing one is cheaper than looking up
    /// each name.
    pub(super) fn of(heads: &[&'static str], base: &Path, disk: &Disk) -> Present {
        let Some(entries) = disk.small_folder(base) else {
            let exists = |head: &&&str| disk.kind(&base.join(head)).is_some();
            return Present { heads: heads.iter().filter(exists).copied().collect(), ..Present::default() };
        };
        let mut present = Present::default();
        for entry in entries.iter() {
            let Some(name) = entry.name.to_str() else { continue };
            if let Ok(at) = heads.binary_search(&name) {
                present.heads.push(heads[at]);
                continue;
            }
            let is_near =
                |head: &&&str| head.starts_with(char::is_uppercase) && head.eq_ignore_ascii_case(name);
            let is_file = |_: &&&str| {
                let target = disk.kind(&base.join(name)).and_then(|kind| kind.target);
                target.is_some_and(|kind| kind.is_file())
            };
            let near = heads.iter().find(is_near).filter(is_file);
            present.near.extend(near.map(|head| (name.to_owned(), *head)));
        }
        present
    }
}
