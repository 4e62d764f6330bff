//! Frontmatter: the header of a rule file, read in tiers from strict YAML to single lines.
//!
//! Every tier keeps the byte span of each key and value for diagnostics. The tier that succeeded is recorded, so that a
//! repaired header is distinguishable from a valid one.

mod fences;
mod header;
mod lines;
mod native;
mod repair;
mod simple;
mod stray;
mod value;
mod yaml;

pub use header::{Header, Problem, Program, Reading, Tier};
pub(crate) use lines::unquoted;
pub(crate) use repair::{quoted, scalar};
pub use value::{Field, Node, Value};

use crate::diagnostic::Code;
use fences::{Fence, after_bom, closing_fence, fence_span, fused_fence, opening_fence};

const MAX_HEADER: usize = 64 << 10;

/// Splits a file into header and body, using tiers up to `reach`.
pub fn read(text: &str, reach: Tier) -> Reading<'_> {
    if let Tier::Native(program) = reach {
        return native::read(text, program);
    }
    let Some(header_start) = opening_fence(text) else {
        let problems = stray::find(text, after_bom(text)).into_iter().collect();
        return without_header(text, Header::Absent, problems);
    };
    let fence = closing_fence(text, header_start);
    let reading = match &fence {
        Some(fence) => read_closed(text, header_start, fence, reach),
        None => read_unclosed(text, header_start, reach),
    };
    if fence.is_some() { second_header(text, reading, reach) } else { reading }
}

/// Reads a file whose format has no header: all of it is body. Lines that look like a header are reported.
pub fn read_raw(text: &str) -> Reading<'_> {
    let looks_like_header = opening_fence(text).filter(|from| {
        closing_fence(text, *from).is_some_and(|fence| {
            let found = lines::read(text, *from..fence.header_end, lines::Stray::Stop);
            fence.header_end - from <= MAX_HEADER && !found.fields.is_empty()
        })
    });
    let problem = |from| {
        let message = "this format has no header: these lines are sent to the model as text";
        Problem::new(Code::RawHeader, fence_span(text, from), message)
    };
    without_header(text, Header::Absent, looks_like_header.map(problem).into_iter().collect())
}

/// Whether a file has a header with this key, read line by line: the header may be broken.
pub fn has_key(text: &str, key: &str) -> bool {
    let Some(start) = opening_fence(text) else { return false };
    let (end, stray) = match closing_fence(text, start) {
        Some(fence) => (fence.header_end, lines::Stray::Skip),
        None => (text.len(), lines::Stray::Stop),
    };
    let end = text.floor_char_boundary(end.min(start + MAX_HEADER));
    let is_key = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'));
    match stray {
        lines::Stray::Skip => text[start..end].lines().any(is_key),
        lines::Stray::Stop => text[start..lines::read(text, start..end, stray).end].lines().any(is_key),
    }
}

fn without_header(text: &str, header: Header, problems: Vec<Problem>) -> Reading<'_> {
    let body_start = after_bom(text);
    Reading { header, body: &text[body_start..], body_start, problems }
}

fn broken(text: &str, problem: Problem) -> Reading<'_> {
    without_header(text, Header::Broken, vec![problem])
}

fn read_closed<'t>(text: &'t str, start: usize, fence: &Fence, reach: Tier) -> Reading<'t> {
    let mut problems = Vec::new();
    if fence.header_end - start > MAX_HEADER {
        let message = format!("the header has {} bytes, the limit is {MAX_HEADER}", fence.header_end - start);
        return broken(text, Problem::new(Code::HeaderTooLarge, start..start + 1, message));
    }
    if let Some(fields) = simple::read(text, start..fence.header_end) {
        return read_as(text, fields, Tier::Yaml, fence.body_start, problems);
    }
    let yaml = match yaml::parse(text, start..fence.header_end, &[], &mut problems) {
        Ok(fields) => return read_as(text, fields, Tier::Yaml, fence.body_start, problems),
        Err(problem) => problem,
    };
    if reach == Tier::Texts {
        let fields = lines::read_texts(text, start..fence.header_end);
        let message = format!("the header is not valid YAML: {}; its values were read as text", yaml.message);
        problems.push(Problem { code: Code::LineHeader, message, ..yaml });
        return read_as(text, fields, Tier::Texts, fence.body_start, problems);
    }
    if reach >= Tier::Quoted
        && let Some(fields) = repair::read_quoted(text, start..fence.header_end, &yaml, &mut problems)
    {
        return read_as(text, fields, Tier::Quoted, fence.body_start, problems);
    }
    if reach >= Tier::Fenced
        && let Some(reading) = read_fused(text, start)
    {
        return reading;
    }
    if reach >= Tier::Lines {
        let found = lines::read(text, start..fence.header_end, lines::Stray::Skip);
        if !found.fields.is_empty() {
            let (code, message) = match yaml.code {
                Code::BrokenHeader => {
                    (Code::LineHeader, format!("the header is not valid YAML: {}", yaml.message))
                }
                code => (code, yaml.message),
            };
            // The parser finds a list that is not closed only at what follows it.
            let is_open = |field: &&Field| lines::is_unclosed(text[field.node.span.clone()].trim());
            let open = found.fields.iter().find(is_open).filter(|_| code == Code::LineHeader);
            let (message, span) = match open {
                Some(Field { node, .. }) => {
                    let list = crate::diagnostic::shown(&text[node.span.clone()]);
                    (format!("the header is not valid YAML: `{list}` is not closed"), node.span.clone())
                }
                None => (message, yaml.span.clone()),
            };
            let message = format!("{message}; it is read line by line");
            problems.push(Problem { code, message, span, ..yaml });
            return read_as(text, found.fields, Tier::Lines, fence.body_start, problems);
        }
    }
    broken(text, yaml)
}

