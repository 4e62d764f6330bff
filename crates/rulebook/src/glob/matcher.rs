//! A glob prepared for matching many paths.

use super::Glob;
use super::plain::Plain;
use super::plan::Plan;
use super::regex::{LazyDfa, Literals};
use super::traits::Traits;

/// A glob to be matched against many paths, none of them empty.
pub(super) enum Matcher<'g> {
    Direct(&'g Glob),
    /// No path has a trait that needs the full expression.
    Plain(&'g Plain, &'g str),
    Dfa(Box<LazyDfa<'g>>, &'g Literals),
}

impl<'g> Matcher<'g> {
    /// Prepares for this number of paths. `traits` are those of all paths together.
    pub(super) fn new(glob: &'g Glob, paths: usize, traits: Traits) -> Matcher<'g> {
        // For fewer paths, building the automaton costs more than it saves.
        const MIN_PATHS_FOR_DFA: usize = 4;
        match &glob.plan {
            Plan::Plain(plain) if !glob.dialect.special_traits().intersects(traits) => {
                Matcher::Plain(plain, glob.text())
            }
            Plan::Program(compiled) if paths >= MIN_PATHS_FOR_DFA => {
                let dfa = LazyDfa::new(&compiled.0).map(Box::new);
                dfa.map_or(Matcher::Direct(glob), |dfa| Matcher::Dfa(dfa, &compiled.1))
            }
            _ => Matcher::Direct(glob),
        }
    }

    /// Whether a folded path matches, ignoring a leading `!` and equality with the pattern's text.
    pub(super) fn is_match(&mut self, path: &str) -> bool {
        match self {
            Matcher::Direct(glob) => glob.matches_folded(path),
            Matcher::Plain(plain, pattern) => plain.is_match(pattern, path),
            Matcher::Dfa(dfa, literals) => literals.are_in(path) && dfa.is_match(path),
        }
    }
}
