//! A fast reader for the headers of most files.
//!
//! It accepts `key: value` lines and lists of plain or quoted ASCII values. The YAML parser reads them the same way (a test
//! compares the two) and reads everything else. Speed matters because a hook reads every header on every tool call.

use std::ops::Range;

use super::fences::lines_of;
use super::value::{Field, Node, Value};

/// Reads a range; `None` if it is not simple.
pub(super) fn read(text: &str, range: Range<usize>) -> Option<Vec<Field>> {
    let mut fields: Vec<Field> = Vec::new();
    let mut list: Option<List> = None;
    let mut at = range.start;
    for line in lines_of(&text[range]) {
        let start = at;
        at += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line).trim_end_matches(' ');
        let indent = spaces(line);
        if let Some(item) = line[indent..].strip_prefix("- ") {
            let lead = spaces(item);
            list.as_mut()?.push(indent, scalar(&item[lead..], start + indent + 2 + lead, PLAIN)?)?;
            continue;
        }
        close(&mut fields, list.take())?;
        let (key, value) = line.split_once(':').filter(|(key, _)| is_key(key))?;
        if fields.iter().any(|field| field.key == key) {
            return None;
        }
        let key_span = start..start + key.len();
        let lead = spaces(value);
        let value_at = key_span.end + 1 + lead;
        let node = match &value[lead..] {
            "" => {
                list = Some(List::default());
                Node { value: Value::Null, span: value_at..value_at }
            }
            _ if lead == 0 => return None,
            value => match value.strip_prefix('[') {
                Some(rest) => flow_list(rest.strip_suffix(']')?, value_at)?,
                None => scalar(value, value_at, PLAIN)?,
            },
        };
        fields.push(Field::new(key, key_span, node));
    }
    close(&mut fields, list)?;
    Some(fields)
}

/// The items of a key, all with the same indentation.
#[derive(Default)]
struct List {
    indent: usize,
    items: Vec<Node>,
}

impl List {
    fn push(&mut self, indent: usize, item: Node) -> Option<()> {
        if self.items.is_empty() {
            self.indent = indent;
        }
        self.items.push(item);
        (self.indent == indent).then_some(())
    }
}

/// Assigns a list to the key before it. `None` for a key without a value, which is left to the YAML parser.
fn close(fields: &mut [Field], list: Option<List>) -> Option<()> {
    let Some(List { items, .. }) = list else { return Some(()) };
    let span = items.first()?.span.start..items.last()?.span.end;
    fields.last_mut()?.node = Node { value: Value::List(items), span };
    Some(())
}

fn flow_list(inner: &str, at: usize) -> Option<Node> {
    let mut items = Vec::new();
    let mut start = at + 1;
    for piece in inner.split(',').filter(|_| !inner.is_empty()) {
        items.push(scalar(piece.trim_matches(' '), start + spaces(piece), PLAIN_IN_LIST)?);
        start += piece.len() + 1;
    }
    Some(Node { value: Value::List(items), span: at..at + inner.len() + 2 })
}

/// Characters without a special meaning inside a plain YAML value, on a line and in a flow list.
const PLAIN: &[u8] = b" _-./*()+,;=^$~|<>@%{}[]!?";
const PLAIN_IN_LIST: &[u8] = b" _-./*()+;=^$~";

fn scalar(text: &str, at: usize, plain: &[u8]) -> Option<Node> {
    let span = at..at + text.len();
    let inner = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    if let Some(inner) = inner {
        let is_simple = |byte: u8| (b' '..=b'~').contains(&byte) && !b"\"'\\".contains(&byte);
        return inner.bytes().all(is_simple).then(|| Node { value: Value::Text(inner.to_owned()), span });
    }
    let starts = text.as_bytes().first()?.is_ascii_alphanumeric();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || plain.contains(&byte);
    (starts && text.bytes().all(is_plain)).then(|| Node { value: Value::plain(text), span })
}

/// Whether a text can be written as a plain value, on a line or in a flow list, and stays this text.
pub(super) fn is_plain_text(text: &str, is_in_list: bool) -> bool {
    let plain = if is_in_list { PLAIN_IN_LIST } else { PLAIN };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || plain.contains(&byte);
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/'))
        && text.trim() == text
        && text.bytes().all(is_plain)
        && matches!(Value::plain(text), Value::Text(_))
}

fn is_key(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}
