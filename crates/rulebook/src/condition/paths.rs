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
            && select(rival, view).paths != selection.paths
        {
            let [one, other] = names;
            let detail = format!(
                "{} matches in only one of the dialects {one} and {other}, and the agent does not document which one it uses",
                list(self.patterns())
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
