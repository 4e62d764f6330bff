//! Order within one shell line: which of its commands are an event, and whether what must be done precedes what waits.

use super::{EventPattern, Place, Require};
use crate::condition::Truth;
use crate::shell::Script;

impl EventPattern {
    /// The commands of a line that are such an event; if that is not known of the line, those that may be.
    pub(crate) fn may_be<'a>(
        &'a self,
        script: &'a Script,
        place: Place<'a>,
        truth: Truth,
    ) -> impl Iterator<Item = usize> + 'a {
        let is_doubted = truth == Truth::Unknown;
        let in_doubt = move |at: usize| {
            let line = script.commands[at].line().text;
            is_doubted && script.doubts.iter().any(|doubt| doubt.command.is_empty() || doubt.command == line)
        };
        let is_it = move |at: usize| truth != Truth::No && self.matches_command(script, at, place) >= truth;
        (0..script.commands.len()).filter(move |at| in_doubt(*at) || is_it(*at))
    }
}

impl Require {
    /// Whether it is still due when a line reaches what it guards. `truth` says whether the line does.
    pub(crate) fn is_due_in(
        &self,
        script: &Script,
        place: Place<'_>,
        truth: Truth,
        mut is_due: bool,
    ) -> bool {
        let is = |pattern: &EventPattern, at: usize| pattern.matches_command(script, at, place) == Truth::Yes;
        let guarded: Vec<usize> = self.before.may_be(script, place, truth).collect();
        let mut done: Vec<usize> = Vec::new();
        for at in 0..script.commands.len() {
            if guarded.contains(&at) {
                if is_due && !done.iter().any(|done| script.precedes(*done, at)) {
                    return true;
                }
                continue;
            }
            if self.after.as_ref().is_some_and(|after| is(after, at)) {
                is_due = true;
                done.clear();
            }
            if is(&self.act, at) {
                done.push(at);
            }
        }
        // A command that follows those that wait makes only those wait that may run later, or that have no place in the line.
        let is_later = |at: &usize| script.commands[*at].is_delayed;
        is_due && done.is_empty() && (guarded.is_empty() || guarded.iter().any(is_later))
    }
}
