//! Messages: decoded as far as needed, and the ones that Rulebook writes itself.

use std::path::PathBuf;

use rulebook::evidence::{Input, json as lenient};
use serde_json::{Value, json};

use crate::surface::file_uri::file_path;

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The editor.
    Client,
    /// The agent.
    Agent,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Client => "editor",
            Side::Agent => "agent",
        }
    }
}

/// A message with its own bytes.
pub(super) struct Message {
    pub(super) raw: Vec<u8>,
    /// `null` if it is not JSON.
    pub(super) json: Value,
}

impl Message {
    pub(super) fn read(raw: Vec<u8>) -> Message {
        let json = lenient::read(&raw).unwrap_or_default();
        Message { raw, json }
    }

    pub(super) fn method(&self) -> Option<&str> {
        self.json["method"].as_str()
    }

    pub(super) fn id(&self) -> Option<&Value> {
        Some(&self.json["id"]).filter(|id| !id.is_null())
    }

    pub(super) fn params(&self) -> &Value {
        &self.json["params"]
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.params()["sessionId"].as_str()
    }

    /// The folders of a request that opens a session.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let more = self.params()["additionalDirectories"].as_array().into_iter().flatten();
        let all = std::iter::once(&self.params()["cwd"]).chain(more);
        all.filter_map(Value::as_str).map(PathBuf::from).collect()
    }

    /// The evidence of a prompt: its text, and the files it refers to.
    pub(super) fn prompt(&self) -> Input {
        let blocks = self.params()["prompt"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let file = |block: &Value| file_path(block["uri"].as_str().or(block["resource"]["uri"].as_str())?);
        let files = blocks.iter().filter_map(file).map(|path| path.to_string_lossy().into_owned());
        Input::message(text.join("\n")).mentions(files)
    }

    /// The prompt with one more block. Agents join the blocks without anything between them.
    pub(super) fn with_block(&self, text: &str) -> Value {
        let mut json = self.json.clone();
        if let Some(blocks) = json["params"]["prompt"].as_array_mut() {
            blocks.push(block(&format!("\n\n{text}")));
        }
        json
    }
}

/// A block of text.
fn block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// What a chunk of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prose {
    Answer,
    Thought,
}

impl Prose {
    /// Returns the kind and the text of an update that is a chunk of text.
    pub(super) fn of(update: &Value) -> Option<(Prose, &str)> {
        let kind = match update["sessionUpdate"].as_str()? {
            "agent_message_chunk" => Prose::Answer,
            "agent_thought_chunk" => Prose::Thought,
            _ => return None,
        };
        Some((kind, update["content"]["text"].as_str()?))
    }

    /// A chunk for the client.
    pub(super) fn chunk(self, session: &str, text: &str) -> Value {
        let kind = if self == Prose::Answer { "agent_message_chunk" } else { "agent_thought_chunk" };
        let update = json!({ "sessionUpdate": kind, "content": block(text) });
        notification("session/update", &json!({ "sessionId": session, "update": update }))
    }
}

/// A prompt that Rulebook sends itself.
pub(super) fn prompt(id: &Value, session: &str, text: &str) -> Value {
    let params = json!({ "sessionId": session, "prompt": [block(text)] });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params })
}

/// The request to stop the turn.
pub(super) fn cancel(session: &str) -> Value {
    notification("session/cancel", &json!({ "sessionId": session }))
}

/// The answer to a request for permission in a turn that is stopped.
pub(super) fn not_permitted(id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": { "outcome": "cancelled" } } })
}

/// The answer to a request that a rule refuses.
pub(super) fn refused(id: &Value) -> Value {
    let message = "refused: it violates a rule of the user";
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": message } })
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}
