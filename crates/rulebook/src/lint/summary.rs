//! The summary of a rulebook: what a newcomer wants to know first.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use crate::diagnostic::{Code, Diagnostic};
use crate::evaluate::{State, evaluate};
use crate::evidence::Evidence;
use crate::render::estimate_tokens;
use crate::resolve::Rulebook;
use crate::rule::{Activation, Basis, Rule};

/// Rule files that do not do what their author thinks, and what the others cost. Files are as shown, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Rule files, with those that are rejected.
    pub files: usize,
    /// Nothing can bring them on: rejected, empty, unreachable, always overridden, or for files that are not there.
    pub never_seen: Vec<String>,
    /// On with every request, or with any path, although nobody said so: the header is broken or a glob matches all.
    pub on_by_accident: Vec<String>,
    /// On when somebody asks for them by name alone, although nobody said so: they name no files and have no description.
    pub only_by_name: Vec<String>,
    /// Another file says the same.
    pub said_twice: Vec<String>,
    /// What every prompt carries.
    pub always_on: AlwaysCost,
}

/// The cost of what is always on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlwaysCost {
    /// How many rules.
    pub rules: usize,
    /// How many tokens, estimated.
    pub tokens: usize,
    /// Always true: tokens are counted without the model's own tokenizer.
    pub estimated: bool,
}

impl Summary {
    /// Sums up a rulebook and what [`lint`](super::lint) and reading its files told.
    pub fn of(book: &Rulebook, told: &[Diagnostic]) -> Summary {
        let coded =
            |code: Code| told.iter().filter(move |told| told.code == code).map(|told| told.path.clone());
        let enabled = || book.rules().filter(|(_, off)| off.is_none()).map(|(rule, _)| rule);
        let files =
            |is: fn(&Rule) -> bool| enabled().filter(move |rule| is(rule)).map(|r| r.origin.display.clone());
        let rejected = book.rejected().iter().map(|rejected| rejected.origin.display.clone());
        let mut dead: HashMap<&str, usize> = HashMap::new();
        for told in told.iter().filter(|told| told.code == Code::DeadGlob) {
            *dead.entry(&told.path).or_default() += 1;
        }
        let always_told: BTreeSet<&str> = (told.iter().filter(|told| told.code == Code::AgentAlways))
            .map(|told| told.path.as_str())
            .collect();
        let is_aimless = |rule: &&Rule| {
            is_on_by_paths_alone(rule)
                && dead.get(rule.origin.display.as_str()).is_some_and(|dead| *dead >= rule.globs.len())
        };
        let aimless = enabled().filter(is_aimless);
        let never = files(is_dead)
            .chain(aimless.map(|rule| rule.origin.display.clone()))
            .chain(rejected)
            .chain(coded(Code::AlwaysOverridden))
            .chain(coded(Code::AgentNever))
            .filter(|path| !always_told.contains(path.as_str()));
        let accident = files(is_accident).chain(coded(Code::AlwaysGlob)).chain(coded(Code::AgentAlways));
        let evaluation = evaluate(book, &Evidence::default());
        let always = evaluation.verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stack));
        let costs: Vec<usize> = always.map(|verdict| estimate_tokens(&verdict.rule.body)).collect();
        Summary {
            files: book.rules().len() + book.rejected().len(),
            never_seen: sorted(never),
            on_by_accident: sorted(accident),
            only_by_name: sorted(files(is_forgotten)),
            said_twice: sorted(coded(Code::DuplicateBody)),
            always_on: AlwaysCost { rules: costs.len(), tokens: costs.iter().sum(), estimated: true },
        }
    }
}

fn is_dead(rule: &Rule) -> bool {
    rule.activation == Activation::Never || rule.body.is_empty()
}

fn is_forgotten(rule: &Rule) -> bool {
    rule.activation == Activation::Manual && rule.basis != Basis::Explicit && !rule.body.is_empty()
}

fn is_on_by_paths_alone(rule: &Rule) -> bool {
    let is_by_paths = matches!(rule.conditions.as_slice(), [only] if only.key == "paths");
    is_by_paths && rule.activation == Activation::When && !rule.is_offered
}

fn is_accident(rule: &Rule) -> bool {
    let is_on =
        rule.conditions.is_empty() && matches!(rule.activation, Activation::Always | Activation::When);
    is_on && rule.basis == Basis::FailOpen
}

fn sorted(files: impl Iterator<Item = String>) -> Vec<String> {
    files.collect::<BTreeSet<_>>().into_iter().collect()
}
