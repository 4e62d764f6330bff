//! `over-limit`: files beyond what an agent reads of all its files together.

use std::collections::{HashMap, HashSet};

use super::page::Page;
use super::surroundings::Surroundings;
use crate::agent::{Agent, Beyond, SizeLimit};
use crate::diagnostic::{Code, Diagnostic};
use crate::rule::Rule;
use crate::source::{Scope, enclosing_folders};

const HELP: &str = "shorten the files, or move what only some work needs into rules for that work";

/// Checks the limits of the agents used here.
pub(super) fn lint(pages: &[Page<'_>], around: &Surroundings<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let rules: Vec<&Rule> = pages.iter().map(|page| page.rule).filter(|rule| !rule.body.is_empty()).collect();
    around.agents.iter().for_each(|agent| diagnostics.extend(over_limit(agent, &rules)));
}

/// Reports each file that, with the files in the folders above it, exceeds what an agent reads.
pub fn over_limit(agent: &Agent, rules: &[&Rule]) -> Vec<Diagnostic> {
    let Some(limit) = &agent.limit else { return Vec::new() };
    let is_counted = |rule: &&Rule| rule.origin.scope == Scope::Workspace && (limit.counts)(rule);
    let mut outer_first: Vec<&Rule> = rules.iter().copied().filter(is_counted).collect();
    outer_first.sort_by_key(|rule| rule.position.depth);
    // Of two files of one id, the agent reads the first.
    let mut read: HashSet<&str> = HashSet::new();
    let mut sums: HashMap<(usize, &str), usize> = HashMap::new();
    let mut diagnostics = Vec::new();
    for rule in outer_first.into_iter().filter(|rule| read.insert(&rule.id)) {
        let root = rule.origin.root;
        let folders = enclosing_folders(&rule.origin.folder);
        let above: usize = folders.filter_map(|folder| sums.get(&(root, folder))).sum();
        let own = limit.unit.count(&rule.body);
        let report = |message| Diagnostic::whole(Code::OverLimit, &rule.origin.display, message).help(HELP);
        diagnostics.extend(message(agent, limit, above, own).map(report));
        *sums.entry((root, &rule.origin.folder)).or_default() += own;
    }
    diagnostics
}

/// Describes what happens to a file of size `own` after files of size `above`.
fn message(agent: &Agent, limit: &SizeLimit, above: usize, own: usize) -> Option<String> {
    let SizeLimit { most, unit, .. } = *limit;
    let reads = format!("{} reads {most} {unit} of these files together", agent.title);
    let sum = above + own;
    match limit.beyond {
        Beyond::Cut if above >= most => {
            Some(format!("{reads}; the files before it use them up, so it is not read"))
        }
        Beyond::Cut if sum > most => {
            Some(format!("{reads}; the last {} {unit} of this file are cut", sum - most))
        }
        Beyond::LeftOut(order) if above <= most && sum > most => {
            Some(format!("{reads}; with this file there are {sum}: {order}"))
        }
        _ => None,
    }
}
