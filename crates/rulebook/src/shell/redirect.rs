//! Redirections, here-documents, and the folder that `cd` leads to.

use super::command::{Command, Document, Redirect, Word};
use super::reader::{Reader, is_blank};

impl Reader<'_> {
    pub(super) fn redirect(
        &mut self,
        operator: &str,
        is_output: bool,
        command: &mut Command,
        documents: &mut Vec<usize>,
    ) {
        self.at += operator.len();
        while matches!(self.peek(), Some(c) if is_blank(c)) || self.skip_continuation() {
            self.at += self.peek().filter(|c| is_blank(*c)).map_or(0, char::len_utf8);
        }
        let (words, is_quoted) = self.words();
        let word = words.into_iter().flat_map(Word::resolved).next().unwrap_or_default();
        let is_descriptor =
            !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        command.redirects.push(match operator {
            "<<" | "<<-" => {
                documents.push(command.redirects.len());
                let (end, is_indented) = (word.text, operator == "<<-");
                Redirect::Document(Document { end, is_indented, is_quoted, body: None })
            }
            "<<<" => Redirect::Text(word),
            "<" | "<&" => Redirect::Read(word),
            ">&" if is_descriptor => return,
            _ => Redirect::Write { file: word, is_output, is_append: operator.ends_with(">>") },
        });
    }

    /// Reads the bodies of the here-documents that the line announced.
    pub(super) fn read_documents(&mut self) {
        for (command, redirect) in std::mem::take(&mut self.pending) {
            let Redirect::Document(document) = &mut self.script.commands[command].redirects[redirect] else {
                continue;
            };
            if self.at >= self.text.len() {
                continue;
            }
            let start = self.at;
            let mut end = self.text.len();
            while self.at < self.text.len() {
                let rest = &self.text[self.at..];
                let line = rest.split_inclusive('\n').next().unwrap_or(rest);
                if document.is_end(line) {
                    end = self.at;
                    self.at += line.len();
                    break;
                }
                self.at += line.len();
            }
            let body = &self.text[start..end];
            let is_quoted = document.is_quoted;
            let body = if is_quoted { Word::known(body) } else { self.document(body) };
            if let Redirect::Document(document) = &mut self.script.commands[command].redirects[redirect] {
                document.body = Some(body);
            }
        }
    }

    /// Follows a `cd`: later commands run in another folder.
    pub(super) fn follow_folder(&mut self, command: &Command) {
        let Some(name) = command.name() else { return };
        if !matches!(&*name, "cd" | "pushd" | "popd" | "chdir") {
            return;
        }
        let to = command.words[1..].iter().find(|word| !word.text.starts_with('-'));
        let to = to.and_then(Word::as_known).filter(|to| !to.starts_with('~'));
        self.folder = joined_folder(self.folder.as_deref(), to);
    }
}

/// The folder to which a path leads from another one; `None` if it is not known.
pub(super) fn joined_folder(folder: Option<&str>, to: Option<&str>) -> Option<String> {
    match (folder, to) {
        (_, Some(to)) if to.starts_with('/') => Some(to.to_owned()),
        (Some(""), Some(to)) => Some(to.to_owned()),
        (Some(folder), Some(to)) => Some(format!("{folder}/{to}")),
        _ => None,
    }
}

impl Document {
    /// Whether a line ends the document.
    pub(crate) fn is_end(&self, line: &str) -> bool {
        self.content(line).trim_end_matches(['\n', '\r']) == self.end
    }

    /// Whether a line that is not complete may end the document.
    pub(crate) fn may_end(&self, line: &str) -> bool {
        self.end.starts_with(self.content(line).trim_end_matches('\r'))
    }

    fn content<'l>(&self, line: &'l str) -> &'l str {
        if self.is_indented { line.trim_start_matches('\t') } else { line }
    }
}
