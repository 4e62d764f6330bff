//! Discovery: which files are rule files, in sorted order, with where each was found.

mod folder;
mod nested;

pub(crate) use nested::NEVER_WALKED;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::evidence::{Root, Roots};
use rulebook::format::{Base, FETCHED, FORMATS, Format, Place};
use rulebook::hidden::visible_line;
use rulebook::source::{Origin, Scope, Unreadable};

use crate::homes::{Homes, posix};
use crate::tree::Tree;

/// How far nested rule folders are looked for.
#[derive(Clone, Copy, Debug)]
pub enum Reach<'p> {
    /// In the folders above these paths (root and path).
    Above(&'p [(usize, &'p str)]),
    /// In the folders of a tree that was walked.
    Walked(&'p Tree),
    /// In the whole tree, which is walked for it.
    Tree,
}

/// A rule file that was found, not read yet.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where, and as whose.
    pub origin: Origin,
    /// The file on disk.
    pub file: PathBuf,
    /// Which file it is, whatever leads to it.
    pub node: Option<Node>,
    /// Whether it is a link: of two names for one file, the file's own counts.
    pub is_link: bool,
    /// Why it must not be read.
    pub refused: Option<Unreadable>,
}

impl Found {
    /// Its place in the order in which files are read.
    fn order(&self) -> impl Ord + '_ {
        let origin = &self.origin;
        (origin.scope, self.is_link, origin.format.order, Reverse(origin.depth()), &origin.display)
    }
}

/// Device and number of a file, where files have numbers.
pub type Node = (u64, u64);

/// The most rule files that are read of one scope: what a repository holds leaves room for a person's own.
const MAX_FILES: usize = 10_000;

/// What to look for, and where.
pub struct Search<'s> {
    /// The workspace's roots.
    pub roots: &'s Roots,
    /// The user's folders.
    pub homes: &'s Homes,
    /// The table of formats.
    pub formats: &'static [Format],
    /// Which of them are read.
    pub takes: &'s dyn Fn(&Format) -> bool,
    /// Folders named in the settings, and the root whose settings they are; none for the user's own.
    pub extra: &'s [(Option<usize>, String)],
    /// Folders of fetched rules, each by its name.
    pub folders: &'s [(String, PathBuf)],
    /// Folders links may lead to.
    pub allow_links: &'s [PathBuf],
}

impl Search<'_> {
    /// Whether a real path may be read: below `within`, a root, one of the user's own rule folders, or where links may
    /// lead. Roots are real paths; the rest is asked of the disk only for what leads out of them.
    pub(crate) fn allows(&self, real: &Path, within: &Path) -> bool {
        let own = FORMATS.iter().flat_map(|format| format.user);
        let own = own.filter_map(|place| self.homes.base(place.base).map(|base| base.join(place.path)));
        let mut allowed = self.allow_links.iter().cloned().chain(own).chain([within.to_owned()]);
        real.starts_with(within)
            || self.roots.roots.iter().any(|root| real.starts_with(&root.path))
            || allowed.any(|folder| real.starts_with(fs::canonicalize(&folder).unwrap_or(folder)))
    }

    /// A path as shown to people: relative to its root, or `~/…`.
    pub(crate) fn shown(&self, root: usize, path: &Path) -> String {
        let Root { name, path: base, .. } = &self.roots.roots[root];
        match path.strip_prefix(base) {
            Ok(relative) if self.roots.roots.len() > 1 => format!("{name}/{}", posix(relative)),
            Ok(relative) => posix(relative),
            Err(_) => self.homes.shown(path),
        }
    }
}

/// Finds every rule file within reach, in the order in which they are read.
pub fn discover(search: &Search<'_>, reach: Reach<'_>) -> (Vec<Found>, Vec<Diagnostic>) {
    let formats: Vec<&Format> = search.formats.iter().filter(|format| (search.takes)(format)).collect();
    let places = formats.iter().flat_map(|format| format.workspace);
    let mut heads: Vec<&str> = places.map(Place::head).collect();
    heads.sort_unstable();
    heads.dedup();
    let mut finder = Finder {
        search,
        formats,
        heads,
        found: Vec::new(),
        counts: BTreeMap::new(),
        diagnostics: Vec::new(),
    };
    for root in 0..search.roots.roots.len() {
        finder.workspace(root);
    }
    finder.nested(reach);
    finder.extra();
    finder.fetched();
    finder.user();
    finder.report_too_many();
    finder.found.sort_by(|one, other| one.order().cmp(&other.order()));
    (finder.found, finder.diagnostics)
}

