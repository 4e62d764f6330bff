//! The document of a remote: JSON with a list of rules. Rules that can be read are kept, the others reported.

use std::collections::HashSet;

use rulebook::source::MAX_SOURCE;
use serde_json::Value;

use super::error::RemoteError;

/// One rule of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteRule {
    /// Its name.
    pub name: String,
    /// Markdown, with or without a header.
    pub contents: String,
    /// Whether it is mandatory: it cannot be switched off.
    pub is_mandatory: bool,
}

/// The most rules one document may have.
const MAX_RULES: usize = 1000;

/// The longest name, in bytes.
const MAX_NAME: usize = 200;

/// The most problems that are reported.
const MAX_FAULTS: usize = 10;

/// Reads a document: its rules, and one line for each rule that is left out.
///
/// # Errors
/// If it is not JSON, or has no list `remoteGlobalRules`.
pub fn read_document(text: &str) -> Result<(Vec<RemoteRule>, Vec<String>), RemoteError> {
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| RemoteError::new(format!("is not JSON: {error}")))?;
    let Some(Value::Array(listed)) = value.get("remoteGlobalRules") else {
        return Err(RemoteError::new("has no list `remoteGlobalRules`"));
    };
    let mut names = HashSet::new();
    let (mut rules, mut faults) = (Vec::new(), Vec::new());
    for (at, entry) in listed.iter().enumerate() {
        match read_rule(entry) {
            _ if rules.len() == MAX_RULES => {
                faults.push(format!("has {} rules; only the first {MAX_RULES} are read", listed.len()));
                break;
            }
            Ok(rule) if !names.insert(rule.name.clone()) => {
                faults.push(format!("has two rules named `{}`; the first is used", rule.name));
            }
            Ok(rule) => rules.push(rule),
            Err(why) => faults.push(format!("rule {} is skipped: {why}", at + 1)),
        }
    }
    if let more @ 1.. = faults.len().saturating_sub(MAX_FAULTS) {
        faults.truncate(MAX_FAULTS);
        faults.push(format!("has {more} more problems like these"));
    }
    Ok((rules, faults))
}

fn read_rule(entry: &Value) -> Result<RemoteRule, String> {
    let text = |key: &str| match entry.get(key) {
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(format!("`{key}` must be a string")),
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
        return Err("a name must have other characters than dots".to_owned());
    }
    if contents.len() as u64 > MAX_SOURCE {
        return Err(format!("`contents` has {} bytes, the limit is {MAX_SOURCE}", contents.len()));
    }
    Ok(RemoteRule { name: name.to_owned(), contents: contents.to_owned(), is_mandatory })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_rules_are_kept_and_the_others_reported() {
        #[track_caller]
        fn check(text: &str, names: &[&str], faults: &[&str]) {
            let (rules, reported) = read_document(text).unwrap();
            assert_eq!(rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(), names);
            assert_eq!(reported, faults);
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
                "rule 1 is skipped: it has no `name`",
                "rule 2 is skipped: it has no `contents`",
                "rule 3 is skipped: `contents` must be a string",
                "rule 4 is skipped: a name must have 1 to 200 bytes",
                "rule 5 is skipped: `alwaysEnabled` must be true or false",
                "has two rules named `c`; the first is used",
            ],
        );
        let many = format!(r#"{{"remoteGlobalRules":[{}]}}"#, vec!["3"; 50].join(","));
        assert_eq!(read_document(&many).unwrap().1.last().unwrap(), "has 40 more problems like these");
    }

    #[test]
    fn other_documents_are_refused() {
        #[track_caller]
        fn check(text: &str, want: &str) {
            assert!(read_document(text).unwrap_err().to_string().starts_with(want), "{text}");
        }
        check("<html>", "is not JSON: ");
        check("", "is not JSON: ");
        check("[]", "has no list `remoteGlobalRules`");
        check("{}", "has no list `remoteGlobalRules`");
        check(r#"{"remoteGlobalRules":{}}"#, "has no list `remoteGlobalRules`");
        check(&"[".repeat(1 << 20), "is not JSON: recursion limit exceeded");
    }
}
