//! JSON that borrows from the bytes it was read from: one event is read for every few characters a model writes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

use memchr::memchr2;
use rulebook::evidence::json;
use serde::ser::{Serialize, Serializer};
use serde_json::{Number, Value};

/// A JSON value. A field that is missing reads as [`Json::Null`].
#[derive(Clone, Debug, PartialEq)]
pub(in crate::surface) enum Json<'j> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'j, str>),
    List(Vec<Json<'j>>),
    /// Objects on these wires have few fields: comparing names is faster than hashing them.
    Object(Vec<(Cow<'j, str>, Json<'j>)>),
}

impl<'j> Json<'j> {
    /// Reads a value; returns `None` if neither Node nor Python reads it as JSON.
    pub(in crate::surface) fn read(bytes: &'j [u8]) -> Option<Json<'j>> {
        Json::read_strict(bytes)
            .or_else(|| Json::read_strict(json::repaired(bytes).as_bytes()).map(Json::into_owned))
    }

    /// Reads what is JSON by its specification, as nearly every event is.
    fn read_strict(bytes: &'j [u8]) -> Option<Json<'j>> {
        let mut parser = Parser { text: std::str::from_utf8(bytes).ok()?, at: 0 };
        let value = parser.value(MAX_DEPTH)?;
        parser.peek().is_none().then_some(value)
    }

    fn into_owned(self) -> Json<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        match self {
            Json::Null => Json::Null,
            Json::Bool(value) => Json::Bool(value),
            Json::Number(number) => Json::Number(number),
            Json::Text(text) => Json::Text(owned(text)),
            Json::List(items) => Json::List(items.into_iter().map(Json::into_owned).collect()),
            Json::Object(fields) => Json::Object(
                fields.into_iter().map(|(key, value)| (owned(key), value.into_owned())).collect(),
            ),
        }
    }

    /// Returns the field of this name; the last one if there are several.
    pub(in crate::surface) fn get(&self, key: &str) -> Option<&Json<'j>> {
        let Json::Object(fields) = self else { return None };
        fields.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the value at a JSON pointer without escapes.
    pub(super) fn pointer(&self, pointer: &str) -> Option<&Json<'j>> {
        pointer.split('/').skip(1).try_fold(self, |value, key| match value {
            Json::List(items) => items.get(key.parse::<usize>().ok()?),
            _ => value.get(key),
        })
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a field; empty if it has none.
    pub(super) fn text(&self, key: &str) -> &str {
        self.get(key).and_then(Json::as_str).unwrap_or_default()
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// Returns the items of a list; none if it is not a list.
    pub(super) fn items(&self) -> &[Json<'j>] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    pub(super) fn is_true(&self) -> bool {
        matches!(self, Json::Bool(true))
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self, Json::List(_))
    }

    /// Whether it is the event of an answer that failed.
    pub(in crate::surface) fn is_failure(&self) -> bool {
        let kinds = ["error", "response.failed", "response.incomplete"];
        self["error"].is_object() || kinds.contains(&self.text("type"))
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self, Json::Object(_))
    }

    /// Returns whether it is `null`, or an empty text or list.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Json::Null => true,
            Json::Text(text) => text.is_empty(),
            Json::List(items) => items.is_empty(),
            Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
        }
    }
}

impl<'j> Index<&str> for Json<'j> {
    type Output = Json<'j>;

    fn index(&self, key: &str) -> &Json<'j> {
        self.get(key).unwrap_or(&Json::Null)
    }
}

impl<'v> From<&'v Value> for Json<'v> {
    fn from(value: &'v Value) -> Json<'v> {
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.clone()),
            Value::String(text) => Json::Text(Cow::Borrowed(text)),
            Value::Array(items) => Json::List(items.iter().map(Json::from).collect()),
            Value::Object(fields) => Json::Object(
                fields.iter().map(|(key, value)| (Cow::Borrowed(key.as_str()), Json::from(value))).collect(),
            ),
        }
    }
}

impl From<&Json<'_>> for Value {
    fn from(json: &Json<'_>) -> Value {
        match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => Value::Number(number.clone()),
            Json::Text(text) => Value::String(text.to_string()),
            Json::List(items) => Value::Array(items.iter().map(Value::from).collect()),
            Json::Object(fields) => {
                Value::Object(fields.iter().map(|(key, value)| (key.to_string(), value.into())).collect())
            }
        }
    }
}

/// Writes it as JSON.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Number(number) => number.fmt(f),
            other => f.write_str(&serde_json::to_string(other).map_err(|_| fmt::Error)?),
        }
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Number(number) => number.serialize(serializer),
            Json::Text(text) => serializer.serialize_str(text),
            Json::List(items) => serializer.collect_seq(items),
            Json::Object(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// How deep values may be nested: as deep as `serde_json` reads them.
const MAX_DEPTH: usize = 127;

/// Reads values from a text. Building `serde_json::Value`s instead took more time than everything else an event needs.
struct Parser<'j> {
    text: &'j str,
    at: usize,
}

