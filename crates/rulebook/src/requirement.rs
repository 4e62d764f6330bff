//! Requirements: what must be done before something else (`requires`), and what must never be done (`forbids`).

use std::sync::Arc;

use crate::condition::{CommandPattern, Paths, Truth};
use crate::evidence::Roots;
use crate::glob::Glob;
use crate::shell::{self, Command, Script};
use crate::words::words;

mod files;
mod order;

pub(crate) use files::Place;

/// The requirements of a rule.
#[derive(Clone, Debug, Default)]
pub struct Requirements {
    /// What must be done before something else.
    pub requires: Vec<Arc<Require>>,
    /// What must never be done.
    pub forbids: Vec<Arc<Forbid>>,
    /// What happens if it is not known whether an event matches.
    pub on_unknown: OnUnknown,
}

/// Something that must be done before something else.
#[derive(Debug)]
pub struct Require {
    /// What must be done.
    pub act: EventPattern,
    /// What must not happen before it is done.
    pub before: EventPattern,
    /// What makes it due; without it, it is due from the start.
    pub after: Option<EventPattern>,
    /// For how many turns it stays done.
    pub within: Option<u64>,
    /// How often an attempt is refused.
    pub repeat: RequireRepeat,
}

/// Something that must never be done.
#[derive(Debug)]
pub struct Forbid {
    /// What must not happen.
    pub event: EventPattern,
    /// Only after this.
    pub after: Option<Arc<EventPattern>>,
}

words! {
    /// What happens to a call of which it is not known whether a requirement concerns it.
    OnUnknown {
        /// It runs, and the user is notified once per session.
        Allow = "allow",
        /// The user is asked; where the host cannot ask, it is refused.
        Ask = "ask",
        /// It is refused.
        Refuse = "refuse",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro of words derives the same for all of them")]
impl Default for OnUnknown {
    fn default() -> OnUnknown {
        OnUnknown::Allow
    }
}

words! {
    /// How often an attempt is refused while a requirement is due.
    RequireRepeat {
        /// Once; the next attempt runs, and the requirement counts as broken.
        Once = "once",
        /// Until it is met, at most three times a turn.
        Always = "always",
    }
}

/// An event that a requirement is about.
#[derive(Debug)]
pub enum EventPattern {
    /// A simple command of a shell line.
    Command(CommandPattern),
    /// A file is written, by a tool or a shell command.
    Edit(Paths),
    /// A file is read or named.
    Read(Paths),
    /// A tool is called.
    Tool(Glob),
    /// The agent ends its turn.
    Stop,
}

/// A tool call, as requirements see it.
#[derive(Debug)]
pub(crate) struct Occurrence<'c> {
    pub(crate) tool: &'c str,
    pub(crate) paths: &'c [String],
    pub(crate) is_write: bool,
    /// Whether it ran and failed.
    pub(crate) has_failed: bool,
    /// What its shell line runs, and where.
    pub(crate) script: Option<&'c Script>,
    pub(crate) place: Place<'c>,
}

impl EventPattern {
    /// The key it is written with.
    pub fn kind(&self) -> &'static str {
        match self {
            EventPattern::Command(_) => "command",
            EventPattern::Edit(_) => "edit",
            EventPattern::Read(_) => "read",
            EventPattern::Tool(_) => "tool",
            EventPattern::Stop => "stop",
        }
    }

    /// The pattern as written.
    pub fn written(&self) -> String {
        match self {
            EventPattern::Command(pattern) => pattern.written.clone(),
            EventPattern::Edit(paths) | EventPattern::Read(paths) => {
                paths.patterns().collect::<Vec<_>>().join(", ")
            }
            EventPattern::Tool(glob) => glob.pattern().to_owned(),
            EventPattern::Stop => String::new(),
        }
    }

    /// As something to do: "run `git commit*`".
    pub fn to_do(&self) -> String {
        self.shown(self.verbs().0)
    }

    /// As something that happens: "running `git commit*`".
    pub fn doing(&self) -> String {
        self.shown(self.verbs().1)
    }

    fn verbs(&self) -> (&'static str, &'static str) {
        match self {
            EventPattern::Command(_) => ("run", "running"),
            EventPattern::Edit(_) => ("edit", "editing"),
            EventPattern::Read(_) => ("read", "reading"),
            EventPattern::Tool(_) => ("call", "calling"),
            EventPattern::Stop => ("end the turn", "ending the turn"),
        }
    }

    fn shown(&self, verb: &str) -> String {
        match self {
            EventPattern::Stop => verb.to_owned(),
            _ => format!("{verb} `{}`", self.written()),
        }
    }

    /// Whether a call is such an event.
    pub(crate) fn matches(&self, call: &Occurrence<'_>) -> Truth {
        let known = |is_match: bool| if is_match { Truth::Yes } else { Truth::No };
        match (self, call.script) {
            (EventPattern::Stop, _) => Truth::No,
            (EventPattern::Tool(glob), _) => known(glob.is_match(&call.tool.to_lowercase())),
            (EventPattern::Command(pattern), Some(script)) => {
                let failed = script.failed_with_line().filter(|_| call.has_failed);
                pattern.matches_line(script, failed)
            }
            (EventPattern::Command(_), None) => Truth::No,
            (EventPattern::Read(paths), None) => known(!call.is_write && call.names(paths)),
            (EventPattern::Edit(paths), None) => known(call.is_write && call.names(paths)),
            (EventPattern::Read(_) | EventPattern::Edit(_), Some(script)) => {
                let at = |at: usize| self.matches_command(script, at, call.place);
                let touched = (0..script.commands.len()).map(at).max().unwrap_or(Truth::No);
                let named = matches!(self, EventPattern::Read(paths) if call.reads(paths, script));
                if script.doubts.is_empty() { touched.max(known(named)) } else { touched.max(Truth::Unknown) }
            }
        }
    }

    /// Whether one command of a line is such an event.
    pub(crate) fn matches_command(&self, script: &Script, at: usize, place: Place<'_>) -> Truth {
        let command = &script.commands[at];
        match self {
            EventPattern::Command(pattern) => pattern.matches(command),
            EventPattern::Edit(paths) => files::writes(paths, command, place),
            EventPattern::Read(paths) => files::reads(paths, command, place),
            EventPattern::Tool(_) | EventPattern::Stop => Truth::No,
        }
    }
}

