//! Events of our own MCP tools: what a tool returned counts as delivered. They are no evidence and deliver nothing.

use rulebook::agent::{Agent, Wiring};
use rulebook::evaluate::{Evaluation, Verdict};
use rulebook::evidence::{Input, ToolCall, json};
use rulebook::matrix::{Handling, Subject, evaluate_for, handlings};
use rulebook::render::{Budget, render};
use rulebook::rule::Rule;
use rulebook::session::{Delivery, SessionStore as _};
use rulebook_workspace::ledger::Keeper;
use rulebook_workspace::{Reach, Workspace};
use serde::Deserialize;
use serde_json::Value;

/// The tools of `rulebook mcp`. Hosts put the name of the server before these, each in its own way.
const TOOLS: [&str; 4] = ["rules_for", "read_rule", "explain", "hook"];

/// Returns the name of our tool that a call is for.
pub(super) fn name_of(call: &ToolCall) -> Option<&'static str> {
    let is_ours = call.name.contains("rulebook") || call.name.starts_with("MCP:");
    TOOLS.into_iter().find(|tool| is_ours && call.name.ends_with(tool))
}

/// The arguments of these tools.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Arguments {
    paths: Vec<String>,
    message: String,
    mode: Option<String>,
    name: String,
}

/// Records the rules that a finished call returned to an agent. A call that failed returned none.
pub(super) fn record(
    workspace: &Workspace,
    agent: Option<&'static Agent>,
    call: &ToolCall,
    keeper: &mut Keeper,
) {
    if call.failed {
        return;
    }
    let input = match &call.input {
        Some(Value::String(text)) => json::read(text.as_bytes()).unwrap_or_default(),
        input => input.clone().unwrap_or_default(),
    };
    let arguments: Arguments = serde_json::from_value(input).unwrap_or_default();
    let deliveries = match name_of(call) {
        Some("rules_for") => returned(workspace, agent, arguments),
        Some("read_rule") => {
            let book = workspace.load(Reach::Tree).book;
            let read = book.read(&arguments.name).ok();
            read.map(|rule| Delivery::of(rule, "`read_rule`".to_owned())).into_iter().collect()
        }
        _ => Vec::new(),
    };
    keeper.record(Vec::new(), deliveries);
}

fn returned(workspace: &Workspace, agent: Option<&'static Agent>, arguments: Arguments) -> Vec<Delivery> {
    let Arguments { paths, message, mode, .. } = arguments;
    let message = Some(message).filter(|message| !message.is_empty());
    let prepared = workspace.prepare(&Input { arguments: paths, message, mode, ..Input::default() });
    let view = agent.map(|agent| prepared.view(agent, &[Wiring::Mcp]));
    let native = view.as_ref().map(|view| view.reading(&prepared.evidence));
    let subject = view.as_ref().zip(native.as_ref()).map(|(view, native)| view.subject(native));
    let mut evaluation =
        evaluate_for(&prepared.book, &prepared.evidence, subject.as_ref(), Budget::default());
    leave_out(&mut evaluation, subject.as_ref());
    let evaluation = evaluation.within(workspace.settings.budget, |_| true);
    let rendered = render(&evaluation);
    rendered.applied.iter().map(|verdict| Delivery::of(verdict.rule, "`rules_for`".to_owned())).collect()
}

/// Takes out the rules that `rules_for` does not return to an agent, and says why.
pub(crate) fn leave_out<'r>(
    evaluation: &mut Evaluation<'r>,
    subject: Option<&Subject<'_, '_>>,
) -> Vec<(&'r Rule, &'static str)> {
    let applied: Vec<&Verdict<'r>> = evaluation.stack().collect();
    let handled = applied.iter().zip(handlings(subject, &applied));
    let why = |handling: &Handling| match handling {
        Handling::Native | Handling::NativeAlways => Some("; you read this file by yourself"),
        Handling::NotAdded(_) => Some("; not for this agent"),
        _ => None,
    };
    let left: Vec<(&'r Rule, &str)> =
        handled.filter_map(|(verdict, handling)| Some((verdict.rule, why(&handling)?))).collect();
    evaluation.withhold(|rule| left.iter().any(|(left, _)| std::ptr::eq(*left, rule)));
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_tools_are_recognised_under_the_names_of_every_host() {
        #[track_caller]
        fn check(name: &str, tool: Option<&str>) {
            assert_eq!(name_of(&ToolCall { name: name.to_owned(), ..ToolCall::default() }), tool, "{name}");
        }
        check("mcp__rulebook__rules_for", Some("rules_for"));
        check("mcp_rulebook_read_rule", Some("read_rule"));
        check("rulebook-rules_for", Some("rules_for"));
        check("rulebook_explain", Some("explain"));
        check("MCP:rules_for", Some("rules_for"));
        check("mcp__other__explain", None);
        check("explain", None);
        check("Read", None);
    }
}
