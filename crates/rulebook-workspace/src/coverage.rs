//! Coverage: the rules against every file of the tree.

use std::collections::HashSet;
use std::path::Path;

use rulebook::change::{Files, Reached};
use rulebook::coverage::{Coverage, CoverageReport, Dead, Hints, Listing, Tally};
use rulebook::diagnostic::Diagnostic;
use rulebook::evidence::{Evidence, Roots};
use rulebook::parse::means_no_file;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::source::Scope;

use crate::sources::Sources;
use crate::tree::Tree;
use crate::views::AgentView;
use crate::workspace::Workspace;

/// The files of the tree that a rule applies to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RuleFiles<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// Its conditions other than paths, which must hold too.
    pub further: Vec<&'static str>,
    /// Whether it is for some files.
    pub is_for_files: bool,
    /// Relative to their root, and after its name if there are several; sorted.
    pub files: Vec<String>,
    /// For how many more files another rule overrides it.
    pub overridden: usize,
}

/// The rules that one agent has for the files of a tree.
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentCoverage {
    /// The counts.
    pub report: CoverageReport,
    /// The files, as shown, whose rules Rulebook adds.
    pub added: HashSet<String>,
}

impl Workspace {
    /// Evaluates the rules for every file of the tree.
    pub fn coverage(&self, book: &Rulebook, tree: &Tree, listing: Listing) -> CoverageReport {
        self.report(&Coverage::of_roots(book, self.roots.roots.len()), book, tree, listing)
    }

    fn report(
        &self,
        coverage: &Coverage<'_>,
        book: &Rulebook,
        tree: &Tree,
        listing: Listing,
    ) -> CoverageReport {
        let mut report = coverage.report(&tally(coverage, tree, listing), &self.roots);
        self.keep_own(&mut report.dead, book);
        report
    }

    /// Evaluates the rules that an agent has for every file of the tree: what it reads by itself and, if it is hooked, what
    /// Rulebook adds.
    pub fn coverage_for(
        &self,
        agent: &AgentView,
        meant: &Rulebook,
        tree: &Tree,
        listing: Listing,
    ) -> AgentCoverage {
        let roots = self.roots.roots.len();
        let reading = agent.reading(&Evidence::default());
        let files = Files { seen: &tree.paths(), roots };
        let reached = Reached::new(meant, &agent.native.book, &agent.subject(&reading), files);
        AgentCoverage {
            report: self.report(&reached.coverage(roots), &reached.book, tree, listing),
            added: reached.added(),
        }
    }

    /// The rules that an agent has: those it reads by itself and, if it is hooked, those that Rulebook adds.
    pub fn reaching<'r>(&self, agent: &'r AgentView, meant: &'r Rulebook, tree: &Tree) -> Reached<'r> {
        let reading = agent.reading(&Evidence::default());
        let files = Files { seen: &tree.paths(), roots: self.roots.roots.len() };
        Reached::new(meant, &agent.native.book, &agent.subject(&reading), files)
    }

    /// The files of the tree that each of these rules applies to. Rules are given by their position in the book.
    pub fn reached_by<'r>(&self, rules: &[usize], book: &'r Rulebook, tree: &Tree) -> Vec<RuleFiles<'r>> {
        files_of(rules, book, &Coverage::of_roots(book, self.roots.roots.len()), tree, &self.roots)
    }

    /// The files of the tree for which an agent has each of these rules. Rules are given by their position in its book.
    pub fn reached_for<'r>(
        &self,
        rules: &[usize],
        reached: &'r Reached<'_>,
        tree: &Tree,
    ) -> Vec<RuleFiles<'r>> {
        files_of(rules, &reached.book, &reached.coverage(self.roots.roots.len()), tree, &self.roots)
    }

    /// Keeps the patterns of rules written for this tree. A person's own rules, and those above the root, meet many
    /// trees.
    fn keep_own(&self, dead: &mut Vec<Dead>, book: &Rulebook) {
        let own: Vec<bool> = book.rules().map(|(rule, _)| self.is_own(rule)).collect();
        dead.retain(|dead| own[dead.rule]);
    }

    /// Whether a rule's file is below its root.
    pub(crate) fn is_own(&self, rule: &Rule) -> bool {
        let root = Path::new(&self.roots.roots[rule.origin.root].path);
        rule.origin.scope == Scope::Workspace && Path::new(&rule.origin.path).starts_with(root)
    }
}

