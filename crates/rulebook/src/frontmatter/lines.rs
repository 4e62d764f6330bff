//! The line tier: `key: value` lines, for headers that are not valid YAML.

use std::ops::Range;

use super::header::Problem;
use super::value::{Field, Node, Value};
use super::yaml;
use crate::glob;

/// Keys with patterns as values. Their raw text counts, even if it is valid YAML with another meaning.
pub(super) const PATTERN_KEYS: &[&str] =
    &["globs", "glob", "paths", "path", "applyTo", "fileMatchPattern", "patterns", "condition", "scope"];

/// What to do with a line that is not a key, a list item, a comment or blank.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Stray {
    /// Skip it: a fence ends the header.
    Skip,
    /// End the header: there is no fence.
    Stop,
}

/// The fields, and the end of the header.
pub(super) struct Lines {
    pub(super) fields: Vec<Field>,
    pub(super) end: usize,
}

/// Reads a range line by line. The first of duplicate keys is used; an empty value is absent.
pub(super) fn read(text: &str, range: Range<usize>, stray: Stray) -> Lines {
    let mut fields: Vec<Field> = Vec::new();
    let mut ignored = Vec::new();
    let mut open: Option<(String, Range<usize>, Vec<Node>)> = None;
    let mut at = range.start;
    for line in text[range].split_inclusive('\n') {
        let start = at;
        let trimmed = line.trim();
        if let Some((key, value_at, value)) = key_value(line).filter(|_| !line.starts_with([' ', '\t'])) {
            close_list(&mut open, &mut fields, &mut ignored);
            let key_at = start + (line.len() - line.trim_start().len());
            let key_span = key_at..key_at + key.len();
            if value.is_empty() {
                open = Some((key.to_owned(), key_span, Vec::new()));
            } else {
                let read = if PATTERN_KEYS.contains(&key) { raw_patterns } else { raw_value };
                let node = read(text, start + value_at..start + value_at + value.len());
                let node = Node { value: typed(node.value), ..node };
                yaml::push_field(&mut fields, Field::new(key, key_span, node), &mut ignored);
            }
        } else if let (Some((item_at, item)), Some((_, _, items))) = (list_item(line), &mut open) {
            items.push(raw_value(text, start + item_at..start + item_at + item.len()));
        } else if stray == Stray::Stop && !trimmed.starts_with('#') {
            break;
        }
        at = start + line.len();
    }
    close_list(&mut open, &mut fields, &mut ignored);
    Lines { fields, end: at }
}

/// Reads a range line by line. Every value is the text after the colon.
pub(super) fn read_texts(text: &str, range: Range<usize>) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut at = range.start;
    for line in text[range].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let is_word =
            |key: &&str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let Some((key, rest)) = line.split_once(':').filter(|(key, _)| is_word(key)) else { continue };
        let value = rest.trim();
        let value_at = at - rest.trim_start().len();
        let node = Node { value: Value::Text(value.to_owned()), span: value_at..value_at + value.len() };
        let field = Field::new(key, start..start + key.len(), node);
        // The last of several equal keys counts.
        fields.retain(|other: &Field| other.key != field.key);
        fields.push(field);
    }
    fields
}

fn close_list(
    open: &mut Option<(String, Range<usize>, Vec<Node>)>,
    fields: &mut Vec<Field>,
    ignored: &mut Vec<Problem>,
) {
    if let Some((key, key_span, items)) = open.take()
        && let (Some(first), Some(last)) = (items.first(), items.last())
    {
        let span = first.span.start..last.span.end;
        yaml::push_field(
            fields,
            Field::new(key, key_span, Node { value: Value::List(items), span }),
            ignored,
        );
    }
}

/// Splits `key: value` without a trailing comment; returns the offset of the value too.
pub(super) fn key_value(line: &str) -> Option<(&str, usize, &str)> {
    let colon = line.find(':')?;
    let key = line[..colon].trim_start();
    let is_key =
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    let rest = &line[colon + 1..];
    (is_key && !key.starts_with('-') && (rest.is_empty() || rest.starts_with(char::is_whitespace))).then(
        || {
            let value = without_comment(rest);
            (key, colon + 1 + (rest.len() - rest.trim_start().len()).min(rest.len()), value)
        },
    )
}

/// The value of `- value` with its offset.
pub(super) fn list_item(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start().strip_prefix('-')?;
    let value = without_comment(rest);
    (rest.starts_with([' ', '\t']) && !value.is_empty())
        .then(|| (line.len() - rest.len() + (rest.len() - rest.trim_start().len()), value))
}

/// The text without a comment, which starts at a `#` after white space and outside of quotes.
fn without_comment(text: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, '"' | '\'') if before.is_whitespace() => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '#') if before.is_whitespace() => return text[..at].trim(),
            _ => {}
        }
        before = c;
    }
    text.trim()
}

/// Reads a raw value: `[a, b]` is a list, and anything else is text, without quotes around it.
pub(super) fn raw_value(text: &str, span: Range<usize>) -> Node {
    let raw = &text[span.clone()];
    if let Some(inner) = raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return list_of(inner, span);
    }
    Node { value: Value::Text(unquoted(raw).to_owned()), span }
}

/// Reads the raw value of a key for patterns: as [`raw_value`], but the closing bracket of a list may be missing.
pub(super) fn raw_patterns(text: &str, span: Range<usize>) -> Node {
    match inside_brackets(&text[span.clone()]) {
        Some(inner) => list_of(inner, span),
        None => raw_value(text, span),
    }
}

fn list_of(inner: &str, span: Range<usize>) -> Node {
    let base = span.start + 1;
    let items = glob::split_list(inner)
        .into_iter()
        .map(|(piece, item)| Node {
            value: Value::Text(unquoted(item).to_owned()),
            span: base + piece.start..base + piece.end,
        })
        .collect();
    Node { value: Value::List(items), span }
}

/// What is inside the brackets of a list. The closing one may be missing.
pub(super) fn inside_brackets(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('[')?;
    if is_unclosed(value) { Some(inner.trim_end_matches([' ', ','])) } else { inner.strip_suffix(']') }
}

/// Whether a value is a list that is not closed on its line.
pub(super) fn is_unclosed(value: &str) -> bool {
    let has_items = value.starts_with('[') && value.len() > 1;
    has_items && !value.contains(']')
}

/// Removes a pair of quotes around the text, unless it contains further ones.
pub(crate) fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| {
            let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
            (!inner.contains(quote)).then_some(inner)
        })
        .unwrap_or(text)
}

fn typed(value: Value) -> Value {
    match value {
        Value::Text(text) => match Value::plain(&text) {
            typed @ (Value::Bool(_) | Value::Int(_)) => typed,
            _ => Value::Text(text),
        },
        other => other,
    }
}
