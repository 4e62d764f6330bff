//! `keywords`: whole words of the user's message.

use super::facts::Facts;
use super::kind::{Condition, ConditionKind, ConditionResult, Test};
use super::value::words;

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "keywords",
    holds: "the user's message contains any of the words, as a whole word and ignoring case",
    fact: None,
    build: |kind, node, _, report| {
        let words = words(node, report);
        let lower = words.iter().map(|word| word.to_lowercase()).collect();
        (!words.is_empty()).then(|| Condition::new(kind.key, Keywords { words, lower }))
    },
};

#[derive(Debug)]
struct Keywords {
    words: Vec<String>,
    lower: Vec<String>,
}

impl Test for Keywords {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        let Some(message) = &facts.evidence.message else { return ConditionResult::not_known("message") };
        let message = message.to_lowercase();
        let matched: Vec<String> = self
            .words
            .iter()
            .zip(&self.lower)
            .filter(|(_, lower)| has_word(&message, lower))
            .map(|(word, _)| word.clone())
            .collect();
        if matched.is_empty() {
            return ConditionResult::no(format!(
                "the message contains none of the words `{}`",
                self.words.join("`, `")
            ));
        }
        ConditionResult::yes(matched)
    }

    fn wanted(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }
}

/// Whether a text contains a word without a letter, digit or `_` on either side.
fn has_word(text: &str, word: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let starts = word.starts_with(joins);
    let ends = word.ends_with(joins);
    text.match_indices(word).any(|(at, _)| {
        let joined_before = starts && text[..at].ends_with(joins);
        let joined_after = ends && text[at + word.len()..].starts_with(joins);
        !joined_before && !joined_after
    })
}
