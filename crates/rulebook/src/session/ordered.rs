//! Rules with requirements, as a session follows them.

use std::sync::Arc;

use crate::evaluate::{Evaluation, State};
use crate::requirement::{EventPattern, Requirements};
use crate::rule::{Body, Rule, Step};

/// A rule with requirements: what is needed to follow them.
#[derive(Clone, Debug)]
pub(super) struct OrderedRule {
    pub(super) key: String,
    pub(super) name: String,
    /// Its file, as displayed.
    pub(super) path: String,
    pub(super) body: Body,
    pub(super) requirements: Arc<Requirements>,
}

impl OrderedRule {
    /// The rules with requirements among those that apply.
    pub(super) fn all<'r>(evaluation: &Evaluation<'r>) -> Vec<&'r Rule> {
        // A copy has the text, but not what is enforced.
        let applies = |state: &State<'_>| match state {
            State::Stack | State::Offered | State::Stream => true,
            State::Overridden { winner, by: Step::Copy | Step::Duplicate } => winner.requirements.is_none(),
            _ => false,
        };
        let verdicts = evaluation.verdicts.iter().filter(|verdict| applies(&verdict.state));
        verdicts.map(|verdict| verdict.rule).filter(|rule| rule.requirements.is_some()).collect()
    }

    /// Whether something must be done before the agent ends its turn.
    pub(super) fn is_about_stop(&self) -> bool {
        self.requirements.requires.iter().any(|require| matches!(require.before, EventPattern::Stop))
    }

    pub(super) fn of(rule: &Rule) -> Option<OrderedRule> {
        Some(OrderedRule {
            key: rule.key(),
            name: rule.address().to_owned(),
            path: rule.origin.display.clone(),
            body: rule.body.clone(),
            requirements: Arc::clone(rule.requirements.as_ref()?),
        })
    }
}
