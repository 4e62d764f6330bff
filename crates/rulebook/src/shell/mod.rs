//! Shell commands: a line as the simple commands that it runs, with what cannot be known.
//!
//! There is one reader for evidence, `command` conditions, here-documents in streams, requirements and the guard. It unquotes
//! words, follows operators, substitutions and loops, and reads the texts that a line passes to another shell. It runs
//! nothing and expands no variable: what depends on one is a hole in a word, or a doubt about the whole line.

mod braces;
mod command;
mod compound;
mod effects;
mod expand;
mod files;
mod found;
mod git;
mod interpreters;
mod list;
mod options;
mod parallel;
mod patched;
mod pattern;
mod programs;
mod reader;
mod redirect;
mod script;
mod starters;
mod starting;
mod suspect;
mod targets;
#[cfg(test)]
mod tests;
mod touched;
mod uses;
mod variable;
mod word;
mod written;

pub use command::{Command, Document, Redirect, Word};
pub use files::FileUse;
pub(crate) use patched::patched_files;
pub(crate) use pattern::{is_wildcard_match, may_match};
pub use script::{Doubt, DoubtKind, Script};
pub use touched::Touched;
pub use written::quoted;
pub(crate) use written::{Target, documents, inner_documents, written_texts};

/// Reads a line, or several.
pub fn parse(text: &str) -> Script {
    let mut script = read(text);
    script.commands.iter_mut().for_each(|command| command.suspect(read));
    script
}

/// The same, without what programs may run of their words.
fn read(text: &str) -> Script {
    let mut script = list::parse(text);
    expand::expand(&mut script, text);
    script.doubts.sort();
    script.doubts.dedup();
    script
}
