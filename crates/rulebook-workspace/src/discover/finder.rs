//! The finder: collects rule files, and decides whether each may be read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::format::{Format, Place};
use rulebook::hidden::visible_line;
use rulebook::source::{Origin, Scope, Unreadable};

use super::config::{self, LoadedConfig};
use super::search::{Found, Search};
use crate::disk::{ListedFile, Node};
use crate::homes::posix;
use crate::storage::FileKind;

/// The most rule files that are read of one scope, so that a repository's files leave room for a person's own.
const MAX_FILES: usize = 10_000;

/// The state of a discovery.
pub(super) struct Finder<'s> {
    pub(super) search: &'s Search<'s>,
    /// The first names of all places in a workspace, sorted.
    pub(super) heads: Vec<&'static str>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The settings of agents that decide which files they read.
    pub(super) configs: Vec<LoadedConfig>,
    found: Vec<Found>,
    /// The number of files of each scope, including those beyond the limit.
    counts: BTreeMap<Scope, usize>,
}

/// A place that exists.
pub(super) struct Spot<'p> {
    pub(super) format: &'static Format,
    pub(super) place: &'static Place,
    pub(super) scope: Scope,
    pub(super) root: usize,
    pub(super) folder: &'p str,
    /// The start of the shown path of its files.
    pub(super) shown: String,
    /// The folder that links must stay in.
    pub(super) within: Arc<Path>,
}

impl Spot<'_> {
    /// The shown path of a file at `inner`.
    pub(super) fn shown_at(&self, inner: &str) -> String {
        let slash = if self.shown.is_empty() || inner.is_empty() { "" } else { "/" };
        [&self.shown, slash, inner].concat()
    }
}

/// A file or link on disk.
pub(super) struct Item {
    pub(super) file: PathBuf,
    /// Its path inside the rule folder.
    pub(super) inner: String,
    pub(super) node: Option<Node>,
    /// Its entry in a listing, unless it is a link.
    pub(super) listed: Option<ListedFile>,
    pub(super) is_link: bool,
    pub(super) refused: Option<Unreadable>,
}

impl<'s> Finder<'s> {
    pub(super) fn new(search: &'s Search<'s>) -> Finder<'s> {
        let places = search.formats.iter().flat_map(|format| format.workspace);
        let mut heads: Vec<&str> = places.map(Place::head).collect();
        heads.sort_unstable();
        heads.dedup();
        let mut configs = config::load(search);
        let mut diagnostics = Vec::new();
        for config in configs.iter_mut().filter_map(|config| config.value.limit().then_some(config)) {
            let message =
                format!("a list has more than {} entries; the others are not used", config::MAX_ENTRIES);
            diagnostics
                .push(Diagnostic::whole(Code::TooMany, &config.shown, message).help("shorten the list"));
        }
        Finder { search, heads, configs, diagnostics, found: Vec::new(), counts: BTreeMap::new() }
    }

    pub(super) fn finish(mut self) -> (Vec<Found>, Vec<Diagnostic>) {
        let over = self.counts.iter().filter(|(_, count)| **count > MAX_FILES);
        let report = |(scope, count): (&Scope, &usize)| {
            let message =
                format!("the {} has {count} rule files; only {MAX_FILES} of them are read", scope.name());
            Diagnostic::whole(Code::TooMany, "rule files", message)
        };
        self.diagnostics.extend(over.map(report));
        let mut found = std::mem::take(&mut self.found);
        self.drop_excluded(&mut found);
        self.found = found;
        self.found.sort_by(|one, other| one.order().cmp(&other.order()));
        (self.found, self.diagnostics)
    }

    /// Adds a file of a place.
    pub(super) fn add(&mut self, spot: &Spot<'_>, item: Item) {
        let count = self.counts.entry(spot.scope).or_default();
        *count += 1;
        if *count > MAX_FILES {
            return;
        }
        let Item { file, inner, node, listed, is_link, refused } = item;
        let is_in_folder = spot.place.files().is_some();
        let display = if is_in_folder { spot.shown_at(&inner) } else { spot.shown.clone() };
        let display = match visible_line(&display) {
            Cow::Borrowed(_) => display,
            Cow::Owned(shown) => {
                let message = "the file name has invisible characters";
                self.diagnostics
                    .push(Diagnostic::whole(Code::HiddenText, &shown, message).help("rename the file"));
                shown
            }
        };
        let mut origin = Origin::new(spot.format, spot.place, display);
        origin.scope = spot.scope;
        origin.path = posix(&file);
        origin.root = spot.root;
        spot.folder.clone_into(&mut origin.folder);
        origin.inner = inner;
        origin.is_link = is_link;
        self.found.push(Found { origin, file, node, listed, within: Arc::clone(&spot.within), refused });
    }

    /// The canonical path, if it is in the place's folder or in one that links may lead to.
    pub(super) fn allowed(&self, spot: &Spot<'_>, path: &Path) -> Result<PathBuf, Unreadable> {
        let real = self.search.disk.real(path)?;
        if self.search.allows(&real, &spot.within) {
            return Ok(real);
        }
        Err(Unreadable::OutsideRoot { target: self.search.homes.shown(&real) })
    }

    pub(super) fn report_outside(&mut self, shown: String, target: &str) {
        let message = format!("this link points to `{target}`, outside its root");
        self.diagnostics.push(Diagnostic::whole(Code::OutsideRoot, shown, message));
    }
}

/// Why a file of this kind must not be read.
pub(super) fn not_a_file(kind: FileKind) -> Option<Unreadable> {
    let kind = match kind {
        kind if kind.is_file() => return None,
        kind if kind.is_dir() => "a folder, not a file",
        _ => "neither a file nor a folder",
    };
    Some(Unreadable::NotAFile { kind })
}
