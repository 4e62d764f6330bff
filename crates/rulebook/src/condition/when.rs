//! `when`: an expression over the other conditions, `(paths:src/** OR paths:lib/**) AND NOT mode:plan`.

use std::ops::Range;

use super::facts::Facts;
use super::kind::{Condition, ConditionKind, ConditionResult, Needs, PathExpression, Test};
use super::table::CONDITIONS;
use super::truth::{MatchMode, Truth};
use super::value::{PatternBase, Report};
use crate::diagnostic::{Code, nearest};
use crate::frontmatter::{Node, Value};

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "when",
    holds: "an expression of `key:value` terms, AND, OR, NOT and parentheses holds",
    fact: None,
    build: |kind, node, base, report| {
        let Value::Text(text) = &node.value else {
            report(Code::WrongType, node.span.clone(), format!("must be text, found {}", node.value.kind()));
            return None;
        };
        // The text of a quoted scalar starts after the quote. With escapes in it, spans are approximate.
        let offset = node.span.start + usize::from(node.span.len() > text.len());
        let mut parser = Parser { text, at: 0, depth: 0, offset, base };
        let expression = parser.parse(report).unwrap_or_else(|(span, message)| {
            let end = (offset + span.end).min(node.span.end).max(offset + span.start);
            report(Code::BadWhen, offset + span.start..end, message);
            Expression::Invalid
        });
        Some(Condition::new(kind.key, expression))
    },
};

#[derive(Debug)]
enum Expression {
    Is {
        written: String,
        condition: Condition,
    },
    Not(Box<Expression>),
    Joined(MatchMode, Vec<Expression>),
    /// The expression is invalid and reported; the rule is inactive.
    Invalid,
}

impl Expression {
    fn joined(mode: MatchMode, mut terms: Vec<Expression>) -> Expression {
        if terms.len() == 1 { terms.remove(0) } else { Expression::Joined(mode, terms) }
    }
}

impl Test for Expression {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        match self {
            Expression::Is { written, condition } => {
                let result = condition.evaluate(facts);
                let matched = if result.truth == Truth::Yes { vec![written.clone()] } else { Vec::new() };
                ConditionResult { matched, ..result }
            }
            Expression::Not(inner) => {
                let result = inner.evaluate(facts);
                let written = inner.to_string();
                match !result.truth {
                    Truth::Yes => ConditionResult::yes(vec![format!("NOT {written}")]),
                    Truth::No => ConditionResult::no(format!("{written} holds")),
                    Truth::Unknown => ConditionResult { truth: Truth::Unknown, ..result },
                }
            }
            Expression::Joined(mode, terms) => join(*mode, terms.iter().map(|term| term.evaluate(facts))),
            Expression::Invalid => ConditionResult::no("the `when` expression is invalid"),
        }
    }

    fn needs(&self) -> Needs {
        match self {
            Expression::Is { condition, .. } => condition.needs(),
            Expression::Not(inner) => inner.needs(),
            Expression::Joined(_, terms) => terms.iter().map(Test::needs).fold(Needs::default(), Needs::or),
            Expression::Invalid => Needs::default(),
        }
    }

    fn path_expression(&self) -> Option<PathExpression<'_>> {
        Some(match self {
            Expression::Is { condition, .. } => condition.path_expression(),
            Expression::Not(inner) => PathExpression::Not(Box::new(inner.path_expression()?)),
            Expression::Joined(mode, terms) => {
                PathExpression::Joined(*mode, terms.iter().filter_map(Test::path_expression).collect())
            }
            Expression::Invalid => PathExpression::Never,
        })
    }
}

fn join(mode: MatchMode, results: impl Iterator<Item = ConditionResult>) -> ConditionResult {
    let results: Vec<ConditionResult> = results.collect();
    let truth = mode.combine(results.iter().map(|result| result.truth));
    let deciding = results.into_iter().filter(|result| result.truth == truth);
    let mut joined = ConditionResult { truth, ..ConditionResult::no("") };
    let mut details = Vec::new();
    for result in deciding {
        joined.matched.extend(result.matched);
        joined.seen.extend(result.seen);
        details.extend(Some(result.detail).filter(|detail| !detail.is_empty() && truth != Truth::Yes));
    }
    joined.seen.sort_unstable();
    joined.seen.dedup();
    details.dedup();
    joined.detail = details.join("; ");
    joined
}

impl std::fmt::Display for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expression::Is { written, .. } => f.write_str(written),
            Expression::Not(inner) => write!(f, "NOT {inner}"),
            Expression::Joined(mode, terms) => {
                let terms: Vec<String> = terms.iter().map(ToString::to_string).collect();
                write!(f, "({})", terms.join(if *mode == MatchMode::All { " AND " } else { " OR " }))
            }
            Expression::Invalid => Ok(()),
        }
    }
}

