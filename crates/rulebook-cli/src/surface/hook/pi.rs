//! Pi, oh-my-pi and xcsh, through the extension that `rulebook install` writes, which forwards their events.

use rulebook::evidence::ToolCall;
use rulebook::session::{HostProfile, Moment, Reply};
use serde_json::{Value, json};

use super::event::{HookEvent, Host, text, tool};

pub(super) const PI: Host = host("pi");
pub(super) const OMP: Host = host("omp");
pub(super) const XCSH: Host = host("xcsh");

const fn host(name: &'static str) -> Host {
    Host {
        profile: HostProfile {
            name,
            cap: 50_000,
            context_at: &[Moment::Prompt, Moment::After],
            call_context: false,
            stops: false,
            asks: false,
            shows_notices: true,
            misses: &[],
            forgets: &[],
        },
        agent: name,
        decode,
        encode,
    }
}

const MOMENTS: &[(&str, Moment)] = &[
    ("before_agent_start", Moment::Prompt),
    ("tool_call", Moment::Before),
    ("tool_result", Moment::After),
    ("session_compact", Moment::Compact),
];

fn decode(value: &Value) -> Option<HookEvent> {
    let name = text(value, "event")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    Some(HookEvent {
        folder: text(value, "cwd"),
        message: text(value, "prompt"),
        tool: tool(value, "toolName", "input", moment)
            .map(|call| ToolCall { failed: value.get("isError") == Some(&Value::Bool(true)), ..call }),
        provider: text(value, "provider"),
        model: text(value, "model"),
        ..HookEvent::new(moment, &name, text(value, "session")?)
    })
}

fn encode(_: &HookEvent, reply: &Reply) -> Value {
    let parts = [("context", &reply.context), ("notice", &reply.notice), ("deny", &reply.refusal)];
    parts.iter().filter_map(|(key, part)| Some(((*key).to_owned(), json!(part.as_ref()?)))).collect()
}
