//! The repair tiers: YAML after quoting values that need quotes.
//!
//! An invalid value is replaced by filler of the same length, the rest is parsed as YAML, and the original text of the value
//! is put back. All spans stay correct.

use std::ops::Range;

use super::header::Problem;
use super::simple::is_plain_text;
use super::value::{Field, Node, Value};
use super::{lines, yaml};
use crate::diagnostic::{Code, shown};
use crate::glob;

/// Reads a range as YAML with invalid values masked. `None` if there is nothing to mask or the rest is invalid too.
pub(super) fn read_quoted(
    text: &str,
    range: Range<usize>,
    error: &Problem,
    problems: &mut Vec<Problem>,
) -> Option<Vec<Field>> {
    if !matches!(error.code, Code::HeaderAnchor | Code::BrokenHeader) {
        return None;
    }
    let masks = find_masks(text, range.clone());
    let masked = fill_masks(text, range.clone(), &masks)?;
    let known = problems.len();
    problems.extend(masks.iter().map(|mask| {
        let value = &text[mask.clone()];
        let (code, message) = match lines::is_unclosed(value) {
            true => (Code::UnclosedList, format!("the list `{}` is not closed", shown(value))),
            false => (Code::UnquotedValue, invalid(value)),
        };
        Problem::new(code, mask.clone(), message).fix(mask.clone(), repaired(value))
    }));
    match yaml::parse(&masked, range, &masks, problems) {
        Ok(mut fields) => {
            let values = fields
                .iter_mut()
                .flat_map(|field| field.last.as_deref_mut().into_iter().chain([&mut field.node]));
            values.for_each(|node| unmask(text, &masks, node));
            Some(fields)
        }
        Err(_) => {
            problems.truncate(known);
            None
        }
    }
}

/// The text with filler for the masked ranges and spaces for tabs; `None` without any mask.
fn fill_masks(text: &str, range: Range<usize>, masks: &[Range<usize>]) -> Option<String> {
    let mut bytes = text.as_bytes()[..range.end].to_vec();
    for mask in masks {
        bytes[mask.clone()].fill(b'x');
    }
    for byte in &mut bytes[range] {
        if *byte == b'\t' {
            *byte = b' ';
        }
    }
    (!masks.is_empty()).then(|| String::from_utf8(bytes).expect("ASCII replaces whole characters"))
}

/// An item of a list without a quote that nothing closes.
fn without_lone_quote(item: &str) -> &str {
    let item = item.trim();
    item.strip_prefix(['"', '\'']).filter(|rest| !rest.contains(['"', '\''])).unwrap_or(item)
}

/// The value as valid YAML.
fn repaired(value: &str) -> String {
    let value = lines::unquoted(value);
    if let Some(inner) = lines::inside_brackets(value) {
        let items: Vec<String> =
            glob::split_list(inner).into_iter().map(|(_, item)| repaired(without_lone_quote(item))).collect();
        return format!("[{}]", items.join(", "));
    }
    let Some(quote) = value.chars().next().filter(|first| matches!(first, '"' | '\'')) else {
        return quoted(value);
    };
    // Several quoted values in a row are a list without its brackets.
    let is_item = |item: &str| !item.contains(quote) || item.starts_with(quote) && is_one_quoted(item, quote);
    let items = glob::split_list(value);
    match value[1..].strip_suffix(quote) {
        _ if items.len() > 1 && items.iter().all(|(_, item)| is_item(item.trim())) => format!("[{value}]"),
        Some(inner) => quoted(inner),
        None => quoted(value),
    }
}

/// Says why a value is not valid YAML.
fn invalid(value: &str) -> String {
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
    let shown = shown(value);
    match quote.map(|quote| (quote, value[1..].strip_suffix(quote))) {
        Some((quote, Some(inner))) if inner.contains(quote) => {
            format!("the quotes in `{shown}` end the value early, so it is not valid YAML")
        }
        Some((_, Some(_))) => format!("`{shown}` has an escape that YAML does not know"),
        Some((_, None)) => format!("the quotes of `{shown}` do not enclose the whole value"),
        None => format!("`{shown}` is not valid YAML without quotes"),
    }
}

/// A text in YAML quotes.
pub(crate) fn quoted(value: &str) -> String {
    match value.contains(['"', '\\']) {
        true => format!("'{}'", value.replace('\'', "''")),
        false => format!("\"{value}\""),
    }
}

/// A text as a YAML value: in quotes only if it needs them.
pub(crate) fn scalar(value: &str, is_in_list: bool) -> String {
    if is_plain_text(value, is_in_list) { value.to_owned() } else { quoted(value) }
}

/// The values that are invalid YAML or have an unintended meaning.
fn find_masks(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut masks = Vec::new();
    let mut is_pattern = false;
    let mut block_indent = None;
    let mut at = range.start;
    for line in text[range].split_inclusive('\n') {
        let start = at;
        at += line.len();
        let indent = line.len() - line.trim_start().len();
        if block_indent.is_some_and(|block| line.trim().is_empty() || indent > block) {
            continue;
        }
        block_indent = None;
        let (value_at, value) = if let Some((key, value_at, value)) = lines::key_value(line) {
            if indent == 0 {
                is_pattern = lines::PATTERN_KEYS.contains(&key);
            }
            (value_at, value)
        } else if let Some((value_at, value)) = lines::list_item(line) {
            (value_at, value)
        } else {
            continue;
        };
        if value.starts_with(['|', '>']) {
            block_indent = Some(indent);
        } else if needs_quotes(value, is_pattern) {
            masks.push(start + value_at..start + value_at + value.len());
        }
    }
    masks
}

fn needs_quotes(value: &str, is_pattern: bool) -> bool {
    let first = value.chars().next().unwrap_or(' ');
    match first {
        // A tag, not a negated pattern.
        '!' if value.starts_with("!!") => false,
        '*' | '&' | '!' | '@' | '`' | '%' => true,
        '{' | '[' => is_pattern && value.len() > 1,
        '"' | '\'' => !is_one_quoted(value, first),
        _ => value.contains(": ") || value.ends_with(':') || value.contains('\t'),
    }
}

/// Whether a value is exactly one quoted scalar.
fn is_one_quoted(value: &str, quote: char) -> bool {
    let mut inner = value[1..].chars();
    loop {
        match inner.next() {
            None => return false,
            Some('\\') if quote == '"' => {
                // An unknown escape (`"\bfoo\s+"`) makes the whole header invalid.
                if !inner.next().is_some_and(|c| "0abt\tnvfre \"/\\N_LPxuU".contains(c)) {
                    return false;
                }
            }
            Some(c) if c == quote => {
                if quote == '\'' && inner.as_str().starts_with('\'') {
                    inner.next();
                } else {
                    return inner.as_str().is_empty();
                }
            }
            Some(_) => {}
        }
    }
}

fn unmask(text: &str, masks: &[Range<usize>], node: &mut Node) {
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| unmask(text, masks, item)),
        Value::Map(fields) => fields.iter_mut().for_each(|field| unmask(text, masks, &mut field.node)),
        Value::Text(_) if masks.contains(&node.span) => {
            *node = lines::raw_patterns(text, node.span.clone());
        }
        _ => {}
    }
}
