//! `duplicate-body`: two rule files say the same.

use std::collections::HashMap;

use super::Told;
use super::id::folders;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::rule::Rule;

/// Tells each file that says what an earlier one says for the same work; copies in sibling folders are for other work.
pub(super) fn lint(rules: &[&Rule], told: &mut Told) {
    let mut outer_first: Vec<&Rule> = rules.to_vec();
    outer_first.sort_by_key(|rule| rule.position.depth);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    rules.iter().for_each(|rule| *lengths.entry(rule.body.len()).or_default() += 1);
    let mut said: HashMap<&str, HashMap<(usize, &str), &Rule>> = HashMap::new();
    // Only texts that share their length with another are hashed.
    for rule in outer_first.into_iter().filter(|rule| lengths[&rule.body.len()] > 1) {
        let places = said.entry(&rule.body).or_default();
        match folders(rule).find_map(|folder| places.get(&folder)) {
            Some(first) => told.push(tell(rule, first)),
            None => places.extend(folders(rule).next().map(|own| (own, rule))),
        }
    }
}

fn tell(rule: &Rule, first: &Rule) -> Diagnostic {
    let message = format!("says the same as `{}`", first.origin.display);
    let found = Diagnostic::whole(Code::DuplicateBody, &rule.origin.display, message);
    // Copies for several agents are how teams work; two for one agent are one too many.
    let is_one_agents = rule.origin.format.id == first.origin.format.id;
    if is_one_agents { found.severity(Severity::Warning) } else { found }
}
