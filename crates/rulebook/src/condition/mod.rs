//! Conditions: questions about the evidence, each with a three-valued answer and its reasons.

mod command;
mod content;
mod facts;
pub(crate) mod filters;
mod keywords;
mod named;
mod paths;
mod regexes;
mod tools;
mod when;

pub use facts::Facts;
pub(crate) use filters::FILTERS;
pub use paths::Paths;

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Code;
use crate::frontmatter::{Node, Value};
use crate::glob::{self, Dialect, Glob};

/// An answer's certainty. All-of is the minimum, any-of the maximum; only `Yes` activates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// The evidence speaks against it.
    No,
    /// There is no evidence.
    Unknown,
    /// The evidence speaks for it.
    Yes,
}

impl std::ops::Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        match self {
            Truth::No => Truth::Yes,
            Truth::Unknown => Truth::Unknown,
            Truth::Yes => Truth::No,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Truth {
        if holds { Truth::Yes } else { Truth::No }
    }
}

/// Whether all conditions of a rule must hold, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    /// All must hold.
    All,
    /// One suffices.
    Any,
}

impl MatchMode {
    /// Combines answers; no answers constrain nothing.
    pub fn combine(self, truths: impl Iterator<Item = Truth>) -> Truth {
        match self {
            MatchMode::All => truths.min(),
            MatchMode::Any => truths.max(),
        }
        .unwrap_or(Truth::Yes)
    }
}

/// One question about the evidence.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Its key in headers and in reasons.
    pub key: &'static str,
    test: Arc<dyn Test>,
}

impl Condition {
    /// A condition with its key.
    pub fn new(key: &'static str, test: impl Test + 'static) -> Condition {
        Condition { key, test: Arc::new(test) }
    }

    /// Puts the question.
    pub fn ask(&self, facts: &Facts<'_>) -> ConditionResult {
        self.test.ask(facts)
    }

    /// Facts it asks for which somebody has to look up first.
    pub fn needs(&self) -> Needs {
        self.test.needs()
    }

    /// What it asks of paths.
    pub(crate) fn shape(&self) -> PathExpression<'_> {
        self.test.shape().unwrap_or(PathExpression::Other(self.key))
    }
}

