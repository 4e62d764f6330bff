//! Facts: the evidence, prepared so that many questions about it are cheap.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::evidence::Evidence;
use crate::glob::{Glob, PathIndex};

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

/// The evidence paths below one folder, relative to it.
#[derive(Debug)]
pub(crate) struct View<'e> {
    index: PathIndex<'e>,
    /// Answers by pattern: the rules of one workspace ask for few, again and again.
    known: RefCell<HashMap<String, Rc<[usize]>>>,
    /// Position in the index to position in the evidence.
    at: Vec<usize>,
    /// Including the folder itself, which no pattern relative to it can match.
    pub(super) below: Vec<usize>,
}

impl View<'_> {
    /// Positions in the evidence of the paths a glob matches.
    pub(crate) fn matches(&self, glob: &Glob) -> Rc<[usize]> {
        if let Some(known) = self.known.borrow().get(glob.pattern()) {
            return Rc::clone(known);
        }
        let found: Rc<[usize]> = self.index.matches(glob).into_iter().map(|found| self.at[found]).collect();
        self.known.borrow_mut().insert(glob.pattern().to_owned(), Rc::clone(&found));
        found
    }
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
    let (at, relative): (Vec<usize>, Vec<&str>) =
        paths.inspect(|(at, _)| below.push(*at)).filter(|(_, path)| !path.is_empty()).unzip();
    View { index: PathIndex::new(relative), known: RefCell::default(), at, below }
}
