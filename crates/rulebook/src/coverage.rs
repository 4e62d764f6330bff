//! Coverage: which rules apply to which files of a tree, each file by itself.
//!
//! Each file is evaluated as the only evidence. Only conditions on paths count; a rule's other conditions are ignored
//! and listed.

mod extent;
mod hint;
mod patterns;
mod report;
mod shape;
mod tally;

pub use extent::{Extent, FileSet};
pub use hint::Hints;
pub(crate) use hint::is_about_all;
pub use patterns::PatternFiles;
pub use report::{
    AlwaysRow, Cost, CoverageReport, Dead, Folder, InFolder, Most, Other, OtherReason, OtherWord, Overlap,
    Reached, StreamRow, Unreached,
};
pub use tally::{Listing, Tally};

use std::collections::{HashMap, HashSet};

use crate::agent::Agent;
use crate::condition::{Facts, MatchMode, PathExpression, Paths};
use crate::evaluate::{Audience, State, applies_if_met, at_best, settle};
use crate::evidence::{Evidence, Seen};
use crate::render::estimate_tokens;
use crate::resolve::{Off, Policy, Rulebook};
use crate::rule::Rule;
use shape::both;

/// The rules of a book, prepared for many files.
#[derive(Debug)]
pub struct Coverage<'r> {
    /// All of them, in the order of precedence.
    rules: Vec<Covered<'r>>,
    /// The patterns that a file could match.
    patterns: Vec<ExpectedPattern<'r>>,
    folders: Vec<(usize, &'r str)>,
    policy: Policy,
    /// The agent that the rules reach, if Rulebook adds some of them, and the files that it reads by itself.
    hooked: Option<(&'static Agent, HashSet<String>)>,
}

/// A rule, and how it depends on files.
#[derive(Debug)]
struct Covered<'r> {
    rule: &'r Rule,
    off: Option<&'r Off>,
    role: Role,
    shape: PathExpression<'r>,
    /// The files that a stream rule watches, if not all. It competes with other rules regardless.
    gate: Option<PathExpression<'r>>,
    /// Its conditions other than paths.
    further: Vec<&'static str>,
    /// The tokens of its text.
    tokens: usize,
    /// Whether it applies to some files only.
    is_bound: bool,
    /// Whether a matching file activates it, regardless of its other conditions.
    is_sure: bool,
    /// Whether another rule may override it, or be overridden by it.
    has_rival: bool,
    /// Whether it also applies where a file that imports it does.
    is_imported: bool,
    /// The rules of the same id and format that are used for the files of their own roots instead.
    elsewhere: Vec<usize>,
}

/// How a rule depends on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Some files activate it.
    Files,
    /// It applies to every file.
    Always,
    /// It watches the model's output, whatever the files.
    Output,
    /// It does not apply, but overrides others of its id: it is offered, or a nested `enabled: false`.
    Shadow,
    /// Not at all.
    Other,
}

/// A pattern that should match some file.
#[derive(Debug)]
struct ExpectedPattern<'r> {
    rule: usize,
    paths: &'r Paths,
    /// Its position among the patterns.
    at: usize,
}

impl<'r> ExpectedPattern<'r> {
    fn written(&self) -> &'r str {
        self.paths.patterns().nth(self.at).unwrap_or_default()
    }
}

