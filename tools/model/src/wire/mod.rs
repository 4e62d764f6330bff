//! The wires: how a turn is said to each kind of client.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::script::Turn;

/// A way of speaking to a client.
pub(crate) struct Wire {
    /// Whether requests to a path speak it.
    pub(crate) is_for: fn(&str) -> bool,
    /// Whether the answer is to come in events.
    pub(crate) streams: fn(&str, &Value) -> bool,
    /// The answer in one piece.
    pub(crate) whole: fn(&Said<'_>) -> Value,
    /// The answer in events.
    pub(crate) events: fn(&Said<'_>) -> Vec<Event>,
}

/// Every wire.
pub(crate) static WIRES: &[Wire] = &[anthropic::WIRE, chat::WIRE, responses::WIRE, gemini::WIRE];

/// A turn as it is said to one request.
pub(crate) struct Said<'a> {
    pub(crate) turn: &'a Turn,
    /// The model asked for, which is the model that answers.
    pub(crate) model: &'a str,
    /// Part of every name given out, so that names differ between requests and between runs.
    pub(crate) id: String,
    pub(crate) now: u64,
}

impl<'a> Said<'a> {
    pub(crate) fn new(body: &'a Value, turn: &'a Turn) -> Said<'a> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = format!("{:x}{:04x}", now.as_millis(), COUNT.fetch_add(1, Ordering::Relaxed));
        let model = body.get("model").and_then(Value::as_str).unwrap_or("scripted");
        Said { turn, model, id, now: now.as_secs() }
    }

    /// How many tokens were read, as usage tells it.
    fn tokens(&self) -> u64 {
        self.turn.tokens.unwrap_or(1000)
    }

    /// A text in the pieces in which it is said.
    fn pieces<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let size = self.turn.delta.unwrap_or(16).max(1);
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let mut cut = size.min(rest.len());
            while !rest.is_char_boundary(cut) {
                cut += 1;
            }
            let (piece, after) = rest.split_at(cut);
            pieces.push(piece);
            rest = after;
        }
        pieces
    }
}

/// One server-sent event.
pub(crate) struct Event {
    name: Option<String>,
    data: String,
}

impl Event {
    /// An event without a name.
    fn data(data: &Value) -> Event {
        Event { name: None, data: data.to_string() }
    }

    /// An event with the name its `type` gives it.
    fn typed(data: &Value) -> Event {
        Event { name: data["type"].as_str().map(str::to_owned), data: data.to_string() }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            writeln!(f, "event: {name}")?;
        }
        write!(f, "data: {}\n\n", self.data)
    }
}
