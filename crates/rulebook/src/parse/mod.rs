//! Parsing: a source in; a rule, or its rejection, and diagnostics out.

mod activation;
mod build;
mod fields;
mod header;
mod hidden;
mod imports;
mod inner;
mod known;
mod patterns;
mod reader;
mod requirement;
mod reread;
mod skill;
mod split;
mod strict;
mod trigger;

use std::borrow::Cow;

use crate::diagnostic::{Code, Diagnostic, Severity, shown};
use crate::format::{Broken, Keys};
use crate::frontmatter::{Header, Reading, Tier};
use crate::hidden::visible;
use crate::id::normalize_id;
use crate::rule::{Body, Rule};
use crate::source::{MAX_SOURCE, Origin, Source, Unreadable};
use build::ReadBy;
use reader::Reader;

pub use header::{Explained, explain_header, explain_keys, explain_values};
pub use imports::{Import, imports, imports_in_gemini};
pub use inner::{explain_inner_keys, explain_inner_values, explain_terms, is_inner_glob};
pub use patterns::means_no_file;
pub(crate) use patterns::{corrected, means_everything};

/// What became of a source.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A rule.
    Rule(Box<Rule>),
    /// A file that is not used.
    Rejected(Box<Rejected>),
}

impl Entry {
    /// Returns where it comes from.
    pub fn origin(&self) -> &Origin {
        match self {
            Entry::Rule(rule) => &rule.origin,
            Entry::Rejected(rejected) => &rejected.origin,
        }
    }
}

/// A rule file that is not used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rejected {
    /// The id it would have had.
    pub id: String,
    /// Where it was found.
    pub origin: Origin,
    /// The diagnostics that say why.
    pub codes: Vec<Code>,
}

impl Rejected {
    /// Returns the key it would have had: `id@format`.
    pub fn key(&self) -> String {
        format!("{}@{}", self.id, self.origin.format.id)
    }

    /// Whether that is its file, key or id.
    pub fn is_called(&self, name: &str) -> bool {
        let is_path = self.origin.display == name || self.origin.path == name;
        is_path || self.key() == name || self.id == normalize_id(name)
    }
}

/// The result of reading a source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parsed {
    /// What became of it.
    pub entry: Entry,
    /// The problems of the file.
    pub diagnostics: Vec<Diagnostic>,
}

/// How much is forgiven.
#[derive(Clone, Copy, PartialEq)]
enum Leniency {
    /// What the format forgives.
    Format,
    /// Everything that can be understood.
    All,
}

/// Reads a source as its format does.
#[must_use]
pub fn parse(source: Source) -> Parsed {
    parse_with(source, Leniency::Format)
}

/// Reads a source as its format does, but tries every tier of header readers before it gives up, and takes paths of any
/// type. This is what the author of a header that failed open meant.
#[must_use]
pub(crate) fn parse_leniently(source: Source) -> Parsed {
    parse_with(source, Leniency::All)
}

fn parse_with(source: Source, leniency: Leniency) -> Parsed {
    let Source { origin, text } = source;
    let text = match text {
        Ok(text) => text,
        Err(why) => {
            let diagnostic = report_unreadable(&origin, &why);
            let id = origin.id();
            let rejected = Rejected { id, codes: vec![diagnostic.code], origin };
            return Parsed { entry: Entry::Rejected(Box::new(rejected)), diagnostics: vec![diagnostic] };
        }
    };
    let tier = origin.format.tier;
    let reach = if leniency == Leniency::All { tier.map(|_| Tier::Lines) } else { tier };
    let Reading { header, body, body_start, problems } = split::split_header(&origin, &text, reach);
    let start = body_start + (body.len() - body.trim_start().len());
    let is_empty = origin.format.strips_comments && is_only_comments(body);
    let mut body = start..start + if is_empty { 0 } else { body.trim().len() };
    // Of a file that is too long, an agent has the first part in context.
    if !std::ptr::eq(origin.format, origin.format.id.row())
        && let Some((_, cut)) = over_limit(&origin, &text)
    {
        body.end = body.end.min(cut.max(body.start));
    }
    let mut reader = Reader::new(&text, origin);
    reader.is_lenient = leniency == Leniency::All;
    problems.into_iter().for_each(|problem| reader.report_problem(problem));
    report_over_limit(&mut reader);
    report_over_advice(&mut reader);
    let hidden = hidden::report_hidden(&text, body_start, &reader.origin.display);
    reader.diagnostics.extend(hidden);
    let mut parsed = read(reader, header, body.start);
    if let Entry::Rule(rule) = &mut parsed.entry {
        // Every surface delivers this text, so hidden characters are made visible here.
        let hides = |diagnostic: &Diagnostic| diagnostic.code == Code::HiddenText;
        let is_hiding = parsed.diagnostics.iter().any(hides);
        let values = rule.description.iter_mut().chain(&mut rule.globs).chain(&mut rule.tags);
        for value in values.filter(|_| is_hiding) {
            if let Cow::Owned(shown) = visible(value) {
                *value = shown;
            }
        }
        rule.body = if is_hiding { visible(&text[body]).into_owned().into() } else { Body::part(text, body) };
        if has_lone_return(&rule.body) {
            rule.body = rule.body.replace("\r\n", "\n").replace('\r', "\n").into();
        }
    }
    parsed
}

