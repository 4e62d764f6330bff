//! Judging: what a rule does by itself with the evidence, without considering other rules.

use std::borrow::Cow;

use super::verdict::{InactiveReason, Reason, State, Verdict, WhyNot};
use crate::condition::{ConditionResult, Facts, Truth};
use crate::format::Bare;
use crate::hidden::visible_line;
use crate::resolve::Off;
use crate::rule::{Activation, Rule};

/// The reasons that are the user's call for a rule by its name: they match the name itself.
pub(crate) const CALLED: [&str; 2] = ["requested", "pinned"];

/// Whether the user requested a rule by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// For this turn.
    Requested,
    /// For the session.
    Pinned,
    NotRequested,
}

impl Call {
    /// Returns the word for the reason.
    fn condition(self) -> Option<&'static str> {
        match self {
            Call::Requested => Some(CALLED[0]),
            Call::Pinned => Some(CALLED[1]),
            Call::NotRequested => None,
        }
    }
}

/// A preliminary verdict.
#[derive(Clone, Debug)]
pub(crate) struct Candidate<'r> {
    pub(super) verdict: Verdict<'r>,
    /// Why its conditions do not hold, if it is only offered for its description. It yields to any rule that applies.
    pub(super) unmet: Option<WhyNot>,
}

impl Candidate<'_> {
    pub(super) fn applies(&self) -> bool {
        matches!(self.verdict.state, State::Stack | State::Offered | State::Stream)
    }

    /// Whether it is mandatory and its conditions hold.
    pub(super) fn is_mandatory(&self) -> bool {
        self.verdict.rule.is_mandatory && self.unmet.is_none()
    }
}

/// Evaluates a rule by itself, without considering others.
pub(super) fn candidate<'r>(
    rule: &'r Rule,
    off: Option<&Off>,
    call: Call,
    facts: &Facts<'_>,
) -> Candidate<'r> {
    let mut because = Vec::new();
    let mut unmet = None;
    let state = match off {
        Some(off) => State::Disabled(off.clone()),
        None => match judge(rule, call, facts, &mut because) {
            Ok(state) => state,
            Err(why)
                if rule.is_offered
                    && !matches!(
                        why.reason,
                        InactiveReason::Folder | InactiveReason::Empty | InactiveReason::Manual
                    ) =>
            {
                unmet = Some(why);
                State::Offered
            }
            Err(why) => State::Inactive(why),
        },
    };
    let is_requested = call == Call::Requested;
    Candidate {
        verdict: Verdict { rule, state, because, is_requested, is_cut: false, other_roots: Vec::new() },
        unmet,
    }
}

/// Returns the state of a rule whose conditions hold, or why they do not.
pub(super) fn judge<'r>(
    rule: &'r Rule,
    call: Call,
    facts: &Facts<'_>,
    because: &mut Vec<Reason>,
) -> Result<State<'r>, WhyNot> {
    if rule.body.is_empty() && rule.imports.is_empty() {
        return Err(WhyNot::new(InactiveReason::Empty, "the file has no text"));
    }
    let is_always = rule.activation == Activation::Always && rule.conditions.is_empty();
    let is_conditional = rule.stream.is_none() && !rule.body.is_empty() && !is_always;
    if let Some(condition) = call.condition().filter(|_| is_conditional) {
        because.push(Reason::new(condition, vec![rule.name.clone()]));
        return Ok(State::Stack);
    }
    because.extend(check_folder(rule, facts)?);
    because.extend(check_conditions(rule, facts)?);
    // Nothing is left of a file that only imports rules. They are delivered instead.
    if rule.body.is_empty() {
        let imports: Vec<String> =
            rule.imports.iter().map(|import| format!("`{}`", import.display)).collect();
        return Err(WhyNot::new(InactiveReason::Empty, format!("imports {}", imports.join(", "))));
    }
    state(rule)
}

