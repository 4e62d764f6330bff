//! Syntax triggers: patterns on the syntax tree of what a call writes, or of a file.
//!
//! The engine knows which texts a call changes and which languages they are in. Who parses them is an argument: grammars are
//! C code, and reading the file before the edit needs a disk.

mod read;

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::occurrences;

pub(crate) use read::{SyntaxProblem, read};

/// A syntax trigger of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntaxTrigger {
    /// The pattern, or the rule object as JSON, for people.
    pub written: String,
    /// The language; without one, the file name decides.
    pub language: Option<&'static Language>,
    /// The rule object of ast-grep, with `rule` and perhaps `constraints` and `utils`.
    pub rule: Value,
    /// Words that are in every text that matches.
    pub literals: Vec<String>,
    /// Where it is in the text of its file.
    pub span: Range<usize>,
}

/// A language with a grammar.
#[derive(Debug, PartialEq, Eq)]
pub struct Language {
    /// Its names in ast-grep; the first one is the grammar.
    pub names: &'static [&'static str],
    /// The extensions of its files.
    pub extensions: &'static [&'static str],
    /// Extensions that are read with another grammar.
    pub dialects: &'static [(&'static str, &'static str)],
}

const fn language(names: &'static [&'static str], extensions: &'static [&'static str]) -> Language {
    Language { names, extensions, dialects: &[] }
}

/// Every language, sorted.
pub const LANGUAGES: &[Language] = &[
    language(&["bash"], &["sh", "bash", "zsh", "ksh", "bats"]),
    language(&["go", "golang"], &["go"]),
    language(&["java"], &["java"]),
    language(&["javascript", "js", "jsx"], &["js", "mjs", "cjs", "jsx"]),
    language(&["json"], &["json"]),
    language(&["python", "py"], &["py", "pyi"]),
    language(&["rust", "rs"], &["rs"]),
    language(&["tsx"], &["tsx"]),
    Language { dialects: &[("tsx", "tsx")], ..language(&["typescript", "ts"], &["ts", "mts", "cts", "tsx"]) },
    language(&["yaml", "yml"], &["yaml", "yml"]),
];

impl Language {
    /// The language of a name or alias of ast-grep.
    pub fn named(name: &str) -> Option<&'static Language> {
        LANGUAGES.iter().find(|one| one.names.iter().any(|known| known.eq_ignore_ascii_case(name)))
    }
}

/// A node that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeMatch {
    /// Where it is in the text.
    pub range: Range<usize>,
    /// Its kind in the grammar.
    pub kind: String,
}

/// The text of a file before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileText {
    /// It does not exist, or cannot be read as text.
    Absent,
    /// It is longer than the limit.
    TooLong,
    /// Its text.
    Text(String),
}

/// Parses texts, and knows the files before a change.
pub trait Syntax: Send + Sync + Debug {
    /// The text of a file now, if it has at most this many bytes.
    fn read(&self, root: usize, path: &str, limit: usize) -> FileText;

    /// The nodes of a text that match, or why the trigger cannot be used.
    fn find(&self, trigger: &SyntaxTrigger, grammar: &str, text: &str) -> Result<Vec<NodeMatch>, String>;

    /// The nodes of two texts that match, without those that are the same in both trees; `None` if those are not known. Only for
    /// triggers that look at a node and what is in it.
    fn find_changed(
        &self,
        _trigger: &SyntaxTrigger,
        _grammar: &str,
        _texts: [&str; 2],
    ) -> Result<Option<[Vec<NodeMatch>; 2]>, String> {
        Ok(None)
    }

    /// What is wrong with a trigger in a grammar.
    fn problem(&self, trigger: &SyntaxTrigger, grammar: &str) -> Option<String> {
        self.find(trigger, grammar, "").err()
    }
}

/// Who parses, as evidence has it.
#[derive(Clone, Debug)]
pub struct Parser(pub Arc<dyn Syntax>);

impl PartialEq for Parser {
    fn eq(&self, other: &Parser) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Parser {}

/// Texts longer than this are not judged.
pub(crate) const MAX_TEXT: usize = 1 << 20;

impl SyntaxTrigger {
    /// The grammar for a file; `None` if the trigger is not about such files.
    pub fn grammar(&self, path: &str) -> Option<&'static str> {
        let extension = path.rsplit('/').next()?.rsplit_once('.')?.1.to_ascii_lowercase();
        let is_of = |one: &&Language| one.extensions.contains(&extension.as_str());
        let language = match self.language {
            Some(language) => Some(language).filter(is_of)?,
            None => LANGUAGES.iter().find(is_of)?,
        };
        let dialect = language.dialects.iter().find(|(of, _)| *of == extension);
        Some(dialect.map_or(language.names[0], |(_, grammar)| grammar))
    }

