//! Frontmatter: the header of a rule file, read in tiers from strict YAML to single lines.
//!
//! Every tier keeps the byte span of each key and value, so that a diagnostic can point at it, and the tier
//! that succeeded is recorded, so that "as written" and "as mended" never look alike.

mod lines;
mod repair;
mod simple;
mod stray;
mod value;
mod yaml;

pub(crate) use lines::unquoted;
pub(crate) use repair::quoted;
pub use value::{Field, Node, Value};

use std::ops::Range;

use crate::diagnostic::{Code, Fix};

/// How a header was read; a later tier forgives more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// YAML 1.2 as it stands.
    Yaml,
    /// YAML after quoting the values of keys, but not of list items.
    Values,
    /// YAML after quoting what people and editors leave unquoted.
    Quoted,
    /// The same after parting a fence from the text fused to it.
    Fenced,
    /// Line by line, `key: value`.
    Lines,
}

/// What became of a file's header.
#[derive(Clone, Debug, PartialEq)]
pub enum Header {
    /// The file has none.
    Absent,
    /// It was read, by this tier.
    Read {
        /// In the order of the file, first of each key.
        fields: Vec<Field>,
        /// What it took.
        tier: Tier,
    },
    /// It has one, but no permitted tier can read it.
    Broken,
}

/// A file taken apart.
#[derive(Clone, Debug)]
pub struct Reading<'t> {
    /// The header.
    pub header: Header,
    /// What follows the header, untrimmed; the whole text when the header is absent or broken.
    pub body: &'t str,
    /// Where the body starts in the file, in bytes.
    pub body_start: usize,
    /// What was wrong with the header.
    pub problems: Vec<Problem>,
}

/// Something wrong with a header, not yet told as anyone's diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind.
    pub code: Code,
    /// Where, in bytes of the file.
    pub span: Range<usize>,
    /// What was found.
    pub message: String,
    /// What to write in its place.
    pub fix: Option<Fix>,
}

impl Problem {
    fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Problem {
        Problem { code, span, message: message.into(), fix: None }
    }

    fn fix(self, span: Range<usize>, replacement: impl Into<String>) -> Problem {
        Problem { fix: Some(Fix::new(span, replacement)), ..self }
    }
}

const MAX_HEADER: usize = 64 << 10;
const MAX_DEPTH: usize = 16;

/// Takes a file apart, forgiving as much as `reach` permits.
pub fn read(text: &str, reach: Tier) -> Reading<'_> {
    let Some(header_start) = opening_fence(text) else {
        let start = text.len() - text.trim_start_matches('\u{feff}').len();
        return Reading {
            header: Header::Absent,
            body: &text[start..],
            body_start: start,
            problems: stray::find(text, start).into_iter().collect(),
        };
    };
    let fence = closing_fence(text, header_start);
    let reading = match &fence {
        Some(fence) => read_closed(text, header_start, fence, reach),
        None => read_unclosed(text, header_start, reach),
    };
    let empty = matches!(&reading.header, Header::Read { fields, .. } if fields.is_empty());
    if fence.is_some() { second_header(text, reading, empty, reach) } else { reading }
}

/// A file whose format knows no header: all of it is body, and lines that look like a header are told.
pub fn read_raw(text: &str) -> Reading<'_> {
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let looks_like_one = opening_fence(text).filter(|from| {
        closing_fence(text, *from).is_some_and(|fence| {
            let found = lines::read(text, *from..fence.header_end, lines::Stray::Stop);
            fence.header_end - from <= MAX_HEADER && !found.fields.is_empty()
        })
    });
    let told = |from| {
        Problem::new(
            Code::RawHeader,
            fence_span(text, from),
            "these lines are no header to the agent: they go into the prompt as text",
        )
    };
    Reading {
        header: Header::Absent,
        body: &text[start..],
        body_start: start,
        problems: looks_like_one.map(told).into_iter().collect(),
    }
}

/// The lines between the fences, and where the body starts.
struct Fence {
    header_end: usize,
    body_start: usize,
}

/// Where the header starts, if the text opens with a fence. A BOM and blank lines may stand before it.
fn opening_fence(text: &str) -> Option<usize> {
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    for line in lines_of(&text[at..]) {
        at += line.len();
        match line.trim_end() {
            "" => {}
            "---" if line.ends_with('\n') => return Some(at),
            _ => return None,
        }
    }
    None
}

/// The first `---` alone on its line, unindented: one inside a value never is.
fn closing_fence(text: &str, header_start: usize) -> Option<Fence> {
    find_line(text, header_start, |line| line.starts_with("---") && line.trim_end() == "---")
        .map(|(start, line)| Fence { header_end: start, body_start: start + line.len() })
}

/// A `---` with text on its own line, which people meant as the closing fence.
fn fused_fence(text: &str, header_start: usize) -> Option<Fence> {
    find_line(text, header_start, |line| {
        line.strip_prefix("---").is_some_and(|rest| !rest.starts_with('-') && !rest.trim().is_empty())
    })
    .map(|(start, _)| Fence { header_end: start, body_start: start + 3 })
}

