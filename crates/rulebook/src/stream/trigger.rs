//! Triggers: what a stream rule watches for, and how it acts on a match.

use std::borrow::Cow;
use std::sync::Arc;

use super::pattern::Pattern;
use super::policy::{ContextMode, InterruptMode, RepeatMode, StreamModes};
use super::scope::{self, StreamScope};
use crate::condition::{MatchMode, PathExpression, Paths};
use crate::syntax::SyntaxTrigger;

/// A stream rule, as far as a monitor needs it.
#[derive(Clone, Copy, Debug)]
pub struct StreamRule<'r> {
    /// The rule's name.
    pub name: &'r str,
    /// Its file, as displayed.
    pub source: &'r str,
    /// Whether it is mandatory: its conditions are compiled first.
    pub is_mandatory: bool,
    /// What it watches for.
    pub trigger: &'r Trigger,
    /// The roots whose files are left to a rule of their own.
    pub other_roots: &'r [usize],
}

impl StreamRule<'_> {
    /// Whether it watches calls about this file. A rule that watches no calls depends on no file.
    pub fn admits(&self, root: Option<usize>, path: &str) -> bool {
        let is_left = root.is_some_and(|root| self.other_roots.contains(&root));
        !(is_left && self.trigger.watches_calls()) && self.trigger.admits(root, path)
    }
}

/// What is said of a stream rule that watches no calls for the files in question.
pub const OTHER_FILES: &str = "calls for other files only";

/// What a stream rule watches for. It is not compiled, so that processes that watch no stream do not pay for it.
#[derive(Clone, Debug, Default)]
pub struct Trigger {
    /// Regular expressions; any match fires. Empty if none of them, or no scope, is valid: then the rule is inactive.
    pub conditions: Vec<Pattern>,
    /// Patterns on the syntax tree of what a call writes; any match fires.
    pub syntax: Vec<SyntaxTrigger>,
    /// The parts of the output to watch; empty means text and tools.
    pub scope: Vec<StreamScope>,
    /// How it interrupts and repeats, if the rule sets it.
    pub modes: OwnModes,
    /// The files that a tool call must be about, if the rule restricts them.
    pub gate: Option<Arc<Paths>>,
    /// Whether it names scopes, and none of them is valid.
    pub(crate) lacks_scope: bool,
}

impl Trigger {
    /// Why nothing can fire it.
    pub(crate) fn why_never(&self) -> &'static str {
        if self.lacks_scope {
            "the stream rule has no valid scope"
        } else {
            "the stream rule has no valid pattern"
        }
    }

    /// The parts of the output that it watches.
    pub fn scopes(&self) -> Cow<'_, [StreamScope]> {
        match () {
            () if !self.scope.is_empty() => Cow::Borrowed(&self.scope),
            // Syntax is that of what calls write.
            () if self.conditions.is_empty() && !self.syntax.is_empty() => {
                Cow::Owned(vec![scope::of_tools()])
            }
            () => Cow::Owned(scope::default()),
        }
    }

    /// Whether it may watch an argument of this tool.
    pub(crate) fn may_watch_tool(&self, tool: &str) -> bool {
        if !self.syntax.is_empty() {
            return true;
        }
        let own = self.conditions.iter().filter_map(|pattern| pattern.scope.as_ref());
        self.scopes().iter().chain(own).any(|scope| scope.may_cover_tool(tool))
    }

    /// Whether nothing can fire it.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.syntax.is_empty()
    }

    /// Whether it watches calls about this file. A rule that watches no calls depends on no file.
    fn admits(&self, root: Option<usize>, path: &str) -> bool {
        let is_match = |paths: &Arc<Paths>| paths.is_match(root, path);
        self.files().is_none_or(|[gate, scopes]| {
            gate.iter().all(|paths| is_match(paths))
                && (scopes.is_empty() || scopes.iter().any(|paths| is_match(paths)))
        })
    }

    /// What it requires of the file that a call is about; `None` if any file will do.
    pub(crate) fn path_expression(&self) -> Option<PathExpression<'_>> {
        let [gate, scopes] = self.files()?;
        let gate = path_list(gate);
        let scopes = Some(scopes).filter(|scopes| !scopes.is_empty());
        let scopes = scopes.map(|scopes| PathExpression::Joined(MatchMode::Any, path_list(scopes)));
        Some(PathExpression::Joined(MatchMode::All, gate.into_iter().chain(scopes).collect()))
    }

    /// Whether it watches tool calls, and not only prose.
    pub(crate) fn watches_calls(&self) -> bool {
        !self.syntax.is_empty()
            || self.watched().any(|scope| scope.is_none_or(|scope| scope.calls().is_some()))
    }

    /// The patterns for the files that a call must be about: all of the first, and any of the second unless it is empty.
    /// `None` if any file will do.
    fn files(&self) -> Option<[Vec<&Arc<Paths>>; 2]> {
        let gate: Vec<_> = self.gate.iter().filter(|_| self.watches_calls()).collect();
        let calls =
            self.watched().filter_map(|scope| scope.map_or(Some(None), |scope| Some(scope.calls()?.files())));
        let scopes: Option<Vec<_>> = calls.collect();
        let scopes = scopes.filter(|_| self.syntax.is_empty()).unwrap_or_default();
        (!gate.is_empty() || !scopes.is_empty()).then_some([gate, scopes])
    }

    /// The scopes of its conditions as written; `None` for those that apply without any.
    fn watched(&self) -> impl Iterator<Item = Option<&StreamScope>> {
        let own = self.conditions.iter().filter_map(|pattern| pattern.scope.as_ref());
        let is_shared = self.conditions.iter().any(|pattern| pattern.scope.is_none());
        let shared = self.scope.iter().filter(move |_| is_shared);
        let default = (is_shared && self.scope.is_empty()).then_some(None);
        own.chain(shared).map(Some).chain(default)
    }
}

fn path_list<'t>(list: Vec<&'t Arc<Paths>>) -> Vec<PathExpression<'t>> {
    list.into_iter().map(|paths| PathExpression::Paths(paths)).collect()
}

/// The modes that a rule sets itself; the others come from the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnModes {
    /// Whether a match interrupts.
    pub interrupt: Option<InterruptMode>,
    /// Whether the interrupted answer stays in the conversation.
    pub context: Option<ContextMode>,
    /// Whether it fires again.
    pub repeat: Option<RepeatMode>,
    /// The number of completed turns before it fires again.
    pub gap: Option<u32>,
}

impl OwnModes {
    /// The modes of the rule, with those of the settings as defaults.
    pub fn over(self, base: StreamModes) -> StreamModes {
        StreamModes {
            interrupt: self.interrupt.unwrap_or(base.interrupt),
            context: self.context.unwrap_or(base.context),
            repeat: self.repeat.unwrap_or(base.repeat),
            gap: self.gap.unwrap_or(base.gap),
        }
    }
}
