//! Planning: what an export writes, and how each copy compares with its rule.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use rulebook::export::{
    Draft, Loss, LossPolicy, Target, are_copies, block, draft_shared, index, is_marked, names, outside_blocks,
};
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;

use super::files::{ExportRow, Files, INDEX, Outcome, PlannedCopy, PlannedFile, text_at};
use super::pending::{Pending, find_readers, find_shared, is_block, prove};
use super::select::{SelectError, select};
use super::{ExportOptions, stale};
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
}

/// Why nothing was planned.
#[derive(Debug)]
pub enum PlanError {
    /// The rules to export are not known.
    Select(SelectError),
    /// A file cannot be read.
    Read(io::Error),
}

impl From<io::Error> for PlanError {
    fn from(error: io::Error) -> PlanError {
        PlanError::Read(error)
    }
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
        let roots: Vec<PathBuf> =
            self.workspace().roots.roots.iter().map(|root| root.path.clone().into()).collect();
        let mut recorded: Vec<BTreeMap<PathBuf, Vec<PathBuf>>> = Vec::new();
        let mut records = Vec::new();
        for root in &roots {
            let own = RecordedCopies::read(&Storage::Disk, root)?;
            recorded.push(own.by_copy(root));
            let base = options.dir.clone().unwrap_or_else(|| root.clone());
            records.push((
                base.clone(),
                if options.dir.is_some() { RecordedCopies::read(&Storage::Disk, &base)? } else { own },
            ));
        }
        let is_copy = |rule: &Rule| {
            recorded
                .get(rule.origin.root)
                .is_some_and(|copies| copies.contains_key(Path::new(&rule.origin.path)))
                && !rule.is_located()
        };
        let selected = select(book, &options.from, &is_copy).map_err(PlanError::Select)?;
        let own: Vec<Option<Rule>> = selected.iter().map(|rule| without_copies(rule)).collect();
        let rules: Vec<&Rule> = (selected.iter().zip(&own))
            .map(|(rule, own)| own.as_ref().unwrap_or(rule))
            .filter(|rule| !rule.body.is_empty())
            .collect();
        let planner = Planner { sources: self, options, records: &records };
        let mut pending = planner.drafts(&rules)?;
        prove(&mut pending, tree, options.allow);
        let (rows, files, new) = planner.outcomes(pending, &rules)?;
        Ok(ExportPlan { rows, files, tree: tree.files(), records: new })
    }
}

struct Planner<'p> {
    sources: &'p Sources<'p>,
    options: &'p ExportOptions,
    records: &'p [(PathBuf, RecordedCopies)],
}

