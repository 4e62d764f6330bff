//! Explaining: an evaluation as data, in the shape that every surface shows.

use serde::Serialize;

use crate::diagnostic::Code;
use crate::evaluate::{Evaluation, InactiveReason, Reason, State, Verdict};
use crate::evidence::{Evidence, Roots, Via};
use crate::format::FormatId;
use crate::resolve::{OffBy, Rulebook};
use crate::rule::{Activation, Basis, Rule, Step};
use crate::source::Scope;

/// What applies to one target, and why everything else does not.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract, described in the specification")]
#[non_exhaustive]
pub struct Target {
    pub path: Option<String>,
    /// The name of the root, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    pub stack: Vec<Applied>,
    pub overridden: Vec<Overridden>,
    pub offered: Vec<Offered>,
    pub stream: Vec<Watching>,
    pub inactive: Vec<Inactive>,
    pub disabled: Vec<Disabled>,
    pub rejected: Vec<RejectedRule>,
}

/// A rule that applies.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Applied {
    pub id: String,
    pub key: String,
    pub name: String,
    pub source: String,
    pub format: FormatId,
    pub scope: Scope,
    pub priority: u8,
    pub activation: Activation,
    pub basis: Basis,
    pub tags: Vec<String>,
    pub because: Vec<Because>,
}

/// A condition that held, with its evidence.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Because {
    pub condition: &'static str,
    pub matched: Vec<String>,
    pub evidence: Vec<SeenPath>,
}

/// A path of the evidence, as shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct SeenPath {
    pub path: String,
    pub sources: Vec<Via>,
    /// The name of the root, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

/// A rule that another one overrides.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Overridden {
    pub id: String,
    pub key: String,
    pub source: String,
    pub winner: Named,
    pub decided_by: Step,
}

/// The id and file of a rule.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Named {
    pub id: String,
    pub source: String,
}

/// A rule that watches the model's output.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Watching {
    pub id: String,
    pub key: String,
    pub source: String,
    pub condition: Vec<String>,
    pub scope: Vec<String>,
}

/// A rule that the agent can request.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Offered {
    pub id: String,
    pub key: String,
    pub name: String,
    pub description: Option<String>,
    pub globs: Vec<String>,
    pub source: String,
}

/// A rule that does not apply.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Inactive {
    pub id: String,
    pub key: String,
    pub source: String,
    pub reason: InactiveReason,
    pub detail: String,
}

/// A rule that is switched off.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct Disabled {
    pub id: String,
    pub key: String,
    pub source: String,
    pub by: OffBy,
    pub file: Option<String>,
}

/// A rejected file.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the field names are the contract")]
#[non_exhaustive]
pub struct RejectedRule {
    pub id: String,
    pub key: String,
    pub source: String,
    pub diagnostics: Vec<Code>,
}

/// Converts an evaluation into the shape that surfaces show.
#[must_use]
pub fn explain(
    path: Option<String>,
    book: &Rulebook,
    evaluation: &Evaluation<'_>,
    evidence: &Evidence,
    roots: &Roots,
) -> Target {
    let mut target = Target {
        path,
        root: None,
        stack: evaluation.stack().map(|verdict| applied(verdict, evidence, roots)).collect(),
        overridden: Vec::new(),
        offered: Vec::new(),
        stream: Vec::new(),
        inactive: Vec::new(),
        disabled: Vec::new(),
        rejected: Vec::new(),
    };
    for verdict in &evaluation.verdicts {
        let rule = verdict.rule;
        let Named { id, source } = named(rule);
        let key = rule.key();
        match &verdict.state {
            State::Stack => {}
            State::Offered => target.offered.push(offered(rule)),
            State::Stream => target.stream.push(watching(rule)),
            State::Inactive(why) => {
                target.inactive.push(Inactive {
                    id,
                    key,
                    source,
                    reason: why.reason,
                    detail: why.detail.clone(),
                });
            }
            State::Overridden { winner, by } => {
                target.overridden.push(Overridden {
                    id,
                    key,
                    source,
                    winner: named(winner),
                    decided_by: *by,
                });
            }
            State::Disabled(off) => {
                target.disabled.push(Disabled { id, key, source, by: off.by, file: off.file.clone() });
            }
        }
    }
    target.rejected = book
        .rejected()
        .iter()
        .map(|rejected| RejectedRule {
            id: rejected.id.clone(),
            key: rejected.key(),
            source: rejected.origin.display.clone(),
            diagnostics: rejected.codes.clone(),
        })
        .collect();
    target
}

/// Converts an offered rule.
pub fn offered(rule: &Rule) -> Offered {
    let Named { id, source } = named(rule);
    Offered {
        id,
        key: rule.key(),
        name: rule.name.clone(),
        description: rule.description.clone(),
        globs: rule.globs.clone(),
        source,
    }
}

/// Converts a path of the evidence.
pub fn seen_path(evidence: &Evidence, at: usize, roots: &Roots) -> SeenPath {
    let seen = &evidence.paths[at];
    let root = (roots.roots.len() > 1).then(|| roots.roots[seen.root].name.clone());
    SeenPath { path: seen.path.clone(), sources: seen.sources.clone(), root }
}

fn watching(rule: &Rule) -> Watching {
    let conditions = rule.stream.iter().flat_map(|trigger| &trigger.conditions);
    let scopes = rule.stream.iter().flat_map(|trigger| &trigger.scope);
    Watching {
        id: rule.id.clone(),
        key: rule.key(),
        source: rule.origin.display.clone(),
        condition: conditions.map(|pattern| pattern.written.clone()).collect(),
        scope: scopes.map(ToString::to_string).collect(),
    }
}

fn named(rule: &Rule) -> Named {
    Named { id: rule.id.clone(), source: rule.origin.display.clone() }
}

fn applied(verdict: &Verdict<'_>, evidence: &Evidence, roots: &Roots) -> Applied {
    let rule = verdict.rule;
    let because = |reason: &Reason| Because {
        condition: reason.condition,
        matched: reason.matched.clone(),
        evidence: reason.seen.iter().map(|at| seen_path(evidence, *at, roots)).collect(),
    };
    Applied {
        id: rule.id.clone(),
        key: rule.key(),
        name: rule.name.clone(),
        source: rule.origin.display.clone(),
        format: rule.origin.format.id,
        scope: rule.origin.scope,
        priority: rule.priority,
        activation: rule.activation,
        basis: rule.basis,
        tags: rule.tags.clone(),
        because: verdict.because.iter().map(because).collect(),
    }
}
