//! The options before the other words of a program: which take a value, and where it is.

use super::command::Word;

/// The options that a program knows. Those that are in no list may take a value or not.
#[derive(Clone, Copy)]
pub(super) struct Options {
    /// Letters that take a value: the rest of their word or, without one, the next word.
    pub(super) valued: &'static str,
    /// Letters that take only the rest of their word.
    pub(super) attached: &'static str,
    /// Letters without a value.
    pub(super) flags: &'static str,
    /// Long options that take a value as the next word.
    pub(super) long: &'static [&'static str],
}

/// Options as a line gives them.
#[derive(Default)]
pub(super) struct GivenOptions {
    /// The names, such as `-u` and `--user`, each with its value.
    values: Vec<(String, Option<Word>)>,
    /// Whether one of them may take the next word as its value, or may not.
    pub(super) is_ambiguous: bool,
}

impl GivenOptions {
    /// The value of the first option with one of these names; `None` inside if it has none.
    pub(super) fn value(&self, names: &[&str]) -> Option<Option<&Word>> {
        let (_, value) = self.values.iter().find(|(name, _)| names.contains(&name.as_str()))?;
        Some(value.as_ref())
    }
}

impl Options {
    pub(super) const fn new(valued: &'static str) -> Options {
        Options { valued, attached: "", flags: "", long: &[] }
    }

    /// How many words are options and their values.
    pub(super) fn skip(&self, words: &[Word]) -> usize {
        self.read(words, &mut GivenOptions::default())
    }

    /// The same, with what they are.
    pub(super) fn read(&self, words: &[Word], given: &mut GivenOptions) -> usize {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if text == "--" {
                return at + 1;
            }
            if text == "-" || !text.starts_with('-') {
                return at;
            }
            at += 1;
            let takes_next =
                if text.starts_with("--") { self.long(word, given) } else { self.short(word, given) };
            if let Some(name) = takes_next {
                given.values.push((name, words.get(at).cloned()));
                at += 1;
            }
        }
        at.min(words.len())
    }

    /// A long option. Returns its name if the next word is its value.
    fn long(&self, word: &Word, given: &mut GivenOptions) -> Option<String> {
        if let Some(start) = word.text.find('=') {
            given.values.push((word.text[..start].to_owned(), Some(word.tail(start + 1))));
            return None;
        }
        if self.long.contains(&word.text.as_str()) {
            return Some(word.text.clone());
        }
        given.is_ambiguous = true;
        given.values.push((word.text.clone(), None));
        None
    }

    /// Letters that follow each other in one word, up to the first that takes a value.
    fn short(&self, word: &Word, given: &mut GivenOptions) -> Option<String> {
        for (at, letter) in word.text.char_indices().skip(1) {
            let name = format!("-{letter}");
            let end = at + letter.len_utf8();
            let has_more = end < word.text.len();
            let takes_next = self.valued.contains(letter);
            if has_more && (takes_next || self.attached.contains(letter)) {
                given.values.push((name, Some(word.tail(end))));
                return None;
            }
            if takes_next {
                return Some(name);
            }
            given.is_ambiguous |= !self.flags.contains(letter) && !self.attached.contains(letter);
            given.values.push((name, None));
        }
        None
    }
}
