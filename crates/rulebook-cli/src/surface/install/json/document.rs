//! A parsed JSON file: its values, its tokens, and how it is laid out.

use std::ops::Range;

use jsonc_parser::ast::{Object, StringLit, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value as Json;

use crate::surface::install::fault::Fault;
use crate::surface::install::program::Program;

/// A range of the text and its replacement.
pub(super) type Edit = (Range<usize>, String);

pub(super) struct Document<'t> {
    pub(super) text: &'t str,
    pub(super) root: Value<'t>,
    /// All tokens, comments included.
    tokens: Vec<TokenAndRange<'t>>,
}

impl<'t> Document<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Document<'t>, Fault> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &options).map_err(|error| {
            let why = format!("the file is not valid JSON: {}", lower(&error.kind().to_string()));
            Fault::new(error.range().start, why)
        })?;
        let Some(root) = parsed.value else {
            return Err(Fault::new(0, "the file contains no JSON; write `{}`, or delete the file"));
        };
        Ok(Document { text, root, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// Returns one level of the file's indentation.
    pub(super) fn unit(&self) -> String {
        let first = items(&self.root).first().and_then(|first| self.indent_of_line(first.start));
        first.filter(|unit| !unit.is_empty()).unwrap_or("  ").to_owned()
    }

    pub(super) fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Returns the indentation of the line that contains `at`.
    pub(super) fn indent_at(&self, at: usize) -> String {
        let line = &self.text[..at];
        let line = &line[line.rfind('\n').map_or(0, |end| end + 1)..];
        line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
    }

    /// Returns the indentation before `start` if nothing else precedes it on its line.
    pub(super) fn indent_of_line(&self, start: usize) -> Option<&'t str> {
        let (_, line) = self.text[..start].rsplit_once('\n')?;
        line.chars().all(|c| matches!(c, ' ' | '\t')).then_some(line)
    }

    pub(super) fn token_before(&self, at: usize) -> Option<&TokenAndRange<'t>> {
        self.tokens[..self.tokens.partition_point(|token| token.range.start < at)].last()
    }

    pub(super) fn token_after(&self, at: usize) -> Option<&TokenAndRange<'t>> {
        self.tokens.get(self.tokens.partition_point(|token| token.range.start < at))
    }

    /// Whether it has no white space. What we add always has some: another program wrote the file again.
    pub(super) fn is_compact(&self) -> bool {
        self.tokens.windows(2).all(|pair| pair[0].range.end == pair[1].range.start)
    }

    pub(super) fn comma_after(&self, at: usize) -> Option<usize> {
        let from = self.tokens.partition_point(|token| token.range.start < at);
        let next = self.tokens[from..].iter().find(|next| !is_comment(&next.token))?;
        matches!(next.token, Token::Comma).then_some(next.range.start)
    }

    /// Whether a value contains comments before, between or after its items.
    pub(super) fn has_comment(&self, value: &Value<'_>) -> bool {
        let is_comment =
            |token: Option<&TokenAndRange<'_>>| token.is_some_and(|token| is_comment(&token.token));
        let mut items = items(value).into_iter();
        is_comment(self.token_before(value.range().end - 1))
            || items.any(|item| {
                is_comment(self.token_before(item.start)) || is_comment(self.token_after(item.end()))
            })
    }
}

fn is_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_) | Token::CommentBlock(_))
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

/// A member of an object or an element of a list.
pub(super) struct Item<'a, 't> {
    pub(super) key: Option<&'a str>,
    pub(super) start: usize,
    pub(super) value: &'a Value<'t>,
}

impl Item<'_, '_> {
    pub(super) fn end(&self) -> usize {
        self.value.range().end
    }
}

pub(super) fn items<'a, 't>(value: &'a Value<'t>) -> Vec<Item<'a, 't>> {
    match value {
        Value::Object(object) => {
            let item = |prop: &'a jsonc_parser::ast::ObjectProp<'t>| Item {
                key: Some(prop.name.as_str()),
                start: prop.range.start,
                value: &prop.value,
            };
            object.properties.iter().map(item).collect()
        }
        Value::Array(array) => {
            let item = |value: &'a Value<'t>| Item { key: None, start: value.range().start, value };
            array.elements.iter().map(item).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the member with this name; the last of several, as JSON parsers do.
pub(super) fn member<'a, 't>(object: &'a Object<'t>, key: &str) -> Option<&'a Value<'t>> {
    object.properties.iter().rfind(|prop| prop.name.as_str() == key).map(|prop| &prop.value)
}

/// Returns the command lines of a handler that run our hook, each with its key.
pub(super) fn own_lines<'a, 't>(
    handler: &'a Value<'t>,
    program: &Program,
) -> Vec<(&'a str, &'a StringLit<'t>)> {
    let lines = handler.as_object().into_iter().flat_map(|handler| &handler.properties);
    lines
        .map(|prop| (prop.name.as_str(), prop.value.as_string_lit()))
        .filter(|(key, _)| ["command", "bash", "powershell"].contains(key))
        .filter_map(|(key, line)| Some((key, line.filter(|line| program.runs(&line.value))?)))
        .collect()
}

/// Whether a value of the file is one of the patch's strings, such as the path of our plugin.
pub(super) fn is_listed(value: &Value<'_>, patch: &Json) -> bool {
    let own = value.as_string_lit();
    let mut listed = patch.as_array().into_iter().flatten().filter_map(Json::as_str);
    own.is_some_and(|own| listed.any(|listed| listed == own.value))
}

pub(super) fn is_container(value: &Json) -> bool {
    value.is_object() || value.is_array()
}