impl<'r> Coverage<'r> {
    /// Prepares the rules of a workspace with one root.
    pub fn new(book: &'r Rulebook) -> Coverage<'r> {
        Coverage::of_roots(book, 1)
    }

    /// Prepares the rules of a workspace with this many roots. With several, a file found by location is for its own.
    pub fn of_roots(book: &'r Rulebook, roots: usize) -> Coverage<'r> {
        let mut rules: Vec<Covered<'r>> =
            book.rules().map(|(rule, off)| Covered::new(rule, off, roots)).collect();
        follow_imports(&mut rules);
        find_rivals(&mut rules);
        if roots > 1 {
            find_elsewhere(&mut rules);
        }
        let mut patterns = Vec::new();
        for (at, covered) in rules.iter().enumerate().filter(|(_, covered)| covered.role == Role::Files) {
            let mut add = |shape: &PathExpression<'r>| {
                if let PathExpression::Paths(paths) = shape {
                    patterns.extend(paths.including().map(|pattern| ExpectedPattern {
                        rule: at,
                        paths,
                        at: pattern,
                    }));
                }
            };
            covered.shape.visit(&mut add);
            covered.gate.iter().for_each(|gate| gate.visit(&mut add));
        }
        let mut folders: Vec<_> = book.rules().filter_map(|(rule, _)| rule.origin.nest()).collect();
        folders.sort_unstable();
        folders.dedup();
        Coverage { rules, patterns, folders, policy: book.policy(), hooked: None }
    }

    /// Prepares the rules that an agent reads by itself, which are in these files, and those that Rulebook adds. Only what is
    /// added can be overridden.
    pub fn of_hooked(
        book: &'r Rulebook,
        roots: usize,
        agent: &'static Agent,
        own: HashSet<String>,
    ) -> Coverage<'r> {
        Coverage { policy: Policy::default(), hooked: Some((agent, own)), ..Coverage::of_roots(book, roots) }
    }

    /// Prepares rules that are compared one by one: none overrides another.
    pub(crate) fn of_rules(rules: impl Iterator<Item = &'r Rule>) -> Coverage<'r> {
        let rules: Vec<Covered<'r>> = rules.map(|rule| Covered::new(rule, None, 1)).collect();
        let mut folders: Vec<_> = rules.iter().filter_map(|covered| covered.rule.origin.nest()).collect();
        folders.sort_unstable();
        folders.dedup();
        Coverage { rules, patterns: Vec::new(), folders, policy: Policy::default(), hooked: None }
    }

    /// Returns the files that activate each of these rules, and those for which that is not documented.
    pub(crate) fn outcomes_of(&self, rules: &[usize], evidence: &Evidence) -> Vec<(Vec<usize>, Vec<usize>)> {
        let facts = self.facts(evidence);
        let outcome = |covered: &Covered<'_>| (covered.reached(&facts), covered.doubtful(&facts));
        rules.iter().map(|rule| outcome(&self.rules[*rule])).collect()
    }

    /// Returns the files that activate each of these rules. Rules and files are given by position.
    pub fn reached(&self, rules: &[usize], files: &[Seen]) -> Vec<Vec<usize>> {
        let evidence = Evidence { paths: files.to_vec(), ..Evidence::default() };
        self.reached_in(rules, &self.facts(&evidence))
    }

    /// Returns the files of the evidence that activate each of these rules. Rules and files are given by position.
    pub fn reached_in(&self, rules: &[usize], facts: &Facts<'_>) -> Vec<Vec<usize>> {
        rules.iter().map(|rule| self.rules[*rule].reached(facts)).collect()
    }

    /// Returns the conditions of a rule other than paths.
    pub fn further(&self, rule: usize) -> &[&'static str] {
        &self.rules[rule].further
    }

    /// Whether a rule is for some files, or a stream rule watches calls for some.
    pub fn is_for_files(&self, rule: usize) -> bool {
        let Covered { is_bound, gate, .. } = &self.rules[rule];
        *is_bound || gate.is_some()
    }

    /// Prepares evidence for these rules.
    pub fn facts<'e>(&self, evidence: &'e Evidence) -> Facts<'e> {
        Facts::new(evidence, self.folders.iter().copied())
    }

    /// Returns which of the rules that a file activates are overridden, by position.
    fn overridden(&self, reached: &[usize]) -> Vec<usize> {
        let is_in = |(at, covered): &(usize, &Covered<'r>)| {
            covered.has_rival && (!covered.is_bound || reached.binary_search(at).is_ok())
        };
        let (at, rules): (Vec<usize>, Vec<_>) = (self.rules.iter().enumerate().filter(is_in))
            .map(|(at, covered)| (at, (covered.rule, covered.off)))
            .unzip();
        let audience = match &self.hooked {
            Some((agent, own)) => Audience::agent(agent, own),
            None => Audience::any(),
        };
        let verdicts = settle(rules, self.policy, &audience);
        let is_own =
            |rule: &Rule| self.hooked.as_ref().is_some_and(|(_, own)| own.contains(&rule.origin.path));
        let is_out = |(at, state): &(usize, State<'_>)| {
            let Covered { rule, role, gate, is_imported, .. } = &self.rules[*at];
            if is_own(rule) {
                return false;
            }
            let is_on = matches!(state, State::Stack | State::Stream)
                || (*is_imported && matches!(state, State::Offered | State::Inactive(_)));
            !is_on && *role != Role::Shadow && gate.is_none()
        };
        at.into_iter()
            .zip(verdicts.into_iter().map(|verdict| verdict.state))
            .filter(is_out)
            .map(|(at, _)| at)
            .collect()
    }
}