fn read_fused(text: &str, start: usize) -> Option<Reading<'_>> {
    let fence = fused_fence(text, start)?;
    let line_break = if text[..start].ends_with("\r\n") { "\r\n" } else { "\n" };
    let mut problems = vec![
        Problem::new(
            Code::FusedFence,
            fence.header_end..fence.header_end + 3,
            "the closing `---` is followed by text on the same line",
        )
        .fix(fence.body_start..fence.body_start, line_break),
    ];
    let range = start..fence.header_end;
    let fields = yaml::parse(text, range.clone(), &[], &mut problems)
        .or_else(|error| repair::read_quoted(text, range, &error, &mut problems).ok_or(error))
        .ok()?;
    Some(read_as(text, fields, Tier::Fenced, fence.body_start, problems))
}

fn read_unclosed(text: &str, start: usize, reach: Tier) -> Reading<'_> {
    if reach >= Tier::Fenced
        && let Some(reading) = read_fused(text, start)
    {
        return reading;
    }
    let message = "the header starts with `---` but is not closed";
    let unclosed = Problem::new(Code::UnclosedHeader, fence_span(text, start), message);
    let end = text.floor_char_boundary(text.len().min(start + MAX_HEADER));
    let found = lines::read(text, start..end, lines::Stray::Stop);
    if reach == Tier::Lines && !found.fields.is_empty() {
        // A blank line after the keys makes it clear where the fence belongs.
        let (above, below) = text.split_at(found.end);
        let is_plain =
            above.ends_with('\n') && below.lines().next().is_some_and(|line| line.trim().is_empty());
        let line_break = if above.ends_with("\r\n") { "\r\n" } else { "\n" };
        let unclosed = match is_plain {
            true => unclosed.fix(found.end..found.end, format!("---{line_break}")),
            false => unclosed,
        };
        return read_as(text, found.fields, Tier::Lines, found.end, vec![unclosed]);
    }
    broken(text, unclosed)
}

fn read_as(
    text: &str,
    fields: Vec<Field>,
    tier: Tier,
    body_start: usize,
    problems: Vec<Problem>,
) -> Reading<'_> {
    Reading { header: Header::Read { fields, tier }, body: &text[body_start..], body_start, problems }
}

/// Handles a second block right after the first: it is used if the first is empty and repairs are permitted.
fn second_header<'t>(text: &'t str, mut first: Reading<'t>, reach: Tier) -> Reading<'t> {
    let is_empty = matches!(&first.header, Header::Read { fields, .. } if fields.is_empty());
    let Some(start) = opening_fence(first.body).map(|start| first.body_start + start) else { return first };
    let Some(fence) = closing_fence(text, start) else { return first };
    let mut second = read_closed(text, start, &fence, reach);
    let Header::Read { fields, tier } = &mut second.header else { return first };
    if fields.is_empty() {
        return first;
    }
    let problem = |message: &str| Problem::new(Code::TwoHeaders, fence_span(text, start), message);
    if is_empty && reach >= Tier::Quoted && reach != Tier::Texts {
        *tier = Tier::Fenced.max(*tier);
        let message = "the file has two headers; the second is used because the first is empty";
        second.problems.insert(0, problem(message));
        return second;
    }
    let message = "the file has two headers; the first is used, and the second is part of the rule's text";
    first.problems.push(problem(message));
    first
}

/// Whether a text starts with what looks like a header, perhaps after comments.
pub(crate) fn starts_with_header(text: &str) -> bool {
    let fields = || {
        let start = opening_fence(text)?;
        let read = read_closed(text, start, &closing_fence(text, start)?, Tier::Lines);
        matches!(read.header, Header::Read { fields, .. } if !fields.is_empty()).then_some(())
    };
    stray::find(text, 0).is_some() || fields().is_some()
}

#[cfg(test)]
mod tests;