const MAX_DEPTH: usize = 32;

type Fault = (Range<usize>, String);

/// A recursive descent parser with bounded depth.
struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// Where the text starts in the file.
    offset: usize,
    base: &'t PatternBase,
}

impl Parser<'_> {
    fn parse(&mut self, report: &mut Report<'_>) -> Result<Expression, Fault> {
        let expression = self.any(report)?;
        match self.peek() {
            "" => Ok(expression),
            extra => Err((self.here(extra), format!("expected AND, OR or the end, found `{extra}`"))),
        }
    }

    fn any(&mut self, report: &mut Report<'_>) -> Result<Expression, Fault> {
        let mut terms = vec![self.all(report)?];
        while self.take(&["or", "||"]) {
            terms.push(self.all(report)?);
        }
        Ok(Expression::joined(MatchMode::Any, terms))
    }

    fn all(&mut self, report: &mut Report<'_>) -> Result<Expression, Fault> {
        let mut terms = vec![self.term(report)?];
        while self.take(&["and", "&&"]) {
            terms.push(self.term(report)?);
        }
        Ok(Expression::joined(MatchMode::All, terms))
    }

    fn term(&mut self, report: &mut Report<'_>) -> Result<Expression, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.at..self.at + 1, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        let term = if self.take(&["not", "!"]) {
            Expression::Not(Box::new(self.term(report)?))
        } else if self.take(&["("]) {
            let opened = self.at - 1;
            let inner = self.any(report)?;
            if !self.take(&[")"]) {
                return Err((opened..opened + 1, "this parenthesis is not closed".to_owned()));
            }
            inner
        } else {
            self.is(report)?
        };
        self.depth -= 1;
        Ok(term)
    }

    fn is(&mut self, report: &mut Report<'_>) -> Result<Expression, Fault> {
        let word = self.peek().to_owned();
        let span = self.here(&word);
        let Some((key, value)) = word.split_once(':').filter(|(_, value)| !value.is_empty()) else {
            let found = if word.is_empty() { "the end".to_owned() } else { format!("`{word}`") };
            return Err((span, format!("expected `key:value`, found {found}")));
        };
        let Some(kind) = CONDITIONS.iter().find(|kind| kind.key == key) else {
            if key == KIND.key {
                return Err((span, "`when` cannot be nested".to_owned()));
            }
            let near = nearest(key, CONDITIONS.iter().map(|kind| kind.key));
            let help = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err((span, format!("`{key}` is not a condition{help}")));
        };
        self.at = span.end;
        let value = value.trim_matches('"').trim_matches('\'');
        let node = Node {
            value: Value::Text(value.to_owned()),
            span: self.offset + span.start..self.offset + span.end,
        };
        match kind.build(&node, self.base, report) {
            Some(condition) => Ok(Expression::Is { written: format!("{key}:{value}"), condition }),
            None => Err((span, format!("`{value}` is not a valid value of `{key}`"))),
        }
    }

    fn here(&self, word: &str) -> Range<usize> {
        let start = self.text.len() - self.text[self.at..].trim_start().len();
        start..(start + word.len()).max(start + 1)
    }

    /// The next token: a parenthesis, an operator, or `key:value` up to white space or an unbalanced `)`.
    fn peek(&self) -> &str {
        let rest = self.text[self.at..].trim_start();
        let single = |c: char| rest.starts_with(c).then(|| &rest[..1]);
        if let Some(paren) = single('(').or_else(|| single(')')) {
            return paren;
        }
        if rest.starts_with('!') {
            return &rest[..1];
        }
        let mut open = 0usize;
        let mut quote = None;
        let end = rest.find(|c: char| match (quote, c) {
            (Some(q), _) if c == q => {
                quote = None;
                false
            }
            (Some(_), _) => false,
            (None, '"' | '\'') => {
                quote = Some(c);
                false
            }
            (None, '(') => {
                open += 1;
                false
            }
            (None, ')') if open > 0 => {
                open -= 1;
                false
            }
            (None, c) => c.is_whitespace() || c == ')',
        });
        &rest[..end.unwrap_or(rest.len())]
    }

    fn take(&mut self, words: &[&str]) -> bool {
        let word = self.peek().to_owned();
        let taken = words.iter().any(|wanted| word.eq_ignore_ascii_case(wanted));
        if taken {
            self.at = self.here(&word).end;
        }
        taken
    }
}
