//! Variables: what those that a text sets may be, and what an assignment makes run.

use std::ops::Range;

use super::command::Word;
use super::git::runs_in_git;
use super::programs::{ALIAS_VARIABLES, OPTION_VARIABLES, RUN_VARIABLES, TOOL_ENDS, TOOL_VARIABLES};
use super::reader::{Reader, Variable, is_meta};
use super::script::DoubtKind;

/// What an assignment makes run.
pub(super) enum Setting {
    /// What later commands run is not known.
    Doubt(DoubtKind),
    /// A program runs the value.
    Runs(Word),
}

/// What an assignment makes run, if it does so.
pub(super) fn setting(word: &Word) -> Option<Setting> {
    let start = word.text.find('=')? + 1;
    let (name, value) = (word.text[..start - 1].trim_end_matches('+'), &word.text[start..]);
    let name = name.split('[').next().unwrap_or(name);
    if ALIAS_VARIABLES.contains(&name) || ALIAS_STARTS.iter().any(|start| name.starts_with(start)) {
        return Some(Setting::Doubt(DoubtKind::Alias));
    }
    let is_more = value.contains(|c: char| c == '/' || c.is_whitespace()) || !word.holes.is_empty();
    let sets_git = name.starts_with("GIT_CONFIG_KEY_") && runs_in_git(value, "$");
    let is_run = RUN_VARIABLES.contains(&name);
    let options =
        OPTION_VARIABLES.iter().find(|(variable, _)| *variable == name).map(|(_, options)| *options);
    let is_tool = TOOL_VARIABLES.contains(&name) || TOOL_ENDS.iter().any(|end| name.ends_with(end));
    match () {
        () if sets_git
            || options.is_some_and(|options| names_program(options, value, !word.holes.is_empty())) =>
        {
            Some(Setting::Doubt(DoubtKind::Setting))
        }
        () if !is_more || value == "/dev/null" => None,
        () if is_run || is_tool && !word.holes.is_empty() => Some(Setting::Doubt(DoubtKind::Setting)),
        () => is_tool.then(|| Setting::Runs(word.tail(start))),
    }
}

/// How the names of variables start that define functions or aliases.
const ALIAS_STARTS: &[&str] = &["BASH_FUNC_", "CARGO_ALIAS_"];
/// The shortest part of a long option that counts as the option.
const SHORTEST: usize = "--ev".len();

/// Whether a value has one of these options, of which a part may be written, or one of these parts.
fn names_program(options: &[&str], value: &str, has_holes: bool) -> bool {
    let is_given = |option: &str| {
        let is_it = |word: &str| {
            let name = word.split('=').next().unwrap_or(word);
            word.starts_with(option) || name.len() >= SHORTEST && option.starts_with(name)
        };
        if option.starts_with('-') { value.split_whitespace().any(is_it) } else { value.contains(option) }
    };
    has_holes || options.iter().any(|option| is_given(option))
}

/// Whether a word names an element of a variable that holds aliases: `BASH_ALIASES[p]`.
pub(super) fn names_alias(word: &Word) -> bool {
    word.text.split_once('[').is_some_and(|(name, _)| ALIAS_VARIABLES.contains(&name))
}

