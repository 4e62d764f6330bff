//! `command`: the shell command about to run.

use std::ops::Range;

use super::facts::{Facts, TOO_MUCH};
use super::kind::{Condition, ConditionKind, ConditionResult, Test};
use super::regexes::{Pattern, RegexBudget};
use super::truth::Truth;
use super::value::{Report, texts};
use crate::shell::{Command, Script, Word, is_wildcard_match, may_match};

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "command",
    holds: "a simple command of the shell line about to run matches a wildcard pattern (`git push*`) or a regular expression (`/…/`)",
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
    /// A wildcard pattern has none.
    regex: Option<Pattern>,
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
            return Some(CommandPattern { written, regex: None });
        };
        let regex = Pattern::read(&regex, &written, span, budget, report)?;
        Some(CommandPattern { written, regex: Some(regex) })
    }

    /// Whether a command matches; unknown if that depends on what is not known of it.
    pub(crate) fn matches(&self, command: &Command) -> Truth {
        let of_form = |form: &Word| match &self.regex {
            None if is_wildcard_match(&self.written, form.text.trim()) => Truth::Yes,
            Some(regex) if regex.is_match(form.text.trim()) => Truth::Yes,
            _ if form.holes.is_empty() && form.stars.is_empty() => Truth::No,
            Some(_) if form.holes.is_empty() => Truth::No,
            None if !may_match(&self.written, form) => Truth::No,
            _ => Truth::Unknown,
        };
        let known = command.forms().iter().map(of_form).max().unwrap_or(Truth::No);
        if known == Truth::No && command.may_run(&|text| of_form(&Word::known(text)) == Truth::Yes) {
            return Truth::Unknown;
        }
        known
    }

    /// Whether a line runs a command that matches.
    pub(crate) fn matches_line(&self, script: &Script) -> Truth {
        let known = script.commands.iter().map(|command| self.matches(command)).max().unwrap_or(Truth::No);
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
            |pattern: &CommandPattern| scripts.iter().map(|script| pattern.matches_line(script)).max();
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
