//! `drifted-copy`: two formats have copies of one rule, and the copies are no longer equal.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::evaluate::{Lines, overrides};
use crate::format::FORMATS;
use crate::frontmatter::starts_with_header;
use crate::resolve::Identity;
use crate::rule::{Basis, Rule};

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
                    && !is_recorded(rule, other)
                    && !has_header_as_text(other)
                    && !has_header_as_text(rule)
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

/// Whether one is a recorded copy of the other, or both are copies of the same rule. The record says whether they differ.
fn is_recorded(one: &Rule, other: &Rule) -> bool {
    let is_copy_of = |copy: &Rule, source: &Rule| copy.copy_of.contains(&source.origin.path);
    is_copy_of(one, other)
        || is_copy_of(other, one)
        || one.copy_of.iter().any(|source| other.copy_of.contains(source))
}

/// Whether the text contains a header: one that cannot be read, or that is not the first thing in the file. That is reported by
/// itself.
fn has_header_as_text(rule: &Rule) -> bool {
    rule.basis == Basis::FailOpen || starts_with_header(&rule.body)
}

fn is_of_several_formats(rules: &[&Rule]) -> bool {
    rules.iter().any(|rule| rule.origin.format.id != rules[0].origin.format.id)
}

/// Copies that differ in comments alone, such as those of generators, are equal.
fn report<'r>(rule: &'r Rule, first: &'r Rule) -> Option<Diagnostic> {
    let own_lines = |own: &'r Rule, other: &Rule| -> Vec<(usize, &'r str)> {
        let said: Vec<String> = other.body.lines().map(neutral).collect();
        // What one says in a line of its own, the other may say within one.
        let is_said = |line: &str| said.iter().any(|said| said.contains(&neutral(line)));
        let lines = lines_only_in(own, other).into_iter();
        lines.filter(|(_, line)| !is_header_of(line, other, own) && !is_said(line)).collect()
    };
    let (here, there) = (own_lines(rule, first), own_lines(first, rule));
    // A tool that writes copies gives them a title, or another one.
    let is_title =
        |lines: &[(usize, &str)]| lines.len() <= 1 && lines.iter().all(|(_, line)| line.starts_with('#'));
    if is_title(&here) && is_title(&there) {
        return None;
    }
    let (display, other) = (&rule.origin.display, &first.origin.display);
    let lists = [listed("this file", &here, &there), listed(&format!("`{other}`"), &there, &here)];
    let lists: Vec<String> = lists.into_iter().flatten().collect();
    let message = format!("this file is a copy of `{other}`, but {}", lists.join(", and "));
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

/// Whether a line says what the header of the other copy says, and its own does not: a generator writes it as text for an
/// agent without such keys.
fn is_header_of(line: &str, other: &Rule, own: &Rule) -> bool {
    /// The most characters of a word such as `Scope:` before the patterns.
    const MAX_LABEL: usize = 24;
    let text = neutral(line);
    let globs = neutral(&other.globs.join(","));
    let is_scope = own.globs.is_empty()
        && !globs.is_empty()
        && text.strip_suffix(&globs).is_some_and(|label| label.len() <= MAX_LABEL);
    let described = other.description.as_deref().filter(|_| own.description.is_none());
    is_scope || described.is_some_and(|description| says_the_same(line, description))
}

/// Whether a line has at least half of its longer words from a description.
pub(super) fn says_the_same(line: &str, description: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 4);
        words.map(str::to_lowercase).collect()
    };
    let (own, known) = (words(line), words(description));
    !own.is_empty() && own.intersection(&known).count() * 2 >= own.len()
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
        _ => line.contains(char::is_alphanumeric) && !line.trim_start().starts_with("<!--"),
    };
    (rule.body_line..).zip(rule.body.lines()).filter(is_only_here).collect()
}

/// Returns a line without what copies for several agents write differently: the names of agents and of their rule folders
/// and files, case, white space and punctuation.
fn neutral(line: &str) -> String {
    let mut line = line.to_lowercase();
    if line.contains('.') {
        let places = FORMATS.iter().flat_map(|format| format.workspace).map(|place| place.path);
        for place in places.filter(|place| place.starts_with('.')) {
            if line.contains(place) {
                line = line.replace(place, "rules");
            }
        }
        line = line.replace(".mdc", ".md").replace("mdc:", "");
    }
    for format in FORMATS {
        let agent = format.agent.to_lowercase();
        if line.contains(&agent) {
            line = line.replace(&agent, "agent");
        }
    }
    line.retain(char::is_alphanumeric);
    line
}

/// Lists lines that one of two copies has, each from where it differs from the same line of the other.
fn listed(place: &str, lines: &[(usize, &str)], others: &[(usize, &str)]) -> Option<String> {
    let shown = |(at, (number, line)): (usize, &(usize, &str))| {
        let other = others.get(at).map_or("", |(_, line)| line.trim());
        format!("{number} (`{}`)", excerpt(line.trim(), other))
    };
    let all: Vec<String> = lines.iter().enumerate().take(MAX_LINES).map(shown).collect();
    let more = lines.len().saturating_sub(MAX_LINES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (noun, verb) = if lines.len() == 1 { ("line", "is") } else { ("lines", "are") };
    (!all.is_empty()).then(|| format!("{noun} {}{more} {verb} only in {place}", all.join(", ")))
}

/// Returns the part of a line that differs from another line.
fn excerpt(line: &str, other: &str) -> String {
    const MAX_LENGTH: usize = 60;
    /// How much of what is equal is shown before the difference.
    const MAX_EQUAL: usize = 20;
    let equal = line.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let from = if equal < MAX_LENGTH - MAX_EQUAL { 0 } else { equal - MAX_EQUAL };
    let shown: String = line.chars().skip(from).take(MAX_LENGTH).collect();
    let is_cut = line.chars().count() > from + MAX_LENGTH;
    // Quotes of quotes are hard to read.
    let shown = shown.replace('`', "'");
    format!("{}{shown}{}", if from > 0 { "…" } else { "" }, if is_cut { "…" } else { "" })
}
