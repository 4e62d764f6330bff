//! The evidence, indexed so that evaluating many conditions is cheap.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use foldhash::{HashMap, HashSet};

use super::message::Message;
use crate::evidence::Evidence;
use crate::glob::{Dialect, Glob, PathIndex};
use crate::shell::{self, Script};

/// The evidence that conditions are evaluated against.
#[derive(Debug)]
pub struct Facts<'e> {
    /// The evidence itself.
    pub evidence: &'e Evidence,
    all: View<'e>,
    /// Nested folders with evidence below them, by root.
    folders: HashMap<usize, HashMap<&'e str, View<'e>>>,
    empty: View<'e>,
    scripts: OnceCell<Vec<Script>>,
    message: OnceCell<Message>,
    /// How many bytes conditions have searched.
    inspected: Cell<usize>,
}

/// The maximum number of bytes that the conditions of all rules together search in texts of any length.
pub(super) const MAX_INSPECTED: usize = 128 << 20;

/// The result of a condition that would exceed it.
pub(super) const TOO_MUCH: &str =
    "not evaluated: the conditions of all rules together search at most 128 MiB of text";

/// Positions in the evidence by pattern.
type Known = HashMap<String, Rc<[usize]>>;

/// The maximum number of positions that are remembered.
const MAX_KNOWN: usize = 4 << 20;

/// The evidence paths below one folder, relative to it.
#[derive(Debug)]
pub(crate) struct View<'e> {
    paths: Vec<&'e str>,
    index: OnceCell<PathIndex<'e>>,
    groups: OnceCell<FileGroups<'e>>,
    /// Results by pattern: the rules of a workspace use few patterns, many times.
    known: RefCell<BTreeMap<Dialect, Known>>,
    /// How many positions these results contain.
    known_positions: Cell<usize>,
    /// Position in `paths` to position in the evidence.
    at: Vec<usize>,
    /// Positions in the evidence, including the folder itself, which no pattern relative to it can match.
    pub(super) below: Vec<usize>,
}

impl<'e> View<'e> {
    /// Positions in the evidence of the paths that a glob matches.
    pub(crate) fn matches(&self, glob: &Glob) -> Rc<[usize]> {
        let mut known = self.known.borrow_mut();
        let known = known.entry(glob.dialect()).or_default();
        if let Some(known) = known.get(glob.pattern()) {
            return Rc::clone(known);
        }
        let found = if self.paths.len() >= MANY && glob.depends_on_extension_only() {
            self.groups.get_or_init(|| FileGroups::new(&self.paths)).matches(glob)
        } else {
            self.index.get_or_init(|| PathIndex::new(self.paths.iter().copied())).matches(glob)
        };
        let found: Rc<[usize]> = found.into_iter().map(|found| self.at[found]).collect();
        let positions = self.known_positions.get() + found.len();
        if positions <= MAX_KNOWN {
            self.known_positions.set(positions);
            known.insert(glob.pattern().to_owned(), Rc::clone(&found));
        }
        found
    }

    /// The path at a position in the evidence, relative to the folder.
    pub(super) fn path(&self, at: usize) -> &'e str {
        self.at.binary_search(&at).map_or("", |at| self.paths[at])
    }
}

/// From this many paths on, equivalent files are grouped.
const MANY: usize = 256;

/// Runs of files with the same folder and extension. They are equivalent for a glob that depends on nothing else.
#[derive(Debug)]
struct FileGroups<'e> {
    /// The first file of each group.
    index: PathIndex<'e>,
    /// Where each group starts, and where the last one ends.
    starts: Vec<usize>,
}

