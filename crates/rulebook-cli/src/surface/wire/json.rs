//! JSON that borrows from the bytes it was read from: one event is read for every few characters a model writes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Index;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
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
    pub(in crate::surface) fn read(bytes: &'j [u8]) -> Option<Json<'j>> {
        serde_json::from_slice(bytes).ok()
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

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

/// The name of a field; `Cow` itself always allocates.
struct Name<'j>(Cow<'j, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name<'de>, D::Error> {
        match deserializer.deserialize_str(Any)? {
            Json::Text(text) => Ok(Name(text)),
            _ => Err(serde::de::Error::custom("a name must be a string")),
        }
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'de>, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut fields = Vec::with_capacity(8);
        while let Some((Name(name), value)) = entries.next_entry()? {
            fields.push((name, value));
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str) {
        let json = Json::read(written.as_bytes()).unwrap();
        let value: Value = serde_json::from_str(written).unwrap();
        assert_eq!(Value::from(&json), value);
        assert_eq!(json.to_string(), value.to_string());
        assert_eq!(Json::from(&value).to_string(), value.to_string());
    }

    #[test]
    fn a_value_is_read_and_written_as_serde_json_does() {
        check(r#"{"a":[1,-2,3.0,1e3,18446744073709551615],"b":{"c":null,"d":true},"é\n":"x\"\u0000😀"}"#);
        check("[]");
        check("\"text\"");
        check(" {} ");
    }

    #[test]
    fn a_missing_field_is_null_and_of_two_the_last_counts() {
        let json = Json::read(br#"{"a":1,"a":{"b":["x"]}}"#).unwrap();
        assert_eq!(json["a"]["b"].items()[0].as_str(), Some("x"));
        assert_eq!(json.pointer("/a/b/0").and_then(Json::as_str), Some("x"));
        assert_eq!(json.pointer("/a/b/1"), None);
        assert!(json["a"]["c"]["d"].is_null());
        assert_eq!(Json::read(b"{\"a\":}"), None);
    }
}
