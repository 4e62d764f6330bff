//! How far a requirement came in a session: its calls, in order.

use std::collections::HashMap;

use super::event::{BROKEN, REFUSE};
use super::state::{Mark, PastCall, Session};
use crate::condition::Truth;
use crate::evidence::Roots;
use crate::requirement::{EventPattern, Occurrence, Place, Require};
use crate::shell::{self, Script};
use crate::words::words;

words! {
    /// The state of a requirement in a session.
    RequirementState {
        /// Nothing made it due yet.
        Idle = "not due",
        /// It must be met before what it guards.
        Due = "due",
        /// It was met since it became due.
        Met = "met",
        /// What it guards happened while it was due.
        Broken = "broken",
        /// It is forbidden now.
        Forbidden = "forbidden",
    }
}

/// A call with what its shell line runs.
pub(super) struct Line<'s> {
    pub(super) call: &'s PastCall,
    pub(super) script: Option<Script>,
    place: Place<'s>,
    /// Where the call was about to run; itself if that was not reported.
    began: usize,
    /// Whether it failed, as reported after it ran.
    has_failed: bool,
    /// Whether it changed nothing: an edit that failed. A shell line that failed may have run in part.
    pub(super) is_void: bool,
}

/// How far a requirement came.
#[derive(Default)]
pub(super) struct Progress {
    /// Since which call it is due; `Some(0)` from the start.
    pub(super) due: Option<usize>,
    pub(super) due_by: Option<String>,
    pub(super) met: Option<(u64, String)>,
    pub(super) broken: Option<String>,
    /// Refusals since it is due, and all of them.
    pub(super) refused: usize,
    pub(super) refusals: usize,
}

impl Session {
    /// The marks of a requirement of the rule with this file.
    pub(super) fn marks_of<'s>(&'s self, path: &'s str, nth: usize) -> impl Iterator<Item = &'s Mark> {
        self.marks.iter().filter(move |mark| mark.nth == nth && mark.path == path)
    }

    /// The calls, each with the place where it was about to run.
    pub(super) fn lines<'s>(&'s self, roots: &'s Roots) -> Vec<Line<'s>> {
        type Key<'s> = (&'s str, Option<&'s str>, &'s [String]);
        let mut open: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
        let mut lines = Vec::with_capacity(self.calls.len());
        for (at, call) in self.calls.iter().enumerate() {
            let key = (call.name.as_str(), call.command.as_deref(), call.paths.as_slice());
            let began = if call.pending {
                open.entry(key).or_default().push(at);
                at
            } else {
                open.get_mut(&key).and_then(Vec::pop).unwrap_or(at)
            };
            let place = Place { roots, folder: None };
            let is_void = call.failed && call.command.is_none();
            let pending: Option<&mut Line<'_>> = lines.get_mut(began).filter(|_| call.failed);
            if let Some(pending) = pending {
                (pending.has_failed, pending.is_void) = (true, is_void);
            }
            let script = call.command.as_deref().map(shell::parse);
            lines.push(Line { call, script, place, began, has_failed: call.failed, is_void });
        }
        lines
    }

    /// Follows a requirement through the calls of the session.
    pub(super) fn progress(&self, path: &str, nth: usize, require: &Require, lines: &[Line<'_>]) -> Progress {
        self.follow(path, nth, require, lines, |_, _| {})
    }

    /// The same; `changed` learns of each call that made it due or met it.
    pub(super) fn follow(
        &self,
        path: &str,
        nth: usize,
        require: &Require,
        lines: &[Line<'_>],
        mut changed: impl FnMut(usize, RequirementState),
    ) -> Progress {
        let mut progress = Progress { due: require.after.is_none().then_some(0), ..Progress::default() };
        let mut marks = self.marks_of(path, nth).peekable();
        for at in 0..=lines.len() {
            while let Some(mark) = marks.next_if(|mark| mark.at <= at) {
                progress.mark(mark);
            }
            let Some(line) = lines.get(at).filter(|line| !line.call.is_refused && !line.is_void) else {
                continue;
            };
            let before = progress.due;
            progress.take(require, line, at);
            match (before, progress.due) {
                (None, Some(_)) => changed(at, RequirementState::Due),
                (Some(_), None) => changed(at, RequirementState::Met),
                _ => {}
            }
        }
        progress
    }
}

impl Line<'_> {
    pub(super) fn occurrence(&self) -> Occurrence<'_> {
        let PastCall { name, paths, .. } = self.call;
        let is_write = self.script.is_none() && self.call.call().is_write();
        let (script, place) = (self.script.as_ref(), self.place);
        Occurrence { tool: name, paths, is_write, has_failed: self.has_failed, script, place }
    }

    /// Whether it was such an event.
    pub(super) fn is_event(&self, pattern: &EventPattern) -> bool {
        !self.call.pending && !self.is_void && pattern.matches(&self.occurrence()) == Truth::Yes
    }

    /// What the call is about, for people.
    fn shown(&self) -> String {
        let PastCall { name, paths, command, .. } = self.call;
        let command = command.as_deref().and_then(|command| command.lines().next());
        format!("{name} {}", command.map_or_else(|| paths.join(", "), str::to_owned))
    }
}

impl Progress {
    pub(super) fn is_due(&self, require: &Require, turn: u64) -> bool {
        let is_old = |since: u64| require.within.is_some_and(|within| turn.saturating_sub(since) >= within);
        self.due.is_some() || self.met.as_ref().is_some_and(|(since, _)| is_old(*since))
    }

    fn mark(&mut self, mark: &Mark) {
        match mark.action.as_str() {
            REFUSE => {
                self.refused += 1;
                self.refusals += 1;
            }
            BROKEN => self.broken = Some(mark.call.clone()),
            _ => {}
        }
    }

    /// Takes in a call of the session.
    fn take(&mut self, require: &Require, line: &Line<'_>, at: usize) {
        let occurrence = line.occurrence();
        let makes_due = require.after.as_ref().is_some_and(|after| after.matches(&occurrence) == Truth::Yes);
        let does = !line.call.pending && !line.call.failed && require.act.matches(&occurrence) == Truth::Yes;
        let is_later = |pattern: &EventPattern, than: &EventPattern| {
            // In one line, the order of the commands decides.
            let Some(script) = &line.script else { return true };
            let last = |pattern: &EventPattern| {
                (0..script.commands.len())
                    .rev()
                    .find(|at| pattern.matches_command(script, *at, line.place) == Truth::Yes)
            };
            last(pattern) > last(than)
        };
        let due_before = self.due;
        if makes_due {
            if self.due.is_none() {
                self.refused = 0;
            }
            self.due = Some(at);
            self.due_by = Some(line.shown());
        }
        if !does {
            return;
        }
        // A call that was made in parallel with the one that made it due did not follow it.
        let follows = due_before.is_none_or(|due| due == 0 && require.after.is_none() || line.began >= due);
        let is_after_own =
            !makes_due || require.after.as_ref().is_none_or(|after| is_later(&require.act, after));
        if follows && is_after_own {
            self.due = None;
            self.due_by = None;
            self.refused = 0;
            self.broken = None;
            self.met = Some((line.call.turn, line.shown()));
        }
    }
}
