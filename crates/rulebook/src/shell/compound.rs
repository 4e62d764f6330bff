//! Parts of compound commands that are no commands: patterns, tests, the words of loops, and the elements of arrays.

use super::command::Word;
use super::reader::{Reader, is_meta};
use super::script::DoubtKind;

impl Reader<'_> {
    /// Marks commands that may run after what follows them.
    pub(super) fn delay(&mut self, start: usize, is_delayed: bool) {
        self.script.commands[start..].iter_mut().for_each(|command| command.is_delayed |= is_delayed);
    }

    /// Skips `WORD in` of a `case`.
    pub(super) fn skip_to_in(&mut self) {
        for _ in 0..4 {
            self.skip_blanks();
            let (words, _) = self.words();
            if words.first().is_none_or(|word| word.text == "in") {
                return;
            }
        }
    }

    /// Skips a pattern of a `case` up to its `)`, unless the `case` ends.
    pub(super) fn skip_pattern(&mut self, cases: &mut usize) {
        if *cases == 0 {
            return;
        }
        while let Some(c) = self.peek() {
            self.skip_blanks();
            if self.rest().starts_with("esac") {
                return;
            }
            match self.peek() {
                Some(')') => {
                    self.at += 1;
                    return;
                }
                Some('|' | '(' | '\n' | ';' | '&' | '<' | '>') => self.at += 1,
                Some(_) => drop(self.words()),
                None => self.at += c.len_utf8().min(self.rest().len()),
            }
        }
    }

    /// Skips a test up to its `]]`.
    pub(super) fn skip_test(&mut self) {
        while self.peek().is_some() {
            self.skip_blanks();
            if self.rest().starts_with("]]") {
                self.at += 2;
                return;
            }
            let start = self.at;
            let (words, _) = self.words();
            self.evaluated(&words);
            self.at += if self.at == start { self.peek().map_or(0, char::len_utf8) } else { 0 };
        }
    }

    /// Skips `NAME in WORDS` or the arithmetic of a `for`, up to its body.
    pub(super) fn skip_for(&mut self) {
        self.skip_blanks();
        if self.rest().starts_with('(') {
            self.at += 1;
            self.arithmetic();
            return;
        }
        let (name, _) = self.words();
        self.skip_lines();
        if self.keyword_at("in") {
            self.at += "in".len();
            let mut values = Vec::new();
            self.skip_blanks();
            while !matches!(self.peek(), None | Some('\n' | ';' | ')' | '(' | '|' | '&' | '<' | '>')) {
                values.extend(self.words().0);
                self.skip_blanks();
            }
            name.first().into_iter().for_each(|name| self.set(&name.text, std::mem::take(&mut values)));
        }
    }

    fn keyword_at(&self, word: &str) -> bool {
        self.rest().strip_prefix(word).is_some_and(|after| after.is_empty() || after.starts_with(is_meta))
    }

    /// Doubts what arithmetic runs: a test or an assignment evaluates the subscripts in its words.
    pub(super) fn evaluated(&mut self, words: &[Word]) {
        if words.iter().any(Word::has_subscript) {
            self.doubt(DoubtKind::Evaluated);
        }
    }

    /// Skips the elements of an array after its `(`.
    pub(super) fn array(&mut self, name: &str) {
        loop {
            self.skip_lines();
            match self.peek() {
                None => return self.doubt(DoubtKind::Syntax),
                Some(')') => {
                    self.at += 1;
                    return;
                }
                Some(_) => {}
            }
            let start = self.at;
            let (words, _) = self.words();
            self.evaluated(&words);
            for word in &words {
                let mut element = Word::known(name);
                element.append(word);
                self.assigned(&element);
            }
            self.at += if self.at == start { self.peek().map_or(0, char::len_utf8) } else { 0 };
        }
    }
}