/// What a condition asks of paths, and what else it asks.
#[derive(Clone, Debug)]
pub enum PathExpression<'c> {
    /// A path must match.
    Paths(&'c Paths),
    /// The condition of this key, which asks for something else.
    Other(&'static str),
    /// The opposite.
    Not(Box<PathExpression<'c>>),
    /// Several at once.
    Joined(MatchMode, Vec<PathExpression<'c>>),
    /// Nothing meets it.
    Never,
}

/// How a condition is answered.
pub trait Test: Debug + Send + Sync {
    /// Answers from the facts alone.
    fn ask(&self, facts: &Facts<'_>) -> ConditionResult;

    /// Facts somebody has to look up first.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// What it asks of paths, where it asks for any.
    fn shape(&self) -> Option<PathExpression<'_>> {
        None
    }
}

/// An answer and its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionResult {
    /// How certain.
    pub truth: Truth,
    /// What of the condition matched, as written.
    pub matched: Vec<String>,
    /// Which evidence paths it rests on, as positions in the evidence.
    pub seen: Vec<usize>,
    /// Why not, where it is not yes.
    pub detail: String,
}

impl ConditionResult {
    fn yes(matched: Vec<String>) -> ConditionResult {
        ConditionResult { truth: Truth::Yes, matched, seen: Vec::new(), detail: String::new() }
    }

    fn no(detail: impl Into<String>) -> ConditionResult {
        ConditionResult { truth: Truth::No, matched: Vec::new(), seen: Vec::new(), detail: detail.into() }
    }

    fn unknown(missing: &str) -> ConditionResult {
        ConditionResult { truth: Truth::Unknown, ..ConditionResult::no(format!("no {missing} is known")) }
    }
}

/// Facts that cost something to look up: only what a rule asks for is looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The git branch.
    pub branch: bool,
    /// The text of the files in evidence.
    pub content: bool,
    /// What the workspace is made of.
    pub tags: bool,
}

impl Needs {
    /// What either needs.
    pub fn or(self, other: Needs) -> Needs {
        Needs {
            branch: self.branch || other.branch,
            content: self.content || other.content,
            tags: self.tags || other.tags,
        }
    }
}

/// One row of [`CONDITIONS`].
#[derive(Debug)]
pub struct ConditionKind {
    /// The key in headers.
    pub key: &'static str,
    /// When it holds, one sentence for documentation.
    pub holds: &'static str,
    /// Reads a value; what cannot be read is told and constrains nothing.
    pub build: fn(&Node, &PatternBase, &mut Tell<'_>) -> Option<Condition>,
}

/// What a rule's patterns stand on.
#[derive(Clone, Debug)]
pub struct PatternBase {
    /// The format's glob dialect.
    pub dialect: Dialect,
    /// Another dialect it may be, where the format's is documented nowhere.
    pub rival: Option<Dialect>,
    /// Where commas part patterns.
    pub splits: Splits,
    /// Whether white space parts them there as well, where each is whole.
    pub words: bool,
    /// Root and folder of a nested rule: its patterns are relative to it.
    pub base: Option<(usize, String)>,
}

/// Where commas part the patterns of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Splits {
    /// Nowhere: a text is one pattern.
    Nothing,
    /// In a text.
    Texts,
    /// In a text and in the items of a list, which may hold further lists.
    Items,
}

/// Takes what is to be told about a value.
pub type Tell<'t> = dyn FnMut(Code, Range<usize>, String) + 't;

/// Every condition there is, in the order in which reasons are given.
pub static CONDITIONS: &[ConditionKind] = &[
    paths::KIND,
    named::MODE,
    named::PROVIDER,
    named::MODEL,
    named::AGENT,
    named::TAGS,
    named::OS,
    named::ENV,
    tools::KIND,
    command::KIND,
    keywords::KIND,
    named::BRANCH,
    content::KIND,
    when::KIND,
];

/// Reads a string, or a list of which the strings are kept and the rest told; with the place of each.
pub(crate) fn texts<'n>(node: &'n Node, tell: &mut Tell<'_>) -> Vec<(&'n str, &'n Range<usize>)> {
    match &node.value {
        Value::Text(text) => vec![(text, &node.span)],
        Value::List(items) => items
            .iter()
            .filter_map(|item| match &item.value {
                Value::Text(text) => Some((text.as_str(), &item.span)),
                other => {
                    tell(
                        Code::WrongType,
                        item.span.clone(),
                        format!("items must be text, found {}", other.kind()),
                    );
                    None
                }
            })
            .collect(),
        other => {
            tell(
                Code::WrongType,
                node.span.clone(),
                format!("must be text or a list, found {}", other.kind()),
            );
            Vec::new()
        }
    }
}

/// Reads words: a comma list or a list, trimmed, without empty ones.
pub(crate) fn words(node: &Node, tell: &mut Tell<'_>) -> Vec<String> {
    let split = matches!(node.value, Value::Text(_));
    texts(node, tell)
        .iter()
        .flat_map(|(text, _)| {
            if split {
                glob::split_list(text).into_iter().map(|(_, word)| word).collect()
            } else {
                vec![*text]
            }
        })
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Reads a pattern for names; one beyond the bounds is told, and matches nothing.
fn name_glob(written: &str, node: &Node, tell: &mut Tell<'_>) -> Option<Glob> {
    Glob::new(written, Dialect::Picomatch)
        .inspect_err(|error| {
            tell(Code::BadGlob, node.span.clone(), format!("the pattern matches nothing: {error}"));
        })
        .ok()
}

/// Whether a regular expression can be read. Look-around and back-references are another engine's business.
pub(crate) fn check_regex(pattern: &str) -> Result<(), String> {
    use regex_syntax::ast::ErrorKind::{UnsupportedBackreference, UnsupportedLookAround};
    match regex_syntax::ParserBuilder::new().nest_limit(100).build().parse(pattern) {
        Ok(_) => Ok(()),
        Err(regex_syntax::Error::Parse(error))
            if matches!(error.kind(), UnsupportedLookAround | UnsupportedBackreference) =>
        {
            Ok(())
        }
        Err(regex_syntax::Error::Parse(error)) => Err(error.kind().to_string()),
        Err(regex_syntax::Error::Translate(error)) => Err(error.kind().to_string()),
        Err(_) => Err("it cannot be read".to_owned()),
    }
}

#[cfg(test)]
mod tests;
