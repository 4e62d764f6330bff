//! Headers as the programs of some agents read them. Recorded requests of these programs are in `tests/agents`.

use std::ops::Range;

use super::fences::{Fence, after_bom, fence_span, lines_of, opening_fence};
use super::header::{Header, Problem, Program, Reading, Tier};
use super::value::{Field, Node, Value};
use super::yaml::Tags;
use super::{simple, yaml};
use crate::diagnostic::Code;

/// Splits a file into header and body as the program does.
pub(super) fn read(text: &str, program: Program) -> Reading<'_> {
    let split = match program {
        Program::ClaudeCode => split_claude(text),
        Program::CopilotCli => split_copilot(text),
        Program::QwenCode => split_qwen(text),
    };
    let Some((start, fence)) = split else {
        let problem = |from| {
            let fence = fence_span(text, from);
            let is_first = text[after_bom(text)..fence.start].is_empty();
            let (code, message) = match is_first {
                true => (Code::RawHeader, "the agent does not find a header and reads it as text"),
                false => {
                    (Code::StrayHeader, "the header does not start on line 1, so the agent reads it as text")
                }
            };
            Problem::new(code, fence, message)
        };
        let problems = opening_fence(text).map(problem).into_iter().collect();
        return Reading { header: Header::Absent, body: text, body_start: 0, problems };
    };
    let range = start..fence.header_end;
    let native = Tier::Native(program);
    let (fields, tier) = match program {
        Program::QwenCode => (Ok(read_qwen(text, range)), native),
        _ if let Some(fields) = simple::read(text, range.clone()) => (Ok(fields), Tier::Yaml),
        Program::ClaudeCode => match yaml::parse_natively(text, range.clone(), &[], Tags::IgnoredWords) {
            Ok((fields, _)) => (Ok(fields), Tier::Yaml),
            Err(problem) => (read_claude(text, range).ok_or(problem), native),
        },
        Program::CopilotCli => match yaml::parse_natively(text, range.clone(), &[], Tags::Ignored) {
            Ok((fields, has_duplicates)) if !has_duplicates => (Ok(fields), Tier::Yaml),
            _ => (Ok(read_copilot(text, range)), native),
        },
    };
    let fields = fields.map(|mut fields| {
        // A key without a value counts, too.
        if program == Program::CopilotCli && fields.iter().any(|field| field.key == "applyTo") {
            fields.retain(|field| field.key != "paths");
        }
        fields
    });
    let (header, problems) = match fields {
        Ok(fields) => (Header::Read { fields, tier }, Vec::new()),
        Err(problem) => {
            let message = format!("the header is not valid YAML, so it is ignored: {}", problem.message);
            (Header::Broken, vec![Problem { code: Code::BrokenHeader, message, ..problem }])
        }
    };
    Reading { header, body: &text[fence.body_start..], body_start: fence.body_start, problems }
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// The first `---` after the opening line ends the header, wherever it is.
fn split_claude(text: &str) -> Option<(usize, Fence)> {
    let rest = text.strip_prefix("---")?;
    let blank = &rest[..rest.len() - rest.trim_start_matches(is_space).len()];
    let start = "---".len() + blank.rfind('\n')? + 1;
    let header_end = start + text[start..].find("---")?;
    let body_start = text.len() - text[header_end + 3..].trim_start_matches(is_space).len();
    Some((start, Fence { header_end, body_start }))
}

/// The first line that starts with `---` ends the header.
fn split_copilot(text: &str) -> Option<(usize, Fence)> {
    let mut at = after_bom(text);
    let mut lines = lines_of(&text[at..]);
    at += lines.next().filter(|line| line.trim_end() == "---" && line.ends_with('\n'))?.len();
    let start = at;
    for line in lines {
        if line.starts_with("---") {
            return Some((start, Fence { header_end: at, body_start: at + line.len() }));
        }
        at += line.len();
    }
    None
}

/// The first later line that is exactly `---` ends the header, which has at least one line.
fn split_qwen(text: &str) -> Option<(usize, Fence)> {
    let bom = after_bom(text);
    let mut lines = qwen_lines(text, bom..text.len());
    let start = lines.next().filter(|(_, line)| *line == "---").and_then(|_| lines.next())?.0;
    let (header_end, _) = lines.find(|(_, line)| *line == "---")?;
    let body_start = qwen_lines(text, header_end..text.len()).nth(1).map_or(text.len(), |(at, _)| at);
    Some((start, Fence { header_end, body_start }))
}

/// The lines without their line breaks, and where they start. Both characters and their pair break lines.
fn qwen_lines(text: &str, range: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let mut at = range.start;
    let end = range.end;
    std::iter::from_fn(move || {
        let rest = text.get(at..end).filter(|rest| !rest.is_empty())?;
        let line = rest.split(['\n', '\r']).next().unwrap_or(rest);
        let start = at;
        at += line.len();
        at += if text[at..end].starts_with("\r\n") { 2 } else { 1 };
        Some((start, line))
    })
}

