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
    let mut by_folder: HashMap<(usize, &str), Vec<(&str, usize)>> = HashMap::new();
    let mut diagnostics = Vec::new();
    for rule in outer_first.into_iter().filter(|rule| read.insert(&rule.id)) {
        let root = rule.origin.root;
        let folders = enclosing_folders(&rule.origin.folder);
        let above = folders.filter_map(|folder| by_folder.get(&(root, folder))).flatten();
        let above: Vec<(&str, usize)> = above.copied().collect();
        let own = limit.unit.count(&rule.body);
        let report = |message| {
            Diagnostic::whole(Code::OverLimit, &rule.origin.display, message).help(HELP).of_agent(agent.name)
        };
        diagnostics.extend(message(agent, limit, &above, own).map(report));
        by_folder.entry((root, &rule.origin.folder)).or_default().push((&rule.origin.display, own));
    }
    diagnostics
}

/// Describes what happens to a file of size `own` after the files `above`.
fn message(agent: &Agent, limit: &SizeLimit, above: &[(&str, usize)], own: usize) -> Option<String> {
    let SizeLimit { most, unit, .. } = *limit;
    let before: usize = above.iter().map(|(_, size)| size).sum();
    let sum = before + own;
    let title = agent.title;
    let with = match names(above) {
        Some(names) => format!("of this file and {names} together"),
        None => "of this file".to_owned(),
    };
    match limit.beyond {
        Beyond::Cut if before >= most => {
            let names = names(above).unwrap_or_default();
            Some(format!(
                "{title} does not read this file: the {most} {unit} it reads are used up by {names}"
            ))
        }
        Beyond::Cut if sum > most => {
            let cut = sum - most;
            Some(format!("{title} reads {most} {unit} {with}; the last {cut} {unit} of this file are cut"))
        }
        Beyond::LeftOut(order) if before <= most && sum > most => {
            Some(format!("{title} reads {most} {unit} {with}, which have {sum}: {order}"))
        }
        _ => None,
    }
}

/// Names the largest files.
fn names(files: &[(&str, usize)]) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let mut largest = files.to_vec();
    largest.sort_by_key(|(path, size)| (std::cmp::Reverse(*size), *path));
    let names: Vec<String> = largest.iter().take(MAX_NAMED).map(|(path, _)| format!("`{path}`")).collect();
    match files.len().saturating_sub(MAX_NAMED) {
        _ if names.is_empty() => None,
        0 => Some(names.join(", ")),
        more => Some(format!("{} and {more} more", names.join(", "))),
    }
}
