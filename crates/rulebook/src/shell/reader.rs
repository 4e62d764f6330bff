//! The reader of a shell text: where it is, and what it has found.

use super::command::Word;
use super::script::{DoubtKind, MAX_DEPTH, MAX_LINE, Script};

/// Where a list ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Text,
    Bracket,
    Brace,
}

/// A variable that has a value because of the text.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) values: Vec<Word>,
    /// How many commands are before it.
    pub(super) at: usize,
}

/// Reads a text.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) script: &'t mut Script,
    pub(super) chain: usize,
    pub(super) folder: Option<String>,
    pub(super) depth: usize,
    pub(super) pipeline: &'t mut usize,
    /// Here-documents whose bodies follow the current line: the command and the redirection of each.
    pub(super) pending: Vec<(usize, usize)>,
    /// The variables that have a value here because of the text.
    pub(super) variables: Vec<Variable>,
}

impl<'t> Reader<'t> {
    pub(super) fn new(
        text: &'t str,
        script: &'t mut Script,
        chain: usize,
        folder: Option<String>,
        depth: usize,
        pipeline: &'t mut usize,
    ) -> Reader<'t> {
        let end = text.floor_char_boundary(MAX_LINE);
        if end < text.len() || depth > MAX_DEPTH {
            script.doubt(DoubtKind::Limit, String::new());
        }
        let text = if depth > MAX_DEPTH { "" } else { &text[..end] };
        let (pending, variables) = (Vec::new(), Vec::new());
        Reader { text, at: 0, script, chain, folder, depth, pipeline, pending, variables }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn doubt(&mut self, why: DoubtKind) {
        self.script.doubt(why, String::new());
    }
}

/// Blanks between words. A shell takes only the ASCII ones; a line with others does not do more than this reading says.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\n'
}

/// Characters that end a word.
pub(super) fn is_meta(c: char) -> bool {
    c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '<' | '>')
}
