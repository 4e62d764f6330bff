//! The YAML tier: loads the events of a YAML parser into values with spans.

use std::ops::Range;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::header::Problem;
use super::value::{Field, Node, Value};
use crate::diagnostic::{Code, shown};

const MAX_DEPTH: usize = 16;

/// What to do with a tag that is not `!!str`.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tags {
    /// Refuse the header: the `!` is probably part of a pattern.
    Refused,
    /// Read the value without it, as Copilot CLI does.
    Ignored,
    /// Read the value without it if the tag starts like a word, as Claude Code does: `!src/**`, but not `!*.ts`.
    IgnoredWords,
}

/// Reads a range of a file as one YAML mapping. Scalars in the `masked` ranges are text regardless of their content.
pub(super) fn parse(
    text: &str,
    range: Range<usize>,
    masked: &[Range<usize>],
    problems: &mut Vec<Problem>,
) -> Result<Vec<Field>, Problem> {
    load(text, range, masked, Tags::Refused, problems)
}

/// As [`parse`], but ignores tags, as the programs of agents do. Returns whether keys are repeated, too.
pub(super) fn parse_natively(
    text: &str,
    range: Range<usize>,
    masked: &[Range<usize>],
    tags: Tags,
) -> Result<(Vec<Field>, bool), Problem> {
    let mut problems = Vec::new();
    let fields = load(text, range, masked, tags, &mut problems)?;
    Ok((fields, !problems.is_empty()))
}

fn load(
    text: &str,
    range: Range<usize>,
    masked: &[Range<usize>],
    tags: Tags,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Field>, Problem> {
    let base = range.start;
    let known = problems.len();
    let mut loader = Loader { base, masked, tags, open: Vec::new(), root: None, documents: 0, problems };
    for event in Parser::new_from_str(&text[range]) {
        let outcome = match event {
            Ok((event, span)) => loader.take(event, &span),
            Err(error) => {
                let at = base + byte(error.marker());
                let (code, message) = match error.kind() {
                    ErrorKind::RecursionLimitExceeded => (Code::HeaderTooDeep, too_deep()),
                    ErrorKind::UnknownAnchor => (Code::HeaderAnchor, ALIAS.to_owned()),
                    _ => (Code::BrokenHeader, error.info()),
                };
                Err(Problem::new(code, at..at + 1, message))
            }
        };
        if let Err(problem) = outcome {
            loader.problems.truncate(known);
            return Err(problem);
        }
    }
    match loader.root {
        None | Some(Node { value: Value::Null, .. }) => Ok(Vec::new()),
        Some(Node { value: Value::Map(fields), .. }) => Ok(fields),
        Some(Node { value, span }) => {
            let message = format!("the header must consist of `key: value` lines, found {}", value.kind());
            problems.truncate(known);
            Err(broken(span, message))
        }
    }
}

const ALIAS: &str = "the header has a YAML alias (`*…`)";

fn too_deep() -> String {
    format!("the header is nested more than {MAX_DEPTH} levels deep")
}

struct Loader<'a> {
    base: usize,
    masked: &'a [Range<usize>],
    tags: Tags,
    open: Vec<Collection>,
    root: Option<Node>,
    documents: usize,
    problems: &'a mut Vec<Problem>,
}

enum Collection {
    List { start: usize, items: Vec<Node>, is_flow: bool },
    Map { start: usize, fields: Vec<Field>, key: Option<(String, Range<usize>)> },
}

