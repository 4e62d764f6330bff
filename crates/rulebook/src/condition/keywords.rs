//! `keywords`: whole words of the user's message.

use super::facts::{Facts, TOO_MUCH};
use super::kind::{Condition, ConditionKind, ConditionResult, Test};
use super::value::words;

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "keywords",
    holds: "the user's message contains any of the words, as a whole word and ignoring case",
    fact: None,
    build: |kind, node, _, report| {
        let words = words(node, report);
        (!words.is_empty()).then(|| Condition::new(kind.key, Keywords { words }))
    },
};

#[derive(Debug)]
struct Keywords {
    words: Vec<String>,
}

impl Test for Keywords {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        let Some(message) = facts.message() else { return ConditionResult::not_known("message") };
        let (mut matched, mut is_known) = (Vec::new(), true);
        for word in &self.words {
            match message.has(word, |bytes| facts.may_inspect(bytes)) {
                Some(true) => matched.push(word.clone()),
                Some(false) => {}
                None => is_known = false,
            }
        }
        match matched.is_empty() {
            false => ConditionResult::yes(matched),
            true if !is_known => ConditionResult::unknown(TOO_MUCH),
            true => {
                ConditionResult::no(format!("the message contains none of the words {}", listed(&self.words)))
            }
        }
    }

    fn wanted(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }
}

/// Quotes the first words.
fn listed(words: &[String]) -> String {
    const MOST: usize = 50;
    let shown = &words[..words.len().min(MOST)];
    let more = match words.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("`{}`{more}", shown.join("`, `"))
}
