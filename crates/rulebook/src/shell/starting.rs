//! A command and what it starts in turn: its texts for a shell, its words as a command, and doubts.

use super::command::{Command, Redirect, Word, plain_name};
use super::programs::{SHELLS, STARTERS};
use super::reader::{Ends, Reader};
use super::script::{DoubtKind, Script};

pub(super) struct Starting<'s> {
    pub(super) script: &'s mut Script,
    pub(super) command: &'s Command,
    /// The command before it in the pipeline.
    pub(super) writer: Option<&'s Command>,
    pub(super) started: &'s mut Vec<Command>,
}

impl Starting<'_> {
    pub(super) fn doubt(&mut self, why: DoubtKind) {
        self.script.doubt(why, self.command.line().text);
    }

    /// Reads a text that a shell runs.
    pub(super) fn text(&mut self, text: &Word) {
        if !text.holes.is_empty() {
            self.doubt(DoubtKind::Input);
        }
        let chain = self.script.new_chain(Some(self.command.chain));
        let mut inner = Script { chains: std::mem::take(&mut self.script.chains), ..Script::default() };
        let mut pipeline = self.command.pipeline;
        let folder = self.command.folder.clone();
        Reader::new(&text.text, &mut inner, chain, folder, 0, &mut pipeline).list(Ends::Text);
        inner.feed_groups();
        // A shell succeeds if the one chain that it runs does.
        let is_shell = self.command.name().is_some_and(|name| name == "eval" || SHELLS.contains(&&*name));
        if is_shell && inner.commands.iter().all(|command| command.chain == chain) {
            inner.commands.iter_mut().for_each(|command| command.chain = self.command.chain);
        }
        self.script.chains = std::mem::take(&mut inner.chains);
        self.script.doubts.append(&mut inner.doubts);
        self.started.append(&mut inner.commands);
    }

    /// Starts a command given as words.
    pub(super) fn words(&mut self, words: Vec<Word>) {
        self.words_in(words, self.command.folder.clone());
    }

    /// The same, in a folder.
    pub(super) fn words_in(&mut self, words: Vec<Word>, folder: Option<String>) {
        if !words.is_empty() {
            // Who starts it has its redirections. A shell reads its input.
            let name = words[0].as_known().map(plain_name).unwrap_or_default();
            let reads = SHELLS.contains(&&*name) || STARTERS.iter().any(|starter| starter.name == name);
            let inputs =
                self.command.redirects.iter().filter(|one| reads && !matches!(one, Redirect::Write { .. }));
            let redirects = inputs.cloned().collect();
            let started = Command { words, redirects, folder, ..self.command.clone() };
            self.started.push(started);
        }
    }
}

/// The text that follows one of these options, with the words after it. It may be joined to the option: `--run=ls`, `-c'ls -a'`.
pub(super) fn text_after(options: &[&str], rest: &[Word]) -> Option<Word> {
    let is_letter = |one: &&str| one.len() == 2 && one.starts_with('-');
    rest.iter().enumerate().find_map(|(at, word)| {
        let text = word.text.as_str();
        let ends = |one: &&str| is_letter(one) && text.ends_with(&one[1..]);
        let is_joined = text.starts_with('-') && !text.starts_with("--");
        if options.contains(&text) || is_joined && options.iter().any(ends) {
            return Some(joined(&rest[at + 1..]));
        }
        let value = |one: &&str| {
            let value = text.strip_prefix(one)?;
            let is_value = |value: &&str| is_letter(one) && value.contains(char::is_whitespace);
            value.strip_prefix('=').or_else(|| Some(value).filter(is_value))
        };
        let start = text.len() - options.iter().find_map(value)?.len();
        let first = word.tail(start);
        Some(joined(std::iter::once(&first).chain(&rest[at + 1..])))
    })
}

/// How many words of a program are its options.
pub(super) fn skip_options(rest: &[Word], valued: &str, long: &[&str]) -> usize {
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            return at + 1;
        }
        if text == "-" || !text.starts_with('-') {
            return at;
        }
        let takes_next = long.contains(&text)
            || !text.starts_with("--") && text.chars().last().is_some_and(|c| valued.contains(c));
        at += 1 + usize::from(takes_next);
    }
    at.min(rest.len())
}

pub(super) fn joined<'w>(words: impl IntoIterator<Item = &'w Word>) -> Word {
    words.into_iter().fold(Word::default(), |mut line, word| {
        line.push_word(word);
        line
    })
}