/// Returns the state of a rule by itself once its conditions hold.
pub(super) fn state<'r>(rule: &Rule) -> Result<State<'r>, WhyNot> {
    match rule.activation {
        Activation::Stream => Ok(State::Stream),
        Activation::Always | Activation::When => Ok(State::Stack),
        Activation::OnRequest if rule.is_offered => Ok(State::Offered),
        Activation::OnRequest => {
            let detail =
                "a skill, which agents list by themselves; `agents.skills = true` offers it to others";
            Err(WhyNot::new(InactiveReason::NotOffered, detail))
        }
        Activation::Manual => Err(WhyNot::new(InactiveReason::Manual, "applies only when mentioned by name")),
        Activation::Never if rule.stream.is_some() => {
            let why = rule.stream.as_ref().map_or_else(String::new, |trigger| trigger.why_never().to_owned());
            Err(WhyNot::new(InactiveReason::Unreachable, why))
        }
        Activation::Never if rule.origin.format.bare == Bare::Inactive => {
            Err(WhyNot::new(InactiveReason::NoCondition, "has neither `globs` nor `alwaysApply: true`"))
        }
        Activation::Never if rule.is_undocumented() => Err(WhyNot::new(
            InactiveReason::Undocumented,
            "the agent does not document what it does with such a rule",
        )),
        Activation::Never if rule.origin.format.needs_folder_name => {
            Err(WhyNot::new(InactiveReason::NotOffered, "not listed: its name is not that of its folder"))
        }
        Activation::Never => {
            Err(WhyNot::new(InactiveReason::Unreachable, "nothing in its header can activate it"))
        }
    }
}

/// Checks that some evidence is below the folder of a nested rule.
fn check_folder(rule: &Rule, facts: &Facts<'_>) -> Result<Option<Reason>, WhyNot> {
    let Some((root, folder)) = rule.origin.nest() else { return check_root(rule, facts) };
    match facts.below(root, folder) {
        [] => {
            let folder = visible_line(folder);
            Err(WhyNot::new(InactiveReason::Folder, format!("no evidence path is in `{folder}`")))
        }
        seen => {
            let matched = vec![visible_line(folder).into_owned()];
            Ok(Some(Reason::new("folder", matched).with_paths(seen, facts.evidence)))
        }
    }
}

/// Checks that a file found by location is for a root of the evidence, if there is any.
fn check_root(rule: &Rule, facts: &Facts<'_>) -> Result<Option<Reason>, WhyNot> {
    let paths = &facts.evidence.paths;
    match rule.own_root().filter(|_| rule.is_located() && !paths.is_empty()) {
        Some(root) if !paths.iter().any(|seen| seen.root == root) => {
            Err(WhyNot::new(InactiveReason::Folder, "no evidence path is in its root"))
        }
        _ => Ok(None),
    }
}

fn check_conditions(rule: &Rule, facts: &Facts<'_>) -> Result<Vec<Reason>, WhyNot> {
    let results: Vec<_> =
        rule.conditions.iter().map(|condition| (condition.key, condition.evaluate(facts))).collect();
    let truth = rule.combine.combine(results.iter().map(|(_, result)| result.truth));
    if truth == Truth::Yes {
        let held = results.into_iter().filter(|(_, result)| result.truth == Truth::Yes);
        return Ok(held
            .map(|(condition, ConditionResult { matched, seen, .. })| {
                let matched = matched.into_iter().map(shown).collect();
                Reason::new(condition, matched).with_paths(&seen, facts.evidence)
            })
            .collect());
    }
    let decisive = results.iter().find(|(_, result)| result.truth == truth);
    // Where an agent's dialect is not documented, likely ones disagree about these paths.
    let is_undocumented = |key: &str| {
        let has_rival = rule.origin.format.rival.is_some() && !facts.evidence.paths.is_empty();
        key == "paths" && truth == Truth::Unknown && has_rival
    };
    let reason = match decisive {
        Some((key, _)) if is_undocumented(key) => InactiveReason::Undocumented,
        Some((key, _)) => InactiveReason::Condition(key),
        None => InactiveReason::NoCondition,
    };
    let failed = results.into_iter().filter(|(_, result)| result.truth != Truth::Yes);
    let detail = failed.map(|(_, result)| result.detail).reduce(|all, one| [&all, "; ", &one].concat());
    Err(WhyNot::new(reason, shown(detail.unwrap_or_default())))
}

/// Makes hidden characters visible: reasons are delivered too.
fn shown(text: String) -> String {
    match visible_line(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}
