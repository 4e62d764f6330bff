//! What a line runs: its commands, their order, and what is not known.

use std::ops::Range;

use super::command::{Command, Redirect};
use crate::words::words;

/// What a shell line runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Every simple command, in order. A command that starts another (`sudo`, `sh -c`) is followed by that one.
    pub commands: Vec<Command>,
    /// What else may run, and why that is not known.
    pub doubts: Vec<Doubt>,
    /// The chain that each chain is part of.
    pub(super) chains: Vec<Option<usize>>,
    /// The commands of each compound command with redirections, and the command that carries these.
    pub(super) groups: Vec<(Range<usize>, usize)>,
    /// How many bytes of input commands have been given by those that start them.
    pub(super) fed: usize,
    /// The chain that has succeeded if the line has.
    pub(super) last: Option<usize>,
}

/// A part of a line of which it is not known what it runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// Why.
    pub why: DoubtKind,
    /// The command, as far as it is known.
    pub command: String,
}

words! {
    /// Why it is not known what a line runs.
    DoubtKind {
        /// The name of a command contains a variable, a substitution or a wildcard.
        Name = "the name of the command is not known",
        /// A shell reads text that is not in the line.
        Input = "a shell runs text that is not in the line",
        /// A shell runs a file.
        File = "it runs a file as a script",
        /// A program in another language.
        Code = "it runs code of another language",
        /// An alias, in the shell or in git.
        Alias = "it defines an alias, or may use one",
        /// A file such as `.git/hooks/pre-commit` or `.bashrc`.
        Later = "it writes a file that runs later",
        /// Arithmetic and `${x@P}` run the substitutions in a value.
        Evaluated = "it evaluates a text that contains a substitution",
        /// A variable that names a program, such as `GIT_EDITOR`.
        Setting = "it sets a variable that names a program to run",
        /// An option that names a program, such as `gcc -wrapper`.
        Option = "one of its options names a program to run",
        /// A character that nobody sees, in the name of a command.
        Hidden = "its name contains an invisible character",
        /// Quotes or brackets are not closed.
        Syntax = "it cannot be read as a shell command",
        /// The line is too long, or nested too deeply.
        Limit = "it is too long or too deeply nested",
    }
}

/// The longest line that is read, in bytes.
pub(super) const MAX_LINE: usize = 256 << 10;
/// The maximum number of commands of a line.
pub(super) const MAX_COMMANDS: usize = 2_000;
/// The most bytes that the redirections of compound commands are copied.
pub(super) const MAX_FED: usize = 4 << 20;
/// How deeply substitutions, subshells and texts for other shells may be nested.
pub(super) const MAX_DEPTH: usize = 24;

impl Script {
    /// Whether one command of the line has succeeded whenever another one runs: `A && B`, and not `A; B`.
    pub fn precedes(&self, first: usize, then: usize) -> bool {
        let wanted = self.commands[first].chain;
        let chains = std::iter::successors(Some(self.commands[then].chain), |chain| self.chains[*chain]);
        first < then && chains.into_iter().any(|chain| chain == wanted)
    }

    /// The command of which it is certain that it did not succeed, if the line did not.
    pub(crate) fn failed_with_line(&self) -> Option<usize> {
        let last = self.commands.len().checked_sub(1)?;
        let command = &self.commands[last];
        (Some(command.chain) == self.last && !command.is_delayed).then_some(last)
    }

    pub(super) fn doubt(&mut self, why: DoubtKind, command: String) {
        self.doubts.push(Doubt { why, command });
    }

    /// Gives the commands of each compound command its redirections.
    pub(super) fn feed_groups(&mut self) {
        let mut work = 0;
        for (commands, carrier) in std::mem::take(&mut self.groups) {
            let redirects = self.commands[carrier].redirects.clone();
            let size: usize = redirects.iter().map(Redirect::len).sum();
            work += commands.len() * (size + 64);
            if work > MAX_FED {
                return self.doubt(DoubtKind::Limit, String::new());
            }
            for command in &mut self.commands[commands] {
                let is_fed = command.is_piped || command.redirects.iter().any(Redirect::is_input);
                for redirect in &redirects {
                    match redirect {
                        Redirect::Write { file, is_output: true, is_append } => {
                            command.group_output.get_or_insert_with(|| (file.clone(), *is_append));
                        }
                        Redirect::Write { .. } => {}
                        _ if is_fed => {}
                        Redirect::Read(_) => command.is_piped = true,
                        input => command.redirects.push(input.clone()),
                    }
                }
            }
        }
    }

    pub(super) fn new_chain(&mut self, parent: Option<usize>) -> usize {
        self.chains.push(parent);
        self.chains.len() - 1
    }
}
