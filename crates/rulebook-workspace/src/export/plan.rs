//! Planning: what an export writes, and how each copy compares with its rule.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use rulebook::export::{Loss, LossPolicy, Meant, Target, block, draft_shared, names, outside_blocks};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;

use super::bystanders::{other_reading, spare};
use super::files::{ExportRow, Files, Outcome, PlannedCopy, PlannedFile};
use super::lists::{Lost, Planned, list};
use super::notes::{doubts, notes_on};
use super::pending::{
    GroupDrafts, Original, Pending, find_readers, find_shared, first_drafts, fit, learn, prove, refuse,
};
use super::place::{Taken, taken_path};
use super::select::{PlanError, SelectError, not_copied, reader, select};
use super::stale::gone_source;
use super::{ExportOptions, Removes, stale};
use crate::agents::AgentSearch;
use crate::homes::posix;
use crate::recorded::{RecordedCopies, source_hash};
use crate::sources::Sources;
use crate::storage::Storage;
use crate::tree::Tree;

/// What an export writes, and why.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportPlan {
    /// One per rule and target, by target.
    pub rows: Vec<ExportRow>,
    /// The files that change, sorted by path.
    pub files: Vec<PlannedFile>,
    /// The number of files in the tree.
    pub tree: usize,
    /// The folders that files are written to, with the record of each.
    pub(super) records: Vec<(PathBuf, RecordedCopies)>,
    pub(super) roots: Vec<PathBuf>,
}

impl Sources<'_> {
    /// Plans an export. Nothing is written.
    ///
    /// # Errors
    /// If nothing says what to export, or a file cannot be read.
    pub fn export(
        &self,
        book: &Rulebook,
        tree: &Tree,
        options: &ExportOptions,
    ) -> Result<ExportPlan, PlanError> {
        let workspace = self.workspace();
        let folders = workspace.checked_folders(options.dir.as_deref())?;
        let mut recorded: Vec<HashSet<PathBuf>> = Vec::new();
        let mut records = Vec::new();
        for (root, base) in workspace.export_folders(None).iter().zip(folders) {
            let own = RecordedCopies::read(&Storage::Disk, root)?;
            recorded.push(own.paths(root));
            let own = if base == *root { own } else { RecordedCopies::read(&Storage::Disk, &base)? };
            records.push((base, own));
        }
        let is_copy = |rule: &Rule| {
            recorded.get(rule.origin.root).is_some_and(|copies| copies.contains(Path::new(&rule.origin.path)))
                && !rule.is_located()
        };
        let selected = select(book, &options.from, &is_copy).map_err(PlanError::Select)?;
        let gone = |rule: &Rule| gone_source(rule, &records, &workspace.root_folders());
        let others = not_copied(book, &options.from, &is_copy, &gone);
        // What a rule that is gone left behind is removed, and nothing to check is in step.
        let has_copies = options.check || records.iter().any(|(_, record)| !record.copies.is_empty());
        if selected.is_empty() && others.is_empty() && options.removes == Removes::Nothing && !has_copies {
            return Err(PlanError::Select(SelectError::Empty));
        }
        let own: Vec<Option<Rule>> = selected.iter().map(|rule| without_copies(rule)).collect();
        let rules: Vec<&Rule> = (selected.iter().zip(&own))
            .map(|(rule, own)| own.as_ref().unwrap_or(rule))
            .filter(|rule| !rule.body.is_empty())
            .collect();
        let planner = Planner { sources: self, options, records: &records };
        let mut files = Files::new(&records);
        let mut originals: Vec<Original<'_>> = rules.iter().map(|rule| planner.original(rule)).collect();
        if reader(&options.from).is_none() {
            let doubts = doubts(&originals, self, tree);
            originals.iter_mut().zip(doubts).for_each(|(original, doubt)| original.notes.extend(doubt));
        }
        let pending = planner.proven(&originals, tree, &mut files)?;
        let (mut rows, files, new) = planner.outcomes(pending, &originals, files)?;
        let is_source = |name: &str| {
            rules.iter().any(|rule| rule.is_called(name)) || rows.iter().any(|row| row.is_of(name))
        };
        let unknown = options.keep.iter().find(|name| !is_source(name.trim_start_matches("./")));
        if let Some(name) = unknown {
            return Err(PlanError::NotCopied(name.clone()));
        }
        rows.extend(left_out(&others, &options.to));
        let order = |target: &Target| options.to.iter().position(|other| other.name == target.name);
        rows.sort_by(|a, b| (order(a.target), &a.source).cmp(&(order(b.target), &b.source)));
        Ok(ExportPlan { rows, files, tree: tree.files(), records: new, roots: workspace.root_folders() })
    }
}

