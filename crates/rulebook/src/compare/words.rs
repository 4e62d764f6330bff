//! When a rule applies, in words.

use crate::condition::Condition;
use crate::glob::Exclusions;
use crate::rule::{Activation, Rule};

/// Describes when a rule applies. Rules that apply alike have equal descriptions.
pub(crate) fn describe(rule: &Rule) -> String {
    describe_with(rule.activation, &rule.conditions.iter().collect::<Vec<_>>(), &patterns(rule))
}

/// Describes what the patterns of a rule match, as its reader takes them.
pub(super) fn patterns(rule: &Rule) -> String {
    let is_alone = rule.origin.format.exclusions == Exclusions::OneByOne;
    let one = |glob: &String| match excluded(glob).filter(|_| is_alone) {
        Some(excluded) => format!("everything but `{excluded}`"),
        None => format!("`{glob}`"),
    };
    rule.globs.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Returns what a pattern excludes. `!(…)` is a group.
pub(super) fn excluded(glob: &str) -> Option<&str> {
    glob.strip_prefix('!').filter(|rest| !rest.starts_with('('))
}

const ALWAYS: &str = "always on";

fn describe_with(activation: Activation, conditions: &[&Condition], patterns: &str) -> String {
    let condition = |key: &str| match key {
        "paths" => format!("for {patterns}"),
        key => format!("if `{key}` matches"),
    };
    match activation {
        Activation::Always => ALWAYS.to_owned(),
        Activation::When if conditions.is_empty() => format!("{ALWAYS} in its folder"),
        Activation::When => {
            let conditions: Vec<String> = conditions.iter().map(|found| condition(found.key)).collect();
            format!("on {}", conditions.join(" and "))
        }
        Activation::OnRequest => "offered to the model".to_owned(),
        Activation::Manual => "on only when mentioned by name".to_owned(),
        Activation::Stream => "watching the model's output".to_owned(),
        Activation::Never => "never on".to_owned(),
    }
}

/// The conditions of a rule, without `tags` if its agent knows no such condition: there, people label rules with it.
pub(super) fn conditions_of<'r>(meant: &'r Rule, own: Option<&Rule>) -> Vec<&'r Condition> {
    let is_label = |condition: &Condition| {
        condition.key == "tags"
            && own.is_some_and(|own| !own.origin.format.known_keys().contains(&condition.key))
    };
    meant.conditions.iter().filter(|one| !is_label(one)).collect()
}

/// Says what an agent should do with a rule, as a part of a sentence.
pub(super) fn should(meant: &Rule, conditions: &[&Condition], patterns: &str) -> String {
    let condition = |key: &str| match key {
        "paths" => format!("to {patterns}"),
        key => format!("if `{key}` matches"),
    };
    match meant.activation {
        Activation::Always => "always apply".to_owned(),
        Activation::When if conditions.is_empty() && meant.origin.nest().is_none() => {
            "always apply".to_owned()
        }
        Activation::When if conditions.is_empty() => "always apply in its folder".to_owned(),
        Activation::When => {
            let conditions: Vec<String> = conditions.iter().map(|found| condition(found.key)).collect();
            format!("apply {}", conditions.join(" and "))
        }
        Activation::OnRequest => "be offered to the model".to_owned(),
        Activation::Manual => "apply only when mentioned by name".to_owned(),
        Activation::Stream => "watch the model's output".to_owned(),
        Activation::Never => "never apply".to_owned(),
    }
}

/// Describes when a rule applies, as its agent understands its conditions.
pub(super) fn described(meant: &Rule, own: &Rule) -> String {
    let conditions = conditions_of(meant, Some(own));
    match meant.activation {
        Activation::When if conditions.is_empty() && meant.origin.nest().is_none() => ALWAYS.to_owned(),
        activation => describe_with(activation, &conditions, &patterns(meant)),
    }
}