impl Loader<'_> {
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), Problem> {
        let span = self.base + byte(&span.start)..self.base + byte(&span.end);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(broken(span, "the header contains two YAML documents"));
                }
            }
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(_, anchor, _)
            | Event::MappingStart(_, anchor, _)
                if anchor != 0 =>
            {
                return Err(Problem::new(Code::HeaderAnchor, span, "the header has a YAML anchor (`&…`)"));
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                return Err(Problem::new(Code::HeaderAnchor, span, ALIAS));
            }
            Event::Scalar(_, _, _, Some(tag))
            | Event::SequenceStart(_, _, Some(tag))
            | Event::MappingStart(_, _, Some(tag))
                if !tag.is_yaml_core_schema_tag("str") && !self.ignores(&tag) =>
            {
                return Err(broken(span, "the value starts with `!`, which YAML reads as a tag"));
            }
            Event::Scalar(text, style, _, tag) => {
                // To Copilot CLI, a tag alone has no value, and is an empty text in brackets.
                let is_in_brackets = matches!(self.open.last(), Some(Collection::List { is_flow: true, .. }));
                let has_value = self.tags != Tags::Ignored || is_in_brackets || !text.is_empty();
                let is_tagged = tag.is_some() && has_value;
                let is_text = style != ScalarStyle::Plain || is_tagged || self.masked.contains(&span);
                return self.add(&text, is_text, span);
            }
            Event::SequenceStart(style, ..) => {
                let is_flow = style == StructureStyle::Flow;
                self.open(Collection::List { start: span.start, items: Vec::new(), is_flow }, span)?;
            }
            Event::MappingStart(..) => {
                self.open(Collection::Map { start: span.start, fields: Vec::new(), key: None }, span)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span.end)?,
            _ => {}
        }
        Ok(())
    }

    fn ignores(&self, tag: &Tag) -> bool {
        match self.tags {
            Tags::Refused => false,
            Tags::Ignored => true,
            Tags::IgnoredWords => {
                let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
                tag.handle() != "!" || tag.suffix().is_empty() || tag.suffix().starts_with(is_word)
            }
        }
    }

    fn open(&mut self, collection: Collection, span: Range<usize>) -> Result<(), Problem> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Problem::new(Code::HeaderTooDeep, span, too_deep()));
        }
        if let Some(Collection::Map { key: None, .. }) = self.open.last() {
            return Err(broken(span, "a key must be plain text"));
        }
        self.open.push(collection);
        Ok(())
    }

    fn close(&mut self, end: usize) -> Result<(), Problem> {
        let (value, start) = match self.open.pop().expect("the parser emits balanced events") {
            Collection::List { start, items, .. } => (Value::List(items), start),
            Collection::Map { start, fields, .. } => (Value::Map(fields), start),
        };
        self.insert(Node { value, span: start..end.max(start) });
        Ok(())
    }

    fn add(&mut self, text: &str, is_text: bool, span: Range<usize>) -> Result<(), Problem> {
        if let Some(Collection::Map { key: key @ None, .. }) = self.open.last_mut() {
            if text == "<<" && !is_text {
                return Err(Problem::new(Code::HeaderAnchor, span, "the header has a YAML merge key (`<<`)"));
            }
            *key = Some((text.to_owned(), span));
            return Ok(());
        }
        let value = if is_text { Value::Text(text.to_owned()) } else { Value::plain(text) };
        self.insert(Node { value, span });
        Ok(())
    }

    fn insert(&mut self, node: Node) {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Collection::List { items, .. }) => items.push(node),
            Some(Collection::Map { fields, key, .. }) => {
                let (key, key_span) = key.take().expect("a value follows its key");
                push_field(fields, Field::new(key, key_span, node), self.problems);
            }
        }
    }
}

/// Adds a field, or reports a duplicate key.
pub(super) fn push_field(fields: &mut Vec<Field>, field: Field, problems: &mut Vec<Problem>) {
    match fields.iter_mut().find(|other| other.key == field.key) {
        Some(first) => {
            let message = format!("duplicate key `{}` in the header", shown(&field.key));
            problems.push(Problem::new(Code::DuplicateKey, field.key_span, message));
            first.last = Some(Box::new(field.node));
        }
        None => fields.push(field),
    }
}

fn broken(span: Range<usize>, message: impl Into<String>) -> Problem {
    Problem::new(Code::BrokenHeader, span, message)
}

fn byte(marker: &Marker) -> usize {
    marker.byte_offset().unwrap_or_else(|| marker.index())
}
