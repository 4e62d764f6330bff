//! Checking: every problem of the rules within reach. `check`, `status` and the web page report exactly these.

use rulebook::compare::report_differences;
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
        report_differences(self.differences(&loaded.book), &mut loaded.diagnostics);
        loaded.diagnostics.extend(self.dead_globs(&loaded.book, tree));
        loaded.diagnostics.sort();
        loaded
    }
}
