//! Prints JSON: on one line where it fits, with the space inside brackets that marks our entries.

use serde_json::{Map, Value as Json};

/// The longest line, in bytes.
const WIDTH: usize = 140;

/// Prints a value on one line.
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

/// Prints a value on one line, or on several if it is too long. The first line is already indented.
pub(super) fn lines(value: &Json, unit: &str, indent: &str) -> String {
    let one = line(value);
    if indent.len() + one.len() <= WIDTH { one } else { broken(value, unit, indent) }
}

/// Prints a value on several lines, as few as possible.
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

/// Prints the members of an object.
pub(super) fn pairs(parts: &Map<String, Json>, written: impl Fn(&Json) -> String) -> Vec<String> {
    parts.iter().map(|(key, part)| format!("{}: {}", Json::from(key.as_str()), written(part))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_value_is_broken_only_where_needed() {
        let long = "x".repeat(60);
        let text =
            broken(&json!({ "a": { "b": [{ "c": long }, { "c": long, "d": 1 }] }, "e": [] }), "  ", "");
        let wanted = format!(
            "{{\n  \"a\": {{\n    \"b\": [\n      {{ \"c\": \"{long}\" }},\n      {{ \"c\": \"{long}\", \"d\": 1 }}\n    ]\n  }},\n  \"e\": []\n}}"
        );
        assert_eq!(text, wanted);
    }
}