struct Planner<'p> {
    sources: &'p Sources<'p>,
    options: &'p ExportOptions,
    records: &'p [(PathBuf, RecordedCopies)],
}

impl Planner<'_> {
    /// What the agent of a rule may add to its text. Where from is not documented, so no copy has it.
    fn references(&self, rule: &Rule) -> Option<String> {
        if rule.origin.follows_imports() {
            return None;
        }
        let named = rulebook::export::referred(&rule.body, &rule.origin);
        let list = named.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ");
        let agent = rule.origin.format.agent;
        (!named.is_empty()).then(|| format!("{agent} adds what {list} refers to; the copy only names it"))
    }

    fn original<'r>(&self, rule: &'r Rule) -> Original<'r> {
        let root = &self.sources.workspace().roots.roots[rule.origin.root].path;
        let inner = Path::new(&rule.origin.path).strip_prefix(root);
        let text = self.sources.text(rule);
        let left_behind = |text: &str| self.options.tool.and_then(|tool| tool.left_behind(text));
        let meant = Meant::of(rule);
        let path = inner.map_or_else(|_| rule.origin.display.clone(), posix);
        let other = |text: &str| {
            reader(&self.options.from).map_or_else(|| other_reading(&meant, &path, text), |_| None)
        };
        let notes =
            [text.as_deref().and_then(left_behind), self.references(rule), text.as_deref().and_then(other)];
        Original {
            notes: notes.into_iter().flatten().collect(),
            meant,
            path,
            hash: text.map(|text| source_hash(&text)).unwrap_or_default(),
        }
    }

    /// Writes every rule for every target, by target, and compares the copies with the tree. Where one differs on a file, it is
    /// written again with that file in view.
    fn proven<'r>(
        &self,
        originals: &'r [Original<'r>],
        tree: &Tree,
        files: &mut Files<'_>,
    ) -> io::Result<Vec<Pending<'r>>> {
        const ROUNDS: usize = 3;
        let mut taken = Taken::new();
        let mut pending = self.drafts(&originals.iter().collect::<Vec<_>>(), &mut taken, files)?;
        prove(&mut pending, tree);
        for _ in 0..ROUNDS {
            let mut again: Vec<usize> =
                (0..pending.len()).filter(|at| learn(&pending[*at])).map(|at| at % originals.len()).collect();
            again.sort_unstable();
            again.dedup();
            if again.is_empty() {
                break;
            }
            let some: Vec<&Original<'_>> = again.iter().map(|at| &originals[*at]).collect();
            let mut drafts = self.drafts(&some, &mut taken, files)?;
            prove(&mut drafts, tree);
            for (at, draft) in drafts.into_iter().enumerate() {
                let target = at / again.len();
                pending[target * originals.len() + again[at % again.len()]] = draft;
            }
        }
        refuse(&mut pending, self.options.allow);
        spare(&mut pending, self.sources, self.options);
        let copies = self.whole_copies();
        let is_copy = |rule: &&Rule| copies.contains(Path::new(&rule.origin.path));
        for target in &self.options.to {
            let Some(agent) = target.agent().filter(|agent| agent.limit.is_some()) else { continue };
            // In another folder, agents do not read the rules of this workspace.
            let native = self.options.dir.is_none().then(|| self.sources.native(agent));
            let rules = native.iter().flat_map(|native| native.book.rules()).map(|(rule, _)| rule);
            fit(&mut pending, target, rules.filter(|rule| !is_copy(rule)));
        }
        Ok(pending)
    }

    /// Writes every rule for every target, by target. Targets that read the same folder share a text.
    fn drafts<'r>(
        &self,
        originals: &[&'r Original<'r>],
        taken: &mut Taken<'r>,
        files: &mut Files<'_>,
    ) -> io::Result<Vec<Pending<'r>>> {
        let targets = &self.options.to;
        let mut groups: Vec<Vec<&'static Target>> = Vec::new();
        for target in targets {
            match groups.iter_mut().find(|group| group[0].holder == target.holder) {
                Some(group) => group.push(target),
                None => groups.push(vec![target]),
            }
        }
        let mut by_target: Vec<Vec<Pending<'r>>> = targets.iter().map(|_| Vec::new()).collect();
        for (original, of_groups) in originals.iter().copied().zip(first_drafts(originals, &groups)) {
            for (group, drafts) in groups.iter().zip(of_groups) {
                let drafts = self.placed(original, group, drafts, taken, files)?;
                for (target, draft) in group.iter().zip(drafts) {
                    let at = targets.iter().position(|other| other.name == target.name);
                    let notes = original.notes.clone();
                    let pending = Pending { original, target, draft, read_from: None, aside: None, notes };
                    by_target[at.expect("it is one of them")].push(pending);
                }
            }
        }
        for (pending, target) in by_target.iter_mut().zip(targets) {
            // In another folder, agents do not read the rules of this workspace.
            if let Some(agent) = target.agent().filter(|_| self.options.dir.is_none()) {
                find_readers(pending, target, &self.sources.native(agent).book);
            }
        }
        let mut all: Vec<Pending<'r>> = by_target.into_iter().flatten().collect();
        find_shared(&mut all, originals.len());
        Ok(all)
    }

    /// Drafts of a rule that have a path of their own: by another name if it is taken.
    fn placed<'r>(
        &self,
        original: &'r Original<'r>,
        group: &[&'static Target],
        mut drafts: GroupDrafts,
        taken: &mut Taken<'r>,
        files: &mut Files<'_>,
    ) -> io::Result<GroupDrafts> {
        let rule = original.meant.rule;
        if group[0].is_block() {
            return Ok(drafts);
        }
        let mut others = names(rule, group[0]).skip(1);
        let mut in_the_way = taken_path(original, &drafts, taken, files)?;
        while in_the_way.is_some()
            && let Some(name) = others.next()
        {
            drafts = draft_shared(&original.meant, group, &name, &original.path);
            in_the_way = taken_path(original, &drafts, taken, files)?;
        }
        if let Some(path) = in_the_way {
            drafts.iter_mut().for_each(|draft| *draft = Err(Loss::Taken(path.clone())));
        }
        for draft in drafts.iter().flatten().filter(|draft| !draft.path.is_empty()) {
            taken.insert((rule.origin.root, draft.path.to_lowercase()), &rule.origin.path);
        }
        Ok(drafts)
    }

    /// Decides what is written, with the new records.
    #[allow(clippy::type_complexity, reason = "the parts of a plan")]
    fn outcomes(
        &self,
        pending: Vec<Pending<'_>>,
        originals: &[Original<'_>],
        mut files: Files<'_>,
    ) -> Result<(Vec<ExportRow>, Vec<PlannedFile>, Vec<(PathBuf, RecordedCopies)>), PlanError> {
        let mut new: Vec<(PathBuf, RecordedCopies)> = self.records.to_vec();
        let mut rows = Vec::new();
        let mut lost: Vec<Lost<'_>> = Vec::new();
        let mut planned: Vec<Planned> = Vec::new();
        let mut partly: Vec<(&Rule, &'static Target)> = Vec::new();
        for Pending { original, target, mut draft, read_from, mut notes, .. } in pending {
            if let Ok(draft) = &mut draft
                && self.is_wired(target)
            {
                // Rulebook enforces the rule there.
                draft.proof.unenforced.clear();
            }
            let rule = original.meant.rule;
            let written = draft.as_ref().ok().filter(|_| read_from.is_none());
            if let Some(copy) = written {
                let base = &self.records[rule.origin.root].0;
                notes.extend(notes_on(original, target, copy, base));
            }
            let row = |outcome, notes| ExportRow {
                id: rule.id.clone(),
                source: rule.origin.display.clone(),
                target,
                outcome,
                notes,
            };
            match (draft, read_from) {
                (Ok(draft), Some(path)) => rows.push(row(Outcome::Read { path, proof: draft.proof }, notes)),
                (Ok(draft), None) => {
                    if draft.proof.without_files.is_some() {
                        partly.push((rule, target));
                    }
                    let source = original.path.clone();
                    planned.push((rule.origin.root, draft.path.clone(), source.clone(), target.name));
                    let copy = PlannedCopy {
                        root: rule.origin.root,
                        path: draft.path.clone(),
                        target: target.name,
                        block: target.is_block().then(|| source.clone()),
                        text: if target.is_block() {
                            block(&source, &rulebook::export::body(rule, &draft.rule.origin))
                        } else {
                            draft.text
                        },
                        source,
                        source_hash: original.hash.clone(),
                        is_kept: self.options.keep.iter().any(|name| rule.is_called(name)),
                    };
                    let state = files.put(copy, &mut new)?;
                    let outcome = Outcome::Copied { path: draft.path, proof: draft.proof, state };
                    rows.push(row(outcome, notes));
                }
                (Err(loss), _) => lost.push(Lost { rule, target, loss, notes }),
            }
        }
        for target in &self.options.to {
            let own: Vec<&Lost<'_>> = lost.iter().filter(|one| one.target.name == target.name).collect();
            let partly = partly.iter().filter(|(_, other)| other.name == target.name).map(|(rule, _)| *rule);
            let partly: Vec<&Rule> = partly.collect();
            let how = (*target, self.loss_policy(target));
            rows.extend(list(how, &own, &partly, &self.options.keep, &mut planned, &mut files, &mut new)?);
        }
        let selected: Vec<(usize, &str)> =
            originals.iter().map(|one| (one.meant.rule.origin.root, one.path.as_str())).collect();
        let roots = self.sources.workspace().export_folders(None);
        rows.extend(stale::remove(&mut files, &mut new, self.options, &planned, &selected, &roots)?);
        Ok((rows, files.changes(), new))
    }

    /// The recorded files that are copies as a whole.
    fn whole_copies(&self) -> HashSet<PathBuf> {
        let of_base = |(base, records): &(PathBuf, RecordedCopies)| {
            let whole = records.copies.iter().filter(|record| !record.is_block);
            whole.map(|record| base.join(&record.path)).collect::<Vec<_>>()
        };
        self.records.iter().flat_map(of_base).collect()
    }

    /// Whether Rulebook delivers rules to the agent of a target.
    fn is_wired(&self, target: &Target) -> bool {
        let workspace = self.sources.workspace();
        target.agent().is_none_or(|agent| !workspace.wiring(agent, AgentSearch::Workspace).is_empty())
    }

    /// What happens to rules that a target cannot express.
    fn loss_policy(&self, target: &Target) -> LossPolicy {
        match self.options.loss {
            Some(LossPolicy::Deliver) | None if self.is_wired(target) => LossPolicy::Deliver,
            Some(LossPolicy::Deliver) | None => LossPolicy::LeaveOut,
            Some(other) => other,
        }
    }
}

/// The rows of rules that cannot be copied for any agent.
fn left_out(rules: &[(&Rule, String)], targets: &[&'static Target]) -> Vec<ExportRow> {
    let row = |((rule, why), target): (&(&Rule, String), &'static Target)| ExportRow {
        id: rule.id.clone(),
        source: rule.origin.display.clone(),
        target,
        outcome: Outcome::LeftOut(Loss::NoForm(why.clone())),
        notes: Vec::new(),
    };
    targets.iter().flat_map(|target| rules.iter().map(|rule| (rule, *target))).map(row).collect()
}

/// A rule without the copies of others in its file; `None` if there are none.
fn without_copies(rule: &Rule) -> Option<Rule> {
    match outside_blocks(&rule.body) {
        Cow::Owned(body) if rule.is_located() => {
            let mut own = rule.clone();
            own.body = body.trim().into();
            Some(own)
        }
        _ => None,
    }
}
