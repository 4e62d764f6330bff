//! Rules on their way into an export: which agents read what, and the proof on the tree.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZero;
use std::thread;

use rulebook::agent::Conflicts;
use rulebook::export::{
    Allow, Draft, Loss, Meant, Prover, Tally, Target, block, body, compare_readings, draft_shared, names,
    outside_blocks, reread,
};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::source::Scope;

use crate::tree::Tree;

/// A rule to copy.
pub(super) struct Original<'r> {
    pub(super) meant: Meant<'r>,
    /// The path of its file, relative to its root.
    pub(super) path: String,
    /// The hash of its file.
    pub(super) hash: String,
    /// What people should know about every copy.
    pub(super) notes: Vec<String>,
}

/// A rule and what it becomes, before it is compared with the tree.
pub(super) struct Pending<'r> {
    pub(super) original: &'r Original<'r>,
    pub(super) target: &'static Target,
    pub(super) draft: Result<Draft, Loss>,
    /// The file that the agent already reads instead.
    pub(super) read_from: Option<String>,
    /// The draft that this file makes unnecessary. Another target may write the same one.
    pub(super) aside: Option<Draft>,
    pub(super) notes: Vec<String>,
}

impl<'r> Pending<'r> {
    pub(super) fn rule(&self) -> &'r Rule {
        self.original.meant.rule
    }
}

/// One draft per target of a group of targets that read the same files.
pub(super) type GroupDrafts = Vec<Result<Draft, Loss>>;

