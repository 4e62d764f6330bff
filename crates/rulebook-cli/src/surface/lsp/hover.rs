//! Hover: which files a glob matches for each agent, and what a key means to each agent.

use std::fmt::Write as _;
use std::ops::Range;

use rulebook::coverage::PatternFiles;
use rulebook::parse::{explain_header, explain_inner_keys, explain_terms, explain_values};
use rulebook::rule::Rule;
use rulebook::source::Origin;
use serde_json::{Value, json};

use super::completion::is_paths_key;
use super::cursor::{At, Cursor, in_header};
use super::document::Document;
use super::navigate::body_start;
use super::protocol::Place;
use super::reading::{Reading, agents};
use super::references::{mention_at, named};
use super::server::Server;
use super::snapshot::Snapshot;
use crate::out::{clean, plural};

/// How many files are listed.
const MAX_FILES: usize = 10;

pub(super) fn hover(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let offset = document.offset(place.position);
    let in_header = |origin: Origin| {
        glob(snapshot, document, &origin, offset)
            .or_else(|| key(snapshot, document, &origin, offset))
            .or_else(|| term(document, &origin, offset))
            .or_else(|| inner(document, &origin, offset))
    };
    let found =
        snapshot.origin(document.name()).and_then(in_header).or_else(|| mention(snapshot, document, offset));
    found.map_or(Value::Null, |(span, text)| {
        json!({ "contents": { "kind": "markdown", "value": text }, "range": document.span(span) })
    })
}

/// Which files a glob matches, for every agent.
fn glob(
    snapshot: &Snapshot,
    document: &Document,
    origin: &Origin,
    offset: usize,
) -> Option<(Range<usize>, String)> {
    let header = explain_header(origin, &document.text);
    let key = header.iter().rfind(|key| key.span.start <= offset)?;
    let reading = Reading::meant(origin, &document.text);
    let rule = reading.rule()?;
    let is_paths = is_paths_key(origin.format, &key.key);
    let idle = if is_paths { idle(rule, &document.text, key.span.end, offset) } else { None };
    let outcome = rule.activation.outcome();
    let patterns = reading.patterns(snapshot);
    let found =
        patterns.iter().find_map(|found| Some((part(&patterns, found, &document.text, offset)?, found)));
    let dialect = found.as_ref().map(|(_, found)| found.dialect);
    let (span, pattern, mut text) = match (found, idle) {
        (Some((span, found)), _) => (span, found.pattern.clone(), files(snapshot, found)),
        (None, Some((span, pattern))) => {
            let text = format!("{} does not decide when the rule applies: {outcome}\n", code(&pattern));
            (span, pattern, text)
        }
        (None, None) => return None,
    };
    text.push('\n');
    for (agent, own) in agents(snapshot, document) {
        let state = match own {
            None => "does not read this file".to_owned(),
            Some(own) => {
                let native = Reading::native(agent, &own, &document.text);
                let outcome = native.rule().map_or("the rule is rejected", |rule| rule.activation.outcome());
                let native = native.patterns(snapshot);
                match native.iter().find(|other| other.pattern == pattern) {
                    None => format!("does not use this pattern: {outcome}"),
                    Some(other) => count(other, dialect),
                }
            }
        };
        let _ = writeln!(text, "{}: {state}  ", agent.title);
    }
    Some((span, text))
}

/// How many files a pattern matches as an agent reads it, and for how many that is not known.
fn count(found: &PatternFiles, meant: Option<&'static str>) -> String {
    let known = plural(found.files.len(), "file");
    match found.doubtful.len() {
        0 if meant == Some(found.dialect) => known,
        0 => format!("{known}, as {} reads it", found.dialect),
        doubtful => {
            format!("{known}; unknown for {doubtful} more: the agent does not document how it reads it")
        }
    }
}

/// A pattern of a rule whose paths do not decide, if it is at an offset after its key.
fn idle(rule: &Rule, text: &str, key: usize, offset: usize) -> Option<(Range<usize>, String)> {
    let value = text.get(key..body_start(rule, text))?;
    let places = rule.globs.iter().flat_map(|glob| {
        value.match_indices(glob.as_str()).map(move |(at, _)| (key + at..key + at + glob.len(), glob))
    });
    let here = places.filter(|(span, _)| span.start <= offset && offset <= span.end);
    // `**` is also a part of `src/**`.
    here.max_by_key(|(span, _)| span.len()).map(|(span, glob)| (span, glob.clone()))
}

/// The files that a pattern matches as it is meant.
fn files(snapshot: &Snapshot, found: &PatternFiles) -> String {
    let verb = if found.is_exclusion { "excludes" } else { "matches" };
    let mut text = format!("{} {verb} **{}**\n\n", code(&found.pattern), plural(found.files.len(), "file"));
    for at in found.files.iter().take(MAX_FILES) {
        let _ = writeln!(text, "- {}", code(&snapshot.shown_file(&snapshot.files.evidence.paths[*at])));
    }
    if let Some(more) = found.files.len().checked_sub(MAX_FILES + 1) {
        let _ = writeln!(text, "- and {} more", more + 1);
    }
    if !found.doubtful.is_empty() {
        let files = plural(found.doubtful.len(), "file");
        let _ = writeln!(text, "\nunknown for {files}: the agent does not document how it reads it");
    }
    text
}

