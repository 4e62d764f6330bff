//! Reads a syntax trigger of a header: a pattern, or a rule object of ast-grep.

use std::ops::Range;

use serde_json::{Map, Value as Json};

use super::{LANGUAGES, Language, SyntaxTrigger, literals};
use crate::diagnostic::{Code, nearest, shown};
use crate::frontmatter::{Node, Value};

/// Keys beside the rule object of ast-grep.
const BESIDE: &[&str] = &["constraints", "utils"];
/// Keys of the rule objects of ast-grep.
#[rustfmt::skip]
const RULE_KEYS: &[&str] = &[
    "all", "any", "follows", "has", "inside", "kind", "matches", "not", "nthChild", "pattern", "precedes", "range", "regex",
];

/// Why a trigger cannot be read.
pub(crate) struct SyntaxProblem {
    pub(crate) code: Code,
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// Reads one syntax trigger.
pub(crate) fn read(node: &Node) -> Result<SyntaxTrigger, SyntaxProblem> {
    let problem = |code, span: &Range<usize>, message: String, help: String| SyntaxProblem {
        code,
        span: span.clone(),
        message,
        help,
    };
    let (mut rule, mut whole, mut language) = (Map::new(), Map::new(), None);
    match &node.value {
        Value::Text(pattern) => drop(rule.insert("pattern".to_owned(), Json::String(pattern.clone()))),
        Value::Map(fields) => {
            for field in fields {
                match field.key.as_str() {
                    "language" => language = Some(read_language(&field.node)?),
                    key if BESIDE.contains(&key) => drop(whole.insert(key.to_owned(), json(&field.node))),
                    key if RULE_KEYS.contains(&key) => drop(rule.insert(key.to_owned(), json(&field.node))),
                    key => {
                        let message = format!(
                            "`{}` is not a key of an ast-grep rule; the trigger is ignored",
                            shown(key)
                        );
                        let help = help_for(key);
                        return Err(problem(Code::BadSyntaxRule, &field.key_span, message, help));
                    }
                }
            }
        }
        other => {
            let message = format!("`ast` must be a pattern, a map or a list of them, found {}", other.kind());
            return Err(problem(Code::WrongType, &node.span, message, String::new()));
        }
    }
    if rule.is_empty() {
        let help = "write `ast: {language: ts, pattern: \"new Map($$$)\"}`".to_owned();
        let message = "`ast` has no pattern; it is ignored".to_owned();
        return Err(problem(Code::BadSyntaxRule, &node.span, message, help));
    }
    let rule = Json::Object(rule);
    let pattern = rule.get("pattern").and_then(Json::as_str).map(str::to_owned);
    let written = pattern.unwrap_or_else(|| rule.to_string());
    let literals = literals(&rule);
    whole.insert("rule".to_owned(), rule);
    Ok(SyntaxTrigger { written, language, rule: Json::Object(whole), literals, span: node.span.clone() })
}

/// What to write instead of a key.
fn help_for(key: &str) -> String {
    let keys = || ["language"].iter().chain(RULE_KEYS).chain(BESIDE).copied();
    match key {
        "lang" => "write `language`".to_owned(),
        "rule" => {
            "write the keys of `rule` into `ast` itself: `ast: {language: ts, pattern: \"new Map($$$)\"}`"
                .to_owned()
        }
        "fix" | "transform" | "rewriters" => "remove it: a rule changes no code".to_owned(),
        _ => nearest(key, keys()).map_or_else(
            || {
                format!(
                    "write one of {}",
                    keys().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
                )
            },
            |near| format!("did you mean `{near}`?"),
        ),
    }
}

fn read_language(node: &Node) -> Result<&'static Language, SyntaxProblem> {
    let name = if let Value::Text(name) = &node.value { name.as_str() } else { "" };
    Language::named(name).ok_or_else(|| {
        let names: Vec<&str> = LANGUAGES.iter().map(|one| one.names[0]).collect();
        SyntaxProblem {
            code: Code::BadSyntaxRule,
            span: node.span.clone(),
            message: format!("there is no grammar for `{}`; the trigger is ignored", shown(name)),
            help: format!("write one of {}", names.join(", ")),
        }
    })
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
