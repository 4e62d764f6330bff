//! Conflicts: which rules that apply override which others.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt as _};

use super::audience::Audience;
use super::copies::Lines;
use super::judge::Candidate;
use super::order::delivery_rank;
use super::verdict::{InactiveReason, State, WhyNot};
use crate::agent::Conflicts;
use crate::evidence::Evidence;
use crate::format::SameId;
use crate::hidden::visible_line;
use crate::resolve::{Identity, Policy};
use crate::rule::{Rule, Step};
use crate::source::Scope;

/// Decides among rules whose conditions were evaluated, in the order of precedence. A rule that is switched off or does
/// not apply overrides nothing.
pub(super) fn decide(
    candidates: &mut [Candidate<'_>],
    policy: Policy,
    audience: &Audience<'_>,
    evidence: Option<&Evidence>,
) {
    let identity = match policy {
        Policy::Native(Conflicts::KeepAll, _) => return,
        Policy::Native(Conflicts::FirstWins, _) => Identity::Name,
        Policy::Meant(identity) => identity.max(audience.identity()),
    };
    override_recorded(candidates, audience);
    if let Policy::Meant(_) = policy {
        leave_to_sources(candidates, audience);
    }
    let groups = same_ids(candidates);
    for group in &groups {
        if let Some(evidence) = evidence {
            override_other_roots(candidates, group, evidence);
        }
        override_ids(candidates, group, identity, audience);
        override_copies(candidates, group, audience);
    }
    override_duplicates(candidates, audience);
}

/// Returns the positions of the rules that apply and share an id with another, grouped by id.
fn same_ids(candidates: &[Candidate<'_>]) -> Vec<Vec<usize>> {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(candidates.len());
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, candidate) in candidates.iter().enumerate().filter(|(_, candidate)| candidate.applies()) {
        let first = *first.entry(&candidate.verdict.rule.id).or_insert(at);
        if first != at {
            groups.entry(first).or_insert_with(|| vec![first]).push(at);
        }
    }
    groups.into_values().collect()
}

/// A conditional rule applies in any root. Evidence in a root that has a rule of the same id and format is left to that
/// root's rule.
fn override_other_roots(candidates: &mut [Candidate<'_>], group: &[usize], evidence: &Evidence) {
    let mut of_root: HashMap<(usize, usize), &Rule> = HashMap::new();
    let is_on = |at: &&usize| matches!(candidates[**at].verdict.state, State::Stack | State::Stream);
    let on: Vec<usize> = group.iter().filter(is_on).copied().collect();
    for rule in on.iter().map(|at| candidates[*at].verdict.rule) {
        if let Some(root) = rule.own_root() {
            of_root.entry((rule.origin.format.order, root)).or_insert(rule);
        }
    }
    if of_root.len() < 2 {
        return;
    }
    for at in &on {
        let verdict = &mut candidates[*at].verdict;
        if matches!(verdict.state, State::Stream) && !verdict.rule.is_mandatory {
            let (format, own) = (verdict.rule.origin.format.order, verdict.rule.own_root());
            let is_other = |root: &usize| own.is_some_and(|own| own != *root);
            let roots = of_root.keys().filter(|(other, _)| *other == format).map(|(_, root)| *root);
            verdict.other_roots = roots.filter(is_other).collect();
            verdict.other_roots.sort_unstable();
            continue;
        }
        let (rule, format) = (verdict.rule, verdict.rule.origin.format.order);
        let seen: Vec<usize> =
            verdict.because.iter().flat_map(|reason| reason.seen.iter().copied()).collect();
        let Some(own) = rule.own_root().filter(|_| !seen.is_empty() && !rule.is_mandatory) else { continue };
        let used_there = |at: &usize| of_root.get(&(format, evidence.paths[*at].root));
        let is_left = |at: &usize| evidence.paths[*at].root != own && used_there(at).is_some();
        if seen.iter().all(is_left)
            && let Some(winner) = used_there(&seen[0])
        {
            candidates[*at].verdict.state = State::Overridden { winner, by: Step::Folder };
        }
    }
}

/// Uses either a rule or its recorded copy, never both. An agent gets the one that it reads by itself. A file that has copies
/// among other text stays.
fn override_recorded(candidates: &mut [Candidate<'_>], audience: &Audience<'_>) {
    let is_in_prompt =
        |candidate: &Candidate<'_>| matches!(candidate.verdict.state, State::Stack | State::Offered);
    if !candidates.iter().any(|candidate| !candidate.verdict.rule.copy_of.is_empty()) {
        return;
    }
    let by_path: HashMap<&str, usize> = candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| is_in_prompt(candidate))
        .map(|(at, candidate)| (candidate.verdict.rule.origin.path.as_str(), at))
        .collect();
    let copies: Vec<(usize, usize)> = candidates
        .iter()
        .enumerate()
        .flat_map(|(at, candidate)| candidate.verdict.rule.copy_of.iter().map(move |source| (at, source)))
        .filter_map(|(at, source)| Some((at, *by_path.get(source.as_str())?)))
        .collect();
    for (copy, source) in copies {
        if !is_in_prompt(&candidates[copy]) || !is_in_prompt(&candidates[source]) {
            continue;
        }
        let [copied, meant] = [copy, source].map(|at| candidates[at].verdict.rule);
        let is_offer = |at: usize| matches!(candidates[at].verdict.state, State::Offered);
        let is_own = audience.reads(copied) && !audience.reads(meant);
        let (winner, loser) = match copied.is_located() || is_own && is_offer(copy) <= is_offer(source) {
            true => (copied, source),
            false => (meant, copy),
        };
        if !candidates[loser].is_mandatory() {
            candidates[loser].verdict.state = State::Overridden { winner, by: Step::Copy };
        }
    }
}

/// Leaves it to a rule where it applies: a copy says that to the agents that read it by themselves.
fn leave_to_sources(candidates: &mut [Candidate<'_>], audience: &Audience<'_>) {
    for candidate in candidates.iter_mut() {
        let rule = candidate.verdict.rule;
        if rule.follows_source && candidate.applies() && !audience.reads(rule) {
            let source = rule.copy_of.first().map_or("", String::as_str);
            let source = source.rsplit('/').next().unwrap_or(source);
            let detail = format!("a copy of `{}`, which does not apply", visible_line(source));
            candidate.verdict.state = State::Inactive(WhyNot::new(InactiveReason::Copy, detail));
            candidate.unmet = None;
        }
    }
}

/// Applies the rules for one id. Rules that apply go before those that are only offered, and mandatory rules before both.
fn override_ids(
    candidates: &mut [Candidate<'_>],
    group: &[usize],
    identity: Identity,
    audience: &Audience<'_>,
) {
    let passes: [fn(&Candidate<'_>) -> bool; 3] = [
        |candidate| candidate.is_mandatory(),
        |candidate| !candidate.is_mandatory() && candidate.unmet.is_none(),
        |candidate| candidate.unmet.is_some(),
    ];
    // Of the rules of one format, root and scope, the first overrides whatever a later one would.
    let mut winners: BTreeMap<(usize, Option<usize>, Scope), usize> = BTreeMap::new();
    for is_next in passes {
        for &at in group {
            if !candidates[at].applies() || !is_next(&candidates[at]) {
                continue;
            }
            let rule = candidates[at].verdict.rule;
            let beats = |winner: &&usize| {
                let other = candidates[**winner].verdict.rule;
                overrides(other, rule, identity) && !is_own_copy(rule, other, audience)
            };
            let winner = winners.values().filter(beats).min().copied();
            let Some(winner) = winner.filter(|_| !candidates[at].is_mandatory()) else {
                winners.entry((rule.origin.format.order, rule.own_root(), rule.origin.scope)).or_insert(at);
                continue;
            };
            let other = candidates[winner].verdict.rule;
            let Candidate { verdict, unmet } = &mut candidates[at];
            verdict.state = match unmet.take() {
                Some(why) if at < winner => State::Inactive(why),
                _ if at < winner => State::Overridden { winner: other, by: Step::Enabled },
                _ => State::Overridden { winner: other, by: other.rank().decided_by(&rule.rank()) },
            };
        }
    }
}

/// Whether a rule overrides one of the same id that comes after it.
pub(crate) fn overrides(winner: &Rule, other: &Rule, identity: Identity) -> bool {
    if winner.is_of_other_root(other) {
        return false;
    }
    let [a, b] = [winner, other].map(|rule| rule.origin.format);
    if identity == Identity::Name {
        true
    } else if a.id == b.id {
        a.same_id != SameId::KeepAll && !winner.is_located() && !other.is_located()
    } else {
        let is_strong = a.same_id == SameId::FirstOfAll || b.same_id == SameId::FirstOfAll;
        let is_users_own = winner.origin.scope == Scope::User && other.origin.scope == Scope::Workspace;
        is_strong && (!is_users_own || winner.is_mandatory)
    }
}

/// Whether a rule is a copy that the agent reads by itself of one that it does not read.
fn is_own_copy(rule: &Rule, other: &Rule, audience: &Audience<'_>) -> bool {
    let is_own =
        audience.reads(rule) && !audience.reads(other) && rule.origin.format.id != other.origin.format.id;
    is_own && (rule.body == other.body || Lines::of(&rule.body).is_copy_of(&Lines::of(&other.body)))
}

/// With how many rules of its id a rule is compared, line by line.
const MAX_COMPARED: usize = 32;

/// Uses one of several copies of a rule in different formats: the one that the agent reads by itself, else the first.
/// Equal texts are duplicates, not copies.
fn override_copies(candidates: &mut [Candidate<'_>], group: &[usize], audience: &Audience<'_>) {
    let is_in_prompt = |at: &&usize| matches!(candidates[**at].verdict.state, State::Stack | State::Offered);
    let mut group: Vec<usize> = group.iter().filter(is_in_prompt).copied().collect();
    let format = |at: usize| candidates[at].verdict.rule.origin.format.id;
    if !group.iter().any(|at| format(*at) != format(group[0])) {
        return;
    }
    group.sort_by_key(|at| {
        let Candidate { verdict, .. } = &candidates[*at];
        let is_offer = !matches!(verdict.state, State::Stack);
        (!candidates[*at].is_mandatory(), is_offer, !audience.reads(verdict.rule), *at)
    });
    let mut kept: Vec<(&Rule, OnceCell<Lines>)> = Vec::new();
    for at in group {
        let rule = candidates[at].verdict.rule;
        let lines = OnceCell::new();
        let lines_of =
            |cell: &OnceCell<Lines>, rule: &Rule| cell.get_or_init(|| Lines::of(&rule.body)).clone();
        let is_copy = |(other, cell): &&(&Rule, OnceCell<Lines>)| {
            other.origin.format.id != rule.origin.format.id
                && !other.is_of_other_root(rule)
                && other.body != rule.body
                && lines_of(cell, other).is_copy_of(&lines_of(&lines, rule))
        };
        let winner = kept.iter().find(is_copy).map(|(winner, _)| *winner);
        match winner.filter(|_| !candidates[at].is_mandatory()) {
            Some(winner) => candidates[at].verdict.state = State::Overridden { winner, by: Step::Copy },
            None if kept.len() < MAX_COMPARED => kept.push((rule, lines)),
            None => {}
        }
    }
}

/// Delivers equal texts once and does not offer them in addition. A mandatory rule is preferred, then the one that the
/// agent reads by itself, then a file and not a link, then the first in the order of delivery.
fn override_duplicates<'r>(candidates: &mut [Candidate<'r>], audience: &Audience<'_>) {
    // By length first: texts of different length need no comparison.
    let mut same: BTreeMap<(usize, &'r str), Vec<usize>> = BTreeMap::new();
    for (at, Candidate { verdict, .. }) in candidates.iter().enumerate() {
        if matches!(verdict.state, State::Stack | State::Offered) {
            let body = verdict.rule.body.as_str();
            same.entry((body.len(), body)).or_default().push(at);
        }
    }
    for group in same.into_values().filter(|group| group.len() > 1) {
        let preference = |at: &usize| {
            let candidate = &candidates[*at];
            let Candidate { verdict, .. } = candidate;
            let is_offer = !matches!(verdict.state, State::Stack);
            let (is_own, rank) = (audience.reads(verdict.rule), delivery_rank(verdict.rule));
            (is_offer, !candidate.is_mandatory(), !is_own, verdict.rule.origin.is_link, rank, *at)
        };
        let Some(&winner) = group.iter().min_by(|a, b| preference(a).cmp(&preference(b))) else { continue };
        let rule = candidates[winner].verdict.rule;
        for at in group.into_iter().filter(|at| *at != winner) {
            candidates[at].verdict.state = State::Overridden { winner: rule, by: Step::Duplicate };
        }
    }
}
