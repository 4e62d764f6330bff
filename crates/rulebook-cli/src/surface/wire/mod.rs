//! The wires: each provider's protocol in one file, which reads, writes and continues its requests and responses.
//!
//! What watches responses and adds rules to conversations is written once, over steps, entries and slots. The names of a
//! protocol's fields are in its own file only.

mod anthropic;
mod cut;
mod edit;
mod fields;
#[cfg(feature = "fuzzing")]
pub(super) mod fuzzing;
mod gemini;
mod json;
mod node;
mod openai;
mod openai_chat;
mod openai_responses;
mod partial;
#[cfg(test)]
mod peers;
mod protocol;
mod reader;
mod recording;
mod request;
mod splice;
mod sse;
mod table;

pub(super) use cut::{Cut, Deltas, cut};
pub(super) use edit::{Edit, apply};
pub(super) use json::Json;
pub(super) use protocol::{Failure, Wire};
pub(super) use reader::{Reader, Step, Waits};
pub(super) use recording::steps;
pub(super) use request::{Anchor, Entry, Request, Role};
pub(super) use splice::{Splice, add_usage};
pub(super) use sse::{BYTE_ORDER_MARK, Event, Events};
pub(super) use table::{WIRES, provider, read, wire_at};