/// Whether a text has nothing but HTML comments.
fn is_only_comments(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some((_, after)) = rest.strip_prefix("<!--").and_then(|comment| comment.split_once("-->")) {
        rest = after.trim_start();
    }
    rest.is_empty()
}

/// Whether a carriage return without a line feed ends a line. A terminal would overwrite that line.
fn has_lone_return(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n'))
}

/// Reads the header's fields. A broken header is handled as the format's agent does.
fn read(mut reader: Reader<'_>, header: Header, body_start: usize) -> Parsed {
    let format = reader.format();
    let is_strict = format.keys == Keys::Strict;
    let (fields, read_by) = match header {
        Header::Read { fields, tier } => (fields, ReadBy::Tier(tier)),
        Header::Absent if is_strict => {
            strict::report_headless(&mut reader);
            return reject(reader, None);
        }
        Header::Broken if format.broken == Broken::Reject => return reject(reader, None),
        Header::Broken if format.broken == Broken::Open => {
            return accept(build::fail_open(reader, body_start));
        }
        Header::Absent => (Vec::new(), ReadBy::Tier(Tier::Yaml)),
        Header::Broken => (Vec::new(), ReadBy::None),
    };
    reader.report_escaped(&fields);
    let fields = reader.sort_fields(fields);
    let id = fields.text("id", &mut reader).map(|id| normalize_id(&id)).filter(|id| !id.is_empty());
    if is_strict && !strict::validate(&mut reader, &fields) {
        return reject(reader, id);
    }
    accept(build::build(reader, &fields, id, read_by, body_start))
}

fn accept((rule, diagnostics): (Rule, Vec<Diagnostic>)) -> Parsed {
    Parsed { entry: Entry::Rule(Box::new(rule)), diagnostics }
}

fn reject(reader: Reader<'_>, id: Option<String>) -> Parsed {
    let id = id.unwrap_or_else(|| reader.id());
    let Reader { origin, mut diagnostics, .. } = reader;
    let is_fatal = |diagnostic: &&mut Diagnostic| {
        !matches!(diagnostic.code, Code::NotARule | Code::UnknownKey | Code::ForeignKey | Code::DuplicateKey)
    };
    diagnostics.iter_mut().filter(is_fatal).for_each(|diagnostic| diagnostic.severity = Severity::Error);
    let mut codes: Vec<Code> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    codes.sort_unstable();
    codes.dedup();
    // Documentation beside rules is in order.
    diagnostics.retain(|diagnostic| diagnostic.code != Code::NotARule);
    Parsed { entry: Entry::Rejected(Box::new(Rejected { id, origin, codes })), diagnostics }
}

fn report_over_limit(reader: &mut Reader<'_>) {
    if let Some((limit, cut)) = over_limit(&reader.origin, reader.text) {
        let count = reader.text.chars().count();
        let message = format!(
            "{} reads {limit} of the {count} characters and cuts the file here",
            reader.format().agent
        );
        reader.report(Code::OverLimit, cut..cut, message);
    }
}

/// Returns how many characters of a file its agent reads, and where they end, if the file is longer.
fn over_limit(origin: &Origin, text: &str) -> Option<(usize, usize)> {
    let limit = origin.place.limit.or(origin.format.limit).filter(|limit| text.len() > *limit)?;
    Some((limit, text.char_indices().nth(limit)?.0))
}

