//! OpenAI's Chat Completions.

use rulebook::stream::StreamKind;
use serde_json::{Value, json};

use super::cut::Deltas;
use super::edit::{Shapes, Slot};
use super::json::Json;
use super::node::Node;
use super::openai;
use super::protocol::{COMMENT, Wire, text};
use super::reader::{Reader, Step, Waits};
use super::request::{Call, Entry, Request, Role};
use super::splice::{Splice, Usage};

pub(super) const WIRE: Wire = Wire {
    name: "openai-chat",
    provider: "openai",
    home: "https://api.openai.com",
    variables: &[("OPENAI_BASE_URL", "/v1"), ("OPENAI_API_BASE", "/v1"), ("OPENAI_HOST", "")],
    headers: &[],
    paths: None,
    is_for: |path| path.ends_with("/chat/completions"),
    parse,
    shapes: Shapes {
        part: |text| json!({ "type": "text", "text": text }),
        to_model: |text| json!({ "role": "user", "content": text }),
        from_model: |text| json!({ "role": "assistant", "content": text }),
        system_entry: |text| json!({ "role": "system", "content": text }),
        system_key: |text| ("system", json!(text)),
    },
    read,
    read_whole,
    usage: "usage",
    deltas: Deltas {
        texts: &[
            "/choices/0/delta/content",
            "/choices/0/delta/refusal",
            "/choices/0/delta/reasoning_content",
            "/choices/0/delta/reasoning",
        ],
        once: &["/choices/1", "/choices/0/logprobs", "/choices/0/delta/reasoning_details"],
        number: None,
    },
    splice: || Box::new(Tail::default()),
    ping: COMMENT,
    error: openai::error,
    error_is_chunk: false,
    error_body: openai::error_body,
};

/// The fields that carry what the model writes.
const TEXTS: [(StreamKind, &str); 4] = [
    (StreamKind::Text, "content"),
    (StreamKind::Text, "refusal"),
    (StreamKind::Thinking, "reasoning_content"),
    (StreamKind::Thinking, "reasoning"),
];

fn read(reader: &mut Reader, event: &Json<'_>, steps: &mut Vec<Step>) -> Option<Waits> {
    if event["choices"].is_null() {
        return event["error"].is_object().then(|| reader.end_response(steps));
    }
    let mut waits = Waits::Nothing;
    for (position, choice) in reader.items(&event["choices"]).enumerate() {
        let at = reader.choice(position, &choice["index"]);
        // Some servers send a whole message in place of its last part.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        for (kind, key) in TEXTS {
            feed_texts(reader, &delta[key], &kind, &mut |reader, kind, text| {
                let name = if kind == StreamKind::Thinking && key == "content" { "thinking" } else { key };
                reader.feed(format!("{at}/{name}"), kind, Some(text), steps);
            });
        }
        for detail in reader.items(&delta["reasoning_details"]) {
            for text in ["text", "summary"]
                .into_iter()
                .filter_map(|key| reader.text(&detail[key]))
                .collect::<Vec<_>>()
            {
                reader.feed(format!("{at}/reasoning_details"), StreamKind::Thinking, Some(&text), steps);
            }
        }
        for (place, call) in reader.items(&delta["tool_calls"]).enumerate() {
            waits = waits.max(Waits::End);
            let stream = format!("{at}/call {}", reader.call_number(at, call, place));
            // Some servers give every call the same index.
            if let Some(id) = call["id"].as_str().filter(|id| !id.is_empty())
                && reader.calls.insert(stream.clone(), id.to_owned()).is_some_and(|other| other != id)
            {
                reader.close(&stream, steps);
            }
            feed_call(reader, stream, call, steps);
        }
        if !delta["function_call"].is_null() {
            waits = waits.max(Waits::End);
            feed_function(reader, format!("{at}/call"), &delta["function_call"], steps);
        }
        if !choice["finish_reason"].is_empty() {
            reader.close_below(&format!("{at}/"), steps);
            // Another choice may continue.
            waits = if reader.open.is_empty() { Waits::Last } else { Waits::End };
        }
    }
    Some(waits)
}

/// Returns a text, or the texts of a list of parts, each with what it is.
fn feed_texts(
    reader: &mut Reader,
    content: &Json<'_>,
    kind: &StreamKind,
    feed: &mut dyn FnMut(&mut Reader, StreamKind, &str),
) {
    let Json::List(parts) = content else {
        return reader.text(content).into_iter().for_each(|text| feed(reader, kind.clone(), &text));
    };
    for part in parts {
        let Json::Object(_) = part else {
            // Clients in JavaScript put a comma between two texts.
            reader.has_odd_fields |= parts.len() > 1;
            reader.text(part).into_iter().for_each(|text| feed(reader, kind.clone(), &text));
            continue;
        };
        feed_texts(reader, &part["thinking"], &StreamKind::Thinking, feed);
        for key in ["text", "refusal"] {
            reader.text(&part[key]).into_iter().for_each(|text| feed(reader, kind.clone(), &text));
        }
    }
}

