//! Rules that a model reads on request, as skills: the extension `io.modelcontextprotocol/skills`.
//!
//! A skill is one file, `SKILL.md`, that is written here: a header with name and description, and the text that reading the
//! rule returns. For a skill of the workspace that text names its folder, where the agent finds the other files.

use rulebook::id::percent_encoded;
use rulebook::resolve::Rulebook;
use rulebook::rule::{Activation, Rule};
use rulebook_workspace::sha256;
use serde_json::{Value, json};

/// The name of the extension.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/skills";

/// The longest name and the longest description that the format of skills allows, in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;

/// A rule as a skill.
pub(super) struct Skill {
    pub(super) uri: String,
    name: String,
    description: String,
    /// The text of `SKILL.md`.
    pub(super) text: String,
}

impl Skill {
    fn of(rule: &Rule) -> Skill {
        let address = rule.address();
        let name = name(address);
        // A path of names is its own address; any other name is one segment before the name of the skill.
        let path = match address.split('/').all(|part| self::name(part) == part) {
            true => address.to_owned(),
            false => format!("{}/{name}", percent_encoded(address).replace('/', "%2F")),
        };
        let description: String =
            rule.description.as_deref().unwrap_or(address).chars().take(MAX_DESCRIPTION).collect();
        let header = format!("name: {}\ndescription: {}", json!(name), json!(description));
        let text = format!("---\n{header}\n---\n\n{}\n", rule.readable().trim());
        Skill { uri: format!("skill://{path}/SKILL.md"), name, description, text }
    }

    fn entry(&self) -> Value {
        let file = json!({
            "uri": self.uri,
            "digest": format!("sha256:{}", sha256(self.text.as_bytes())),
            "size": self.text.len(),
        });
        json!({
            "uri": self.uri,
            "frontmatter": { "name": self.name, "description": self.description },
            "resources": [file],
        })
    }
}

/// The rules that are read on request, in the order of their addresses.
fn skills(book: &Rulebook) -> Vec<Skill> {
    let is_served = |rule: &Rule| rule.activation == Activation::OnRequest;
    let on = book.rules().filter(|(rule, off)| off.is_none() && is_served(rule));
    let mut skills: Vec<Skill> = on.map(|(rule, _)| Skill::of(rule)).collect();
    skills.sort_by(|a, b| a.uri.cmp(&b.uri));
    skills.dedup_by(|a, b| a.uri == b.uri);
    skills
}

/// Finds a skill by the address of its `SKILL.md`.
pub(super) fn find(book: &Rulebook, uri: &str) -> Option<Skill> {
    skills(book).into_iter().find(|skill| skill.uri == uri)
}

/// The result of `skills/list`.
pub(super) fn list(book: &Rulebook) -> Value {
    let entries: Vec<Value> = skills(book).iter().map(Skill::entry).collect();
    result("skills", &entries.into())
}

/// The result of `skills/get`.
pub(super) fn get(book: &Rulebook, uri: &str) -> Option<Value> {
    Some(result("skill", &find(book, uri)?.entry()))
}

/// A result as the protocol wants it. Rules change at any time, so nothing may be kept.
fn result(key: &str, value: &Value) -> Value {
    json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", key: value })
}

/// Converts the last part of an address into a name that the format of skills allows: lower-case letters, digits and single
/// hyphens.
fn name(address: &str) -> String {
    let part = address.rsplit('/').next().unwrap_or_default();
    let dashed: String =
        part.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    let name: String =
        dashed.split_whitespace().collect::<Vec<_>>().join("-").chars().take(MAX_NAME).collect();
    match name.trim_matches('-') {
        "" => "rule".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_letters_digits_and_single_hyphens() {
        #[track_caller]
        fn check(address: &str, want: &str) {
            assert_eq!(name(address), want);
        }
        check("db", "db");
        check("skill/pdf-forms", "pdf-forms");
        check("Style__guide@cursor", "style-guide-cursor");
        check("日本", "rule");
        check(&"a".repeat(200), &"a".repeat(64));
    }
}
