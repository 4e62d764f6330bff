//! The tally: counts over the files seen so far. The tallies of parts of a tree add up to that of the whole tree.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::shape::both;
use super::{Coverage, Covered, Role};
use crate::condition::Facts;
use crate::evidence::{Evidence, Seen};

/// How many files are listed as a sample.
const SAMPLE: usize = 20;

/// How many of the files with the most rules are listed.
const MOST: usize = 5;

/// How many sets of rivals are cached. Untrusted rules could create one per file.
const MAX_SETTLED: usize = 1 << 14;

/// Whether all files without path-specific rules are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// A few of them.
    Sample,
    /// All of them.
    All,
}

/// Counts over some files. The sum does not depend on their order or batches.
#[derive(Debug)]
pub struct Tally {
    /// For each rule: how many files activate it, and for how many of them another rule overrides it.
    pub(super) rules: Vec<(usize, usize)>,
    /// For each pattern: whether it matched.
    pub(super) matched: Vec<bool>,
    /// How many files have as many rules as the position says.
    pub(super) overlap: Vec<usize>,
    /// The files directly in each folder, by root and folder.
    pub(super) folders: BTreeMap<(usize, String), Here>,
    pub(super) most: First,
    pub(super) unreached: First,
    /// For each set of rivals: which are overridden, and how many rules and tokens that removes.
    settled: HashMap<Vec<usize>, Settled>,
}

/// The files of one folder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Here {
    pub(super) files: usize,
    pub(super) unreached: usize,
    /// The rules of all files together.
    pub(super) rules: usize,
    /// The tokens of all files together.
    pub(super) tokens: usize,
    /// The tokens of the most expensive file.
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
    overridden: Vec<usize>,
    rules: usize,
    tokens: usize,
}

/// The files with the most rules, then by root and path.
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
    /// Adds another tally.
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

    /// Returns how many files were counted.
    pub fn files(&self) -> usize {
        self.overlap.iter().sum()
    }
}

/// The result for one file.
#[derive(Clone, Debug, Default)]
struct Outcome {
    rules: usize,
    tokens: usize,
    rivals: Vec<usize>,
    /// The rules that apply, but are left to those of the file's root.
    left: Vec<usize>,
}

impl Coverage<'_> {
    /// Returns an empty tally.
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
        for (pattern, matched) in
            self.patterns.iter().zip(&mut tally.matched).filter(|(_, matched)| !**matched)
        {
            let view = facts.view(pattern.paths.base.as_ref());
            *matched = pattern.paths.globs(pattern.at).any(|glob| !view.matches(glob).is_empty());
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

    /// Returns, for each rule, the files for which another one overrides it. Rules and files are given by position.
    pub fn lost(&self, files: &[Seen]) -> Vec<Vec<usize>> {
        let evidence = Evidence { paths: files.to_vec(), ..Evidence::default() };
        let mut lost = vec![Vec::new(); self.rules.len()];
        if !self.rules.iter().any(|covered| covered.has_rival || !covered.elsewhere.is_empty()) {
            return lost;
        }
        let outcomes = self.outcomes(&self.facts(&evidence), &mut self.tally(Listing::Sample));
        let mut known: HashMap<Vec<usize>, Vec<usize>> = HashMap::new();
        for (file, Outcome { rivals, left, .. }) in outcomes.into_iter().enumerate() {
            left.iter().for_each(|rule| lost[*rule].push(file));
            if known.len() >= MAX_SETTLED {
                known.clear();
            }
            let overridden = known.entry(rivals).or_insert_with_key(|rivals| self.overridden(rivals));
            overridden.iter().for_each(|rule| lost[*rule].push(file));
        }
        lost
    }

    /// Returns the rules and tokens of every file, before overriding.
    fn outcomes(&self, facts: &Facts<'_>, tally: &mut Tally) -> Vec<Outcome> {
        let always = self.rules.iter().filter(|covered| covered.role == Role::Always);
        let tokens = always.map(|covered| covered.tokens).sum();
        let mut outcomes = vec![Outcome { tokens, ..Outcome::default() }; facts.evidence.paths.len()];
        let depends = |covered: &Covered<'_>| match covered.role {
            Role::Files => true,
            Role::Shadow => covered.is_bound,
            Role::Always | Role::Output | Role::Other => false,
        };
        for (at, covered) in self.rules.iter().enumerate().filter(|(_, covered)| depends(covered)) {
            let mut files = covered.matching(facts);
            let left = self.left_to_others(at, &files, facts);
            if !left.is_empty() {
                files.retain(|file| left.binary_search(file).is_err());
                let lost = covered.admitted(left, facts);
                tally.rules[at].0 += lost.len();
                tally.rules[at].1 += lost.len();
                lost.into_iter().for_each(|file| outcomes[file].left.push(at));
            }
            if covered.has_rival && covered.is_bound {
                files.iter().for_each(|file| outcomes[*file].rivals.push(at));
            }
            if covered.role == Role::Files {
                let reached = covered.admitted(files, facts);
                tally.rules[at].0 += reached.len();
                for file in reached {
                    outcomes[file].rules += 1;
                    outcomes[file].tokens += covered.tokens;
                }
            }
        }
        outcomes
    }

    /// The files of a rule for which that of their root is used.
    fn left_to_others(&self, at: usize, files: &[usize], facts: &Facts<'_>) -> Vec<usize> {
        let mut left = Vec::new();
        for other in self.rules[at].elsewhere.iter().map(|other| &self.rules[*other]) {
            let is_there = |file: &&usize| Some(facts.evidence.paths[**file].root) == other.rule.own_root();
            let theirs: Vec<usize> = files.iter().filter(is_there).copied().collect();
            left.extend(both(theirs, &other.matching(facts)));
        }
        left.sort_unstable();
        left.dedup();
        left
    }

    /// Removes overridden rules.
    fn settle(&self, outcome: &mut Outcome, tally: &mut Tally) {
        let settled = match tally.settled.get(&outcome.rivals) {
            Some(settled) => settled,
            None => {
                if tally.settled.len() >= MAX_SETTLED {
                    tally.settled.clear();
                }
                let overridden = self.overridden(&outcome.rivals);
                let rules = || overridden.iter().map(|at| &self.rules[*at]);
                let settled = Settled {
                    rules: rules().filter(|covered| covered.role == Role::Files).count(),
                    tokens: rules().map(|covered| covered.tokens).sum(),
                    overridden,
                };
                tally.settled.entry(outcome.rivals.clone()).or_insert(settled)
            }
        };
        outcome.rules -= settled.rules;
        outcome.tokens -= settled.tokens;
        settled.overridden.iter().for_each(|at| tally.rules[*at].1 += 1);
    }
}

fn folder(file: &Seen) -> &str {
    file.path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
