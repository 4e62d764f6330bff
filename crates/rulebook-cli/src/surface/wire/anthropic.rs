//! Anthropic's Messages.

use rulebook::stream::StreamKind;
use serde_json::{Value, json};

use super::cut::Deltas;
use super::edit::{Shapes, Slot};
use super::json::Json;
use super::node::Node;
use super::protocol::{Failure, Wire, message, text};
use super::reader::{Reader, Step, Waits};
use super::request::{Call, Entry, Request, Role};
use super::splice::{Splice, Usage};

pub(super) const WIRE: Wire = Wire {
    name: "anthropic",
    provider: "anthropic",
    home: "https://api.anthropic.com",
    variables: &[("ANTHROPIC_BASE_URL", ""), ("ANTHROPIC_HOST", "")],
    headers: &["anthropic-version", "x-api-key"],
    paths: None,
    is_for: |path| path.ends_with("/messages"),
    parse,
    shapes: Shapes {
        part: |text| json!({ "type": "text", "text": text }),
        to_model: |text| json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
        from_model: |text| json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] }),
        system_entry: |text| json!({ "role": "user", "content": text }),
        system_key: |text| ("system", json!([{ "type": "text", "text": text }])),
    },
    read,
    read_whole,
    usage: "usage",
    deltas: Deltas { texts: &["/delta/text"], once: &[], number: None },
    splice: || Box::new(Tail::default()),
    ping: "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    error: |error| match error.get("type") {
        Some(kind) if kind == "error" => error.clone(),
        _ => error_body(Failure::Unavailable, &message(error)),
    },
    error_is_chunk: false,
    error_body,
};

