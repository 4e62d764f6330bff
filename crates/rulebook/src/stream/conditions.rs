//! The conditions of all rules, with the scopes and files that limit them.

use std::sync::Arc;

use super::file::File;
use super::hit::{Hit, Spot};
use super::pattern::Engine;
use super::scope::{Covers, OutputPart, StreamScope};
use crate::condition::Paths;

/// The conditions of all rules.
#[derive(Debug, Default)]
pub(super) struct Conditions(pub(super) Vec<WatchedCondition>);

/// One condition of one rule.
#[derive(Debug)]
pub(super) struct WatchedCondition {
    pub(super) rule: String,
    pub(super) source: String,
    pub(super) written: String,
    /// The pattern as the engine takes it.
    pub(super) regex: String,
    pub(super) engine: Engine,
    pub(super) scope: Vec<StreamScope>,
    /// The files that a tool call must be about, if the rule restricts them.
    pub(super) gate: Option<Arc<Paths>>,
    /// The roots whose files are left to a rule of their own.
    pub(super) other_roots: Vec<usize>,
}

impl WatchedCondition {
    /// Whether it watches what a call writes to this file; without one, whatever the file turns out to be.
    fn admits(&self, file: Option<&File>) -> bool {
        match file {
            Some(file) => {
                !file.is_in(&self.other_roots) && self.gate.as_ref().is_none_or(|gate| file.is_match(gate))
            }
            None => self.gate.is_none() && self.other_roots.is_empty(),
        }
    }
}

impl Conditions {
    /// How a condition covers a part of the output, the first time that it does.
    pub(super) fn first(
        &self,
        condition: usize,
        met: &mut [bool],
        part: &OutputPart<'_>,
        file: Option<&File>,
    ) -> Option<Covers> {
        let is_met = &mut met[condition];
        let covers = if *is_met { Covers::No } else { self.covers(condition, *part, file) };
        *is_met |= covers != Covers::No;
        (covers != Covers::No).then_some(covers)
    }

    /// Whether a condition covers a part of a call that names no file.
    pub(super) fn covers_without_file(&self, condition: usize, part: OutputPart<'_>) -> bool {
        self.0.get(condition).is_some_and(|watched| {
            watched.gate.is_none()
                && watched.scope.iter().any(|scope| scope.covers(part, None) == Covers::Yes)
        })
    }

    /// Whether a condition covers a part of the output that is for this file.
    pub(super) fn covers(&self, condition: usize, part: OutputPart<'_>, file: Option<&File>) -> Covers {
        let Some(watched) = self.0.get(condition) else { return Covers::No };
        let best = watched.scope.iter().map(|scope| scope.covers(part, file)).max();
        let is_prose = matches!(part, OutputPart::Text | OutputPart::Thinking);
        let is_open = is_prose || watched.admits(file);
        match best.unwrap_or(Covers::No) {
            Covers::Yes if !is_open => Covers::IfFile,
            other => other,
        }
    }

    /// A match of a condition in a part of the output.
    pub(super) fn hit(
        &self,
        condition: usize,
        part: OutputPart<'_>,
        file: Option<&File>,
        spot: &Spot<'_>,
    ) -> Hit {
        let WatchedCondition { rule, source, written, .. } = &self.0[condition];
        Hit::new((rule, source, written), part, file, spot)
    }
}
