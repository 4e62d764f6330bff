//! Coverage: the rules against every file of the tree.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rulebook::coverage::{Coverage, Dead, Hints, Listing, Report, Tally};
use rulebook::diagnostic::Diagnostic;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::source::Scope;

use crate::{Workspace, tree};

/// The files of the tree that bring a rule on.
#[derive(Clone, Debug)]
pub struct Reached<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// The conditions it has beside paths, which must hold too.
    pub further: Vec<&'static str>,
    /// Relative to their root; sorted.
    pub files: Vec<String>,
}

impl Workspace {
    /// Puts every file of the tree to the rules. `progress` is told now and then how many files were seen.
    pub fn coverage(&self, book: &Rulebook, listing: Listing, progress: &(dyn Fn(usize) + Sync)) -> Report {
        let coverage = Coverage::new(book);
        let tally = self.tally(&coverage, listing, progress);
        let mut report = coverage.report(tally, &self.roots);
        let rules: Vec<&Rule> = book.rules().map(|(rule, _)| rule).collect();
        report.dead.retain(|dead| self.is_for_this_tree(rules[dead.rule]));
        report
    }

    /// What is to be told about patterns that match no file.
    pub fn dead_globs(&self, book: &Rulebook) -> Vec<Diagnostic> {
        let rules: Vec<&Rule> = book.rules().map(|(rule, _)| rule).collect();
        let coverage = Coverage::new(book);
        let mut dead = coverage.dead(&self.tally(&coverage, Listing::Sample, &|_| ()));
        dead.retain(|dead| self.is_for_this_tree(rules[dead.rule]));
        if dead.is_empty() {
            return Vec::new();
        }
        let hints = Hints::new(&coverage, &dead);
        let counted = tree::walk(&self.roots, Vec::new, |sums, files| add(sums, &hints.count(files)));
        let mut counts = Vec::new();
        counted.iter().for_each(|counted| add(&mut counts, counted));
        let text = |dead: &Dead| fs::read_to_string(&rules[dead.rule].origin.path).unwrap_or_default();
        hints.tell(&dead, &counts, &text)
    }

    /// For each of these rules of the book, by position, the files of the tree that bring it on; and how many files
    /// the tree has.
    pub fn reached_by<'r>(&self, rules: &[usize], book: &'r Rulebook) -> (Vec<Reached<'r>>, usize) {
        let coverage = Coverage::new(book);
        let none = || (vec![Vec::new(); rules.len()], 0);
        let parts = tree::walk(&self.roots, none, |(found, count), files| {
            *count += files.len();
            let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
            for (found, reached) in found.iter_mut().zip(coverage.reached(rules, files)) {
                found.extend(reached.into_iter().map(|at| paths[at].clone()));
            }
        });
        let count = parts.iter().map(|(_, count)| count).sum();
        let all: Vec<&Rule> = book.rules().map(|(rule, _)| rule).collect();
        let reached = rules.iter().enumerate().map(|(at, &rule)| {
            let mut files: Vec<String> = parts.iter().flat_map(|(found, _)| found[at].clone()).collect();
            files.sort();
            Reached { rule: all[rule], further: coverage.further(rule).to_vec(), files }
        });
        (reached.collect(), count)
    }

    fn tally(&self, coverage: &Coverage<'_>, listing: Listing, progress: &(dyn Fn(usize) + Sync)) -> Tally {
        let seen = AtomicUsize::new(0);
        let tallies = tree::walk(
            &self.roots,
            || coverage.tally(listing),
            |tally, files| {
                progress(seen.fetch_add(files.len(), Ordering::Relaxed) + files.len());
                coverage.add(files, tally);
            },
        );
        let mut whole = coverage.tally(listing);
        tallies.into_iter().for_each(|tally| whole.merge(tally));
        whole
    }

    /// Whether a rule was written for this tree: a person's own, or one from above the root, meets many.
    fn is_for_this_tree(&self, rule: &Rule) -> bool {
        let root = Path::new(&self.roots.roots[rule.origin.root].path);
        rule.origin.scope == Scope::Workspace && Path::new(&rule.origin.path).starts_with(root)
    }
}

fn add(sums: &mut Vec<usize>, counts: &[usize]) {
    sums.resize(counts.len(), 0);
    sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
}
