//! What reading a header returns.

use std::ops::Range;

use super::value::Field;
use crate::diagnostic::{Code, Fix};

/// How a header was read. Later tiers are more lenient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// YAML 1.2 as written.
    Yaml,
    /// YAML after quoting all values that need quotes.
    Quoted,
    /// As `Quoted`, after separating a fence from text on the same line.
    Fenced,
    /// Line by line as `key: value`.
    Lines,
    /// As written, or else line by line with every value as text.
    Texts,
    /// As the program of an agent reads it, and in no other way.
    Native(Program),
}

impl Tier {
    /// Whether the reader accepts any valid YAML, and nothing that only Rulebook repairs.
    pub(crate) fn reads_yaml(self) -> bool {
        matches!(self, Tier::Yaml | Tier::Native(Program::ClaudeCode | Program::CopilotCli))
    }
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Header {
    /// The file has no header.
    Absent,
    /// The header was read.
    Read {
        /// In the order of the file; the first of each key.
        fields: Vec<Field>,
        /// The tier that succeeded.
        tier: Tier,
    },
    /// No permitted tier can read the header.
    Broken,
}

/// A file, split into header and body.
#[derive(Clone, Debug)]
pub struct Reading<'t> {
    /// The header.
    pub header: Header,
    /// The text after the header, untrimmed; the whole text if the header is absent or broken.
    pub body: &'t str,
    /// The byte offset of the body.
    pub body_start: usize,
    /// The problems of the header.
    pub problems: Vec<Problem>,
}

/// A problem of a header, which becomes a diagnostic of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The code of the diagnostic.
    pub code: Code,
    /// The byte range in the file.
    pub span: Range<usize>,
    /// The message.
    pub message: String,
    /// The replacement, if there is an obvious one.
    pub fix: Option<Fix>,
}

impl Problem {
    pub(super) fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem { code, span, message: message.into(), fix: None }
    }

    pub(super) fn fix(self, span: Range<usize>, replacement: impl Into<String>) -> Problem {
        Problem { fix: Some(Fix::new(span, replacement)), ..self }
    }
}

/// A program that reads headers in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// YAML, or else YAML after quoting the values that have special characters.
    ClaudeCode,
    /// YAML, or else the first line of each key.
    CopilotCli,
    /// Lines and lists with an indentation of two spaces. Only double quotes are quotes, and lists in brackets are text.
    QwenCode,
}
