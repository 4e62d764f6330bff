//! Checking: every problem of the rules within reach. `check`, `status` and the web page report exactly these.

use std::collections::HashSet;

use rulebook::agent::Agent;
use rulebook::compare::{Difference, Outcome, report_differences};
use rulebook::diagnostic::{Code, Diagnostic, Severity};
use rulebook::lint::lint;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::source::Scope;

use crate::agents::AgentSearch;
use crate::sources::{Loaded, Sources};
use crate::tree::Tree;

impl Sources<'_> {
    /// The rules as their authors meant them, with all diagnostics: of reading, of the lints, of the agents' own views and
    /// of the files in the tree.
    pub fn checked(&self, tree: &Tree) -> Loaded {
        let mut loaded = self.meant();
        let text_of = |rule: &Rule| self.text(rule).map(|text| text.to_string());
        loaded.diagnostics.extend(lint(&loaded.book, &text_of));
        let unread = self.not_read(&loaded.book, tree);
        let differences = self.differences(&loaded.book).into_iter();
        let is_reported = |rule: &Rule, found: &Difference| {
            found.does == Outcome::Unread && unread.files.contains(&rule.origin.display)
        };
        let used = self.workspace().agents_used(AgentSearch::Workspace);
        let is_used = |agent: &Agent| used.iter().any(|used| used.agent.name == agent.name);
        // What an agent does not document is no fault of the file.
        let is_known = |found: &Difference| found.does != Outcome::Undocumented;
        let others = differences.filter(|(rule, _, found)| !is_reported(rule, found) && is_known(found));
        report_differences(others, &mut loaded.diagnostics);
        let rules = loaded.book.rules().map(|(rule, _)| rule);
        let unused =
            rules.filter(|rule| Agent::owner_of(rule.origin.format.id).is_some_and(|owner| !is_used(owner)));
        let unused: HashSet<&str> = unused
            .filter(|rule| rule.origin.scope == Scope::Workspace)
            .map(|rule| rule.origin.display.as_str())
            .collect();
        loaded
            .diagnostics
            .retain(|found| found.code != Code::OverLimit || !unused.contains(found.path.as_str()));
        loaded.diagnostics.extend(unread.diagnostics);
        loaded.diagnostics.extend(self.around(&loaded.book, tree));
        let dead = self.dead_globs(&loaded.book, tree);
        report_dead(as_library(dead, &loaded.book), &mut loaded.diagnostics);
        loaded.diagnostics.sort();
        loaded
    }
}

/// Rules for other projects: if most rules match nothing here, that is what they are.
fn as_library(mut dead: Vec<Diagnostic>, book: &Rulebook) -> Vec<Diagnostic> {
    const FEW: usize = 20;
    let warnings = dead.iter().filter(|found| found.severity == Severity::Warning).count();
    let with_globs = book.rules().filter(|(rule, _)| !rule.globs.is_empty()).count();
    if warnings >= FEW && warnings * 2 > with_globs {
        dead.iter_mut().for_each(|found| found.severity = Severity::Note);
    }
    dead
}

/// Adds globs that match nothing. Where another problem of the same value explains it, only the hint is added.
fn report_dead(dead: Vec<Diagnostic>, diagnostics: &mut Vec<Diagnostic>) {
    for dead in dead {
        let is_same = |found: &&mut Diagnostic| {
            let width = found.excerpt.as_ref().map_or(0, |excerpt| excerpt.width);
            let is_here = (found.column..found.column + width).contains(&dead.column);
            found.line > 0 && found.path == dead.path && found.line == dead.line && is_here
        };
        match diagnostics.iter_mut().find(is_same) {
            Some(other) if other.code == Code::DoubtfulGlob && dead.help != dead.code.row().remedy => {
                other.help = dead.help;
            }
            Some(_) => {}
            None => diagnostics.push(dead),
        }
    }
}
