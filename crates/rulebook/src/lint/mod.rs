//! Lints: problems of a rulebook whose files can all be read. Rules in, diagnostics out.

mod body;
mod command;
mod copy;
mod fence;
mod forged;
mod group;
mod id;
mod import;
mod legacy;
mod link;
mod manager;
mod page;
mod script;
mod secret;
mod size_limits;
mod skills;
mod summary;
mod surroundings;
mod syntax;

pub use group::{Group, group};
pub use secret::{secrets, without_secrets};
pub use size_limits::over_limit;
pub use skills::{reads as reads_skill, requires_skill_name};
pub use summary::{AlwaysCost, Summary};
pub use surroundings::{LockFile, Names, Runner, Surroundings};

use crate::diagnostic::Diagnostic;
use crate::format::FormatId;
use crate::resolve::{Identity, Rulebook};
use crate::rule::Rule;
use page::Page;

/// Lints that compare rules. They get the rules that are switched on, in order.
const COMPARING: &[RulesLint] = &[body::lint];
type RulesLint = fn(&[&Rule], &mut Vec<Diagnostic>);

/// Lints that compare rules of one id. What identifies a rule decides which of them override each other.
const IDENTITY: &[IdentityLint] = &[id::lint, copy::lint];
type IdentityLint = fn(&[&Rule], Identity, &mut Vec<Diagnostic>);

/// Lints that read the file of one rule.
const READING: &[PageLint] = &[fence::lint, forged::lint, secret::lint];
type PageLint = fn(&Page<'_>, &mut Vec<Diagnostic>);

/// Lints that compare one rule with the files around it.
const READING_AROUND: &[fn(&Page<'_>, &Surroundings<'_>, &mut Vec<Diagnostic>)] =
    &[legacy::lint, script::lint, syntax::lint];

/// Lints that compare all rules with the files around them.
const COMPARING_AROUND: &[PagesLint] = &[import::lint, link::lint, manager::lint, size_limits::lint];
type PagesLint = fn(&[Page<'_>], &Surroundings<'_>, &mut Vec<Diagnostic>);

/// Runs every lint. The diagnostics are sorted by file and position. `text_of` returns the text of a rule's file;
/// without it, problems of the header are reported for the whole file.
#[must_use]
pub fn lint(book: &Rulebook, text_of: &dyn Fn(&Rule) -> Option<String>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    // A skill may be there several times, for several agents.
    let enabled: Vec<&Rule> =
        enabled(book).into_iter().filter(|rule| rule.origin.format.id != FormatId::Skill).collect();
    COMPARING.iter().for_each(|lint| lint(&enabled, &mut diagnostics));
    IDENTITY.iter().for_each(|lint| lint(&enabled, book.identity(), &mut diagnostics));
    // A rule that is switched off is still in its file.
    book.rules().for_each(|(rule, _)| lint_page(&Page::new(rule, text_of(rule)), &mut diagnostics));
    diagnostics.sort();
    diagnostics
}

/// Runs the lints that compare rules with the files around them.
#[must_use]
pub fn lint_surroundings(book: &Rulebook, around: &Surroundings<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let pages: Vec<Page<'_>> =
        book.rules().map(|(rule, _)| Page::new(rule, (around.text_of)(rule))).collect();
    for page in &pages {
        READING_AROUND.iter().for_each(|lint| lint(page, around, &mut diagnostics));
    }
    COMPARING_AROUND.iter().for_each(|lint| lint(&pages, around, &mut diagnostics));
    skills::lint(&enabled(book), &around.agents, &mut diagnostics);
    diagnostics.sort();
    diagnostics
}

/// Returns the rules that are switched on and have a text, in order.
fn enabled(book: &Rulebook) -> Vec<&Rule> {
    let is_on = |(rule, off): &(&Rule, _)| Option::is_none(off) && !rule.body.is_empty();
    book.rules().filter(is_on).map(|(rule, _)| rule).collect()
}

/// Runs the lints that read the file of one rule.
pub(crate) fn lint_file(rule: &Rule, text: &str) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    lint_page(&Page::new(rule, Some(text.to_owned())), &mut diagnostics);
    diagnostics
}

fn lint_page(page: &Page<'_>, diagnostics: &mut Vec<Diagnostic>) {
    READING.iter().for_each(|lint| lint(page, diagnostics));
}

#[cfg(test)]
mod tests;
