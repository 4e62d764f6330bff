//! The situation a session decides in: the verdicts, and what it cannot know by itself.

use std::sync::Arc;

use super::ordered::OrderedRule;
use super::state::Session;
use super::stream_rules::StreamSettings;
use crate::evaluate::{Evaluation, State, Verdict};
use crate::evidence::{Evidence, Roots};
use crate::matrix::Handling;
use crate::rule::Rule;
use crate::syntax::Syntax;

/// Decides who brings rules to a host, one answer per rule that applies or is offered.
pub type HandlingView<'a> = dyn Fn(&[&Verdict<'_>]) -> Vec<Handling> + 'a;

/// What a session decides from.
#[derive(Clone, Copy)]
pub struct Situation<'e, 'r> {
    /// The rules' verdicts.
    pub evaluation: &'e Evaluation<'r>,
    /// The evidence they are for.
    pub evidence: &'e Evidence,
    /// Makes the files of tool calls relative.
    pub roots: &'e Roots,
    /// How stream rules act where they do not say so themselves.
    pub stream: StreamSettings,
    /// Who brings each rule to the host.
    pub handling: &'e HandlingView<'e>,
    /// Whether the conversation already has a rule's text.
    pub carries: &'e dyn Fn(&Rule) -> bool,
    /// The session together with its sub-agents, which share the state of requirements; `None` if it has none.
    pub shared: Option<&'e Session>,
    /// The session together with what programs that relay the conversation stopped in it; `None` if there are none.
    pub relayed: Option<&'e Session>,
    /// Whether calls are judged by requirements.
    pub follows_order: bool,
    /// Who parses code for syntax triggers.
    pub syntax: Option<&'e Arc<dyn Syntax>>,
}

impl<'e, 'r> Situation<'e, 'r> {
    /// For a host that reads nothing by itself, in a conversation without rules.
    pub fn new(
        evaluation: &'e Evaluation<'r>,
        evidence: &'e Evidence,
        roots: &'e Roots,
    ) -> Situation<'e, 'r> {
        Situation {
            evaluation,
            evidence,
            roots,
            stream: StreamSettings::default(),
            handling: &|verdicts| vec![Handling::Unread; verdicts.len()],
            carries: &|_| false,
            shared: None,
            relayed: None,
            follows_order: true,
            syntax: None,
        }
    }

    /// The rules with requirements.
    pub fn ordered_rules(&self) -> Vec<&'r Rule> {
        if self.follows_order { OrderedRule::all(self.evaluation) } else { Vec::new() }
    }

    /// The rules that watch the output.
    pub fn stream_rules(&self) -> Vec<&'e Verdict<'r>> {
        self.evaluation.verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stream)).collect()
    }
}
