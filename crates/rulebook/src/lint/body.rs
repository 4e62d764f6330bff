//! `duplicate-body`: two rule files have the same text.

use std::collections::HashMap;

use super::id::folders;
use crate::diagnostic::{Code, Diagnostic};
use crate::format::FormatId;
use crate::parse::imports;
use crate::rule::Rule;

/// Rules by root and folder.
type ByFolder<'r> = HashMap<(usize, &'r str), &'r Rule>;

/// Shorter texts, in bytes, cost nothing worth a change; most are placeholders that tools write.
const MIN_LENGTH: usize = 200;

/// Reports each file whose text an earlier file of the same agent has for the same folder. Copies in sibling folders do not
/// meet, copies for different agents are intended, and a text that imports files means something else in each folder.
pub(super) fn lint(rules: &[&Rule], diagnostics: &mut Vec<Diagnostic>) {
    let mut outer_first: Vec<&Rule> = rules.to_vec();
    outer_first.retain(|rule| rule.body.len() >= MIN_LENGTH && imports(&rule.body).is_empty());
    outer_first.sort_by_key(|rule| rule.position.depth);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    rules.iter().for_each(|rule| *lengths.entry(rule.body.len()).or_default() += 1);
    let mut seen: HashMap<(FormatId, &str), ByFolder<'_>> = HashMap::new();
    // Only texts of equal length are hashed.
    for rule in outer_first.into_iter().filter(|rule| lengths[&rule.body.len()] > 1) {
        let places = seen.entry((rule.origin.format.id, &rule.body)).or_default();
        match folders(rule).find_map(|folder| places.get(&folder)) {
            Some(first) => diagnostics.push(report(rule, first)),
            None => places.extend(folders(rule).next().map(|own| (own, rule))),
        }
    }
}

fn report(rule: &Rule, first: &Rule) -> Diagnostic {
    let message = format!("has the same text as `{}`", first.origin.display);
    let found = Diagnostic::whole(Code::DuplicateBody, &rule.origin.display, message);
    found.help("keep one of the two files: agents that read both get the text twice")
}
