//! The tool that Claude's `mcp_tool` hooks call: takes an event, returns what a hook would print.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Server;
use super::tools::ToolOutput;

/// A hook's event. The hook fills in each field, and leaves empty what it does not have.
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

pub(super) fn answer(server: &Server, event: &Event) -> anyhow::Result<ToolOutput> {
    let answer = crate::surface::hook::claude(&server.opener.workspace()?, &event.value());
    Ok(ToolOutput { text: answer.unwrap_or_else(|| json!({})).to_string(), structured: None })
}

impl Event {
    /// The event as the host itself would send it.
    fn value(&self) -> Value {
        let input = rulebook::evidence::json::read(self.tool_input.as_bytes()).ok();
        json!({
            "hook_event_name": self.event,
            "session_id": filled(&self.session).unwrap_or_default(),
            "tool_name": filled(&self.tool),
            "tool_input": input,
            "prompt": filled(&self.message),
            "agent_id": filled(&self.agent),
        })
    }
}

/// What a hook filled in; nothing if it left the field empty.
fn filled(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty() && !text.starts_with("${"))
}
