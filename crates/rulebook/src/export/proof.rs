//! The proof: where a copy of a rule, read as its agent reads it, applies otherwise than the rule was meant.

use std::sync::OnceLock;

use serde::Serialize;

use crate::condition::{PathExpression, Paths, Truth};
use crate::coverage::Coverage;
use crate::evidence::{Evidence, Seen};
use crate::fix::Level;
use crate::rule::{Activation, Rule};
use crate::words::words;

/// How a rule and its copy compare.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Proof {
    /// On the files of the tree.
    pub files: Tally,
    /// On paths that the patterns match or almost match.
    pub near: Tally,
    /// What was meant and what happens without any file, if that differs.
    pub without_files: Option<(&'static str, &'static str)>,
    /// Whether the copy goes further without any file.
    #[serde(skip)]
    pub(super) is_wider_without_files: bool,
}

/// How a rule and its copy compare on some paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tally {
    /// How many paths were compared.
    pub total: usize,
    /// The copy applies, but was not meant to.
    pub wider: Finding,
    /// The copy does not apply, but was meant to.
    pub narrower: Finding,
    /// The agent does not document whether the copy applies.
    pub unknown: Finding,
    /// They differ only because one of them ignores letter case.
    pub letter_case: Finding,
}

/// Paths with the same result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// How many.
    pub count: usize,
    /// The first one.
    pub example: Option<String>,
}

/// The order of examples: hidden paths last.
fn order(path: &str) -> (bool, &str) {
    (path.starts_with('.'), path)
}

impl Finding {
    fn add(&mut self, path: &str) {
        self.count += 1;
        if self.example.as_deref().is_none_or(|first| order(path) < order(first)) {
            self.example = Some(path.to_owned());
        }
    }

    fn merge(&mut self, other: Finding) {
        self.count += other.count;
        self.example = match (self.example.take(), other.example) {
            (Some(one), Some(other)) => Some(if order(&one) <= order(&other) { one } else { other }),
            (one, other) => one.or(other),
        };
    }
}

impl Tally {
    /// How many paths have the same result.
    pub fn same(&self) -> usize {
        let others = [&self.wider, &self.narrower, &self.unknown, &self.letter_case];
        self.total - others.iter().map(|finding| finding.count).sum::<usize>()
    }

    /// Adds the result of other paths.
    pub fn merge(&mut self, other: Tally) {
        self.total += other.total;
        self.wider.merge(other.wider);
        self.narrower.merge(other.narrower);
        self.unknown.merge(other.unknown);
        self.letter_case.merge(other.letter_case);
    }
}

impl Proof {
    /// Whether the copy applies anywhere where it was not meant to.
    pub fn is_wider(&self) -> bool {
        self.is_wider_without_files || self.files.wider.count + self.near.wider.count > 0
    }

    /// Whether the copy applies where it was not meant to, but to no file that exists.
    pub fn is_wider_elsewhere(&self) -> bool {
        self.is_wider() && Allow::Unseen.permits(self)
    }

    /// Whether the copy does what was meant wherever that is documented. Letter case does not count.
    pub fn is_same(&self) -> bool {
        !self.is_wider()
            && self.without_files.is_none()
            && self.files.narrower.count + self.near.narrower.count == 0
    }

    /// Whether a copy with this proof is as close to what was meant as one with another.
    pub fn is_as_close_as(&self, other: &Proof) -> bool {
        self.distance() <= other.distance()
    }

    /// How far a copy is from what was meant; less is better. What is wider is worse than anything narrower.
    pub(super) fn distance(&self) -> (bool, usize, bool, usize, usize) {
        (
            self.is_wider(),
            self.near.wider.count,
            self.without_files.is_some(),
            self.near.narrower.count,
            self.near.unknown.count,
        )
    }

    /// Compares a rule with its copy on paths that they probably treat differently.
    pub(super) fn near(meant: &Rule, copy: &Rule, paths: &[String]) -> Proof {
        let mut near = Tally { total: paths.len(), ..Tally::default() };
        let root = meant.origin.root;
        let pair = [meant, copy].map(AnyCase::of);
        for path in paths {
            let (was, is) = (truth(meant, root, path), truth(copy, root, path));
            record(&mut near, &pair, (was == Truth::Yes, is), path);
        }
        let (was, is) = (Level::without_path(meant), Level::without_path(copy));
        Proof {
            near,
            files: Tally::default(),
            without_files: (was != is).then(|| (was.meaning(), is.meaning())),
            is_wider_without_files: is > was,
        }
    }
}

