//! The structure of headers: folding ranges and semantic tokens.

use std::ops::Range;

use rulebook::frontmatter::{self, Field, Header, Node, Tier, Value as Scalar};
use serde_json::{Value, json};

use super::document::Document;
use super::protocol::{Place, Position};
use super::server::Server;

/// The kinds of tokens, in the order of their numbers.
pub(super) const TOKENS: &[&str] = &["property", "string", "keyword", "number"];

pub(super) fn folding(server: &Server, place: &Place) -> Value {
    let Some((document, header)) = header(server, place) else { return Value::Null };
    let end = document.span(header.body_start..header.body_start).start;
    // The body starts after the closing fence.
    let last = end.line - usize::from(end.character == 0 && end.line > 0);
    if last == 0 {
        return Value::Array(Vec::new());
    }
    json!([{ "startLine": 0, "endLine": last, "kind": "region" }])
}

pub(super) fn tokens(server: &Server, place: &Place) -> Value {
    let mut all: Vec<(Range<usize>, usize)> = Vec::new();
    let Some((document, header)) = header(server, place) else { return Value::Null };
    header.fields.iter().for_each(|field| add_field(field, &mut all));
    all.sort_by_key(|(span, _)| span.start);
    let mut data: Vec<usize> = Vec::new();
    let mut last = Position::default();
    for (span, kind) in all.into_iter().flat_map(|(span, kind)| lines(&document.text, span, kind)) {
        let span = document.span(span);
        let line = span.start.line - last.line;
        let character = if line == 0 {
            span.start.character.saturating_sub(last.character)
        } else {
            span.start.character
        };
        data.extend([line, character, span.end.character - span.start.character, kind, 0]);
        last = span.start;
    }
    json!({ "data": data })
}

struct FoundHeader {
    fields: Vec<Field>,
    body_start: usize,
}

/// The header of an open rule file, as leniently as any agent reads it.
fn header<'s>(server: &'s Server, place: &Place) -> Option<(&'s Document, FoundHeader)> {
    let (document, snapshot) = server.open(&place.text_document.uri)?;
    let origin = snapshot.origin(document.name())?;
    origin.format.tier?;
    let reading = frontmatter::read(&document.text, Tier::Lines);
    let Header::Read { fields, .. } = reading.header else { return None };
    Some((document, FoundHeader { fields, body_start: reading.body_start }))
}

fn add_field(field: &Field, all: &mut Vec<(Range<usize>, usize)>) {
    all.push((field.key_span.clone(), 0));
    add_value(&field.node, all);
}

fn add_value(node: &Node, all: &mut Vec<(Range<usize>, usize)>) {
    match &node.value {
        Scalar::Text(_) => all.push((node.span.clone(), 1)),
        Scalar::Bool(_) => all.push((node.span.clone(), 2)),
        Scalar::Int(_) | Scalar::Float(_) => all.push((node.span.clone(), 3)),
        Scalar::List(nodes) => nodes.iter().for_each(|node| add_value(node, all)),
        Scalar::Map(fields) => fields.iter().for_each(|field| add_field(field, all)),
        Scalar::Null => {}
    }
}

/// The parts of a token on each of its lines: not every editor takes one on several.
fn lines(text: &str, span: Range<usize>, kind: usize) -> Vec<(Range<usize>, usize)> {
    let Some(value) = text.get(span.clone()) else { return Vec::new() };
    let mut at = span.start;
    let mut parts = Vec::new();
    for line in value.split_inclusive('\n') {
        let length = line.trim_end_matches(['\r', '\n']).len();
        if length > 0 {
            parts.push((at..at + length, kind));
        }
        at += line.len();
    }
    parts
}
