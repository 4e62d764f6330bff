//! `content`: a regular expression matches in the text of a file in evidence.

use super::facts::Facts;
use super::kind::{Condition, ConditionKind, ConditionResult, Needs, Test};
use super::regexes::{Pattern, RegexBudget};

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "content",
    holds: "a regular expression matches in the first MiB of a file in evidence",
    fact: None,
    build: |kind, node, _, report| {
        let patterns = Pattern::read_all(node, &mut RegexBudget::default(), report);
        (!patterns.is_empty()).then(|| Condition::new(kind.key, Content { patterns }))
    },
};

#[derive(Debug)]
struct Content {
    patterns: Vec<Pattern>,
}

impl Test for Content {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        let texts = &facts.evidence.contents;
        if texts.is_empty() {
            return ConditionResult::not_known("file content");
        }
        let mut seen = Vec::new();
        let mut matched: Vec<String> = Vec::new();
        for pattern in &self.patterns {
            let hits: Vec<usize> =
                texts.iter().filter(|(_, text)| pattern.is_match(text)).map(|(at, _)| *at).collect();
            if !hits.is_empty() {
                matched.push(pattern.as_str().to_owned());
            }
            seen.extend(hits);
        }
        seen.sort_unstable();
        seen.dedup();
        if seen.is_empty() {
            let wanted: Vec<&str> = self.patterns.iter().map(Pattern::as_str).collect();
            return ConditionResult::no(format!("no file in evidence contains `{}`", wanted.join("`, `")));
        }
        ConditionResult { seen, ..ConditionResult::yes(matched) }
    }

    fn needs(&self) -> Needs {
        Needs { content: true, ..Needs::default() }
    }
}
