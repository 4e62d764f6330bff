//! The document of a remote: JSON with a list of rules, read as far as it can be.

use std::collections::HashSet;

use rulebook::source::MAX_SOURCE;
use serde_json::Value;

/// One rule of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteRule {
    /// What it is called.
    pub name: String,
    /// Markdown, with or without a header.
    pub contents: String,
    /// Whether nobody may switch it off.
    pub is_mandatory: bool,
}

/// The most rules one document may have.
const MAX_RULES: usize = 1000;

/// The longest name, in bytes.
const MAX_NAME: usize = 200;

/// The most faults that are told.
const MAX_FAULTS: usize = 10;

/// Reads a document; what is wrong with single rules is told and leaves those out. An error says why it is none.
///
/// # Errors
/// If it is not JSON, or has no list `remoteGlobalRules`.
pub fn read_document(text: &str) -> Result<(Vec<RemoteRule>, Vec<String>), String> {
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("is not JSON: {error}"))?;
    let Some(Value::Array(listed)) = value.get("remoteGlobalRules") else {
        return Err("has no list `remoteGlobalRules`".to_owned());
    };
    let mut names = HashSet::new();
    let (mut rules, mut faults) = (Vec::new(), Vec::new());
    for (at, entry) in listed.iter().enumerate() {
        match read_rule(entry) {
            _ if rules.len() == MAX_RULES => {
                faults.push(format!("has {} rules, of which {MAX_RULES} are read", listed.len()));
                break;
            }
            Ok(rule) if !names.insert(rule.name.clone()) => {
                faults.push(format!("has two rules named `{}`; the first one counts", rule.name));
            }
            Ok(rule) => rules.push(rule),
            Err(why) => faults.push(format!("its rule {} is left out: {why}", at + 1)),
        }
    }
    if let more @ 1.. = faults.len().saturating_sub(MAX_FAULTS) {
        faults.truncate(MAX_FAULTS);
        faults.push(format!("has {more} more faults like these"));
    }
    Ok((rules, faults))
}

fn read_rule(entry: &Value) -> Result<RemoteRule, String> {
    let text = |key: &str| match entry.get(key) {
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(format!("`{key}` must be a text")),
        None => Err(format!("it has no `{key}`")),
    };
    let name = text("name")?.trim();
    let contents = text("contents")?;
    let is_mandatory = match entry.get("alwaysEnabled") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(_) => return Err("`alwaysEnabled` must be true or false".to_owned()),
    };
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(format!("a name must have 1 to {MAX_NAME} bytes"));
    }
    if name.chars().all(|c| c == '.') {
        return Err("a name must have more than dots in it".to_owned());
    }
    if contents.len() as u64 > MAX_SOURCE {
        return Err(format!("`contents` has {} bytes, at most {MAX_SOURCE} are read", contents.len()));
    }
    Ok(RemoteRule { name: name.to_owned(), contents: contents.to_owned(), is_mandatory })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_read_is_kept_and_the_rest_is_told() {
        #[track_caller]
        fn check(text: &str, names: &[&str], faults: &[&str]) {
            let (rules, told) = read_document(text).unwrap();
            assert_eq!(rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(), names);
            assert_eq!(told, faults);
        }
        check(r#"{"remoteGlobalRules":[]}"#, &[], &[]);
        check("\u{feff}{\"remoteGlobalRules\":[],\"version\":\"v1\"}", &[], &[]);
        check(
            r#"{"remoteGlobalRules":[{"name":" a ","contents":"x","alwaysEnabled":true},{"name":"b","contents":""}]}"#,
            &["a", "b"],
            &[],
        );
        check(
            r#"{"remoteGlobalRules":[3,{"name":"a"},{"name":"a","contents":1},{"name":"","contents":"x"},{"name":"b","contents":"x","alwaysEnabled":"yes"},{"name":"c","contents":"x"},{"name":"c","contents":"y"}]}"#,
            &["c"],
            &[
                "its rule 1 is left out: it has no `name`",
                "its rule 2 is left out: it has no `contents`",
                "its rule 3 is left out: `contents` must be a text",
                "its rule 4 is left out: a name must have 1 to 200 bytes",
                "its rule 5 is left out: `alwaysEnabled` must be true or false",
                "has two rules named `c`; the first one counts",
            ],
        );
        let many = format!(r#"{{"remoteGlobalRules":[{}]}}"#, vec!["3"; 50].join(","));
        assert_eq!(read_document(&many).unwrap().1.last().unwrap(), "has 40 more faults like these");
    }

    #[test]
    fn what_is_no_document_is_refused() {
        #[track_caller]
        fn check(text: &str, want: &str) {
            assert!(read_document(text).unwrap_err().starts_with(want), "{text}");
        }
        check("<html>", "is not JSON: ");
        check("", "is not JSON: ");
        check("[]", "has no list `remoteGlobalRules`");
        check("{}", "has no list `remoteGlobalRules`");
        check(r#"{"remoteGlobalRules":{}}"#, "has no list `remoteGlobalRules`");
        check(&"[".repeat(1 << 20), "is not JSON: recursion limit exceeded");
    }
}