impl<'j> Parser<'j> {
    /// Skips whitespace and returns the next byte without taking it.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }

    /// Takes the next byte if it is this one.
    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn value(&mut self, depth: usize) -> Option<Json<'j>> {
        match self.peek()? {
            b'"' => Some(Json::Text(self.string()?)),
            b'{' if depth > 0 => {
                let mut fields = Vec::with_capacity(8);
                self.list(b'}', |parser| {
                    (parser.peek()? == b'"').then_some(())?;
                    let name = parser.string()?;
                    parser.take(b':')?;
                    fields.push((name, parser.value(depth - 1)?));
                    Some(())
                })?;
                Some(Json::Object(fields))
            }
            b'[' if depth > 0 => {
                let mut items = Vec::new();
                self.list(b']', |parser| {
                    items.push(parser.value(depth - 1)?);
                    Some(())
                })?;
                Some(Json::List(items))
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ => {
                let words = [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))];
                let rest = &self.text[self.at..];
                let (word, value) = words.into_iter().find(|(word, _)| rest.starts_with(word))?;
                self.at += word.len();
                Some(value)
            }
        }
    }

    /// Reads what is between brackets, separated by commas.
    fn list(&mut self, close: u8, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        if self.take(close).is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.take(close).is_some() {
                return Some(());
            }
            self.take(b',')?;
        }
    }

    fn string(&mut self) -> Option<Cow<'j, str>> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        let mut is_escaped = false;
        loop {
            end += memchr2(b'"', b'\\', bytes.get(end..)?)?;
            if bytes[end] == b'"' {
                break;
            }
            (end, is_escaped) = (end + 2, true);
        }
        self.at = end + 1;
        if is_escaped {
            return serde_json::from_str(&self.text[start..=end]).ok().map(Cow::Owned);
        }
        let text = &self.text[start + 1..end];
        // Without an early end, so that it takes many bytes at once.
        let has_control = text.bytes().fold(false, |has_control, byte| has_control | (byte < 0x20));
        (!has_control).then_some(Cow::Borrowed(text))
    }

    fn number(&mut self) -> Option<Json<'j>> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let len = rest.bytes().take_while(is_part).count();
        self.at += len;
        serde_json::from_str(&rest[..len]).ok().map(Json::Number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads and writes what the engine reads, as it does, and nothing else.
    #[track_caller]
    fn check(written: &[u8]) {
        let value: Option<Value> = json::read(written).ok();
        let json = Json::read(written);
        assert_eq!(json.as_ref().map(Value::from), value, "{:?}", String::from_utf8_lossy(written));
        if let (Some(json), Some(value)) = (json, value) {
            assert_eq!(json.to_string(), value.to_string());
            assert_eq!(Json::from(&value).to_string(), value.to_string());
        }
    }

    #[test]
    fn values_are_read_and_written_as_the_engine_does() {
        check(
            "{\"a\":[1,-2,3.0,1e3,18446744073709551615],\"b\" :{\"c\":null,\"d\":true},\"é\\n\":\"😀\"}"
                .as_bytes(),
        );
        check(br#" [ ] "#);
        check(br#""\ud83d\ude00 \u0000 \\ \"""#);
        for broken in
            ["", "[DONE]", "{\"a\":}", "[1,]", "{,}", "{1:2}", "01", "-", "1.", "nul", "[] x", "\"\n\""]
        {
            check(broken.as_bytes());
        }
        check(b"\"\\ud83d\"");
        check(b"\"\\\"");
        check(b"\"\xff\"");
        check("\u{feff}[NaN, -Infinity, 1e999]".as_bytes());
        for depth in [126, 127, 128, 1000] {
            check(["[".repeat(depth), "]".repeat(depth)].concat().as_bytes());
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_the_engine_reads_it(text in r#"([\[\]{}:,"]|NaN|"\\ud8[0-9]{2}"|"[a\\n"u0é]{0,4}"|-?[0-9.eE+]{1,5}|true|null| ){0,12}"#) {
            check(text.as_bytes());
        }
    }

    #[test]
    fn a_missing_field_is_null_and_of_two_the_last_counts() {
        let json = Json::read(br#"{"a":1,"a":{"b":["x"]}}"#).unwrap();
        assert_eq!(json["a"]["b"].items()[0].as_str(), Some("x"));
        assert_eq!(json.pointer("/a/b/0").and_then(Json::as_str), Some("x"));
        assert_eq!(json.pointer("/a/b/1"), None);
        assert!(json["a"]["c"]["d"].is_null());
    }
}