/// Counts one path.
fn record(tally: &mut Tally, [meant, copy]: &[AnyCase<'_>; 2], (was, is): (bool, Truth), path: &str) {
    let finding = match (was, is) {
        (_, Truth::Unknown) => &mut tally.unknown,
        (true, Truth::Yes) | (false, Truth::No) => return,
        (false, Truth::Yes) if meant.applies(path) => &mut tally.letter_case,
        (true, Truth::No) if copy.applies(path) => &mut tally.letter_case,
        (false, Truth::Yes) => &mut tally.wider,
        (true, Truth::No) => &mut tally.narrower,
    };
    finding.add(path);
}

/// Whether a rule with no conditions but paths applies to a file.
fn truth(rule: &Rule, root: usize, path: &str) -> Truth {
    let is_below =
        |(_, folder): (usize, &str)| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    if rule.body.is_empty() || !rule.origin.nest().is_none_or(is_below) {
        return Truth::No;
    }
    match rule.activation {
        Activation::Always => Truth::Yes,
        Activation::When => paths_of(rule).map(|paths| paths.truth(root, path)).min().unwrap_or(Truth::Yes),
        _ => Truth::No,
    }
}

fn paths_of(rule: &Rule) -> impl Iterator<Item = &Paths> {
    rule.conditions.iter().filter_map(|condition| match condition.path_expression() {
        PathExpression::Paths(paths) => Some(paths),
        _ => None,
    })
}

/// A rule as if case did not count. Few rules are compared in this way, so the patterns are read again only if needed.
#[derive(Debug)]
struct AnyCase<'r> {
    rule: &'r Rule,
    paths: OnceLock<Vec<Paths>>,
}

impl<'r> AnyCase<'r> {
    fn of(rule: &'r Rule) -> AnyCase<'r> {
        AnyCase { rule, paths: OnceLock::new() }
    }

    /// Whether it would apply to a file.
    fn applies(&self, path: &str) -> bool {
        let path = path.to_lowercase();
        let is_below = |(_, folder): (usize, &str)| {
            path.strip_prefix(&folder.to_lowercase()).is_some_and(|rest| rest.starts_with('/'))
        };
        let lowercase = || paths_of(self.rule).map(Paths::lowercase).collect();
        self.rule.activation == Activation::When
            && self.rule.origin.nest().is_none_or(is_below)
            && self.paths.get_or_init(lowercase).iter().all(|paths| paths.is_match(None, &path))
    }
}

words! {
    /// What a copy may do.
    Allow {
        /// What was meant, or less.
        Meant = "meant",
        /// More than was meant, but not on any file that exists.
        Unseen = "unseen",
        /// More than was meant.
        Wider = "wider",
    }
}

impl Allow {
    /// Whether a copy with this proof may be written.
    pub fn permits(self, proof: &Proof) -> bool {
        match self {
            Allow::Meant => !proof.is_wider(),
            Allow::Unseen => proof.files.wider.count == 0 && !proof.is_wider_without_files,
            Allow::Wider => !proof.is_wider_without_files,
        }
    }
}

/// Compares rules with their copies on the files of a tree, batch by batch.
#[derive(Debug)]
pub struct Prover<'r> {
    pairs: Vec<[AnyCase<'r>; 2]>,
    coverage: Coverage<'r>,
}

impl<'r> Prover<'r> {
    /// Prepares pairs of a rule and its copy.
    pub fn new(pairs: Vec<[&'r Rule; 2]>) -> Prover<'r> {
        let coverage = Coverage::of_rules(pairs.iter().flatten().copied());
        Prover { pairs: pairs.into_iter().map(|pair| pair.map(AnyCase::of)).collect(), coverage }
    }

    /// Returns an empty tally for each pair.
    pub fn start(&self) -> Vec<Tally> {
        vec![Tally::default(); self.pairs.len()]
    }

    /// Compares every pair on some files. The sum does not depend on their order or batches.
    pub fn add(&self, tallies: &mut [Tally], files: Vec<Seen>) {
        let evidence = Evidence { paths: files, ..Evidence::default() };
        let all: Vec<usize> = (0..2 * self.pairs.len()).collect();
        let reached = self.coverage.outcomes_of(&all, &evidence);
        for ((pair, tally), results) in self.pairs.iter().zip(tallies).zip(reached.chunks(2)) {
            tally.total += evidence.paths.len();
            let [(was, _), (is, doubtful)] = results else { continue };
            let in_doubt = doubtful.iter().map(|at| (*at, Truth::Unknown));
            let is_sure = |at: &&usize| doubtful.binary_search(at).is_err();
            let added = is.iter().filter(|at| was.binary_search(at).is_err()).filter(is_sure);
            let lost = was.iter().filter(|at| is.binary_search(at).is_err()).filter(is_sure);
            let changes =
                added.map(|at| (*at, Truth::Yes)).chain(lost.map(|at| (*at, Truth::No))).chain(in_doubt);
            for (at, now) in changes {
                record(tally, pair, (now == Truth::No, now), &evidence.paths[at].path);
            }
        }
    }
}