impl<'e> FileGroups<'e> {
    fn new(paths: &[&'e str]) -> FileGroups<'e> {
        let mut starts = Vec::new();
        let mut last = None;
        for (at, path) in paths.iter().enumerate() {
            let key = group_key(path);
            if key.is_none() || key != last {
                starts.push(at);
            }
            last = key;
        }
        starts.push(paths.len());
        let firsts = starts[..starts.len() - 1].iter().map(|start| paths[*start]);
        FileGroups { index: PathIndex::new(firsts), starts }
    }

    fn matches(&self, glob: &Glob) -> Vec<usize> {
        let groups = self.index.matches(glob).into_iter();
        groups.flat_map(|group| self.starts[group]..self.starts[group + 1]).collect()
    }
}

/// Folder and extension; `None` for a name without an extension or with a character that a dialect treats specially.
fn group_key(path: &str) -> Option<(&str, &str)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.')?;
    let is_usual =
        name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-' | b'+' | b'@'));
    let is_hidden = stem.is_empty() || stem.starts_with('.');
    (is_usual && !is_hidden).then_some((folder, extension))
}

impl<'e> Facts<'e> {
    /// Indexes the evidence for rules in these nested folders (root and folder).
    pub fn new<'f>(evidence: &'e Evidence, folders: impl IntoIterator<Item = (usize, &'f str)>) -> Facts<'e> {
        let all = view(evidence.paths.iter().enumerate().map(|(at, seen)| (at, seen.path.as_str())));
        let wanted: HashSet<(usize, &str)> = folders.into_iter().collect();
        let mut below: HashMap<(usize, &'e str), Vec<(usize, &'e str)>> = HashMap::default();
        for (at, seen) in evidence.paths.iter().enumerate().filter(|_| !wanted.is_empty()) {
            let path = seen.path.as_str();
            for end in path.match_indices('/').map(|(end, _)| end).chain([path.len()]) {
                let folder = (seen.root, &path[..end]);
                if wanted.contains(&folder) {
                    let rest = &path[end..];
                    below.entry(folder).or_default().push((at, rest.strip_prefix('/').unwrap_or(rest)));
                }
            }
        }
        let mut folders: HashMap<usize, HashMap<&str, View>> = HashMap::default();
        for ((root, folder), paths) in below {
            folders.entry(root).or_default().insert(folder, view(paths.into_iter()));
        }
        Facts {
            evidence,
            all,
            folders,
            empty: view(std::iter::empty()),
            scripts: OnceCell::new(),
            message: OnceCell::new(),
            inspected: Cell::new(0),
        }
    }

    /// Prepares what the first patterns need, so that they are answered as fast as later ones.
    pub fn prepare(&self) {
        self.all.index.get_or_init(|| PathIndex::new(self.all.paths.iter().copied()));
        if self.all.paths.len() >= MANY {
            self.all.groups.get_or_init(|| FileGroups::new(&self.all.paths));
        }
    }

    /// The commands about to run, parsed.
    pub(super) fn scripts(&self) -> &[Script] {
        self.scripts.get_or_init(|| self.evidence.commands.iter().map(|line| shell::parse(line)).collect())
    }

    /// The user's message, split into words.
    pub(super) fn message(&self) -> Option<&Message> {
        let text = self.evidence.message.as_ref()?;
        Some(self.message.get_or_init(|| Message::new(text)))
    }

    /// Whether a condition may search this many bytes. Rules that are evaluated first come first.
    pub(super) fn may_inspect(&self, bytes: usize) -> bool {
        let inspected = self.inspected.get().saturating_add(bytes);
        let is_allowed = inspected <= MAX_INSPECTED;
        if is_allowed {
            self.inspected.set(inspected);
        }
        is_allowed
    }

    /// The evidence below the folder of a nested rule, or all of it.
    pub(crate) fn view(&self, base: Option<&(usize, String)>) -> &View<'e> {
        let Some((root, folder)) = base else { return &self.all };
        self.folder(*root, folder).unwrap_or(&self.empty)
    }

    /// Positions in the evidence of the paths below a folder.
    pub fn below(&self, root: usize, folder: &str) -> &[usize] {
        self.folder(root, folder).map_or(&[], |view| &view.below)
    }

    fn folder(&self, root: usize, folder: &str) -> Option<&View<'e>> {
        self.folders.get(&root)?.get(folder)
    }
}

fn view<'e>(paths: impl Iterator<Item = (usize, &'e str)>) -> View<'e> {
    let mut below = Vec::new();
    let (at, paths): (Vec<usize>, Vec<&str>) =
        paths.inspect(|(at, _)| below.push(*at)).filter(|(_, path)| !path.is_empty()).unzip();
    View {
        paths,
        index: OnceCell::new(),
        groups: OnceCell::new(),
        known: RefCell::default(),
        known_positions: Cell::new(0),
        at,
        below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Seen;

    /// Many paths, with equivalent ones adjacent and not, and with names that a glob could take for a folder.
    fn paths() -> Vec<String> {
        #[rustfmt::skip]
        let names = [
            "a.ts", "b.ts", "b.test.ts", ".ts", ".b.ts", "C.ts", "c.TS", "index.tsx", "src", "lib.d", "x.d",
            "*.ts", "a\nb.ts", "é.ts", "z.{ts,tsx}", "README", "a.ts", "v1.0",
        ];
        #[rustfmt::skip]
        let folders = [
            "", "src/", ".src/", "Src/", "src/lib.d/", "src/tests/", "a.ts/", "lib.d/src/", "x/y/tests/src/",
        ];
        let numbered = (0..300).map(|number| format!("src/many/{}{number}.ts", number % 7));
        let named = folders.iter().flat_map(|folder| names.iter().map(move |name| format!("{folder}{name}")));
        named.chain(numbered).collect()
    }

    #[test]
    fn grouped_files_match_like_single_files() {
        let seen = |path: String| Seen { path, root: 0, sources: Vec::new() };
        let evidence = Evidence { paths: paths().into_iter().map(seen).collect(), ..Evidence::default() };
        let facts = Facts::new(&evidence, []);
        #[rustfmt::skip]
        let patterns = [
            "**", "*", "*.ts", "**/*.ts", "src/**", "src/*", "src/**/*.ts", "src/**/*.{ts,tsx}", "lib.d/**",
            "**/src/**", "**/lib.d/**", "**/tests/**", "**/{src,tests}/**", "*/**", "**/a*/**", "**/*.test.ts",
            "**/index.*", "a.ts/**", "**/*.d", "**/README", "z.{ts,tsx}", "*.{ts,tsx}", "**/*.{test.ts,tsx}",
            "SRC/**", "src", "lib.d", "**/lib.*", "!src/**",
        ];
        for pattern in patterns {
            for dialect in Dialect::all() {
                let glob = Glob::new(pattern, dialect).unwrap();
                let each: Vec<usize> =
                    (0..evidence.paths.len()).filter(|at| glob.is_match(&evidence.paths[*at].path)).collect();
                assert_eq!(&*facts.view(None).matches(&glob), each, "{pattern} {dialect:?}");
            }
        }
    }
}
