//! Anthropic's Messages.

use rulebook::stream::StreamKind;
use serde_json::{Value, json};

use super::reader::tool;
use super::request::{Call, Node};
use super::splice::Spent;
use super::{Deltas, Entry, Reader, Request, Role, Shapes, Slot, Splice, Step, Waits, Wire, text};

pub(super) const WIRE: Wire = Wire {
    name: "anthropic",
    provider: "anthropic",
    home: "https://api.anthropic.com",
    variables: &[("ANTHROPIC_BASE_URL", "")],
    is_for: |path| path.ends_with("/messages"),
    request,
    shapes: Shapes {
        part: |text| json!({ "type": "text", "text": text }),
        told: |text| json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
        said: |text| json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] }),
        standing: |text| json!({ "role": "user", "content": text }),
        key: |text| ("system", json!([{ "type": "text", "text": text }])),
    },
    whole,
    usage: "usage",
    deltas: Deltas { texts: &["/delta/text"], once: &[] },
    splice: || Box::new(Tail::default()),
    ping: "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    error: |error| match error.get("type") {
        Some(kind) if kind == "error" => error.clone(),
        _ => json!({ "type": "error", "error": { "type": "api_error", "message": error.to_string() } }),
    },
};

pub(super) fn read(reader: &mut Reader, kind: &str, event: &Value, steps: &mut Vec<Step>) -> Waits {
    let stream = format!("{}/{}", reader.messages, event["index"]);
    match kind {
        "message_start" => {
            reader.end(steps);
            reader.messages += 1;
        }
        "content_block_start" => {
            let block = &event["content_block"];
            let kind = text(block, "type");
            match kind {
                "thinking" => reader.feed(stream, StreamKind::Thinking, block["thinking"].as_str(), steps),
                // Sealed: there is nothing to read.
                "redacted_thinking" => reader.feed(stream, StreamKind::Thinking, None, steps),
                call if call.ends_with("tool_use") => {
                    // Usually empty, and the arguments follow in pieces.
                    let whole = block["input"].as_object().filter(|input| !input.is_empty());
                    let whole = whole.map(|input| Value::Object(input.clone()).to_string());
                    reader.feed(stream, tool(&block["name"]), whole.as_deref(), steps);
                }
                _ => reader.feed(stream, StreamKind::Text, block["text"].as_str(), steps),
            }
            // Calls of other names are carried out by the provider.
            return if kind == "tool_use" { Waits::End } else { Waits::Next };
        }
        "content_block_delta" => {
            let delta = &event["delta"];
            let waits = waits_with(reader, &stream);
            let said = [
                (StreamKind::Text, "text"),
                (StreamKind::Thinking, "thinking"),
                (tool(&Value::Null), "partial_json"),
            ];
            for (kind, key) in said {
                if let Some(text) = delta[key].as_str() {
                    reader.feed(stream.clone(), kind, Some(text), steps);
                }
            }
            return waits;
        }
        "content_block_stop" => {
            let waits = waits_with(reader, &stream);
            reader.close(&stream, steps);
            return waits;
        }
        // Behind an error, which OpenAI's Responses call the same, nothing comes.
        "message_delta" | "message_stop" | "error" => {
            reader.end(steps);
            return Waits::Last;
        }
        _ => {}
    }
    Waits::Nothing
}

/// A signed thought is worth nothing without what it led to.
fn waits_with(reader: &Reader, stream: &str) -> Waits {
    if reader.open.get(stream) == Some(&StreamKind::Thinking) { Waits::Next } else { Waits::Nothing }
}

fn whole(answer: &Value, reader: &mut Reader, steps: &mut Vec<Step>) {
    for (at, block) in answer["content"].as_array().into_iter().flatten().enumerate() {
        let (stream, kind) = (format!("whole/{at}"), text(block, "type"));
        match kind {
            "thinking" => reader.whole(&stream, StreamKind::Thinking, text(block, "thinking"), steps),
            "text" => reader.whole(&stream, StreamKind::Text, text(block, "text"), steps),
            call if call.ends_with("tool_use") => {
                reader.whole(&stream, tool(&block["name"]), &block["input"].to_string(), steps);
            }
            _ => {}
        }
    }
}

/// Blocks are counted on, and there is one message.
#[derive(Default)]
struct Tail {
    /// The block the client has open, and the index of the next.
    open: Option<u64>,
    next: u64,
    /// What is added to the indexes of the answer that comes now.
    base: u64,
    spent: Spent,
}

impl Tail {
    fn follow(&mut self, event: &Value) {
        let index = event["index"].as_u64();
        match text(event, "type") {
            "message_start" => self.spent.saw(&event["message"]["usage"]),
            "message_delta" => self.spent.saw(&event["usage"]),
            "content_block_start" => {
                self.open = index;
                self.next = self.next.max(index.unwrap_or(0) + 1);
            }
            "content_block_stop" => self.open = None,
            _ => {}
        }
    }
}

impl Splice for Tail {
    fn went(&mut self, event: &Value) {
        self.follow(event);
    }

    fn close(&mut self) -> Vec<Value> {
        self.base = self.next;
        self.spent.close();
        let open = self.open.take();
        open.map(|index| json!({ "type": "content_block_stop", "index": index })).into_iter().collect()
    }

    fn rewrite(&mut self, mut event: Value) -> Option<Value> {
        if text(&event, "type") == "message_start" {
            self.follow(&event);
            return None;
        }
        if let Some(index) = event["index"].as_u64() {
            event["index"] = json!(index + self.base);
        }
        self.follow(&event);
        if text(&event, "type") == "message_delta" {
            // The beginning said what the first question cost; the end says what all did.
            event["usage"] = self.spent.total();
        }
        Some(event)
    }
}

fn request(_: &str, body: &str) -> Option<Request> {
    let root = Node::root(body)?;
    let fields = root.fields()?;
    let messages = fields.get("messages")?.items()?;
    let (prefix, standing) = match fields.get("system").filter(|node| !node.is_null()) {
        None => (Slot::Key(root.inside()), Vec::new()),
        Some(node) => (node.slot(), node.texts("text")),
    };
    let entries: Vec<Entry> = messages.iter().filter_map(entry).collect();
    Some(Request {
        model: fields.get("model").and_then(Node::text),
        has_tools: fields.get("tools").and_then(Node::items).is_some_and(|tools| !tools.is_empty()),
        key: fields.get("metadata").map(Node::value).map(|value| text(&value, "user_id").to_owned()),
        follows: None,
        prefix,
        standing,
        end: messages.last().map(|last| Slot::Behind(last.range().end))?,
        entries,
    })
}

fn entry(message: &Node<'_>) -> Option<Entry> {
    let fields = message.fields()?;
    let content = fields.get("content")?;
    let mut entry = Entry::new(Role::named(&fields.get("role")?.text()?), content.slot());
    entry.texts.extend(content.text());
    for block in content.items().into_iter().flatten() {
        let value = block.value();
        match text(&value, "type") {
            "text" => entry.texts.push(text(&value, "text").to_owned()),
            "tool_use" => entry.calls.push(Call {
                id: text(&value, "id").to_owned(),
                name: text(&value, "name").to_owned(),
                input: value["input"].clone(),
            }),
            "tool_result" => {
                entry.results.push(text(&value, "tool_use_id").to_owned());
                entry.told.extend(value["content"].as_str().map(str::to_owned));
                let parts = value["content"].as_array().into_iter().flatten();
                entry.told.extend(parts.filter_map(|part| part["text"].as_str().map(str::to_owned)));
            }
            _ => {}
        }
    }
    Some(entry)
}
