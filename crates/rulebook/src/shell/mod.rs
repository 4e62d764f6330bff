//! Shell commands: a line as the simple commands that it runs, with what cannot be known.
//!
//! There is one reader for evidence, `command` conditions, here-documents in streams, requirements and the guard. It unquotes
//! words, follows operators, substitutions and loops, and reads the texts that a line passes to another shell. It runs
//! nothing and expands no variable: what depends on one is a hole in a word, or a doubt about the whole line.

mod command;
mod expand;
mod files;
mod list;
mod pattern;
mod programs;
mod reader;
mod redirect;
mod script;
#[cfg(test)]
mod tests;
mod word;

pub use command::{Command, Document, Redirect, Word};
pub use files::{FileUse, Touched};
pub(crate) use pattern::{is_wildcard_match, may_match};
pub use script::{Doubt, DoubtKind, Script};

/// Reads a line, or several.
pub fn parse(text: &str) -> Script {
    let mut script = list::parse(text);
    expand::expand(&mut script);
    script.doubts.sort();
    script.doubts.dedup();
    script
}

/// The here-documents that one line of a command announces, in order, each with the file that its pipeline writes.
pub(crate) fn documents(line: &str) -> Vec<(Document, Option<String>)> {
    let script = list::parse(line);
    let mut documents = Vec::new();
    for commands in script.commands.chunk_by(|one, next| one.pipeline == next.pipeline) {
        let file = commands.iter().find_map(Command::output);
        let announced = commands.iter().flat_map(|command| &command.redirects).filter_map(Redirect::document);
        documents.extend(announced.map(|document| (document.clone(), file.map(str::to_owned))));
    }
    documents
}