impl Planner<'_> {
    /// Writes every rule for every target. Targets that read the same folder share a text.
    fn drafts<'r>(&self, rules: &[&'r Rule]) -> io::Result<Vec<Pending<'r>>> {
        let mut taken: BTreeMap<(usize, String), &str> = BTreeMap::new();
        let mut all: Vec<Pending<'r>> = Vec::new();
        let natives: Vec<Option<Rulebook>> = (self.options.to.iter())
            .map(|target| target.agent().map(|agent| self.sources.native(agent).book))
            .collect();
        let mut groups: Vec<Vec<&'static Target>> = Vec::new();
        for target in &self.options.to {
            match groups.iter_mut().find(|group| group[0].holder == target.holder) {
                Some(group) => group.push(target),
                None => groups.push(vec![target]),
            }
        }
        for group in &groups {
            for rule in rules {
                let source = self.relative(rule);
                let mut drafts = Vec::new();
                let mut taken_path = None;
                for name in names(rule, group[0]) {
                    drafts = draft_shared(rule, group, &name, &source);
                    taken_path = self.taken_path(rule, &source, &drafts, &taken)?;
                    if taken_path.is_none() {
                        break;
                    }
                }
                if let Some(path) = taken_path {
                    drafts.iter_mut().for_each(|draft| *draft = Err(Loss::Taken(path.clone())));
                }
                for draft in
                    drafts.iter().flatten().filter(|draft| !is_block(group[0]) && !draft.path.is_empty())
                {
                    taken.insert((rule.origin.root, draft.path.to_lowercase()), rule.origin.path.as_str());
                }
                for (target, draft) in group.iter().zip(drafts) {
                    all.push(Pending { rule, target, draft, read_from: None, notes: Vec::new() });
                }
            }
        }
        for (at, target) in self.options.to.iter().enumerate() {
            if let Some(native) = &natives[at] {
                find_readers(&mut all, target, native);
            }
        }
        find_shared(&mut all);
        let order = |target: &Target| self.options.to.iter().position(|other| other.name == target.name);
        all.sort_by_key(|one| order(one.target));
        Ok(all)
    }

    /// The first of the paths of copies that another file has.
    fn taken_path(
        &self,
        rule: &Rule,
        source: &str,
        drafts: &[Result<Draft, Loss>],
        taken: &BTreeMap<(usize, String), &str>,
    ) -> io::Result<Option<String>> {
        for draft in drafts.iter().flatten() {
            if draft.rule.is_located() {
                continue;
            }
            let key = (rule.origin.root, draft.path.to_lowercase());
            if taken.get(&key).is_some_and(|other| *other != rule.origin.path) {
                return Ok(Some(draft.path.clone()));
            }
            let (base, recorded) = &self.records[rule.origin.root];
            if recorded.find(&draft.path, source).is_some() {
                continue;
            }
            let there = text_at(base, &draft.path)?;
            let is_ours = |text: &String| {
                *text == draft.text || is_marked(text, source) || are_copies(text, &draft.text)
            };
            if there.is_some_and(|text| !is_ours(&text))
                || recorded.copies.iter().any(|one| one.path == draft.path)
            {
                return Ok(Some(draft.path.clone()));
            }
        }
        Ok(None)
    }

    /// The path of a rule's file, relative to its root.
    fn relative(&self, rule: &Rule) -> String {
        let root = &self.sources.workspace().roots.roots[rule.origin.root].path;
        Path::new(&rule.origin.path).strip_prefix(root).map_or_else(|_| rule.origin.display.clone(), posix)
    }

    /// Decides what is written, with the new records.
    #[allow(clippy::type_complexity, reason = "the parts of a plan")]
    fn outcomes(
        &self,
        pending: Vec<Pending<'_>>,
        rules: &[&Rule],
    ) -> Result<(Vec<ExportRow>, Vec<PlannedFile>, Vec<(PathBuf, RecordedCopies)>), PlanError> {
        let mut files = Files::new(self.records);
        let mut new: Vec<(PathBuf, RecordedCopies)> = self.records.to_vec();
        let mut rows = Vec::new();
        let mut lost: Vec<(&Rule, &'static Target, Loss, Vec<String>)> = Vec::new();
        let mut planned: Vec<(usize, String, String, &'static str)> = Vec::new();
        let mut partly: Vec<(&Rule, &'static Target)> = Vec::new();
        for Pending { rule, target, draft, read_from, notes } in pending {
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
                    let source = self.relative(rule);
                    planned.push((rule.origin.root, draft.path.clone(), source.clone(), target.name));
                    let copy = PlannedCopy {
                        root: rule.origin.root,
                        path: draft.path.clone(),
                        target: target.name,
                        block: is_block(target).then(|| source.clone()),
                        text: if is_block(target) {
                            block(&source, rulebook::export::without_marker(&rule.body))
                        } else {
                            draft.text
                        },
                        source,
                        source_hash: self
                            .sources
                            .text(rule)
                            .map(|text| source_hash(&text))
                            .unwrap_or_default(),
                        is_kept: self.options.keep.iter().any(|name| rule.is_called(name)),
                    };
                    let state = files.put(copy, &mut new)?;
                    let outcome = Outcome::Copied { path: draft.path, proof: draft.proof, state };
                    rows.push(row(outcome, notes));
                }
                (Err(loss), _) => lost.push((rule, target, loss, notes)),
            }
        }
        for target in &self.options.to {
            let own: Vec<_> = lost.iter().filter(|(_, other, ..)| other.name == target.name).collect();
            let policy = self.loss_policy(target);
            let path = self.index_path(target, &planned)?;
            let partly = partly.iter().filter(|(_, other)| other.name == target.name).map(|(rule, _)| *rule);
            let listed: Vec<&Rule> = own.iter().map(|(rule, ..)| *rule).chain(partly).collect();
            if policy == LossPolicy::Index && !listed.is_empty() {
                let listed = index(listed.into_iter());
                let copy = PlannedCopy {
                    root: 0,
                    path: path.clone(),
                    source: String::new(),
                    target: target.name,
                    text: index_text(target, &listed),
                    block: is_block(target).then(|| INDEX.to_owned()),
                    source_hash: String::new(),
                    is_kept: false,
                };
                planned.push((0, path.clone(), String::new(), target.name));
                files.put(copy, &mut new)?;
            }
            for (rule, target, loss, notes) in own {
                let outcome = match policy {
                    LossPolicy::Index => Outcome::Indexed(path.clone(), loss.clone()),
                    LossPolicy::Deliver => Outcome::Delivered(loss.clone()),
                    LossPolicy::LeaveOut => Outcome::LeftOut(loss.clone()),
                };
                let (id, source) = (rule.id.clone(), rule.origin.display.clone());
                rows.push(ExportRow { id, source, target, outcome, notes: notes.clone() });
            }
        }
        let selected: Vec<(usize, String)> =
            rules.iter().map(|rule| (rule.origin.root, self.relative(rule))).collect();
        rows.extend(stale::remove(&mut files, &mut new, self.options, &planned, &selected)?);
        let order = |target: &Target| self.options.to.iter().position(|other| other.name == target.name);
        rows.sort_by(|a, b| (order(a.target), &a.source).cmp(&(order(b.target), &b.source)));
        Ok((rows, files.changes(), new))
    }

    /// The path of the index, which no copy has and no file that is not an index.
    fn index_path(
        &self,
        target: &Target,
        planned: &[(usize, String, String, &'static str)],
    ) -> io::Result<String> {
        const NAME: &str = "rulebook-index";
        let (base, recorded) = &self.records[0];
        let paths = (1..).map(|number| match number {
            1 => target.path("", NAME),
            _ => target.path("", &format!("{NAME}-{number}")),
        });
        for path in paths {
            let is_copy = planned.iter().any(|(root, other, source, _)| {
                (*root, source.is_empty()) == (0, false) && other.eq_ignore_ascii_case(&path)
            });
            let is_free = recorded.find(&path, "").is_some()
                || text_at(base, &path)?.is_none_or(|text| is_marked(&text, INDEX));
            if is_block(target) || is_free && !is_copy {
                return Ok(path);
            }
        }
        unreachable!("the numbers do not end")
    }

    /// What happens to rules that a target cannot express.
    fn loss_policy(&self, target: &Target) -> LossPolicy {
        let wiring = |target: &Target| {
            let agent = target.agent()?;
            Some(!self.sources.workspace().wiring(agent, AgentSearch::Workspace).is_empty())
        };
        let is_wired = wiring(target).unwrap_or(target.agent().is_none());
        match self.options.loss {
            Some(LossPolicy::Deliver) | None if is_wired => LossPolicy::Deliver,
            Some(LossPolicy::Deliver) | None => LossPolicy::LeaveOut,
            Some(other) => other,
        }
    }
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

/// The text of an index, always on.
fn index_text(target: &Target, listed: &str) -> String {
    match is_block(target) {
        true => block(INDEX, listed),
        false => target.always_text(INDEX, listed),
    }
}