/// The part of the text that a pattern is, if the offset is in it. Several patterns may share one value; a pattern with
/// escapes is written as its whole value.
fn part(all: &[PatternFiles], found: &PatternFiles, text: &str, offset: usize) -> Option<Range<usize>> {
    let value = text.get(found.span.clone())?;
    let is_here = |part: &Range<usize>| part.start <= offset && offset <= part.end;
    if !value.contains(&found.pattern) {
        let is_alone = all.iter().filter(|other| other.span == found.span).count() == 1;
        return Some(found.span.clone()).filter(|span| is_alone && is_here(span));
    }
    let start = value.match_indices(&found.pattern).map(|(at, _)| found.span.start + at);
    start.map(|start| start..start + found.pattern.len()).find(is_here)
}

/// What a key means as its author wrote it, and to every agent.
fn key(
    snapshot: &Snapshot,
    document: &Document,
    origin: &Origin,
    offset: usize,
) -> Option<(Range<usize>, String)> {
    let is_here = |span: &Range<usize>| span.start <= offset && offset <= span.end;
    let explained = explain_header(origin, &document.text);
    let key = explained.into_iter().find(|key| is_here(&key.span))?;
    let mut text = format!("{} ({}): {}\n\n", code(&key.key), origin.format.name(), key.meaning);
    for (agent, own) in agents(snapshot, document) {
        let state = match own {
            None => "does not read this file".to_owned(),
            Some(own) => {
                let native = explain_header(&own, &document.text);
                let found = native.into_iter().find(|other| other.span == key.span);
                found.map_or("does not read this header".to_owned(), |found| found.meaning)
            }
        };
        let _ = writeln!(text, "{}: {state}  ", agent.title);
    }
    Some((key.span, text))
}

/// What a word of a `when` expression means: the name of a condition, one of its values, or a word between conditions.
fn term(document: &Document, origin: &Origin, offset: usize) -> Option<(Range<usize>, String)> {
    let text = &document.text;
    let is_other = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_');
    let start = text[..offset].rfind(is_other).map_or(0, |at| at + 1);
    let end = text[offset..].find(is_other).map_or(text.len(), |at| offset + at);
    let At::Value { key: "when", .. } = in_header(text, end).filter(|at| at.parents.is_empty())?.at else {
        return None;
    };
    let word = &text[start..end];
    let before = &text[text[..start].rfind([' ', '(', '"', '\'']).map_or(0, |at| at + 1)..start];
    let found = match before.strip_suffix(':') {
        Some(key) => explain_values(origin.format, key)
            .into_iter()
            .find(|(value, _)| *value == word)
            .map(|(_, meaning)| (format!("{} in {}", code(word), code(&format!("when: {key}:"))), meaning)),
        None => {
            let is_key = text[end..].starts_with(':');
            let term = if is_key { format!("{word}:") } else { word.to_owned() };
            let mut terms = explain_terms().into_iter();
            terms
                .find(|(name, _)| *name == term)
                .map(|(_, meaning)| (format!("{} in {}", code(word), code("when")), meaning))
        }
    };
    let (what, meaning) = found?;
    Some((start..end, if meaning.is_empty() { what } else { format!("{what}: {meaning}") }))
}

/// What a key in a map of the header means; for a value there, what its key means.
fn inner(document: &Document, origin: &Origin, offset: usize) -> Option<(Range<usize>, String)> {
    let rest = &document.text[offset..];
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let end = offset + rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let Cursor { parents, at } = in_header(&document.text, end)?;
    let (key, typed) = match at {
        At::Key(typed) => (typed, typed),
        At::Value { key, typed } => (key, typed),
    };
    let is_known = parents.first().is_some_and(|first| origin.format.known_keys().contains(first));
    let keys = explain_inner_keys(&parents);
    let (_, meaning) = keys.into_iter().find(|(name, _)| is_known && *name == key)?;
    Some((end - typed.len()..end, format!("{} in {}: {meaning}", code(key), code(&parents.join(".")))))
}

/// What a rule that is mentioned by name is for.
fn mention(snapshot: &Snapshot, document: &Document, offset: usize) -> Option<(Range<usize>, String)> {
    let (span, name) = mention_at(&document.text, offset)?;
    let book = &snapshot.views.meant.book;
    let text = match (named(book, &name), book.read(&name)) {
        (Some((rule, off)), _) => {
            let description = rule.description.as_deref().map(|text| format!(": {}", escaped(text)));
            let off = off.map(|off| format!("\n\ndisabled by {}", code(off.by.name())));
            format!(
                "{}{}{}",
                code(&rule.origin.display),
                description.unwrap_or_default(),
                off.unwrap_or_default()
            )
        }
        (None, Err(unknown)) => escaped(&unknown.to_string()),
        (None, Ok(_)) => return None,
    };
    Some((span, text))
}

/// A text as code in Markdown, whatever it contains: no run of backticks in it is as long as the fence.
fn code(text: &str) -> String {
    let text = clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A text in Markdown that is not markup.
fn escaped(text: &str) -> String {
    let mut all = String::new();
    for c in clean(text).chars() {
        if c.is_ascii_punctuation() {
            all.push('\\');
        }
        all.push(c);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn code_cannot_end_early() {
        assert_eq!(code("src/**"), "`src/**`");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code("a `` [x](http://x) ``"), "``` a `` [x](http://x) `` ```");
        assert_eq!(code("a\nb"), "`a b`");
    }
}
