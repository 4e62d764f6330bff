//! A command and what it starts in turn: its texts for a shell, its words as a command, and doubts.

use super::command::{Command, Redirect, Word, plain_name};
use super::programs::{SHELLS, STARTERS, Starter};
use super::reader::{Ends, Reader};
use super::script::{DoubtKind, Script};

pub(super) struct Starting<'s> {
    /// The whole text.
    pub(super) line: &'s str,
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
        inner.commands.iter_mut().for_each(|command| command.is_delayed |= self.command.is_delayed);
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

impl Starter {
    /// Where the command that it starts begins among its words.
    pub(super) fn command_at(&self, rest: &[Word]) -> Option<usize> {
        let skip = |at: usize| Some(at + skip_options(rest.get(at..)?, self.valued, self.long));
        let mut at = skip(0)?;
        if !self.after.is_empty() {
            let own = |at: usize| {
                let word = rest.get(at)?;
                self.via.iter().find(|(name, _)| *name == word.text).map(|(_, own)| *own)
            };
            while let Some(own) = own(at) {
                at = skip(at + 1 + own)?;
            }
            rest.get(at).filter(|word| self.after.contains(&&*word.text))?;
            at += 1;
            // `mise exec node@22 -- node`.
            let tools = rest[at..].iter().position(|word| word.text == "--").filter(|_| self.name == "mise");
            at = skip(at + tools.unwrap_or(0))?;
        }
        at += self.own;
        let is_setting = |word: &Word| word.text.contains('=');
        while matches!(self.name, "env" | "sudo" | "doas") && rest.get(at).is_some_and(is_setting) {
            at += 1;
        }
        (at < rest.len()).then_some(at)
    }

    /// Whether one of its own options may take a value that is then no command.
    pub(super) fn is_ambiguous(&self, own: &[Word]) -> bool {
        let is_unknown = |word: &Word| {
            let text = &*word.text;
            text.starts_with("--") && text.len() > 2 && !text.contains('=') && !self.long.contains(&text)
        };
        own.iter().any(is_unknown)
    }
}

/// The text that follows one of these options, with the words after it. It may be joined to the option, and to others before
/// it: `--run=ls`, `-c'ls -a'`, `-lc'ls -a'`.
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
            let is_text = |value: &&str| value.contains(char::is_whitespace);
            let whole = || text.strip_prefix(one)?.strip_prefix('=');
            let among = || {
                let (before, value) = text.strip_prefix('-')?.split_once(&one[1..])?;
                let are_flags = before.len() < 5 && before.bytes().all(|byte| byte.is_ascii_alphabetic());
                Some(value).filter(is_text).filter(|_| is_joined && is_letter(one) && are_flags)
            };
            whole().or_else(among)
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