impl Sources<'_> {
    /// Reports patterns that match no file of the tree.
    pub(crate) fn dead_globs(&self, book: &Rulebook, tree: &Tree) -> Vec<Diagnostic> {
        let coverage = Coverage::of_roots(book, self.workspace().roots.roots.len());
        let mut dead = coverage.dead(&tally(&coverage, tree, Listing::Sample));
        self.workspace().keep_own(&mut dead, book);
        let rules: Vec<&Rule> = book.rules().map(|(rule, _)| rule).collect();
        dead.retain(|dead| {
            !means_no_file(&dead.pattern) && !self.is_for_ignored(rules[dead.rule], dead, tree)
        });
        if dead.is_empty() {
            return Vec::new();
        }
        let hints = Hints::new(&coverage, &dead);
        let counted = tree.fold(Vec::new, |sums, files| add(sums, &hints.count(files)));
        let mut counts = Vec::new();
        counted.iter().for_each(|counted| add(&mut counts, counted));
        let text = |dead: &Dead| self.text(rules[dead.rule]).map(|text| text.to_string()).unwrap_or_default();
        hints.report(&dead, &counts, &text)
    }

    /// Whether a pattern is for a folder that exists, but of which the tree has no file: git ignores it, and may track files
    /// there nevertheless.
    fn is_for_ignored(&self, rule: &Rule, dead: &Dead, tree: &Tree) -> bool {
        let root = rule.origin.root;
        let below = [rule.origin.folder.as_str(), literal_folder(&dead.pattern)];
        let folder = below.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        let path = Path::new(&self.workspace().roots.roots[root].path).join(&folder);
        !folder.is_empty() && self.workspace().files.is_folder(&path) && !tree.has_below(root, &folder)
    }
}

/// The folders at the start of a pattern, up to the first that is a pattern itself.
fn literal_folder(pattern: &str) -> &str {
    let pattern = pattern.trim_start_matches("./").trim_start_matches('/');
    let end = pattern.find(['*', '?', '[', '{', '(', '!', ',', '\\']).unwrap_or(pattern.len());
    pattern[..end].rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The files of the tree that each of these rules applies to, without those for which another one overrides it.
fn files_of<'r>(
    rules: &[usize],
    book: &'r Rulebook,
    coverage: &Coverage<'_>,
    tree: &Tree,
    roots: &Roots,
) -> Vec<RuleFiles<'r>> {
    let paths = tree.paths();
    let all: Vec<&Rule> = book.rules().map(|(rule, _)| rule).collect();
    let lost = coverage.lost(&paths);
    let files = |(&rule, reached): (&usize, Vec<usize>)| {
        let count = reached.len();
        let left = reached.into_iter().filter(|at| lost[rule].binary_search(at).is_err());
        let mut files: Vec<String> = left.map(|at| roots.shown(paths[at].root, &paths[at].path)).collect();
        files.sort();
        RuleFiles {
            rule: all[rule],
            further: coverage.further(rule).to_vec(),
            is_for_files: coverage.is_for_files(rule),
            overridden: count - files.len(),
            files,
        }
    };
    rules.iter().zip(coverage.reached(rules, &paths)).map(files).collect()
}

fn tally(coverage: &Coverage<'_>, tree: &Tree, listing: Listing) -> Tally {
    let start = || coverage.tally(listing);
    let tallies = tree.fold(start, |tally, files| coverage.add(files, tally));
    let mut whole = start();
    tallies.into_iter().for_each(|tally| whole.merge(tally));
    whole
}

fn add(sums: &mut Vec<usize>, counts: &[usize]) {
    sums.resize(counts.len(), 0);
    sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
}
