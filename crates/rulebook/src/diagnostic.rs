//! Diagnostics: located problems in somebody's file, and the table of their codes.

mod codes;

pub use codes::{CODES, Code, CodeRow, Severity};

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

use crate::hidden::{shown_characters, visible_line};

/// A located problem: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The file as shown to people: relative to the workspace, or `~/…`.
    pub path: String,
    /// The line, counted from 1; 0 for a problem of the whole file.
    pub line: usize,
    /// The column in characters, counted from 1; 0 for a problem of the whole file.
    pub column: usize,
    /// The kind of problem.
    pub code: Code,
    /// Usually the severity of the code; some formats are stricter than others.
    pub severity: Severity,
    /// What was found, and what was expected.
    pub message: String,
    /// What to do about it.
    pub help: String,
    /// The other files that it is about, if it is about several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherFile>,
    /// The source line, for display; not part of JSON output.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
    /// A change that fixes it.
    #[serde(skip)]
    pub fix: Option<Fix>,
    /// The agent that it concerns, if it concerns one; not part of JSON output.
    #[serde(skip)]
    pub agent: Option<&'static str>,
}

/// Another file with the same problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct OtherFile {
    /// The file as shown to people.
    pub path: String,
    /// What to do about it.
    pub help: String,
}

impl Fix {
    /// Replaces a byte range.
    pub(crate) fn new(span: Range<usize>, replacement: impl Into<String>) -> Fix {
        Fix { start: span.start, end: span.end, replacement: replacement.into() }
    }
}

/// A change to the file of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fix {
    /// The first byte to replace.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
    /// The new text.
    pub replacement: String,
}

/// The source line of a diagnostic, and how much of it to underline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excerpt {
    /// The line without its line break, at most 400 bytes.
    pub line: String,
    /// How many characters to underline, at least one.
    pub width: usize,
}

impl Diagnostic {
    /// Reports a problem of a whole file, or of something without lines.
    #[must_use]
    pub fn whole(code: Code, path: impl Into<String>, message: impl Into<String>) -> Diagnostic {
        let row = code.row();
        Diagnostic {
            path: seen(path.into(), visible_line),
            line: 0,
            column: 0,
            code,
            severity: row.severity,
            message: seen(message.into(), shown_characters),
            help: row.remedy.to_owned(),
            others: Vec::new(),
            excerpt: None,
            fix: None,
            agent: None,
        }
    }

    /// Reports a problem at a byte range of a text.
    #[must_use]
    pub fn at(
        code: Code,
        path: impl Into<String>,
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> Diagnostic {
        let start = text.floor_char_boundary(span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_start..].lines().next().unwrap_or_default();
        let before = &text[line_start..start];
        let end = text.floor_char_boundary(span.end.min(line_start + line.len()).max(start));
        let bom = usize::from(line_start == 0 && before.starts_with('\u{feff}'));
        Diagnostic {
            line: memchr::memchr_iter(b'\n', &text.as_bytes()[..start]).count() + 1,
            column: before.chars().count() + 1 - bom,
            excerpt: Some(Excerpt {
                line: line[..line.floor_char_boundary(400)].trim_start_matches('\u{feff}').to_owned(),
                width: text[start..end].chars().count().max(1),
            }),
            ..Diagnostic::whole(code, path, message)
        }
    }

    /// Turns it into a problem of a setting that protects, with what counts instead of the setting.
    pub fn protect(&mut self, instead: &str) {
        (self.code, self.severity) = (Code::Protection, Code::Protection.row().severity);
        self.message = format!("{}; {instead}", self.message);
    }

    /// Replaces the help line of the table.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: seen(help.into(), shown_characters), ..self }
    }

    /// Adds the other files that it is about, each with what to do.
    #[must_use]
    pub fn others(self, others: impl IntoIterator<Item = (String, String)>) -> Diagnostic {
        let other =
            |(path, help)| OtherFile { path: seen(path, visible_line), help: seen(help, shown_characters) };
        Diagnostic { others: others.into_iter().map(other).collect(), ..self }
    }

    /// Returns the files that it is about.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.path.as_str()).chain(self.others.iter().map(|other| other.path.as_str()))
    }

    /// Suggests up to three known names that are most similar, if some are similar enough.
    #[must_use]
    pub fn did_you_mean<'n>(self, name: &str, known: impl IntoIterator<Item = &'n str>) -> Diagnostic {
        match similar_names(name, known) {
            Some(near) => self.help(format!("did you mean {near}?")),
            None => self,
        }
    }

    /// Says which agent it concerns.
    #[must_use]
    pub fn of_agent(self, name: &'static str) -> Diagnostic {
        Diagnostic { agent: Some(name), ..self }
    }

    /// Replaces the severity of the table.
    #[must_use]
    pub fn severity(self, severity: Severity) -> Diagnostic {
        Diagnostic { severity, ..self }
    }
}

