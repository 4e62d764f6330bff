//! Facts: the evidence, prepared so that many questions about it are cheap.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::evidence::Evidence;
use crate::glob::{Dialect, Glob, PathIndex};

/// The evidence as conditions see it.
#[derive(Debug)]
pub struct Facts<'e> {
    /// What is known.
    pub evidence: &'e Evidence,
    all: View<'e>,
    folders: BTreeMap<(usize, String), View<'e>>,
}

type Known = HashMap<Dialect, HashMap<String, Rc<[usize]>>>;

/// The evidence paths below one folder, relative to it.
#[derive(Debug)]
pub(super) struct View<'e> {
    index: PathIndex<'e>,
    /// Answers by pattern: the rules of one workspace ask for few, again and again.
    known: RefCell<Known>,
    relative: Vec<&'e str>,
    /// Position in the index to position in the evidence.
    at: Vec<usize>,
    /// Including the folder itself, which no pattern relative to it can match.
    pub(super) below: Vec<usize>,
}

impl<'e> View<'e> {
    /// Positions in the evidence of the paths a glob matches.
    pub(super) fn matches(&self, glob: &Glob) -> Rc<[usize]> {
        let mut known = self.known.borrow_mut();
        let known = known.entry(glob.dialect()).or_default();
        if let Some(known) = known.get(glob.pattern()) {
            return Rc::clone(known);
        }
        let found: Rc<[usize]> = self.index.matches(glob).into_iter().map(|found| self.at[found]).collect();
        known.insert(glob.pattern().to_owned(), Rc::clone(&found));
        found
    }

    /// The path at a position in the evidence, as patterns see it.
    pub(super) fn path(&self, at: usize) -> &'e str {
        self.at.binary_search(&at).map_or("", |at| self.relative[at])
    }
}

impl<'e> Facts<'e> {
    /// Prepares the evidence for rules whose nested folders are these (root and folder).
    pub fn new<'f>(evidence: &'e Evidence, folders: impl IntoIterator<Item = (usize, &'f str)>) -> Facts<'e> {
        let all = view(evidence.paths.iter().enumerate().map(|(at, seen)| (at, seen.path.as_str())));
        let folders = folders
            .into_iter()
            .map(|(root, folder)| {
                let below = evidence.paths.iter().enumerate().filter(|(_, seen)| seen.root == root);
                let relative = below.filter_map(|(at, seen)| Some((at, below_folder(&seen.path, folder)?)));
                ((root, folder.to_owned()), view(relative))
            })
            .collect();
        Facts { evidence, all, folders }
    }

    /// The evidence below a nested rule's folder, or all of it.
    pub(super) fn view(&self, base: Option<&(usize, String)>) -> &View<'e> {
        base.and_then(|base| self.folders.get(base)).unwrap_or(&self.all)
    }

    /// Positions in the evidence of the paths below a folder.
    pub fn below(&self, root: usize, folder: &str) -> &[usize] {
        self.folders.get(&(root, folder.to_owned())).map_or(&[], |view| &view.below)
    }
}

fn view<'e>(paths: impl Iterator<Item = (usize, &'e str)>) -> View<'e> {
    let mut below = Vec::new();
    let (at, relative): (Vec<usize>, Vec<&str>) =
        paths.inspect(|(at, _)| below.push(*at)).filter(|(_, path)| !path.is_empty()).unzip();
    View { index: PathIndex::new(relative.iter().copied()), known: RefCell::default(), relative, at, below }
}

fn below_folder<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
