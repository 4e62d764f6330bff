//! Splits a shell command, as its text arrives, into the command itself and the texts that it writes to files.
//!
//! A here-document that is redirected to a file belongs to that file, and a patch (`apply_patch`, `git apply`) to the files
//! that it changes. Everything else is passed on unchanged.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::patch::{Part, Patch};
use crate::shell::{self, Target};

/// The maximum length of a command that is read for texts that it passes to other shells.
const MAX_COMMAND: usize = 64 << 10;

/// The maximum length of a line that is read for here-documents.
const MAX_LINE: usize = 64 << 10;

/// The line that starts a patch, and the one that ends it.
const BEGIN_PATCH: &str = "*** Begin Patch";
const END_PATCH: &str = "*** End Patch";

/// A shell command. Its current line is kept, and the start of a command that may pass a text to another shell.
#[derive(Debug, Default)]
pub(super) struct Shell {
    state: State,
    /// The current line.
    line: String,
    /// The here-documents that follow the current one.
    next: VecDeque<Document>,
    /// The whole command, as long as it is short.
    whole: Short,
}

/// A text up to a length; nothing if it is longer.
#[derive(Debug)]
struct Short(Option<String>);

impl Default for Short {
    fn default() -> Short {
        Short(Some(String::new()))
    }
}

impl Short {
    fn push_str(&mut self, text: &str) {
        self.0 =
            self.0.take().filter(|known| known.len() + text.len() <= MAX_COMMAND).map(|known| known + text);
    }

    fn text(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Command,
    /// A patch outside of a here-document, such as a quoted argument.
    Patch(Patch),
    /// The text of a here-document, which may be a patch. Its current line is held until it cannot end the document.
    Document { document: Document, body: Patch, is_held: bool },
}

/// A here-document, and the file that it is written to, if its line names one.
#[derive(Debug)]
struct Document {
    end: shell::Document,
    file: Option<Target>,
}

impl Shell {
    /// Reads more text.
    pub(super) fn feed(&mut self, text: &str, out: &mut impl FnMut(Part<'_>)) {
        self.whole.push_str(text);
        for part in text.split_inclusive('\n') {
            match &mut self.state {
                State::Command => {
                    out(Part::Plain(part));
                    self.keep(part);
                    if part.ends_with('\n') {
                        self.end_command_line(out);
                    }
                }
                State::Patch(patch) => {
                    patch.feed(part, out);
                    self.keep(part);
                    if part.ends_with('\n') {
                        if self.line.starts_with(END_PATCH) {
                            self.end_patch(out);
                        }
                        self.line.clear();
                    }
                }
                State::Document { .. } => self.read_document(part, out),
            }
        }
    }

    /// Ends the text.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(Part<'_>)) {
        match &mut self.state {
            State::Command => {}
            State::Patch(_) => self.end_patch(out),
            State::Document { document, body, is_held } => {
                if *is_held && !document.end.is_end(&self.line) {
                    body.feed(&self.line, &mut document.sink(out));
                }
                body.finish(&mut document.sink(out));
                self.state = State::Command;
            }
        }
        self.line.clear();
        self.read_inner(out);
    }

    /// Reads the here-documents of other shells that the command starts, which are known once all of it is.
    fn read_inner(&self, out: &mut impl FnMut(Part<'_>)) {
        let whole = self.whole.text().filter(|whole| whole.contains("<<"));
        for (text, target) in whole.map(shell::inner_documents).unwrap_or_default() {
            out(Part::of(&target));
            out(Part::Added(&text));
        }
    }

    fn keep(&mut self, part: &str) {
        let room = MAX_LINE.saturating_sub(self.line.len());
        self.line.push_str(&part[..part.floor_char_boundary(room)]);
    }

    fn end_command_line(&mut self, out: &mut impl FnMut(Part<'_>)) {
        let line = std::mem::take(&mut self.line);
        if line.trim_end().ends_with(BEGIN_PATCH) {
            let mut patch = Patch::default();
            patch.feed("*** Begin Patch\n", out);
            self.state = State::Patch(patch);
        } else {
            let announced = if line.contains("<<") { shell::documents(&line) } else { Vec::new() };
            self.next.extend(announced.into_iter().map(|(end, file)| Document { end, file }));
            self.open_document(out);
        }
    }

    fn end_patch(&mut self, out: &mut impl FnMut(Part<'_>)) {
        if let State::Patch(mut patch) = std::mem::take(&mut self.state) {
            patch.finish(out);
        }
    }

    /// Starts the next here-document, or continues with the command.
    fn open_document(&mut self, out: &mut impl FnMut(Part<'_>)) {
        self.state = match self.next.pop_front() {
            None => State::Command,
            Some(document) => {
                if let Some(target) = &document.file {
                    out(Part::of(target));
                }
                State::Document { document, body: Patch::default(), is_held: true }
            }
        };
    }

    fn read_document(&mut self, part: &str, out: &mut impl FnMut(Part<'_>)) {
        let State::Document { document, body, is_held } = &mut self.state else { return };
        let is_whole = part.ends_with('\n');
        if *is_held {
            self.line.push_str(part);
            if is_whole && document.end.is_end(&self.line) {
                body.finish(&mut document.sink(out));
                self.line.clear();
                return self.open_document(out);
            }
            if is_whole || !document.end.may_end(&self.line) {
                body.feed(&self.line, &mut document.sink(out));
                self.line.clear();
                *is_held = false;
            }
        } else {
            body.feed(part, &mut document.sink(out));
        }
        *is_held |= is_whole;
    }
}

impl<'t> Part<'t> {
    fn of(target: &'t Target) -> Part<'t> {
        match target {
            Target::File(file) => Part::File(file),
            Target::Unknown(file) => Part::UnknownFile(file),
        }
    }
}

impl Document {
    /// Passes parts of the document on: text that is not part of a patch belongs to the document's file.
    fn sink<'s>(&'s self, out: &'s mut impl FnMut(Part<'_>)) -> impl FnMut(Part<'_>) + 's {
        move |part| match part {
            Part::Plain(text) if self.file.is_some() => out(Part::Added(text)),
            part => out(part),
        }
    }
}
