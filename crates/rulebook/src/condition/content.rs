//! `content`: a regular expression in the text of a file in evidence.

use super::regexes::{Pattern, Room};
use super::{Condition, ConditionKind, ConditionResult, Facts, Needs, Test, Truth, texts};
use crate::diagnostic::Code;

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "content",
    holds: "a regular expression matches in the first MiB of a file in evidence",
    build: |node, _, tell| {
        let (mut patterns, mut room) = (Vec::new(), Room::default());
        for (text, span) in texts(node, tell) {
            match Pattern::read(text, &mut room) {
                Ok(regex) => patterns.push(regex),
                Err(error) => tell(Code::BadRegex, span.clone(), format!("`{text}` is left out: {error}")),
            }
        }
        (!patterns.is_empty()).then(|| Condition::new("content", Content { patterns }))
    },
};

#[derive(Debug)]
struct Content {
    patterns: Vec<Pattern>,
}

impl Test for Content {
    fn ask(&self, facts: &Facts<'_>) -> ConditionResult {
        let texts = &facts.evidence.contents;
        if texts.is_empty() {
            return ConditionResult::unknown("file content");
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
        ConditionResult { truth: Truth::Yes, matched, seen, detail: String::new() }
    }

    fn needs(&self) -> Needs {
        Needs { content: true, ..Needs::default() }
    }
}
