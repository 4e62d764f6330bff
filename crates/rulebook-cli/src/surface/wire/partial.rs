//! A call whose arguments arrive as paths and values.

use serde_json::{Value, json};

use super::json::Json;

/// The call so far.
#[derive(Default)]
pub(super) struct PartialCall {
    name: String,
    /// Paths such as `$.edits[0].text`, each with its value; the pieces of a text are joined.
    values: Vec<(String, Value)>,
}

/// The fields with the value of a part.
const VALUES: [&str; 6] =
    ["stringValue", "numberValue", "boolValue", "string_value", "number_value", "bool_value"];

/// The most parts of a path that are read.
const MAX_DEPTH: usize = 64;

impl PartialCall {
    pub(super) fn has_name(&self) -> bool {
        !self.name.is_empty()
    }

    /// Adds a part of the call.
    pub(super) fn add(&mut self, call: &Json<'_>) {
        self.name.push_str(call.text("name"));
        if let Value::Object(fields) = Value::from(&call["args"]) {
            self.values.extend(fields.into_iter().map(|(key, value)| (format!("$.{key}"), value)));
        }
        // Clients in Python read both spellings.
        let parts = ["partialArgs", "partial_args"].into_iter().flat_map(|key| call[key].items());
        for part in parts {
            let path = ["jsonPath", "json_path"].map(|key| part.text(key));
            let path = if path[0].is_empty() { path[1] } else { path[0] };
            let value = VALUES.into_iter().find_map(|key| part.get(key));
            match (value, self.values.last_mut().filter(|(last, _)| last == path)) {
                (Some(Json::Text(text)), Some((_, Value::String(before)))) => before.push_str(text),
                (Some(value), _) => self.values.push((path.to_owned(), value.into())),
                (None, _) => {}
            }
        }
    }

    /// Returns the name of the tool, and the arguments.
    pub(super) fn finish(self) -> (String, Value) {
        let mut whole = json!({});
        for (path, value) in self.values {
            match place(&mut whole, &path) {
                Some(Value::String(before)) if value.is_string() => {
                    before.push_str(value.as_str().unwrap_or_default());
                }
                Some(place) => *place = value,
                // A path that cannot be read is the name of its value.
                None => whole[path] = value,
            }
        }
        (self.name, whole)
    }
}

/// The place of a path in an object, which is made if it is not there.
fn place<'v>(whole: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    let mut parts: Vec<&str> = Vec::new();
    let mut rest = path.strip_prefix('$')?;
    while !rest.is_empty() && parts.len() < MAX_DEPTH {
        let (part, after) = match rest.strip_prefix('.') {
            Some(key) => key.split_at(key.find(['.', '[']).unwrap_or(key.len())),
            None => rest.strip_prefix('[')?.split_once(']')?,
        };
        parts.push(part);
        rest = after;
    }
    // The arguments themselves are an object.
    if !rest.is_empty() || parts.first()?.parse::<usize>().is_ok() {
        return None;
    }
    let mut at = whole;
    for part in parts {
        let index = part.parse::<usize>().ok();
        match (index, at) {
            (Some(index), place @ (Value::Null | Value::Array(_))) => {
                if place.is_null() {
                    *place = json!([]);
                }
                let items = place.as_array_mut()?;
                if items.len() == index {
                    items.push(Value::Null);
                }
                at = items.get_mut(index)?;
            }
            (_, place) => {
                if !place.is_object() {
                    *place = json!({});
                }
                at = &mut place[part.trim_matches(['\'', '"'])];
            }
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_where_their_paths_lead() {
        #[track_caller]
        fn check(values: &[(&str, Value)], wanted: &str) {
            let mut call = PartialCall::default();
            for (path, value) in values {
                let value = json!({ "partialArgs": [{ "jsonPath": path, "stringValue": value }] });
                call.add(&Json::from(&value));
            }
            assert_eq!(call.finish().1.to_string(), wanted);
        }
        check(&[("$.a", json!("new ")), ("$.a", json!("Map"))], r#"{"a":"new Map"}"#);
        check(
            &[("$.a", json!("new ")), ("$.b", json!(1)), ("$.a", json!("Map"))],
            r#"{"a":"new Map","b":1}"#,
        );
        check(&[("$.e[0].t", json!("x")), ("$.e[1]['t']", json!("y"))], r#"{"e":[{"t":"x"},{"t":"y"}]}"#);
        check(
            &[("$.e[7]", json!("x")), ("a", json!("y")), ("$", json!("z"))],
            r#"{"e":[],"$.e[7]":"x","a":"y","$":"z"}"#,
        );
        let mut deep = PartialCall::default();
        let value = json!({ "partialArgs": [{ "jsonPath": format!("${}", ".a".repeat(100_000)), "stringValue": "y" }] });
        deep.add(&Json::from(&value));
        assert_eq!(deep.finish().1.as_object().map(serde_json::Map::len), Some(1));
    }
}
