//! `duplicate-body`: two rule files have the same text.

use std::collections::HashMap;

use super::id::folders;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::rule::Rule;

/// Reports each file whose text an earlier file has for the same folder. Copies in sibling folders do not meet.
pub(super) fn lint(rules: &[&Rule], diagnostics: &mut Vec<Diagnostic>) {
    let mut outer_first: Vec<&Rule> = rules.to_vec();
    outer_first.sort_by_key(|rule| rule.position.depth);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    rules.iter().for_each(|rule| *lengths.entry(rule.body.len()).or_default() += 1);
    let mut seen: HashMap<&str, HashMap<(usize, &str), &Rule>> = HashMap::new();
    // Only texts of equal length are hashed.
    for rule in outer_first.into_iter().filter(|rule| lengths[&rule.body.len()] > 1) {
        let places = seen.entry(&rule.body).or_default();
        match folders(rule).find_map(|folder| places.get(&folder)) {
            Some(first) => diagnostics.push(report(rule, first)),
            None => places.extend(folders(rule).next().map(|own| (own, rule))),
        }
    }
}

fn report(rule: &Rule, first: &Rule) -> Diagnostic {
    let message = format!("has the same text as `{}`", first.origin.display);
    let found = Diagnostic::whole(Code::DuplicateBody, &rule.origin.display, message);
    // Copies for several agents are common; two copies for one agent are a mistake.
    let is_same_agent = rule.origin.format.id == first.origin.format.id;
    if is_same_agent { found.severity(Severity::Warning) } else { found }
}
