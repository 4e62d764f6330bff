//! What a requirement says about a call: to the model, to the user who decides, and to the user who is informed.

use super::ordered::OrderedRule;
use crate::id::plain_name;
use crate::requirement::{EventPattern, Forbid, Require};
use crate::shell;
use crate::stream::policy::{self, MatchedText, excerpt};

/// What a rule demands.
#[derive(Clone, Copy)]
pub(super) enum Demand<'r> {
    Require(&'r Require),
    Forbid(&'r Forbid),
}

/// How long the refusals of a demand last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusals {
    /// What is forbidden is refused whenever it happens.
    Lasting,
    /// They end: they depend on what the session knows.
    Counted,
}

/// A call that a demand is about.
pub(super) struct Concern<'c> {
    pub(super) rule: &'c OrderedRule,
    pub(super) demand: Demand<'c>,
    /// The call, as shown.
    pub(super) call: &'c str,
    /// Why it is not certain that the call violates the rule.
    pub(super) doubt: Option<&'static str>,
}

impl Demand<'_> {
    /// For people: "never run `git push --force*`".
    pub(super) fn shown(self) -> String {
        excerpt(&match self {
            Demand::Require(require) => require.shown(),
            Demand::Forbid(forbid) => forbid.shown(),
        })
    }

    /// What is forbidden is refused whenever it happens; that something is missing, a counted number of times.
    pub(super) fn refusals(self) -> Refusals {
        match self {
            Demand::Require(_) => Refusals::Counted,
            Demand::Forbid(_) => Refusals::Lasting,
        }
    }

    /// After the name of a rule: "forbids running `git push --force*`".
    fn clause(self) -> String {
        match self {
            Demand::Require(_) => format!("requires: {}", self.shown()),
            Demand::Forbid(forbid) => format!("forbids {}", excerpt(&forbid.forbidden())),
        }
    }
}

impl Concern<'_> {
    /// Why the call is refused, for the model.
    pub(super) fn refusal(&self) -> String {
        let OrderedRule { key, name, path, body, .. } = self.rule;
        let (happened, wanted) = self.refused();
        let wanted = format!("The user set up this rule for this work. {wanted}");
        let block = policy::refusal(name, path, body, &happened, &wanted);
        format!(
            "{block}\nThe rule {key} ({}) refused this. The user can disable it with `rulebook disable {}`.",
            plain_name(path),
            shell::quoted(key)
        )
    }

    /// What the model reads if the call runs because refusals cannot be counted.
    pub(super) fn reminder(&self) -> String {
        let OrderedRule { name, path, body, .. } = self.rule;
        let matched = [MatchedText { text: self.call.to_owned(), place: self.demand.clause() }];
        policy::reminder(name, path, body, &matched)
    }

    /// What happened, and what to do now.
    fn refused(&self) -> (String, &'static str) {
        const FOLLOW: &str = "Follow it, then continue.";
        let call = self.call;
        match (self.doubt, self.demand) {
            (Some(why), demand) => (
                format!(
                    "This call was refused: Rulebook cannot know whether `{call}` violates the rule below ({why}). The rule {}.",
                    demand.clause()
                ),
                "Write the call so that it can be checked, or follow the rule in another way.",
            ),
            (None, Demand::Forbid(_)) => {
                let clause = self.demand.clause();
                (format!("This call was refused: `{call}`. The rule below {clause}."), FOLLOW)
            }
            (None, Demand::Require(require)) => {
                let first = capital(&excerpt(&require.due()));
                let waits = match require.before {
                    EventPattern::Stop => "The turn cannot end yet.".to_owned(),
                    _ => format!("This call was refused: `{call}` must wait."),
                };
                (format!("{waits} {first} first."), FOLLOW)
            }
        }
    }

    /// What the user decides.
    pub(super) fn question(&self) -> String {
        let OrderedRule { name, path, .. } = self.rule;
        format!(
            "The rule `{}` ({}) {}. Rulebook cannot know whether `{}` violates it: {}. Allow the call only if it follows the rule.",
            plain_name(name),
            plain_name(path),
            self.demand.clause(),
            self.call,
            self.doubt.unwrap_or_default()
        )
    }

    /// For the user: the call may violate the rule.
    pub(super) fn warning(&self) -> String {
        format!(
            "Rulebook cannot know whether `{}` violates the rule `{}` ({}): {}. To refuse such calls, write `on-unknown: refuse` in the rule.",
            self.call,
            plain_name(&self.rule.name),
            self.demand.shown(),
            self.doubt.unwrap_or_default()
        )
    }

    /// For the user: the call violates the rule and is not refused again.
    pub(super) fn broken(&self) -> String {
        let (rule, what) = (plain_name(&self.rule.name), self.demand.shown());
        match self.demand {
            Demand::Require(Require { before: EventPattern::Stop, .. }) => {
                format!(
                    "The turn ends although the rule `{rule}` requires: {what}. Rulebook refused that before."
                )
            }
            _ => format!(
                "`{}` violates the rule `{rule}` ({what}). Rulebook refused such a call before and does not refuse it again.",
                self.call
            ),
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
