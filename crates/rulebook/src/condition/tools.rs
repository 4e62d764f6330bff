//! `tools`: the tool about to be called, or just called.

use super::{Condition, ConditionKind, ConditionResult, Facts, Test, name_glob, words};
use crate::glob::Glob;

pub(super) const KIND: ConditionKind = ConditionKind {
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
    fn ask(&self, facts: &Facts<'_>) -> ConditionResult {
        let names = &facts.evidence.tools;
        if names.is_empty() {
            return ConditionResult::unknown("tool call");
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
            return ConditionResult::no(format!(
                "tool is `{}`, wanted `{}`",
                names.join("`, `"),
                wanted.join("`, `")
            ));
        }
        ConditionResult::yes(matched)
    }
}
