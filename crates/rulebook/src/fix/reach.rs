//! Where a rule applies, so that two readings of a file can be compared.

use crate::coverage::Coverage;
use crate::evidence::Seen;
use crate::parse::{Entry, Parsed};
use crate::resolve::{Switches, resolve};
use crate::rule::{Activation, Rule};

/// How far a rule goes in one situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Never,
    ByName,
    Offered,
    Applied,
}

/// The level of a rule without any path, and for each of some paths.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reach(Vec<Level>);

impl Reach {
    pub(super) fn of(parsed: &Parsed, paths: &[Seen]) -> Reach {
        let Entry::Rule(rule) = &parsed.entry else { return Reach(vec![Level::Never; paths.len() + 1]) };
        let base = if rule.body.is_empty() || !rule.enabled { Level::Never } else { without_path(rule) };
        let mut levels = vec![base; paths.len() + 1];
        let book = resolve([parsed.entry.clone()], &Switches::default());
        let reached = Coverage::new(&book).reached(&[0], paths);
        reached.into_iter().flatten().for_each(|at| levels[at + 1] = Level::Applied);
        Reach(levels)
    }

    /// Whether every level is between those of two others.
    pub(super) fn is_between(&self, one: &Reach, other: &Reach) -> bool {
        let mut levels = self.0.iter().zip(one.0.iter().zip(&other.0));
        levels.all(|(level, (one, other))| (one.min(other)..=one.max(other)).contains(&level))
    }
}

fn without_path(rule: &Rule) -> Level {
    match rule.activation {
        Activation::Always | Activation::Stream => Level::Applied,
        Activation::OnRequest => Level::Offered,
        Activation::When if rule.is_offered => Level::Offered,
        Activation::Manual => Level::ByName,
        Activation::When | Activation::Never => Level::Never,
    }
}
