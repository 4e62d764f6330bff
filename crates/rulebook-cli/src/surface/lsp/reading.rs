//! A document as one reader reads it now: its rule, its patterns and the files that they match.

use std::sync::Arc;

use rulebook::agent::Agent;
use rulebook::coverage::PatternFiles;
use rulebook::diagnostic::Code;
use rulebook::fix::Readers;
use rulebook::parse::{Entry, parse};
use rulebook::resolve::{Rulebook, Switches, resolve, resolve_as};
use rulebook::rule::{Activation, Rule};
use rulebook::source::{Origin, Source};

use super::document::Document;
use super::snapshot::Snapshot;

/// One reading of a document: a book of one rule, or of none if the file is rejected.
pub(super) struct Reading(Rulebook);

impl Reading {
    /// As its author meant it.
    pub(super) fn meant(origin: &Origin, text: &Arc<str>) -> Reading {
        Reading(resolve([parse(source(origin, text)).entry], &Switches::default()))
    }

    /// As an agent reads it by itself.
    pub(super) fn native(agent: &Agent, origin: &Origin, text: &Arc<str>) -> Reading {
        Reading(resolve_as([parse(source(origin, text)).entry], agent))
    }

    pub(super) fn rule(&self) -> Option<&Rule> {
        self.0.rules().next().map(|(rule, _)| rule)
    }

    /// The files of the workspace that the rule applies to, by position.
    pub(super) fn files(self, snapshot: &Snapshot) -> Vec<usize> {
        if self.rule().is_none() {
            return Vec::new();
        }
        let found = snapshot.files.matcher.ask(self.0, |coverage, facts| coverage.reached_in(&[0], facts));
        found.and_then(|mut all| all.pop()).unwrap_or_default()
    }

    /// The patterns with the files that they match.
    pub(super) fn patterns(self, snapshot: &Snapshot) -> Vec<PatternFiles> {
        if self.rule().is_none() {
            return Vec::new();
        }
        let found = snapshot.files.matcher.ask(self.0, |coverage, facts| coverage.patterns_in(0, facts));
        found.unwrap_or_default()
    }
}

/// What a reader makes of a text, besides its prose.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadAs {
    /// `None` if the file is rejected.
    pub(super) id: Option<String>,
    rule: Option<(Activation, Vec<String>)>,
    problems: Vec<Code>,
}

impl ReadAs {
    /// Whether all but the id is the same.
    pub(super) fn is_same_rule(&self, other: &ReadAs) -> bool {
        (&self.rule, &self.problems) == (&other.rule, &other.problems)
    }
}

/// What each reader makes of a text: first as it is meant, then each agent.
pub(super) fn reads_as(readers: &Readers, text: &str) -> Vec<ReadAs> {
    let text: Arc<str> = text.into();
    let origins = readers.meant.iter().chain(readers.agents.iter().map(|(_, origin)| origin));
    let read = |origin: &Origin| {
        let parsed = parse(source(origin, &text));
        let problems = parsed.diagnostics.iter().map(|found| found.code).collect();
        match parsed.entry {
            Entry::Rule(rule) => {
                let rest = (rule.activation, rule.globs.clone());
                ReadAs { id: Some(rule.id), rule: Some(rest), problems }
            }
            Entry::Rejected(_) => ReadAs { id: None, rule: None, problems },
        }
    };
    origins.map(read).collect()
}

/// How each agent that is used here reads a document; without an origin, it does not.
pub(super) fn agents(snapshot: &Snapshot, document: &Document) -> Vec<(&'static Agent, Option<Origin>)> {
    let readers = snapshot.readers(document.name(), &document.real).unwrap_or_default();
    let origin = |agent: &Agent| {
        readers.agents.iter().find(|(other, _)| other.name == agent.name).map(|(_, origin)| origin.clone())
    };
    snapshot.views.agents.iter().map(|view| (view.used.agent, origin(view.used.agent))).collect()
}

fn source(origin: &Origin, text: &Arc<str>) -> Source {
    Source { origin: origin.clone(), text: Ok(Arc::clone(text)) }
}