impl<'r> Covered<'r> {
    fn new(rule: &'r Rule, off: Option<&'r Off>, roots: usize) -> Covered<'r> {
        let shape = shape(rule, roots);
        let gate = rule.stream.as_ref().and_then(|trigger| trigger.path_expression());
        let mut further = Vec::new();
        shape.visit(&mut |shape| match shape {
            PathExpression::Other(key) if !further.contains(key) => further.push(*key),
            _ => {}
        });
        let is_bound = shape.is_bound();
        // A nested `enabled: false` counts for its folder, regardless of its conditions.
        let switches_off = !rule.enabled && rule.origin.nest().is_some();
        let is_sure = switches_off || shape.suffices();
        let state = at_best(rule).filter(|_| off.is_none());
        let role = match &state {
            Some(State::Stack | State::Stream) if is_bound || gate.is_some() => Role::Files,
            Some(State::Stack) if is_sure => Role::Always,
            Some(State::Stream) if is_sure => Role::Output,
            Some(State::Offered) if is_sure => Role::Shadow,
            None if switches_off => Role::Shadow,
            _ => Role::Other,
        };
        let tokens = if matches!(state, Some(State::Stack)) { estimate_tokens(&rule.body) } else { 0 };
        Covered {
            rule,
            off,
            role,
            shape,
            gate,
            further,
            tokens,
            is_bound,
            is_sure,
            has_rival: false,
            is_imported: false,
            elsewhere: Vec::new(),
        }
    }

    /// Returns the positions of the files that activate it.
    fn reached(&self, facts: &Facts<'_>) -> Vec<usize> {
        let is_on = matches!(self.role, Role::Files | Role::Always | Role::Output);
        if is_on { self.admitted(self.matching(facts), facts) } else { Vec::new() }
    }

    /// Returns the positions of the files on which the possible dialects of its patterns disagree.
    fn doubtful(&self, facts: &Facts<'_>) -> Vec<usize> {
        let mut doubtful = Vec::new();
        self.shape.visit(&mut |shape| {
            if let PathExpression::Paths(paths) = shape {
                doubtful.extend(paths.doubtful(facts));
            }
        });
        doubtful
    }

    /// Selects the files that its gate admits.
    fn admitted(&self, files: Vec<usize>, facts: &Facts<'_>) -> Vec<usize> {
        let Some(open) = self.gate.as_ref().and_then(|gate| gate.met(facts)) else { return files };
        both(files, &open)
    }

    /// Returns the positions of the files that it applies to.
    fn matching(&self, facts: &Facts<'_>) -> Vec<usize> {
        self.shape.met(facts).unwrap_or_else(|| (0..facts.evidence.paths.len()).collect())
    }

    /// Applies to the files of a rule that imports it, too.
    fn add_importer(&mut self, importer: &PathExpression<'r>) {
        let is_on = matches!(self.role, Role::Files | Role::Always);
        self.shape = match is_on {
            true => PathExpression::Joined(MatchMode::Any, vec![self.shape.clone(), importer.clone()]),
            false => importer.clone(),
        };
        if !importer.is_bound() || self.role == Role::Always {
            self.shape = PathExpression::Joined(MatchMode::All, Vec::new());
        }
        self.is_imported = true;
        self.further.clear();
        self.is_bound = self.shape.is_bound();
        self.is_sure = self.shape.suffices();
        self.role = if self.is_bound { Role::Files } else { Role::Always };
        self.tokens = estimate_tokens(&self.rule.body);
    }
}