struct Finder<'s> {
    search: &'s Search<'s>,
    formats: Vec<&'static Format>,
    /// The first names of all their places in a workspace, sorted.
    heads: Vec<&'static str>,
    found: Vec<Found>,
    /// How many there are of each scope, those beyond the limit too.
    counts: BTreeMap<Scope, usize>,
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

/// A folder that may hold rule folders.
struct Here<'p> {
    root: usize,
    /// Relative to the root; empty at the root and above it.
    folder: &'p str,
    base: &'p Path,
    /// `../` for each folder it lies above the root.
    up: &'p str,
}

impl Spot<'_> {
    /// How a file at `inner` is shown.
    fn shown_at(&self, inner: &str) -> String {
        let slash = if self.shown.is_empty() || inner.is_empty() { "" } else { "/" };
        [&self.shown, slash, inner].concat()
    }
}

impl Finder<'_> {
    fn workspace(&mut self, root: usize) {
        let base = PathBuf::from(&self.search.roots.roots[root].path);
        let Present { heads: present, near, .. } = present(&self.heads, &base);
        self.look(&Here { root, folder: "", base: &base, up: "" }, &present);
        for (name, head) in near {
            let told = format!("is not read: agents look for `{head}`, in these letters");
            let told = Diagnostic::whole(
                Code::NearName,
                visible_line(&format!("{}{name}", self.prefix(root))),
                told,
            );
            self.diagnostics.push(told.help(format!("rename it to `{head}` if it is meant for agents")));
        }
        for format in self.formats.clone().into_iter().filter(|format| format.climbs) {
            if !format.workspace.iter().any(|place| present.contains(&place.head())) {
                self.climb(format, root, &base);
            }
        }
    }

    /// The nearest place above the root, up to home or the file system's root.
    fn climb(&mut self, format: &'static Format, root: usize, base: &Path) {
        // The root is a real path, and so must home be to be met on the way up.
        let home = self.search.homes.home.as_ref().and_then(|home| fs::canonicalize(home).ok());
        let mut up = String::new();
        for pair in base.ancestors().collect::<Vec<_>>().windows(2) {
            let [below, above] = pair else { return };
            if home.as_deref() == Some(below) {
                return;
            }
            up.push_str("../");
            let here = Here { root, folder: "", base: above, up: &up };
            let is_there = |place: &&Place| fs::symlink_metadata(above.join(place.head())).is_ok();
            let found: Vec<&Place> = format.workspace.iter().filter(is_there).collect();
            for place in &found {
                self.place(&self.spot(format, place, &here), &above.join(place.path));
            }
            if !found.is_empty() {
                return;
            }
        }
    }

    /// Finds the places in one folder, given which first names are there.
    fn look(&mut self, here: &Here<'_>, present: &[&str]) {
        if present.is_empty() {
            return;
        }
        let is_read = |place: &&Place| here.folder.is_empty() || place.base != Base::Top;
        for format in self.formats.clone() {
            let places = format.workspace.iter().filter(is_read);
            for place in places.filter(|place| present.contains(&place.head())) {
                if !self.is_named_whole(&Path::new(here.folder).join(place.path), place) {
                    self.place(&self.spot(format, place, here), &here.base.join(place.path));
                }
            }
        }
    }

    /// Whether a file in an agent's own folder, such as `.claude/CLAUDE.md`, is a place by its whole path already.
    fn is_named_whole(&self, path: &Path, place: &Place) -> bool {
        let others = self.formats.iter().flat_map(|format| format.workspace);
        others.filter(|other| other.path.len() > place.path.len()).any(|other| path.ends_with(other.path))
    }

    fn spot<'p>(&self, format: &'static Format, place: &'static Place, here: &Here<'p>) -> Spot<'p> {
        let Here { root, folder, base, up } = *here;
        let slash = if folder.is_empty() { "" } else { "/" };
        let shown = format!("{}{up}{folder}{slash}{}", self.prefix(root), place.path);
        let within = if up.is_empty() { Path::new(&self.search.roots.roots[root].path) } else { base };
        Spot { format, place, scope: Scope::Workspace, root, folder, shown, within: within.to_owned() }
    }

    /// With several roots, shown paths start with the root's name.
    fn prefix(&self, root: usize) -> String {
        let roots = &self.search.roots.roots;
        if roots.len() > 1 { format!("{}/", roots[root].name) } else { String::new() }
    }

    fn extra(&mut self) {
        for (owner, path) in self.search.extra {
            let at = self.search.homes.expand(path);
            let root = owner.unwrap_or(0);
            let base = Path::new(&self.search.roots.roots[root].path);
            let at = if at.is_absolute() { at } else { base.join(at) };
            let shown = self.search.shown(root, &at);
            let shown = if shown == "." { String::new() } else { shown };
            if !at.is_dir() {
                let told = "is named in `rules.extra_paths` but is not a folder";
                let told = Diagnostic::whole(Code::Unreadable, shown, told);
                self.diagnostics.push(told.help("mend or remove the entry"));
                continue;
            }
            let (format, place) = Format::of_folder(&shown);
            if (self.search.takes)(format) {
                // A repository's entry must lie in it; a person's own may lie anywhere.
                let within = if owner.is_some() { base.to_owned() } else { at.clone() };
                let spot = Spot { format, place, scope: Scope::Extra, root, folder: "", shown, within };
                self.place(&spot, &at);
            }
        }
    }

    /// Folders that the person's own settings name as remotes; one that is not there is told elsewhere.
    fn fetched(&mut self) {
        let Some(format) = Format::named("remote") else { return };
        for (name, at) in self.search.folders {
            let (shown, within) = (name.clone(), at.clone());
            let spot =
                Spot { format, place: &FETCHED, scope: Scope::Remote, root: 0, folder: "", shown, within };
            self.place(&spot, at);
        }
    }

    fn report_too_many(&mut self) {
        let over = self.counts.iter().filter(|(_, count)| **count > MAX_FILES);
        let tell = |(scope, count): (&Scope, &usize)| {
            let told = format!(
                "there are {count} rule files of the {}, of which {MAX_FILES} are read",
                scope.name()
            );
            Diagnostic::whole(Code::TooMany, "rule files", told)
        };
        self.diagnostics.extend(over.map(tell));
    }

    fn user(&mut self) {
        let homes = self.search.homes;
        let mut present: HashMap<(Base, &str), bool> = HashMap::new();
        for format in self.formats.clone() {
            for place in format.user {
                let Some(base) = homes.base(place.base) else { continue };
                let is_there = || fs::symlink_metadata(base.join(place.head())).is_ok();
                if !*present.entry((place.base, place.head())).or_insert_with(is_there) {
                    continue;
                }
                let at = base.join(place.path);
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

/// Which first names of places are in a folder.
#[derive(Default)]
struct Present {
    heads: Vec<&'static str>,
    /// Names of files that are one but for their capitals, and which.
    near: Vec<(String, &'static str)>,
    /// Everything in it, where that is not too much.
    entries: Option<Vec<(String, FileType)>>,
}

/// Which first names of places are in a folder. Few folders have any, and most are small: listing one is cheaper than
/// asking for each name, up to a size.
fn present(heads: &[&'static str], base: &Path) -> Present {
    const WORTH_LISTING: usize = 256;
    let mut present = Present::default();
    let Ok(entries) = fs::read_dir(base) else { return present };
    let mut all = Vec::new();
    for (at, entry) in entries.filter_map(Result::ok).enumerate() {
        if at == WORTH_LISTING {
            let is_there = |head: &&&str| fs::symlink_metadata(base.join(head)).is_ok();
            return Present { heads: heads.iter().filter(is_there).copied().collect(), ..Present::default() };
        }
        let Ok(name) = entry.file_name().into_string() else { continue };
        match heads.binary_search(&name.as_str()) {
            Ok(at) => present.heads.push(heads[at]),
            Err(_) => {
                let is_near =
                    |head: &&&str| head.starts_with(char::is_uppercase) && head.eq_ignore_ascii_case(&name);
                let near = heads.iter().find(is_near).filter(|_| entry.path().is_file());
                present.near.extend(near.map(|head| (name.clone(), *head)));
            }
        }
        all.extend(entry.file_type().ok().map(|kind| (name, kind)));
    }
    present.entries = Some(all);
    present
}

/// The operating system's words without its number.
pub(crate) fn reason(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or(&words).to_lowercase()
}
