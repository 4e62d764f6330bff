//! What a condition is: its test, its result, and its row in the table.

use std::fmt::Debug;
use std::sync::Arc;

use super::facts::Facts;
use super::path_patterns::Paths;
use super::truth::{MatchMode, Truth};
use super::value::{PatternBase, Report};
use crate::frontmatter::Node;
use crate::syntax::SyntaxTrigger;

/// One test of the evidence.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Its key in headers and in reasons.
    pub key: &'static str,
    test: Arc<dyn Test>,
}

impl Condition {
    pub(crate) fn new(key: &'static str, test: impl Test + 'static) -> Condition {
        Condition { key, test: Arc::new(test) }
    }

    /// Evaluates the condition.
    pub fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        self.test.evaluate(facts)
    }

    /// The facts to look up first.
    pub fn needs(&self) -> Needs {
        self.test.needs()
    }

    /// The words or patterns that it compares with the evidence, as written; none for an expression.
    pub fn wanted(&self) -> Vec<&str> {
        self.test.wanted()
    }

    /// What it looks for in syntax trees.
    pub fn syntax(&self) -> &[SyntaxTrigger] {
        self.test.syntax()
    }

    /// What it requires of paths.
    pub(crate) fn path_expression(&self) -> PathExpression<'_> {
        self.test.path_expression().unwrap_or(PathExpression::Other(self.key))
    }
}

/// What a condition requires of paths.
#[derive(Clone, Debug)]
pub(crate) enum PathExpression<'c> {
    /// A path must match.
    Paths(&'c Paths),
    /// A path must be below a folder of a root; of the root itself if the folder is empty.
    Below(usize, &'c str),
    /// The condition with this key is not about paths.
    Other(&'static str),
    /// The inner expression must not hold.
    Not(Box<PathExpression<'c>>),
    /// All or any of several must hold.
    Joined(MatchMode, Vec<PathExpression<'c>>),
    /// It never holds.
    Never,
}

impl PathExpression<'_> {
    /// Whether some part of it is a condition with this key.
    pub(crate) fn names(&self, key: &str) -> bool {
        match self {
            PathExpression::Other(own) => *own == key,
            PathExpression::Not(inner) => inner.names(key),
            PathExpression::Joined(_, parts) => parts.iter().any(|part| part.names(key)),
            PathExpression::Paths(_) | PathExpression::Below(..) | PathExpression::Never => false,
        }
    }
}

/// How a condition is evaluated.
pub(crate) trait Test: Debug + Send + Sync {
    /// Decides from the facts alone.
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult;

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn wanted(&self) -> Vec<&str> {
        Vec::new()
    }

    /// What it looks for in syntax trees.
    fn syntax(&self) -> &[SyntaxTrigger] {
        &[]
    }

    /// `None` if the condition is not about paths.
    fn path_expression(&self) -> Option<PathExpression<'_>> {
        None
    }
}

/// The result of evaluating a condition, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionResult {
    /// Whether the condition holds.
    pub truth: Truth,
    /// The parts of the condition that matched, as written.
    pub matched: Vec<String>,
    /// The evidence paths that matched, as positions in the evidence.
    pub seen: Vec<usize>,
    /// Why the condition does not hold; empty if it does.
    pub detail: String,
}

impl ConditionResult {
    pub(super) fn yes(matched: Vec<String>) -> ConditionResult {
        ConditionResult { truth: Truth::Yes, matched, seen: Vec::new(), detail: String::new() }
    }

    pub(super) fn no(detail: impl Into<String>) -> ConditionResult {
        ConditionResult { truth: Truth::No, matched: Vec::new(), seen: Vec::new(), detail: detail.into() }
    }

    pub(super) fn unknown(detail: impl Into<String>) -> ConditionResult {
        ConditionResult { truth: Truth::Unknown, ..ConditionResult::no(detail) }
    }

    pub(super) fn not_known(missing: &str) -> ConditionResult {
        ConditionResult::unknown(format!("the evidence has no {missing}"))
    }

    /// The result of comparing known values with patterns, each as written and with whether it matches.
    pub(super) fn of_patterns<'p>(
        name: &str,
        known: &[String],
        patterns: impl Iterator<Item = (&'p str, bool)>,
    ) -> ConditionResult {
        let (matched, other): (Vec<_>, Vec<_>) = patterns.partition(|(_, is_match)| *is_match);
        if !matched.is_empty() {
            return ConditionResult::yes(
                matched.into_iter().map(|(written, _)| written.to_owned()).collect(),
            );
        }
        let known = if known.is_empty() { "nothing".to_owned() } else { format!("`{}`", known.join("`, `")) };
        let wanted: Vec<&str> = other.into_iter().map(|(written, _)| written).collect();
        ConditionResult::no(format!("{name} is {known}, wanted `{}`", wanted.join("`, `")))
    }
}

/// Facts that are expensive to look up: only those that a rule needs are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The git branch.
    pub branch: bool,
    /// The text of the files in evidence.
    pub content: bool,
    /// Who parses these texts.
    pub syntax: bool,
    /// The tags of the workspace.
    pub tags: bool,
}

impl Needs {
    /// The union of both.
    pub fn or(self, other: Needs) -> Needs {
        Needs {
            branch: self.branch || other.branch,
            content: self.content || other.content,
            syntax: self.syntax || other.syntax,
            tags: self.tags || other.tags,
        }
    }
}

/// One row of the table of conditions.
#[derive(Debug)]
pub struct ConditionKind {
    /// The key in headers.
    pub key: &'static str,
    /// When the condition holds: one sentence for documentation.
    pub holds: &'static str,
    /// The fact of a condition on one fact.
    pub(super) fact: Option<Fact>,
    pub(super) build: Build,
}

/// A fact of the evidence that a condition compares with its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    Mode,
    Provider,
    Model,
    Agent,
    Tags,
    Os,
    Env,
    Tools,
    Branch,
}

pub(super) type Build = fn(&ConditionKind, &Node, &PatternBase, &mut Report<'_>) -> Option<Condition>;

impl ConditionKind {
    /// Reads a value. What cannot be read is reported and constrains nothing.
    pub(crate) fn build(
        &self,
        node: &Node,
        base: &PatternBase,
        report: &mut Report<'_>,
    ) -> Option<Condition> {
        (self.build)(self, node, base, report)
    }
}
