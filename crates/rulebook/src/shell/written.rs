//! The texts that a line writes to files, as far as the line contains them.

use std::borrow::Cow;

use super::command::{Command, Document, Redirect, Word};
use super::script::Script;
use super::touched::Touched;
use super::{list, parse};

/// A text that a line writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenText {
    /// The file, relative to where the line starts; `None` if the text goes elsewhere: it may be a patch, which names its files.
    pub(crate) file: Option<String>,
    pub(crate) text: String,
    /// Whether the file keeps what it has.
    pub(crate) is_append: bool,
    /// The folder in which the command runs, relative to where the line starts.
    pub(crate) folder: String,
}

/// The file that gets a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Relative to where the line starts.
    File(String),
    /// As written: its name depends on a variable or a substitution.
    Unknown(String),
}

/// The here-documents that one line of a command announces, in order, each with the file that its pipeline writes.
pub(crate) fn documents(line: &str) -> Vec<(Document, Option<Target>)> {
    documents_of(&list::parse(line))
}

/// The here-documents in the texts that a command passes to other shells, each with its text and its file.
pub(crate) fn inner_documents(command: &str) -> Vec<(String, Target)> {
    let mut own = documents_of(&list::parse(command));
    let is_inner = |found: &(Document, Option<Target>)| match own.iter().position(|own| own == found) {
        Some(at) => {
            own.swap_remove(at);
            false
        }
        None => true,
    };
    let all = documents_of(&parse(command)).into_iter().filter(is_inner);
    all.filter_map(|(document, target)| Some((document.body?.text, target?))).collect()
}

fn documents_of(script: &Script) -> Vec<(Document, Option<Target>)> {
    let mut documents = Vec::new();
    for commands in script.commands.chunk_by(|one, next| one.pipeline == next.pipeline) {
        let known = || commands.iter().find_map(output).map(|(file, _)| Target::File(file));
        let unknown = || Some(Target::Unknown(commands.iter().find_map(Command::unknown_output)?.text));
        let file = known().or_else(unknown);
        let announced = commands.iter().flat_map(|command| &command.redirects).filter_map(Redirect::document);
        documents.extend(announced.map(|document| (document.clone(), file.clone())));
    }
    documents
}

/// The texts that a line writes to files: here-documents, here-strings, what `echo` and `printf` print, and patches.
pub(crate) fn written_texts(line: &str) -> Vec<WrittenText> {
    let script = parse(line);
    let mut written = Vec::new();
    for commands in script.commands.chunk_by(|one, next| one.pipeline == next.pipeline) {
        let (file, is_append) = commands.iter().find_map(output).unzip();
        for command in commands {
            let redirected = command.redirects.iter().filter_map(|redirect| match redirect {
                Redirect::Document(document) => document.body.as_ref().map(|body| body.text.clone()),
                Redirect::Text(word) => Some(word.text.clone() + "\n"),
                Redirect::Write { .. } | Redirect::Read(_) => None,
            });
            // A patch may be an argument.
            let long =
                command.words.iter().map(|word| &word.text).filter(|text| text.contains('\n')).cloned();
            let long = long.map(|text| (None, text));
            let redirected = redirected.chain(printed(command)).map(|text| (file.clone(), text));
            for (file, text) in redirected.chain(long) {
                let folder = command.folder.clone().unwrap_or_default();
                written.push(WrittenText { file, text, is_append: is_append.unwrap_or(false), folder });
            }
        }
    }
    written
}

/// The file that gets a command's output, relative to where the line starts, and whether it keeps what it has.
fn output(command: &Command) -> Option<(String, bool)> {
    let (file, is_append) = command.output()?;
    let touched = command.touch(&file, Touched::Written).file;
    Some((touched.as_known().unwrap_or(&file.text).to_owned(), is_append))
}

/// What `echo` and `printf` print. A variable appears as written.
fn printed(command: &Command) -> Option<String> {
    let words = |from: usize| command.words.iter().skip(from).map(|word: &Word| word.text.as_str());
    let text = match &*command.name()? {
        "echo" => words(1)
            .skip_while(|word| matches!(*word, "-n" | "-e" | "-ne" | "-en"))
            .collect::<Vec<_>>()
            .join(" "),
        "printf" => {
            let format = words(1).next()?;
            let arguments = words(2).collect::<Vec<_>>().join("\n");
            if format.contains('%') && !arguments.is_empty() {
                format.replacen("%s", &arguments, 1)
            } else {
                format.to_owned()
            }
        }
        _ => return None,
    };
    Some(text.replace("\\n", "\n").replace("\\t", "\t") + "\n")
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./=:,@%+~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}
