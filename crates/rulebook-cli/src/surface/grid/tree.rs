//! How many files of a tree each rule has for an agent.

use std::collections::{HashMap, HashSet};

use rulebook::matrix::{Cell, CellState, RuleRow};
use rulebook_workspace::AgentCoverage;

use super::cell::Shown;
use crate::out::grouped;

/// How many files of the tree a rule applies to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::surface) enum TreeFiles {
    /// All of them, and requests without a file.
    All,
    Some(usize),
}

/// The rules that one agent has for the files of a tree.
pub(in crate::surface) struct InTree<'c> {
    agent: &'c AgentCoverage,
    files: HashMap<&'c str, TreeFiles>,
    /// Files whose rules are overridden wherever they apply.
    overridden: HashSet<&'c str>,
}

impl<'c> InTree<'c> {
    pub(in crate::surface) fn of(agent: &'c AgentCoverage) -> InTree<'c> {
        let bound = agent.report.rules.iter();
        let bound = bound.map(|rule| (rule.source.as_str(), TreeFiles::Some(rule.files - rule.overridden)));
        let always = agent.report.always.iter().map(|rule| (rule.source.as_str(), TreeFiles::All));
        let is_lost = |files: usize, overridden: usize| files > 0 && overridden == files;
        let of_files = agent.report.rules.iter().map(|rule| (&rule.source, rule.files, rule.overridden));
        let of_all = agent.report.always.iter();
        let of_all = of_all.map(|rule| (&rule.source, agent.report.files, rule.overridden));
        let lost = of_files.chain(of_all).filter(|(_, files, overridden)| is_lost(*files, *overridden));
        let overridden = lost.map(|(source, ..)| source.as_str()).collect();
        InTree { agent, files: bound.chain(always).collect(), overridden }
    }

    /// Returns the state of a rule over the whole tree, and its files if it depends on them. `cell` is its state without a path.
    pub(in crate::surface) fn state(
        &self,
        row: &RuleRow<'_>,
        cell: &Cell<'_>,
    ) -> (CellState, Option<TreeFiles>) {
        let source = row.origin.display.as_str();
        let waits = cell.state == CellState::Inactive && cell.rule.is_some_and(|rule| !rule.globs.is_empty());
        let none = || (waits && cell.if_wired.is_none()).then_some(TreeFiles::Some(0));
        if self.overridden.contains(source) {
            return (CellState::Overridden, None);
        }
        let Some(files) = self.files.get(source).copied().or_else(none) else { return (cell.state, None) };
        let state = match (cell.state, files) {
            (CellState::Stream, _) => CellState::Stream,
            (_, TreeFiles::Some(0)) => CellState::Inactive,
            _ if self.agent.added.contains(source) => CellState::Added,
            _ => CellState::Native,
        };
        (state, Some(files))
    }

    /// Returns the number of files of a rule.
    pub(in crate::surface) fn count(&self, files: TreeFiles) -> usize {
        match files {
            TreeFiles::All => self.agent.report.files,
            TreeFiles::Some(files) => files,
        }
    }
}

/// Returns what a cell shows: the number of files.
pub(super) fn shown(state: CellState, files: TreeFiles) -> Shown {
    let text = match files {
        TreeFiles::All => "all".to_owned(),
        TreeFiles::Some(files) => grouped(files),
    };
    Shown::new(state, text)
}
