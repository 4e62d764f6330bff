//! Programs that run a command for each of several values: `parallel` and `zargs`.

use super::command::{Redirect, Word, joined};
use super::script::DoubtKind;
use super::starters::Starter;
use super::starting::Starting;
use super::written::quoted;

/// The most values that are tried.
const MAX_VALUES: usize = 100;
/// What separates a command from its values.
const SOURCES: &[&str] = &[":::", ":::+", "::::", "::::+"];
/// A value that is not known, in a text for a shell.
const UNKNOWN: &str = "\"$_\"";

impl Starting<'_> {
    /// `parallel`: its words are a text for a shell, run with each value; without any, each line that it reads is one.
    pub(super) fn parallel(&mut self, starter: &Starter, rest: &[Word]) {
        let is_source = |word: &Word| SOURCES.contains(&&*word.text);
        let end = rest.iter().position(is_source).unwrap_or(rest.len());
        let template = starter.start(&rest[..end]).map_or(&[][..], |start| &rest[start.at..end]);
        let values = rest.get(end + 1..).unwrap_or_default();
        let are_listed = rest.get(end).is_some_and(|source| source.text == ":::")
            && !values.iter().any(is_source)
            && values.len() <= MAX_VALUES;
        match (template.is_empty(), are_listed) {
            (true, true) => values.iter().for_each(|value| self.text(value)),
            (true, false) => self.lines(end < rest.len()),
            (false, true) => values.iter().for_each(|value| self.text(&filled(template, &shown(value)))),
            (false, false) => self.text(&filled(template, UNKNOWN)),
        }
    }

    /// Reads lines as commands, if they are in the line.
    fn lines(&mut self, are_elsewhere: bool) {
        let reads = self.command.is_piped || self.command.redirects.iter().any(Redirect::is_input);
        if are_elsewhere || !reads { self.doubt(DoubtKind::Input) } else { self.input() }
    }

    /// `zargs -- VALUES -- COMMAND`.
    pub(super) fn zargs(&mut self, rest: &[Word]) {
        let Some(end) = rest.iter().rposition(|word| word.text == "--").filter(|end| *end > 0) else {
            return;
        };
        let mut words = rest[end + 1..].to_vec();
        words.push(Word::hole("…"));
        self.words(words);
    }
}

/// A value, as a shell reads it back.
fn shown(value: &Word) -> String {
    let known = value.as_known().filter(|_| value.stars.is_empty());
    known.map_or_else(|| UNKNOWN.to_owned(), |value| quoted(value).into_owned())
}

/// A template with a value in its marks, or at its end.
fn filled(template: &[Word], value: &str) -> Word {
    let mut has_mark = false;
    let fill = |word: &Word| {
        let Some(text) = with_value(&word.text, value) else { return word.clone() };
        has_mark = true;
        if word.holes.is_empty() { Word::known(text) } else { Word::hole(&text) }
    };
    let words: Vec<Word> = template.iter().map(fill).collect();
    let end = (!has_mark).then(|| Word::known(value));
    joined(words.iter().chain(&end))
}

/// A text with a value in its marks, such as `{}`, `{.}` and `{1}`; `None` without any.
fn with_value(text: &str, value: &str) -> Option<String> {
    let is_mark = |inner: &str| inner.bytes().all(|byte| byte.is_ascii_digit() || b"./#%+".contains(&byte));
    let mut parts = text.split('{');
    let mut filled = parts.next()?.to_owned();
    let mut has_mark = false;
    for part in parts {
        match part.split_once('}').filter(|(inner, _)| is_mark(inner)) {
            Some((_, rest)) => {
                has_mark = true;
                filled.push_str(value);
                filled.push_str(rest);
            }
            None => {
                filled.push('{');
                filled.push_str(part);
            }
        }
    }
    has_mark.then_some(filled)
}
