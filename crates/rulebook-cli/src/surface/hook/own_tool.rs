//! Events of our own MCP tools: the rules that an answer contains count as delivered. They are no evidence and deliver nothing.

use rulebook::evidence::{ToolCall, json};
use rulebook::rule::Rule;
use rulebook::session::{SessionStore as _, returned};
use rulebook_workspace::ledger::Keeper;
use rulebook_workspace::{Reach, Workspace};
use serde_json::Value;

use super::event::{HookEvent, text};

/// The tools of `rulebook mcp`. Hosts put the name of the server before these, each in its own way.
const TOOLS: [&str; 4] = ["rules_for", "read_rule", "explain", "hook"];

/// Where the events of hosts have the result of a tool.
const RESULTS: &[&str] = &[
    "/tool_response",
    "/toolResult",
    "/tool_output",
    "/output",
    "/postToolUse/result",
    "/tool_result",
    "/content",
];

/// Returns the name of our tool that a call is for.
pub(super) fn name_of(call: &ToolCall) -> Option<&'static str> {
    let is_ours = call.name.contains("rulebook") || call.name.starts_with("MCP:");
    TOOLS.into_iter().find(|tool| is_ours && call.name.ends_with(tool))
}

/// Takes what a call of ours returned from the event of the host.
pub(super) fn read_answer(event: &mut HookEvent, value: &Value) {
    if event.tool.as_ref().is_some_and(|call| name_of(call).is_some()) {
        let results = RESULTS.iter().filter_map(|at| value.pointer(at));
        results.for_each(|result| read_texts(result, &mut event.answers));
    }
}

/// Collects the texts in the result of a tool. Some hosts write it as JSON in a string.
fn read_texts(result: &Value, texts: &mut Vec<String>) {
    match result {
        Value::String(text) => match json::read(text.as_bytes()) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => read_texts(&inner, texts),
            _ => texts.push(text.clone()),
        },
        Value::Array(items) => items.iter().for_each(|item| read_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| read_texts(field, texts)),
        _ => {}
    }
}

/// Records the rules that a finished call returned to an agent. A call that failed returned none.
pub(super) fn record(workspace: &Workspace, event: &HookEvent, call: &ToolCall, keeper: &mut Keeper) {
    if call.failed || event.answers.is_empty() {
        return;
    }
    let book = workspace.load(Reach::Tree).book;
    let (rules, is_by_name): (Vec<&Rule>, bool) = match name_of(call) {
        Some("rules_for") => (book.rules().map(|(rule, _)| rule).collect(), false),
        Some("read_rule") => {
            let input = match &call.input {
                Some(Value::String(text)) => json::read(text.as_bytes()).unwrap_or_default(),
                input => input.clone().unwrap_or_default(),
            };
            let name = text(&input, "name").unwrap_or_default();
            (book.read(&name).ok().into_iter().collect(), true)
        }
        _ => return,
    };
    let because = if is_by_name { "`read_rule`" } else { "`rules_for`" };
    let answers = event.answers.iter();
    let deliveries = answers.flat_map(|answer| returned(answer, rules.iter().copied(), is_by_name, because));
    let deliveries = deliveries.collect();
    keeper.record(Vec::new(), deliveries);
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