/// Writes each rule for each group of targets, by its best name. Every processor takes a part of the rules.
pub(super) fn first_drafts(
    originals: &[&Original<'_>],
    groups: &[Vec<&'static Target>],
) -> Vec<Vec<GroupDrafts>> {
    /// For fewer rules, starting a thread takes longer.
    const FEWEST: usize = 64;
    let of_group = |original: &Original<'_>, group: &Vec<&'static Target>| {
        let name = names(original.meant.rule, group[0]).next().unwrap_or_default();
        draft_shared(&original.meant, group, &name, &original.path)
    };
    let of_part = |part: &[&Original<'_>]| -> Vec<Vec<GroupDrafts>> {
        part.iter().map(|one| groups.iter().map(|group| of_group(one, group)).collect()).collect()
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut parts = originals.chunks(originals.len().div_ceil(threads).max(FEWEST));
    let first = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = parts.map(|part| scope.spawn(move || of_part(part))).collect();
        let mut all = of_part(first);
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}

/// Compares every copy with its rule on every file of the tree.
pub(super) fn prove(pending: &mut [Pending<'_>], tree: &Tree) {
    let pairs: Vec<[&Rule; 2]> = pending
        .iter()
        .flat_map(|one| {
            one.draft.as_ref().ok().into_iter().chain(&one.aside).map(|draft| [one.rule(), &draft.rule])
        })
        .collect();
    let whole = compare(pairs, tree);
    let drafts = pending.iter_mut().flat_map(|one| one.draft.as_mut().ok().into_iter().chain(&mut one.aside));
    drafts.zip(whole).for_each(|(draft, tally)| draft.proof.files = tally);
}

/// Compares pairs of a rule and another reading of it on every file of the tree.
pub(super) fn compare(pairs: Vec<[&Rule; 2]>, tree: &Tree) -> Vec<Tally> {
    let prover = Prover::new(pairs);
    let parts = tree.fold(|| prover.start(), |tallies: &mut Vec<Tally>, files| prover.add(tallies, files));
    let mut whole = prover.start();
    for part in parts {
        whole.iter_mut().zip(part).for_each(|(sum, part)| sum.merge(part));
    }
    whole
}

/// Learns files of the tree on which a copy differs from its rule. Whether any of them is new.
pub(super) fn learn(one: &Pending<'_>) -> bool {
    let Some(draft) = one.draft.as_ref().ok().filter(|_| one.read_from.is_none()) else { return false };
    let files = [&draft.proof.files.wider.example, &draft.proof.files.narrower.example];
    let learn = |path: &String| one.original.meant.learn(one.target, path);
    files.into_iter().flatten().map(learn).fold(false, |any, is_new| any | is_new)
}

/// Leaves out what is wider than meant.
pub(super) fn refuse(pending: &mut [Pending<'_>], allow: Allow) {
    let mut refused: BTreeMap<(&str, String), &'static str> = BTreeMap::new();
    for one in pending.iter_mut() {
        let own = one.draft.as_ref().ok().filter(|_| one.read_from.is_none());
        let Some(draft) = own.or(one.aside.as_ref()) else { continue };
        if !allow.permits(&draft.proof) {
            refused.insert((&one.rule().origin.path, draft.path.clone()), one.target.title());
            let loss = Loss::Wider(Box::new(draft.proof.clone()));
            match one.aside.take() {
                Some(_) => {}
                None => one.draft = Err(loss),
            }
        }
    }
    // What one agent would apply to more, no other that reads the same file can have.
    for one in pending.iter_mut().filter(|one| !one.target.is_block()) {
        let Ok(draft) = &one.draft else { continue };
        if let Some(title) = refused.get(&(one.rule().origin.path.as_str(), draft.path.clone())) {
            one.draft = Err(Loss::NoForm(format!("{title} reads the same file and would apply it to more")));
        }
    }
    restore(pending);
}

/// Counts a draft that was set aside after all, if it is written for another target: the agent reads it.
fn restore(pending: &mut [Pending<'_>]) {
    let is_written = |one: &&Pending<'_>| one.read_from.is_none();
    let path_of =
        |one: &Pending<'_>| Some((one.rule().origin.path.clone(), one.draft.as_ref().ok()?.path.clone()));
    let written: HashSet<(String, String)> = pending.iter().filter(is_written).filter_map(path_of).collect();
    for one in pending {
        let source = &one.rule().origin.path;
        let is_written = |draft: &mut Draft| written.contains(&(source.clone(), draft.path.clone()));
        if let Some(own) = one.aside.take_if(is_written) {
            one.draft = Ok(own);
            one.read_from = None;
        }
    }
}

/// Leaves out the copies that do not fit into what an agent reads of all its files together. `native` are the rules that it
/// reads already, without copies.
pub(super) fn fit<'n>(
    pending: &mut [Pending<'_>],
    target: &'static Target,
    native: impl Iterator<Item = &'n Rule>,
) {
    let Some(limit) = target.agent().and_then(|agent| agent.limit.as_ref()) else { return };
    let mut used: HashMap<usize, usize> = HashMap::new();
    let at_root = |rule: &&Rule| rule.origin.scope == Scope::Workspace && rule.origin.folder.is_empty();
    for rule in native.filter(at_root).filter(|rule| (limit.counts)(rule)) {
        *used.entry(rule.origin.root).or_default() += limit.unit.count(&outside_blocks(&rule.body));
    }
    let is_new = |one: &&mut Pending<'_>| one.target.name == target.name && one.read_from.is_none();
    for one in pending.iter_mut().filter(is_new) {
        let Some(copy) = one.draft.as_ref().ok().filter(|draft| (limit.counts)(&draft.rule)) else {
            continue;
        };
        let size = match target.is_block() {
            true => limit.unit.count(&block(&one.original.path, &body(one.rule(), &copy.rule.origin))) + 1,
            false => limit.unit.count(&copy.rule.body),
        };
        let used = used.entry(one.rule().origin.root).or_default();
        match *used + size > limit.most {
            true => one.draft = Err(Loss::Full { limit: limit.most, unit: limit.unit }),
            false => *used += size,
        }
    }
}

/// Marks rules that an agent reads by itself as they are meant, and notes those that it reads differently.
pub(super) fn find_readers(pending: &mut [Pending<'_>], target: &Target, native: &Rulebook) {
    let read: HashMap<&str, &Rule> =
        native.rules().map(|(rule, _)| (rule.origin.path.as_str(), rule)).collect();
    let is_first_only = target.agent().is_some_and(|agent| agent.conflicts == Conflicts::FirstWins);
    let mut by_id: HashMap<&str, Vec<&Rule>> = HashMap::new();
    for (rule, _) in native.rules().filter(|_| is_first_only) {
        by_id.entry(&rule.id).or_default().push(rule);
    }
    let replaces = |one: &Draft, other: &&&Rule| {
        let (new, old) = (&one.rule.origin, &other.origin);
        old.folder == new.folder && old.format.order < new.format.order
    };
    for one in pending {
        let rule = one.rule();
        if let Some(own) = read.get(rule.origin.path.as_str()) {
            let proof = compare_readings(&one.original.meant, own);
            let is_owner = target.agent().and_then(|agent| agent.owns) == Some(rule.origin.format.id);
            // What the agent applies to more than meant, no copy can narrow.
            if proof.is_same() || proof.is_wider() || is_owner {
                one.read_from = Some(rule.origin.display.clone());
                one.draft = Ok(Draft::of((*own).clone(), proof));
            } else {
                one.notes.push(format!(
                    "{} also reads `{}` by itself, and applies it differently",
                    target.title(),
                    rule.origin.display
                ));
            }
        }
        let Some(draft) = one.draft.as_ref().ok().filter(|_| one.read_from.is_none()) else { continue };
        let mut others = by_id.get(draft.rule.id.as_str()).into_iter().flatten();
        if let Some(other) = others.find(|other| replaces(draft, other)) {
            one.draft = Err(Loss::Unread(other.origin.display.clone()));
        }
    }
}

/// Of two copies that one agent reads, keeps the one of the other target if it does the same. `rules` is the number of rules;
/// each target has all of them, in the same order.
pub(super) fn find_shared(pending: &mut [Pending<'_>], rules: usize) {
    let is_file = |one: &Pending<'_>| one.read_from.is_none() && !one.target.is_block() && one.draft.is_ok();
    for first in 0..rules {
        let of_rule = (first..pending.len()).step_by(rules);
        let written: Vec<usize> = of_rule.clone().filter(|at| is_file(&pending[*at])).collect();
        // Two agents that read each other's files must not both rely on the other.
        let mut relied: Vec<String> = Vec::new();
        for at in of_rule {
            for other in &written {
                let (one, Pending { draft: Ok(there), read_from: None, .. }) =
                    (&pending[at], &pending[*other])
                else {
                    continue;
                };
                let own = one.draft.as_ref().ok().map(|draft| draft.path.as_str());
                if *other == at || own == Some(&there.path) || one.read_from.is_some() {
                    continue;
                }
                let Some(read) = reread(&one.original.meant, one.target, &there.path, &there.text) else {
                    continue;
                };
                let is_needed = own.is_some_and(|own| relied.iter().any(|path| path == own));
                let is_enough = match &one.draft {
                    // What would apply to more may be wanted: a file that does less does not replace it.
                    Ok(own) if own.proof.is_wider() => read.proof.is_same(),
                    Ok(own) => read.proof.is_same() || read.proof.is_as_close_as(&own.proof),
                    Err(_) => read.proof.is_same(),
                };
                let path = there.path.clone();
                let one = &mut pending[at];
                if read.proof.is_wider() {
                    let title = one.target.title();
                    one.notes.push(format!("{title} also reads `{path}`, and applies it to more than meant"));
                } else if is_enough && !is_needed {
                    relied.push(path.clone());
                    one.read_from = Some(path);
                    one.aside = std::mem::replace(&mut one.draft, Ok(read)).ok();
                }
            }
        }
    }
}
