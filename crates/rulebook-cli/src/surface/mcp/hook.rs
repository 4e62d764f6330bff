//! The tool that Claude's `mcp_tool` hooks call: an event in, what a hook would print out.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rmcp::schemars::{self, JsonSchema};
use rulebook::evaluate::{Evaluation, State, Verdict};
use rulebook::evidence::{Input, ToolCall};
use rulebook::render::{Budget, render};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Server;
use super::tools::Said;

/// Events whose answer may carry text for the model. In the answer to any other it would be an error, or start
/// another turn.
const TAKE_CONTEXT: &[&str] =
    &["PostToolUse", "PostToolUseFailure", "PreToolUse", "SessionStart", "SubagentStart", "UserPromptSubmit"];

/// Events after which the model no longer has what it was given.
const FORGET: &[&str] = &["PostCompact", "PreCompact", "SessionEnd", "SessionStart"];

/// Claude takes 10,000 characters; by the estimate of four a token, this leaves room for the rest.
const MAX_TOKENS: usize = 2_400;

/// A hook's event, each field filled in by the hook: what it has not is left empty.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    /// The event's name, such as `PreToolUse`
    event: String,
    /// The tool's name: `${tool_name}`
    #[serde(default)]
    tool: String,
    /// The tool's arguments as JSON: `${tool_input}`
    #[serde(default)]
    tool_input: String,
    /// The user's message: `${prompt}`
    #[serde(default)]
    message: String,
    /// The session: `${session_id}`
    #[serde(default)]
    session: String,
    /// The sub-agent: `${agent_id}`
    #[serde(default)]
    agent: String,
}

/// What each session and agent was given: the rules' files with the text they had.
#[derive(Default)]
pub(super) struct Delivered(Mutex<BTreeMap<[String; 2], BTreeMap<String, String>>>);

pub(super) fn answer(server: &Server, event: &Event) -> anyhow::Result<Said> {
    let workspace = server.asks.workspace()?;
    let asked = workspace.ask(&event.input());
    let limit = workspace.settings.budget.tokens.map_or(MAX_TOKENS, |tokens| tokens.min(MAX_TOKENS));
    let budget = Budget { tokens: Some(limit) };
    let text = server.delivered.take(event, asked.evaluate(), budget);
    let output = if text.is_empty() {
        json!({})
    } else {
        json!({ "hookSpecificOutput": { "hookEventName": event.event, "additionalContext": text } })
    };
    Ok(Said { text: output.to_string(), structured: None })
}

impl Event {
    fn input(&self) -> Input {
        let call = filled(&self.tool).map(|name| ToolCall {
            name,
            input: serde_json::from_str::<Value>(&self.tool_input).ok(),
            pending: self.event == "PreToolUse",
            ..ToolCall::default()
        });
        Input { message: filled(&self.message), tools: call.into_iter().collect(), ..Input::default() }
    }
}

/// What a hook filled in; nothing where it had nothing.
fn filled(text: &str) -> Option<String> {
    (!text.is_empty() && !text.starts_with("${")).then(|| text.to_owned())
}

impl Delivered {
    /// The text of what applies and was not given yet; from now on it was.
    fn take(&self, event: &Event, evaluation: Evaluation<'_>, budget: Budget) -> String {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let whose = [&event.session, &event.agent].map(|id| filled(id).unwrap_or_default());
        let given = all.entry(whose).or_default();
        if FORGET.contains(&event.event.as_str()) {
            given.clear();
        }
        if !TAKE_CONTEXT.contains(&event.event.as_str()) {
            return String::new();
        }
        let is_new = |verdict: &Verdict<'_>| {
            matches!(verdict.state, State::Stack)
                && given.get(&verdict.rule.origin.path) != Some(&verdict.rule.body)
        };
        let news = Evaluation { verdicts: evaluation.verdicts.into_iter().filter(is_new).collect() };
        let rendered = render(&news, budget);
        // What the budget cut was given as an offer, and is not offered again.
        for verdict in &news.verdicts {
            given.insert(verdict.rule.origin.path.clone(), verdict.rule.body.clone());
        }
        rendered.text
    }
}
