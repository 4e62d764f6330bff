//! `tools`: the tool about to be called, or just called.

use super::{Answer, Condition, Facts, Kind, Test, words};
use crate::glob::{Dialect, Glob};

pub(super) const KIND: Kind = Kind {
    key: "tools",
    holds: "any glob matches the tool about to be called or just called",
    build: |node, _, tell| {
        let globs: Vec<Glob> =
            words(node, tell).iter().filter_map(|name| Glob::new(name, Dialect::Picomatch).ok()).collect();
        (!globs.is_empty()).then(|| Condition::new("tools", Tools { globs }))
    },
};

#[derive(Debug)]
struct Tools {
    globs: Vec<Glob>,
}

impl Test for Tools {
    fn ask(&self, facts: &Facts<'_>) -> Answer {
        let names = &facts.evidence.tools;
        if names.is_empty() {
            return Answer::unknown("tool call");
        }
        let matched: Vec<String> = self
            .globs
            .iter()
            .filter(|glob| names.iter().any(|name| glob.is_match(name)))
            .map(|glob| glob.pattern().to_owned())
            .collect();
        if matched.is_empty() {
            let wanted: Vec<&str> = self.globs.iter().map(Glob::pattern).collect();
            return Answer::no(format!("tool is `{}`, wanted `{}`", names.join("`, `"), wanted.join("`, `")));
        }
        Answer::yes(matched)
    }
}
