//! The tally: what came of the files seen so far. Tallies of parts of a tree add up to that of the whole.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Coverage, Covered, Role};
use crate::condition::Facts;
use crate::evidence::{Evidence, Seen};

/// How many files are named where not all are.
const SAMPLE: usize = 20;

/// How many of the files with the most rules are named.
const MOST: usize = 5;

/// How many answers to "who keeps whom out" are remembered: strangers' rules could make one for every file.
const MAX_SETTLED: usize = 1 << 14;

/// Whether all files that no rule reaches are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// A few.
    Sample,
    /// Every one.
    All,
}

/// What came of some files. In whatever order and portions they come, the sum is the same.
#[derive(Debug)]
pub struct Tally {
    /// Beside the rules: how many files bring it on, and at how many of them another keeps it out.
    pub(super) rules: Vec<(usize, usize)>,
    /// Beside the patterns: whether it matched.
    pub(super) matched: Vec<bool>,
    /// How many files are reached by as many rules as the position says.
    pub(super) overlap: Vec<usize>,
    /// By root and folder: the files right there.
    pub(super) folders: BTreeMap<(usize, String), Here>,
    pub(super) most: First,
    pub(super) unreached: First,
    /// By the rivals a file brings on: those kept out, and how many rules and tokens that takes away.
    settled: HashMap<Vec<usize>, Settled>,
}

/// The files of one folder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Here {
    pub(super) files: usize,
    pub(super) unreached: usize,
    /// How many rules they bring on, all files together.
    pub(super) rules: usize,
    /// What the rules cost, all files together and the dearest.
    pub(super) tokens: usize,
    pub(super) max: usize,
}

impl Here {
    pub(super) fn add(&mut self, other: Here) {
        self.files += other.files;
        self.unreached += other.unreached;
        self.rules += other.rules;
        self.tokens += other.tokens;
        self.max = self.max.max(other.max);
    }
}

#[derive(Clone, Debug, Default)]
struct Settled {
    kept_out: Vec<usize>,
    rules: usize,
    tokens: usize,
}

/// The first few files by how many rules they have, the most first, then by root and path.
#[derive(Debug)]
pub(super) struct First {
    limit: usize,
    pub(super) files: BTreeSet<(Reverse<usize>, usize, String)>,
}

impl First {
    fn new(limit: usize) -> First {
        First { limit, files: BTreeSet::new() }
    }

    fn offer(&mut self, rules: usize, file: &Seen) {
        let key = (Reverse(rules), file.root, file.path.as_str());
        let last = self.files.last().map(|(rules, root, path)| (*rules, *root, path.as_str()));
        if self.files.len() < self.limit || last.is_some_and(|last| key < last) {
            self.files.insert((Reverse(rules), file.root, file.path.clone()));
            self.cut();
        }
    }

    fn merge(&mut self, other: First) {
        self.files.extend(other.files);
        self.cut();
    }

    fn cut(&mut self) {
        while self.files.len() > self.limit {
            self.files.pop_last();
        }
    }
}

impl Tally {
    /// Adds what came of other files.
    pub fn merge(&mut self, other: Tally) {
        for (mine, theirs) in self.rules.iter_mut().zip(other.rules) {
            *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
        }
        for (mine, theirs) in self.matched.iter_mut().zip(other.matched) {
            *mine |= theirs;
        }
        self.overlap.resize(self.overlap.len().max(other.overlap.len()), 0);
        for (mine, theirs) in self.overlap.iter_mut().zip(other.overlap) {
            *mine += theirs;
        }
        for (folder, here) in other.folders {
            self.folders.entry(folder).or_default().add(here);
        }
        self.most.merge(other.most);
        self.unreached.merge(other.unreached);
    }

    /// How many files were seen.
    pub fn files(&self) -> usize {
        self.overlap.iter().sum()
    }
}

/// What came of one file.
#[derive(Clone, Debug, Default)]
struct Outcome {
    rules: usize,
    tokens: usize,
    rivals: Vec<usize>,
}

