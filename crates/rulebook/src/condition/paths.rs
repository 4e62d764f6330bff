//! `paths`: an evidence path matches a pattern and no exclusion.

use super::facts::Facts;
use super::kind::{Condition, ConditionKind, ConditionResult, PathExpression, Test};
use super::path_patterns::{Paths, select};

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "paths",
    holds: "an evidence path matches a pattern and no `!pattern`",
    fact: None,
    build: |kind, node, base, report| Some(Condition::new(kind.key, Paths::read(node, base, report)?)),
};

impl Test for Paths {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        if facts.evidence.paths.is_empty() {
            return ConditionResult::not_known("path");
        }
        if self.is_open {
            let detail = format!("the agent does not document what {} matches", list(self.patterns()));
            return ConditionResult::unknown(detail);
        }
        let view = facts.view(self.base.as_ref());
        let selection = select(&self.list, view);
        if let Some((rival, names)) = &self.rival
            && let other = select(rival, view)
            && other.paths != selection.paths
        {
            let [first, second] = names;
            // The patterns that match in one of the two.
            let doubtful = self
                .patterns()
                .enumerate()
                .filter(|(at, _)| selection.patterns.contains(at) != other.patterns.contains(at));
            let doubtful: Vec<&str> = doubtful.map(|(_, pattern)| pattern).collect();
            let doubtful = if doubtful.is_empty() { self.patterns().collect() } else { doubtful };
            let verb = if doubtful.len() == 1 { "matches" } else { "match" };
            let detail = format!(
                "{} {verb} in only one of the dialects {first} and {second}, and the agent does not document which one it uses",
                list(doubtful.into_iter())
            );
            return ConditionResult::unknown(detail);
        }
        if self.patterns().next().is_none() {
            return ConditionResult::no("the list of paths is empty");
        }
        if selection.paths.is_empty() {
            let cut = match facts.evidence.cut {
                0 => String::new(),
                1 => "; 1 more path was not considered".to_owned(),
                cut => format!("; {cut} more paths were not considered"),
            };
            return ConditionResult::no(format!("no evidence path matches {}{cut}", list(self.patterns())));
        }
        let mut matched: Vec<String> = Vec::new();
        let patterns: Vec<&str> = self.patterns().collect();
        for pattern in selection.patterns.into_iter().map(|at| patterns[at]) {
            if !matched.iter().any(|known| known == pattern) {
                matched.push(pattern.to_owned());
            }
        }
        ConditionResult { seen: selection.paths, ..ConditionResult::yes(matched) }
    }

    fn path_expression(&self) -> Option<PathExpression<'_>> {
        Some(PathExpression::Paths(self))
    }
}

/// Quotes the first few patterns.
fn list<'p>(patterns: impl Iterator<Item = &'p str>) -> String {
    let all: Vec<&str> = patterns.collect();
    match all.len() {
        0 => String::new(),
        1..=4 => ["`", &all.join("`, `"), "`"].concat(),
        many => format!("`{}` and {} more", all[..3].join("`, `"), many - 3),
    }
}