/// Quotes the values of keys that have special characters, and reads the result as YAML.
fn read_claude(text: &str, range: Range<usize>) -> Option<Vec<Field>> {
    let mut bytes = text.as_bytes()[..range.end].to_vec();
    let mut masks = Vec::new();
    let mut at = range.start;
    for line in text[range.clone()].split('\n') {
        if let Some(value) = special_value(line) {
            let mask = at + line.len() - value.len()..at + line.len();
            let next = text[mask.end..range.end].strip_prefix('\n').unwrap_or_default();
            if next.starts_with(' ') && !next.lines().next().unwrap_or_default().trim().is_empty() {
                // Text after the closing quote.
                return None;
            }
            bytes[mask.clone()].fill(b'x');
            if value.len() > 1 {
                (bytes[mask.start], bytes[mask.end - 1]) = (b'"', b'"');
            }
            masks.push(mask);
        }
        at += line.len() + 1;
    }
    let masked = String::from_utf8(bytes).ok()?;
    let (mut fields, _) = yaml::parse_natively(&masked, range, &masks, Tags::IgnoredWords).ok()?;
    let values =
        fields.iter_mut().flat_map(|field| field.last.as_deref_mut().into_iter().chain([&mut field.node]));
    for node in values.filter(|node| masks.contains(&node.span)) {
        node.value = Value::Text(text[node.span.clone()].to_owned());
    }
    Some(fields)
}

/// The value of a line `key: value` that has special characters and no quotes around it.
fn special_value(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let value = rest.trim_start_matches(is_space);
    let is_key = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_' || b == b'-');
    let is_quoted = |quote| value.starts_with(quote) && value.ends_with(quote);
    let is_special = value.contains(|c| "{}[]*&#!|>%@`".contains(c)) || value.contains(": ");
    let is_list =
        value.starts_with('[') && yaml::parse_natively(line, 0..line.len(), &[], Tags::IgnoredWords).is_ok();
    let is_line = !value.contains(['\r', '\u{2028}', '\u{2029}']);
    let is_safe = is_quoted('"') || is_quoted('\'') || is_list;
    (is_key && value.len() < rest.len() && is_special && is_line && !is_safe).then_some(value)
}

/// Reads the first line of `applyTo`, or else of `paths`.
fn read_copilot(text: &str, range: Range<usize>) -> Vec<Field> {
    let read = |key: &str| {
        let mut at = range.start;
        for line in lines_of(&text[range.clone()]) {
            let start = at;
            at += line.len();
            let Some(rest) = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':')) else { continue };
            if rest.trim().is_empty() || !rest.starts_with([' ', '\t']) {
                continue;
            }
            let value_at = at - rest.trim_start().len();
            let raw = rest.trim();
            let value = match raw.chars().next() {
                Some(quote @ ('"' | '\'')) => {
                    raw.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)).unwrap_or(raw)
                }
                _ => raw.split(" #").next().unwrap_or(raw).trim_end(),
            };
            let node = Node { value: Value::Text(value.to_owned()), span: value_at..value_at + raw.len() };
            return (!value.is_empty()).then(|| Field::new(key, start..start + key.len(), node));
        }
        None
    };
    read("applyTo").or_else(|| read("paths")).into_iter().collect()
}

/// Reads `key: value`. Lines `  - item` are the list of the last key without a value, even with other lines between.
fn read_qwen(text: &str, range: Range<usize>) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut set = |key: &str, at: usize, node: Node| {
        fields.retain(|field| field.key != key);
        fields.push(Field::new(key, at..at + key.len(), node));
    };
    let is_content = |(_, line): &(usize, &str)| !line.trim().is_empty() && !line.trim().starts_with('#');
    let is_item = |line: &str| line.starts_with("  - ");
    let mut lines = qwen_lines(text, range).filter(is_content).peekable();
    let (mut without_value, mut is_in_object) = (None, false);
    while let Some(&(at, line)) = lines.peek() {
        if is_item(line) {
            let items: Vec<Node> = std::iter::from_fn(|| lines.next_if(|(_, line)| is_item(line)))
                .map(|(at, line)| qwen_item(&line[4..], at + 4))
                .collect();
            if let (Some((key, key_at)), Some(first), Some(last)) =
                (without_value.take(), items.first(), items.last())
            {
                let span = first.span.start..last.span.end;
                let is_full = |item: &Node| item.value != Value::Text(String::new());
                let items = items.into_iter().filter(is_full).collect();
                set(key, key_at, Node { value: Value::List(items), span });
            }
            continue;
        }
        lines.next();
        is_in_object &= line.starts_with("  ");
        let Some((key, rest)) = line.split_once(':').filter(|_| !is_in_object) else { continue };
        let key_at = at + key.len() - key.trim_start_matches(is_space).len();
        let key = key.trim_matches(is_space);
        let value = rest.trim_matches(is_space);
        let next = lines.peek().map_or("", |(_, line)| line);
        if !value.is_empty() {
            let value_at = at + line.len() - rest.trim_start().len();
            set(key, key_at, Node { value: qwen_value(value), span: value_at..value_at + value.len() });
        } else if next.starts_with("  ") && !is_item(next) {
            is_in_object = true;
            without_value = None;
            set(key, key_at, Node { value: Value::Map(Vec::new()), span: key_at..key_at });
        } else {
            without_value = Some((key, key_at));
        }
    }
    fields
}

fn qwen_item(text: &str, at: usize) -> Node {
    let item = text.trim();
    let start = at + text.len() - text.trim_start().len();
    let value = match qwen_value(item) {
        Value::Text(text) => text,
        _ => item.to_owned(),
    };
    Node { value: Value::Text(value), span: start..start + item.len() }
}

fn qwen_value(text: &str) -> Value {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match (text, inner) {
        (_, Some(inner)) => Value::Text(inner.replace("\\\"", "\"").replace("\\\\", "\\")),
        ("true" | "false", _) => Value::Bool(text == "true"),
        ("null", _) => Value::Null,
        _ => match Value::plain(text) {
            number @ Value::Int(_) => number,
            Value::Float(number) if number.parse::<f64>().is_ok_and(f64::is_finite) => Value::Float(number),
            _ => Value::Text(text.to_owned()),
        },
    }
}
