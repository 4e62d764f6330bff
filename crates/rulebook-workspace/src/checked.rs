//! Checking: every problem of the rules within reach. `check`, `status` and the web page report exactly these.

use rulebook::compare::{Difference, Outcome, report_differences};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::lint::lint;
use rulebook::rule::Rule;

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
        let others = differences.filter(|(rule, _, found)| !is_reported(rule, found));
        report_differences(others, &mut loaded.diagnostics);
        loaded.diagnostics.extend(unread.diagnostics);
        loaded.diagnostics.extend(self.around(&loaded.book, tree));
        report_dead(self.dead_globs(&loaded.book, tree), &mut loaded.diagnostics);
        loaded.diagnostics.sort();
        loaded
    }
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