impl Coverage<'_> {
    /// A tally of no files.
    pub fn tally(&self, listing: Listing) -> Tally {
        Tally {
            rules: vec![(0, 0); self.rules.len()],
            matched: vec![false; self.patterns.len()],
            overlap: Vec::new(),
            folders: BTreeMap::new(),
            most: First::new(MOST),
            unreached: First::new(if listing == Listing::All { usize::MAX } else { SAMPLE }),
            settled: HashMap::new(),
        }
    }

    /// Adds files to a tally.
    pub fn add(&self, files: Vec<Seen>, tally: &mut Tally) {
        let evidence = Evidence { paths: files, ..Evidence::default() };
        let facts = self.facts(&evidence);
        let mut outcomes = self.outcomes(&facts, tally);
        for (wanting, matched) in
            self.patterns.iter().zip(&mut tally.matched).filter(|(_, matched)| !**matched)
        {
            let view = facts.view(wanting.paths.base.as_ref());
            *matched = wanting.paths.globs(wanting.at).any(|glob| !view.matches(glob).is_empty());
        }
        if self.rules.iter().any(|covered| covered.has_rival) {
            outcomes.iter_mut().for_each(|outcome| self.settle(outcome, tally));
        }
        let mut outcomes = outcomes.iter();
        for files in evidence.paths.chunk_by(|a, b| (a.root, folder(a)) == (b.root, folder(b))) {
            let mut here = Here::default();
            for (file, &Outcome { rules, tokens, .. }) in files.iter().zip(&mut outcomes) {
                if tally.overlap.len() <= rules {
                    tally.overlap.resize(rules + 1, 0);
                }
                tally.overlap[rules] += 1;
                let is_unreached = rules == 0;
                let first = if is_unreached { &mut tally.unreached } else { &mut tally.most };
                first.offer(rules, file);
                here.add(Here { files: 1, unreached: is_unreached.into(), rules, tokens, max: tokens });
            }
            tally.folders.entry((files[0].root, folder(&files[0]).to_owned())).or_default().add(here);
        }
    }

    /// The rules and tokens of every file, as if no rule kept another out.
    fn outcomes(&self, facts: &Facts<'_>, tally: &mut Tally) -> Vec<Outcome> {
        let always = self.rules.iter().filter(|covered| covered.role == Role::Always);
        let tokens = always.map(|covered| covered.tokens).sum();
        let mut outcomes = vec![Outcome { tokens, ..Outcome::default() }; facts.evidence.paths.len()];
        let depends = |covered: &Covered<'_>| match covered.role {
            Role::Files => true,
            Role::Shadow => covered.is_bound,
            Role::Always | Role::Other => false,
        };
        for (at, covered) in self.rules.iter().enumerate().filter(|(_, covered)| depends(covered)) {
            let files = covered.part(facts);
            if covered.has_rival && covered.is_bound {
                files.iter().for_each(|file| outcomes[*file].rivals.push(at));
            }
            if covered.role == Role::Files {
                let reached = covered.let_through(files, facts);
                tally.rules[at].0 += reached.len();
                for file in reached {
                    outcomes[file].rules += 1;
                    outcomes[file].tokens += covered.tokens;
                }
            }
        }
        outcomes
    }

    /// Takes away what rivals keep out.
    fn settle(&self, outcome: &mut Outcome, tally: &mut Tally) {
        let settled = match tally.settled.get(&outcome.rivals) {
            Some(settled) => settled,
            None => {
                if tally.settled.len() >= MAX_SETTLED {
                    tally.settled.clear();
                }
                let kept_out = self.kept_out(&outcome.rivals);
                let bound = || kept_out.iter().map(|at| &self.rules[*at]);
                let settled = Settled {
                    rules: bound().filter(|covered| covered.role == Role::Files).count(),
                    tokens: bound().map(|covered| covered.tokens).sum(),
                    kept_out,
                };
                tally.settled.entry(outcome.rivals.clone()).or_insert(settled)
            }
        };
        outcome.rules -= settled.rules;
        outcome.tokens -= settled.tokens;
        settled.kept_out.iter().for_each(|at| tally.rules[*at].1 += 1);
    }
}

fn folder(file: &Seen) -> &str {
    file.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
