//! Cline: executables that receive the event and may add to the context or cancel.
//!
//! The editor and the CLI share the protocol; the CLI names its events differently and reads other files.

use rulebook::evidence::ToolCall;
use rulebook::session::{HostProfile, Moment, Reply};
use serde_json::{Value, json};

use super::event::{HookEvent, Host, roots, text};

pub(super) const HOST: Host = Host {
    profile: HostProfile {
        name: "cline",
        cap: 45_000,
        context_at: &[Moment::Prompt, Moment::Before, Moment::After],
        call_context: false,
        stops: false,
        asks: false,
        shows_notices: false,
        misses: &[],
        forgets: &[],
    },
    agent: "cline",
    decode,
    encode,
};

/// The agent of events that the CLI names.
const CLI: &str = "cline-cli";

/// Its names of the moments, and the CLI's.
const MOMENTS: &[(&str, &str, Moment)] = &[
    ("TaskStart", "taskStart", Moment::Start),
    ("UserPromptSubmit", "userPromptSubmit", Moment::Prompt),
    ("PreToolUse", "preToolUse", Moment::Before),
    ("PostToolUse", "postToolUse", Moment::After),
    ("PreCompact", "preCompact", Moment::Compact),
];
const CLI_MOMENTS: &[(&str, &str, Moment)] = &[
    ("agent_start", "taskStart", Moment::Start),
    ("agent_resume", "taskResume", Moment::Start),
    ("prompt_submit", "userPromptSubmit", Moment::Prompt),
    ("tool_call", "preToolUse", Moment::Before),
    ("tool_result", "postToolUse", Moment::After),
    ("pre_compact", "preCompact", Moment::Compact),
];

fn decode(value: &Value) -> Option<HookEvent> {
    let name = text(value, "hookName")?;
    let is_it = |(known, ..): &&(&str, &str, Moment)| *known == name;
    let cli = CLI_MOMENTS.iter().find(is_it);
    let (_, part, moment) = *cli.or_else(|| MOMENTS.iter().find(is_it))?;
    let part = value.get(part).unwrap_or(&Value::Null);
    let call = value.get("tool_call").or_else(|| value.get("tool_result"));
    let tool = text(part, "toolName").or_else(|| text(call?, "name")).map(|name| {
        let input = call.and_then(|call| call.get("input")).or_else(|| part.get("parameters"));
        let (name, input) = of_server(name, input);
        let failed = part.get("success") == Some(&Value::Bool(false));
        ToolCall {
            name,
            input: input.cloned(),
            pending: moment == Moment::Before,
            failed,
            ..ToolCall::default()
        }
    });
    Some(HookEvent {
        folder: roots(value).first().map(|root| (*root).to_owned()),
        message: text(part, "prompt"),
        provider: value.get("model").and_then(|model| text(model, "provider")),
        model: value.get("model").and_then(|model| text(model, "slug")),
        tool,
        surface: cli.map(|_| CLI),
        // Every agent has an id; a sub-agent names the one that started it.
        agent: text(value, "parent_agent_id").and_then(|_| text(value, "agent_id")),
        ..HookEvent::new(moment, &name, text(value, "taskId")?)
    })
}

/// The tool of an MCP server that the editor's own tool calls.
fn of_server(name: String, input: Option<&Value>) -> (String, Option<&Value>) {
    let called = || {
        let input = input.filter(|_| name == "use_mcp_tool")?;
        Some((
            format!("{}__{}", text(input, "server_name")?, text(input, "tool_name")?),
            input.get("arguments"),
        ))
    };
    called().unwrap_or((name, input))
}

fn encode(event: &HookEvent, reply: &Reply) -> Value {
    let context = reply.context.as_deref().unwrap_or_default();
    match &reply.refusal {
        // `cancel` would end the CLI's task without informing the model. A call without input fails, and the task continues.
        Some(reason) if event.surface == Some(CLI) => json!({
            "cancel": false, "overrideInput": {}, "contextModification": reason, "errorMessage": "",
        }),
        refusal => json!({
            "cancel": refusal.is_some(),
            "contextModification": context,
            "errorMessage": refusal.as_deref().unwrap_or_default(),
        }),
    }
}
