//! Every rule as a row, while no path is known.

use std::collections::{BTreeMap, HashSet};

use rulebook::evaluate::{Audience, State, Verdict, evaluate};
use rulebook::evidence::Input;
use rulebook::explain::{Watching, offered, watching};
use rulebook::format::FormatId;
use rulebook::glob::split_list;
use rulebook::matrix::{CellState, Matrix};
use rulebook::render::estimate_tokens;
use rulebook::rule::{Activation, Basis, Rule};
use rulebook::source::Scope;
use rulebook_workspace::{Loaded, Workspace};
use serde::Serialize;

use super::sections::off_words;
use crate::out::{DIM, GREEN, PLAIN, RED, YELLOW};

/// The state of a rule while no path is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuleState {
    Stack,
    Offered,
    Stream,
    Inactive,
    Overridden,
    Disabled,
    Rejected,
}

/// Every state, in the order of the enum, with its name in JSON and its title on the page.
pub(super) const STATES: [(RuleState, &str, &str); 7] = [
    (RuleState::Stack, "stack", "On"),
    (RuleState::Offered, "offered", "Offered"),
    (RuleState::Stream, "stream", "Stream"),
    (RuleState::Inactive, "inactive", "Waiting"),
    (RuleState::Overridden, "overridden", "Overridden"),
    (RuleState::Disabled, "disabled", "Off"),
    (RuleState::Rejected, "rejected", "Rejected"),
];

impl RuleState {
    pub(super) fn name(self) -> &'static str {
        STATES[self as usize].1
    }
}

/// One rule, as listed.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) key: String,
    pub(super) name: String,
    pub(super) source: String,
    pub(super) format: FormatId,
    pub(super) scope: Scope,
    pub(super) priority: Option<u8>,
    pub(super) activation: Option<Activation>,
    pub(super) basis: Option<Basis>,
    pub(super) state: RuleState,
    pub(super) detail: String,
    pub(super) description: Option<String>,
    pub(super) globs: Vec<String>,
    pub(super) tags: Vec<String>,
    /// What a stream rule watches for, and where.
    pub(super) trigger: Option<TriggerRow>,
    pub(super) tokens: usize,
    /// What becomes of it for each agent.
    pub(super) agents: BTreeMap<&'static str, CellState>,
}

/// The trigger of a stream rule.
#[derive(Serialize)]
pub(super) struct TriggerRow {
    condition: Vec<String>,
    scope: Vec<String>,
}

/// Returns every rule in order of precedence, then the rejected files.
pub(super) fn rows(workspace: &Workspace, loaded: &Loaded) -> Vec<Row> {
    let evidence = workspace.evidence_for(&loaded.book, &Input::default());
    let evaluation =
        evaluate(&loaded.book, &evidence, Audience::any()).within(workspace.settings.budget, |_| true);
    let rejected = loaded.book.rejected().iter().map(|rejected| Row {
        id: rejected.id.clone(),
        key: rejected.key(),
        name: rejected.id.clone(),
        source: rejected.origin.display.clone(),
        format: rejected.origin.format.id,
        scope: rejected.origin.scope,
        priority: None,
        activation: None,
        basis: None,
        state: RuleState::Rejected,
        detail: rejected.codes.iter().map(|code| code.row().name).collect::<Vec<_>>().join(", "),
        description: None,
        globs: Vec::new(),
        tags: Vec::new(),
        trigger: None,
        tokens: 0,
        agents: BTreeMap::new(),
    });
    evaluation.verdicts.iter().map(row).chain(rejected).collect()
}

/// Returns the rows of the rules as meant, then of the files that are rules only for the agents that read them.
pub(super) fn all_rows(workspace: &Workspace, loaded: &Loaded, matrix: &Matrix<'_>) -> Vec<Row> {
    let mut rows = rows(workspace, loaded);
    let known: HashSet<String> = rows.iter().map(|row| row.source.clone()).collect();
    let others = matrix.rows.iter().filter(|row| !known.contains(&row.origin.display));
    rows.extend(others.filter_map(|row| row.rule).map(agent_row));
    rows
}

fn agent_row(rule: &Rule) -> Row {
    let detail = match &rule.origin.imported_by {
        Some(importer) => format!("part of {importer}, which imports it"),
        None => "a rule only for the agents that read it".to_owned(),
    };
    of_rule(rule, RuleState::Inactive, detail)
}

fn row(verdict: &Verdict<'_>) -> Row {
    let rule = verdict.rule;
    let (state, detail) = match &verdict.state {
        State::Stack => (RuleState::Stack, String::new()),
        State::Offered => (RuleState::Offered, offered(verdict).note().to_owned()),
        State::Stream => (RuleState::Stream, watching(rule).summary()),
        State::Inactive(why) => (RuleState::Inactive, why.detail.clone()),
        State::Overridden { winner, by } => {
            (RuleState::Overridden, format!("by {} ({})", winner.origin.display, by.name()))
        }
        State::Disabled(off) => (RuleState::Disabled, off_words(&rule.id, off.by, off.file.as_deref())),
    };
    of_rule(rule, state, detail)
}

fn of_rule(rule: &Rule, state: RuleState, detail: String) -> Row {
    Row {
        id: rule.id.clone(),
        key: rule.key(),
        name: rule.name.clone(),
        source: rule.origin.display.clone(),
        format: rule.origin.format.id,
        scope: rule.origin.scope,
        priority: Some(rule.priority),
        activation: Some(rule.activation),
        basis: Some(rule.basis),
        state,
        detail,
        description: rule.description.clone(),
        globs: rule.globs.clone(),
        tags: rule.tags.clone(),
        trigger: rule.stream.as_ref().map(|_| {
            let Watching { condition, scope, .. } = watching(rule);
            TriggerRow { condition, scope }
        }),
        tokens: estimate_tokens(&rule.body),
        agents: BTreeMap::new(),
    }
}

impl Row {
    pub(super) fn is_always_on(&self) -> bool {
        self.state == RuleState::Stack && self.activation == Some(Activation::Always)
    }
}

/// Describes the state of a rule in a few words.
pub(super) fn state_words(row: &Row) -> (anstyle::Style, String) {
    match row.state {
        RuleState::Stack => (GREEN, "in context".to_owned()),
        RuleState::Offered => (PLAIN, format!("offered: {}", row.detail)),
        RuleState::Inactive if row.activation == Some(Activation::When) && !row.globs.is_empty() => {
            // A glob that contains a comma must not look like two.
            let is_plain = !row.globs.iter().any(|glob| split_list(glob).len() > 1);
            let mark = if is_plain { "" } else { "`" };
            let globs: Vec<String> = row.globs.iter().map(|glob| format!("{mark}{glob}{mark}")).collect();
            (DIM, format!("inactive: needs {}", globs.join(", ")))
        }
        RuleState::Inactive => (DIM, row.detail.clone()),
        RuleState::Rejected => (RED, format!("rejected: {}", row.detail)),
        RuleState::Disabled | RuleState::Overridden => {
            (YELLOW, format!("{} {}", row.state.name(), row.detail))
        }
        RuleState::Stream => (PLAIN, row.detail.clone()),
    }
}
