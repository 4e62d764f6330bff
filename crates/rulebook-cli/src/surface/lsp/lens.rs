//! Code lenses: how many rules apply to a source file, for each agent.

use serde_json::{Value, json};

use rulebook::matrix::CellState;

use super::protocol::{Place, Span};
use super::server::Server;
use super::snapshot::AgentHere;
use crate::out::plural;

pub(super) fn lenses(server: &Server, place: &Place) -> Value {
    let Some((document, snapshot)) = server.open(&place.text_document.uri) else { return Value::Null };
    let is_inside = snapshot.located(document.name()).is_some();
    if !is_inside || snapshot.origin(document.name()).is_some() {
        return Value::Array(Vec::new());
    }
    let title = title(&snapshot.here(document.name()));
    json!([{
        "range": Span::default(),
        "command": { "title": title, "command": "rulebook.explain", "arguments": [document.uri] },
    }])
}

/// `5 rules apply (Claude Code), 3 (Cursor)`.
pub(super) fn title(agents: &[AgentHere]) -> String {
    let applies = |here: &AgentHere| {
        here.rules.iter().filter(|rule| matches!(rule.state, CellState::Native | CellState::Added)).count()
    };
    let mut parts = agents.iter().map(|here| (applies(here), here.agent.title));
    let Some((count, agent)) = parts.next() else {
        return "no agent is used here".to_owned();
    };
    let verb = if count == 1 { "applies" } else { "apply" };
    let first = format!("{} {verb} ({agent})", plural(count, "rule"));
    [first]
        .into_iter()
        .chain(parts.map(|(count, agent)| format!("{count} ({agent})")))
        .collect::<Vec<_>>()
        .join(", ")
}
