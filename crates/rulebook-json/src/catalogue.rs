//! What answers can contain: the agents, and the states of a rule for an agent.

use rulebook::agent::AGENTS;
use rulebook::matrix::SYMBOLS;
use rulebook_workspace::JSON_VERSION;
use serde_json::{Value, json};

/// The agents and the states of rules, with the words and symbols for people: `{"version": 1, "agents": [{"name": "claude",
/// "title": "Claude Code"}], "states": [{"state": "native", "symbol": "✓", "meaning": "read by the agent"}]}`.
pub fn catalogue() -> String {
    let agents: Vec<Value> =
        AGENTS.iter().map(|agent| json!({ "name": agent.name, "title": agent.title })).collect();
    let states = SYMBOLS
        .iter()
        .map(|(state, symbol, meaning)| json!({ "state": state, "symbol": symbol, "meaning": meaning }));
    let states: Vec<Value> = states.collect();
    json!({ "version": JSON_VERSION, "agents": agents, "states": states }).to_string()
}
