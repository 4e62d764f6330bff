//! How much of a tree each rule applies to, as a value that can be compared.

use super::{Coverage, Role};
use crate::evaluate::{State, at_best};
use crate::evidence::{Evidence, Seen};

/// Where in a tree a rule applies, from the least to the most.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extent {
    /// Nowhere: it is off, manual, or nothing can activate it.
    Nowhere,
    /// It is only offered.
    Offered,
    /// It watches the model's output, whatever the file.
    Output,
    /// It applies to some files.
    Files(FileSet),
    /// It applies to every request.
    Always,
}

/// A set of files of one list, by position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSet {
    words: Vec<u64>,
}

impl FileSet {
    fn of(positions: &[usize], files: usize) -> FileSet {
        let mut words = vec![0; files.div_ceil(64)];
        positions.iter().for_each(|at| words[at / 64] |= 1 << (at % 64));
        FileSet { words }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The number of files.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn without(mut self, lost: &[usize]) -> FileSet {
        lost.iter().for_each(|at| self.words[at / 64] &= !(1 << (at % 64)));
        self
    }

    /// Whether every file is in another set of the same list.
    fn is_within(&self, other: &FileSet) -> bool {
        self.words.iter().zip(&other.words).all(|(own, other)| own & !other == 0)
    }
}

impl Extent {
    /// Leaves out files; nothing if none is left.
    pub(crate) fn without(self, lost: &[usize], files: usize) -> Extent {
        match self {
            Extent::Files(own) => match own.without(lost) {
                own if own.count() > 0 => Extent::Files(own),
                _ => Extent::Nowhere,
            },
            Extent::Always | Extent::Output if files > 0 && lost.len() == files => Extent::Nowhere,
            other => other,
        }
    }

    /// Whether a rule with this extent applies wherever one with the other does.
    pub fn includes(&self, other: &Extent) -> bool {
        match (self, other) {
            (Extent::Files(own), Extent::Files(other)) => other.is_within(own),
            (own, other) => own.step() >= other.step(),
        }
    }

    fn step(&self) -> u8 {
        match self {
            Extent::Nowhere => 0,
            Extent::Offered => 1,
            Extent::Output => 2,
            Extent::Files(_) => 3,
            Extent::Always => 4,
        }
    }
}

impl Coverage<'_> {
    /// Returns where each rule applies, in the order of the book.
    pub(crate) fn extents(&self, files: &[Seen]) -> Vec<Extent> {
        let positions: Vec<usize> = (0..self.rules.len()).collect();
        let reached = self.reached(&positions, files);
        let extent = |(covered, reached): (&super::Covered<'_>, Vec<usize>)| match covered.role {
            Role::Always => Extent::Always,
            Role::Output => Extent::Output,
            Role::Files if reached.is_empty() && covered.rule.is_offered => Extent::Offered,
            Role::Files if reached.is_empty() => Extent::Nowhere,
            Role::Files => Extent::Files(FileSet::of(&reached, files.len())),
            // A rule that waits for other conditions may be offered meanwhile.
            Role::Shadow | Role::Other => match at_best(covered.rule) {
                Some(State::Offered) if covered.off.is_none() => Extent::Offered,
                Some(State::Stack) if covered.off.is_none() && covered.rule.is_offered => Extent::Offered,
                _ => Extent::Nowhere,
            },
        };
        self.rules.iter().zip(reached).map(extent).collect()
    }

    /// Returns the files to which each rule may apply too, because its agent does not document its patterns.
    pub(crate) fn doubts(&self, files: &[Seen]) -> Vec<FileSet> {
        let evidence = Evidence { paths: files.to_vec(), ..Evidence::default() };
        let facts = self.facts(&evidence);
        let doubt = |covered: &super::Covered<'_>| match covered.role {
            Role::Files => FileSet::of(&covered.doubtful(&facts), files.len()),
            _ => FileSet::of(&[], files.len()),
        };
        self.rules.iter().map(doubt).collect()
    }
}
