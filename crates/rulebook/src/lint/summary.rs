//! The summary of a rulebook: what a newcomer wants to know first.

use std::collections::BTreeSet;

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
    /// Nothing can bring them on: rejected, empty, unreachable or always overridden.
    pub never_seen: Vec<String>,
    /// On with every request, or with any path, although nobody said so: the header is broken or a glob matches all.
    pub on_by_accident: Vec<String>,
    /// Another file says the same.
    pub said_twice: Vec<String>,
    /// What every prompt carries.
    pub always_on: Always,
}

/// The cost of what is always on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Always {
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
        let never = files(is_dead)
            .chain(rejected)
            .chain(coded(Code::AlwaysOverridden))
            .chain(coded(Code::AgentNever));
        let accident = files(is_accident).chain(coded(Code::AlwaysGlob)).chain(coded(Code::AgentAlways));
        let evaluation = evaluate(book, &Evidence::default());
        let always = evaluation.verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stack));
        let costs: Vec<usize> = always.map(|verdict| estimate_tokens(&verdict.rule.body)).collect();
        Summary {
            files: book.rules().len() + book.rejected().len(),
            never_seen: sorted(never),
            on_by_accident: sorted(accident),
            said_twice: sorted(coded(Code::DuplicateBody)),
            always_on: Always { rules: costs.len(), tokens: costs.iter().sum(), estimated: true },
        }
    }
}

fn is_dead(rule: &Rule) -> bool {
    rule.activation == Activation::Never || rule.body.is_empty()
}

fn is_accident(rule: &Rule) -> bool {
    let is_on =
        rule.conditions.is_empty() && matches!(rule.activation, Activation::Always | Activation::When);
    is_on && matches!(rule.basis, Basis::FailOpen | Basis::Repaired)
}

fn sorted(files: impl Iterator<Item = String>) -> Vec<String> {
    files.collect::<BTreeSet<_>>().into_iter().collect()
}