    /// The grammars that it may be used with.
    pub(crate) fn grammars(&self) -> Vec<&'static str> {
        let languages = LANGUAGES.iter().filter(|one| self.language.is_none_or(|own| own == *one));
        let grammars = languages.flat_map(|one| {
            one.names.first().copied().into_iter().chain(one.dialects.iter().map(|(_, grammar)| *grammar))
        });
        let mut grammars: Vec<&str> = grammars.collect();
        grammars.dedup();
        grammars
    }

    /// Whether a text may match, by the words that every match contains.
    pub fn may_match(&self, text: &str) -> bool {
        self.literals.iter().all(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some())
    }

    /// The nodes that a change adds: those whose text, without its white space, occurs more often after it than before.
    pub(crate) fn added(
        &self,
        syntax: &dyn Syntax,
        grammar: &str,
        before: &str,
        after: &str,
    ) -> Result<Vec<NodeMatch>, String> {
        let may_know = self.may_match(before);
        let changed = may_know && is_local(&self.rule);
        let changed = changed.then(|| syntax.find_changed(self, grammar, [before, after])).transpose()?;
        let [known, found] = match changed.flatten() {
            Some(nodes) => nodes,
            None => {
                let found = syntax.find(self, grammar, after)?;
                if found.is_empty() {
                    return Ok(found);
                }
                [if may_know { syntax.find(self, grammar, before)? } else { Vec::new() }, found]
            }
        };
        let key = |text: &str, node: &NodeMatch| {
            occurrences::code_key(text.get(node.range.clone()).unwrap_or_default().as_bytes())
        };
        Ok(occurrences::added(known.iter().map(|node| key(before, node)), found, |node| key(after, node)))
    }
}

/// Keys of rule objects that look at a node and what is in it.
const LOCAL: &[&str] = &["all", "any", "kind", "not", "pattern", "regex", "rule"];

/// Whether a rule object looks only at a node and what is in it, so that equal trees have equal matches.
fn is_local(rule: &Value) -> bool {
    match rule {
        Value::Object(fields) => {
            let is_text = |key: &str, value: &Value| key == "pattern" && value.is_string();
            fields.iter().all(|(key, value)| {
                LOCAL.contains(&&**key) && (is_text(key, value) || key != "pattern" && is_local(value))
            })
        }
        Value::Array(parts) => parts.iter().all(is_local),
        _ => true,
    }
}

/// What ends the part of a pattern in which every word is a leaf of its tree. The text of some strings, comments and blocks is
/// no leaf, and then it is not compared.
const HIDES: &[&str] = &["\"", "'", "`", "\n", "#", "//", "/*"];

/// The words of a pattern that are in every text it matches: not meta variables, and not parts of rule objects that may be
/// absent.
fn literals(rule: &Value) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(pattern) = rule.get("pattern").and_then(Value::as_str) {
        let end = HIDES.iter().filter_map(|mark| pattern.find(mark)).min().unwrap_or(pattern.len());
        let pattern = &pattern[..end];
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let parts = pattern.split(|c| !is_word(c)).filter(|word| !word.is_empty() && !word.contains('$'));
        words.extend(parts.map(str::to_owned));
    }
    for part in rule.get("all").and_then(Value::as_array).into_iter().flatten() {
        words.extend(literals(part));
    }
    words.sort();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_that_every_match_has_are_known() {
        #[track_caller]
        fn check(rule: &Value, wanted: &[&str]) {
            assert_eq!(literals(rule), wanted, "{rule}");
        }
        check(&json!({ "pattern": "new Map($$$)" }), &["Map", "new"]);
        check(&json!({ "pattern": "$A.unwrap_($B)" }), &["unwrap_"]);
        check(
            &json!({ "all": [{ "pattern": "a($X)" }, { "any": [{ "pattern": "b" }] }], "kind": "c" }),
            &["a"],
        );
        // What is in a string, a comment or a block is not always compared.
        check(&json!({ "pattern": "text: |\n  $A\n  more" }), &["text"]);
        check(&json!({ "pattern": "log('x', $A)" }), &["log"]);
        check(&json!({ "pattern": { "context": "a", "selector": "b" } }), &[]);
    }
}
