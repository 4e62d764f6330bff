//! Reads the syntax triggers of a header: `ast`.

use serde_json::{Map, Value as Json};

use super::fields::Fields;
use super::reader::Reader;
use crate::diagnostic::{Code, nearest, shown};
use crate::frontmatter::{Node, Value};
use crate::stream::syntax::{LANGUAGES, Language, SyntaxTrigger, literals};

/// Keys beside the rule object of ast-grep.
const BESIDE: &[&str] = &["constraints", "utils"];
/// Keys of the rule objects of ast-grep.
#[rustfmt::skip]
const RULE_KEYS: &[&str] = &[
    "all", "any", "follows", "has", "inside", "kind", "matches", "not", "nthChild", "pattern", "precedes", "range", "regex",
];

impl Fields {
    /// Reads `ast`: a pattern, a map, or a list of them. What cannot be read is reported.
    pub(super) fn syntax(&self, reader: &mut Reader) -> Vec<SyntaxTrigger> {
        let Some(field) = self.given("ast") else { return Vec::new() };
        match &field.node.value {
            Value::List(items) => items.iter().filter_map(|item| trigger(item, reader)).collect(),
            _ => trigger(&field.node, reader).into_iter().collect(),
        }
    }
}

/// Reads one syntax trigger.
pub(super) fn trigger(node: &Node, reader: &mut Reader) -> Option<SyntaxTrigger> {
    let (mut rule, mut whole, mut language) = (Map::new(), Map::new(), None);
    match &node.value {
        Value::Text(pattern) => drop(rule.insert("pattern".to_owned(), Json::String(pattern.clone()))),
        Value::Map(fields) => {
            for field in fields {
                match field.key.as_str() {
                    "language" => language = Some(read_language(&field.node, reader)?),
                    key if BESIDE.contains(&key) => drop(whole.insert(key.to_owned(), json(&field.node))),
                    key if RULE_KEYS.contains(&key) => drop(rule.insert(key.to_owned(), json(&field.node))),
                    key => {
                        let message = format!(
                            "`{}` is not a key of an ast-grep rule; the trigger is ignored",
                            shown(key)
                        );
                        let near = nearest(key, RULE_KEYS.iter().copied());
                        let diagnostic = reader.report(Code::BadSyntaxRule, field.key_span.clone(), message);
                        diagnostic.help =
                            near.map(|near| format!("did you mean `{near}`?")).unwrap_or_default();
                        return None;
                    }
                }
            }
        }
        other => {
            let message = format!("`ast` must be a pattern, a map or a list of them, found {}", other.kind());
            reader.report(Code::WrongType, node.span.clone(), message);
            return None;
        }
    }
    if rule.is_empty() {
        reader.report(Code::BadSyntaxRule, node.span.clone(), "`ast` has no pattern; it is ignored").help =
            "write `ast: {language: ts, pattern: \"new Map($$$)\"}`".to_owned();
        return None;
    }
    let rule = Json::Object(rule);
    let pattern = rule.get("pattern").and_then(Json::as_str).map(str::to_owned);
    let written = pattern.unwrap_or_else(|| rule.to_string());
    let literals = literals(&rule);
    whole.insert("rule".to_owned(), rule);
    Some(SyntaxTrigger { written, language, rule: Json::Object(whole), literals })
}

fn read_language(node: &Node, reader: &mut Reader) -> Option<&'static Language> {
    let name = if let Value::Text(name) = &node.value { name.as_str() } else { "" };
    let language = Language::named(name);
    if language.is_none() {
        let names: Vec<&str> = LANGUAGES.iter().map(|one| one.names[0]).collect();
        let message = format!("there is no grammar for `{}`; the trigger is ignored", shown(name));
        reader.report(Code::BadSyntaxRule, node.span.clone(), message).help =
            format!("write one of {}", names.join(", "));
    }
    language
}

/// A value of a header as JSON.
fn json(node: &Node) -> Json {
    match &node.value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => Json::from(*value),
        Value::Float(_) => Json::Null,
        Value::Text(text) => Json::String(text.clone()),
        Value::List(items) => Json::Array(items.iter().map(json).collect()),
        Value::Map(fields) => {
            Json::Object(fields.iter().map(|field| (field.key.clone(), json(&field.node))).collect())
        }
    }
}
