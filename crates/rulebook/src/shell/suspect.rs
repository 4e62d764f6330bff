//! Commands in the words of a program that may run them: which programs do is not known.

use std::cell::RefCell;

use super::command::{Command, Redirect, Word, plain_name};
use super::effects::{Effect, Given, Note, Program, given};
use super::programs::ENTRY_POINTS;
use super::script::Script;
use super::starters::STARTERS;

/// How many words are tried as the name of a command, and the longest text that is searched.
const MAX_STARTS: usize = 64;
const MAX_TEXT: usize = 16 << 10;

/// Whether a program runs none of its words.
pub(super) fn is_inert(name: &str) -> bool {
    Program::of(name).is_some_and(|program| !program.is(Note::Runs))
}

/// Whether a program may write files that it names.
fn writes_files(name: &str) -> bool {
    let name = plain_name(name);
    name == "git"
        || STARTERS.iter().any(|starter| starter.name == name)
        || Program::of(&name)
            .is_some_and(|program| program.effect != Effect::Reads || !program.outputs.is_empty())
}

/// Whether the command among the words of a program is a command of the line too.
fn has_started(name: &str, rest: &[Word]) -> bool {
    let starter = STARTERS.iter().find(|starter| starter.name == name);
    starter.and_then(|starter| starter.start(rest)).is_some_and(|start| !start.given.is_ambiguous)
}

impl Command {
    /// Finds the commands that it may run and that write files, read with the given function.
    pub(super) fn suspect(&mut self, read: fn(&str) -> Script) {
        let found = RefCell::new(Vec::new());
        self.may_run(&|text| {
            let is_writer = text.contains('>') || text.split_whitespace().next().is_some_and(writes_files);
            if is_writer && found.borrow().len() < MAX_STARTS {
                found.borrow_mut().extend(read(text).commands);
            }
            false
        });
        self.suspected = found.into_inner();
    }

    /// Whether its words or its input contain a command, which it may run.
    pub(crate) fn may_run(&self, is_match: &dyn Fn(&str) -> bool) -> bool {
        let name = self.name();
        let name = name.as_deref().unwrap_or_default();
        let rest = self.words.get(1..).unwrap_or_default();
        let is_empty = self.words.is_empty() || rest.is_empty() && self.redirects.is_empty();
        if is_empty || is_inert(name) {
            return false;
        }
        let rest = if has_started(name, rest) { &[] } else { rest };
        let texts: Vec<&str> = rest.iter().map(|word: &Word| word.text.as_str()).collect();
        if contains(&texts, is_match) || enters(&texts, is_match) {
            return true;
        }
        let read = self.redirects.iter().filter_map(Redirect::text).map(|word| word.text.as_str());
        let long = texts.into_iter().filter(|text| text.contains(char::is_whitespace));
        long.chain(read).any(|text| {
            let text = &text[..text.floor_char_boundary(MAX_TEXT)];
            text.split(['\n', ';', '|', '&'])
                .any(|line| contains(&line.split_whitespace().collect::<Vec<_>>(), is_match))
        })
    }
}

/// Whether a command consists of the program of an option and the last words.
fn enters(words: &[&str], is_match: &dyn Fn(&str) -> bool) -> bool {
    let program = words.iter().enumerate().find_map(|(at, word)| match given(word, ENTRY_POINTS, "")? {
        Given::Alone => words.get(at + 1).copied(),
        Given::Joined(start) => Some(&word[start..]),
    });
    program.is_some_and(|program| {
        let program = plain_name(program);
        (0..words.len().min(MAX_STARTS))
            .any(|at| is_match(&format!("{program} {}", words[at + 1..].join(" "))))
    })
}

/// Whether a command starts at one of the words.
fn contains(words: &[&str], is_match: &dyn Fn(&str) -> bool) -> bool {
    (0..words.len().min(MAX_STARTS)).any(|at| {
        // What a program puts around a command: `exec=git`, `EXEC:git`, `!git`, `nixpkgs#git`, a quote, a version.
        let first = words[at].rsplit(['=', ':', '!', '#', '(', '"', '\'', '`']).find(|part| !part.is_empty());
        let rest = || words[at + 1..].iter().map(|word| word.trim_end_matches(['"', '\'', ')', '`']));
        let rest = rest().filter(|word| *word != "--").collect::<Vec<_>>().join(" ");
        first.is_some_and(|first| {
            let plain = first.rsplit('/').next().unwrap_or(first);
            let plain = plain.split('@').next().filter(|name| !name.is_empty()).unwrap_or(plain);
            [first, plain]
                .iter()
                .any(|name| is_match(&format!("{name} {rest}")) || rest.is_empty() && is_match(name))
        })
    })
}