/// Continues a call: of a function with JSON arguments, or of a tool with text.
fn feed_call(reader: &mut Reader, stream: String, call: &Json<'_>, steps: &mut Vec<Step>) {
    let custom = &call["custom"];
    if custom.is_object() {
        let (kind, input) = (reader.tool(&custom["name"]), reader.text(&custom["input"]));
        reader.feed(stream, kind, input.as_deref(), steps);
    } else {
        feed_function(reader, stream, &call["function"], steps);
    }
}

fn feed_function(reader: &mut Reader, stream: String, function: &Json<'_>, steps: &mut Vec<Step>) {
    reader.has_odd_fields |= !matches!(function, Json::Null | Json::Object(_));
    let kind = reader.tool(&function["name"]);
    let arguments = match &function["arguments"] {
        // Some servers do not write them as a text.
        whole @ Json::Object(_) => Some(whole.to_string().into()),
        arguments => reader.text(arguments),
    };
    reader.feed(stream, kind, arguments.as_deref(), steps);
}

/// A whole response is one event with messages.
fn read_whole(reader: &mut Reader, response: &Json<'_>, steps: &mut Vec<Step>) {
    read(reader, response, steps);
    reader.end(steps);
}

/// One completion: its text continues.
#[derive(Default)]
struct Tail {
    /// What every chunk repeats about the completion.
    head: Vec<(&'static str, Value)>,
    has_text: bool,
    usage: Usage,
}

impl Tail {
    fn follow(&mut self, event: &Json<'_>) {
        self.usage.report(&event["usage"]);
        let choice = event["choices"].items().first();
        self.has_text |= choice.is_some_and(|choice| !choice["delta"].text("content").is_empty());
    }
}

impl Splice for Tail {
    fn sent(&mut self, event: &Json<'_>) {
        if self.head.is_empty() {
            let keys = ["id", "object", "created", "model"];
            self.head = keys.iter().map(|key| (*key, Value::from(&event[*key]))).collect();
        }
        self.follow(event);
    }

    fn close(&mut self) -> Vec<Value> {
        self.usage.close();
        // There is one text: the two responses are separated in it.
        let separator = std::mem::take(&mut self.has_text).then(|| {
            let mut chunk =
                json!({ "choices": [{ "index": 0, "delta": { "content": "\n\n" }, "finish_reason": null }] });
            self.head.iter().for_each(|(key, value)| chunk[*key] = value.clone());
            chunk
        });
        separator.into_iter().collect()
    }

    fn rewrite(&mut self, mut event: Value) -> Option<Value> {
        if !event.is_object() {
            return Some(event);
        }
        self.follow(&Json::from(&event));
        for (key, value) in self.head.iter().filter(|(_, value)| !value.is_null()) {
            event[*key] = value.clone();
        }
        if event["usage"].is_object() {
            event["usage"] = self.usage.total();
        }
        Some(event)
    }
}

fn parse(_: &str, body: &str) -> Option<Request> {
    let root = Node::root(body)?;
    let fields = root.fields()?;
    let messages = fields.get("messages")?.items()?;
    let mut entries = Vec::new();
    let mut prefix = Slot::Before(messages.first()?.range().start);
    let mut system = Vec::new();
    for message in &messages {
        let (entry, content) = entry(message)?;
        // System messages at the beginning precede the conversation.
        if entry.role == Role::System && entries.is_empty() {
            prefix = content.map_or(Slot::After(message.range().end), |content| content.text_slot());
            system.extend(entry.texts);
        } else {
            entries.push(entry);
        }
    }
    let has_items = |key: &str| fields.get(key).is_some_and(Node::has_items);
    Some(Request {
        model: fields.get("model").and_then(Node::text),
        has_tools: has_items("tools") || has_items("functions"),
        has_choices: fields.get("n").is_some_and(|n| n.value().as_u64() != Some(1)),
        key: fields.get("prompt_cache_key").and_then(Node::text),
        follows: None,
        prefix,
        system,
        entries,
        end: Slot::After(messages.last()?.range().end),
    })
}

fn entry<'b>(message: &Node<'b>) -> Option<(Entry, Option<Node<'b>>)> {
    let fields = message.fields()?;
    let role = openai::role(&fields.get("role")?.text()?);
    let mut entry = Entry::new(role, Slot::After(message.range().end));
    let content = fields.get("content").filter(|content| !content.is_null()).copied();
    entry.texts = content.map(|content| content.texts("text")).unwrap_or_default();
    if let Some(id) = fields.get("tool_call_id").and_then(Node::text) {
        let texts = std::mem::take(&mut entry.texts);
        entry.add_result(&id, texts, false);
    }
    for call in fields.get("tool_calls").and_then(Node::items).into_iter().flatten() {
        let call = call.value();
        entry.calls.push(Call {
            id: text(&call, "id").to_owned(),
            name: text(&call["function"], "name").to_owned(),
            input: openai::arguments(&call["function"]["arguments"]),
        });
    }
    Some((entry, content))
}
