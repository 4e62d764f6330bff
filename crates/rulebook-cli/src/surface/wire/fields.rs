//! Reads fields of responses as the most lenient clients do, and notes values of a type that is not the wire's own.

use std::borrow::Cow;

use super::json::Json;
use super::reader::Reader;

impl Reader {
    /// Returns the text of a field. A value of another type becomes the text that clients in JavaScript append; other
    /// clients read nothing, or fail.
    pub(super) fn text<'j>(&mut self, value: &'j Json<'_>) -> Option<Cow<'j, str>> {
        match value {
            Json::Null => None,
            Json::Text(text) => Some(Cow::Borrowed(text)),
            other => {
                self.has_odd_fields = true;
                Some(Cow::Owned(appended(other)))
            }
        }
    }

    /// Returns the items of a list. Some clients read those of an object by its keys.
    pub(super) fn items<'j>(&mut self, value: &'j Json<'j>) -> impl Iterator<Item = &'j Json<'j>> + use<'j> {
        self.has_odd_fields |= !matches!(value, Json::Null | Json::List(_));
        let fields = match value {
            Json::Object(fields) => &fields[..],
            _ => &[],
        };
        value.items().iter().chain(fields.iter().map(|(_, value)| value))
    }

    /// Returns an object as JSON; `None` if it is missing or empty.
    pub(super) fn object(&mut self, value: &Json<'_>) -> Option<String> {
        match value {
            Json::Null => None,
            Json::Object(fields) => (!fields.is_empty()).then(|| value.to_string()),
            other => {
                self.has_odd_fields = true;
                Some(appended(other))
            }
        }
    }

    /// Returns whether a field is true. Clients differ in what else they take for that.
    pub(super) fn is_true(&mut self, value: &Json<'_>) -> bool {
        self.has_odd_fields |= !matches!(value, Json::Null | Json::Bool(_));
        value.is_true()
    }

    /// Returns whether a value of another type than the wire's own was read since the last call.
    pub(in crate::surface) fn take_odd_fields(&mut self) -> bool {
        std::mem::take(&mut self.has_odd_fields)
    }
}

/// What a value adds to a text in JavaScript. An object adds nothing that tells what it contains: it is its JSON here.
fn appended(value: &Json<'_>) -> String {
    match value {
        Json::Text(text) => text.to_string(),
        Json::List(items) => {
            let shown = |item: &Json<'_>| if item.is_null() { String::new() } else { appended(item) };
            items.iter().map(shown).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_type_is_the_text_that_clients_append() {
        #[track_caller]
        fn check(json: &str, wanted: Option<&str>, is_odd: bool) {
            let (value, mut reader) = (Json::read(json.as_bytes()).unwrap(), Reader::default());
            assert_eq!(reader.text(&value).as_deref(), wanted, "{json}");
            assert_eq!(reader.take_odd_fields(), is_odd, "{json}");
            assert!(!reader.take_odd_fields());
        }
        check("null", None, false);
        check("\"a\"", Some("a"), false);
        check("[\"a\"]", Some("a"), true);
        check("[[[\"a\"],null],\"b\",1]", Some("a,,b,1"), true);
        check("1", Some("1"), true);
        check("true", Some("true"), true);
        check("{\"a\":\"b\"}", Some("{\"a\":\"b\"}"), true);
    }
}
