//! Rules on their way into an export: which agents read what, and the proof on the tree.

use std::collections::{BTreeMap, BTreeSet};

use rulebook::agent::Conflicts;
use rulebook::export::{Allow, Draft, Holder, Loss, Prover, Tally, Target, compare_readings, reread};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;

use crate::tree::Tree;

/// A rule and what it becomes, before it is compared with the tree.
pub(super) struct Pending<'r> {
    pub(super) rule: &'r Rule,
    pub(super) target: &'static Target,
    pub(super) draft: Result<Draft, Loss>,
    /// The file that the agent already reads instead.
    pub(super) read_from: Option<String>,
    pub(super) notes: Vec<String>,
}

/// Compares every copy with its rule on every file of the tree. What is wider than meant is left out.
pub(super) fn prove(pending: &mut [Pending<'_>], tree: &Tree, allow: Allow) {
    let pairs: Vec<[&Rule; 2]> = pending
        .iter()
        .filter_map(|one| one.draft.as_ref().ok().map(|draft| [one.rule, &draft.rule]))
        .collect();
    let prover = Prover::new(pairs);
    let parts = tree.fold(|| prover.start(), |tallies: &mut Vec<Tally>, files| prover.add(tallies, files));
    let mut whole = prover.start();
    for part in parts {
        whole.iter_mut().zip(part).for_each(|(sum, part)| sum.merge(part));
    }
    let mut refused: BTreeMap<(String, String), &'static str> = BTreeMap::new();
    for (one, tally) in pending.iter_mut().filter(|one| one.draft.is_ok()).zip(whole) {
        let Ok(draft) = &mut one.draft else { continue };
        draft.proof.files = tally;
        if !allow.permits(&draft.proof) && one.read_from.is_none() {
            refused.insert((one.rule.origin.path.clone(), draft.path.clone()), one.target.title());
            one.draft = Err(Loss::Wider(Box::new(draft.proof.clone())));
        }
    }
    // What one agent would apply to more, no other that reads the same file can have.
    for one in pending.iter_mut().filter(|one| !is_block(one.target)) {
        let Ok(draft) = &one.draft else { continue };
        if let Some(title) = refused.get(&(one.rule.origin.path.clone(), draft.path.clone())) {
            one.draft = Err(Loss::NoForm(format!("{title} reads the same file and would apply it to more")));
        }
    }
}

pub(super) fn is_block(target: &Target) -> bool {
    matches!(target.holder, Holder::Blocks { .. })
}

/// Marks rules that an agent reads by itself as they are meant, and notes those that it reads differently.
pub(super) fn find_readers(pending: &mut [Pending<'_>], target: &Target, native: &Rulebook) {
    let read: BTreeMap<&str, &Rule> =
        native.rules().map(|(rule, _)| (rule.origin.path.as_str(), rule)).collect();
    let replaces = |one: &Draft, other: &Rule| {
        let (new, old) = (&one.rule.origin, &other.origin);
        other.id == one.rule.id && old.folder == new.folder && old.format.order < new.format.order
    };
    let is_first_only = target.agent().is_some_and(|agent| agent.conflicts == Conflicts::FirstWins);
    for one in pending.iter_mut().filter(|one| one.target.name == target.name) {
        if let Some(own) = read.get(one.rule.origin.path.as_str()) {
            let proof = compare_readings(one.rule, own);
            if proof.is_same()
                || target.agent().and_then(|agent| agent.owns) == Some(one.rule.origin.format.id)
            {
                one.read_from = Some(one.rule.origin.display.clone());
                if let Ok(draft) = &mut one.draft {
                    draft.rule = (*own).clone();
                    draft.proof = proof;
                } else {
                    one.draft = reread_as(one.rule, own);
                }
            } else {
                one.notes.push(format!(
                    "{} also reads `{}` by itself, otherwise than meant",
                    target.title(),
                    one.rule.origin.display
                ));
            }
        }
        let hidden = one.draft.as_ref().ok().filter(|_| is_first_only && one.read_from.is_none());
        if let Some(other) =
            hidden.and_then(|draft| native.rules().map(|(rule, _)| rule).find(|rule| replaces(draft, rule)))
        {
            one.draft = Err(Loss::Unread(other.origin.display.clone()));
        }
    }
}

/// A rule as the agent reads it, which needs no copy.
fn reread_as(rule: &Rule, own: &Rule) -> Result<Draft, Loss> {
    Ok(Draft::of(own.clone(), compare_readings(rule, own)))
}

/// Of two copies that one agent reads, keeps the one of the other target if it does the same.
pub(super) fn find_shared(pending: &mut [Pending<'_>]) {
    let written: Vec<(usize, &'static str, Draft)> = pending
        .iter()
        .enumerate()
        .filter(|(_, one)| one.read_from.is_none() && !is_block(one.target))
        .filter_map(|(at, one)| Some((at, one.target.name, one.draft.clone().ok()?)))
        .collect();
    let mut by_rule: BTreeMap<&str, Vec<(&'static str, &Draft)>> = BTreeMap::new();
    for (at, target, draft) in &written {
        by_rule.entry(pending[*at].rule.origin.path.as_str()).or_default().push((target, draft));
    }
    // Two agents that read each other's files must not both rely on the other.
    let mut relied: BTreeSet<(&str, String)> = BTreeSet::new();
    let mut dropped: BTreeSet<(&str, String)> = BTreeSet::new();
    for one in pending.iter_mut() {
        let rule = one.rule.origin.path.as_str();
        for (other, draft) in by_rule.get(rule).into_iter().flatten() {
            let own = one.draft.as_ref().ok().map(|draft| (rule, draft.path.clone()));
            let there = (rule, draft.path.clone());
            let is_own = *other == one.target.name || own.as_ref() == Some(&there);
            if is_own || one.read_from.is_some() || dropped.contains(&there) {
                continue;
            }
            let Some(read) = reread(one.rule, one.target, &draft.path, &draft.text) else { continue };
            let is_needed = own.as_ref().is_some_and(|own| relied.contains(own));
            let is_enough = match &one.draft {
                Ok(own) => read.proof.is_same() || read.proof.is_as_close_as(&own.proof),
                Err(_) => read.proof.is_same(),
            };
            if read.proof.is_wider() {
                let title = one.target.title();
                one.notes
                    .push(format!("{title} also reads `{}`, and applies it to more than meant", draft.path));
            } else if is_enough && !is_needed {
                dropped.extend(own);
                relied.insert(there);
                one.read_from = Some(draft.path.clone());
                one.draft = Ok(read);
            }
        }
    }
}