fn error_body(failure: Failure, message: &str) -> Value {
    let kind = match failure {
        Failure::NoToken => "authentication_error",
        Failure::Forbidden => "permission_error",
        Failure::Unavailable => "api_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

fn read(reader: &mut Reader, event: &Json<'_>, steps: &mut Vec<Step>) -> Option<Waits> {
    let kind = event["type"].as_str().filter(|kind| !kind.starts_with("response."))?;
    let mut stream = || {
        let index = reader.index("", &event["index"]);
        format!("{}/{index}", reader.count)
    };
    Some(match kind {
        "message_start" => {
            reader.end(steps);
            reader.count += 1;
            let message = reader.count;
            reader.index("", &Json::Number(0.into()));
            // Usually empty: the blocks follow in events.
            let blocks = reader.items(&event["message"]["content"]).enumerate();
            blocks
                .map(|(at, block)| begin(reader, format!("{message}/{at}"), block, steps))
                .max()
                .map_or(Waits::Nothing, |waits| if waits == Waits::End { waits } else { Waits::Nothing })
        }
        "content_block_start" => {
            let stream = stream();
            begin(reader, stream, &event["content_block"], steps)
        }
        "content_block_delta" => {
            let (stream, delta) = (stream(), &event["delta"]);
            let waits = waits_with(reader, &stream);
            for (kind, key) in [(StreamKind::Text, "text"), (StreamKind::Thinking, "thinking")] {
                if let Some(text) = reader.text(&delta[key]) {
                    reader.feed(stream.clone(), kind, Some(&text), steps);
                }
            }
            if let Some(json) = reader.text(&delta["partial_json"]) {
                let kind = reader.tool(&Json::Null);
                reader.feed(stream, kind, Some(&json), steps);
            }
            waits
        }
        "content_block_stop" => {
            let stream = stream();
            let waits = waits_with(reader, &stream);
            reader.close(&stream, steps);
            waits
        }
        "message_delta" | "message_stop" | "error" => reader.end_response(steps),
        _ => Waits::Nothing,
    })
}

/// Opens the stream of a block, with what the block contains already.
fn begin(reader: &mut Reader, stream: String, block: &Json<'_>, steps: &mut Vec<Step>) -> Waits {
    let kind = block.text("type");
    match kind {
        "thinking" => {
            let text = reader.text(&block["thinking"]);
            reader.feed(stream, StreamKind::Thinking, text.as_deref(), steps);
        }
        // Encrypted: there is nothing to read.
        "redacted_thinking" => reader.feed(stream, StreamKind::Thinking, None, steps),
        call if call.ends_with("tool_use") => {
            // Usually empty: the arguments follow in deltas.
            let (input, kind) = (reader.object(&block["input"]), reader.tool(&block["name"]));
            reader.feed(stream, kind, input.as_deref(), steps);
        }
        _ => {
            let text = reader.text(&block["text"]);
            reader.feed(stream, StreamKind::Text, text.as_deref(), steps);
        }
    }
    // Calls of other types are run by the provider.
    if kind == "tool_use" { Waits::End } else { Waits::Next }
}

/// A signed thought is refused without what it led to.
fn waits_with(reader: &Reader, stream: &str) -> Waits {
    if reader.open.get(stream) == Some(&StreamKind::Thinking) { Waits::Next } else { Waits::Nothing }
}

fn read_whole(reader: &mut Reader, response: &Json<'_>, steps: &mut Vec<Step>) {
    for (at, block) in reader.items(&response["content"]).enumerate() {
        let stream = format!("whole/{at}");
        let mut feed = |kind, key| {
            let text = reader.text(&block[key]).unwrap_or_default();
            reader.feed_whole(&stream, kind, &text, steps);
        };
        match block.text("type") {
            "thinking" => feed(StreamKind::Thinking, "thinking"),
            "text" => feed(StreamKind::Text, "text"),
            call if call.ends_with("tool_use") => {
                let input = reader.object(&block["input"]).unwrap_or_else(|| "{}".to_owned());
                let kind = reader.tool(&block["name"]);
                reader.feed_whole(&stream, kind, &input, steps);
            }
            _ => {}
        }
    }
}

/// One message: the indexes of blocks continue.
#[derive(Default)]
struct Tail {
    /// The block that the client has open, and the index of the next one.
    open: Option<u64>,
    next: u64,
    /// What is added to the indexes of the current response.
    base: u64,
    usage: Usage,
}

impl Tail {
    fn follow(&mut self, event: &Json<'_>) {
        let index = event["index"].as_u64();
        match event.text("type") {
            "message_start" => self.usage.report(&event["message"]["usage"]),
            "message_delta" => self.usage.report(&event["usage"]),
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
    fn sent(&mut self, event: &Json<'_>) {
        self.follow(event);
    }

    fn close(&mut self) -> Vec<Value> {
        self.base = self.next;
        self.usage.close();
        let open = self.open.take();
        open.map(|index| json!({ "type": "content_block_stop", "index": index })).into_iter().collect()
    }

    fn rewrite(&mut self, mut event: Value) -> Option<Value> {
        if let Some(index) = event["index"].as_u64() {
            event["index"] = json!(index + self.base);
        }
        self.follow(&Json::from(&event));
        match text(&event, "type") {
            "message_start" => return None,
            // The beginning reported the usage of the first request; the end reports that of all.
            "message_delta" => event["usage"] = self.usage.total(),
            _ => {}
        }
        Some(event)
    }
}

fn parse(_: &str, body: &str) -> Option<Request> {
    let root = Node::root(body)?;
    let fields = root.fields()?;
    let messages = fields.get("messages")?.items()?;
    let (prefix, system) = match fields.get("system").filter(|node| !node.is_null()) {
        None => (Slot::Key(root.inside()), Vec::new()),
        Some(node) => (node.parts_slot(), node.texts("text")),
    };
    Some(Request {
        model: fields.get("model").and_then(Node::text),
        has_tools: fields.get("tools").is_some_and(Node::has_items),
        has_choices: false,
        key: fields.get("metadata").map(Node::value).map(|value| text(&value, "user_id").to_owned()),
        follows: None,
        prefix,
        system,
        end: messages.last().map(|last| Slot::After(last.range().end))?,
        entries: messages.iter().filter_map(entry).collect(),
    })
}

fn entry(message: &Node<'_>) -> Option<Entry> {
    let fields = message.fields()?;
    let content = fields.get("content")?;
    let role = match fields.get("role")?.text()?.as_str() {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::User,
    };
    let mut entry = Entry::new(role, content.parts_slot());
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
                let whole = value["content"].as_str();
                let parts = value["content"].as_array().into_iter().flatten();
                let texts = whole.into_iter().chain(parts.filter_map(|part| part["text"].as_str()));
                let (id, has_failed) = (text(&value, "tool_use_id"), value["is_error"] == true);
                entry.add_result(id, texts.map(str::to_owned), has_failed);
            }
            _ => {}
        }
    }
    Some(entry)
}
