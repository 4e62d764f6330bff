//! `command`: the shell command about to run.

use super::regexes::{Pattern, Room};
use super::{Condition, ConditionKind, ConditionResult, Facts, Test, texts};
use crate::diagnostic::Code;

pub(super) const KIND: ConditionKind = ConditionKind {
    key: "command",
    holds: "the shell command about to run matches a wildcard pattern (`git push*`) or a regular expression (`/…/`)",
    build: |node, _, tell| {
        let (mut patterns, mut room) = (Vec::new(), Room::default());
        for (text, span) in texts(node, tell) {
            let written = text.trim().to_owned();
            let regex = written.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
            let regex = regex.map_or_else(|| wildcard(&written), str::to_owned);
            match Pattern::read(&regex, &mut room) {
                Ok(regex) => patterns.push((written, regex)),
                Err(error) => tell(Code::BadRegex, span.clone(), format!("`{written}` is left out: {error}")),
            }
        }
        (!patterns.is_empty()).then(|| Condition::new("command", Command { patterns }))
    },
};

#[derive(Debug)]
struct Command {
    patterns: Vec<(String, Pattern)>,
}

/// A command is not a path: here `*` is any text.
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
    fn ask(&self, facts: &Facts<'_>) -> ConditionResult {
        let commands = &facts.evidence.commands;
        if commands.is_empty() {
            return ConditionResult::unknown("command about to run");
        }
        let matched: Vec<String> = self
            .patterns
            .iter()
            .filter(|(_, regex)| commands.iter().any(|command| regex.is_match(command.trim())))
            .map(|(written, _)| written.clone())
            .collect();
        if matched.is_empty() {
            let wanted: Vec<&str> = self.patterns.iter().map(|(written, _)| written.as_str()).collect();
            return ConditionResult::no(format!(
                "command is `{}`, wanted `{}`",
                commands.join("`, `"),
                wanted.join("`, `")
            ));
        }
        ConditionResult::yes(matched)
    }
}
