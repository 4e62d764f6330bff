//! Reads the values that conditions have in headers.

use std::ops::Range;

use crate::diagnostic::Code;
use crate::frontmatter::{Node, Value};
use crate::glob::{Dialect, Exclusions, Glob, split_list};

/// How the patterns of a rule are read.
#[derive(Clone, Debug)]
pub(crate) struct PatternBase {
    /// The format's glob dialect.
    pub dialect: Dialect,
    /// A second possible dialect, if the agent does not document which one it uses.
    pub rival: Option<Dialect>,
    /// What `!pattern` does.
    pub exclusions: Exclusions,
    /// Where commas separate patterns.
    pub splits: Splits,
    /// Whether white space separates patterns too, if each word is a complete pattern.
    pub splits_whitespace: bool,
    /// Whether blanks and quotes around a pattern, and empty patterns, count: it is known what the agent does.
    pub is_exact: bool,
    /// The root and folder of a nested rule: its patterns are relative to the folder.
    pub base: Option<(usize, String)>,
}

/// Where commas separate the patterns of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splits {
    /// Nowhere: a text is one pattern.
    Nothing,
    /// In a text.
    Texts,
    /// In a text and in the items of a list, which may be lists themselves.
    Items,
}

/// Receives the problems of a value.
pub(crate) type Report<'r> = dyn FnMut(Code, Range<usize>, String) + 'r;

/// Reads a text or a list of texts, each with its span. Reports everything else.
pub(crate) fn texts<'n>(node: &'n Node, report: &mut Report<'_>) -> Vec<(&'n str, &'n Range<usize>)> {
    let mut wrong_type = |node: &Node, expected: &str| {
        let message = format!("{expected}, found {}", node.value.kind());
        report(Code::WrongType, node.span.clone(), message);
    };
    match &node.value {
        Value::Text(text) => vec![(text, &node.span)],
        Value::List(items) => items
            .iter()
            .filter_map(|item| match &item.value {
                Value::Text(text) => Some((text.as_str(), &item.span)),
                _ => {
                    wrong_type(item, "each item must be text");
                    None
                }
            })
            .collect(),
        _ => {
            wrong_type(node, "must be text or a list");
            Vec::new()
        }
    }
}

/// Reads a list of words, which may be comma-separated text. Words are trimmed, and empty ones dropped.
pub(crate) fn words(node: &Node, report: &mut Report<'_>) -> Vec<String> {
    let is_text = matches!(node.value, Value::Text(_));
    texts(node, report)
        .iter()
        .flat_map(|(text, _)| match is_text {
            true => split_list(text).into_iter().map(|(_, word)| word).collect(),
            false => vec![*text],
        })
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Reads a pattern for names. A pattern that exceeds a limit is reported and matches nothing.
pub(super) fn name_glob(written: &str, node: &Node, report: &mut Report<'_>) -> Option<Glob> {
    Glob::new(written, Dialect::Picomatch)
        .inspect_err(|error| {
            report(Code::BadGlob, node.span.clone(), format!("the pattern matches nothing: {error}"));
        })
        .ok()
}
