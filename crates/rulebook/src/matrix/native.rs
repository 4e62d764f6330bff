//! What one agent reads by itself.

use std::cell::OnceCell;
use std::collections::HashSet;

use foldhash::{HashMap, HashMapExt as _};

use crate::agent::Agent;
use crate::evaluate::{Audience, Evaluation, Lines, State, Verdict, evaluate};
use crate::evidence::Evidence;
use crate::format::FormatId;
use crate::hash::TextHash;
use crate::parse::Rejected;
use crate::resolve::Rulebook;
use crate::rule::Rule;
use crate::source::Origin;

/// What one agent reads by itself, and what it does with it for some evidence.
#[derive(Debug)]
pub struct NativeReading<'r> {
    verdicts: Vec<Verdict<'r>>,
    /// The position of each rule in the agent's context.
    positions: Vec<usize>,
    by_path: HashMap<&'r str, usize>,
    /// The positions of the verdicts of each text.
    by_text: OnceCell<HashMap<TextHash, Vec<usize>>>,
    rejected: HashMap<&'r str, &'r Rejected>,
}

impl<'r> NativeReading<'r> {
    /// Evaluates the rules that an agent reads by itself, as a reading.
    #[must_use]
    pub fn new(book: &'r Rulebook, evidence: &Evidence) -> NativeReading<'r> {
        let evaluation = NativeReading::evaluate(book, evidence);
        let positions = evaluation.positions();
        let verdicts = evaluation.verdicts;
        let rejected = book.rejected().iter().map(|file| (file.origin.path.as_str(), file)).collect();
        NativeReading { by_path: by_path(&verdicts), by_text: OnceCell::new(), verdicts, positions, rejected }
    }

    /// Evaluates the rules that an agent reads by itself. Requests are left to Rulebook: an agent does not know its names.
    #[must_use]
    pub fn evaluate(book: &'r Rulebook, evidence: &Evidence) -> Evaluation<'r> {
        let Evidence { requested, mentioned, pinned, .. } = evidence;
        if requested.is_empty() && mentioned.is_empty() && pinned.is_empty() {
            return evaluate(book, evidence, Audience::any());
        }
        let (requested, mentioned, pinned) = (Vec::new(), Vec::new(), Vec::new());
        let evidence = Evidence { requested, mentioned, pinned, ..evidence.clone() };
        evaluate(book, &evidence, Audience::any())
    }

    /// Drops what belongs to other roots, for an agent that reads the files of one root only.
    pub fn keep_root(&mut self, root: usize) {
        let is_kept = |verdict: &Verdict<'_>| verdict.rule.own_root().is_none_or(|own| own == root);
        let mut kept = self.verdicts.iter().map(is_kept);
        self.positions.retain(|_| kept.next() == Some(true));
        self.verdicts.retain(is_kept);
        self.by_path = by_path(&self.verdicts);
        self.by_text = OnceCell::new();
    }

    /// Returns what the agent does with a file, if it reads it.
    pub fn verdict(&self, path: &str) -> Option<&Verdict<'r>> {
        self.by_path.get(path).map(|at| &self.verdicts[*at])
    }

    /// Returns the position of a file in the agent's context.
    pub(super) fn position(&self, path: &str) -> usize {
        self.by_path.get(path).map_or(usize::MAX, |at| self.positions[*at])
    }

    /// Whether the agent reads a file and rejects it.
    pub fn rejects(&self, path: &str) -> bool {
        self.rejected.contains_key(path)
    }

    /// Returns a file that the agent finds and that cannot be read, by its path.
    pub(super) fn rejected(&self, path: &str) -> Option<&'r Rejected> {
        self.rejected.get(path).copied()
    }

    /// Returns the rules that the agent reads, in its own order.
    pub fn verdicts(&self) -> &[Verdict<'r>] {
        &self.verdicts
    }

    /// Returns the files that the agent has in context, or offers to its model.
    pub(crate) fn loaded_paths(&self) -> HashSet<String> {
        let loaded = self.verdicts.iter().filter(|verdict| is_loaded(verdict));
        loaded.map(|verdict| verdict.rule.origin.path.clone()).collect()
    }

    /// Returns the rule in context that has the same text, if there is one.
    pub(super) fn same_text(&self, rule: &Rule) -> Option<&'r Rule> {
        self.of_text(rule).find(|own| matches!(own.state, State::Stack)).map(|own| own.rule)
    }

    /// Returns the rule in context that has the same text or is a copy in another format, if there is one.
    pub(super) fn copy_in_context(&self, rule: &Rule) -> Option<&'r Rule> {
        let in_context = self.verdicts.iter().filter(|verdict| matches!(verdict.state, State::Stack));
        let is_copy = |own: &&'r Rule| {
            own.id == rule.id
                && own.origin.format.id != rule.origin.format.id
                && Lines::of(&own.body).is_copy_of(&Lines::of(&rule.body))
        };
        self.same_text(rule).or_else(|| in_context.map(|verdict| verdict.rule).find(is_copy))
    }

    /// Returns the rule that the agent reads and that has the same text and applies in the same cases, if there is one.
    pub(super) fn same_when(&self, rule: &Rule) -> Option<&'r Rule> {
        self.of_text(rule).map(|own| own.rule).find(|own| own.applies_as(rule))
    }

    /// The verdicts on the rules that have the same text, in the agent's order.
    fn of_text(&self, rule: &Rule) -> impl Iterator<Item = &Verdict<'r>> {
        let by_text = self.by_text.get_or_init(|| by_text(&self.verdicts));
        let found = by_text.get(&rule.body.text_hash()).into_iter().flatten().map(|at| &self.verdicts[*at]);
        found.filter(|own| own.rule.body == rule.body)
    }

    /// Returns the general file that the agent finds for a folder: one with its own name, or `AGENTS.md`.
    pub(super) fn general_file(&self, agent: &Agent, origin: &Origin) -> Option<&'r Rule> {
        let is_general = |rule: &&Rule| {
            let own = &rule.origin;
            let is_same_folder =
                (own.root, &own.folder, own.scope) == (origin.root, &origin.folder, origin.scope);
            let is_own = agent.owns == Some(own.format.id) || own.format.id == FormatId::AgentsMd;
            is_same_folder && is_own && rule.is_located() && !rule.body.is_empty()
        };
        self.verdicts.iter().map(|verdict| verdict.rule).find(is_general)
    }
}

/// Returns the position of each file's verdict.
fn by_path<'r>(verdicts: &[Verdict<'r>]) -> HashMap<&'r str, usize> {
    let mut by_path: HashMap<&str, usize> = HashMap::with_capacity(verdicts.len());
    for (at, verdict) in verdicts.iter().enumerate() {
        let known = by_path.entry(verdict.rule.origin.path.as_str()).or_insert(at);
        // A file may be read twice, such as by an import: what the agent has in context counts.
        if is_loaded(verdict) && !is_loaded(&verdicts[*known]) {
            *known = at;
        }
    }
    by_path
}

/// Returns the positions of the verdicts of each text.
fn by_text(verdicts: &[Verdict<'_>]) -> HashMap<TextHash, Vec<usize>> {
    let mut by_text: HashMap<TextHash, Vec<usize>> = HashMap::with_capacity(verdicts.len());
    for (at, verdict) in verdicts.iter().enumerate() {
        by_text.entry(verdict.rule.body.text_hash()).or_default().push(at);
    }
    by_text
}

fn is_loaded(verdict: &Verdict<'_>) -> bool {
    matches!(verdict.state, State::Stack | State::Offered)
}
