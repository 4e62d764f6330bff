//! Facts: the evidence, prepared so that many questions about it are cheap.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::evidence::Evidence;
use crate::glob::{Dialect, Glob, PathIndex};

/// The evidence as conditions see it.
#[derive(Debug)]
pub struct Facts<'e> {
    /// What is known.
    pub evidence: &'e Evidence,
    all: View<'e>,
    /// Those with evidence below them, by root.
    folders: HashMap<usize, HashMap<&'e str, View<'e>>>,
    nothing: View<'e>,
}

/// Positions in the evidence by pattern.
type Known = HashMap<String, Rc<[usize]>>;

/// The evidence paths below one folder, relative to it.
#[derive(Debug)]
pub(crate) struct View<'e> {
    paths: Vec<&'e str>,
    index: OnceCell<PathIndex<'e>>,
    kin: OnceCell<Kin<'e>>,
    /// Answers by pattern: the rules of one workspace ask for few, again and again.
    known: RefCell<BTreeMap<Dialect, Known>>,
    /// Position in `paths` to position in the evidence.
    at: Vec<usize>,
    /// Including the folder itself, which no pattern relative to it can match.
    pub(super) below: Vec<usize>,
}

impl<'e> View<'e> {
    /// Positions in the evidence of the paths a glob matches.
    pub(crate) fn matches(&self, glob: &Glob) -> Rc<[usize]> {
        let mut known = self.known.borrow_mut();
        let known = known.entry(glob.dialect()).or_default();
        if let Some(known) = known.get(glob.pattern()) {
            return Rc::clone(known);
        }
        let found = if self.paths.len() >= MANY && glob.asks_extension_only() {
            self.kin.get_or_init(|| Kin::new(&self.paths)).matches(glob)
        } else {
            self.index.get_or_init(|| PathIndex::new(self.paths.iter().copied())).matches(glob)
        };
        let found: Rc<[usize]> = found.into_iter().map(|found| self.at[found]).collect();
        known.insert(glob.pattern().to_owned(), Rc::clone(&found));
        found
    }

    /// The path at a position in the evidence, as patterns see it.
    pub(super) fn path(&self, at: usize) -> &'e str {
        self.at.binary_search(&at).map_or("", |at| self.paths[at])
    }
}

/// From so many paths on, those that are the same to many globs are looked for.
const MANY: usize = 256;

/// Paths that stand for others: files side by side, in one folder and with one extension, are the same to a glob that
/// asks no more of a name.
#[derive(Debug)]
struct Kin<'e> {
    /// The first of each.
    index: PathIndex<'e>,
    /// Where each begins, and where the last one ends.
    starts: Vec<usize>,
}

impl<'e> Kin<'e> {
    fn new(paths: &[&'e str]) -> Kin<'e> {
        let mut starts = Vec::new();
        let mut last = None;
        for (at, path) in paths.iter().enumerate() {
            let kind = kind(path);
            if kind.is_none() || kind != last {
                starts.push(at);
            }
            last = kind;
        }
        starts.push(paths.len());
        let firsts = starts[..starts.len() - 1].iter().map(|start| paths[*start]);
        Kin { index: PathIndex::new(firsts), starts }
    }

    fn matches(&self, glob: &Glob) -> Vec<usize> {
        let kin = self.index.matches(glob);
        kin.into_iter().flat_map(|kin| self.starts[kin]..self.starts[kin + 1]).collect()
    }
}

/// Folder and extension; nothing for a name without one, or with anything in it that some dialect minds.
fn kind(path: &str) -> Option<(&str, &str)> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.')?;
    let is_usual =
        name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-' | b'+' | b'@'));
    let is_hidden = stem.is_empty() || stem.starts_with('.');
    (is_usual && !is_hidden).then_some((folder, extension))
}

impl<'e> Facts<'e> {
    /// Prepares the evidence for rules whose nested folders are these (root and folder).
    pub fn new<'f>(evidence: &'e Evidence, folders: impl IntoIterator<Item = (usize, &'f str)>) -> Facts<'e> {
        let all = view(evidence.paths.iter().enumerate().map(|(at, seen)| (at, seen.path.as_str())));
        let wanted: HashSet<(usize, &str)> = folders.into_iter().collect();
        let mut below: HashMap<(usize, &'e str), Vec<(usize, &'e str)>> = HashMap::new();
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
        let mut folders: HashMap<usize, HashMap<&str, View>> = HashMap::new();
        for ((root, folder), paths) in below {
            folders.entry(root).or_default().insert(folder, view(paths.into_iter()));
        }
        Facts { evidence, all, folders, nothing: view(std::iter::empty()) }
    }

    /// The evidence below a nested rule's folder, or all of it.
    pub(crate) fn view(&self, base: Option<&(usize, String)>) -> &View<'e> {
        let Some((root, folder)) = base else { return &self.all };
        self.folder(*root, folder).unwrap_or(&self.nothing)
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
    View { paths, index: OnceCell::new(), kin: OnceCell::new(), known: RefCell::default(), at, below }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Seen;

    /// Many paths, those of a kind side by side and not, with names that could be taken for a folder in a glob.
    fn paths() -> Vec<String> {
        let names = [
            "a.ts",
            "b.ts",
            "b.test.ts",
            ".ts",
            ".b.ts",
            "C.ts",
            "c.TS",
            "index.tsx",
            "src",
            "lib.d",
            "x.d",
            "*.ts",
            "a\nb.ts",
            "é.ts",
            "z.{ts,tsx}",
            "README",
            "a.ts",
            "v1.0",
        ];
        let folders = [
            "",
            "src/",
            ".src/",
            "Src/",
            "src/lib.d/",
            "src/tests/",
            "a.ts/",
            "lib.d/src/",
            "x/y/tests/src/",
        ];
        let numbered = (0..300).map(|number| format!("src/many/{}{number}.ts", number % 7));
        let named = folders.iter().flat_map(|folder| names.iter().map(move |name| format!("{folder}{name}")));
        named.chain(numbered).collect()
    }

    #[test]
    fn files_of_a_kind_get_the_answer_each_would_get() {
        let seen = |path: String| Seen { path, root: 0, sources: Vec::new() };
        let evidence = Evidence { paths: paths().into_iter().map(seen).collect(), ..Evidence::default() };
        let facts = Facts::new(&evidence, []);
        for pattern in [
            "**",
            "*",
            "*.ts",
            "**/*.ts",
            "src/**",
            "src/*",
            "src/**/*.ts",
            "src/**/*.{ts,tsx}",
            "lib.d/**",
            "**/src/**",
            "**/lib.d/**",
            "**/tests/**",
            "**/{src,tests}/**",
            "*/**",
            "**/a*/**",
            "**/*.test.ts",
            "**/index.*",
            "a.ts/**",
            "**/*.d",
            "**/README",
            "z.{ts,tsx}",
            "*.{ts,tsx}",
            "**/*.{test.ts,tsx}",
            "SRC/**",
            "src",
            "lib.d",
            "**/lib.*",
            "!src/**",
        ] {
            for dialect in Dialect::all() {
                let glob = Glob::new(pattern, dialect).unwrap();
                let each: Vec<usize> =
                    (0..evidence.paths.len()).filter(|at| glob.is_match(&evidence.paths[*at].path)).collect();
                assert_eq!(&*facts.view(None).matches(&glob), each, "{pattern} {dialect:?}");
            }
        }
    }
}
