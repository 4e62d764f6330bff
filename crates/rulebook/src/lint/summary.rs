//! The summary of a rulebook: which rules do not work as intended, and what the others cost.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::agent::{Agent, Conflicts};
use crate::coverage::is_about_all;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::evaluate::{Audience, State, evaluate};
use crate::evidence::Evidence;
use crate::render::estimate_tokens;
use crate::resolve::Rulebook;
use crate::rule::{Activation, Basis, Rule};

/// Rule files that do not work as intended, and the cost of the others. Lists of files are sorted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Summary {
    /// How many rule files there are, including rejected ones.
    pub files: usize,
    /// Files that never apply, for any agent: rejected, empty, unreachable, always overridden, or for files that do not
    /// exist.
    pub never_seen: Vec<String>,
    /// Those of them that are rejected, because the file is invalid.
    pub rejected: Vec<String>,
    /// Files that their own agent never applies, by agent.
    pub not_applied: BTreeMap<&'static str, Vec<String>>,
    /// Files that are always on because the header could not be read.
    pub unreadable_header: Vec<String>,
    /// Files that apply only when mentioned by name, unintentionally: they have neither globs nor a description.
    pub only_by_name: Vec<String>,
    /// Files with the same text as another.
    pub said_twice: Vec<String>,
    /// The cost of rules that are always on.
    pub always_on: AlwaysCost,
}

/// The cost of rules that are always on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AlwaysCost {
    /// How many rules.
    pub rules: usize,
    /// How many tokens, estimated.
    pub tokens: usize,
    /// Always true: tokens are estimated without the model's tokenizer.
    pub estimated: bool,
}

impl Summary {
    /// Summarises a rulebook with the diagnostics of [`lint`](super::lint) and of its files.
    pub fn of(book: &Rulebook, diagnostics: &[Diagnostic]) -> Summary {
        let with_code = |code: Code| diagnostics.iter().filter(move |found| found.code == code);
        let coded = |code: Code| with_code(code).map(|found| found.path.clone());
        let enabled = || book.rules().filter(|(_, off)| off.is_none()).map(|(rule, _)| rule);
        let files =
            |is: fn(&Rule) -> bool| enabled().filter(move |rule| is(rule)).map(|r| r.origin.display.clone());
        // Agents read their own files whether or not they are trusted.
        let rejected = book.rejected().iter().filter(|rejected| rejected.codes != [Code::Untrusted]);
        let rejected: Vec<String> = rejected.map(|rejected| rejected.origin.display.clone()).collect();
        let mut dead: BTreeMap<&str, Vec<&Diagnostic>> = BTreeMap::new();
        with_code(Code::DeadGlob).for_each(|found| dead.entry(&found.path).or_default().push(found));
        // A note may be about one of several patterns.
        let is_dead_whole = |rule: &&Rule| {
            let is_whole =
                |found: &&Diagnostic| found.severity == Severity::Warning || is_about_all(found, &rule.globs);
            dead.get(rule.origin.display.as_str()).is_some_and(|found| found.iter().any(is_whole))
        };
        let without_files = enabled()
            .filter(|rule| is_on_by_paths_alone(rule) && is_dead_whole(rule))
            .map(|rule| rule.origin.display.clone());
        // Overriding is Rulebook's: an agent that keeps all rules of an id applies its own.
        let has_own_reader = |path: &str| {
            let rule = enabled().find(|rule| rule.origin.display == path);
            let owner = rule.and_then(|rule| Agent::owner_of(rule.origin.format.id));
            owner.is_some_and(|owner| owner.conflicts == Conflicts::KeepAll)
        };
        let always: BTreeSet<&str> = with_code(Code::AgentAlways).map(|found| found.path.as_str()).collect();
        let never = files(is_dead)
            .chain(without_files)
            .chain(rejected.iter().cloned())
            .chain(coded(Code::AlwaysOverridden).filter(|path| !has_own_reader(path)))
            .filter(|path| !always.contains(path.as_str()));
        let mut not_applied: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for found in with_code(Code::AgentNever).filter(|found| found.severity == Severity::Warning) {
            let rule = enabled().find(|rule| rule.origin.display == found.path);
            if let Some(agent) = rule.and_then(|rule| Agent::owner_of(rule.origin.format.id)) {
                not_applied.entry(agent.title).or_default().push(found.path.clone());
            }
        }
        let evaluation = evaluate(book, &Evidence::default(), Audience::any());
        let applied = evaluation.verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stack));
        let costs: Vec<usize> = applied.map(|verdict| estimate_tokens(&verdict.rule.body)).collect();
        Summary {
            files: book.rules().len() + book.rejected().len(),
            never_seen: sorted(never),
            rejected: sorted(rejected.into_iter()),
            not_applied,
            unreadable_header: sorted(files(has_unreadable_header)),
            only_by_name: sorted(files(is_forgotten)),
            said_twice: sorted(coded(Code::DuplicateBody)),
            always_on: AlwaysCost { rules: costs.len(), tokens: costs.iter().sum(), estimated: true },
        }
    }
}

fn is_dead(rule: &Rule) -> bool {
    rule.activation == Activation::Never || rule.body.is_empty() && rule.imports.is_empty()
}

fn is_forgotten(rule: &Rule) -> bool {
    rule.activation == Activation::Manual && rule.basis != Basis::Explicit && !rule.body.is_empty()
}

fn is_on_by_paths_alone(rule: &Rule) -> bool {
    let is_by_paths = matches!(rule.conditions.as_slice(), [only] if only.key == "paths");
    is_by_paths && rule.activation == Activation::When && !rule.is_offered
}

fn has_unreadable_header(rule: &Rule) -> bool {
    let is_on =
        rule.conditions.is_empty() && matches!(rule.activation, Activation::Always | Activation::When);
    is_on && rule.basis == Basis::FailOpen
}

fn sorted(files: impl Iterator<Item = String>) -> Vec<String> {
    files.collect::<BTreeSet<_>>().into_iter().collect()
}
