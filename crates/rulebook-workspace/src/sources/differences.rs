//! Differences: the rules that their own agent takes differently than they are meant.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rulebook::agent::{AGENTS, Agent, Nested};
use rulebook::compare::{Difference, compare};
use rulebook::format::PlaceKind;
use rulebook::parse::Parsed;
use rulebook::resolve::Rulebook;
use rulebook::rule::Rule;
use rulebook::source::Scope;

use super::{Sources, path_of};

impl Sources<'_> {
    /// The rules that their own agent takes differently than they are meant.
    pub fn differences<'b>(&self, book: &'b Rulebook) -> Vec<(&'b Rule, &'static Agent, Difference)> {
        let owners = AGENTS.iter().filter(|agent| agent.owns.is_some());
        let found = owners.flat_map(|agent| {
            self.differences_of(agent, book).into_iter().map(move |(rule, found)| (rule, agent, found))
        });
        found.collect()
    }

    /// The rules of one agent's own format that it takes differently than they are meant.
    pub(crate) fn differences_of<'b>(
        &self,
        agent: &Agent,
        book: &'b Rulebook,
    ) -> Vec<(&'b Rule, Difference)> {
        if !book.rules().any(|(rule, _)| agent.owns_rule(rule)) {
            return Vec::new();
        }
        let found = self.differences_from(agent, book, &self.read_as(agent).0);
        let rules: Vec<&Rule> = book.rules().map(|(rule, _)| rule).collect();
        found.into_iter().map(|(at, difference)| (rules[at], difference)).collect()
    }

    /// The positions of the rules of an agent's own format that it treats differently than they are meant.
    pub(super) fn differences_from(
        &self,
        agent: &Agent,
        meant: &Rulebook,
        read: &[Parsed],
    ) -> Vec<(usize, Difference)> {
        let native: HashMap<&str, &Parsed> = read.iter().map(|parsed| (path_of(parsed), parsed)).collect();
        // An agent may read the same file by another name, which is a link.
        let real = |path: &str| self.disk.real(Path::new(path)).ok();
        let linked: OnceCell<HashMap<PathBuf, &Parsed>> = OnceCell::new();
        let links = || read.iter().filter_map(|parsed| Some((real(path_of(parsed))?, parsed))).collect();
        let by_link = |path: &str| linked.get_or_init(links).get(&real(path)?).copied();
        let differ = |(at, (rule, _)): (usize, (&Rule, _))| {
            let path = rule.origin.path.as_str();
            let native = native.get(path).copied().or_else(|| by_link(path));
            // A person's own file may be in a place that only other tools read, and an agent that reads the folders from
            // the root to its working folder may be started there.
            let nested = agent.nested_at(rule.origin.place);
            let is_located = matches!(rule.origin.place.shape, PlaceKind::Located { .. });
            let is_elsewhere = rule.origin.scope == Scope::User
                || nested != Nested::Read && is_located
                || nested == Nested::Undocumented && !rule.origin.folder.is_empty();
            let difference = compare(rule, native).filter(|_| native.is_some() || !is_elsewhere);
            difference.map(|difference| (at, difference))
        };
        meant.rules().enumerate().filter(|(_, (rule, _))| agent.owns_rule(rule)).filter_map(differ).collect()
    }
}
