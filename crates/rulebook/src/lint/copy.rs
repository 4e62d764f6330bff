//! `drifted-copy`: two formats have copies of one rule, and the copies are no longer equal.

use std::collections::HashMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::evaluate::{Lines, overrides};
use crate::format::FORMATS;
use crate::resolve::Identity;
use crate::rule::Rule;

/// With how many rules of its id a rule is compared.
const MAX_COMPARED: usize = 32;

/// How many differing lines of each copy are listed.
const MAX_LINES: usize = 3;

/// Reports each copy once, with the first rule that it is a copy of.
pub(super) fn lint(rules: &[&Rule], identity: Identity, diagnostics: &mut Vec<Diagnostic>) {
    let mut by_id: HashMap<&str, Vec<&Rule>> = HashMap::new();
    for rule in rules {
        by_id.entry(&rule.id).or_default().push(rule);
    }
    for rules in by_id.into_values().filter(|rules| is_of_several_formats(rules)) {
        let mut known: Vec<(&Rule, Lines)> = Vec::new();
        for rule in rules {
            let lines = Lines::of(&rule.body);
            let is_copy = |(other, known): &&(&Rule, Lines)| {
                other.origin.format.id != rule.origin.format.id
                    && !other.is_of_other_root(rule)
                    && !overrides(other, rule, identity)
                    && other.body != rule.body
                    && known.is_copy_of(&lines)
            };
            match known.iter().find(is_copy) {
                Some((first, _)) => diagnostics.extend(report(rule, first)),
                None if known.len() < MAX_COMPARED => known.push((rule, lines)),
                None => {}
            }
        }
    }
}

fn is_of_several_formats(rules: &[&Rule]) -> bool {
    rules.iter().any(|rule| rule.origin.format.id != rules[0].origin.format.id)
}

/// Copies that differ in comments alone, such as those of generators, are equal.
fn report(rule: &Rule, first: &Rule) -> Option<Diagnostic> {
    let (here, there) = (lines_only_in(rule, first), lines_only_in(first, rule));
    let (display, other) = (&rule.origin.display, &first.origin.display);
    let lists = [("here", &here), ("there", &there)].map(|(place, lines)| listed(place, lines));
    let lists: Vec<String> = lists.into_iter().flatten().collect();
    let message = format!("is a copy of `{other}`, but they differ: {}", lists.join("; "));
    if lists.is_empty() {
        return None;
    }
    Some(match here.first() {
        Some((number, line)) => {
            let start =
                rule.body.lines().take(number - rule.body_line).map(|line| line.len() + 1).sum::<usize>();
            let found =
                Diagnostic::at(Code::DriftedCopy, display, &rule.body, start..start + line.len(), message);
            Diagnostic { line: *number, ..found }
        }
        None => Diagnostic::whole(Code::DriftedCopy, display, message),
    })
}

/// Returns the non-blank lines of a rule that another does not have, with their numbers in the file.
fn lines_only_in<'r>(rule: &'r Rule, other: &Rule) -> Vec<(usize, &'r str)> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    other.body.lines().for_each(|line| *counts.entry(neutral(line)).or_default() += 1);
    let is_only_here = |(_, line): &(usize, &str)| match counts.get_mut(&neutral(line)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => !line.trim().is_empty() && !line.trim_start().starts_with("<!--"),
    };
    (rule.body_line..).zip(rule.body.lines()).filter(is_only_here).collect()
}

/// Returns a line without what copies for several agents have to write differently: the names of their rule folders and
/// files, and quotes.
fn neutral(line: &str) -> String {
    let mut line = line.trim().replace("\\\"", "\"").replace(['“', '”'], "\"").replace(['‘', '’'], "'");
    if line.contains('.') {
        let places = FORMATS.iter().flat_map(|format| format.workspace).map(|place| place.path);
        for place in places.filter(|place| place.starts_with('.') && place.contains('/')) {
            if line.contains(place) {
                line = line.replace(place, "RULES");
            }
        }
        line = line.replace(".mdc", ".md");
    }
    line
}

fn listed(place: &str, lines: &[(usize, &str)]) -> Option<String> {
    const MAX_LENGTH: usize = 60;
    let shown = |(number, line): &(usize, &str)| {
        // Quotes of quotes are hard to read.
        let line = &line.trim().replace('`', "'");
        match line.char_indices().nth(MAX_LENGTH) {
            Some((end, _)) => format!("{number} `{}…`", &line[..end]),
            None => format!("{number} `{line}`"),
        }
    };
    let mut all: Vec<String> = lines.iter().take(MAX_LINES).map(shown).collect();
    if lines.len() > MAX_LINES {
        all.push(format!("{} more", lines.len() - MAX_LINES));
    }
    let noun = if lines.len() == 1 { "line" } else { "lines" };
    (!all.is_empty()).then(|| format!("only {place}, {noun} {}", all.join(", ")))
}
