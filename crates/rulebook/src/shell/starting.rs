//! A command and what it starts in turn: its texts for a shell, its words as a command, and doubts.

use super::command::{Command, Redirect, Word, joined, plain_name};
use super::options::GivenOptions;
use super::programs::SHELLS;
use super::reader::{Ends, Reader};
use super::script::{DoubtKind, MAX_FED, Script};
use super::starters::Starter;
use super::suspect::is_inert;

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

    /// Reads a text that a shell runs. Its commands read what the command reads.
    pub(super) fn text(&mut self, text: &Word) {
        let first = self.started.len();
        self.read_text(text);
        let inputs: Vec<Redirect> =
            self.command.redirects.iter().filter(|one| one.is_input()).cloned().collect();
        let size: usize = inputs.iter().map(Redirect::len).sum();
        for at in first..self.started.len() {
            let one = &self.started[at];
            let is_fed = one.is_piped || one.redirects.iter().any(Redirect::is_input);
            if is_fed || one.name().is_some_and(|name| is_inert(&name)) {
                continue;
            }
            self.script.fed += size;
            if self.script.fed > MAX_FED {
                return self.doubt(DoubtKind::Limit);
            }
            let one = &mut self.started[at];
            one.is_piped = self.command.is_piped;
            one.redirects.extend(inputs.iter().cloned());
        }
    }

    /// Reads a text that a shell reads from its input.
    pub(super) fn read_text(&mut self, text: &Word) {
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
            // Who starts it has its redirections. What may run its input has that too.
            let name = words[0].as_known().map(plain_name).unwrap_or_default();
            let reads = SHELLS.contains(&&*name) || !is_inert(&name);
            let inputs =
                self.command.redirects.iter().filter(|one| reads && !matches!(one, Redirect::Write { .. }));
            let redirects = inputs.cloned().collect();
            let started = Command { words, redirects, folder, ..self.command.clone() };
            self.started.push(started);
        }
    }
}

/// Where a starter begins its command, and the options before it.
#[derive(Default)]
pub(super) struct Start {
    pub(super) at: usize,
    pub(super) given: GivenOptions,
}

impl Starter {
    /// Where the command that it starts begins among its words.
    pub(super) fn start(&self, rest: &[Word]) -> Option<Start> {
        let mut given = GivenOptions::default();
        let mut skip = |from: usize| {
            let mut at = from;
            // `env -` is `env -i`.
            loop {
                at += self.options.read(rest.get(at..)?, &mut given);
                match rest.get(at) {
                    Some(word) if word.text == "-" => at += 1,
                    _ => return Some(at),
                }
            }
        };
        let leads = self.leads && rest.first().is_some_and(|word| !word.text.starts_with('-'));
        let mut at = skip(usize::from(leads))?;
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
            let tools = rest[at..].iter().position(|word| word.text == "--").filter(|_| self.dashes);
            at = skip(at + tools.unwrap_or(0))?;
        }
        at += self.own;
        let is_setting = |word: &Word| word.text.contains('=');
        while matches!(self.name, "env" | "sudo" | "doas") && rest.get(at).is_some_and(is_setting) {
            at += 1;
        }
        (at < rest.len()).then_some(Start { at, given })
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
