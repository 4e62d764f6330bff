//! Values of a header with their spans.

use std::ops::Range;

/// One `key: value` of a header.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The key as written.
    pub key: String,
    /// The byte range of the key in the file.
    pub key_span: Range<usize>,
    /// Its value.
    pub node: Node,
    /// The last value, if the key is repeated.
    pub last: Option<Box<Node>>,
}

impl Field {
    pub(super) fn new(key: impl Into<String>, key_span: Range<usize>, node: Node) -> Field {
        Field { key: key.into(), key_span, node, last: None }
    }

    /// Calls `visit` with every text and its span, including keys.
    pub(crate) fn each_text(&self, visit: &mut dyn FnMut(&str, &Range<usize>)) {
        visit(&self.key, &self.key_span);
        self.node.each_text(visit);
        if let Some(last) = &self.last {
            last.each_text(visit);
        }
    }
}

/// A value with its span.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The byte range in the file.
    pub span: Range<usize>,
}

impl Node {
    fn each_text(&self, visit: &mut dyn FnMut(&str, &Range<usize>)) {
        match &self.value {
            Value::Text(text) => visit(text, &self.span),
            Value::List(nodes) => nodes.iter().for_each(|node| node.each_text(visit)),
            Value::Map(fields) => fields.iter().for_each(|field| field.each_text(visit)),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
        }
    }
}

/// A value of YAML's core schema.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, `~`, or no value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// Any other number, as written.
    Float(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the file.
    Map(Vec<Field>),
}

impl Value {
    /// The kind of value with an article, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "nothing",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "a number",
            Value::Float(_) => "a fraction",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// Reads a plain scalar by the core schema of YAML 1.2.
    pub(super) fn plain(text: &str) -> Value {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Value::Null,
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            _ if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => {
                Value::Text(text.to_owned())
            }
            _ => Value::number(text).unwrap_or_else(|| Value::Text(text.to_owned())),
        }
    }

    fn number(text: &str) -> Option<Value> {
        let radix = |prefix: &str, radix| {
            text.strip_prefix(prefix).and_then(|digits| i64::from_str_radix(digits, radix).ok())
        };
        if let Some(int) = radix("0x", 16).or_else(|| radix("0o", 8)).or_else(|| text.parse().ok()) {
            return Some(Value::Int(int));
        }
        let digits = text.trim_start_matches(['-', '+']);
        let special = matches!(digits, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN");
        let decimal = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'))
            && text.parse::<f64>().is_ok();
        (special || decimal).then(|| Value::Float(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let text = |text: &str| Value::Text(text.to_owned());
        let float = |text: &str| Value::Float(text.to_owned());
        let cases = [
            ("", Value::Null),
            ("~", Value::Null),
            ("True", Value::Bool(true)),
            ("yes", text("yes")),
            ("7", Value::Int(7)),
            ("-1", Value::Int(-1)),
            ("0x1f", Value::Int(31)),
            ("1.5", float("1.5")),
            ("1e3", float("1e3")),
            (".inf", float(".inf")),
            ("3.5.1", text("3.5.1")),
            ("2026-11-15", text("2026-11-15")),
            ("-", text("-")),
            ("99999999999999999999", float("99999999999999999999")),
        ];
        for (written, value) in cases {
            assert_eq!(Value::plain(written), value, "{written}");
        }
    }
}
