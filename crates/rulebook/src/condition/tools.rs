//! `tools`: the tool about to be called, or just called.

use super::{Answer, Condition, Facts, Kind, Test, name_glob, words};
use crate::glob::Glob;

pub(super) const KIND: Kind = Kind {
    key: "tools",
    holds: "any glob matches the tool about to be called or just called",
    build: |node, _, tell| {
        let patterns: Vec<(String, Option<Glob>)> = words(node, tell)
            .into_iter()
            .map(|written| {
                let glob = name_glob(&written, node, tell);
                (written, glob)
            })
            .collect();
        (!patterns.is_empty()).then(|| Condition::new("tools", Tools { patterns }))
    },
};

#[derive(Debug)]
struct Tools {
    patterns: Vec<(String, Option<Glob>)>,
}

impl Test for Tools {
    fn ask(&self, facts: &Facts<'_>) -> Answer {
        let names = &facts.evidence.tools;
        if names.is_empty() {
            return Answer::unknown("tool call");
        }
        let holds = |glob: &Option<Glob>| {
            glob.as_ref().is_some_and(|glob| names.iter().any(|name| glob.is_match(name)))
        };
        let matched: Vec<String> = self
            .patterns
            .iter()
            .filter(|(_, glob)| holds(glob))
            .map(|(written, _)| written.clone())
            .collect();
        if matched.is_empty() {
            let wanted: Vec<&str> = self.patterns.iter().map(|(written, _)| written.as_str()).collect();
            return Answer::no(format!("tool is `{}`, wanted `{}`", names.join("`, `"), wanted.join("`, `")));
        }
        Answer::yes(matched)
    }
}
