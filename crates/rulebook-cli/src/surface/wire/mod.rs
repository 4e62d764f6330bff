//! The wires: how each provider's protocol says a conversation and an answer, decoded and encoded.
//!
//! Everything that watches answers or adds to conversations is written once, over steps, entries and slots; a wire's file
//! says only how these are written there.

mod anthropic;
mod cut;
mod gemini;
mod openai_chat;
mod openai_responses;
mod reader;
mod request;
mod splice;
mod sse;

pub(super) use cut::{Deltas, cut};
pub(super) use reader::{Reader, Step, Waits};
pub(super) use request::{Anchor, Edit, Entry, Request, Role, Shapes, Slot, apply};
pub(super) use splice::{Splice, add_usage};
pub(super) use sse::{Event, Events, steps};

use serde_json::Value;

/// A provider's protocol.
pub(super) struct Wire {
    /// What it is called.
    pub(super) name: &'static str,
    /// Who speaks it first of all.
    pub(super) provider: &'static str,
    /// Where that one is reached.
    pub(super) home: &'static str,
    /// The variable by which clients are told of another address, and what stands behind the address there.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// Whether requests to a path speak it.
    pub(super) is_for: fn(&str) -> bool,
    /// The conversation of a request to a path.
    pub(super) request: fn(&str, &str) -> Option<Request>,
    /// How texts are put into a conversation.
    pub(super) shapes: Shapes,
    /// What an answer in one piece says.
    pub(super) whole: fn(&Value, &mut Reader, &mut Vec<Step>),
    /// Where an answer's usage stands.
    pub(super) usage: &'static str,
    /// Where the texts of an answer's deltas stand.
    pub(super) deltas: Deltas,
    /// What goes on in one answer when another model's answer follows.
    pub(super) splice: fn() -> Box<dyn Splice>,
    /// What keeps a client waiting.
    pub(super) ping: &'static str,
    /// An error in the middle of an answer.
    pub(super) error: fn(&Value) -> Value,
}

/// Every wire.
pub(super) static WIRES: &[Wire] =
    &[anthropic::WIRE, openai_chat::WIRE, openai_responses::WIRE, gemini::WIRE];

/// A comment, which every reader of events passes over.
const COMMENT: &str = ": rulebook\n\n";

/// A text of a JSON value, or nothing.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The arguments of a call, which may be written as a text.
fn arguments(value: &Value) -> Value {
    value.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| value.clone())
}

/// An error as OpenAI says it.
fn openai_error(error: &Value) -> Value {
    match error.get("error") {
        Some(_) => error.clone(),
        None => serde_json::json!({ "error": { "type": "server_error", "message": error.to_string() } }),
    }
}
