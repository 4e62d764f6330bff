//! Diagnostics: located problems in somebody's file, and the table of their codes.

mod codes;

pub use codes::{CODES, Code, CodeRow};

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

use crate::hidden::{shown_characters, visible_line};
use crate::words::words;

words! {
    /// How much a diagnostic matters. Worse sorts first.
    Severity {
        /// The file, or a part of it, is not used; or must not stay as it is.
        Error = "error",
        /// It is used, but probably not as its author meant.
        Warning = "warning",
        /// Worth knowing.
        Note = "note",
    }
}

/// A located problem: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Diagnostic {
    /// As shown to people: relative to the workspace, or `~/…`.
    pub path: String,
    /// Counted from 1; 0 when the problem is the file as a whole.
    pub line: usize,
    /// In characters, counted from 1; 0 when the problem is the file as a whole.
    pub column: usize,
    /// Which entry of [`CODES`] this is.
    pub code: Code,
    /// Usually that of the code; some formats are stricter than others.
    pub severity: Severity,
    /// What was found and what was wanted.
    pub message: String,
    /// What to write instead.
    pub help: String,
    /// The line it stands on, for showing; not part of the machine's output.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
    /// A change that mends it: what it does to an agent, the message says.
    #[serde(skip)]
    pub fix: Option<Fix>,
}

impl Fix {
    /// Writes something else at a byte range.
    pub(crate) fn new(span: Range<usize>, replacement: impl Into<String>) -> Fix {
        Fix { start: span.start, end: span.end, replacement: replacement.into() }
    }
}

/// A change to the file a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fix {
    /// First byte of what is replaced.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// What to write there.
    pub replacement: String,
}

/// The source line of a diagnostic and the stretch of it to underline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Excerpt {
    /// The line without its line break, cut at 400 bytes.
    pub line: String,
    /// How many characters to underline, at least one.
    pub width: usize,
}

impl Diagnostic {
    /// A problem of a file as a whole, or of something without lines.
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
            excerpt: None,
            fix: None,
        }
    }

    /// A problem at a byte range of a text.
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
            line: text[..start].bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: before.chars().count() + 1 - bom,
            excerpt: Some(Excerpt {
                line: line[..line.floor_char_boundary(400)].trim_start_matches('\u{feff}').to_owned(),
                width: text[start..end].chars().count().max(1),
            }),
            ..Diagnostic::whole(code, path, message)
        }
    }

    /// The same with another remedy than the table's.
    pub fn help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: seen(help.into(), shown_characters), ..self }
    }

    /// The same with the nearest of the known names as its remedy, if one is near.
    pub fn did_you_mean<'n>(self, name: &str, known: impl IntoIterator<Item = &'n str>) -> Diagnostic {
        match nearest(name, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// The same with another severity than the table's.
    pub fn severity(self, severity: Severity) -> Diagnostic {
        Diagnostic { severity, ..self }
    }
}

/// The user's own text for a message: its first line, cut to a length people read, with nothing hidden in it.
pub(crate) fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let cut = line.floor_char_boundary(60);
    let shown = shown_characters(&line[..cut]);
    if cut == text.len() { shown.into_owned() } else { format!("{shown}…") }
}

/// A text as people are to see it, in whatever a diagnostic is written.
fn seen(text: String, shown: fn(&str) -> Cow<'_, str>) -> String {
    match shown(&text) {
        Cow::Owned(shown) => shown,
        Cow::Borrowed(_) => text,
    }
}

/// How many places of one kind are told in one file.
pub const MAX_PLACES: usize = 10;

/// Tells the first few places; the last of them says how many more there are.
pub(crate) fn report_first<P>(
    mut places: impl Iterator<Item = P>,
    tell: impl Fn(P) -> Diagnostic,
    told: &mut Vec<Diagnostic>,
) {
    told.extend(places.by_ref().take(MAX_PLACES).map(tell));
    let more = places.count();
    if more > 0
        && let Some(last) = told.last_mut()
    {
        last.message.push_str(&format!("; and {more} more like it below"));
    }
}

/// The nearest of the known names, if any is near enough to be meant.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|other| (strsim::damerau_levenshtein(&lower, &other.to_lowercase()), other))
        .filter(|(distance, other)| *distance <= 1 + name.len().max(other.len()) / 4)
        .min()
        .map(|(_, other)| other)
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
    fn nothing_hides_in_what_is_told() {
        let told = Diagnostic::whole(Code::BadGlob, "a\u{202e}\nb", "`c\u{200b}\u{9b}`").help("d\u{2028}é");
        assert_eq!(told.path, "a<U+202E>\u{fffd}b");
        assert_eq!(told.message, "`c<U+200B><U+009B>`");
        assert_eq!(told.help, "d<U+2028>é");
        assert_eq!(shown("e\u{202e}f"), "e<U+202E>f");
    }

    #[test]
    fn the_nearest_name_is_near() {
        assert_eq!(nearest("glob", ["globs", "paths"]), Some("globs"));
        assert_eq!(nearest("alwaysapply", ["alwaysApply"]), Some("alwaysApply"));
        assert_eq!(nearest("zzz", ["globs", "paths"]), None);
    }
}
