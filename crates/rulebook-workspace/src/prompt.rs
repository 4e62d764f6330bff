//! The text for the model with the rules it consists of, as data that commands, MCP and bindings share.

use std::collections::BTreeMap;

use rulebook::agent::Wiring;
use rulebook::diagnostic::Diagnostic;
use rulebook::evaluate::Evaluation;
use rulebook::explain::{Offered, SeenPath, offered, seen_path};
use rulebook::matrix::{evaluate_for, handling};
use rulebook::render::{Budget, Notice, Rendered, matched};
use serde::Serialize;

use crate::explain::{JSON_VERSION, Viewpoint};
use crate::prepare::Prepared;
use crate::workspace::Workspace;

/// The JSON of a prompt.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptOutput<'a> {
    version: u32,
    text: &'a str,
    applied: Vec<Applied<'a>>,
    notice: Option<&'a Notice>,
    paths: Vec<SeenPath>,
    paths_cut: usize,
    offered: Vec<Offered>,
    omitted: Vec<Offered>,
    tokens: usize,
    tokens_estimated: bool,
    diagnostics: &'a [Diagnostic],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied<'a> {
    id: &'a str,
    key: String,
    name: &'a str,
    source: &'a str,
    matched_conditions: BTreeMap<&'static str, Vec<String>>,
}

impl Workspace {
    /// The text and the rules it consists of, in the shape that programs read.
    pub fn prompt_output<'a>(
        &self,
        prepared: &Prepared<'_>,
        rendered: &'a Rendered<'_, '_>,
        notice: Option<&'a Notice>,
        diagnostics: &'a [Diagnostic],
    ) -> PromptOutput<'a> {
        let applied = rendered.applied.iter().map(|verdict| Applied {
            id: &verdict.rule.id,
            key: verdict.rule.key(),
            name: &verdict.rule.name,
            source: &verdict.rule.origin.display,
            matched_conditions: matched(verdict),
        });
        let seen =
            (0..prepared.evidence.paths.len()).map(|at| seen_path(&prepared.evidence, at, &self.roots));
        PromptOutput {
            version: JSON_VERSION,
            text: &rendered.text,
            applied: applied.collect(),
            notice,
            paths: seen.collect(),
            paths_cut: prepared.evidence.cut,
            offered: rendered.offered.iter().map(|verdict| offered(verdict)).collect(),
            omitted: rendered.omitted.iter().map(|verdict| offered(verdict)).collect(),
            tokens: rendered.tokens,
            tokens_estimated: true,
            diagnostics,
        }
    }
}

impl Prepared<'_> {
    /// Gives every rule its verdict; for one agent, without the rules that it reads by itself.
    ///
    /// The budget is that of the settings if there is none.
    pub fn evaluate_for(&self, view: Viewpoint, budget: Option<usize>) -> Evaluation<'_> {
        let budget = Budget { tokens: budget.or(self.sources().workspace().settings.budget.tokens) };
        let Viewpoint::For(named) = view else { return self.evaluate().within(budget, |_| true) };
        // What would be added counts, whether or not the agent is wired.
        let view = self.view(named.agent, &[Wiring::Hook]);
        let native = view.reading(&self.evidence);
        let subject = view.subject(&native);
        let evaluation = evaluate_for(&self.book, &self.evidence, Some(&subject), budget);
        evaluation.retain(|verdict| handling(verdict, &subject).is_by_rulebook())
    }
}
