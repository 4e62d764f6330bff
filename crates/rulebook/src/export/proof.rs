//! The proof: where a copy of a rule, read as its agent reads it, applies otherwise than the rule was meant.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ptr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Serialize;

use super::near;
use super::tally::Tally;
use super::target::Target;
use crate::condition::{Condition, PathExpression, Paths, Truth};
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
    /// What Rulebook enforces of the rule, and the agent does not: keys of its header.
    pub unenforced: Vec<&'static str>,
    /// Whether the copy goes further without any file.
    #[serde(skip)]
    pub(super) is_wider_without_files: bool,
    /// Whether the copy applies to none of the near paths that the rule is meant for.
    #[serde(skip)]
    pub(super) is_dead: bool,
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
            && self.unenforced.is_empty()
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
    pub(super) fn near(meant: &Meant<'_>, copy: &Rule, probes: &Probes) -> Proof {
        let mut near = Tally { total: probes.paths.len(), ..Tally::default() };
        let root = meant.rule.origin.root;
        let pair = [&meant.any_case, &AnyCase::of(copy)];
        // The folder that holds the copy is no file.
        let own_folder = copy.origin.nest().map_or("", |(_, folder)| folder);
        let truths = truths(copy, root, &probes.paths);
        let is_lost = |(was, is): (&bool, &Truth)| *was && *is == Truth::No;
        let is_dead = probes.meant.contains(&true)
            && probes.meant.iter().zip(&truths).filter(|(was, _)| **was).all(is_lost);
        let results = probes.meant.iter().copied().zip(truths);
        for (path, result) in probes.paths.iter().zip(results).filter(|(path, _)| *path != own_folder) {
            record(&mut near, pair, result, path);
        }
        let (was, is) = (Level::without_path(meant.rule), Level::without_path(copy));
        Proof {
            near,
            files: Tally::default(),
            unenforced: unenforced(meant.rule, copy),
            without_files: (was != is).then(|| (was.meaning(), is.meaning())),
            is_wider_without_files: is > was,
            is_dead,
        }
    }
}

/// A rule to copy, with what comparing it with its copies needs.
#[derive(Debug)]
pub struct Meant<'r> {
    /// The rule.
    pub rule: &'r Rule,
    any_case: AnyCase<'r>,
    /// By what they are made of. Most targets need the same ones.
    probes: Mutex<Vec<(String, Arc<Probes>)>>,
    /// By target.
    learned: Mutex<BTreeMap<&'static str, BTreeSet<String>>>,
}

/// Paths that a rule and its copy may treat differently.
#[derive(Debug)]
pub(super) struct Probes {
    paths: Vec<String>,
    /// Whether the rule is meant to apply to each.
    meant: Vec<bool>,
}

impl<'r> Meant<'r> {
    /// Prepares a rule.
    pub fn of(rule: &'r Rule) -> Meant<'r> {
        Meant { rule, any_case: AnyCase::of(rule), probes: Mutex::default(), learned: Mutex::default() }
    }

    /// Adds a file of the tree that drafts for a target are compared on from now on. Returns whether it is new.
    pub fn learn(&self, target: &'static Target, file: &str) -> bool {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        learned.entry(target.name).or_default().insert(file.to_owned())
    }

    /// Returns the paths that its patterns and these match or almost match, and those learned for a target.
    pub(super) fn probes<'g>(
        &self,
        target: Option<&Target>,
        others: impl Iterator<Item = &'g str>,
    ) -> Arc<Probes> {
        let own = self.rule.globs.iter().map(|glob| near::bare(glob));
        let globs: BTreeSet<Cow<'_, str>> = own.chain(others.map(|glob| near::bare(glob))).collect();
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let files = target.and_then(|target| learned.get(target.name)).into_iter().flatten();
        let parts = globs.iter().map(AsRef::as_ref).chain([""]).chain(files.clone().map(String::as_str));
        let key = parts.collect::<Vec<_>>().join("\0");
        let mut known = self.probes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, probes)) = known.iter().find(|(other, _)| *other == key) {
            return Arc::clone(probes);
        }
        let mut paths = near::paths(&globs, &self.rule.origin.folder);
        paths.extend(files.cloned());
        paths.sort_unstable();
        paths.dedup();
        let meant = truths(self.rule, self.rule.origin.root, &paths);
        let meant = meant.into_iter().map(|truth| truth == Truth::Yes).collect();
        let probes = Arc::new(Probes { paths, meant });
        known.push((key, Arc::clone(&probes)));
        probes
    }
}

/// The keys of a rule that Rulebook enforces and that a copy lacks.
fn unenforced(rule: &Rule, copy: &Rule) -> Vec<&'static str> {
    let Some(own) = rule.requirements.as_ref().filter(|_| copy.requirements.is_none()) else {
        return Vec::new();
    };
    let keys = [("requires", own.requires.is_empty()), ("forbids", own.forbids.is_empty())];
    keys.iter().filter(|(_, is_empty)| !is_empty).map(|(key, _)| *key).collect()
}