/// Whether a word before the name of a command sets a variable.
pub(super) fn is_assignment(written: &str) -> bool {
    let Some((name, _)) = written.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split('[').next().unwrap_or(name);
    name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// The most bytes of the values of a variable: each use repeats them.
const MAX_VALUE: usize = 256;

/// How the current folder is written.
const HERE: &[&str] = &["$PWD", "${PWD}", "$(pwd)", "$(pwd -P)", "`pwd`", "`pwd -P`"];

impl Word {
    /// The words that it is, if the text gives one value to each of its variables. The value of one without quotes is split.
    pub(super) fn resolved(self) -> Vec<Word> {
        let Some([word]) = self.possible().and_then(|words| <[Word; 1]>::try_from(words).ok()) else {
            return vec![self];
        };
        let may_be_split = |(_, is): &(Range<usize>, Vec<Word>)| {
            is.iter().any(|value| value.text.is_empty() || value.text.contains(char::is_whitespace))
        };
        match self.may_split && self.values.iter().any(may_be_split) {
            false => vec![word],
            true if self.holes.first() == Some(&(0..self.text.len())) && word.stars.is_empty() => {
                word.text.split_whitespace().map(Word::known).collect()
            }
            true => vec![self],
        }
    }
}

impl Reader<'_> {
    /// Whether a part of a word is the current folder, which the text changes only with `cd`.
    pub(super) fn is_here(&self, written: &str) -> bool {
        HERE.contains(&written) && mentions(self.text, "PWD") == 0
    }

    /// Adds the current folder to a word. Files in it are named without it.
    pub(super) fn here(&mut self, word: &mut Word) {
        let is_name = |c: char| c.is_alphanumeric() || "._-*?[{".contains(c);
        match self.rest().strip_prefix('/') {
            Some(rest) if rest.starts_with(is_name) => self.at += 1,
            _ => word.text.push('.'),
        }
    }

    /// Reads `~+`, the current folder, and `~-`, the one before it.
    pub(super) fn tilde(&mut self, word: &mut Word) {
        let Some(rest) = self.rest().strip_prefix('~') else { return };
        let after = rest.get(1..).and_then(|after| after.chars().next());
        if after.is_some_and(|c| c != '/' && !is_meta(c)) {
            return;
        }
        match rest.as_bytes().first() {
            Some(b'+') => {
                self.at += "~+".len();
                self.here(word);
            }
            Some(b'-') => {
                word.push_hole("~-");
                self.at += "~-".len();
            }
            _ => {}
        }
    }

    /// Reads what an assignment makes run.
    pub(super) fn assigned(&mut self, word: &Word) {
        match setting(word) {
            Some(Setting::Doubt(why)) => self.doubt(why),
            Some(Setting::Runs(text)) => self.inner(&text.text),
            None => {}
        }
    }

    /// Notes what a variable may be from here on, if nothing else in the text can set it.
    pub(super) fn set(&mut self, name: &str, values: Vec<Word>) {
        let known: Option<Vec<Word>> = values.into_iter().map(|value| self.known_value(value)).collect();
        let size = |values: &[Word]| values.iter().map(|value| value.text.len()).sum::<usize>();
        let known = known.filter(|values| !values.is_empty() && size(values) <= MAX_VALUE);
        if let Some(values) = known.filter(|_| mentions(self.text, name) == 1) {
            let at = self.script.commands.len();
            self.variables.push(Variable { name: name.to_owned(), values, at });
        }
    }

    /// Forgets the variables that were set after so many commands: these run in a shell of their own.
    pub(super) fn forget_variables(&mut self, from: usize) {
        self.variables.retain(|variable| variable.at < from);
    }

    /// A value of which everything but wildcards is known. A temporary file is in a folder of its own.
    fn known_value(&self, value: Word) -> Option<Word> {
        const TEMPORARY: &[&str] = &["$(mktemp)", "`mktemp`", "$(mktemp -d)", "`mktemp -d`"];
        if TEMPORARY.contains(&&*value.text) && !self.text.contains("TMPDIR") {
            return Some(Word::known("/tmp/tmp.mktemp"));
        }
        value.holes.iter().all(|hole| matches!(&value.text[hole.clone()], "?" | "[")).then_some(value)
    }

    /// What `$name`, `${name}` or `${name%.ts}` may be.
    pub(super) fn values_of(&self, written: &str) -> Option<Vec<Word>> {
        let inner = written.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let inner = inner.or_else(|| written.strip_prefix('$'))?;
        let (name, end) = inner.split_once('%').unwrap_or((inner, ""));
        let variable = self.variables.iter().rfind(|variable| variable.name == name)?;
        variable.values.iter().map(|value| without_end(value, end.trim_start_matches('%'))).collect()
    }
}

/// A value without an end, as `%` takes it away.
fn without_end(value: &Word, end: &str) -> Option<Word> {
    if !end.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)) {
        return None;
    }
    let is_fixed = value.stars.is_empty() && value.holes.is_empty();
    match value.text.strip_suffix(end) {
        Some(start) => Some(Word { text: start.to_owned(), ..value.clone() }),
        None => is_fixed.then(|| value.clone()),
    }
}

/// Whether a part of a word that is not known may be set by the text: a substitution, a pattern, or a variable that the text sets.
pub(super) fn is_set(text: &str, written: &str) -> bool {
    let inner = written.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let Some(name) = inner.or_else(|| written.strip_prefix('$')) else { return true };
    let is_name = name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    !is_name || mentions(text, name) > 0
}

/// How often a text may set a variable: every mention of its name other than `$name`, `${name}` and `${name%…}`, and other than
/// as a part of a path or an option.
fn mentions(text: &str, name: &str) -> usize {
    let is_of_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let is_setting = |(at, _): &(usize, &str)| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        let is_part = before.ends_with(is_of_name) || after.starts_with(is_of_name);
        let is_path = before.ends_with(['/', '.', '-']) || after.starts_with(['/', '.', '-']);
        let is_use = before.ends_with('$') || before.ends_with("${") && after.starts_with(['}', '%']);
        !is_part && !is_path && !is_use
    };
    text.match_indices(name).filter(is_setting).count()
}