/// Quotes the user's text between the backticks of a message: the first line, cut to a readable length, with hidden characters
/// made visible, and with other quotes for its own backticks.
pub(crate) fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut = line.floor_char_boundary(60);
    let shown = shown_characters(&line[..cut]).replace('`', "'");
    if cut == text.len() { shown } else { format!("{shown}…") }
}

/// Shows the text that replaces another one whole, so that people can paste it, unless it is very long.
pub(crate) fn pasted(text: &str) -> String {
    const MAX_LENGTH: usize = 400;
    if text.len() > MAX_LENGTH { shown(text) } else { shown_characters(text).into_owned() }
}

/// Makes hidden characters visible.
fn seen(text: String, shown: fn(&str) -> Cow<'_, str>) -> String {
    match shown(&text) {
        Cow::Owned(shown) => shown,
        Cow::Borrowed(_) => text,
    }
}

/// How many places of one kind are reported per file.
pub const MAX_PLACES: usize = 10;

/// Reports the first few places; the last diagnostic says how many more there are.
pub(crate) fn report_first<P>(
    mut places: impl Iterator<Item = P>,
    report: impl Fn(P) -> Diagnostic,
    diagnostics: &mut Vec<Diagnostic>,
) {
    diagnostics.extend(places.by_ref().take(MAX_PLACES).map(&report));
    let Some(next) = places.next() else { return };
    match places.count() {
        // One more is as short as its number.
        0 => diagnostics.push(report(next)),
        more => {
            if let Some(last) = diagnostics.last_mut() {
                last.message.push_str(&format!("; {} more below", more + 1));
            }
        }
    }
}

/// Returns the known name that is most similar, if one is similar enough to be a typing error.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    nearest_few(name, known, 1).pop()
}

/// Returns at most `most` known names that are similar to this one, most similar first.
pub(crate) fn nearest_few<'n>(
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
    most: usize,
) -> Vec<&'n str> {
    let lower = name.to_lowercase();
    let mut similar: Vec<(usize, &str)> = known
        .into_iter()
        .map(|other| (strsim::damerau_levenshtein(&lower, &other.to_lowercase()), other))
        .filter(|(distance, other)| *distance <= 1 + name.len().max(other.len()) / 4)
        .collect();
    similar.sort_unstable();
    similar.dedup();
    similar.truncate(most);
    similar.into_iter().map(|(_, other)| other).collect()
}

/// Lists the three known names that are most similar, as "`a`, `b` or `c`"; `None` if none is similar enough.
pub fn similar_names<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    Some(nearest_few(name, known, 3)).filter(|near| !near.is_empty()).map(|near| any_of(&near))
}

/// Writes names as a choice: "`a`, `b` or `c`".
pub(crate) fn any_of(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_unique_and_indexed_by_code() {
        assert!(CODES.is_sorted_by(|a, b| a.name < b.name));
        for row in CODES {
            assert_eq!(row.code.row().name, row.name);
            assert!(row.meaning.ends_with('.') && !row.remedy.ends_with('.'), "{}", row.name);
        }
    }

    #[test]
    fn a_place_is_counted_in_lines_and_characters() {
        #[track_caller]
        fn check(text: &str, span: Range<usize>, line: usize, column: usize, width: usize) {
            let found = Diagnostic::at(Code::BadGlob, "x", text, span, "m");
            assert_eq!((found.line, found.column), (line, column));
            assert_eq!(found.excerpt.unwrap().width, width);
        }
        check("a: b", 3..4, 1, 4, 1);
        check("é: b\nç: dd", 10..12, 2, 4, 2);
        check("\u{feff}ab", 3..4, 1, 1, 1);
        check("a\nb", 99..120, 2, 2, 1);
        check("", 0..0, 1, 1, 1);
    }

    #[test]
    fn diagnostics_show_hidden_characters() {
        let diagnostic =
            Diagnostic::whole(Code::BadGlob, "a\u{202e}\nb", "`c\u{200b}\u{9b}`").help("d\u{2028}é");
        assert_eq!(diagnostic.path, "a<U+202E><U+000A>b");
        assert_eq!(diagnostic.message, "`c<U+200B><U+009B>`");
        assert_eq!(diagnostic.help, "d<U+2028>é");
        assert_eq!(shown("e\u{202e}f"), "e<U+202E>f");
        assert_eq!(shown("a `b` c"), "a 'b' c");
    }

    #[test]
    fn only_similar_names_are_suggested() {
        assert_eq!(nearest("glob", ["globs", "paths"]), Some("globs"));
        assert_eq!(nearest("alwaysapply", ["alwaysApply"]), Some("alwaysApply"));
        assert_eq!(nearest("zzz", ["globs", "paths"]), None);
        assert_eq!(
            nearest_few("web-api", ["web-apo", "web-ap", "web-apis", "db"], 2),
            ["web-ap", "web-apis"]
        );
        assert_eq!(any_of(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
