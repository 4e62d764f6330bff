//! The user's message as words: a keyword is looked up, and the message is searched only for keywords of several words.

use std::borrow::Cow;

use foldhash::HashSet;

/// A message in lower case.
#[derive(Debug)]
pub(super) struct Message {
    text: String,
    words: HashSet<String>,
}

impl Message {
    pub(super) fn new(text: &str) -> Message {
        let text = text.to_lowercase();
        let mut words = HashSet::default();
        for word in parts(&text) {
            if !words.contains(word) {
                words.insert(word.to_owned());
            }
        }
        Message { text, words }
    }

    /// Whether the message contains a keyword as whole words; `None` if it would have to be searched and may not be.
    pub(super) fn has(&self, keyword: &str, may_search: impl FnOnce(usize) -> bool) -> Option<bool> {
        let keyword = lower(keyword);
        // Next to a part of a keyword there is no letter or digit, so each part is a whole word of the message.
        if !parts(&keyword).all(|part| self.words.contains(part)) {
            return Some(false);
        }
        if !keyword.is_empty() && keyword.chars().all(joins) {
            return Some(true);
        }
        may_search(self.text.len()).then(|| has_word(&self.text, &keyword))
    }
}

/// The parts of a text between other characters than letters, digits and `_`.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !joins(c)).filter(|part| !part.is_empty())
}

fn joins(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn lower(text: &str) -> Cow<'_, str> {
    let is_lower = text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) }
}

/// Whether a text contains a word without a letter, digit or `_` on either side.
fn has_word(text: &str, word: &str) -> bool {
    let (starts, ends) = (word.starts_with(joins), word.ends_with(joins));
    text.match_indices(word).any(|(at, _)| {
        let joined_before = starts && text[..at].ends_with(joins);
        let joined_after = ends && text[at + word.len()..].starts_with(joins);
        !joined_before && !joined_after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_looked_up_as_a_search_finds_them() {
        let texts = [
            "Fix the API-docs, naïve!",
            "C++ and c# (not C)",
            "snake_case x_y_ 1.2.3",
            "ÄPFEL ẞ İstanbul",
            "a  b\nc",
            "-- é́ --force",
            "",
        ];
        let keywords = [
            "api",
            "docs",
            "api-docs",
            "doc",
            "the api",
            "c",
            "c++",
            "+",
            "++ a",
            "snake",
            "snake_case",
            "_",
            "1.2",
            "2.3",
            "äpfel",
            "ß",
            "istanbul",
            "b",
            "b c",
            "--",
            "--force",
            "-force",
            "rce",
            "naïve",
            "",
            " ",
        ];
        for text in texts {
            let message = Message::new(text);
            for keyword in keywords {
                let found = has_word(&text.to_lowercase(), &keyword.to_lowercase());
                assert_eq!(message.has(keyword, |_| true), Some(found), "{keyword:?} in {text:?}");
            }
        }
    }
}
