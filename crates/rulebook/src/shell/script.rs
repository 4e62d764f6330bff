//! What a line runs: its commands, their order, and what is not known.

use super::command::Command;
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
        /// A variable that names a program, such as `GIT_EDITOR`.
        Setting = "it sets a variable that names a program to run",
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
/// How deeply substitutions, subshells and texts for other shells may be nested.
pub(super) const MAX_DEPTH: usize = 24;

impl Script {
    /// Whether one command of the line has succeeded whenever another one runs: `A && B`, and not `A; B`.
    pub fn precedes(&self, first: usize, then: usize) -> bool {
        let wanted = self.commands[first].chain;
        let chains = std::iter::successors(Some(self.commands[then].chain), |chain| self.chains[*chain]);
        first < then && chains.into_iter().any(|chain| chain == wanted)
    }

    pub(super) fn doubt(&mut self, why: DoubtKind, command: String) {
        self.doubts.push(Doubt { why, command });
    }

    pub(super) fn new_chain(&mut self, parent: Option<usize>) -> usize {
        self.chains.push(parent);
        self.chains.len() - 1
    }
}
