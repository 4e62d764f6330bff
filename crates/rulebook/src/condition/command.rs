//! `command`: the shell command about to run.

use super::facts::Facts;
use super::kind::{Condition, ConditionKind, ConditionResult, Test};
use super::regexes::{Pattern, RegexBudget};
use super::value::texts;

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "command",
    holds: "the shell command about to run matches a wildcard pattern (`git push*`) or a regular expression (`/…/`)",
    fact: None,
    build: |kind, node, _, report| {
        let (mut patterns, mut budget) = (Vec::new(), RegexBudget::default());
        for (text, span) in texts(node, report) {
            let written = text.trim().to_owned();
            let regex = written.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
            let regex = regex.map_or_else(|| wildcard(&written), str::to_owned);
            let regex = Pattern::read(&regex, &written, span, &mut budget, report);
            patterns.extend(regex.map(|regex| (written, regex)));
        }
        (!patterns.is_empty()).then(|| Condition::new(kind.key, Command { patterns }))
    },
};

#[derive(Debug)]
struct Command {
    patterns: Vec<(String, Pattern)>,
}

/// Converts a wildcard pattern: a command is not a path, so `*` matches any text.
fn wildcard(pattern: &str) -> String {
    let mut regex = String::from("(?s)^");
    for c in pattern.chars() {
        match c {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            _ => regex.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push('$');
    regex
}

impl Test for Command {
    fn evaluate(&self, facts: &Facts<'_>) -> ConditionResult {
        let commands = &facts.evidence.commands;
        if commands.is_empty() {
            return ConditionResult::not_known("command about to run");
        }
        let is_match = |regex: &Pattern| commands.iter().any(|command| regex.is_match(command.trim()));
        let patterns = self.patterns.iter().map(|(written, regex)| (written.as_str(), is_match(regex)));
        ConditionResult::of_patterns("command", commands, patterns)
    }

    fn wanted(&self) -> Vec<&str> {
        self.patterns.iter().map(|(written, _)| written.as_str()).collect()
    }
}