/// Counts one path.
fn record(tally: &mut Tally, [meant, copy]: [&AnyCase<'_>; 2], (was, is): (bool, Truth), path: &str) {
    let finding = match (was, is) {
        (_, Truth::Unknown) => &mut tally.unknown,
        (true, Truth::Yes) | (false, Truth::No) => return,
        (false, Truth::Yes) if meant.applies(path) == Some(true) => &mut tally.letter_case,
        // An exclusion of the copy ignores case.
        (true, Truth::No) if copy.applies(path) == Some(true) || meant.applies(path) == Some(false) => {
            &mut tally.letter_case
        }
        (false, Truth::Yes) => &mut tally.wider,
        (true, Truth::No) => &mut tally.narrower,
    };
    finding.add(path);
}

/// Whether a rule with no conditions but paths applies to each of these files.
fn truths(rule: &Rule, root: usize, paths: &[String]) -> Vec<Truth> {
    let is_on = !rule.body.is_empty() && matches!(rule.activation, Activation::Always | Activation::When);
    let mut truths = vec![if is_on { Truth::Yes } else { Truth::No }; paths.len()];
    let conditions = paths_of(rule).filter(|_| is_on && rule.activation == Activation::When);
    for found in conditions.map(|condition| condition.truths(root, paths)) {
        truths.iter_mut().zip(found).for_each(|(truth, found)| *truth = found.min(*truth));
    }
    if let Some((_, folder)) = rule.origin.nest() {
        let is_below = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let outside = paths.iter().zip(&mut truths).filter(|(path, _)| !is_below(path));
        outside.for_each(|(_, truth)| *truth = Truth::No);
    }
    truths
}

/// A text that is the same for rules that apply to the same files.
fn extent_key(rule: &Rule) -> String {
    let of_condition = |condition: &Condition| match condition.path_expression() {
        PathExpression::Paths(paths) => paths.key(),
        _ => format!("{:p}", ptr::from_ref(rule)),
    };
    let conditions: Vec<String> = rule.conditions.iter().map(of_condition).collect();
    let Rule { activation, enabled, combine, body, .. } = rule;
    let is_stream = rule.stream.is_some().then(|| format!("{:p}", ptr::from_ref(rule)));
    format!(
        "{activation:?} {enabled} {combine:?} {} {:?} {} {is_stream:?}\n{}",
        body.is_empty(),
        rule.origin.nest(),
        rule.is_located(),
        conditions.join("\n")
    )
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
    /// Whether its patterns or its folder have letters of more than one case.
    has_case: OnceLock<bool>,
    paths: OnceLock<Vec<Paths>>,
}

impl<'r> AnyCase<'r> {
    fn of(rule: &'r Rule) -> AnyCase<'r> {
        AnyCase { rule, has_case: OnceLock::new(), paths: OnceLock::new() }
    }

    /// Whether it would apply to a file; `None` if letter case makes no difference.
    fn applies(&self, path: &str) -> Option<bool> {
        let has_case = |text: &str| text.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii());
        let of_rule = || self.rule.globs.iter().chain([&self.rule.origin.folder]).any(|text| has_case(text));
        if !*self.has_case.get_or_init(of_rule) && !has_case(path) {
            return None;
        }
        let path = path.to_lowercase();
        let is_below = |(_, folder): (usize, &str)| {
            path.strip_prefix(&folder.to_lowercase()).is_some_and(|rest| rest.starts_with('/'))
        };
        let lowercase = || paths_of(self.rule).map(Paths::lowercase).collect();
        let is_on = self.rule.activation == Activation::When && self.rule.origin.nest().is_none_or(is_below);
        let paths = || self.paths.get_or_init(lowercase).iter();
        (self.rule.activation == Activation::When)
            .then(|| is_on && paths().all(|paths| paths.is_match(None, &path)))
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
    /// Every rule and copy, those that apply to the same files once.
    rules: Vec<AnyCase<'r>>,
    /// A rule and its copy, by position.
    pairs: Vec<[usize; 2]>,
    coverage: Coverage<'r>,
}

impl<'r> Prover<'r> {
    /// Prepares pairs of a rule and its copy.
    pub fn new(pairs: Vec<[&'r Rule; 2]>) -> Prover<'r> {
        let mut rules: Vec<&'r Rule> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut seen: HashMap<*const Rule, usize> = HashMap::new();
        let mut position = |rule: &'r Rule| {
            *seen.entry(ptr::from_ref(rule)).or_insert_with(|| {
                let new = known.len();
                let at = *known.entry(extent_key(rule)).or_insert(new);
                rules.extend((at == new).then_some(rule));
                at
            })
        };
        let pairs = pairs.into_iter().map(|pair| pair.map(&mut position)).collect();
        let coverage = Coverage::of_rules(rules.iter().copied());
        Prover { rules: rules.into_iter().map(AnyCase::of).collect(), pairs, coverage }
    }

    /// Returns an empty tally for each pair.
    pub fn start(&self) -> Vec<Tally> {
        vec![Tally::default(); self.pairs.len()]
    }

    /// Compares every pair on some files. The sum does not depend on their order or batches.
    pub fn add(&self, tallies: &mut [Tally], files: Vec<Seen>) {
        let evidence = Evidence { paths: files, ..Evidence::default() };
        let all: Vec<usize> = (0..self.rules.len()).collect();
        let reached = self.coverage.outcomes_of(&all, &evidence);
        for (pair, tally) in self.pairs.iter().zip(tallies) {
            tally.total += evidence.paths.len();
            let [(was, _), (is, doubtful)] = pair.map(|at| &reached[at]);
            if was == is && doubtful.is_empty() {
                continue;
            }
            let in_doubt = doubtful.iter().map(|at| (*at, Truth::Unknown));
            let is_sure = |at: &&usize| doubtful.binary_search(at).is_err();
            let added = is.iter().filter(|at| was.binary_search(at).is_err()).filter(is_sure);
            let lost = was.iter().filter(|at| is.binary_search(at).is_err()).filter(is_sure);
            let changes =
                added.map(|at| (*at, Truth::Yes)).chain(lost.map(|at| (*at, Truth::No))).chain(in_doubt);
            let rules = pair.map(|at| &self.rules[at]);
            for (at, now) in changes {
                record(tally, rules, (now == Truth::No, now), &evidence.paths[at].path);
            }
        }
    }
}