fn find_line(text: &str, from: usize, is_it: impl Fn(&str) -> bool) -> Option<(usize, &str)> {
    let mut at = from;
    for line in lines_of(&text[from..]) {
        if is_it(line) {
            return Some((at, line));
        }
        at += line.len();
    }
    None
}

/// The lines of a text, each with its end. A header's are short, and `str::split_inclusive` sets out for long ones.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
        let (line, behind) = rest.split_at(end);
        rest = behind;
        (!line.is_empty()).then_some(line)
    })
}

fn broken(text: &str, problems: Vec<Problem>) -> Reading<'_> {
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    Reading { header: Header::Broken, body: &text[start..], body_start: start, problems }
}

fn read_closed<'t>(text: &'t str, start: usize, fence: &Fence, reach: Tier) -> Reading<'t> {
    let mut problems = Vec::new();
    if fence.header_end - start > MAX_HEADER {
        let message =
            format!("the header is {} bytes, at most {MAX_HEADER} are read", fence.header_end - start);
        return broken(text, vec![Problem::new(Code::HeaderTooLarge, start..start + 1, message)]);
    }
    if let Some(fields) = simple::read(text, start..fence.header_end) {
        return read_as(text, fields, Tier::Yaml, fence.body_start, problems);
    }
    let yaml = match yaml::parse(text, start..fence.header_end, &[], &mut problems) {
        Ok(fields) => return read_as(text, fields, Tier::Yaml, fence.body_start, problems),
        Err(problem) => problem,
    };
    if reach >= Tier::Values
        && let Some(fields) = repair::read_quoted(text, start..fence.header_end, &yaml, reach, &mut problems)
    {
        return read_as(text, fields, reach.min(Tier::Quoted), fence.body_start, problems);
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
                Code::BrokenHeader => (Code::LineHeader, format!("the header is not YAML: {}", yaml.message)),
                code => (code, yaml.message),
            };
            let message = format!("{message}; it was read line by line");
            problems.push(Problem { code, message, ..yaml });
            return read_as(text, found.fields, Tier::Lines, fence.body_start, problems);
        }
    }
    broken(text, vec![yaml])
}

fn read_fused(text: &str, start: usize) -> Option<Reading<'_>> {
    let fence = fused_fence(text, start)?;
    let line_break = if text[..start].ends_with("\r\n") { "\r\n" } else { "\n" };
    let mut problems = vec![
        Problem::new(
            Code::FusedFence,
            fence.header_end..fence.header_end + 3,
            "the closing `---` has text on its own line",
        )
        .fix(fence.body_start..fence.body_start, line_break),
    ];
    let range = start..fence.header_end;
    let fields = yaml::parse(text, range.clone(), &[], &mut problems)
        .or_else(|error| repair::read_quoted(text, range, &error, Tier::Quoted, &mut problems).ok_or(error))
        .ok()?;
    Some(read_as(text, fields, Tier::Fenced, fence.body_start, problems))
}

fn read_unclosed(text: &str, start: usize, reach: Tier) -> Reading<'_> {
    if reach >= Tier::Fenced
        && let Some(reading) = read_fused(text, start)
    {
        return reading;
    }
    let unclosed = Problem::new(
        Code::UnclosedHeader,
        start - 1..start,
        "the header is opened with `---` and never closed",
    );
    let unclosed = Problem { span: fence_span(text, start), ..unclosed };
    let end = text.floor_char_boundary(text.len().min(start + MAX_HEADER));
    let found = lines::read(text, start..end, lines::Stray::Stop);
    if reach >= Tier::Lines && !found.fields.is_empty() {
        // A blank line behind the keys leaves no doubt where the fence belongs.
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
    broken(text, vec![unclosed])
}

/// The three dashes of the fence whose line ends at `header_start`.
fn fence_span(text: &str, header_start: usize) -> Range<usize> {
    let dashes = text[..header_start].rfind("---").expect("the header starts after a fence");
    dashes..dashes + 3
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

/// A second block right behind the first: the real one when the first is empty and mending is permitted.
fn second_header<'t>(text: &'t str, mut first: Reading<'t>, empty: bool, reach: Tier) -> Reading<'t> {
    let Some(start) = opening_fence(first.body).map(|start| first.body_start + start) else { return first };
    let Some(fence) = closing_fence(text, start) else { return first };
    let mut second = read_closed(text, start, &fence, reach);
    let Header::Read { fields, tier } = &mut second.header else { return first };
    if fields.is_empty() {
        return first;
    }
    let told = |message: &str| Problem::new(Code::TwoHeaders, fence_span(text, start), message);
    if empty && reach >= Tier::Quoted {
        *tier = Tier::Fenced.max(*tier);
        second.problems.insert(0, told("the file has two headers; the second counts, as the first is empty"));
        return second;
    }
    first
        .problems
        .push(told("the file has two headers; the first counts, the second is part of the rule's text"));
    first
}

#[cfg(test)]
mod tests;
