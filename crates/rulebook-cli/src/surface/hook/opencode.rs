//! opencode, through the plugin that `rulebook install opencode` writes: it speaks these events.

use serde_json::{Value, json};

use super::event::{Answer, Event, Moment, text, tool};
use super::{Host, Touch};

pub(super) const HOST: Host = Host {
    name: "opencode",
    agent: "opencode",
    cap: 50_000,
    hears: &[Moment::Prompt, Moment::After],
    misses: &[Touch::Write, Touch::Shell],
    decode,
    encode,
};

const MOMENTS: &[(&str, Moment)] = &[
    ("chat.message", Moment::Prompt),
    ("tool.execute.before", Moment::Before),
    ("tool.execute.after", Moment::After),
    ("session.compacted", Moment::Compact),
];

fn decode(value: &Value) -> Option<Event> {
    let name = text(value, "event")?;
    let (_, moment) = *MOMENTS.iter().find(|(known, _)| *known == name)?;
    Some(Event {
        folder: text(value, "directory"),
        message: text(value, "message"),
        tool: tool(value, "tool", "args", moment),
        mode: text(value, "agent").map(|agent| if agent == "plan" { agent } else { "act".to_owned() }),
        model: text(value, "model"),
        ..Event::new(moment, &name, text(value, "sessionID")?)
    })
}

fn encode(_: &Event, answer: &Answer) -> Value {
    json!({ "context": answer.context, "notice": answer.notice, "refusal": answer.refusal })
}
