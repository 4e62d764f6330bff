//! `command`: the shell command about to run.

use std::ops::Range;

use super::facts::{Facts, TOO_MUCH};
use super::kind::{Condition, ConditionKind, ConditionResult, Test};
use super::regexes::{Pattern, RegexBudget};
use super::truth::Truth;
use super::value::{Report, texts};
use crate::diagnostic::{Code, shown};
use crate::glob::{Dialect, Glob, GlobError, expand_braces};
use crate::shell::{Command, Script, Word, is_wildcard_match, may_match};

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "command",
    holds: "a simple command of the shell line about to run matches a glob (`git push*`, `npm {install,i} *`) or a regular expression (`/…/`)",
    fact: None,
    build: |kind, node, _, report| {
        let (written, mut budget) = (texts(node, report), RegexBudget::default());
        let read =
            |(text, span): (&str, &Range<usize>)| CommandPattern::read(text, span, &mut budget, report);
        let patterns: Vec<CommandPattern> = written.into_iter().filter_map(read).collect();
        (!patterns.is_empty()).then(|| Condition::new(kind.key, Commands { patterns }))
    },
};

/// A pattern for one simple command: a wildcard pattern, or a regular expression.
#[derive(Debug)]
pub struct CommandPattern {
    /// As written.
    pub(crate) written: String,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Only `*` and `?` are special.
    Wildcards,
    /// A glob with more, and wildcard patterns of which one matches wherever it does.
    Glob(Box<Glob>, Vec<String>),
    Regex(Box<Pattern>),
}

/// What stands for `/` in globs and commands: a command is not a path, so `*` matches any text.
const SLASH: &str = "\u{1}";

impl Form {
    fn of(written: &str) -> Result<Form, GlobError> {
        if !has_more(written) {
            return Ok(Form::Wildcards);
        }
        let glob = Glob::new(&written.replace('/', SLASH), Dialect::Picomatch)?;
        let plain = expand_braces(written).unwrap_or_else(|| vec![written.to_owned()]);
        Ok(Form::Glob(Box::new(glob), plain.iter().map(|pattern| loose(pattern)).collect()))
    }

    fn is_match(&self, written: &str, text: &str) -> bool {
        match self {
            Form::Wildcards => is_wildcard_match(written, text),
            Form::Glob(glob, _) => glob.is_match(&text.replace('/', SLASH)),
            Form::Regex(regex) => regex.is_match(text),
        }
    }

    /// Whether a command of which parts are not known may match.
    fn may_match(&self, written: &str, form: &Word) -> bool {
        match self {
            Form::Wildcards => may_match(written, form),
            Form::Glob(_, plain) => plain.iter().any(|pattern| may_match(pattern, form)),
            Form::Regex(_) => !form.holes.is_empty(),
        }
    }
}

/// Whether a pattern has alternatives, classes of characters or extended globs. Brackets without them are text.
fn has_more(pattern: &str) -> bool {
    let closes = |open: char, close: char, is_it: &dyn Fn(&str) -> bool| {
        pattern.match_indices(open).any(|(at, _)| {
            let rest = &pattern[at + 1..];
            rest.find(close).is_some_and(|end| is_it(&rest[..end]))
        })
    };
    let is_list = |inner: &str| inner.contains(',') || inner.contains("..");
    let is_extended =
        ["@(", "?(", "*(", "+(", "!("].iter().any(|open| pattern.contains(open)) && pattern.contains(')');
    closes('{', '}', &is_list) || closes('[', ']', &|inner| !inner.is_empty()) || is_extended
}

/// A pattern with a wildcard in place of everything else that is special.
fn loose(pattern: &str) -> String {
    match pattern.find(['[', '(', '{', '\\', '!', '@', '+']) {
        Some(at) => format!("{}*", &pattern[..at]),
        None => pattern.to_owned(),
    }
}

impl CommandPattern {
    /// Reads a pattern, or reports why it is ignored.
    pub(crate) fn read(
        text: &str,
        span: &Range<usize>,
        budget: &mut RegexBudget,
        report: &mut Report<'_>,
    ) -> Option<CommandPattern> {
        let written = text.trim().to_owned();
        let regex = written.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let Some(regex) = regex.map(str::to_owned) else {
            let form = Form::of(&written).map_err(|error| {
                report(Code::BadGlob, span.clone(), format!("`{}` is ignored: {error}", shown(&written)));
            });
            return Some(CommandPattern { form: form.ok()?, written });
        };
        let regex = Pattern::read(&regex, &written, span, budget, report)?;
        Some(CommandPattern { written, form: Form::Regex(Box::new(regex)) })
    }

    /// Whether a command matches; unknown if that depends on what is not known of it.
    pub(crate) fn matches(&self, command: &Command) -> Truth {
        let of_form = |form: &Word| match () {
            () if self.form.is_match(&self.written, form.text.trim()) => Truth::Yes,
            () if form.holes.is_empty() && form.stars.is_empty() => Truth::No,
            () if self.form.may_match(&self.written, form) => Truth::Unknown,
            () => Truth::No,
        };
        let known = command.forms().iter().map(of_form).max().unwrap_or(Truth::No);
        if known == Truth::No && command.may_run(&|text| of_form(&Word::known(text)) == Truth::Yes) {
            return Truth::Unknown;
        }
        known
    }

    /// Whether a line runs a command that matches, apart from one that does not count.
    pub(crate) fn matches_line(&self, script: &Script, without: Option<usize>) -> Truth {
        let counted = script.commands.iter().enumerate().filter(|(at, _)| Some(*at) != without);
        let known = counted.map(|(_, command)| self.matches(command)).max().unwrap_or(Truth::No);
        if script.doubts.is_empty() { known } else { known.max(Truth::Unknown) }
    }
}

#[derive(Debug)]
struct Commands {
    patterns: Vec<CommandPattern>,
}

impl Test for Commands {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        if facts.evidence.commands.is_empty() {
            return ConditionResult::not_known("command about to run");
        }
        let bytes: usize = facts.evidence.commands.iter().map(String::len).sum();
        if !facts.may_inspect(bytes.saturating_mul(self.patterns.len())) {
            return ConditionResult::unknown(TOO_MUCH);
        }
        let scripts = facts.scripts();
        let truth =
            |pattern: &CommandPattern| scripts.iter().map(|script| pattern.matches_line(script, None)).max();
        let truths: Vec<Truth> = self.patterns.iter().filter_map(truth).collect();
        let patterns = self.patterns.iter().map(|pattern| pattern.written.as_str());
        let matches = patterns.zip(truths.iter().map(|truth| *truth == Truth::Yes));
        let result = ConditionResult::of_patterns("command", &facts.evidence.commands, matches);
        if result.truth == Truth::No && truths.contains(&Truth::Unknown) {
            let why = scripts.iter().flat_map(|script| &script.doubts).map(|doubt| doubt.why.name()).next();
            let why = why.unwrap_or("a part of it is not known");
            return ConditionResult::unknown(format!("{}; {why}", result.detail));
        }
        result
    }

    fn wanted(&self) -> Vec<&str> {
        self.patterns.iter().map(|pattern| pattern.written.as_str()).collect()
    }
}