impl Occurrence<'_> {
    /// Whether patterns match one of its files.
    fn names(&self, paths: &Paths) -> bool {
        self.paths.iter().any(|path| paths.is_match(None, path))
    }

    /// The same, for files that its line names and does not write.
    fn reads(&self, paths: &Paths, script: &Script) -> bool {
        let is_file = |path: &str, file: &str| {
            let file = file.trim_start_matches("./");
            path.strip_suffix(file).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        };
        let touched: Vec<_> = script.commands.iter().flat_map(Command::files).collect();
        let is_written =
            |path: &str| touched.iter().any(|one| one.touched.is_write() && is_file(path, &one.file.text));
        self.paths.iter().any(|path| paths.is_match(None, path) && !is_written(path))
    }
}

impl Requirements {
    /// What it forbids, or makes wait, in shell lines.
    fn in_lines(&self) -> impl Iterator<Item = &EventPattern> {
        let before = self.requires.iter().map(|require| &require.before);
        let events = self.forbids.iter().map(|forbid| &forbid.event).chain(before);
        events.filter(|event| !matches!(event, EventPattern::Stop | EventPattern::Tool(_)))
    }

    /// Whether shell lines can be examples of what it forbids or makes wait.
    pub fn is_about_lines(&self) -> bool {
        self.in_lines().next().is_some()
    }

    /// Whether an example, as a shell line, is what the rule forbids or makes wait; `None` if it is about nothing of that kind.
    pub fn fires_on(&self, line: &str, roots: &Roots) -> Option<Truth> {
        let script = shell::parse(line);
        let place = Place { roots, folder: None };
        let (is_write, has_failed) = (false, false);
        let call =
            Occurrence { tool: "shell", paths: &[], is_write, has_failed, script: Some(&script), place };
        let waits = |require: &Require| {
            let truth = require.before.matches(&call);
            let is_due = truth != Truth::No && require.is_due_in(&script, place, truth, true);
            if is_due { truth } else { Truth::No }
        };
        let forbidden = self.forbids.iter().map(|forbid| forbid.event.matches(&call));
        let truth = forbidden.chain(self.requires.iter().map(|require| waits(require))).max();
        truth.filter(|_| self.is_about_lines())
    }
}

impl Require {
    /// For people: "after editing `*.go`, run `lint` before running `git commit*`".
    pub fn shown(&self) -> String {
        format!("{} before {}", self.due(), self.before.doing())
    }

    /// What must be done now: "after editing `*.go`, run `lint`".
    pub fn due(&self) -> String {
        let after = self.after.as_ref().map(|after| format!("after {}, ", after.doing()));
        format!("{}{}", after.unwrap_or_default(), self.act.to_do())
    }
}

impl Forbid {
    /// For people: "never run `git push --force*`".
    pub fn shown(&self) -> String {
        format!("never {}", self.with_after(self.event.to_do()))
    }

    /// What is forbidden: "running `git push --force*`".
    pub fn forbidden(&self) -> String {
        self.with_after(self.event.doing())
    }

    fn with_after(&self, event: String) -> String {
        match &self.after {
            Some(after) => format!("{event} after {}", after.doing()),
            None => event,
        }
    }
}
