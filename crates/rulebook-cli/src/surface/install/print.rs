//! Writes JSON: on one line where it fits, and with the space inside of brackets that shows it is ours.

use serde_json::{Map, Value as Json};

/// What a line may hold before it is broken.
const WIDTH: usize = 120;

/// A value on one line, with the space inside of brackets that shows it is ours.
pub(super) fn line(value: &Json) -> String {
    let inside = |parts: Vec<String>| parts.join(", ");
    match value {
        Json::Object(parts) if !parts.is_empty() => format!("{{ {} }}", inside(pairs(parts, line))),
        Json::Array(parts) if !parts.is_empty() => {
            format!("[ {} ]", inside(parts.iter().map(line).collect()))
        }
        _ => value.to_string(),
    }
}

/// A value on several lines where one would be too long, the first of them begun already.
pub(super) fn lines(value: &Json, unit: &str, indent: &str) -> String {
    let one = line(value);
    if indent.len() + one.len() <= WIDTH { one } else { broken(value, unit, indent) }
}

/// A value on several lines, as few as it can be.
pub(super) fn broken(value: &Json, unit: &str, indent: &str) -> String {
    let inner = format!("{indent}{unit}");
    let inside = |parts: Vec<String>| parts.join(&format!(",\n{inner}"));
    let below = |part: &Json| lines(part, unit, &inner);
    match value {
        Json::Object(parts) => format!("{{\n{inner}{}\n{indent}}}", inside(pairs(parts, below))),
        Json::Array(parts) => format!("[\n{inner}{}\n{indent}]", inside(parts.iter().map(below).collect())),
        _ => value.to_string(),
    }
}

/// The members of an object, each as it is written.
pub(super) fn pairs(parts: &Map<String, Json>, written: impl Fn(&Json) -> String) -> Vec<String> {
    parts.iter().map(|(key, part)| format!("{}: {}", Json::from(key.as_str()), written(part))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_value_is_broken_as_far_as_it_must() {
        let long = "x".repeat(50);
        let text =
            broken(&json!({ "a": { "b": [{ "c": long }, { "c": long, "d": 1 }] }, "e": [] }), "  ", "");
        let wanted = format!(
            "{{\n  \"a\": {{\n    \"b\": [\n      {{ \"c\": \"{long}\" }},\n      {{ \"c\": \"{long}\", \"d\": 1 }}\n    ]\n  }},\n  \"e\": []\n}}"
        );
        assert_eq!(text, wanted);
    }
}
