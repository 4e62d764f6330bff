//! Where a rule applies, so that two readings of a file can be compared.

use crate::coverage::Coverage;
use crate::evidence::Seen;
use crate::parse::{Entry, Parsed};
use crate::resolve::{Switches, resolve};
use crate::rule::{Activation, Rule};

/// How far a rule goes in one situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Never,
    ByName,
    Offered,
    Applied,
}

/// The level of a rule without any path, and for each of some paths.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reach(pub(super) Vec<Level>);

impl Reach {
    pub(super) fn of(parsed: &Parsed, paths: &[Seen]) -> Reach {
        let Entry::Rule(rule) = &parsed.entry else { return Reach(vec![Level::Never; paths.len() + 1]) };
        let base =
            if rule.body.is_empty() || !rule.enabled { Level::Never } else { Level::without_path(rule) };
        let mut levels = vec![base; paths.len() + 1];
        let book = resolve([parsed.entry.clone()], &Switches::default());
        let reached = Coverage::new(&book).reached(&[0], paths);
        reached.into_iter().flatten().for_each(|at| levels[at + 1] = Level::Applied);
        Reach(levels)
    }

    /// Whether it leads from one reach towards another, the goal, in every situation.
    pub(super) fn leads(&self, from: &Reach, goal: &Reach) -> bool {
        let mut levels = self.0.iter().zip(from.0.iter().zip(&goal.0));
        levels.all(|(level, (from, goal))| (from.min(goal)..=from.max(goal)).contains(&level))
    }

    /// Whether it is part of the goal, for an agent that applied the rule always and now uses its patterns. Its dialect may
    /// match less than the one in which they were meant.
    pub(super) fn narrows(&self, from: &Reach, goal: &Reach) -> bool {
        let was_always = from.0.iter().all(|level| *level == Level::Applied);
        let is_within = self.0.iter().zip(&goal.0).all(|(level, goal)| level <= goal);
        was_always && is_within && self.0.contains(&Level::Applied)
    }
}

impl Level {
    /// Returns how far a rule goes if there is no path.
    pub(crate) fn without_path(rule: &Rule) -> Level {
        match rule.activation {
            Activation::Always | Activation::Stream => Level::Applied,
            Activation::OnRequest => Level::Offered,
            Activation::When if rule.is_offered => Level::Offered,
            Activation::Manual => Level::ByName,
            Activation::When | Activation::Never => Level::Never,
        }
    }

    /// Returns a few words for reports.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Level::Never => "off",
            Level::ByName => "on only when mentioned by name",
            Level::Offered => "offered to the model",
            Level::Applied => "always on",
        }
    }
}