/// Returns what a rule requires of a file: its folder or root, and the patterns of its conditions.
fn shape(rule: &Rule, roots: usize) -> PathExpression<'_> {
    let own_root = rule.own_root().filter(|_| roots > 1 && rule.is_located());
    let place = rule.origin.nest().or(own_root.map(|root| (root, "")));
    let conditions = rule.conditions.iter().map(|condition| condition.path_expression()).collect();
    let conditions = PathExpression::Joined(rule.combine, conditions);
    match place.map(|(root, folder)| PathExpression::Below(root, folder)) {
        // A nested `enabled: false` counts for its folder, regardless of its conditions.
        Some(below) if !rule.enabled => below,
        Some(below) => PathExpression::Joined(MatchMode::All, vec![below, conditions]),
        None => conditions,
    }
}

/// Applies what others import wherever the importing file applies.
fn follow_imports(rules: &mut [Covered<'_>]) {
    let is_importing = |covered: &Covered<'_>| {
        let Covered { rule, off, .. } = covered;
        !rule.imports.is_empty() && off.is_none() && applies_if_met(rule)
    };
    let mut queue: Vec<usize> = (0..rules.len()).filter(|at| is_importing(&rules[*at])).collect();
    let mut seen: HashSet<(usize, usize)> = HashSet::new();
    while let Some(importer) = queue.pop() {
        let (shape, imports) = (rules[importer].shape.clone(), &rules[importer].rule.imports);
        let is_imported = |covered: &Covered<'_>| {
            let is_named = imports.iter().any(|import| import.path == covered.rule.origin.path);
            is_named && covered.off.is_none() && covered.gate.is_none() && covered.rule.stream.is_none()
        };
        for at in
            (0..rules.len()).filter(|at| *at != importer && is_imported(&rules[*at])).collect::<Vec<_>>()
        {
            if !rules[at].rule.body.is_empty() && seen.insert((importer, at)) {
                rules[at].add_importer(&shape);
                queue.push(at);
            }
        }
    }
}

/// Finds the rules that have one of the same id and format in another root.
fn find_elsewhere(rules: &mut [Covered<'_>]) {
    let mut same: HashMap<(&str, usize), Vec<usize>> = HashMap::new();
    for (at, Covered { rule, role, .. }) in rules.iter().enumerate() {
        if matches!(role, Role::Files | Role::Always | Role::Output) && rule.own_root().is_some() {
            same.entry((&rule.id, rule.origin.format.order)).or_default().push(at);
        }
    }
    for group in same.into_values().filter(|group| group.len() > 1) {
        for &at in &group {
            let Covered { rule, role, .. } = rules[at];
            let others = group.iter().filter(|other| rules[**other].rule.is_of_other_root(rule));
            let others: Vec<usize> = if role == Role::Files && !rule.is_mandatory {
                others.copied().collect()
            } else {
                Vec::new()
            };
            rules[at].elsewhere = others;
        }
    }
}

/// Marks the rules that share their id or text with another. Rules with other conditions do not take part, since it is
/// unknown whether they apply.
fn find_rivals(rules: &mut [Covered<'_>]) {
    let is_in = |covered: &Covered<'_>| covered.role != Role::Other && covered.is_sure;
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let mut bodies: HashMap<&str, usize> = HashMap::new();
    for covered in rules.iter().filter(|covered| is_in(covered)) {
        *ids.entry(&covered.rule.id).or_default() += 1;
        *bodies.entry(&covered.rule.body).or_default() += 1;
    }
    for covered in rules.iter_mut().filter(|covered| is_in(covered)) {
        covered.has_rival = ids[covered.rule.id.as_str()] > 1 || bodies[covered.rule.body.as_str()] > 1;
    }
}