fn report_over_advice(reader: &mut Reader<'_>) {
    let format = reader.format();
    let Some(advised) = format.advised.filter(|advised| reader.text.len() > *advised) else { return };
    let lines = memchr::memchr_iter(b'\n', reader.text.trim_end().as_bytes()).count() + 1;
    // A recommendation is not a limit, least of all for a file that is read for the work in one folder.
    let tolerance = if reader.origin.folder.is_empty() { 2 } else { 5 };
    if lines <= tolerance * advised {
        return;
    }
    let message = format!("the file has {lines} lines; {} recommends at most {advised}", format.agent);
    let diagnostic = Diagnostic::whole(Code::OverLimit, &reader.origin.display, message);
    let diagnostic = diagnostic.help("split it into rules for different files");
    reader.diagnostics.push(diagnostic.severity(Severity::Note));
}

fn report_unreadable(origin: &Origin, why: &Unreadable) -> Diagnostic {
    let (code, message) = match why {
        Unreadable::Refused(error) => (Code::Unreadable, format!("the file cannot be read: {error}")),
        Unreadable::NotUtf8 { valid_up_to } => {
            (Code::NotUtf8, format!("the file is not UTF-8 text: byte {} is invalid", valid_up_to + 1))
        }
        Unreadable::TooLarge { len } => {
            (Code::TooLarge, format!("the file has {len} bytes; at most {MAX_SOURCE} are read"))
        }
        Unreadable::NotAFile { kind } => (Code::NotAFile, format!("this is {kind}")),
        Unreadable::BrokenLink { target } => {
            let message = format!("this is a broken link: `{}` does not exist", shown(target));
            let found = Diagnostic::whole(Code::NotAFile, &origin.display, message);
            return found.help("create the file, or remove the link");
        }
        Unreadable::OutsideRoot { target } => {
            (Code::OutsideRoot, format!("this link points to `{target}`, which is outside its root"))
        }
        Unreadable::Untrusted => {
            (Code::Untrusted, "this file is ignored: the workspace is not trusted".to_owned())
        }
        Unreadable::TooMany => {
            (Code::TooMany, "this file is not read: the files before it are too large in total".to_owned())
        }
    };
    Diagnostic::whole(code, &origin.display, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, FormatId};

    #[test]
    fn a_file_twice_as_long_as_recommended_gets_a_note() {
        #[track_caller]
        fn check(format: &str, lines: usize, want: usize) {
            let format = FormatId::named(format).unwrap();
            let diagnostics = parse(Source::text(format, "a.md", "x\n".repeat(lines))).diagnostics;
            let notes = diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::OverLimit).count();
            assert_eq!(notes, want, "{format} {lines}");
        }
        check("claude", 400, 0);
        check("claude", 401, 1);
        check("cursor", 1_000, 0);
        check("cursor", 1_001, 1);
        check("copilot", 2_001, 1);
        check("windsurf", 1_001, 0);
        check("agents-md", 5_000, 0);
    }

    #[test]
    fn a_file_over_the_limit_is_reported_where_it_is_cut() {
        #[track_caller]
        fn check(format: &str, path: &str, text: &str, want: Option<(usize, usize)>) {
            let format = Format::named(format).unwrap();
            let mut places = format.workspace.iter().chain(format.user);
            let place = places.find(|place| place.path == path).unwrap();
            let origin = Origin::new(format, place, "a.md");
            let diagnostics = parse(Source { origin, text: Ok(text.into()) }).diagnostics;
            let is_cut = |diagnostic: &&Diagnostic| {
                diagnostic.code == Code::OverLimit && diagnostic.severity == Severity::Warning
            };
            let cut = diagnostics.iter().find(is_cut);
            assert_eq!(cut.map(|cut| (cut.line, cut.column)), want, "{path}: {diagnostics:?}");
        }
        let global = ".codeium/windsurf/memories/global_rules.md";
        check("windsurf", ".windsurf/rules", &"é".repeat(12_000), None);
        check("windsurf", ".windsurf/rules", &"é\n".repeat(6_001), Some((6_001, 1)));
        check("windsurf", global, &"x".repeat(6_000), None);
        check("windsurf", global, &"x".repeat(6_001), Some((1, 6_001)));
        check("devin", ".devin/rules", &"x".repeat(12_001), Some((1, 12_001)));
        check("antigravity", ".agents/rules", &"x".repeat(12_001), Some((1, 12_001)));
        check("lingma", ".lingma/rules", &"x".repeat(10_001), Some((1, 10_001)));
        check("augment", ".augment/user-guidelines.md", &"x".repeat(24_577), Some((1, 24_577)));
        check("augment", ".augment/rules", &"x".repeat(24_577), None);
        check("cursor", ".cursor/rules", &"x".repeat(100_000), None);
    }
}
